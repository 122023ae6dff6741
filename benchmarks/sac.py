"""SaC functions called from a benchmark.

In: a SaC program, and Python scalars and NumPy arrays of the right base types. Out: what its functions give. Arguments are borrowed, as in embedding.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sacpy.interp.evaluator import Evaluator
from sacpy.interp.world import World
from sacpy.lang.diagnostics import SacError
from sacpy.lang.elaborate.program import ElaboratedProgram
from sacpy.workspace import Workspace

if TYPE_CHECKING:
    from sacpy.jit.engine import Engine

TARGETS = ("interp", "auto", "cpu")


class SacProgram:
    """A loaded program, ready to be called. `target`: what runs it."""

    def __init__(self, program: ElaboratedProgram, target: str = "interp") -> None:
        if target not in TARGETS:
            raise ValueError(f"{target!r} is no target; there is {', '.join(TARGETS)}")
        self._program = program
        self.engine = None if target == "interp" else _engine(target)
        self._evaluator = Evaluator(program, World.captured(), depth_limit=200_000, engine=self.engine)

    @classmethod
    def from_text(cls, text: str, target: str = "interp") -> SacProgram:
        """A program in a string. Raises `SacError`."""
        return cls(Workspace().load_text(text)[0], target)

    @classmethod
    def from_file(cls, path: Path, target: str = "interp") -> SacProgram:
        """A program in a file. Raises `SacError`."""
        program, found = Workspace().check(path)
        if any(d.severity == "error" for d in found):
            raise SacError(*found)
        return cls(program, target)

    def function(self, name: str) -> Callable[..., Any]:
        """The function of that name, of which there must be one instance only. It gives its result, or a tuple of several."""
        (entry,) = self._program.main.own(name)
        key = self._program.key(entry, ())

        def call(*args: Any) -> Any:
            results = self._evaluator.call(key, args)
            return results[0] if len(results) == 1 else results

        return call


def _engine(target: str) -> Engine:
    """What compiles: one thread per core, as for the peers."""
    from sacpy.jit.engine import Engine

    return Engine(target)
