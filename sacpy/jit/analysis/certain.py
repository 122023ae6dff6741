"""For which indices along an axis a condition is certain, whatever the indices of the loops inside are.

In: a sum that is at least 0 where the condition holds; the index along the axis, which is in it; what the indices of
the loops inside lie between. Out: where along the axis the condition is decided. Comparisons of ints, the arguments of
`min`, `max` and `abs`, and remainders that are their dividends all are such conditions.

    f = c * i + d * q + .. + rest >= 0        first <= q <= last

With each q at the end where f is least the condition holds for all of them, at the other end for one at least. So for
c = 1 it holds from the i on for which the least f is 0, and fails below that for which the greatest is; in between lies
a band in which it depends on q.
"""

from __future__ import annotations

from sacpy.jit.analysis.facts import Sum
from sacpy.nodes import Node

Ends = dict[str, tuple[Sum, Sum]]
"""The first and the last of the indices of loops, by name, outer loops first; both may be sums of outer indices."""


class Certain(Node):
    """A condition is decided for indices below `before`, the other way for those from `after` on; `rising`: there it
    holds. If a loop inside is empty, `before` may lie behind `after`, and nothing in between is decided."""

    before: Sum
    after: Sum
    rising: bool


def certain(f: Sum, index: str, ends: Ends) -> Certain | None:
    """Where `f >= 0` is decided along the axis of an index that is one of its variables; None where that is at no sum,
    since a coefficient does not divide."""
    c = f.terms[index]
    least, greatest = extremes(f.plus(Sum(0, {index: 1}), -c), ends)
    low, high = quotient(least, abs(c)), quotient(greatest, abs(c))
    if low is None or high is None:
        return None
    if c > 0:
        return Certain(high.times(-1), low.times(-1), True)
    return Certain(low.offset(1), high.offset(1), False)


def extremes(s: Sum, ends: Ends) -> tuple[Sum, Sum]:
    """The least and the greatest that a sum may be, as sums without the indices of loops."""
    least = greatest = s
    for name in reversed(ends):
        first, last = ends[name]
        least, greatest = _at_end(least, name, first, last), _at_end(greatest, name, last, first)
    return least, greatest


def _at_end(s: Sum, name: str, one: Sum, other: Sum) -> Sum:
    """A sum with a variable at one end if its coefficient is positive, else at the other."""
    c = s.terms.get(name, 0)
    return s.plus(Sum(0, {name: 1}), -c).plus(one if c > 0 else other, c) if c else s


def quotient(s: Sum, divisor: int) -> Sum | None:
    """A sum divided by a positive number, rounded down, where that is a sum."""
    if any(c % divisor for c in s.terms.values()):
        return None
    return Sum(s.constant // divisor, {n: c // divisor for n, c in s.terms.items()})
