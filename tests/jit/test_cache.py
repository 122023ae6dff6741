"""The cache of compiled code: what is kept is found again, whole or not at all, and never more than there is room
for."""

import os
from pathlib import Path

import pytest

from sacpy.jit.cache import OFTEN, SUFFIX, Cache


def test_what_is_kept_is_found_again(tmp_path: Path) -> None:
    Cache(tmp_path / "native").write("a", b"code")
    assert Cache(tmp_path / "native").read("a") == b"code"
    assert Cache(tmp_path / "native").read("b") is None


def test_damaged_files_are_removed(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    for damage in (
        lambda d: d[:-1],
        lambda d: d + b"x",
        lambda d: b"",
        lambda d: d[:20] + bytes([d[20] ^ 1]) + d[21:],
        lambda d: d[:-1] + bytes([d[-1] ^ 1]),
    ):
        cache.write("a", b"code")
        path = tmp_path / f"a{SUFFIX}"
        path.write_bytes(damage(path.read_bytes()))
        assert cache.read("a") is None
        assert not path.exists()


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    for i in range(10):
        cache.write(str(i), b"x" * 100)
        os.utime(tmp_path / f"{i}{SUFFIX}", (i, i))
    assert cache.read("0") is not None  # used now
    other = Cache(tmp_path, most=400)
    for _ in range(OFTEN):  # one of so many writes looks at the size
        other.write("new", b"x" * 100)
    assert cache.read("new") is not None and cache.read("0") is not None
    assert cache.read("1") is None
    assert cache.info().size <= 400


def test_without_a_folder_nothing_is_kept() -> None:
    cache = Cache(None)
    cache.write("a", b"code")
    assert cache.read("a") is None
    assert cache.info().files == 0
    assert cache.clear().files == 0


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "native")
    cache.write("a", b"code")
    assert cache.read("a") is None


def test_clear_says_what_was_there(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.write("a", b"code")
    (tmp_path / "other").write_text("somebody else's")
    assert cache.clear().files == 1
    assert cache.info().files == 0
    assert (tmp_path / "other").exists()


def test_writers_at_the_same_time_leave_whole_files(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    payloads = [bytes([i]) * 100_000 for i in range(8)]

    def work(i: int) -> bytes | None:
        cache = Cache(tmp_path)
        cache.write("same", payloads[i])
        return cache.read("same")

    with ThreadPoolExecutor(8) as pool:
        assert all(found in payloads for found in pool.map(work, range(8)))


@pytest.mark.parametrize("change", ["int f(int n) { return g(n + 1); }", "int g(int n) { return n - 1; }"])
def test_the_name_covers_what_a_function_calls(change: str) -> None:
    from sacpy.jit.fingerprint import Fingerprints
    from sacpy.jit.options import Options
    from sacpy.workspace import Workspace

    def name(*functions: str, strict: bool = False, kind: tuple[tuple[int | None, ...], ...] = ((),)) -> str:
        program, _ = Workspace().load_text("use Array: all;\n" + "\n".join(functions) + "\nint main() { return f(1); }")
        return Fingerprints(program).digest(program.key(program.main.own("f")[0], ()), kind, Options(strict_fp=strict))

    f, g, h = "int f(int n) { return g(n); }", "int g(int n) { return n; }", "int h(int n) { return n; }"
    assert name(f, g) == name(f, g) == name("", f, g, h)
    assert name(f, g) != name(*((change, g) if "f(" in change[:6] else (f, change)))
    loop = "int g(int n) { return with {%s ([0] <= [i] < [n]) : i; } : fold(+, 0); }"
    assert name(f, loop % "\n#pragma noncommutative\n") != name(f, loop % "\n")
    assert name(f, g) != name(f, g, strict=True)
    assert name(f, g) != name(f, g, kind=((3,),))
