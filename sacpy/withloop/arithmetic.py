"""The arithmetic in which indices are recovered.

A combinator's `recover` is written once, over the protocol `Arithmetic`. Here are the arithmetics that need no code
generator: `Plain` for integers and NumPy arrays, `Words` for integers as the threads have them (divisions by
multiplication, a word size that must suffice), and `Ranges` for all threads of a launch at once, which tells what word
size suffices. Code generation brings its own, over IR values.
"""

from __future__ import annotations

from math import isqrt
from typing import Any, Protocol, TypeVar

from sacpy.nodes import Node
from sacpy.withloop.division import magic

V = TypeVar("V")  # an index or bound: an integer, an array of them, an IR value
G = TypeVar("G")  # a truth value of the same kind


class Slot(Node):
    """A number of the host that `recover` needs: a bound, or a divisor (then at least 1). `known`: the kernel may have
    it as a constant, otherwise it is read from the parameter block at `position` (a divisor: followed by multiplier and
    shift)."""

    name: str
    value: int
    divisor: bool = False
    known: bool = False
    position: int = -1


class Arithmetic(Protocol[V, G]):
    """What recovering an index takes. Dividends are never negative."""

    def bound(self, slot: Slot) -> V:
        """The slot's number."""
        ...

    def add(self, a: V, b: V) -> V:
        """a + b"""
        ...

    def multiply(self, a: V, b: V) -> V:
        """a * b"""
        ...

    def divide(self, a: V, by: Slot) -> tuple[V, V]:
        """Quotient and remainder."""
        ...

    def subtract(self, a: V, b: V) -> V:
        """a - b"""
        ...

    def less(self, a: V, b: V) -> G:
        """a < b"""
        ...

    def both(self, a: G, b: G) -> G:
        """Both hold."""
        ...

    def choose(self, condition: G, a: V, b: V) -> V:
        """a where the condition holds, else b"""
        ...

    def in_rows(self, a: V, least: Slot, growth: Slot, rows: Slot) -> tuple[V, V]:
        """The row in which the element with the number `a` lies, and its place there, where rows lie one behind the
        other: each is longer by `growth` than the one before it (shorter, where it is negative), the shortest has
        `least` elements."""
        ...


class Plain:
    """Python integers, or NumPy arrays of them: whatever has the operators."""

    def bound(self, slot: Slot) -> Any:
        return slot.value

    def add(self, a: Any, b: Any) -> Any:
        return a + b

    def multiply(self, a: Any, b: Any) -> Any:
        return a * b

    def divide(self, a: Any, by: Slot) -> tuple[Any, Any]:
        quotient = a // by.value
        return quotient, a - quotient * by.value

    def subtract(self, a: Any, b: Any) -> Any:
        return a - b

    def less(self, a: Any, b: Any) -> Any:
        return a < b

    def both(self, a: Any, b: Any) -> Any:
        return a & b

    def choose(self, condition: Any, a: Any, b: Any) -> Any:
        return b + (a - b) * condition

    def in_rows(self, a: Any, least: Slot, growth: Slot, rows: Slot) -> tuple[Any, Any]:
        if isinstance(a, int):
            return place_in_rows(a, least.value, growth.value, rows.value)
        places = [place_in_rows(int(k), least.value, growth.value, rows.value) for k in a.ravel()]
        row, column = ([p[n] for p in places] for n in (0, 1))
        return tuple((a.ravel() * 0 + found).reshape(a.shape) for found in (row, column))


PLAIN = Plain()


