"""The compiled runtime that an installation leaves in the package."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sacpy.jit.host import installed
from sacpy.jit.host.compile import install_runtime
from sacpy.jit.host.installed import read_runtime, suits, write_runtime
from sacpy.jit.host.runtime import runtime_ir
from tests.tools import ROOT

FIRST = """
import sys
from pathlib import Path
from sacpy.jit.host import installed, loading
object = Path(sys.argv[1])
loading.read_runtime = lambda text: installed.read_runtime(text, object)
import sacpy
session = sacpy.Session(target="cpu")
f = session.compile("use Array: all; double f(int n) { s = 0.0; for (i = 0; i < n; i++) { s += tod(i); } return s; }").f
print(f(100000), type(loading.begin_runtime()).__name__)
"""

portable = pytest.mark.skipif(not suits(), reason="the runtime is compiled ahead for x86-64-v3")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("installed") / "object"
    install_runtime(path)
    return path


@portable
def test_the_first_function_is_linked_with_what_the_installer_left(made: Path, tmp_path: Path) -> None:
    assert _first(made, tmp_path / "cache") == "4999950000.0 bytes"
    assert not list((tmp_path / "cache").rglob("runtime-*"))


def test_without_it_the_runtime_is_compiled_and_kept(tmp_path: Path) -> None:
    assert _first(tmp_path / "object", tmp_path / "cache") == "4999950000.0 Waiting"
    assert _first(tmp_path / "object", tmp_path / "cache") == "4999950000.0 bytes"


@portable
def test_it_is_of_one_text_and_for_processors_that_can_run_it(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_runtime(runtime_ir(), made)
    assert read_runtime(runtime_ir() + "\n", made) is None
    monkeypatch.setattr(installed, "features", lambda: frozenset({"sse2"}))
    assert read_runtime(runtime_ir(), made) is None


@pytest.mark.parametrize("data", [None, b"", b"\x80\x05garbage", installed._digest("text")])
def test_a_damaged_file_counts_for_nothing(data: bytes | None, tmp_path: Path) -> None:
    if data is not None:
        (tmp_path / "object").write_bytes(data)
    assert read_runtime(runtime_ir(), tmp_path / "object") is None


@portable
def test_what_was_written_is_read(tmp_path: Path) -> None:
    write_runtime("text", b"code", tmp_path / "object")
    assert read_runtime("text", tmp_path / "object") == b"code"


def _first(made: Path, cache: Path) -> str:
    """What a first call of compiled code gives in a fresh process, and where it has the runtime from."""
    environment = {**os.environ, "SACPY_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", FIRST, str(made)], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()
