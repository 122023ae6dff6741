"""Base types and the lattice of shapes.

A core value has a base type, which is static, and a shape, of which more or less may be known:

    value known  <  shape known  <  rank known  <  rank at least k  <  anything

and below all bottom: no value yet.

Base types of core are the fourteen built-in ones and opaque ones such as `String::string`; typedefs and structs are
gone by then.
"""

from __future__ import annotations

from sacpy.nodes import Node

SIGNED = {"byte": 8, "short": 16, "int": 32, "long": 64, "longlong": 64}
UNSIGNED = {"ubyte": 8, "ushort": 16, "uint": 32, "ulong": 64, "ulonglong": 64}
BITS = SIGNED | UNSIGNED
REAL = ("float", "double")
WORDS = {"float": "uint", "double": "ulong"}  # the unsigned integers as wide as the reals
BUILTIN = (*BITS, *REAL, "bool", "char")
KINDS: dict[str, tuple[str, ...]] = {
    "int": tuple(BITS),
    "signed": (*SIGNED, *REAL),
    "unsigned": tuple(UNSIGNED),
    "real": REAL,
    "num": (*BITS, *REAL),
    "builtin": BUILTIN,
}  # what a library function's type variable ranges over; "any" ranges over user types too

Scalar = int | float | bool


class Shape(Node):
    """What is known of a value's shape, and perhaps its value.

    `rank` None: unknown, at least `min_rank`. `extents` has `rank` entries, None where unknown (and is None where the
    rank is). `value` holds all elements, flat in row-major order, where they are known (small arrays only). `never`
    marks bottom."""

    rank: int | None = None
    extents: tuple[int | None, ...] | None = None
    min_rank: int = 0
    value: tuple[Scalar, ...] | None = None
    never: bool = False


ANY = Shape()
BOTTOM = Shape(never=True)
SCALAR = Shape(0, (), 0)


def known(extents: tuple[int | None, ...], value: tuple[Scalar, ...] | None = None) -> Shape:
    """A shape of known rank with the given extents."""
    return Shape(len(extents), extents, len(extents), value)


def of_rank(rank: int) -> Shape:
    """A shape of known rank and unknown extents."""
    return Shape(rank, (None,) * rank, rank)


class Type(Node):
    """The type of a core value."""

    base: str
    shape: Shape
