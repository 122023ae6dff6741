"""What those who decide, and those who compile, ask of one another.

In: nothing. Out: what a compiler is given (`CompileContext`), what it gives (`Compiled`), when it is asked (`Policy`),
and what a function or loop that is watched asks of the engine (`Judge`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from sacpy.jit.cache import Cache
from sacpy.jit.failures import NativeFailure
from sacpy.jit.kinds import Kind
from sacpy.jit.options import Options
from sacpy.jit.run.cost import ELEMENT, UNKNOWN
from sacpy.jit.run.remembered import Watched
from sacpy.jit.run.report import Report
from sacpy.lang import core
from sacpy.nodes import Node

if TYPE_CHECKING:
    from sacpy.jit.beside import Job
    from sacpy.jit.device.context import Device
    from sacpy.jit.device.program import DeviceProgram
    from sacpy.jit.host.gates import Gate
    from sacpy.jit.host.native import Context
    from sacpy.jit.ir.parts import Border
    from sacpy.jit.run.program_state import ProgramState
    from sacpy.jit.run.versions import Version, Versions
    from sacpy.jit.specialise import Specialiser


class Pace(Protocol):
    """Enters and leaves native code at any call and round, whatever that costs: how many calls of a function are
    interpreted before it is compiled (None: it never is); how many rounds of a loop are `interpreted` (at least 1)
    before some are `native` (0: all that are left)."""

    def calls(self) -> int | None: ...

    def interpreted(self) -> int: ...

    def native(self) -> int: ...


class Policy(Node):
    """When something is compiled: once what it has taken, or will take by an estimate, is about the price of having it
    compiled. `price` in seconds; None: what compiling is expected to take. `array`: what an element of a whole-array
    operation counts in an estimate, `unknown`: an extent that nobody knows. `eager`: at the first call; `beside`: what
    may not be worth it is compiled while the program goes on; `pace`: loops are entered and left as it says, which
    tests want."""

    price: float | None = None
    array: float = ELEMENT
    unknown: float = UNKNOWN
    eager: bool = False
    beside: bool = False
    pace: Pace | None = None

    def first(self, usual: int) -> int:
        """The rounds of a loop before it is looked at for the first time."""
        return self.pace.interpreted() - 1 if self.pace is not None else 0 if self.eager else usual


class Native(Protocol):
    """A compiled function, ready to be called with the values of its arguments. Raises `NativeFailure`."""

    def __call__(self, args: tuple[Any, ...], /) -> tuple[Any, ...]: ...


class Compiled(Node):
    """A compiled unit: how to call it, and what became of it on the way. `owned`: whether the arrays that it gives are
    nobody else's; `device`: the same as a program of a device, if it is one; `recursive`: whether it may call itself;
    `direct`: what calls it with contiguous arguments like some others (`NativeFunction.like`); `giving`: what calls it
    with arguments that the caller gives away, if it takes any (`NativeFunction`); `gate`: `NativeFunction.gate`."""

    call: Native
    report: Report
    owned: bool = True
    device: DeviceProgram | None = None
    recursive: bool = False
    direct: Callable[[Sequence[Any]], Callable[..., tuple[Any, ...] | None]] | None = None
    giving: Callable[[tuple[Any, ...], tuple[bool, ...]], tuple[Any, ...]] | None = None
    gate: Callable[[Sequence[Any], Sequence[Any], object], Gate | None] | None = None


class CompileContext:
    """What compiling takes besides a function: options, the cache, and what running code shares with Python."""

    def __init__(self, options: Options, cache: Cache, eager: bool = False, check: bool = False) -> None:
        self.options = options
        self.cache = cache
        self.eager = eager
        self.check = check  # of the emulator: every access to memory
        self.device: Device | None = None
        self.gpu: bool | None = None  # whether there is one; None: nobody has looked
        self.memory = 0
        self.limited = False
        self.delivered: dict[str, bytes] = {}  # what other processes have made, by name
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
        if self.device is not None:
            self.device.stop(stop)

    def limit(self, memory: int) -> None:
        """How many bytes a call may take; 0: any."""
        self.memory = memory
        if self._context is not None:
            self._context.memory = memory
        if self.device is not None:
            self.device.limit(memory)


class Compiler(Protocol):
    """What the engine asks of a compiler. `name` is the digest that the code is kept under. Raises `Unsupported`."""

    def __call__(
        self, program: core.Program, key: str, kind: Kind, name: str, tools: CompileContext, /
    ) -> Compiled: ...


class Judge(Protocol):
    """What decides for the units of a program: the engine, as they see it (`engine.Engine` says what each means)."""

    policy: Policy
    units: Watched[Versions]
    reruns: int
    late: int
    compiling: float
    busy: float
    inner: float

    @property
    def copied(self) -> int: ...

    def estimate(self, site: Versions, args: tuple[Any, ...]) -> float: ...

    def expected(self, site: Versions, args: tuple[Any, ...], size: int) -> float: ...

    def certain(self, site: Versions, args: tuple[Any, ...]) -> float | None: ...

    def price(self, unit: Versions, args: Sequence[Any], seconds: float) -> float: ...

    def usual_price(self, unit: Versions) -> float: ...

    def wanted(self, unit: Versions, args: Sequence[Any]) -> bool: ...

    def is_to_be_made(self, unit: Versions, args: Sequence[Any]) -> bool: ...

    def version(self, unit: Versions, kind: Kind, job: Job[Version] | None = None) -> Version: ...

    def made(self, unit: Versions, kind: Kind, border: Border | None = None) -> Compiled: ...

    def beside(self, unit: Versions, kind: Kind, sure: bool) -> Job[Version] | None: ...

    def foresee(self, room: ProgramState) -> None: ...

    def is_ready(self, room: ProgramState) -> bool: ...

    def raise_for(self, failure: NativeFailure, elapsed: float) -> None: ...
