"""What a Python expression is, as far as capture knows: base type, rank, and for whole numbers a range.

In: what annotations, literals and operations say. Out: `Kind`s, and how two of them join where ways meet. Python's
`int` is a SaC `int` (32 bits) where its range says that it fits, as for loop variables, extents and indices made of
them; everywhere else it is a `long` (64 bits). So indices are what the compiler likes best, and no whole number is
wrong below 2^63.
"""

from __future__ import annotations

from sacpy.nodes import Node

INT_LOW, INT_HIGH = -(1 << 31), (1 << 31) - 1
LONG_LOW, LONG_HIGH = -(1 << 63), (1 << 63) - 1
REALS = ("double", "float")
INTS = ("ubyte", "int", "long")
SHOWN = {"double": "float", "long": "int", "int": "int", "bool": "bool", "complex": "complex", "float": "Float scalar"}
ARRAYS = {"double": "Double", "long": "Int", "int": "Int32", "ubyte": "UInt8", "float": "Float", "bool": "Bool",
          "complex": "Complex"}  # fmt: skip


class Num(Node):
    """A number or an array. `base`: a SaC base type. `rank`: 0 for a scalar, None where it is not known. `low`,
    `high`: of a scalar whole number, the range. `ones`: axes that are known to have extent 1. `literal`: a number as it
    stands in the text, which takes the type of what it meets."""

    base: str
    rank: int | None = 0
    low: int = LONG_LOW
    high: int = LONG_HIGH
    ones: frozenset[int] = frozenset()
    literal: bool = False

    @property
    def is_int(self) -> bool:
        """Whether it is a scalar whole number."""
        return self.rank == 0 and self.base in INTS

    @property
    def is_small(self) -> bool:
        """Whether all its values are those of a SaC `int`."""
        return self.is_int and self.low >= INT_LOW and self.high <= INT_HIGH

    def __str__(self) -> str:
        if self.rank == 0:
            return SHOWN.get(self.base, self.base)
        axes = "..." if self.rank is None else ", ".join([":"] * self.rank)
        return f"{ARRAYS[self.base]}[{axes}]"


class Several(Node):
    """A tuple."""

    items: tuple[Kind, ...]

    def __str__(self) -> str:
        return f"tuple of {len(self.items)}"


class Unset(Node):
    """Of a variable that the way here has not set."""

    def __str__(self) -> str:
        return "not set"


Kind = Num | Several | Unset
UNSET = Unset()
BOOL = Num("bool", 0)
DOUBLE = Num("double", 0)


def whole(low: int = LONG_LOW, high: int = LONG_HIGH, *, literal: bool = False) -> Num:
    """A whole number of that range: a SaC `int` where it fits, else a `long`."""
    fits = low >= INT_LOW and high <= INT_HIGH
    return Num("int" if fits else "long", 0, max(low, LONG_LOW), min(high, LONG_HIGH), frozenset(), literal)


EXTENT = whole(0, INT_HIGH)
LONG = whole()


def array(base: str, rank: int | None, ones: frozenset[int] = frozenset()) -> Num:
    """An array, or a number if the rank is 0."""
    if rank == 0 and base in INTS:
        return element(base)
    return Num(base, rank, LONG_LOW, LONG_HIGH, ones)


def element(base: str) -> Num:
    """A scalar of an array's base type."""
    if base == "ubyte":
        return Num("ubyte", 0, 0, 255)
    if base == "int":
        return Num("int", 0, INT_LOW, INT_HIGH)
    return Num(base, 0)


def join(a: Kind, b: Kind) -> Kind | None:
    """What a variable is where ways meet on which it is one or the other; None where it cannot be both."""
    if a == b or isinstance(b, Unset):
        return a
    if isinstance(a, Unset):
        return b
    if isinstance(a, Several) and isinstance(b, Several) and len(a.items) == len(b.items):
        items = [join(x, y) for x, y in zip(a.items, b.items)]
        return Several(tuple(i for i in items if i is not None)) if None not in items else None
    if isinstance(a, Num) and isinstance(b, Num):
        if a.is_int and b.is_int:
            return whole(min(a.low, b.low), max(a.high, b.high))
        if a.base == b.base and a.rank == b.rank:
            return Num(a.base, a.rank, ones=a.ones & b.ones)
    return None


def widened(before: Kind, after: Kind) -> Kind:
    """The join of a loop's rounds, with ranges that still grow given up, so that there is an end."""
    if isinstance(before, Num) and isinstance(after, Num) and after.is_int:
        return whole(
            after.low if after.low == before.low else LONG_LOW, after.high if after.high == before.high else LONG_HIGH
        )
    if isinstance(before, Several) and isinstance(after, Several):
        return Several(tuple(widened(x, y) for x, y in zip(before.items, after.items)))
    return after
