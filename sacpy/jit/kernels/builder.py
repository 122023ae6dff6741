"""Kernels under construction.

In: calls that add statements, scalars, arrays. Out: a `Kernel`. Parameters come about as they are asked for; code of a
thread goes to the innermost open list; arrays of a thread are collected for the block's start. `IrArithmetic` is the
arithmetic in which combinators recover indices as code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.ir.names import Names
from sacpy.jit.ir.operations import op_base
from sacpy.jit.kernels.launches import Refused
from sacpy.withloop.arithmetic import Slot

MOST_PRIVATE = 256  # elements of an array in a thread's own memory; larger ones are in global memory, interleaved
Pending = list["k.ThreadStmt | Pending"]


@dataclass
class Builder:
    """One kernel. `free`: the variables of the function around it that it may use, by name; those used become
    parameters."""

    name: str
    free: dict[str, g.Var]
    names: Names
    bits: int = 32
    scalars: dict[str, g.Var] = field(default_factory=dict)
    arrays: dict[str, g.Var] = field(default_factory=dict)
    results: dict[str, g.Var] = field(default_factory=dict)
    shape: list[g.Var] = field(default_factory=list)
    slots: list[g.Var] = field(default_factory=list)
    allocations: list[k.Allocate] = field(default_factory=list)
    once: dict[str, bool] = field(default_factory=dict)
    multiples: dict[g.Var, int] = field(default_factory=dict)
    resident: int = 0
    _open: list[Pending] = field(default_factory=lambda: [[]])

    @property
    def word(self) -> g.ScalarType:
        """The type of indices that a mapping recovers."""
        return g.ScalarType("int" if self.bits == 32 else "long")

    # ---- parameters

    def parameter(self, name: str) -> g.Var:
        """The parameter for a variable of the function around, made when it is first asked for."""
        if name in self.scalars:
            return self.scalars[name]
        if name in self.arrays:
            return self.arrays[name]
        v = self.free[name]
        for e in g.extents_of(v):
            if isinstance(e, g.Var):
                self.parameter(e.name)
        (self.arrays if isinstance(v.type, g.ArrayType) else self.scalars)[name] = v
        return v

    def result(self, name: str, base: str, extents: tuple[g.Atom, ...]) -> g.Var:
        """A parameter that is an array to be written."""
        for e in extents:
            if isinstance(e, g.Var) and e.name in self.free:
                self.parameter(e.name)
        v = self.results[name] = g.Var(name, g.ArrayType(base, extents))
        self.once[name] = True
        return v

    def number(self, stem: str) -> g.Var:
        """A parameter that a launch sets to a number, before the parameter block."""
        v = self.names.var(stem, self.word)
        self.shape.append(v)
        return v

    def slot(self, stem: str) -> g.Var:
        """One more word of the parameter block."""
        v = self.names.var(stem, self.word)
        self.slots.append(v)
        return v

    def multiple(self, a: g.Atom, of: int) -> None:
        """The parameter `a`, if it is none of the constants, is a multiple of a power of two."""
        if isinstance(a, g.Var) and of > 1:
            self.multiples[a] = max(of, self.multiples.get(a, 1))

    @property
    def params(self) -> tuple[g.Var, ...]:
        """All parameters, the parameter block last."""
        return (*self.scalars.values(), *self.shape, *self.arrays.values(), *self.results.values(), *self.slots)

    def launch_known(self, a: g.Atom) -> bool:
        """Whether a launch knows the number before it starts."""
        return isinstance(a, g.Const) or a.name in self.scalars

    # ---- code of a thread

    def add(self, s: k.ThreadStmt) -> None:
        self._open[-1].append(s)

    def later(self) -> Pending:
        """A place here to which statements may still be added once later code needs them."""
        place: Pending = []
        self._open[-1].append(place)
        return place

    @contextmanager
    def at(self, place: Pending) -> Iterator[None]:
        """Code goes to such a place."""
        self._open.append(place)
        try:
            yield
        finally:
            self._open.pop()

    def open(self) -> None:
        """What is added from now on belongs to an inner body."""
        self._open.append([])

    def close(self) -> tuple[k.ThreadStmt, ...]:
        """Ends an inner body and gives it."""
        return tuple(_flat(self._open.pop()))

    def let(self, stem: str, type_: g.Type, rhs: g.Atom | g.Op | g.Load | k.Divide) -> g.Var:
        v = self.names.var(stem, type_)
        self.add(k.Let(v, rhs))
        return v

    def op(self, code: str, *args: g.Atom, exact: bool = False) -> g.Atom:
        return self.let("t", g.ScalarType(op_base(code, args)), g.Op(code, args, exact))

    def load(self, array: g.Var, *index: g.Atom) -> g.Var:
        return self.let("x", g.ScalarType(array.base), g.Load(array, index))

    def store(self, array: g.Var, index: Sequence[g.Atom], value: g.Atom) -> None:
        self.add(k.Store(array, tuple(index), value))

    def both(self, a: g.Atom | None, b: g.Atom | None) -> g.Atom | None:
        """Both conditions; None always holds."""
        if a is None or a == g.TRUE:
            return b
        return a if b is None or b == g.TRUE else self.op("and", a, b)

    def when(self, condition: g.Atom | None, then: Callable[[], None]) -> None:
        """Code under a condition; None always holds."""
        if condition is None:
            then()
            return
        self.open()
        then()
        self.add(k.If(condition, self.close()))

    def seq_for(
        self,
        lower: g.Atom,
        upper: g.Atom,
        initial: Sequence[g.Atom],
        body: Callable[[g.Var, list[g.Atom]], Sequence[g.Atom]],
        step: int = 1,
        rolled: bool = False,
    ) -> list[g.Atom]:
        """A counting loop with scalars from round to round; their last values."""
        index = self.names.var("i", lower.type)
        targets = [self.names.var("c", a.type) for a in initial]
        self.open()
        updates = body(index, list(targets))
        code = self.close()
        carried = tuple(map(k.Carried, targets, initial, updates))
        self.add(k.SeqFor(index, lower, upper, step, carried, code, rolled))
        return list(targets)

    def evenly(
        self,
        first: g.Atom,
        step: int,
        count: g.Atom,
        initial: Sequence[g.Atom],
        body: Callable[[g.Atom, list[g.Atom]], list[g.Atom]],
        copies: int,
    ) -> list[g.Atom]:
        """The last values of a loop over `count` places that lie `step` apart, whose body is written out `copies` times
        (a power of two) a round: loads are then asked for together, which compilers do for some loops and not for
        others. No number wraps."""

        def several(many: int) -> Callable[[g.Var, list[g.Atom]], list[g.Atom]]:
            def round_(i: g.Var, carried: list[g.Atom]) -> list[g.Atom]:
                apart = g.Const(i.base, step * many)
                start = self.op("add", first, self.op("mul", i, apart, exact=True), exact=True)
                for n in range(many):
                    place = self.op("add", start, g.Const(i.base, n * step), exact=True) if n else start
                    carried = body(place, carried)
                return carried

            return round_

        zero = g.Const(count.base, 0)
        if copies == 1:
            return self.seq_for(zero, count, initial, several(1))
        shift = g.Const(count.base, copies.bit_length() - 1)
        rounds = self.op("shr", count, shift)
        found = self.seq_for(zero, rounds, initial, several(copies), rolled=True)
        return self.seq_for(self.op("shl", rounds, shift), count, found, several(1), rolled=True)

    # ---- arrays of a thread and of a block

    def array(self, base: str, extents: tuple[g.Atom, ...]) -> g.Var:
        """A new array of each thread. `Refused` where its size differs between threads."""
        for e in extents:
            if not self.launch_known(e):
                raise Refused("a body makes an array whose size is not known before the launch")
        known = [int(e.value) for e in extents if isinstance(e, g.Const)]
        private = len(known) == len(extents) and math.prod(known) <= MOST_PRIVATE
        v = self.names.var("own", g.ArrayType(base, extents))
        self.allocations.append(k.Allocate(v, "private" if private else "scratch"))
        return v

    def is_own(self, v: g.Var) -> bool:
        """Whether an array is one of each thread."""
        return any(a.array == v and a.space != "shared" for a in self.allocations)

    def shared(self, stem: str, base: str, extents: Iterable[int]) -> g.Var:
        """A new array of the block."""
        v = self.names.var(stem, g.ArrayType(base, tuple(g.Const("int", e) for e in extents)))
        self.allocations.append(k.Allocate(v, "shared"))
        return v

    def word_const(self, value: int) -> g.Const:
        """A constant index."""
        return g.Const(self.word.base, value)

    def as_int(self, a: g.Atom) -> g.Atom:
        """A recovered index as graphs have them."""
        return a if a.base == "int" else self.op("toi", a)

    def as_word(self, a: g.Atom) -> g.Atom:
        """An int in the kernel's index words."""
        return (
            a
            if a.base == self.word.base
            else g.Const(self.word.base, a.value)
            if isinstance(a, g.Const)
            else self.op("tol", a)
        )

    def scratch_extents(self) -> set[str]:
        """The numbers that say how large the arrays of a thread are."""
        return {e.name for a in self.allocations for e in g.extents_of(a.array) if isinstance(e, g.Var)}

    # ---- the whole

    def kernel(
        self,
        block_index: Sequence[g.Var],
        grid: Sequence[g.Atom],
        block: Sequence[g.Atom],
        body: Iterable[k.BlockStmt],
        aligned: bool = False,
    ) -> k.Kernel:
        """The kernel, its arrays allocated at the start of the block. `aligned`: as of `Kernel`."""
        writes = tuple(k.Written(v, self.once[name]) for name, v in self.results.items())
        return k.Kernel(
            self.name,
            self.params,
            tuple(self.slots),
            tuple(block_index),
            tuple(grid),
            tuple(block),
            (*self.allocations, *body),
            writes,
            self.bits,
            aligned,
            tuple(self.multiples.items()),
            self.resident,
        )


