"""What starting costs, in processes of their own: hello world with warm caches and the very first time, and importing
the package."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.measure import Row, duration

PACKAGE = Path(__file__).resolve().parent.parent / "sacpy"
WARM_LIMIT = 0.35
FIRST_LIMIT = 2.0
IMPORT_LIMIT = 60.0  # milliseconds beyond NumPy

HELLO = """
use StdIO: all;
use Array: all;

int main()
{
  printf("Hello, %d worlds\\n", sum(iota(10) + 1));
  return 0;
}
"""


def measure(repetitions: int = 9) -> list[Row]:
    """All start-up times."""
    with tempfile.TemporaryDirectory() as folder:
        return [*_hello(Path(folder), repetitions), *_imports(Path(folder), repetitions)]


def _hello(folder: Path, repetitions: int) -> list[Row]:
    """Hello world. The very first time nothing is cached, not even Python's bytecode of sacpy (that of NumPy is there:
    its installer made it)."""
    program = folder / "hello.sac"
    program.write_text(HELLO, encoding="utf-8")
    arguments = ("-m", "sacpy", str(program))
    firsts: list[float] = []
    warms: list[float] = []
    for i in range(repetitions):
        home = folder / f"installed{i}"
        shutil.copytree(PACKAGE, home / "sacpy", ignore=shutil.ignore_patterns("__pycache__"))
        setting = {"PYTHONPATH": str(home), "SACPY_CACHE_DIR": str(folder / f"cache{i}")}
        firsts.append(_process(arguments, setting, b"Hello, 55 worlds\n"))
        warms.append(_process(arguments, setting, b"Hello, 55 worlds\n"))
        shutil.rmtree(home, ignore_errors=True)  # a process that compiles may still load modules there
    return [
        duration("hello world, warm cache", warms, "s", WARM_LIMIT),
        duration("hello world, the very first time", firsts, "s", FIRST_LIMIT),
    ]


def _imports(folder: Path, repetitions: int) -> list[Row]:
    """Importing sacpy after NumPy, beyond NumPy alone."""
    setting = {"PYTHONPATH": str(PACKAGE.parent), "SACPY_CACHE_DIR": str(folder / "cache")}
    alone, package = "import numpy", "import numpy, sacpy"
    taken: dict[str, list[float]] = {alone: [], package: []}
    for code in taken:
        _process(("-c", code), setting)
    for _ in range(repetitions):
        for code, seconds in taken.items():
            seconds.append(_process(("-c", code), setting))
    beyond = [ours - base for ours, base in zip(taken[package], taken[alone], strict=True)]
    return [
        duration(
            "import sacpy, beyond NumPy",
            beyond,
            "ms",
            IMPORT_LIMIT,
            f"NumPy alone: {statistics.median(taken[alone]) * 1e3:.0f} ms",
        )
    ]


def _process(arguments: Sequence[str], setting: Mapping[str, str], expected: bytes = b"") -> float:
    """The wall-clock time of one Python process, after a look at what it printed."""
    environment = {**os.environ, **setting}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # a warm start has its bytecode
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, stdout=subprocess.PIPE, cwd=PACKAGE.parent.parent, check=True
    )
    seconds = time.perf_counter() - start
    if done.stdout != expected:
        raise AssertionError(f"printed {done.stdout!r}, expected {expected!r}")
    return seconds
