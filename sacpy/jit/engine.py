"""The engine: decides which functions run natively, has them compiled, and remembers what it did and why.

In: functions as the interpreter meets them. Out: functions that calls go to instead (`dispatch`). A function is compiled once it is hot: when the estimate for a call (`cost`) says that it pays, or when its calls so far have taken long. What a compiler cannot take stays interpreted, with a
reason. The result of a program is the same either way; only floating-point sums may differ in their last bits, unless `strict_fp` is asked for.

One engine serves one session, command or prompt, through all its programs: what was compiled for one is found again for the next, if the functions are the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakKeyDictionary

from sacpy.collection import without_collection
from sacpy.interp.errors import Fault
from sacpy.interp.memory import apart, in_words
from sacpy.jit.cache import Cache, native_folder
from sacpy.jit.cost import STEP, UNKNOWN, Costs
from sacpy.jit.dispatch import Site, Version
from sacpy.jit.failures import Interrupted, NativeFailure, OutOfMemory, Unsupported
from sacpy.jit.kinds import Kind
from sacpy.jit.options import Options
from sacpy.jit.reports import Report
from sacpy.jit.worth import worth_watching
from sacpy.lang import core
from sacpy.lang.diagnostics import SacError
from sacpy.nodes import Node

if TYPE_CHECKING:
    from sacpy.interp.evaluator import Evaluator
    from sacpy.jit.device.context import Device
    from sacpy.jit.device.program import DeviceProgram
    from sacpy.jit.host.native import Context
    from sacpy.jit.specialise import Specialiser

SOON = 0.2  # seconds; what fails later for lack of memory is not run again to learn more


class Policy(Node):
    """When a function is compiled: once a call's estimated work (steps of the interpreter) is at least `work`, or its calls so far have taken `seconds`; and, if it must `pay`, once that is about what compiling it takes, unless the cache has it. `array`: what an element of a whole-array operation counts, `unknown`: an
    extent that nobody knows. `eager`: at the first call."""

    work: float
    seconds: float
    array: float = 1.0
    unknown: float = UNKNOWN
    pay: bool = False
    eager: bool = False


POLICIES = {
    "auto": Policy(work=10_000, seconds=0.003, array=1 / 30, unknown=8.0, pay=True),
    "cpu": Policy(work=10_000, seconds=0.002),
    "cuda": Policy(work=10_000, seconds=0.002),
    "emulator": Policy(work=10_000, seconds=0.002),
}
EAGER = Policy(0, 0, eager=True)
PRICE = 0.05  # seconds that compiling takes at least
PRICE_PER_STATEMENT = 0.002


class Native(Protocol):
    """A compiled function, ready to be called with the values of its arguments. Raises `NativeFailure`."""

    def __call__(self, args: tuple[Any, ...], /) -> tuple[Any, ...]: ...


class Compiled(Node):
    """A compiled unit: how to call it, and what became of it on the way. `owned`: whether the arrays that it gives are nobody else's; `device`: the same as a program of a device, if it is one; `recursive`: whether it may call itself."""

    call: Native
    report: Report
    owned: bool = True
    device: DeviceProgram | None = None
    recursive: bool = False


class Tools:
    """What compiling takes besides a function: options, the cache, and what running code shares with Python."""

    def __init__(self, options: Options, cache: Cache, eager: bool = False, check: bool = False) -> None:
        self.options = options
        self.cache = cache
        self.eager = eager
        self.check = check  # of the emulator: every access to memory
        self.device: Device | None = None
        self.gpu: bool | None = None  # whether there is one; None: nobody has looked
        self.memory = 0
        self._context: Context | None = None
        self._latest: tuple[core.Program, Specialiser] | None = None

    def specialiser(self, program: core.Program) -> Specialiser:
        """What makes graphs of a program's functions."""
        if self._latest is None or self._latest[0] is not program:
            from sacpy.jit.specialise import Specialiser

            self._latest = program, Specialiser(program)
        return self._latest[1]

    @property
    def context(self) -> Context:
        """What all native code of an engine shares with Python: the stop flag, the number of threads."""
        if self._context is None:
            from sacpy.jit.host.native import Context

            self._context = Context(self.options.threads, self.memory)
        return self._context

    def stop(self, stop: bool) -> None:
        """Ends what runs, or lets things run again."""
        if self._context is not None:
            self._context.stop = stop

    def limit(self, memory: int) -> None:
        """How many bytes a call may take; 0: any."""
        self.memory = memory
        if self._context is not None:
            self._context.memory = memory
        if self.device is not None:
            self.device.limit(memory)


class Compiler(Protocol):
    """What the engine asks of a compiler. `name` is the digest that the code is kept under. Raises `Unsupported`."""

    def __call__(self, program: core.Program, key: str, kind: Kind, name: str, tools: Tools, /) -> Compiled: ...


class Room:
    """What the engine keeps for one evaluator."""

    def __init__(self, evaluator: Evaluator, policy: Policy) -> None:
        from sacpy.jit.fingerprint import Fingerprints

        self.program = evaluator.program
        self.fingerprints = Fingerprints(self.program)
        self.costs = Costs(self.program, evaluator.preparer.inferrer, policy.array, policy.unknown)


