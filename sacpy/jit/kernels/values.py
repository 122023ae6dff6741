"""What the variables of a body stand for inside a thread.

In: a builder. Out: three kinds of arrays (elements in memory, elements known one by one, other extents over either),
and how they are read, copied and made memory. Scalars are atoms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from sacpy.jit.ir.graph import Atom, Const, Var, extents_of, integer
from sacpy.jit.kernels.builder import Builder, Pending
from sacpy.nodes import Node, Record


class Memory(Node):
    """The part of a kernel's array at the first few indices."""

    var: Var
    prefix: tuple[Atom, ...] = ()

    @property
    def base(self) -> str:
        return self.var.base

    @property
    def extents(self) -> tuple[Atom, ...]:
        return extents_of(self.var)[len(self.prefix) :]


class Elements(Record):
    """A small array, element by element. `place`: where its elements are known first, so that there they can be stored
    if need be; `memory` has them then."""

    base: str
    shape: tuple[int, ...]
    atoms: tuple[Atom, ...]
    place: Pending
    memory: Memory | None = None

    @property
    def extents(self) -> tuple[Atom, ...]:
        return tuple(map(integer, self.shape))


class Reshaped(Node):
    """The elements of another array in the same order under other extents."""

    of: Memory | Elements
    extents: tuple[Atom, ...]

    @property
    def base(self) -> str:
        return self.of.base


Array = Memory | Elements | Reshaped
Value = Var | Const | Memory | Elements | Reshaped


def is_array(v: Value) -> bool:
    """Whether a value is an array."""
    return isinstance(v, Memory | Elements | Reshaped)


