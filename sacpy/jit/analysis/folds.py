"""Folds whose function is one operation per accumulator that may be regrouped freely.

In: a fold. Out: a `Reduction`, or None.

Sums, products, extremes and logical folds are recognised. Integer ones give the same in any order. Those on reals are
regrouped unless floating point is strict: over chunks of the first axis, whose size depends on the program and the
extents only, and inside a loop over a fixed number of lanes, and over fewer for what does not fill them, whatever the
vector unit's width; so results depend neither on threads nor on the machine's vectors.

Extremes of reals are exact all the same. In order, the least of some numbers is the least of those after the last NaN,
and of a zero and a negative zero the later one. Regrouped, they are computed such that NaN wins, then -0.0 under a
minimum and 0.0 under a maximum: so unless that is what comes out, there was nothing to choose, and the result is that
of any order. If it is, the loop runs once more, in order (`host/withloops`).
"""

from __future__ import annotations

import math

from sacpy.jit.analysis.combine import steps_of_fold
from sacpy.jit.ir.graph import Fold
from sacpy.lang.constants import largest, smallest
from sacpy.lang.types import REAL
from sacpy.nodes import Node


class Reduction(Node):
    """A fold that was recognised: one operation per accumulator."""

    codes: tuple[str, ...]
    bases: tuple[str, ...]

    @property
    def real(self) -> bool:
        """Whether a regrouped result may differ from the one from left to right."""
        return any(base in REAL for base in self.bases)

    @property
    def extremes(self) -> tuple[int, ...]:
        """The accumulators that are extremes of reals."""
        return tuple(
            k for k, (code, base) in enumerate(zip(self.codes, self.bases)) if base in REAL and code in ("min", "max")
        )

    @property
    def exact(self) -> bool:
        """Whether a result is the one from left to right, once `undecided` ones have been computed anew."""
        return all(base not in REAL or code in ("min", "max") for code, base in zip(self.codes, self.bases))

    def neutral(self, k: int) -> int | float | bool:
        """The value that accumulator k may start from any number of times."""
        return _identity(self.codes[k], self.bases[k])


def _identity(code: str, base: str) -> int | float | bool:
    match code:
        case "add":
            return -0.0 if base in REAL else 0
        case "mul":
            return 1
        case "min":
            return math.inf if base in REAL else largest(base)
        case "max":
            return -math.inf if base in REAL else smallest(base)
        case "bitand":
            return -1
        case "and":
            return True
        case "or":
            return False
    return 0


def recognised(fold: Fold) -> Reduction | None:
    """The reduction that a fold is, if it is one. One whose order a pragma keeps is none."""
    if fold.stop is not None or fold.commutative is False:
        return None
    steps = steps_of_fold(fold)
    return None if steps is None else Reduction(tuple(s.code for s in steps), tuple(s.base for s in steps))