class Engine:
    """`target`: "auto" (what is hot), "cpu" (whatever may be), "cuda" or "emulator" (that too, with-loops on a GPU or on the emulator of one, which looks at every access with `check`). `threads`: how many a loop may use, None for one per core. `opt_level`: how hard LLVM tries. `eager`: everything is compiled when it is first called. `cache`: the folder of compiled code, None for the user's. `defects`: errors inside the compiler are raised, which tests want; otherwise
    what it fails on stays interpreted. `compiler` takes the place of the real one."""

    def __init__(
        self,
        target: str = "auto",
        *,
        threads: int | None = None,
        strict_fp: bool = False,
        opt_level: int = 3,
        verify: bool = False,
        strategy: str = "auto",
        device: str = "",
        eager: bool = False,
        cache: Cache | None = None,
        defects: bool = False,
        check: bool = False,
        compiler: Compiler | None = None,
    ) -> None:
        self.target = target
        self.options = Options(threads=threads or cores(), strict_fp=strict_fp, opt_level=opt_level, verify=verify, strategy=strategy, device=device)
        self.tools = Tools(self.options, Cache(native_folder()) if cache is None else cache, eager, check)
        self.policy = EAGER if eager else POLICIES[target]
        self.sites: list[Site] = []
        self.reruns = 0
        self.compiling = 0.0  # seconds
        self._defects = defects
        self._compiler = compiler
        self._rooms: WeakKeyDictionary[Evaluator, Room] = WeakKeyDictionary()
        self._compiled: dict[str, Compiled] = {}

    # ---- what the interpreter asks

    def prepared(self, program: core.Program) -> core.Program:
        """The program with its hot regions outlined."""
        from sacpy.jit.regions import Regions

        return Regions(program)

    def wrap(self, evaluator: Evaluator, function: core.Function, interpreted: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
        """What calls of a function go to."""
        if not worth_watching(function):
            return interpreted()
        room = self._rooms.get(evaluator)
        if room is None:
            room = self._rooms[evaluator] = Room(evaluator, self.policy)
        name = evaluator.python_name(function.signature.key)
        site = Site(self, room, function, interpreted, lambda entry: evaluator.namespace.__setitem__(name, entry))
        self.sites.append(site)
        return site.entry

    def stop(self) -> None:
        """Ends what runs natively now, as soon as it looks. Called from other threads."""
        self.tools.stop(True)

    def begin(self, memory: int) -> None:
        """Before a run: it may be stopped, and take so many bytes (0: any) for arrays."""
        self.tools.stop(False)
        self.tools.limit(memory)

    # ---- what dispatch asks

    def estimate(self, site: Site, args: tuple[Any, ...]) -> float:
        """The work of a call."""
        return site.room.costs.call(site.function, args)

    def certain(self, site: Site, args: tuple[Any, ...]) -> float | None:
        """The seconds that a call takes interpreted, if that can be told for certain."""
        work = site.room.costs.certain(site.function, args)
        return None if work is None else work * STEP

    @property
    def copied(self) -> int:
        """How many bytes of arguments native code has copied, to update them."""
        return self.tools.context.copied

    def pays(self, site: Site, kind: Kind, seconds: float) -> bool:
        """Whether a version is worth its price, when interpreting has taken, or will take, so many seconds."""
        if not self.policy.pay or seconds >= PRICE + PRICE_PER_STATEMENT * site.room.costs.length(site.function):
            return True
        if kind not in site.looked_for:
            site.looked_for.add(kind)
            name = site.room.fingerprints.digest(site.key, kind, self.options)
            return name in self._compiled or self.tools.cache.has(name)
        return False

    def version(self, site: Site, kind: Kind) -> Version:
        """Compiles a function for arguments of this kind, or finds it compiled. Raises `Unsupported`."""
        start = perf_counter()
        try:
            with apart():
                compiled = self._compile(site, kind)
        finally:
            self.compiling += perf_counter() - start
        return Version(kind, compiled.call, compiled.report, compiled.owned, compiled.device, compiled.recursive)

    @without_collection("code")
    def _compile(self, site: Site, kind: Kind) -> Compiled:
        room = site.room
        try:
            name = room.fingerprints.digest(site.key, kind, self.options)
            known = self._compiled.get(name)
            if known is None:
                known = self._compiled[name] = self.compiler(room.program, site.key, kind, name, self.tools)
            return known
        except Unsupported:
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
            raise Unsupported(f"the compiler failed ({type(error).__name__}: {error}); please report this with the program") from error

    @property
    def compiler(self) -> Compiler:
        """What compiles."""
        if self._compiler is None:
            from sacpy.jit.choice import compiler_for

            self._compiler = compiler_for(self.target)
        return self._compiler

    def device_program(self, evaluator: Evaluator, key: str, args: tuple[Any, ...]) -> DeviceProgram | None:
        """A function compiled for the device, for arguments of these shapes; None where it is not to be had."""
        evaluator.compiled(key)
        room = self._rooms.get(evaluator)
        site = next((s for s in reversed(self.sites) if s.room is room and s.key == key), None)
        version = None if site is None else site.forced(args)
        return None if version is None else version.device

    @property
    def device(self) -> Device | None:
        """What runs kernels for this engine; None if it has been asked for none, or has none yet. Raises `SacError` where the target needs a GPU and there is none."""
        from sacpy.jit.choice import device_of

        return device_of(self.target, self.tools)

    def raise_for(self, failure: NativeFailure, elapsed: float) -> None:
        """The error of native code that ended early, after so many seconds; returns where the interpreter is to find it."""
        if isinstance(failure, Interrupted):
            self.tools.stop(False)
            _pending()
        if isinstance(failure, OutOfMemory) and elapsed > SOON:
            what = f"an array of {in_words(failure.size)} finds no room" if failure.size else "an array finds no room"
            raise Fault("E0703", f"out of memory: {what}", help="use smaller arrays, or raise the memory limit")

    def entered(self) -> Sequence[Site]:
        """The functions that were called, or that might have been."""
        return [s for s in self.sites if s.calls or s.versions or s.refused]


def cores() -> int:
    """How many threads this process may run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _pending() -> None:
    """Gives the exception that another thread or a signal has ordered the opportunity to be raised."""
    for _ in range(1000):
        pass
