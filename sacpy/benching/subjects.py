"""What is measured: a call in a program, with its arguments evaluated beforehand.

In: the file of a program, the text of an expression, a workspace. Out: a `Subject`, which can be called over and over.
The arguments of the outermost call are evaluated once; an expression that is no call is evaluated as a whole. The names
`bench_*` of functions stand for expressions as well: without parameters, `f()`; with one int, `f(n)` for each size.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from sacpy.base.clocks import thread_time
from sacpy.base.collection import without_collection
from sacpy.interp.evaluator import Evaluator
from sacpy.interp.limits import Watchdog
from sacpy.interp.runtime.calls import known_shape
from sacpy.interp.values import Value, shape_of
from sacpy.interp.world import World
from sacpy.lang import ast
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.elaborate.interactive import Named, expression_function
from sacpy.lang.elaborate.program import ElaboratedProgram
from sacpy.lang.infer import infer
from sacpy.lang.modules import parse_file
from sacpy.lang.parser import parse_expression
from sacpy.lang.source import Source
from sacpy.nodes import replace
from sacpy.workspace import Workspace

if TYPE_CHECKING:
    from sacpy.jit.run.on_demand import OnDemand

if sys.platform != "win32":
    import resource
else:
    resource = None

PREFIX = "bench_"
KEY = "measured"
WARM_CALLS = 3  # how often a call is repeated at least before it counts as warm


class Sample(NamedTuple):
    """`seconds` of a call: the mean of several; `disturbed`: the system took the processor away meanwhile."""

    seconds: float
    disturbed: bool


def expressions(file: Path, workspace: Workspace, sizes: Sequence[int]) -> list[str]:
    """The calls that the `bench_*` functions of a file stand for. Raises `SacError`."""
    info = parse_file(file, workspace.include_path, workspace.defines, search=workspace.search)
    found: list[str] = []
    for name in info.functions:
        for definition in info.definitions(name) if name.startswith(PREFIX) else ():
            if not definition.params:
                found.append(f"{name}()")
            elif _takes_a_size(definition):
                found += [f"{name}({size})" for size in sizes]
            else:
                raise SacError(
                    Diagnostic(
                        "E0776",
                        f"{name} takes something else than a size",
                        definition.name_span,
                        help="let it have no parameters or one int, or call it in an expression: sacpy bench FILE.sac "
                        f"'{name}(..)'",
                    )
                )
    return found


def _takes_a_size(definition: ast.FunDef) -> bool:
    types = [p.type for p in definition.params]
    return len(types) == 1 and types[0].pattern is None and str(types[0].base) == "int"


class Subject:
    """An expression in a program, ready to be evaluated again and again. `first`: the seconds that reading and checking
    the program and the first call have taken; `engine`: what compiles, another one than the workspace's. Raises
    `SacError`."""

    def __init__(self, file: Path, text: str, workspace: Workspace, engine: OnDemand | None = None) -> None:
        self.file, self.text = file, text
        self.workspace = replace(workspace, _engine=engine)
        self._world = World.captured(b"", (b"bench",))
        self._watchdog = Watchdog()
        start = perf_counter()
        program, found = self.workspace.check(file)
        if any(d.severity == "error" for d in found):
            raise SacError(*found)
        expr = self._parsed(text, program)
        named: dict[str, Named] = {}
        values: list[Value] = []
        if isinstance(expr, ast.Call):
            expr = replace(expr, args=tuple(self._argument(program, a, named, values) for a in expr.args))
        made = expression_function(program, expr, named, KEY)
        self._arguments = tuple(values)
        certain = infer(program.function(KEY), [known_shape(v) for v in values], program).diagnostics
        if any(d.severity == "error" for d in certain):
            raise SacError(*certain)
        del made
        self._evaluator = self.workspace.evaluator(program, self._world)
        self.sample(1)
        self.first = perf_counter() - start

    @property
    def clock(self) -> Callable[[], float]:
        """What tells most about a call beside others on a busy machine: what runs in this thread alone is measured by
        the thread's own time, which leaves out what the machine does meanwhile."""
        alone = self.workspace.target == "interp" or (self.workspace.target == "cpu" and self.workspace.threads == 1)
        return thread_time if alone else perf_counter

    def sample(self, count: int, clock: Callable[[], float] = perf_counter) -> Sample:
        """The seconds that a call takes: the mean of so many calls. Raises `SacError`."""

        def action() -> float:
            call, arguments = self._evaluator.call, self._arguments
            start = clock()
            for _ in range(count):
                call(KEY, arguments)
            return clock() - start

        before = _preemptions()
        seconds = self.workspace.guard(self._watchdog, action) / count
        return Sample(seconds, _preemptions() != before)

    def warm(self, seconds: float) -> float:
        """Calls it for so many seconds, in which what is hot is compiled; the seconds that a call takes now."""
        start, calls, last = perf_counter(), 0, 0.0
        while calls < WARM_CALLS or perf_counter() - start < seconds:
            count = 1 if last == 0 else max(1, min(1000, int(0.02 / last)))
            last = self.sample(count).seconds
            calls += count
        return last

    def _parsed(self, text: str, program: ElaboratedProgram) -> ast.Expr:
        operators = {n for n in program.main.info.functions if not (n[0].isalnum() or n[0] == "_")}
        parsed = parse_expression(
            Source("<measured>", text),
            defines=self.workspace.defines,
            include_path=tuple(self.workspace.include_path),
            operators=operators,
        )
        if parsed.expr is None or any(d.severity == "error" for d in parsed.diagnostics):
            raise SacError(*parsed.diagnostics)
        return parsed.expr

    @without_collection()
    def _argument(
        self, program: ElaboratedProgram, expr: ast.Expr, named: dict[str, Named], values: list[Value]
    ) -> ast.Expr:
        """A name that stands for the value of an argument from here on."""
        if isinstance(expr, ast.Literal | ast.StringLiteral):
            return expr
        made = expression_function(program, expr, {}, f"{KEY} argument")
        if len(made.results) != 1 or made.changed:
            return expr  # what is wrong with it is said of the whole
        found = self.workspace.guard(
            self._watchdog, lambda: Evaluator(program, self._world).call(f"{KEY} argument", ())
        )
        del program.initials[f"{KEY} argument"]
        name = f"argument_{len(named) + 1}"
        named[name] = Named(made.results[0], tuple(len(shape_of(value)) for value in found))
        values += found
        return ast.Name(ast.QName(None, name, expr.span), expr.span)


def _preemptions() -> int:
    """How often the system has taken the processor away from a thread of this process."""
    return 0 if resource is None else resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


__all__ = ["Sample", "Subject", "expressions"]
