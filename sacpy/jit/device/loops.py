"""A with-loop that runs on a device: from its values to launches.

In: the template that the kernels' planner made, and when it runs the values of the variables that it uses. Out: its
results, arrays on the device. What a shape needs (buffers, launches, loaded kernels) is prepared once and remembered;
after that a run fills in addresses and numbers.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from sacpy.interp.values import dtype_of
from sacpy.jit.analysis.depends import Test, tested
from sacpy.jit.device import placement
from sacpy.jit.device.machine import Machine, Ready
from sacpy.jit.device.memory import DeviceArray, Memory
from sacpy.jit.device.storage import Fill
from sacpy.jit.device.weigh import Policy
from sacpy.jit.ir.graph import ArrayType, Atom, Const, Genarray, extents_of
from sacpy.jit.kernels import Buffer, Launch, Plan, Template
from sacpy.jit.passes.mappings import stands
from sacpy.nodes import Node, Record

REMEMBERED = 256  # shapes whose launches are remembered


class ReadyLaunch(Node):
    """A launch with its kernel on the machine. `arguments`: for each whether it is a place among the values of the
    with-loop and the addresses of its buffers, and the place or the number."""

    launch: Launch
    ready: Ready
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: tuple[tuple[bool, int], ...]


class Prepared(Record):
    """The launches for one shape, and for some results that take the memory of their sources. `numbers`: the values of
    the template's inputs; `buffers`: the results of the plan, then what only the launches need."""

    numbers: tuple[int, ...]
    plan: Plan
    buffers: tuple[Buffer, ...]
    launches: tuple[ReadyLaunch, ...]


