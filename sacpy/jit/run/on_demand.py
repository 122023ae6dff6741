"""The engine as long as it may not be needed: a program without work for a compiler never loads one.

In: settings. Out: an `interp.engine.Engine` that makes the real one when the first function comes along that is worth
looking after.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any

from sacpy.base.clocks import is_processor_free, thread_time
from sacpy.jit.options import cores
from sacpy.jit.run.regions import Regions
from sacpy.jit.run.worth import asks, worth_watching
from sacpy.lang.core import CheckedProgram, Function, Let, Loop, Program
from sacpy.lang.deep import deeply

if TYPE_CHECKING:
    from sacpy.interp.engine import Asking, Turn
    from sacpy.interp.evaluator import Evaluator
    from sacpy.jit.run.engine import Engine
    from sacpy.jit.run.fork import Fork
    from sacpy.jit.run.making import FirstCall
    from sacpy.jit.run.resting import Resting
    from sacpy.lang import ast
    from sacpy.lang.elaborate.program import ElaboratedProgram

SHORT = 0.15  # seconds of a run of which what the engine takes is much
TICK = 1e-6  # the least that a run takes
ENGINE = 0.025  # seconds that it takes, with loading what native code needs


class OnDemand:
    """An engine that is made when it is needed. The arguments are those of `engine.Engine`."""

    def __init__(self, target: str, **settings: Any) -> None:
        self._target = target
        self._settings = settings
        self._memory = 0
        self._limited = False
        self._engine: Engine | None = None
        self._resting: Resting | None = None
        self._again = False  # whether it has rested in an earlier run
        self._began = 0.0  # when a run began
        self._loading = 0.0  # seconds that loading the engine took
        self._evaluator: Evaluator | None = None  # of that run, where it is measured
        self.is_measured = False  # whether somebody wants to know after a run:
        # its seconds if it was short, and there was nothing to do; 0 if it was not; None: nobody knows
        self.idle_for: float | None = None
        self._begun: tuple[Fork, CheckedProgram] | None = None  # a process that compiles, for a program
        self._move_again: Callable[[], None] = lambda: None  # this one stays where it is as long as it is starting

    def rest(self, seconds: float, again: bool = False) -> None:
        """A program will be run, and how long it takes is to be measured where this has nothing to do. In an earlier
        run of which that is true it took so many seconds; 0 if there was none. `again`: this has rested since."""
        self._again = again
        self.is_measured = self._target == "auto" and not self._settings.get("eager") and self._engine is None
        if self.is_measured and seconds:
            from sacpy.jit.run.resting import Resting

            self._resting = Resting(seconds, lambda: self.engine)

    @property
    def _rests(self) -> bool:
        """Whether there is to be no engine yet."""
        if self._resting is None or self._resting.is_over:
            return False
        if self._resting.has_lasted:
            self._resting.end()
        return not self._resting.is_over

    @property
    def _has_woken(self) -> bool:
        """Whether there was to be no engine, and the run has lasted too long for that."""
        return self._resting is not None and self._resting.is_over

    @property
    def has_rested(self) -> bool:
        """Whether the program has been run without an engine."""
        return self._resting is not None and not self._resting.is_over

    @property
    def started(self) -> Engine | None:
        """The real engine, if there is one yet."""
        return self._engine

    @property
    def engine(self) -> Engine:
        """The real engine."""
        if self._engine is None:
            start = thread_time()
            from sacpy.jit.run.engine import Engine

            self._loading = thread_time() - start
            self._engine = Engine(self._target, **self._settings)
            self._engine.begin(self._memory, self._limited)
            if self._begun is not None:
                self._engine.take(*self._begun)
        return self._engine

    def prepared(self, program: Program) -> Program:
        """The program with its hot regions outlined."""
        regions = Regions(program)
        if self._resting is not None:
            # in the first run that rests, functions are as the one before has generated them, with regions
            regions.as_written = lambda: self._again and self._rests
        return regions

    def wrap(
        self,
        evaluator: Evaluator,
        function: Function,
        interpreted: Callable[[], Callable[..., Any]],
        put: Callable[[Callable[..., Any]], None] | None = None,
    ) -> Callable[..., Any]:
        """What calls of a function go to."""
        if self.is_measured:
            self._evaluator = evaluator
            if self._resting is not None:
                self._resting.generating = lambda: evaluator.generating_since
        if worth_watching(function) != (put is None):
            return interpreted()
        if put is not None or not self._rests:
            return self.engine.wrap(evaluator, function, interpreted, put)
        assert self._resting is not None
        made = interpreted()
        self._resting.watch(evaluator, function, made)
        return made

    def asks(self, function: Function, statement: Let | Loop) -> list[str] | None:
        """What generated code says when it asks about a loop; it does not where no engine is needed for the
        function."""
        return asks(function, statement)

    def turn(self, evaluator: Evaluator, key: str, asking: Asking) -> Turn:
        """Whom generated code asks about a loop."""
        if not self._rests:
            return self.engine.turn(evaluator, key, asking)
        from sacpy.jit.run.resting import RestingTurn

        assert self._resting is not None
        return RestingTurn(self._resting, evaluator, key, asking)

    def foresee(self, program: CheckedProgram, hint: str) -> None:
        """A program is about to run: where no earlier run has told anything of it, there is work in it, and a core is
        free, a process that compiles begins to load what that takes. Whoever forks early has few pages to copy.
        `hint`: a name in the cache by which it is known that it has been run; "" where that is certain not to be."""
        if self._target != "auto" or self._engine is not None or cores() == 1 or not is_processor_free():
            return
        if not deeply(lambda: any(map(worth_watching, program.elaborated()))):
            return
        from sacpy.base.processors import stay
        from sacpy.jit.run.contract import compile_context
        from sacpy.jit.run.fork import Fork, may_fork
        from sacpy.jit.run.making import Making, load

        if not may_fork():
            return
        tools = compile_context(**self._settings)
        if hint:
            if tools.cache.has(hint):
                return
            tools.cache.write(hint, b"")
        regions = Regions(program)
        making = Making(tools, lambda number: regions)
        if not hint:  # in a command: nobody else begins threads until it runs the program
            self._move_again = stay()
        try:
            self._begun = Fork(making.answer, load, None, lambda: making.likely(regions, program.elaborated())), program
        except OSError:
            self._move_again()

    def expect(self, hint: str, read: Callable[[ast.Module], ElaboratedProgram]) -> None:
        """Programs will come, most likely with something to compile: makes the real engine."""
        self.engine.expect(hint, read)

    def tell(self, program: ElaboratedProgram, tree: ast.Module, call: FirstCall | None) -> None:
        """A program has come about, of a tree, and is likely to be run, with this call first if one is known."""
        if self._engine is not None:
            self._engine.makers.tell(program, tree, call)

    def stop(self) -> None:
        """Ends what runs natively now."""
        if self._engine is not None:
            self._engine.stop()

    def keep(self) -> None:
        """After a run: what has been found out is kept for the next."""
        engine = self._engine
        if self.is_measured:
            # a next one without an engine does not load it, and has what was generated
            generating = 0.0 if self._evaluator is None else self._evaluator.generating
            seconds = max(thread_time() - self._began - self._loading - generating, TICK)
        if engine is not None:
            engine.keep()
        if self.is_measured:
            is_worth = engine is not None and (self._has_woken or saved(engine, seconds) >= ENGINE)
            self.idle_for = 0.0 if seconds > SHORT or is_worth else seconds

    def settle(self) -> None:
        """When nobody runs a program any more: nothing is at work that would ask for one."""
        if self._engine is not None:
            self._engine.settle()

    def begin(self, memory: int, limited: bool = False) -> None:
        """Before a run: it may be stopped, and take so many bytes (0: any) for arrays. `limited`: somebody watches what
        the process takes. Raises `SacError` where it is to use a GPU and there is none."""
        self._move_again()
        if self.is_measured:
            self._began = thread_time()
            if self._resting is not None:
                self._resting.begin()
        self._memory, self._limited = memory, limited
        if self._engine is not None:
            self._engine.begin(memory, limited)
        elif self._target == "cuda":
            _ = self.engine.device


def saved(engine: Engine, seconds: float) -> float:
    """Seconds that native code would have saved in a run of so many, had it been there in time, at most; infinite where
    it was there: an interpreted call that it has taken over tells nothing of what others would have taken."""
    units = (*engine.sites, *engine.units)
    if any(unit.versions for unit in units):
        return inf
    # calls within others count for both
    missed: float = sum(unit.taken(kind) for unit in units for kind in unit.jobs)
    return min(missed, seconds)
