"""A unit ready to run on a device: generated host code, with-loops as launches, and the parts that stay native.

In: a plan (`placement`), the memory of a machine. Out: `DeviceProgram`, which is called with the interpreter's values
or with `DeviceArray`s. What happened to each with-loop, how often and why, is kept for those who ask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from sacpy.interp import arithmetic
from sacpy.interp.errors import Fault
from sacpy.interp.runtime.elementwise import scalar_version
from sacpy.interp.values import Value, dtype_of
from sacpy.jit.device.generate import generate
from sacpy.jit.device.loops import DeviceLoop
from sacpy.jit.device.machine import DeviceFailure
from sacpy.jit.device.memory import SHORT, DeviceArray, Memory
from sacpy.jit.device.placement import Plan, work
from sacpy.jit.device.storage import Account
from sacpy.jit.device.weigh import Policy
from sacpy.jit.failures import CheckFailed, Interrupted, OutOfMemory, TooDeep, Unsupported
from sacpy.jit.ir.graph import Input, Output, WithLoop
from sacpy.jit.kernels.launches import Refused
from sacpy.nodes import Record, field
from sacpy.withloop.errors import MappingError

if TYPE_CHECKING:
    from sacpy.jit.device.context import Device
    from sacpy.jit.device.machine import Array


class Placed(Record):
    """What became of a with-loop so far: runs on the device and on the host, seconds until the former were launched (on
    the emulator: done), and the last reason for a run on the host."""

    device: int = 0
    host: int = 0
    reason: str = ""
    seconds: float = 0.0


class Runtime(Record):
    """What generated code calls (`rt`). `may_stay`: with-loops may run on the host."""

    memory: Memory
    account: Account
    policy: Policy
    plan: Plan
    loops: tuple[DeviceLoop, ...]
    placed: list[Placed] = field(init=False)
    may_stay: bool = True

    def __post_init__(self) -> None:
        self.placed = [Placed() for _ in self.loops]

    def loop(self, number: int, values: tuple[Any, ...], dying: Sequence[int]) -> tuple[Any, ...]:
        """A with-loop. `dying`: the positions of arrays that nobody uses after."""
        loop, placed = self.loops[number], self.placed[number]
        reason = loop.stays(values, self.policy)
        if not reason:
            start = perf_counter()
            try:
                found = loop.run(self.memory, values, dying)
                if self.account.stopped:
                    raise Interrupted
            except OutOfMemory as full:
                reason = f"the device had no room for {full.size} bytes"
                self.account.note(f"a with-loop ran on the CPU: {reason}")
            except MappingError as error:
                reason = stays(loop.placed.with_loop, error, self.policy.transfers)
            except (Unsupported, Refused) as refusal:
                reason = refusal.reason
            else:
                placed.device += 1
                placed.seconds += perf_counter() - start
                return found

        def counted() -> None:
            placed.device += 1

        filled = loop.filled(self.memory, values, counted)
        if filled is not None:
            placed.reason = reason
            return (filled,)
        if not self.may_stay:
            raise Unsupported(reason)
        placed.host += 1
        placed.reason = reason
        return self.native(loop.placed.native.number, values)

    def native(self, number: int, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """A piece of native code on the host."""
        piece = self.plan.natives[number].piece
        found = piece(tuple([v.host() if type(v) is DeviceArray else v for v in values]))
        return tuple(
            [self.memory.of(v, out.base) if type(v) is np.ndarray else v for v, out in zip(found, piece.outputs)]
        )

    def small(
        self,
        extents: Sequence[tuple[float, Sequence[int]]],
        arrays: Sequence[DeviceArray],
        asked: bool,
        rounds: int = 1,
    ) -> bool:
        """Whether with-loops inside a statement, each run of them, are too small to be worth a launch. `asked`: for one
        of them there is to be one; `rounds`: of a loop."""
        return (
            bool(extents)
            and not self.policy.takes(asked)
            and self.policy.none([work((e,)) for e in extents], arrays, rounds)
        )

    def cons(self, base: str, extents: tuple[int, ...], elements: tuple[Any, ...]) -> DeviceArray:
        """A new array of these elements."""
        return self.memory.of(np.array(elements, dtype_of(base)).reshape(extents), base)

    def update(self, array: DeviceArray, offset: int, value: Any, dead: bool, row: bool = False) -> DeviceArray:
        """The array with the elements from `offset` on replaced: in place if nobody uses it after. `row`: the value is
        a row of the array, and not used after either. It happens where the array is; on the host, if that has a short
        one, too, which is sent again in no time."""
        if array.on_device and not (array.on_host and (not dead or array.nbytes <= SHORT)):
            return self._updated_there(array, offset, value, dead, row)
        base = array.base
        new = array.host().reshape(-1).copy()
        new[offset : offset + (value.size if type(value) is DeviceArray else 1)] = (
            value.host().reshape(-1) if type(value) is DeviceArray else value
        )
        return self.memory.of(new.reshape(array.shape), base)

    def _updated_there(self, array: DeviceArray, offset: int, value: Any, dead: bool, row: bool) -> DeviceArray:
        memory = self.memory
        new = array if dead and array.looked_at_by(2 if row else 1) else memory.copied(array)
        itemsize = int(new.dtype.itemsize)
        at = new.address() + offset * itemsize
        if type(value) is not DeviceArray:
            memory.machine.copy_in(at, np.array([value], new.dtype))
        elif value.size and value.on_device:
            memory.machine.copy(at, value.address(), value.nbytes)
        elif value.size:
            memory.machine.copy_in(at, value.host())
        return new.share().written() if new is array else new.written()


class DeviceProgram:
    """A unit on a device. `keep`: the positions of results of which a copy may stay on the device, since the caller
    knows that he does not own them. `launches_only`: what is not computed on the device are single numbers."""

    def __init__(self, plan: Plan, device: Device, loops: Sequence[DeviceLoop], keep: Sequence[int] = ()) -> None:
        self.plan = plan
        self.memory = device.memory
        self.account = device.account
        self.text = generate(plan)
        self.runtime = Runtime(device.memory, device.account, device.policy, plan, tuple(loops))
        self.inputs = tuple((i, p.base) for i, p in zip(plan.unit.inputs, plan.unit.root.params))
        self.outputs = plan.unit.outputs
        beside = {id(loop.placed.native) for loop in loops}  # what takes the place of a launch
        self.launches_only = not (
            any(id(n) not in beside for n in plan.natives) or any(o.kind == "small" for o in plan.unit.outputs)
        )
        self._residents = device.residents
        self._keep = frozenset(keep)
        space: dict[str, Any] = {
            "CheckFailed": CheckFailed,
            **arithmetic.HELPERS,
            **{name: total(*operation) for name, operation in plan.operations.items()},
        }
        exec(compile(self.text, "<device program>", "exec"), space)
        self._run: Callable[..., tuple[Any, ...]] = space["run"]

    def call(self, values: tuple[Value, ...]) -> tuple[Value, ...]:
        """The results on the host for the arguments `values`: Python scalars, NumPy arrays. Raises `NativeFailure`."""
        with self.memory.charged(self.account), _failures_in_words():
            found = self._results(values)
            return tuple(
                [self._handed_out(v, k in self._keep) if type(v) is DeviceArray else v for k, v in enumerate(found)]
            )

    def results(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """The results, arrays where they were made. Arrays among the arguments may be on either side. Raises
        `NativeFailure`."""
        with self.memory.charged(self.account):
            try:
                return self._results(values)
            except DeviceFailure as failure:
                raise _in_words(failure) from failure

    @property
    def stayed(self) -> bool:
        """Whether a with-loop has run on the host."""
        return any(placed.host for placed in self.runtime.placed)

    def launched(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """The same where nothing is computed on the host. Raises `Unsupported` where something would be."""
        runtime = self.runtime
        with self.memory.charged(self.account):
            runtime.may_stay = False
            try:
                return self._results(values)
            except DeviceFailure as failure:
                raise _in_words(failure) from failure
            finally:
                runtime.may_stay = True

    def _results(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        args = []
        for i, base in self.inputs:  # the usual kinds without a call
            value = values[i.argument]
            if i.kind == "extent":
                args.append(value.shape[i.at])
            elif type(value) is DeviceArray and i.kind == "array":
                args.append(value.share())
            else:
                args.append(value if i.kind == "scalar" else self._argument(i, base, value))
        try:
            found = self._run(self.runtime, *args)
            self.memory.machine.settle()
            for v in values:
                if type(v) is DeviceArray and v.foreign:
                    self.memory.done_with(v)
        except RecursionError:
            raise TooDeep from None
        finally:
            self.memory.let_go()
        return tuple([self._result(o, found) if o.kind == "small" else found[o.positions[0]] for o in self.outputs])

    def _argument(self, i: Input, base: str, value: Any) -> Any:
        """An element of an argument, or an array of the host."""
        if i.kind == "element":
            return value.element(i.at) if type(value) is DeviceArray else value.reshape(-1)[i.at].item()
        resident = self._residents.of(value)
        return resident.share() if resident is not None else self.memory.of(value, base)

    def _result(self, o: Output, found: tuple[Any, ...]) -> Any:
        """A small array."""
        shape = tuple(e if isinstance(e, int) else found[e[1]] for e in o.extents)
        return np.array([found[p] for p in o.positions], dtype_of(o.base)).reshape(shape)

    def _handed_out(self, array: DeviceArray, keep: bool) -> Array:
        """A result for the interpreter."""
        if not keep:
            return array.taken()
        return self._residents.keep(array.host(), array) if array.on_device else array.host()


@contextmanager
def _failures_in_words() -> Iterator[None]:
    """What the driver refuses, at whatever call, is told as an error of the run."""
    try:
        yield
    except DeviceFailure as failure:
        raise _in_words(failure) from failure


def _in_words(failure: DeviceFailure) -> Fault:
    return Fault(
        "E0784",
        f"the GPU does not go on: {failure.reason}",
        help="run the program with --target cpu; if the driver is in order, please report this with the program",
    )


def stays(w: WithLoop, problem: MappingError | str, optional: bool) -> str:
    """Why a with-loop stays on the host. Where its mapping is the programmer's, and the device not just an option, that
    is an error: raises `SacError` on the pragma's text."""
    from sacpy.lang.check_mappings import when_run

    error = (
        None if optional else when_run([*w.pragmas, *(pragma for p in w.partitions for pragma in p.pragmas)], problem)
    )
    if error is not None:
        raise error
    return problem if isinstance(problem, str) else problem.message


@cache
def total(code: str, base: str) -> Callable[..., Any]:
    """A scalar operation that gives some value where the language refuses the operands: a check stands before whatever
    uses it."""
    function = scalar_version(code, base)

    def apply(*args: Any) -> Any:
        try:
            return function(*args)
        except Fault:
            return 0

    return apply


__all__ = ["DeviceProgram", "Placed", "Runtime", "stays"]