class DeviceLoop:
    """One with-loop of a unit on one machine."""

    def __init__(self, placed: placement.Loop, template: Template, machine: Machine) -> None:
        self.placed = placed
        self.template = template
        self.machine = machine
        self.asked = stands(placed.with_loop)  # whether the programmer asks for a kernel
        self.prepared: OrderedDict[tuple[Any, ...], Prepared] = OrderedDict()
        self.last: Prepared | None = None  # what the last run did
        positions = {v.name: k for k, v in enumerate(placed.inputs)}
        self._names = tuple(v.name for v in placed.inputs)
        self._arrays = tuple(k for k, v in enumerate(placed.inputs) if isinstance(v.type, ArrayType))
        self._numbers = tuple(positions[name] for name in template.inputs)
        self._extents = tuple(
            (weight, tuple(_getter(a, positions) for pair in bounds for a in pair)) for weight, bounds in placed.extents
        )
        self._made = tuple(
            (int(dtype_of(t.base).itemsize), tuple(_getter(e, positions) for e in extents_of(t)))
            for t in placed.let.targets
            if isinstance(t.type, ArrayType)
        )
        self._in_place = {
            target: (positions[found.source.name], needed)
            for target, found in template.in_place.items()
            if found.source.name in positions and (needed := tested(found.needed, positions)) is not None
        }
        self._positions = positions
        # work, bytes made, and threads with loops, by the numbers that they depend on
        self._weights: dict[tuple[Any, ...], tuple[float, int, int | None]] = {}

    def stays(self, values: tuple[Any, ...], policy: Policy) -> str:
        """Why this run stays on the host; "": it goes to the device."""
        if policy.takes(self.asked):
            return ""
        key = tuple([values[k] for k in self._numbers])
        known = self._weights.get(key)
        if known is None:
            work = placement.work([(weight, [get(values) for get in bounds]) for weight, bounds in self._extents])
            made = sum(itemsize * prod(get(values) for get in extents) for itemsize, extents in self._made)
            threads = (
                int(placement.work([(1.0, [get(values) for get in bounds]) for _, bounds in self._extents]))
                if self.placed.repeats
                else None
            )
            if len(self._weights) >= REMEMBERED:
                self._weights.clear()
            known = self._weights[key] = work, made, threads
        work, made, threads = known
        return policy.device(work, [values[k] for k in self._arrays], made, threads)

    def run(self, memory: Memory, values: tuple[Any, ...], dying: Sequence[int]) -> tuple[Any, ...]:
        """The results. `dying`: the positions of arrays that nobody uses after. Raises `OutOfMemory`; `CheckFailed`
        where a scalar has to be waited for."""
        taken = self._taken(values, dying) if dying and self._in_place else {}
        prepared, made = self._launched(memory, values, taken)
        memory.let_go()
        results = []
        for array, buffer in zip(made, prepared.plan.results):
            array.written()
            if buffer.scalar:
                results.append(0 if buffer.name in self.placed.idle else array.element(0))  # which is waited for
            else:
                results.append(array.share() if buffer.name in taken else array)
        return tuple(results)

    def _launched(
        self, memory: Memory, values: tuple[Any, ...], taken: Mapping[str, DeviceArray]
    ) -> tuple[Prepared, list[DeviceArray]]:
        """Launches it; what it did, and the arrays of its results and for what only the launches need."""
        prepared = self.last = self._prepared(values, frozenset(taken))
        given: list[Any] = [v.address() if type(v) is DeviceArray else v for v in values]
        made = []
        for buffer in prepared.buffers:
            array = taken.get(buffer.name) or memory.new(buffer.base, buffer.extents)
            made.append(array)
            given.append(array.address())
        launch = self.machine.launch
        for one in prepared.launches:
            launch(one.ready, one.grid, one.block, [given[a] if fetched else a for fetched, a in one.arguments])
        return prepared, made

    def filled(self, memory: Memory, values: tuple[Any, ...], counted: Callable[[], None]) -> DeviceArray | None:
        """Its result, if that is an array whose elements are all the same: it is made where somebody needs it. None: it
        is another one. `counted` is told when it is made on the device."""
        w = self.placed.with_loop
        operator = w.operators[0]
        if w.partitions or len(w.operators) > 1 or not isinstance(operator, Genarray) or operator.cell:
            return None
        (target,) = self.placed.let.targets
        default = operator.default
        value = default.value if isinstance(default, Const) else values[self._positions[default.name]]
        shape = tuple(_getter(e, self._positions)(values) for e in extents_of(target))

        def there() -> DeviceArray:
            counted()
            return self._launched(memory, values, {})[1][0].written()

        return memory.filled(Fill(value, there), target.base, shape)

    def _taken(self, values: tuple[Any, ...], dying: Sequence[int]) -> dict[str, DeviceArray]:
        """Results that take the memory of an array that dies here, where what that needs holds."""
        return {
            target: values[k]
            for target, (k, needed) in self._in_place.items()
            if k in dying
            and (values[k].on_device or values[k].filled)
            and values[k].own
            and all(any(self._holds(test, values) for test in condition) for condition in needed)
        }

    def _holds(self, test: Test, values: tuple[Any, ...]) -> bool:
        total = test.constant + sum(values[self._positions[v.name]] * number for v, number in test.terms)
        return bool(total % test.modulus == 0 if test.modulus else total >= 0)

    def _prepared(self, values: tuple[Any, ...], taken: frozenset[str]) -> Prepared:
        key = tuple([values[k] for k in self._numbers])
        known = self.prepared.get((key, taken))
        if known is None:
            plan = self.template.plan(key, taken=taken)
            buffers = (*plan.results, *plan.temporaries)
            places = {name: k for k, name in enumerate((*self._names, *(b.name for b in buffers)))}
            known = Prepared(key, plan, buffers, tuple(self._ready(launch, places) for launch in plan.launches))
            if len(self.prepared) >= REMEMBERED:
                self.prepared.popitem(last=False)
            self.prepared[key, taken] = known
        return known

    def _ready(self, launch: Launch, places: dict[str, int]) -> ReadyLaunch:
        arguments = tuple((True, places[a]) if isinstance(a, str) else (False, a) for a in launch.arguments)
        return ReadyLaunch(launch, self.machine.prepare(launch.kernel), launch.grid, launch.block, arguments)


def _getter(a: Atom, positions: dict[str, int]) -> Callable[[tuple[Any, ...]], int]:
    """What gives the value of an int atom."""
    if isinstance(a, Const):
        value = int(a.value)
        return lambda values: value
    k = positions[a.name]
    return lambda values: int(values[k])


__all__ = ["DeviceLoop", "Prepared"]
