"""Counts what random programs make the compiler do: operations, statements, passes, and ways through the engine.

In: programs that run while `recording`. Out: `Coverage`, counters by name, and what of all that there is has been seen
less often than wanted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from unittest.mock import patch

from sacpy.jit import passes
from sacpy.jit.ir import graph
from sacpy.jit.ir.graph import Check, Let, Op, Unit, WithLoop
from sacpy.jit.kernels.reduction import keeps_order
from sacpy.jit.options import Options
from sacpy.jit.run import compiler
from sacpy.jit.run.engine import Engine
from tests.fuzz.operations import elementwise

STATEMENTS = (
    "Load", "View", "Reshape", "Cons", "Update", "Call", "If", "Loop", "Loop body first", "For", "Check", "WithLoop",
    "Genarray", "Modarray", "Fold", "Propagate", "Fold stop", "Fold in order", "dense", "stepped", "overlapping",
)  # fmt: skip
PATHS = ("native", "run again", "widened", "refused", "from the cache", "threads")


PASSES = tuple(dict.fromkeys(step.file for step in passes.STEPS))


@dataclass
class Coverage:
    """How often each thing was seen. `operations` by code and base type of what it works on; `functions`: compiled and
    refused."""

    operations: Counter[tuple[str, str]] = field(default_factory=Counter)
    statements: Counter[str] = field(default_factory=Counter)
    passes: Counter[str] = field(default_factory=Counter)
    paths: Counter[str] = field(default_factory=Counter)
    functions: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

    def unit(self, before: Unit, after: Unit) -> None:
        """A graph that the specialiser made, and what the passes made of it. What is in both counts once."""
        first, second = Coverage(), Coverage()
        first._graph(before)
        second._graph(after)
        self.operations.update(first.operations | second.operations)
        self.statements.update(first.statements | second.statements)

    def _graph(self, unit: Unit) -> None:
        for function in unit.functions:
            for s in graph.statements(function.body):
                if isinstance(s, Check):
                    self.statements["Check"] += 1
                elif isinstance(s, Let):
                    self._let(s)

    def _let(self, s: Let) -> None:
        match s.rhs:
            case Op(code=code, args=args):
                self.operations[code, args[1 if code == "select" else 0].base] += 1
            case graph.Var() | graph.Const():
                pass
            case graph.Loop(body_first=True):
                self.statements["Loop body first"] += 1
            case WithLoop() as w:
                self._with_loop(w)
            case other:
                self.statements[type(other).__name__] += 1

    def _with_loop(self, w: WithLoop) -> None:
        self.statements["WithLoop"] += 1
        for o in w.operators:
            self.statements[type(o).__name__] += 1
            if isinstance(o, graph.Fold):
                self.statements["Fold stop"] += o.stop is not None
                self.statements["Fold in order"] += keeps_order((o,))
        for p in w.partitions:
            self.statements["dense" if p.step is None else "stepped"] += 1
        self.statements["overlapping"] += len(w.partitions) > 1 and not w.disjoint and w.frame is not None

    def engine(self, engine: Engine) -> None:
        """An engine that has run a program."""
        for site in engine.entered():
            self.functions["compiled"] += len(site.versions)
            self.functions["refused"] += len(site.refused)
            self.paths["refused"] += len(site.refused)
            self.paths["widened"] += site.detail > 0
            self.reasons.update(r.reason for r in site.refused.values())
            for version in site.versions.values():
                self.paths["native"] += version.calls
                self.paths["run again"] += version.failed
                self.paths["from the cache"] += version.report.cached
                self.paths["threads"] += version.report.parallel if engine.options.threads > 1 else 0

    def all(self) -> Iterator[tuple[str, int]]:
        """Everything that there is, and how often it was seen."""
        for code, base in elementwise():
            yield f"operation {code} on {base}", self.operations[code, base]
        for kind, names, counts in (
            ("statement", STATEMENTS, self.statements),
            ("pass", PASSES, self.passes),
            ("path", PATHS, self.paths),
        ):
            for name in names:
                yield f"{kind} {name}", counts[name]

    def missing(self, wanted: int) -> list[str]:
        """What was seen less often than that."""
        return [f"{what}: {count}" for what, count in self.all() if count < wanted]

    @property
    def compiled(self) -> float:
        """The part of all functions that were compiled."""
        return self.functions["compiled"] / max(1, self.functions.total())

    def merge(self, other: Coverage) -> None:
        """Adds what another has counted."""
        for mine, theirs in zip(vars(self).values(), vars(other).values()):
            mine.update(theirs)


@contextmanager
def recording(coverage: Coverage) -> Iterator[None]:
    """Inside, graphs and passes are counted."""

    do = passes._done

    def done(step: passes.Step, unit: Unit, verified: bool) -> Unit:
        result = do(step, unit, verified)
        coverage.passes[step.file] += result is not unit and result != unit
        return result

    optimise = compiler.optimised

    def optimised(unit: Unit, options: Options, clock: compiler.Clock, device: bool = False) -> Unit:
        result = optimise(unit, options, clock, device)
        coverage.unit(unit, result)
        return result

    with ExitStack() as stack:
        stack.enter_context(patch.object(compiler, "optimised", optimised))
        stack.enter_context(patch.object(passes, "_done", done))
        yield
