"""The axes of diagrams: numbers on a line between two ends, evenly or by their logarithms, with round numbers to mark.

In: numbers. Out: a `Scale`, which says where on its line each number lies, from 0 to 1, and which to mark.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]
ALMOST = 1e-9


@dataclass(frozen=True, slots=True)
class Scale:
    """Numbers from `low` to `high`, `low` < `high`. `log`: by their logarithms; both are above 0 then."""

    low: float
    high: float
    log: bool = False

    def at(self, values: Any) -> Floats:
        """Where numbers lie: 0 is at `low`, 1 at `high`. (Halves: the whole range of doubles is no double.)"""
        numbers = np.asarray(values, np.float64)
        if self.log:
            low, high = math.log10(self.low), math.log10(self.high)
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.asarray((np.log10(numbers) - low) / (high - low))
        with np.errstate(invalid="ignore"):
            return np.asarray((numbers / 2 - self.low / 2) / (self.high / 2 - self.low / 2))

    def ticks(self, most: int) -> list[float]:
        """Round numbers along the scale, not many more than asked for: steps of 1, 2 or 5 and a power of ten; of
        logarithms powers of ten, and 2 and 5 times them where there are few."""
        if not self.log:
            return _even(self.low, self.high, most)
        first, last = math.ceil(math.log10(self.low) - ALMOST), math.floor(math.log10(self.high) + ALMOST)
        powers = range(first, last + 1, max(1, math.ceil((last - first + 1) / max(most, 2))))
        if len(powers) >= 3 or last - first >= 2:
            return [10.0**k for k in powers]
        found = [d * 10.0**k for k in range(first - 1, last + 1) for d in (1, 2, 5)]
        inside = [v for v in found if self.low * (1 - ALMOST) <= v <= self.high * (1 + ALMOST)]
        return inside[: max(most, 2)] if len(inside) > 1 else _even(self.low, self.high, most)

    def whole(self, most: int) -> list[float]:
        """The round numbers that are whole, as indices are."""
        return [tick for tick in self.ticks(most) if tick == int(tick)]


def _even(low: float, high: float, most: int) -> list[float]:
    raw = high / max(most, 1) - low / max(most, 1)
    power = 10.0 ** math.floor(math.log10(raw)) if raw > 0 else 0.0
    if power == 0:  # among the smallest numbers that there are
        return [low, high]
    step = next(s * power for s in (1, 2, 5, 10) if s * power >= raw * 0.999)
    first = math.ceil(low / step - ALMOST)
    count = math.floor(high / step + ALMOST) - first + 1
    return [0.0 if first + k == 0 else (first + k) * step for k in range(count)]


def around(values: Sequence[Floats], log: bool = False, margin: float = 0.0) -> Scale:
    """The scale of all numbers that can lie on it: finite, and above 0 for logarithms. `margin`: the share of room left
    at both ends. Of equal numbers, and of none, a stretch around them."""
    kept = [v[usable(v, log)] for v in values]
    finite = np.concatenate([np.ravel(v) for v in kept]) if kept else np.zeros(0)
    if not finite.size:
        return Scale(0.1, 1.0, True) if log else Scale(0.0, 1.0)
    low, high = float(finite.min()), float(finite.max())
    if log:
        return _around_powers(low, high, margin)
    if low == high:
        spread = abs(low) / 2 or 0.5
        return Scale(low - spread, high + spread)
    room = (high - low) * margin
    fits = math.isfinite(high + room) and math.isfinite(low - room)
    return Scale(low - room, high + room) if fits else Scale(low, high)


def _around_powers(low: float, high: float, margin: float) -> Scale:
    if low == high:
        return Scale(max(low / 10, 5e-324), min(high * 10, 1e308), True)
    share = (high / low) ** margin if math.isfinite(high / low) else 1.0
    return Scale(max(low / share, 5e-324), min(high * share, 1.7e308), True)


def usable(values: Floats, log: bool) -> Any:
    """Which numbers can lie on a scale."""
    with np.errstate(invalid="ignore"):
        return np.isfinite(values) & (values > 0) if log else np.isfinite(values)


def label(value: float) -> str:
    """A round number as text."""
    return f"{value:.6g}"
