"""When native code is entered and left, in tests: at calls and rounds that users never see, whatever that costs.

In: numbers, or a seed. Out: a `Pace` for an engine. With `Steady(None, 1, 1)` each round of each loop is interpreted,
then one runs natively, and so on, and functions are never compiled as a whole; `Wandering` changes its mind each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from sacpy.jit.cache import Cache
from sacpy.jit.run.engine import Engine
from sacpy.jit.run.judgement import Pace
from tests.fuzz.differential import Ways


@dataclass(frozen=True)
class Steady:
    """Always the same numbers."""

    before: int | None
    here: int
    there: int

    def calls(self) -> int | None:
        return self.before

    def interpreted(self) -> int:
        return self.here

    def native(self) -> int:
        return self.there


class Wandering:
    """Others each time; functions are compiled seldom, since that leaves no loop to enter."""

    def __init__(self, seed: int) -> None:
        self._random = Random(f"pace {seed}")

    def calls(self) -> int | None:
        return self._random.choice((1, 2, 7, None, None, None, None))

    def interpreted(self) -> int:
        return self._random.choice((1, 2, 7, 3))

    def native(self) -> int:
        return self._random.choice((1, 2, 7, 3, 0))


def paced(pace: Pace) -> Engine:
    """An engine that goes by a pace, and keeps nothing."""
    return Engine("cpu", threads=1, strict_fp=True, opt_level=0, defects=True, cache=Cache(None), pace=pace)


def wandering(seed: int) -> Ways:
    """A seed's program at a pace of its own."""
    return {"in and out": lambda: paced(Wandering(seed))}
