"""SaC functions called from a benchmark.

In: a SaC program, and Python scalars and NumPy arrays of the right base types. Out: what its functions give. Arguments
are borrowed, as in embedding.
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
    from sacpy.jit.run.engine import Engine

TARGETS = ("interp", "auto", "cpu")


class SacProgram:
    """A loaded program, ready to be called. `target`: what runs it; `cache`: the folder of compiled code, where it is
    not the user's; `choices`: options of the compiler, as `split_borders`, `short_circuit` and `threads`."""

    def __init__(
        self,
        program: ElaboratedProgram,
        target: str = "interp",
        cache: Path | None = None,
        **choices: Any,
    ) -> None:
        if target not in TARGETS:
            raise ValueError(f"{target!r} is no target; there is {', '.join(TARGETS)}")
        self._program = program
        self.engine = None if target == "interp" else _engine(target, cache, choices)
        self._evaluator = Evaluator(program, World.captured(), depth_limit=200_000, engine=self.engine)

    @classmethod
    def from_text(cls, text: str, target: str = "interp", **choices: Any) -> SacProgram:
        """A program in a string. Raises `SacError`."""
        return cls(Workspace().load_text(text)[0], target, **choices)

    @classmethod
    def from_file(cls, path: Path, target: str = "interp", **choices: Any) -> SacProgram:
        """A program in a file. Raises `SacError`."""
        program, found = Workspace().check(path)
        if any(d.severity == "error" for d in found):
            raise SacError(*found)
        return cls(program, target, **choices)

    def fresh(self, target: str, cache: Path) -> SacProgram:
        """The same program, nothing compiled yet, with another cache."""
        return SacProgram(self._program, target, cache)

    @property
    def compiling(self) -> float:
        """The seconds spent on compiling so far."""
        return 0.0 if self.engine is None else self.engine.compiling

    @property
    def has_loops(self) -> bool:
        """Whether something was compiled that has loops other than with-loops, or functions that call themselves."""
        versions = [v for site in ([] if self.engine is None else self.engine.sites) for v in site.versions.values()]
        return any(v.report.after.loops + v.report.after.calls > 0 for v in versions)

    def code(self) -> str:
        """What has been compiled so far, as LLVM's text."""
        from sacpy.jit.run.compiler import emitted

        if self.engine is None:
            return ""
        compiled = [(site.key, kind) for site in self.engine.sites for kind in site.versions]
        return "".join(emitted(self._program, key, kind, self.engine.options, "llvm") for key, kind in compiled)

    def entry(self, name: str) -> Callable[..., Any]:
        """What a call of a function in SaC goes to: it takes the arguments, and a flag for each that may be an
        array."""
        return self._evaluator.compiled(self._key(name))

    def function(self, name: str) -> Callable[..., Any]:
        """The function of that name, of which there must be one instance only. It gives its result, or a tuple of
        several."""
        key = self._key(name)

        def call(*args: Any) -> Any:
            results = self._evaluator.call(key, args)
            return results[0] if len(results) == 1 else results

        return call

    def _key(self, name: str) -> str:
        (entry,) = self._program.main.own(name)
        return self._program.key(entry, ())


def _engine(target: str, cache: Path | None, choices: dict[str, Any]) -> Engine:
    """What compiles: one thread per core, as for the peers."""
    from sacpy.jit.cache import Cache
    from sacpy.jit.run.engine import Engine

    return Engine(target, cache=None if cache is None else Cache(cache), **choices)