class Arrays:
    """Reads and copies arrays."""

    def __init__(self, builder: Builder) -> None:
        self.b = builder

    def load(self, a: Array, index: Sequence[Atom]) -> Atom:
        """One element, by a full index."""
        match a:
            case Memory():
                return self.b.load(a.var, *a.prefix, *index)
            case Elements():
                if all(isinstance(i, Const) for i in index):
                    at = place_of(index, a.shape)
                    return zero(a.base) if at is None else a.atoms[at]
                return self.load(self.memory(a), index)
            case Reshaped():
                return self.load(a.of, self.unravel(self.ravel(index, a.extents), a.of.extents))

    def view(self, a: Array, index: tuple[Atom, ...]) -> Array:
        """The part at the first few indices."""
        match a:
            case Memory():
                return Memory(a.var, (*a.prefix, *index))
            case Elements() if all(isinstance(i, Const) for i in index):
                shape = a.shape[len(index) :]
                size = math.prod(shape)
                at = place_of(index, a.shape[: len(index)])
                return Elements(
                    a.base,
                    shape,
                    (zero(a.base),) * size if at is None else a.atoms[at * size : (at + 1) * size],
                    self.b.later(),
                )
            case Elements():
                return self.view(self.memory(a), index)
            case Reshaped():
                return self.view(self.copy(a), index)

    def reshape(self, a: Array, extents: tuple[Atom, ...]) -> Array:
        """The same elements under other extents."""
        if isinstance(a, Elements) and all(isinstance(e, Const) for e in extents):
            return Elements(
                a.base, tuple(int(e.value) for e in extents if isinstance(e, Const)), a.atoms, self.b.later()
            )
        return Reshaped(a.of if isinstance(a, Reshaped) else a, extents)

    def memory(self, a: Array) -> Memory:
        """The array in memory, where it may be that of others."""
        match a:
            case Memory():
                return a
            case Elements():
                if a.memory is None:
                    var = self.b.array(a.base, a.extents)
                    with self.b.at(a.place):
                        for number, atom in enumerate(a.atoms):
                            self.b.store(var, [integer(i) for i in _unflat(number, a.shape)], atom)
                    a.memory = Memory(var)
                return a.memory
            case Reshaped():
                return self.copy(a)

    def copy(self, a: Array) -> Memory:
        """A copy in memory of its own."""
        target = Memory(self.b.array(a.base, a.extents))
        self.assign(target, a)
        return target

    def assign(self, target: Memory, value: Value) -> None:
        """Copies elements; a scalar goes to all of them."""
        if isinstance(value, Memory) and value.var == target.var and value.prefix == target.prefix:
            return
        if isinstance(value, Elements):
            for number, atom in enumerate(value.atoms):
                self.b.store(target.var, [*target.prefix, *map(integer, _unflat(number, value.shape))], atom)
            return

        def one(index: tuple[Atom, ...]) -> None:
            element = value if isinstance(value, Var | Const) else self.load(value, index)
            self.b.store(target.var, [*target.prefix, *index], element)

        self.each(target.extents, one)

    def each(
        self, extents: Sequence[Atom], body: Callable[[tuple[Atom, ...]], None], index: tuple[Atom, ...] = ()
    ) -> None:
        """Code for all indices below some extents, in row-major order."""
        if not extents:
            body(index)
            return

        def inner(i: Var, _: list[Atom]) -> tuple[Atom, ...]:
            self.each(extents[1:], body, (*index, i))
            return ()

        self.b.seq_for(Const(extents[0].base, 0), extents[0], (), inner)

    # ---- offsets

    def ravel(self, index: Sequence[Atom], extents: Sequence[Atom]) -> Atom:
        """The place of an index in row-major order, in the kernel's words."""
        flat: Atom = self.b.word_const(0)
        for i, e in zip(index, extents):
            flat = self.add(self.multiply(flat, self.b.as_word(e)), self.b.as_word(i))
        return flat

    def unravel(self, flat: Atom, extents: Sequence[Atom]) -> tuple[Atom, ...]:
        """The index at a place."""
        if not extents:
            return ()
        index: list[Atom] = []
        for e in reversed(extents[1:]):
            e = self.b.as_word(e)
            if isinstance(flat, Const) and isinstance(e, Const) and e.value:
                quotient, rest = divmod(int(flat.value), int(e.value))
                index.append(self.b.word_const(rest))
                flat = self.b.word_const(quotient)
            else:
                index.append(self.b.op("mod", flat, e))
                flat = self.b.op("div", flat, e)
        return tuple(self.int_const(i) for i in (flat, *reversed(index)))

    @staticmethod
    def int_const(i: Atom) -> Atom:
        return integer(int(i.value)) if isinstance(i, Const) else i

    def add(self, a: Atom, b: Atom) -> Atom:
        """a + b, which does not wrap."""
        if isinstance(a, Const) and isinstance(b, Const):
            return Const(a.base, int(a.value) + int(b.value))
        if isinstance(a, Const) and a.value == 0:
            return b
        return a if isinstance(b, Const) and b.value == 0 else self.b.op("add", a, b, exact=True)

    def multiply(self, a: Atom, b: Atom) -> Atom:
        """a * b, which does not wrap."""
        if isinstance(a, Const) and isinstance(b, Const):
            return Const(a.base, int(a.value) * int(b.value))
        if isinstance(a, Const):
            a, b = b, a
        if isinstance(b, Const) and b.value in (0, 1):
            return b if b.value == 0 else a
        return self.b.op("mul", a, b, exact=True)


def zero(base: str) -> Const:
    """Some value of a base type."""
    return Const(base, False if base == "bool" else 0.0 if base in ("float", "double") else 0)


def place_of(index: Sequence[Atom], shape: Sequence[int]) -> int | None:
    """The place of a constant index in row-major order. None outside of the array: a call with constants for arguments
    may have code for such an index, behind a check or in a branch, which then never runs."""
    at = 0
    for i, e in zip(index, shape, strict=True):
        assert isinstance(i, Const)
        if not 0 <= int(i.value) < e:
            return None
        at = at * e + int(i.value)
    return at


def _unflat(at: int, shape: Sequence[int]) -> list[int]:
    index = []
    for e in reversed(shape):
        at, i = divmod(at, e)
        index.append(i)
    return index[::-1]
