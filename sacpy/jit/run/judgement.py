"""When something is compiled (`Policy`), and what a function or loop that is watched asks of the engine (`Judge`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from sacpy.jit.run.cost import ELEMENT, UNKNOWN
from sacpy.nodes import Node

if TYPE_CHECKING:
    from sacpy.jit.beside import Job
    from sacpy.jit.failures import NativeFailure
    from sacpy.jit.ir.parts import Border
    from sacpy.jit.kinds import Kind
    from sacpy.jit.run.contract import Compiled
    from sacpy.jit.run.program_state import ProgramState
    from sacpy.jit.run.remembered import Watched
    from sacpy.jit.run.versions import Version, Versions


EARLY = 1 / 3  # of the price: where so much time has been spent, a version may be made beside the program


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

    def price(self, unit: Versions, args: Sequence[Any], seconds: float, waits: bool = False) -> float: ...

    def usual_price(self, unit: Versions) -> float: ...

    def wanted(self, unit: Versions, args: Sequence[Any]) -> bool: ...

    def is_to_be_made(self, unit: Versions, args: Sequence[Any]) -> bool: ...

    def version(self, unit: Versions, kind: Kind, job: Job[Version] | None = None) -> Version: ...

    def made(self, unit: Versions, kind: Kind, border: Border | None = None) -> Compiled: ...

    def beside(self, unit: Versions, kind: Kind, sure: bool) -> Job[Version] | None: ...

    def foresee(self, room: ProgramState) -> None: ...

    def is_ready(self, room: ProgramState) -> bool: ...

    def raise_for(self, failure: NativeFailure, elapsed: float) -> None: ...
