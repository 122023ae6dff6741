"""The same computation in SaC, C, NumPy and Numba, a folder for each.

A folder NAME holds
- `NAME.sac`: the function `run`;
- `NAME.c`: functions without result, which write through their pointers;
- `NAME.py`: `SIZES`, `inputs(n)`, `numpy_version(*inputs)`, and `c_version(lib, *inputs)`, which makes room for the
  results and calls the library; perhaps `MAY_DIFFER`, the share of elements that rounding may change altogether;
- `NAME_numba.py`: `run(*inputs)`.

All versions take the same inputs, leave them as they are, and give fresh results.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from benchmarks import clib

if TYPE_CHECKING:
    from benchmarks.sac import SacProgram

FOLDER = Path(__file__).resolve().parent
VERSIONS = ("sac", "c", "numpy", "numba")
SIZES = ("small", "cached", "large")
"""`small`: for a look at the results, by the interpreter too; `cached`: what is touched fits a core's second-level
cache; `large`: it exceeds the caches."""

Run = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One computation. Each version is loaded when it is asked for."""

    name: str

    @property
    def folder(self) -> Path:
        return FOLDER / self.name

    def size(self, label: str) -> int:
        """The size that a label stands for."""
        size: int = self._module(self.name).SIZES[label]
        return size

    def inputs(self, size: int) -> tuple[Any, ...]:
        """The inputs of a size, by a formula."""
        inputs: tuple[Any, ...] = self._module(self.name).inputs(size)
        return inputs

    def version(self, version: str, target: str = "interp") -> Run:
        """A version as a function of the inputs; `target` is what runs the SaC one. Raises ImportError or
        `clib.NoCompiler` where this machine lacks what it needs."""
        if version == "sac":
            return self.program(target).function("run")
        if version == "numba":
            return cast(Run, self._module(f"{self.name}_numba").run)
        module = self._module(self.name)
        if version == "numpy":
            return cast(Run, module.numpy_version)
        library = clib.library(self.folder / f"{self.name}.c")
        return lambda *inputs: module.c_version(library, *inputs)

    def program(self, target: str) -> SacProgram:
        """The SaC version, loaded."""
        from benchmarks.sac import SacProgram  # only now: the time to the first result counts what it imports

        return SacProgram.from_file(self.folder / f"{self.name}.sac", target)

    def check(self, found: Any, wanted: Any) -> None:
        """Whether two versions agree: integers to the last bit, floating-point numbers but for the order of operations.
        Raises AssertionError."""
        may_differ = getattr(self._module(self.name), "MAY_DIFFER", 0.0)
        for f, w in zip(_arrays(found), _arrays(wanted), strict=True):
            if f.shape != w.shape or f.dtype.kind != w.dtype.kind:
                raise AssertionError(f"{self.name}: {f.dtype}{list(f.shape)} instead of {w.dtype}{list(w.shape)}")
            same = (
                np.isclose(f, w, rtol=1e-9, atol=1e-13 * np.abs(w).max(initial=1.0)) if f.dtype.kind == "f" else f == w
            )
            if np.count_nonzero(~same) > may_differ * same.size:
                raise AssertionError(f"{self.name}: {np.count_nonzero(~same)} of {same.size} elements differ")

    def _module(self, name: str) -> Any:
        return importlib.import_module(f"benchmarks.suite.{self.name}.{name}")


def _arrays(results: Any) -> list[Any]:
    return [np.asarray(r) for r in (results if isinstance(results, tuple) else (results,))]


def benchmarks() -> tuple[Benchmark, ...]:
    """All of them, by name."""
    return tuple(Benchmark(path.parent.name) for path in sorted(FOLDER.glob("*/*.sac")))
