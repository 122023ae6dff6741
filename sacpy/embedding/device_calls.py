"""Calls with arrays that lie on a device.

In: a plan, and arguments of which some are `DeviceArray`s or arrays of another library on a GPU. Out: results; arrays
among them stay on the device. Where the session has no device, or the function cannot run on it, or a check fails
there, the arguments come to the host and the call is an ordinary one; its array results go back to the device when
somebody needs them there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sacpy.embedding.arguments import Misfit
from sacpy.embedding.plans import Plan
from sacpy.embedding.runner import MISSED, Runner, fault_error
from sacpy.interp.errors import Fault
from sacpy.interp.values import DTYPES
from sacpy.jit.device.interop import base_of, is_foreign, take
from sacpy.jit.device.memory import DeviceArray
from sacpy.jit.failures import NativeFailure, Unsupported
from sacpy.lang.diagnostics import SacError

if TYPE_CHECKING:
    from sacpy.jit.device.context import Device
    from sacpy.jit.run.engine import Engine


REMEMBERED = 256  # shapes whose programs are remembered
# the Python types of scalars that need no conversion, by base type
_TAKEN_AS_THEY_ARE: dict[str, Any] = {"double": float, "bool": bool, "int": int}


def call(runner: Runner, plan: Plan, args: Sequence[Any]) -> Any:
    """Calls a function with such arguments. Raises `SacError`."""
    engine = runner.host.workspace.engine
    real = None if engine is None else engine.engine
    device = None if real is None else real.device
    if real is None or device is None:
        return plan.finish(runner.run(plan.function, plan.arguments([_fetched(a) for a in args])))
    values = _taken(plan, device, args)
    found: list[Any] = runner.run(lambda: _there(runner, plan, real, device, values), [])
    return found[0] if len(found) == 1 else tuple(found) if found else None


class DeviceGate:
    """What takes calls with arrays on a device straight to the program that runs there: without room for recursion, and
    without somebody who watches the clock. It gives `MISSED` where the usual way is right after all: for other types
    and for shapes that are new, where time or memory is limited, for programs that compute on the host too, and where a
    check fails, which the usual way finds out again and tells. What the driver refuses is told at once."""

    __slots__ = ("_limits", "_lock", "_memory", "_programs", "_wanted")

    def __init__(self, runner: Runner, plan: Plan, device: Device) -> None:
        self._lock = runner.host.lock
        self._limits = runner.host.limits
        self._memory = device.memory
        self._programs: dict[tuple[tuple[int, ...], ...], Any] = plan.programs
        self._wanted = [(t.key, _TAKEN_AS_THEY_ARE.get(t.key)) for t in plan.types]

    def __call__(self, args: tuple[Any, ...]) -> Any:
        return self.gate(*args)

    def gate(self, *args: Any) -> Any:
        """The results of a call, or `MISSED`."""
        shapes = []
        if len(args) != len(self._wanted):
            return MISSED
        for a, (base, scalar) in zip(args, self._wanted):
            if type(a) is DeviceArray:
                storage = a._storage
                if storage.base != base or storage.memory is not self._memory or storage.foreign:
                    return MISSED
                shapes.append(a._shape)
            elif type(a) is not scalar or (scalar is int and not -0x80000000 <= a <= 0x7FFFFFFF):
                return MISSED
            else:
                shapes.append(())
        program = self._programs.get(tuple(shapes))
        limits = self._limits
        if program is None or not program.launches_only or limits.seconds is not None or limits.memory is not None:
            return MISSED
        try:
            with self._lock:
                found = program.launched(args)
        except Fault as fault:  # of the driver: trying again would hide it
            raise fault_error(fault) from fault
        except (NativeFailure, Unsupported, SacError, RecursionError):
            return MISSED
        return found[0] if len(found) == 1 else found

    def is_outgrown(self, args: tuple[Any, ...]) -> bool:
        """Nothing is too large for it."""
        return False

    def close(self) -> None:
        """Lets nothing through any more."""
        self._programs = {}


def gate(runner: Runner, plan: Plan) -> DeviceGate | None:
    """What takes such calls straight to the device after one went the usual way; None where none will."""
    engine = runner.host.workspace.engine
    device = None if engine is None or engine.engine is None else engine.engine.device
    plain = not plan.spread and plan.results and all(t.key in DTYPES and t.key != "char" for t in plan.results)
    if (
        device is None
        or not plain
        or not any(p is not None and p.launches_only and not p.stayed for p in plan.programs.values())
    ):
        return None
    return DeviceGate(runner, plan, device)


def _there(runner: Runner, plan: Plan, engine: Engine, device: Device, values: list[Any]) -> list[Any]:
    """The results; on the device as far as that can be."""
    plain = all(t.key in DTYPES for t in plan.results)
    if plain and not plan.spread:
        shapes = tuple([v.shape if type(v) is DeviceArray else getattr(v, "shape", ()) for v in values])
        if shapes not in plan.programs:
            if len(plan.programs) >= REMEMBERED:
                plan.programs.clear()
            shown = tuple(_stand_in(v) if isinstance(v, DeviceArray) else v for v in values)
            plan.programs[shapes] = engine.device_program(
                runner.evaluator, runner.evaluator.sites.chosen(plan.keys, shown), shown
            )
        program = plan.programs[shapes]
        if program is not None:
            try:
                return [_kept(device, v) for v in program.results(tuple(values))]
            except NativeFailure:
                pass  # the interpreter finds out what is wrong, if anything is
    host = [_fetched(v) for v in values]
    raw = plan.function(*host, *plan.flags) if not plan.spread else plan.function(*plan.arguments(host))
    found = plan.finish(raw)
    results = list(found) if isinstance(found, tuple) and len(plan.results) > 1 else [found] if plan.results else []
    return [_kept(device, v) for v in results] if plain else results


def _taken(plan: Plan, device: Device, args: Sequence[Any]) -> list[Any]:
    """The arguments: device arrays where they are arrays on a device, the interpreter's values otherwise. Raises
    `SacError` naming the argument."""
    if plan.spread:
        return [_fetched(a) for a in args]
    values: list[Any] = []
    for at, (convert, type_, a) in enumerate(zip(plan.converters, plan.types, args)):
        if type(a) is DeviceArray and a.memory is device.memory and a.dtype == DTYPES.get(type_.key):
            values.append(a)
            continue
        try:
            if not isinstance(a, DeviceArray) and not is_foreign(a):
                values.append(convert(a))
                continue
            try:
                found = take(device.memory, a)
            except (TypeError, ValueError) as error:
                raise Misfit("E0708", f"an array on the device does not fit: {error}") from error
            wanted = DTYPES.get(type_.key)
            values.append(convert(found.host()) if found.dtype != wanted else found)
        except Misfit as misfit:
            raise plan.misfit(misfit, at) from None
    return values


def _fetched(value: Any) -> Any:
    """An argument on the host."""
    if isinstance(value, DeviceArray):
        return value.host()
    if hasattr(value, "__cuda_array_interface__") and not hasattr(value, "__array__"):
        return value.copy_to_host() if hasattr(value, "copy_to_host") else np.asarray(value.get())
    if type(value).__module__.partition(".")[0] == "torch":
        return value.detach().cpu().numpy()
    if type(value).__module__.partition(".")[0] == "cupy":
        return value.get()
    return value


def _stand_in(array: DeviceArray) -> Any:
    """A host array of the same shape, without memory of that size: what choosing an instance looks at."""
    return np.broadcast_to(np.zeros((), array.dtype), array.shape)


def _kept(device: Device, value: Any) -> Any:
    return device.memory.of(value, base_of(value.dtype)) if isinstance(value, np.ndarray) and value.ndim else value
