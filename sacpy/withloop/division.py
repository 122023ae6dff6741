"""Division by a number that is the same for all threads, as a multiplication and a shift.

In: a divisor known on the host and a word size. Out: the multiplier and shift with which a thread divides. After
Granlund and Montgomery, "Division by invariant integers using multiplication" (PLDI 1994), for dividends that are not
negative as signed words: then the multiplier fits one word and no correction is needed.
"""

from __future__ import annotations

from functools import lru_cache

from sacpy.nodes import Node


class Magic(Node):
    """`n // divisor == high(2 * n * multiplier) >> shift` for every `0 <= n < 2 ** (bits - 1)`, where `high` is the
    upper word of the unsigned product of two words. For 32 bits `(n * multiplier) >> (31 + shift)` in 64 bits is the
    same."""

    divisor: int
    multiplier: int
    shift: int
    bits: int

    @property
    def power_of_two(self) -> bool:
        """The quotient is `n >> shift`, the remainder `n & (divisor - 1)`."""
        return self.divisor & (self.divisor - 1) == 0

    def quotient(self, n: int) -> int:
        """The division as a thread does it, in words of `bits` bits."""
        word = (1 << self.bits) - 1
        doubled = (n << 1) & word
        return (doubled * self.multiplier >> self.bits) >> self.shift


@lru_cache(maxsize=4096)
def magic(divisor: int, bits: int) -> Magic:
    """Multiplier and shift for a divisor from 1 to `2 ** (bits - 1)`, in words of 32 or 64 bits; `ValueError` for
    others."""
    if bits not in (32, 64):
        raise ValueError(f"words have 32 or 64 bits, not {bits}")
    if not 1 <= divisor <= 1 << (bits - 1):
        raise ValueError(f"{divisor} is no divisor for words of {bits} bits: it must be from 1 to 2**{bits - 1}")
    shift = (divisor - 1).bit_length()
    multiplier = -(-(1 << (bits - 1 + shift)) // divisor)
    return Magic(divisor, multiplier, shift, bits)
