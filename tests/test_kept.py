"""What is kept between runs: whose files are used, and that nobody else's run."""

import errno
import os
import pickle
import stat
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sacpy import cli
from sacpy.base import kept
from sacpy.base.kept import Distrusted
from sacpy.base.plain import Unpacked
from sacpy.commands import doctor
from sacpy.jit.cache import OFTEN, SUFFIX, Cache
from sacpy.lang import modules
from tests.tools import ROOT

posix = pytest.mark.skipif(os.name != "posix", reason="folders have other rights there")
NO_IMAGE = Path("/nowhere")
NOT_USED = "is not used to keep anything between runs"


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, str]]]:
    """Nothing has been looked at or said; what is said now."""
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(kept, "_looked_at", {})
    monkeypatch.setattr(kept, "_said", set())
    monkeypatch.setattr(kept, "tell", lambda what, remedy: told.append((what, remedy)))
    yield told


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a"
    assert kept.read(path, "a") is None
    assert kept.write(path, "a", b"code")
    assert kept.read(path, "a") == b"code"
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("damage", [
    lambda d: b"", lambda d: d[:-1], lambda d: d + b"x", lambda d: d[:20] + bytes([d[20] ^ 1]) + d[21:],
    lambda d: d[:-1] + b"x", lambda d: b"x" + d[1:],
])  # fmt: skip
def test_a_damaged_file_is_as_none(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "a"
    kept.write(path, "a", b"code")
    path.write_bytes(damage(path.read_bytes()))
    assert kept.read(path, "a") is None


def test_a_file_under_the_name_of_another_is_as_none(tmp_path: Path) -> None:
    kept.write(tmp_path / "a", "a", b"code")
    os.replace(tmp_path / "a", tmp_path / "b")
    assert kept.read(tmp_path / "b", "b") is None
    assert kept.read(tmp_path / "b", "a") == b"code"


CALLED = """
import sys, numpy, sacpy
session = sacpy.Session("cpu")
f, g = "int f(int n) { return sum(iota(n)); }", "double g(double[.] a, int n) { return sum(a) + tod(n); }"
made = session.compile("use Array: all;" + f + g)
print(made.f(100000) if sys.argv[1] == "f" else made.g(numpy.ones(100000), 3), session.stats().units)
"""


def test_code_of_one_function_under_the_name_of_another_is_compiled_anew(tmp_path: Path) -> None:
    def called(name: str) -> str:
        command = [sys.executable, "-c", CALLED, name]
        environment = {**os.environ, "SACPY_CACHE_DIR": str(tmp_path)}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.strip() + done.stderr

    def units() -> set[Path]:
        return {
            p
            for p in (tmp_path / "native").glob(f"*{SUFFIX}")
            if not p.name.startswith(("runtime", "record", "program"))
        }

    assert called("f") == "704982704 1"
    (first,) = units()
    assert called("g") == "100003.0 1"
    (second,) = units() - {first}
    one, other = first.read_bytes(), second.read_bytes()
    first.write_bytes(other)
    second.write_bytes(one)
    assert called("f") == "704982704 1"
    assert called("g") == "100003.0 1"


@posix
@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o702])
def test_a_folder_that_others_may_write_is_not_used(tmp_path: Path, mode: int, fresh: list[tuple[str, str]]) -> None:
    path = tmp_path / "open" / "a"
    kept.write(path, "a", b"code")
    kept._looked_at.clear()
    path.parent.chmod(mode)
    assert kept.read(path, "a") is None
    assert not kept.write(path.with_name("b"), "b", b"code")
    assert not path.with_name("b").exists()
    assert fresh == [(
        f"{path.parent} {NOT_USED}: other users may write the folder (its mode is {mode:o})",
        f"chmod go-w {path.parent}, or set SACPY_CACHE_DIR to a folder of your own",
    )]  # fmt: skip


@posix
def test_a_folder_that_only_a_group_of_several_may_write_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import grp
    import pwd

    tmp_path.chmod(0o770)
    me = pwd.getpwuid(os.geteuid()).pw_name
    for name, members, trusted in ((me, [], True), (me, [me], True), (me, ["another"], False), ("staff", [], False)):
        monkeypatch.setattr(
            grp, "getgrgid", lambda _, name=name, members=members: grp.struct_group((name, "x", 1, members))
        )
        kept._looked_at.clear()
        assert (kept.distrust(tmp_path) == "") == trusted, (name, members)


@posix
def test_what_belongs_to_another_user_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: list[tuple[str, str]]
) -> None:
    kept.write(tmp_path / "a", "a", b"code")
    me = os.stat(tmp_path).st_uid
    monkeypatch.setattr(kept, "SYSTEM", -1)
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    assert kept.read(tmp_path / "a", "a") is None
    (said,) = fresh
    assert "the folder belongs to another user (" in said[0]
    assert said[1] == "set SACPY_CACHE_DIR to a folder of your own"


@posix
def test_a_file_that_others_may_write_is_not_used_nor_one_behind_a_link(
    tmp_path: Path, fresh: list[tuple[str, str]]
) -> None:
    path = tmp_path / "a"
    kept.write(path, "a", b"code")
    (tmp_path / "link").symlink_to(path)
    assert kept.read(tmp_path / "link", "a") is None
    path.chmod(0o666)
    assert kept.read(path, "a") is None
    assert fresh == [(
        f"{path} {NOT_USED}: other users may write the file (its mode is 666)", f"remove {path}"
    )]  # fmt: skip


