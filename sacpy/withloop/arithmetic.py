"""The arithmetic in which indices are recovered.

A combinator's `recover` is written once, over the protocol `Arithmetic`. Here are the arithmetics that need no code
generator: `Plain` for integers and NumPy arrays, `Words` for integers as the threads have them (divisions by
multiplication, a word size that must suffice), and `Ranges` for all threads of a launch at once, which tells what word
size suffices. Code generation brings its own, over IR values.
"""

from __future__ import annotations

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

    def less(self, a: V, b: V) -> G:
        """a < b"""
        ...

    def both(self, a: G, b: G) -> G:
        """Both hold."""
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

    def less(self, a: Any, b: Any) -> Any:
        return a < b

    def both(self, a: Any, b: Any) -> Any:
        return a & b


PLAIN = Plain()


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

    def less(self, a: int, b: int) -> bool:
        return a < b

    def both(self, a: bool, b: bool) -> bool:
        return a and b


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

    def less(self, a: Range, b: Range) -> None:
        return None

    def both(self, a: None, b: None) -> None:
        return None

    @property
    def bits(self) -> int:
        """32 where every value fits a signed word of 32 bits, 64 otherwise."""
        return 32 if self.low >= -(1 << 31) and self.high < 1 << 31 else 64
