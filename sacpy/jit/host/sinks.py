"""Where the values of a with-loop's bodies go: one sink per operator.

In: indices and values, as text. Out: the code that stores or combines them.

A sink is told each index with its values, in order. Arrays are written cell by cell, or built in place; folds and
propagates keep their state in slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sacpy.jit.analysis.folds import Reduction
from sacpy.jit.host.folds import applied, undecided
from sacpy.jit.host.memory import (
    BORROWED,
    Array,
    Scalar,
    Value,
    copy_elements,
    element_address,
    elements,
    flat,
    release,
)
from sacpy.jit.host.writer import Slots, Writer
from sacpy.jit.ir.graph import ArrayType, Atom, Fold, Partition, Propagate
from sacpy.jit.llvm.legal import LLVM_TYPES
from sacpy.jit.llvm.scalars import compare
from sacpy.jit.schedule.loops import IntoFold
from sacpy.nodes import Record, field, replace


class Sink(Protocol):
    """Takes the values of one operator."""

    count: int

    def place(self, index: tuple[str, ...]) -> Array | None:
        """Where an array value is to be built, if it is."""

    def put(self, index: tuple[str, ...], values: Sequence[Value]) -> None:
        """Takes the values of an index."""


class ArraySink(Record):
    """The result of genarray or modarray. `rank`: the number of axes of the frame. `earlier`: partitions whose cells
    are already set, and stay. `aside`: where the value of the cell at hand is put, if not there."""

    lowering: Writer
    result: Array
    rank: int
    earlier: Sequence[Partition] = ()
    count: int = 1
    aside: str = ""

    def cell(self, index: tuple[str, ...]) -> Array:
        """The cell of an index: a part of the result."""
        at = element_address(self.lowering.code, self.result, flat(self.lowering.code, index, self.result.extents))
        return replace(self.result, data=at, header=BORROWED, extents=self.result.extents[self.rank :])

    def place(self, index: tuple[str, ...]) -> Array | None:
        return self.cell(index) if len(self.result.extents) > self.rank and not self.earlier else None

    def put(self, index: tuple[str, ...], values: Sequence[Value]) -> None:
        (value,) = values
        if not self.earlier:
            self.write(index, value)
            return
        code = self.lowering.code
        write, done = code.label("write"), code.label("written")
        for p in self.earlier:
            on = code.label("free")
            code.branch(membership(self.lowering, p, index), done, on)
            code.place(on)
        code.place(write)
        self.write(index, value)
        code.place(done)
        if isinstance(value, Array):
            release(code, value)

    def write(self, index: tuple[str, ...], value: Value) -> None:
        """Sets a cell. An array that was built in its place is there already."""
        if isinstance(value, Scalar):
            if self.aside:
                self.lowering.code.store(LLVM_TYPES[self.result.element], value.text, self.aside)
            else:
                self.lowering.store(self.result, flat(self.lowering.code, index, self.result.extents), value.text)
        elif self.earlier:
            cell = self.cell(index)
            copy_elements(
                self.lowering.code, cell.element, cell.data, value.data, elements(self.lowering.code, cell.extents)
            )


def membership(lowering: Writer, p: Partition, index: tuple[str, ...]) -> str:
    """Whether an index lies in a partition: an i1."""
    code, inside = lowering.code, "true"
    for k, i in enumerate(index):
        lower = lowering.wide(p.lower[k])
        tests = [code.op(f"icmp sge i64 {i}, {lower}"), code.op(f"icmp slt i64 {i}, {lowering.wide(p.upper[k])}")]
        if p.step is not None and p.width is not None:
            rest = code.op(f"srem i64 {code.difference(i, lower)}, {lowering.wide(p.step[k])}")
            tests.append(code.op(f"icmp slt i64 {rest}, {lowering.wide(p.width[k])}"))
        for test in tests:
            inside = code.op(f"and i1 {inside}, {test}")
    return inside


class PropagateSink(Record):
    """Values threaded through all iterations."""

    lowering: Writer
    operator: Propagate
    slots: Slots
    count: int = field(init=False)

    def __post_init__(self) -> None:
        self.count = len(self.operator.params)

    def bind(self) -> None:
        """Sets the parameters, at the start of a body."""
        self.slots.get(self.operator.params)

    def place(self, index: tuple[str, ...]) -> Array | None:
        return None

    def put(self, index: tuple[str, ...], values: Sequence[Value]) -> None:
        values = [kept(self.lowering, v) for v in values]
        for p in self.operator.params:
            if isinstance(p.type, ArrayType):
                release(self.lowering.code, self.lowering.array(p))
        self.slots.set(values)


def kept(lowering: Writer, value: Value) -> Value:
    """A value that outlives the body: what was built inside a result is copied."""
    return lowering.owned(value) if isinstance(value, Array) and value.borrowed else value


class FoldSink(Record):
    """Accumulators of a fold over one partition. `stopped`: an i1 slot, where iteration may end early. `fresh`: an i1
    slot, where the first value is to be taken as it is. Where extremes of reals are not computed in order, who writes
    the loop sees to those that the order matters to (`undecided`)."""

    lowering: Writer
    goal: IntoFold
    slots: Slots = field(init=False)
    stopped: str = ""
    fresh: str = ""
    count: int = field(init=False)
    operator: Fold = field(init=False)
    reduction: Reduction | None = field(init=False)

    def __post_init__(self) -> None:
        self.operator, self.reduction, self.count = self.goal.operator, self.goal.reduction, self.goal.count
        self.slots = Slots(self.lowering, self.operator.accumulators)
        if self.operator.stop is not None:
            self.stopped = self.lowering.code.slot("i1")

    def start(self) -> None:
        """Begins a partition."""
        self.slots.set([self.lowering.take(a, set()) for a in self.operator.neutrals])
        if self.stopped:
            self.lowering.code.store("i1", "false", self.stopped)

    def place(self, index: tuple[str, ...]) -> Array | None:
        return None

    def put(self, index: tuple[str, ...], values: Sequence[Value]) -> None:
        lowering, code = self.lowering, self.lowering.code
        if self.reduction is not None and self.reduction.real:
            self.reduce(self.reduction, values)
            return
        values = [kept(lowering, v) for v in values]
        if self.fresh:
            self.combine_or_take(values)
            return
        if not self.stopped:
            self.combine(values)
            return
        on, over, off = code.label("fold"), code.label("folded"), code.label("drop")
        code.branch(code.load("i1", self.stopped), off, on)
        code.place(off)
        for v in values:
            if isinstance(v, Array):
                release(code, v)
        code.jump(over)
        code.place(on)
        self.combine(values)
        self.test()
        code.place(over)

    def reduce(self, reduction: Reduction, values: Sequence[Value]) -> None:
        """Applies operations that may be regrouped."""
        code = self.lowering.code
        for k, (slot, value) in enumerate(zip(self.slots.slots, values)):
            type_ = LLVM_TYPES[reduction.bases[k]]
            assert isinstance(value, Scalar)
            code.store(type_, applied(reduction, code, k, code.load(type_, slot), value.text), slot)

    def combine_or_take(self, values: Sequence[Value]) -> None:
        """Applies the function, but to the first values."""
        code = self.lowering.code
        first, later, done = code.label("first"), code.label("later"), code.label("done")
        code.branch(code.load("i1", self.fresh), first, later)
        code.place(first)
        self.slots.set(values)
        code.store("i1", "false", self.fresh)
        code.jump(done)
        code.place(later)
        self.combine(values)
        code.place(done)

    def combine(self, values: Sequence[Value]) -> None:
        """Applies the function to the accumulators and values, whose references it takes over."""
        self.slots.get(self.operator.accumulators)
        self.lowering.bind(self.operator.values, values)
        names = [
            v.name
            for v in (*self.operator.accumulators, *self.operator.values)
            if isinstance(self.lowering.env[v.name], Array)
        ]
        self.slots.set([kept(self.lowering, v) for v in self.lowering.block(self.operator.combine, names)])

    def join(self, values: Sequence[Value]) -> None:
        """Combines with the results of a later chunk."""
        code, extremes = self.lowering.code, self.reduction.extremes if self.reduction else ()
        types = {k: LLVM_TYPES[self.operator.accumulators[k].base] for k in extremes}
        before = {k: code.load(type_, self.slots.slots[k]) for k, type_ in types.items()}
        self.combine(values)
        for k, type_ in types.items():
            value = values[k]
            assert isinstance(value, Scalar) and self.reduction is not None
            code.store(type_, applied(self.reduction, code, k, before[k], value.text), self.slots.slots[k])

    def undecided(self) -> str:
        """Whether the order may matter to what came out: an i1."""
        code, found = self.lowering.code, "false"
        for k in self.reduction.extremes if self.reduction else ():
            assert self.reduction is not None
            result = code.load(LLVM_TYPES[self.reduction.bases[k]], self.slots.slots[k])
            found = code.op(f"or i1 {found}, {undecided(self.reduction, code, k, result)}")
        return found

    def correct(self, other: FoldSink) -> None:
        """Takes the extremes of reals over from a fold that was computed in order."""
        code = self.lowering.code
        for k in self.reduction.extremes if self.reduction else ():
            type_ = LLVM_TYPES[self.operator.accumulators[k].base]
            code.store(type_, code.load(type_, other.slots.slots[k]), self.slots.slots[k])

    def test(self) -> None:
        """Sets `stopped` if the accumulators equal the stop values."""
        code = self.lowering.code
        self.slots.get(self.operator.accumulators)
        assert self.operator.stop is not None
        equal = "true"
        for accumulator, stop in zip(self.operator.accumulators, self.operator.stop):
            equal = code.op(f"and i1 {equal}, {self.equal(accumulator, stop)}")
        code.store("i1", equal, self.stopped)

    def equal(self, a: Atom, b: Atom) -> str:
        """Whether two values of one type are equal everywhere: an i1."""
        lowering, code = self.lowering, self.lowering.code
        if not isinstance(a.type, ArrayType):
            return compare(code, "eq", a.base, lowering.text(a), lowering.text(b))
        x, y = lowering.array(a), lowering.array(b)
        result, counter = code.slot("i1"), code.slot("i64")
        code.store("i1", "true", result)
        total = elements(code, x.extents)
        test, body, done = code.label("test"), code.label("compare"), code.label("done")
        code.store("i64", "0", counter)
        code.place(test)
        i = code.load("i64", counter)
        code.branch(code.op(f"icmp slt i64 {i}, {total}"), body, done)
        code.place(body)
        same = compare(code, "eq", a.base, lowering.load_flat(x, i), lowering.load_flat(y, i))
        code.store("i1", code.op(f"and i1 {code.load('i1', result)}, {same}"), result)
        code.store("i64", code.sum(i, "1"), counter)
        code.jump(test)
        code.place(done)
        return code.load("i1", result)


def array_sinks(sinks: Sequence[Sink]) -> list[ArraySink]:
    """The sinks, all of which are arrays."""
    return [s for s in sinks if isinstance(s, ArraySink)]
