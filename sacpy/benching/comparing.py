"""Whether one thing takes longer than another, told from measurements in turns.

In: pairs of times, each pair measured right after one another, in groups: in each group both have been prepared anew.
Out: by how much the second takes longer, between which bounds, and whether that counts.

A machine has other things to do, so single times are of little worth, and their means too. What happens to the machine
happens to both times of a pair; so the ratio of a pair is looked at, and of all ratios the median, whose bounds are two
of the sorted ratios, whatever their distribution (H. A. David and H. N. Nagaraja, Order Statistics, 2003, section 7.1).
That two copies of the same program differ a little, since they lie elsewhere in memory, is what the groups are for: all
of them must say the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from sacpy.nodes import Node

SURE = 3.29  # standard deviations: one of a thousand times
FEWEST = 12  # pairs from which on bounds mean something

Pair = tuple[float, float]


class Verdict(Node):
    """`ratio` of the second to the first, at least `low`, at most `high`; `word`: "same", "slower", "faster", or
    "unclear" where the bounds leave that open."""

    ratio: float
    low: float
    high: float
    word: str


def compared(groups: Sequence[Sequence[Pair]], tolerance: float) -> Verdict:
    """What pairs say. `tolerance`: a ratio that far from 1 is still the same, as 0.02."""
    logs = [[math.log(b / a) for a, b in group] for group in groups if group]
    every = sorted(x for group in logs for x in group)
    if not every:
        return Verdict(math.nan, math.nan, math.nan, "unclear")
    middle = median(every)
    low, high = bounds(every)
    parts = [median(group) for group in logs]
    margin = math.log1p(tolerance)
    word = "same"
    if len(every) >= FEWEST and len(logs) == len(groups):
        if middle > margin and low > margin / 2 and min(parts) > margin / 2:
            word = "slower"
        elif middle < -margin and high < -margin / 2 and max(parts) < -margin / 2:
            word = "faster"
        elif low < -margin or high > margin:
            word = "unclear"
    else:
        word = "unclear"
    return Verdict(math.exp(middle), math.exp(low), math.exp(high), word)


def bounds(ordered: Sequence[float]) -> tuple[float, float]:
    """Between what the median of the distribution lies, from which these sorted numbers are; wrong one time in a
    thousand."""
    count = len(ordered)
    width = SURE * math.sqrt(count) / 2
    at = max(math.floor((count - 1) / 2 - width), 0)
    return ordered[at], ordered[count - 1 - at]


def decided(verdict: Verdict, tolerance: float) -> bool:
    """Whether more pairs would hardly change what is said."""
    return verdict.high < verdict.low * (1 + tolerance / 2)


__all__ = ["Pair", "Verdict", "bounds", "compared", "decided"]