def place_in_rows(number: int, least: int, growth: int, rows: int) -> tuple[int, int]:
    """The row of the element with this number, and its place in the row, as `Arithmetic.in_rows` says, also where all
    rows have one length; of a number that no element has, some row that there is, or 0.

    Counted from the end with the shortest row, rows before row x have (g x^2 + b x) / 2 elements, with g the growth and
    b = 2 least - g. So the row is the whole part of the root of g x^2 + b x - 2 number."""
    last, g = max(0, rows - 1), abs(growth)
    if not g:
        row = min(max(0, number) // max(1, least), last)
        return row, number - row * least
    b = 2 * least - g
    place = number if growth > 0 else rows * least + g * (rows * last // 2) - 1 - number
    row = min(max(0, (isqrt(max(0, 8 * g * place + b * b)) - b) // (2 * g)), last)
    row = row if growth > 0 else last - row
    return row, number - elements_before(row, least, growth, rows)


def elements_before(row: int, least: int, growth: int, rows: int) -> int:
    """How many elements lie in the rows before one."""
    first = least if growth > 0 else least - growth * max(0, rows - 1)
    return row * first + growth * (row * (row - 1) // 2)


class Words:
    """Python integers in words of `bits` bits, with the divisions that a thread does. `OverflowError` where a result
    does not fit: a word size was chosen that does not suffice."""

    def __init__(self, bits: int) -> None:
        self.bits = bits

    def _fit(self, value: int) -> int:
        if not -(1 << (self.bits - 1)) <= value < 1 << (self.bits - 1):
            raise OverflowError(f"{value} does not fit {self.bits} bits")
        return value

    def bound(self, slot: Slot) -> int:
        return self._fit(slot.value)

    def add(self, a: int, b: int) -> int:
        return self._fit(a + b)

    def multiply(self, a: int, b: int) -> int:
        return self._fit(a * b)

    def divide(self, a: int, by: Slot) -> tuple[int, int]:
        quotient = magic(by.value, self.bits).quotient(self._fit(a))
        return quotient, a - quotient * by.value

    def subtract(self, a: int, b: int) -> int:
        return self._fit(a - b)

    def less(self, a: int, b: int) -> bool:
        return a < b

    def both(self, a: bool, b: bool) -> bool:
        return a and b

    def choose(self, condition: bool, a: int, b: int) -> int:
        return a if condition else b

    def in_rows(self, a: int, least: Slot, growth: Slot, rows: Slot) -> tuple[int, int]:
        return place_in_rows(self._fit(a), self.bound(least), self.bound(growth), self.bound(rows))


class Range(Node):
    """Values from `low` to `high`, both among them."""

    low: int
    high: int


class Ranges:
    """All threads at once: `low` and `high` are the least and the greatest value that came up anywhere."""

    def __init__(self) -> None:
        self.low = self.high = 0

    def value(self, low: int, high: int) -> Range:
        """A range of values, noted."""
        self.low, self.high = min(self.low, low), max(self.high, high)
        return Range(low, high)

    def bound(self, slot: Slot) -> Range:
        return self.value(slot.value, slot.value)

    def add(self, a: Range, b: Range) -> Range:
        return self.value(a.low + b.low, a.high + b.high)

    def multiply(self, a: Range, b: Range) -> Range:
        ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
        return self.value(min(ends), max(ends))

    def divide(self, a: Range, by: Slot) -> tuple[Range, Range]:
        self.value(by.value, by.value)
        return self.value(a.low // by.value, a.high // by.value), self.value(0, min(a.high, by.value - 1))

    def subtract(self, a: Range, b: Range) -> Range:
        return self.value(a.low - b.high, a.high - b.low)

    def less(self, a: Range, b: Range) -> None:
        return None

    def both(self, a: None, b: None) -> None:
        return None

    def choose(self, condition: None, a: Range, b: Range) -> Range:
        return Range(min(a.low, b.low), max(a.high, b.high))

    def in_rows(self, a: Range, least: Slot, growth: Slot, rows: Slot) -> tuple[Range, Range]:
        longest = least.value + abs(growth.value) * max(0, rows.value - 1)
        return self.value(0, max(0, rows.value - 1)), self.value(0, max(0, longest - 1))

    @property
    def bits(self) -> int:
        """32 where every value fits a signed word of 32 bits, 64 otherwise."""
        return 32 if self.low >= -(1 << 31) and self.high < 1 << 31 else 64