def _flat(code: Pending) -> Iterator[k.ThreadStmt]:
    for s in code:
        if isinstance(s, list):
            yield from _flat(s)
        else:
            yield s


class IrArithmetic:
    """Indices as code of a thread: `slots[p]` is the word at position p of the parameter block. No result wraps, as the
    word size was chosen so."""

    def __init__(self, builder: Builder, slots: Sequence[g.Var]) -> None:
        self.b = builder
        self.slots = slots

    def _divide(self, dividend: g.Atom, by: Slot) -> g.Atom:
        divisor, multiplier, shift = self.slots[by.position : by.position + 3]
        return self.b.let("q", self.b.word, k.Divide(dividend, divisor, multiplier, shift))

    def bound(self, slot: Slot) -> g.Atom:
        return self.b.word_const(slot.value) if slot.known else self.slots[slot.position]

    def add(self, a: g.Atom, b: g.Atom) -> g.Atom:
        return self.b.op("add", a, b, exact=True)

    def multiply(self, a: g.Atom, b: g.Atom) -> g.Atom:
        return self.b.op("mul", a, b, exact=True)

    def divide(self, a: g.Atom, by: Slot) -> tuple[g.Atom, g.Atom]:
        quotient = self._divide(a, by)
        product = self.b.op("mul", quotient, self.slots[by.position], exact=True)
        return quotient, self.b.op("sub", a, product, exact=True)

    def subtract(self, a: g.Atom, b: g.Atom) -> g.Atom:
        return self.b.op("sub", a, b, exact=True)

    def choose(self, condition: g.Atom | None, a: g.Atom, b: g.Atom) -> g.Atom:
        return a if condition is None else self.b.op("select", condition, a, b)

    def in_rows(self, a: g.Atom, least: Slot, growth: Slot, rows: Slot) -> tuple[g.Atom, g.Atom]:
        b = self.b
        args = (b.as_int(a), b.as_int(self.bound(least)), g.integer(growth.value), b.as_int(self.bound(rows)))
        row, column = (b.as_word(b.op(code, *args)) for code in ("row", "column"))
        return row, column

    def less(self, a: g.Atom, b: g.Atom) -> g.Atom:
        return self.b.op("lt", a, b)

    def both(self, a: g.Atom | None, b: g.Atom | None) -> g.Atom | None:
        return self.b.both(a, b)
