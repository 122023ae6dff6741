"""Symbolic values: what stands for the value of a core variable while a function is specialised.

A value is a scalar atom of the graph, a `Small` (a small array of known shape: its elements, side by side), or an array
variable. The rank of every value is known. A `Kind` is what is known of a value's form where several may come: at the
end of branches, around loops, in the parameters of functions; it says how a value is taken apart into atoms there, and
put together again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from math import prod

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.names import Names
from sacpy.lang import constants
from sacpy.lang.lattice import constant
from sacpy.lang.types import Shape
from sacpy.nodes import Node

LIMIT = 32  # the most elements of an array whose elements lie side by side


class Fails(Exception):
    """Execution that comes here certainly fails: the interpreter reports how."""


class Ranks(Exception):
    """Two values of different rank where one rank is needed."""


class Branches(Ranks):
    """Two branches give values of different rank. What comes after them can be made for each of them."""


class Small(Node):
    """An array of known shape, its elements in row-major order."""

    base: str
    extents: tuple[int, ...]
    elements: tuple[g.Atom, ...]


Value = g.Const | g.Var | Small


class Kind(Node):
    """The form of a value: "scalar", "small" (extents are constants), or "array" (an extent None travels as a scalar of
    its own, before the array). "none": no value yet, anything may come."""

    form: str
    base: str
    extents: tuple[g.Atom | None, ...] = ()

    def types(self) -> Iterator[g.Type | None]:
        """The types of the atoms that a value of this kind comes apart into; None is the array itself."""
        if self.form == "scalar":
            yield g.ScalarType(self.base)
        elif self.form == "small":
            yield from [g.ScalarType(self.base)] * self.size
        else:
            yield from [g.ScalarType("int") for e in self.extents if e is None]
            yield None

    @property
    def size(self) -> int:
        """The number of elements of a small array."""
        return prod(int(e.value) for e in self.extents if isinstance(e, g.Const))

    @property
    def width(self) -> int:
        """The number of atoms."""
        return (
            1
            if self.form == "scalar"
            else self.size
            if self.form == "small"
            else 1 + sum(e is None for e in self.extents)
        )

    def shape(self) -> Shape:
        """As inference sees it."""
        if self.form == "scalar":
            return constant((), None)
        extents = tuple(int(e.value) if isinstance(e, g.Const) else None for e in self.extents)
        return Shape(len(extents), extents, len(extents))

    def fresh(self, names: Names, stem: str) -> tuple[tuple[g.Var, ...], Value]:
        """New variables for a value of this kind, and the value that they make."""
        if self.form == "scalar":
            v = names.var(stem, g.ScalarType(self.base))
            return (v,), v
        if self.form == "small":
            elements = tuple(names.var(stem, g.ScalarType(self.base)) for _ in range(self.size))
            return elements, Small(
                self.base, tuple(int(e.value) for e in self.extents if isinstance(e, g.Const)), elements
            )
        extents = tuple(names.var(f"{stem}_n", g.ScalarType("int")) if e is None else e for e in self.extents)
        array = names.var(stem, g.ArrayType(self.base, extents))
        return (*(e for e, k in zip(extents, self.extents) if k is None and isinstance(e, g.Var)), array), array


def base_of(value: Value) -> str:
    """The base type."""
    return value.base


def is_array(value: Value) -> bool:
    """Whether the value is an array variable."""
    return isinstance(value, g.Var) and isinstance(value.type, g.ArrayType)


def is_scalar(value: Value) -> bool:
    """Whether the value is a scalar."""
    return not isinstance(value, Small) and isinstance(value.type, g.ScalarType)


def extents_of(value: Value) -> tuple[g.Atom, ...]:
    """The extents; () of a scalar."""
    if isinstance(value, Small):
        return tuple(map(integer, value.extents))
    return value.type.extents if isinstance(value.type, g.ArrayType) else ()


def static_extents(value: Value) -> tuple[int, ...] | None:
    """The extents, where all are constants."""
    if isinstance(value, Small):
        return value.extents
    found = tuple(int(e.value) for e in extents_of(value) if isinstance(e, g.Const))
    return found if len(found) == len(extents_of(value)) else None


def shape_of(value: Value) -> Shape:
    """A value as inference sees it, with its elements where all are constants."""
    if isinstance(value, Small):
        known = [e.value for e in value.elements if isinstance(e, g.Const)]
        return constant(value.extents, known if len(known) == len(value.elements) else None)
    if isinstance(value, g.Const):
        return constant((), [value.value])
    extents = tuple(int(e.value) if isinstance(e, g.Const) else None for e in extents_of(value))
    return Shape(len(extents), extents, len(extents))


def const(base: str, value: int | float | bool) -> g.Const:
    """A constant of a base type."""
    return g.Const(base, value)


@lru_cache(maxsize=None, typed=True)
def integer(value: int) -> g.Const:
    """A constant of base "int"; there are many, and few different ones."""
    return g.Const("int", value)


@cache
def zero(base: str) -> g.Const:
    """The zero of a base type."""
    return g.Const(base, constants.zero(base))


def small_vector(elements: Sequence[g.Atom], base: str = "int") -> Small:
    """A vector from its elements."""
    return Small(base, (len(elements),), tuple(elements))
