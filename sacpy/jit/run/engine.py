"""The engine: decides which functions run natively, has them compiled, and remembers what it did and why.

In: functions as the interpreter meets them. Out: functions that calls go to instead (`dispatch`). A function is
compiled once it is hot: when the estimate for a call (`cost`) says that it pays, or when its calls so far have taken
long. What a compiler cannot take stays interpreted, with a reason. The result of a program is the same either way; only
floating-point sums may differ in their last bits, unless `strict_fp` is asked for.

One engine serves one session, command or prompt, through all its programs: what was compiled for one is found again for
the next, if the functions are the same.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from sacpy.base.clocks import is_processor_free, thread_time
from sacpy.base.collection import without_collection
from sacpy.interp.errors import Fault
from sacpy.interp.memory import apart, in_words
from sacpy.jit.beside import Abandoned, Job, is_beside
from sacpy.jit.failures import Interrupted, NativeFailure, OutOfMemory, Unsupported
from sacpy.jit.kinds import Kind
from sacpy.jit.options import cores
from sacpy.jit.run.contract import Compiled, Compiler, compile_context
from sacpy.jit.run.cost import STEP
from sacpy.jit.run.dispatch import Site
from sacpy.jit.run.judgement import Pace, Policy
from sacpy.jit.run.makers import Makers
from sacpy.jit.run.program_state import ProgramState
from sacpy.jit.run.regions import Regions
from sacpy.jit.run.remembered import Recent, Watched
from sacpy.jit.run.versions import LOADING, Version, Versions
from sacpy.jit.run.worth import asks, worth_watching
from sacpy.lang import core
from sacpy.lang.diagnostics import SacError

if TYPE_CHECKING:
    from sacpy.interp.engine import Asking, Turn
    from sacpy.interp.evaluator import Evaluator
    from sacpy.jit.device.context import Device
    from sacpy.jit.device.program import DeviceProgram
    from sacpy.jit.ir.parts import Border
    from sacpy.jit.run.fork import Fork
    from sacpy.lang import ast
    from sacpy.lang.elaborate.program import ElaboratedProgram

LITTLE = 2e-3  # seconds of runs between two times that what they tell is kept: at first, and twice as many each time
MUCH = 0.25  # up to so many
PATIENCE = 0.02  # seconds between two looks for an exception
SOON = 0.2  # seconds; what fails later for lack of memory is not run again to learn more

POLICIES = {
    "auto": Policy(unknown=8.0, beside=True),
    "cpu": Policy(price=0.0005, array=1.0),
    "cuda": Policy(price=0.0005, array=1.0),
    "emulator": Policy(price=0.0005, array=1.0),
}
EAGER = Policy(0.0, eager=True)
LIBRARIES = 0.05  # seconds that the compiler's libraries take to load, once in a process
NATIVE = 0.01  # seconds that it takes to load what native code needs, once in a process
COMPILING = 0.025  # seconds that compiling takes at least
COMPILING_STATEMENT = 0.00062  # and for each statement: as measured (`benchmarks estimates`)
UNLIKELY = 1 / 4  # of that: for less nobody looks whether the cache has what this program has not needed before
LARGE = 800  # statements behind which functions that come again are called, and each counts a fifth
ROOM = "_room"  # where an evaluator's namespace has it


class Engine:
    """`target`: "auto" (what is hot), "cpu" (whatever may be), "cuda" or "emulator" (that too, with-loops on a GPU or
    on the emulator of one, which looks at every access with `check`). `eager`: everything is compiled when it is first
    called. `defects`: errors inside the compiler are raised, which tests want; otherwise what it fails on stays
    interpreted. `compiler` takes the place of the real one; `pace` that of the policy; `settings` are those of
    `contract.compile_context`."""

    def __init__(
        self,
        target: str = "auto",
        *,
        eager: bool = False,
        defects: bool = False,
        compiler: Compiler | None = None,
        pace: Pace | None = None,
        **settings: Any,
    ) -> None:
        self.target = target
        self.tools = compile_context(eager=eager, **settings)
        self.options = self.tools.options
        self.policy = Policy(0.0, pace=pace) if pace is not None else EAGER if eager else POLICIES[target]
        self.sites: Watched[Site] = Watched("_sites")
        self.units: Watched[Versions] = Watched("_units")  # loops, and what else was left in the middle
        self.reruns = 0
        self.late = 0  # how many of the outermost began late, after much native code
        self.compiling = 0.0  # seconds
        # seconds that the thread that runs programs has spent on compiling, and on judging what is worth it
        self.busy = 0.0
        self._slowness = 1.0  # of this machine now: times what compiling is expected to take
        self.inner = 0.0  # seconds that the innermost call that is timed has spent in functions that are timed too
        self._began = 0.0  # when a run began
        self._core: bool | None = None  # whether one was free for compiling, when a run first asked
        self._unkept, self._little = 0.0, LITTLE  # seconds of runs of which nothing has been kept; up to so many
        self._defects = defects
        self._compiler = compiler
        self.makers = Makers(
            self.tools,
            units=lambda: (*self.sites, *self.units),
            make=lambda unit, kind: self._version(unit, kind),
            may_fork=compiler is None,
            meanwhile=self._load_native,
        )
        self._recorded: WeakSet[Evaluator] = WeakSet()  # those of programs that may run again
        self._lock = Lock()  # of who compiles
        _engines.add(self)
        self._compiled: Recent[Compiled] = Recent()

    # ---- what the interpreter asks

    asks = staticmethod(asks)

    def prepared(self, program: core.Program) -> core.Program:
        """The program with its hot regions outlined."""
        return Regions(program)

    def wrap(
        self,
        evaluator: Evaluator,
        function: core.Function,
        interpreted: Callable[[], Callable[..., Any]],
        put: Callable[[Callable[..., Any]], None] | None = None,
    ) -> Callable[..., Any]:
        """What calls of a function go to."""
        if worth_watching(function) != (put is None):  # of others it is asked for the calls, of these it has been
            return interpreted()
        room = self._room_of(evaluator)
        if put is not None and not room.is_pure(function):  # nor could it be compiled
            return interpreted()
        name = evaluator.python_name(function.signature.key)
        site = Site(self, room, function, interpreted, put or partial(evaluator.namespace.__setitem__, name))
        self.sites.add(evaluator, site)
        return site.entry

    def turn(self, evaluator: Evaluator, key: str, asking: Asking) -> Turn:
        """Whom the generated code of a function asks about one of its loops."""
        from sacpy.jit.run import turns

        return turns.Turn(self, self._room_of(evaluator), key, asking)

    def _room_of(self, evaluator: Evaluator) -> ProgramState:
        """What is kept for an evaluator."""
        room = _room(evaluator)
        if room is None:
            room = evaluator.namespace[ROOM] = ProgramState(
                evaluator, self.policy, self.tools.cache, self.makers.number(evaluator.program)
            )
            if room.records.lasting:
                self._recorded.add(evaluator)
        return room

    def stop(self) -> None:
        """Ends what runs natively now, as soon as it looks. Called from other threads."""
        self.tools.stop(True)

    def begin(self, memory: int, limited: bool = False) -> None:
        """Before a run: it may be stopped, and take so many bytes (0: any) for arrays (if `limited`, watched)."""
        self._began = perf_counter()
        self._core = None
        self.tools.stop(False)
        self.tools.limited = limited
        self.tools.limit(memory)

    # ---- what dispatch asks

    def estimate(self, site: Versions, args: tuple[Any, ...]) -> float:
        """The work of a call."""
        return site.room.costs.call(site.function, args)

    def expected(self, site: Versions, args: tuple[Any, ...], size: int) -> float:
        """The seconds that a call takes interpreted, as far as can be told: what the estimate says, or what such a call
        took in an earlier run, if that is less. `size`: of its largest argument."""
        kind, records = site.kind(args), site.room.records
        took = inf if kind is None else records.took(site.key, kind, size)
        if kind is not None and took < self.usual_price(site) * UNLIKELY and not records.wants(site.key, kind):
            return took  # for so little nobody looks whether there is code, whatever an estimate says
        return min(self.estimate(site, args) * STEP, took)

    def certain(self, site: Versions, args: tuple[Any, ...]) -> float | None:
        """The seconds that a call takes interpreted, if that can be told for certain."""
        work = site.room.costs.certain(site.function, args)
        return None if work is None else work * STEP

    @property
    def copied(self) -> int:
        """How many bytes of arguments native code has copied, to update them."""
        return self.tools.context.copied

    def price(self, unit: Versions, args: Sequence[Any], seconds: float, waits: bool = False) -> float:
        """Seconds that a version for these arguments is expected to cost, for somebody who would spend `seconds`, or
        `waits` for it: who would not even pay for loading it is told that, and nobody looks whether it is there."""
        if self.policy.price is not None:
            return self.policy.price
        loading = LOADING + (0.0 if "sacpy.jit.host.native" in sys.modules else NATIVE)
        kind = unit.kind(args)
        if kind is None or seconds < loading:
            return loading
        if kind not in unit.prices:
            usual = self.usual_price(unit)
            if seconds < usual * UNLIKELY and not unit.room.records.wants(unit.key, kind):
                return loading + usual
            name = unit.room.fingerprints.digest(unit.key, kind, self.options)
            unit.prices[kind] = 0.0 if name in self._compiled or self.tools.cache.has(name) else usual
        if unit.prices[kind] and "llvmlite" not in sys.modules and (waits or not self.makers.has_process):
            loading += LIBRARIES
        return loading + unit.prices[kind] * self._slowness

    def _load_native(self) -> None:
        """Loads what native code needs, while there is none."""
        from sacpy.jit.run.compiler import load_native

        before = thread_time()
        load_native()
        self.busy += thread_time() - before

    def usual_price(self, unit: Versions) -> float:
        """Seconds that compiling a unit takes."""
        length = unit.room.costs.length(unit.function)
        return COMPILING + COMPILING_STATEMENT * min(length, LARGE + (length - LARGE) / 5)

    def is_to_be_made(self, unit: Versions, args: Sequence[Any]) -> bool:
        """Whether a version for these arguments, whose price is known, is not in the cache."""
        kind = unit.kind(args)
        return kind is not None and unit.prices.get(kind, 0.0) > 0.0

    def version(self, unit: Versions, kind: Kind, job: Job[Version] | None = None) -> Version:
        """Compiles a function for arguments of this kind, or finds it compiled. `job`: has been made beside the
        program. What has to be made is made by another process, where there may be one that has nothing else to do:
        this one then needs neither the compiler nor the memory that it takes. Raises `Unsupported`."""
        start, busy = perf_counter(), thread_time()
        try:
            with apart():
                if job is None and self._may_wait_for_fork(unit, kind):
                    job = self.makers.ask(unit, kind, is_awaited=True)
                return self._version(unit, kind) if job is None else job.result()
        finally:
            self.compiling += perf_counter() - start
            self.busy += thread_time() - busy

    def beside(self, unit: Versions, kind: Kind, sure: bool) -> Job[Version] | None:
        """The same in a process or thread of its own; None where that cannot be: something else is made there, no core
        is free for it, or somebody watches how much memory the program takes. `sure`: it is worth its price; in a
        process it may wait for its turn then, and in a thread, which slows the program down, it is not made."""
        return self.makers.begin(unit, kind, sure) if self._may_go_on else None

    @property
    def _may_go_on(self) -> bool:
        """Whether something may be made while the program goes on. On busy cores both would take turns, and what the
        interpreter does meanwhile is lost: there the program waits for what is worth it, as on one core."""
        if self._core is None:
            self._core = cores() > 1 and is_processor_free()
        return self._core and self.policy.beside and not self.tools.limited

    def _may_wait_for_fork(self, unit: Versions, kind: Kind) -> bool:
        """Whether what the program waits for had better be made by another process: here libraries would load first."""
        loading = 0.0 if "llvmlite" in sys.modules else LIBRARIES
        return self._may_go_on and unit.prices.get(kind, 0.0) > 0.0 and self.makers.backlog <= loading

    def foresee(self, room: ProgramState) -> None:
        """Has a process ready that compiles, where a program has run for a while, longer than when it needed none, and
        none of its code is in the cache: it is likely to be asked for something soon."""
        if room.records.is_new(room.seconds):
            room.foreseen = True
            if self._may_go_on and room.records.lasting:
                self.makers.prepare(room)

    def expect(self, hint: str, read: Callable[[ast.Module], ElaboratedProgram]) -> None:
        """Programs will come, most likely with something to compile (`Makers.early`)."""
        if self._may_go_on:
            self.makers.early(hint, read)

    def is_ready(self, room: ProgramState) -> bool:
        """Whether what is asked for is begun at once, by a process that has nothing else to do."""
        return self._may_go_on and self.makers.has_ready(room)

    def take(self, fork: Fork, program: core.CheckedProgram) -> None:
        """There is a process already that compiles for this program (`OnDemand.foresee`)."""
        self._core = True
        self.makers.take(fork, program)

    def settle(self) -> None:
        """When nobody runs a program any more: nothing is at work that would ask for one."""
        self.makers.settle()

    def made(self, unit: Versions, kind: Kind, border: Border | None = None) -> Compiled:
        """The code of a version. `border`: where arrays are not all dense that go in or out. Raises `Unsupported`."""
        while not self._lock.acquire(timeout=PATIENCE):  # an exception that another thread has ordered gets through
            pass
        try:
            return self._compile(unit, kind, border)
        finally:
            self._lock.release()

    def _version(self, unit: Versions, kind: Kind) -> Version:
        compiled = self.made(unit, kind)
        expected = unit.prices.get(kind)
        if expected and not compiled.report.cached and not is_beside():  # where it takes turns with the interpreter
            self._slowness = max(1.0, (self._slowness + compiled.report.seconds / expected) / 2)
        return Version(
            kind,
            compiled.call,
            compiled.report,
            compiled.owned,
            compiled.device,
            compiled.recursive,
            compiled.direct,
            compiled.giving,
            compiled.gate,
        )

    @without_collection("code")
    def _compile(self, site: Versions, kind: Kind, border: Border | None = None) -> Compiled:
        room = site.room
        try:
            name = room.fingerprints.digest(site.key, kind, self.options, border)
            known = self._compiled.get(name)
            if known is None:
                from sacpy.jit.run.compiler import compile_unit

                asked = (room.program, site.key, kind, name, self.tools)
                known = self._compiled.keep(name, compile_unit(*asked, border) if border else self.compiler(*asked))
            return known
        except (Unsupported, Abandoned):
            raise
        except SacError as error:
            if error.diagnostics[0].code.startswith("E08"):  # a mapping that the program asks for, and that cannot be
                raise
            raise Unsupported(f"something that it calls is wrong: {error.diagnostics[0].message}") from error
        except ModuleNotFoundError as error:
            raise Unsupported(f"the compiler needs {error.name}, which is not installed") from error
        except Exception as error:
            if self._defects:
                raise
            raise Unsupported(
                f"the compiler failed ({type(error).__name__}: {error}); please report this with the program"
            ) from error

    @property
    def compiler(self) -> Compiler:
        """What compiles."""
        if self._compiler is None:
            from sacpy.jit.run.choice import compiler_for

            self._compiler = compiler_for(self.target)
        return self._compiler

    def device_program(self, evaluator: Evaluator, key: str, args: tuple[Any, ...]) -> DeviceProgram | None:
        """A function compiled for the device, for arguments of these shapes; None where it is not to be had."""
        evaluator.compiled(key)
        site = next((s for s in reversed(self.sites.of(evaluator)) if s.key == key), None)
        version = None if site is None else site.forced(args)
        return None if version is None else version.device

    @property
    def device(self) -> Device | None:
        """What runs kernels for this engine; None if it has been asked for none, or has none yet. Raises `SacError`
        where the target needs a GPU and there is none."""
        from sacpy.jit.run.choice import device_of

        return device_of(self.target, self.tools)

    def raise_for(self, failure: NativeFailure, elapsed: float) -> None:
        """The error of native code that ended early, after so many seconds; returns where the interpreter is to find
        it."""
        if isinstance(failure, Interrupted):
            self.tools.stop(False)
            _pending()
            if failure.spent:
                raise KeyboardInterrupt
        if isinstance(failure, OutOfMemory) and (elapsed > SOON or failure.spent):
            what = f"an array of {in_words(failure.size)} finds no room" if failure.size else "an array finds no room"
            raise Fault("E0703", f"out of memory: {what}", help="use smaller arrays, or raise the memory limit")

    def wanted(self, unit: Versions, args: Sequence[Any]) -> bool:
        """Whether an earlier run says that there should be a version for these arguments at once, and the cache has
        it."""
        records = unit.room.records
        if self.policy.price is not None or records.saved < NATIVE:
            return False
        kind = unit.kind(args)
        if kind is None or not (records.wants(unit.key, kind) or unit.resume(args)):
            return False
        return self.price(unit, args, inf) <= LOADING + NATIVE

    def keep(self) -> None:
        """After a run: what has been found out is kept for the next. Of short calls, each of which tells little, only
        now and then."""
        now = perf_counter()
        self._unkept += now - self._began
        self._began = now
        if self.policy.price is None and self._unkept >= self._little:
            self._unkept, self._little = 0.0, min(2 * self._little, MUCH)
            for evaluator in tuple(self._recorded):
                room = _room(evaluator)
                if room is None:  # it has been closed
                    continue
                sites, units = self.sites.of(evaluator), self.units.of(evaluator)
                if self.policy.beside and any(s.seconds >= COMPILING for s in sites):
                    from sacpy.jit.run.ahead import make_ahead

                    make_ahead(sites, units, COMPILING)
                room.records.keep(sites, units, room.seconds)

    def entered(self) -> Sequence[Versions]:
        """The functions that were called, or that might have been; and the loops that were left, or that could not
        be."""
        return [
            *(s for s in self.sites if s.calls or s.versions or s.refused),
            *(u for u in self.units if u.versions or u.refused),
        ]


def _room(evaluator: Evaluator) -> ProgramState | None:
    """What is kept for an evaluator, if there is anything yet. It lies with the evaluator, and goes with it."""
    found: ProgramState | None = evaluator.namespace.get(ROOM)
    return found


_engines: WeakSet[Engine] = WeakSet()


def _forked() -> None:
    """In a forked process there is none of the other threads."""
    for engine in tuple(_engines):
        engine._lock = Lock()
        engine.makers.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def _pending() -> None:
    """Gives the exception that another thread or a signal has ordered the opportunity to be raised."""
    for _ in range(1000):
        pass
