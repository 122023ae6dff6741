"""One program with its evaluator, called from Python: within limits, one call at a time, and usable again whatever
happened.

In: functions of the program by key, and the interpreter's values. Out: values; or `SacError`. A run that is interrupted
(Ctrl-C, a limit) may have been anywhere, in the middle of generating code too; so whatever had been prepared is dropped
then, and made anew when it is needed. The values of global objects stay.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet

from sacpy.embedding.bindings import Bound, bind
from sacpy.interp.errors import Exit, Fault, Stopped
from sacpy.interp.evaluator import Evaluator
from sacpy.interp.limits import Watchdog
from sacpy.interp.ownership import Protocol
from sacpy.interp.world import World
from sacpy.lang.core import Signature
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.elaborate.program import ElaboratedProgram
from sacpy.lang.source import NOWHERE
from sacpy.workspace import Workspace

if TYPE_CHECKING:
    from sacpy.embedding.device_calls import DeviceGate
    from sacpy.embedding.direct import Direct

T = TypeVar("T")
DEEPEST = 50  # calls from Python into SaC within each other
MISSED = object()  # a direct call was not the right thing
INTERRUPTED = ("E0701", "E0702", "E0703", "E0704")


def no_gate(*args: Any) -> Any:
    """Stands for the gate of a function that has none."""
    return MISSED


class Host:
    """What the programs of a session share: the world, settings and limits, bound Python functions, and one lock.
    `other`: a host to share lock and functions with."""

    def __init__(self, world: World, workspace: Workspace, other: Host | None = None) -> None:
        self.world = world
        self.workspace = workspace
        self.limits = workspace.limits
        self.bound: dict[str, Bound] = {} if other is None else other.bound
        self.lock: Any = threading.RLock() if other is None else other.lock
        self.runners: WeakSet[Runner] = WeakSet()
        self._ended: list[Evaluator] = []  # to be let go of when nothing runs any more
        self._watchdog = Watchdog()
        self._nested = 0

    def run(self, action: Callable[[], T]) -> T:
        """Does something that runs a program. Limits count from the outermost call. Raises `SacError`."""
        with self.lock:
            if self._nested >= DEEPEST:
                raise plain_error(
                    "E0701", f"SaC and Python call each other {DEEPEST} deep", "give the recursion an end"
                )
            self._nested += 1
            try:
                if self._nested > 1:
                    return action()
                self.world.renew_limit(self.limits.output)
                return self.workspace.guard(self._watchdog, action)
            finally:
                self._nested -= 1
                self._let_go()
                self._flush()

    def cut_off(self, evaluator: Evaluator) -> None:
        """An evaluator of which something was ended in the middle, and which is not used again."""
        self._ended.append(evaluator)
        self._let_go()

    def _let_go(self) -> None:
        while self._ended and not self._nested:
            self._ended.pop().close()

    def __reduce__(self) -> str:
        raise TypeError(
            "a SaC session cannot be pickled or copied: open one in each process, for instance in the initializer of "
            "a pool"
        )

    def _flush(self) -> None:
        try:
            self.world.flush()
        except Fault as fault:
            raise fault_error(fault) from fault


def plain_error(code: str, message: str, help: str = "", notes: tuple[str, ...] = ()) -> SacError:
    """An error without a place in a program."""
    return SacError(Diagnostic(code, message, NOWHERE, notes=notes, help=help))


def fault_error(fault: Fault) -> SacError:
    """The error of a fault that struck outside any program."""
    return plain_error(fault.code, fault.message, fault.help, fault.notes)


class Runner:
    """Runs the functions of one program. `make` elaborates it; `plans` and `direct` are for the callers, who keep there
    what they know of calls and which go directly to compiled code; both are emptied when the program is made anew."""

    def __init__(self, host: Host, make: Callable[[], ElaboratedProgram]) -> None:
        self.host = host
        self.plans: dict[Any, Any] = {}
        self.direct: dict[Any, Direct | DeviceGate] = {}
        self._make = make
        self._program: ElaboratedProgram | None = None
        self._evaluator: Evaluator | None = None
        host.runners.add(self)

    @property
    def program(self) -> ElaboratedProgram:
        """The program as it is now."""
        if self._program is None:
            self._program = self._make()
        return self._program

    @property
    def evaluator(self) -> Evaluator:
        """Its evaluator."""
        if self._evaluator is None:
            self._evaluator = self.host.workspace.evaluator(self.program, self.host.world, self._binding)
        return self._evaluator

    def renew(self, program: ElaboratedProgram | None = None, keep: Callable[[str], bool] = lambda name: True) -> None:
        """Forgets what has been prepared; `program` takes the place of what there was. Global objects keep their values
        where `keep` says so."""
        kept = (
            {}
            if self._evaluator is None
            else {name: value for name, value in self._evaluator.globals.items() if keep(name) and value is not None}
        )
        self._program, self._evaluator = program, None
        self.plans.clear()
        for direct in self.direct.values():
            direct.close()
        self.direct.clear()
        if kept:
            self.evaluator.globals.update(kept)

    def entry(self, keys: tuple[str, ...]) -> tuple[Callable[..., Any], Protocol]:
        """The Python function that calls the most specific of some instances, and how ownership crosses it."""
        return self.evaluator.sites.entry(keys)

    def prepared(self, action: Callable[[], T]) -> T:
        """Does something that first prepares a call and then makes it, all within the limits. Raises `SacError`."""

        def prepare() -> T:
            try:
                return action()
            except (Stopped, KeyboardInterrupt):
                self._cut_off()  # it may have been in the middle of anything
                raise

        return self.host.run(prepare)

    def run(self, function: Callable[..., Any], args: list[Any]) -> Any:
        """Calls such a function. Raises `SacError`, or KeyboardInterrupt after Ctrl-C."""
        evaluator = self.evaluator
        try:
            return self.host.run(lambda: evaluator.guarded(lambda: function(*args)))
        except Exit as stop:
            raise plain_error(
                "E0706",
                f"the program ended itself with status {stop.status & 0xFF}",
                "a function called from Python should return; use session.run for programs",
            ) from None
        except SacError as error:
            if error.__cause__ is not None and not isinstance(error.__cause__, Exception):
                self.renew()
                raise error.__cause__ from None  # Ctrl-C, or a bound function that ends Python
            if any(d.code in INTERRUPTED for d in error.diagnostics):
                self._cut_off()
            raise
        except BaseException:
            self.renew()
            raise

    def _cut_off(self) -> None:
        """Forgets what has been prepared, and has the host let go of it: what is cut off may be large, and more of it
        may come before Python next searches for what refers to itself."""
        evaluator = self._evaluator
        self.renew()
        if evaluator is not None:
            self.host.cut_off(evaluator)

    def _binding(self, signature: Signature) -> Callable[..., Any] | None:
        instance = self.program.instances.get(signature.key)
        if instance is None or signature.native is None:
            return None
        bound = self.host.bound.get(signature.name) or self.host.bound.get(signature.name.removeprefix("_MAIN::"))
        return None if bound is None else bind(bound, signature, self.program, instance)
