"""C and C++ functions beside the benchmarks, compiled into shared objects and called through ctypes.

In: a file in C or C++. Out: a `Library` whose attributes are its functions; they take NumPy arrays (as pointers to
their elements), Python ints (`int64_t`) and floats (`double`), and give nothing.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

BUILD = Path(__file__).resolve().parent.parent / "build" / "benchmarks"
FLAGS = (
    "-O3", "-march=native", "-fopenmp", "-std=c17", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
    "-D__FAST_MATH__", "-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math", "-fno-math-errno",
    "-ffp-contract=fast",
)  # fmt: skip
"""The second line is the floating-point freedom that compiled SaC takes too: sums in any order, multiplications and
additions contracted; the macro makes glibc declare its vectorised exp and log."""


class NoCompiler(Exception):
    """There is no gcc on this machine."""


class Library:
    """A loaded shared object."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))

    def __getattr__(self, name: str) -> Callable[..., None]:
        function = getattr(self._library, name)
        function.restype = None

        def call(*args: Any) -> None:
            function(*map(_passed, args))

        setattr(self, name, call)
        return call


def library(source: Path, *defined: str) -> Library:
    """The library made of a C or C++ file; compiled where that has not been done. `defined`: macros, as the compiler's
    options. Raises `NoCompiler`."""
    compiler = os.environ.get("CC") or shutil.which("gcc")
    if compiler is None:
        raise NoCompiler("there is no gcc on this machine")
    text = source.read_bytes()
    key = hashlib.sha256(repr((text, FLAGS, compiler, defined)).encode()).hexdigest()[:16]
    path = BUILD / f"{source.stem}-{key}.so"
    if not path.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        made = path.with_suffix(f".{os.getpid()}")
        plus = source.suffix == ".cpp"
        flags = [f.replace("-std=c17", "-std=c++17") if plus else f for f in (*FLAGS, *defined)]
        subprocess.run(
            [compiler, *flags, str(source), "-o", str(made), *(["-lstdc++"] if plus else []), "-lm"], check=True
        )
        made.replace(path)
    return Library(path)


def _passed(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    if isinstance(value, int | np.integer):
        return ctypes.c_int64(int(value))
    return ctypes.c_double(value)