@posix
def test_users_are_told_once_in_their_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv("SACPY_CACHE_DIR", str(shared))
    assert cli.main(["eval", "1+1"]) == 0
    out, err = capfd.readouterr()
    assert out == "2\n"
    assert err == (
        f"warning[W0721]: {shared} {NOT_USED}: other users may write the folder (its mode is 777)\n"
        f"  = help: chmod go-w {shared}, or set SACPY_CACHE_DIR to a folder of your own\n"
    )
    assert list(shared.iterdir()) == []
    assert cli.main(["cache", "info"]) == 0
    assert capfd.readouterr().out == "programs and compiled functions are not kept: others may write their folder\n"
    found = {f.topic: f for f in doctor._cache()}["cache"]
    assert found.level == "problem"
    assert found.remedy.startswith("chmod go-w")


@posix
def test_a_history_that_others_may_write_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: list[tuple[str, str]]
) -> None:
    from sacpy.repl.history import history_file

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = history_file()
    assert path is not None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    kept._looked_at.clear()
    path.parent.chmod(0o777)
    assert history_file() is None
    ((_, remedy),) = fresh
    assert remedy == f"chmod go-w {path.parent}, or set XDG_STATE_HOME to a folder of your own"


@posix
def test_python_is_told_by_a_warning(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    text = "import sacpy; session = sacpy.Session(); print(session.eval('1+1'))"
    environment = {**os.environ, "SACPY_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "2\n"
    assert done.stderr.count("Distrusted") == 1
    assert done.stderr.startswith("<string>:1: Distrusted: "), done.stderr
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        kept._warn("this", "do that")
    assert [(w.category, str(w.message)) for w in found] == [(Distrusted, "this; do that")]


class Command:
    """Runs something when it is unpickled."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.target,)


def test_pickles_in_the_place_of_what_is_kept_run_nothing(tmp_path: Path) -> None:
    """Not even those with the right digest."""
    from sacpy.jit.device.cubins import _packing as cubins
    from sacpy.jit.device.emulated import EmulatorMachine
    from sacpy.jit.host.installed import read_runtime
    from sacpy.jit.run.compiler import _kept as kept_code
    from sacpy.jit.run.device_compiler import _kept as kept_graph
    from sacpy.lang.image import read_image
    from sacpy.withloop.devices import DEVICES
    from tests.jit.kernel_programs import PROGRAMS

    ran = tmp_path / "ran"
    for protocol in (0, pickle.HIGHEST_PROTOCOL):
        evil = pickle.dumps(Command(ran), protocol)
        assert kept_code(evil) is None
        assert kept_graph(evil) is None
        path = modules.parsed_library(tmp_path)
        kept.write(path, path.name, evil)
        assert modules.load_library(tmp_path, NO_IMAGE)["Constants"]
        (tmp_path / "image").write_bytes(evil)
        assert read_image(tmp_path / "image") == {}
        assert read_runtime("text", tmp_path / "image") is None
        cache = Cache(tmp_path / "native")
        kernel = PROGRAMS["interior"]().kernel
        EmulatorMachine(DEVICES["sm_90"], cache=cache).prepare(kernel)
        for file in (tmp_path / "native").iterdir():
            cache.write(file.stem, evil)
        EmulatorMachine(DEVICES["sm_90"], cache=cache).prepare(kernel)
        assert cache.read(next((tmp_path / "native").iterdir()).stem) != evil
        with pytest.raises(Unpacked):
            cubins().unpacked(evil)
    pickle.loads(pickle.dumps(Command(ran)))
    assert ran.exists()  # so it would have


def test_nothing_in_the_package_reads_pickles() -> None:
    texts = [p.read_text(encoding="utf-8") for p in (ROOT / "sacpy").rglob("*.py")]
    assert not any("import pickle" in text or "from pickle" in text for text in texts)


def _full(self: Any, data: Any) -> int:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def __init__(self, handle: int, mode: str) -> None:
            os.close(handle)

        def __enter__(self) -> "Full":
            return self

        def __exit__(self, *_: object) -> None:
            pass

        write = _full

    monkeypatch.setattr(os, "fdopen", Full)
    assert not kept.write(tmp_path / "a", "a", b"code")
    assert list(tmp_path.iterdir()) == []


def test_what_an_interruption_leaves_is_counted_and_removed(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.write("a", b"code")
    left = tmp_path / f"tmpabc{kept.UNFINISHED}"
    left.write_bytes(b"x" * 1000)
    assert cache.info().files == 2
    assert cache.info().size > 1000
    Cache(tmp_path).write("b", b"code")
    assert left.exists()  # somebody may be writing it just now
    os.utime(left, (1e9, 1e9))
    other = Cache(tmp_path)
    for _ in range(OFTEN):  # one of so many writes looks at the folder
        other.write("c", b"code")
    assert not left.exists()
    left.write_bytes(b"x")
    beside = tmp_path.parent / f"tmpdef{kept.UNFINISHED}"
    beside.write_bytes(b"x")
    cache.clear()
    assert list(tmp_path.iterdir()) == []
    assert not beside.exists()


@posix
def test_a_disk_that_is_full_keeps_nothing_and_loses_nothing(tmp_path: Path) -> None:
    program = tmp_path / "p.sac"
    program.write_text("use Array: all; use StdIO: all; int main() { print(sum(iota(100000))); return 0; }")
    cache = tmp_path / "cache"
    command = f"ulimit -f 4; exec {sys.executable} -m sacpy run --target cpu {program}"  # no file over 4 kB
    # without byte code: Python itself would leave the half of a file, and trip over it from then on
    environment = {**os.environ, "SACPY_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert "704982704" in done.stdout
    assert done.stderr == ""
    assert not list(cache.rglob(f"*{kept.UNFINISHED}"))
    assert all(file.stat().st_size <= 4096 for file in cache.rglob("*"))
