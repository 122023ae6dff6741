"""Values drawn at random, and made smaller where they show a defect.

In: a generator that draws whole numbers. Out: what it makes, and the numbers that it drew, from which it makes the same
again. A case that fails is made smaller by making its numbers fewer and smaller, whatever they stand for: a generator
draws so that smaller numbers mean simpler values. (The idea is that of D. MacIver and A. Donaldson, Test-case reduction
via test-case generation, ECOOP 2020.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random

MOST = 4000  # numbers of one case
TRIES = 600  # smaller cases that are tried


class TooMany(Exception):
    """A case draws more numbers than are useful."""


class Choices:
    """Draws numbers: first those of `given`; then at random, or, without `random`, 0. `drawn`: what was drawn."""

    def __init__(self, given: Sequence[int] = (), random: Random | None = None) -> None:
        self._given = given
        self._random = random
        self.drawn: list[int] = []

    def below(self, count: int) -> int:
        """A number from 0 to below `count`. Raises `TooMany`."""
        at = len(self.drawn)
        if at >= MOST:
            raise TooMany
        if at < len(self._given):
            number = min(self._given[at], count - 1)
        else:
            number = 0 if self._random is None else self._random.randrange(count)
        self.drawn.append(number)
        return number


def shrunk(drawn: Sequence[int], fails: Callable[[Sequence[int]], Sequence[int] | None]) -> list[int]:
    """The least numbers found that still fail. `fails` makes a case of numbers: those it drew if the case fails, None
    if not."""
    best, left = list(drawn), TRIES
    improved = True
    while improved and left > 0:
        improved = False
        for candidate in _simpler(best):
            if left == 0:
                break
            left -= 1
            found = fails(candidate)
            if found is not None and _measure(found) < _measure(best):
                best, improved = list(found), True
                break
    return best


def _measure(numbers: Sequence[int]) -> tuple[int, Sequence[int]]:
    """Fewer numbers are simpler; of as many, the smaller ones."""
    return len(numbers), list(numbers)


def _simpler(numbers: list[int]) -> Iterator[list[int]]:
    """Cases simpler than this one, those first that promise most."""
    size = len(numbers)
    while size:
        for start in range(0, len(numbers) - size + 1, size):
            yield numbers[:start] + numbers[start + size :]
        size //= 2
    for at, number in enumerate(numbers):
        if number:
            before, behind = numbers[:at], numbers[at + 1 :]
            yield [*before, 0, *behind]
            for less in dict.fromkeys((number // 2, number - 2, number - 1)):
                if less > 0:
                    yield [*before, less, *behind]
                # an extent that shrinks leaves elements over
                if less >= 0 and behind:
                    yield [*before, less, *behind[:-1]]


__all__ = ["Choices", "TooMany", "shrunk"]
