"""From a seed to its case: long programs, programs of one thing, and operations one by one take turns.

In: a seed, and perhaps a profile. Out: a `Case`, always the same.
"""

from __future__ import annotations

from tests.fuzz.choices import LARGE, SMALL, Profile
from tests.fuzz.operations import operations
from tests.fuzz.programs import HEAD, Case, Generator
from tests.fuzz.single import single

_SOME = ("operations", "single", SMALL, "single", "single", SMALL, "single")
# 3 of 23 are operations, 14 of one thing, 6 long
TURNS = (*_SOME, *_SOME, *_SOME[:-2], "single", LARGE, "single", "single")


def case(seed: int, profile: Profile | None = None) -> Case:
    """The case of a seed."""
    turn = profile or TURNS[seed % len(TURNS)]
    if isinstance(turn, Profile):
        return Generator(seed, turn).case()
    number = seed // len(TURNS) * TURNS.count(turn) + TURNS[: seed % len(TURNS)].count(turn)
    if turn == "single":
        return single(seed, number)
    text, calls = operations(number)
    return Case(seed, HEAD + text, calls)
