"""Measurements in turns: whatever else the machine does falls on all alike.

In: subjects. Out: of each the seconds of a call, many times; or pairs of times, of two subjects that are the same call
in two states of a program.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from time import perf_counter

from sacpy.benching.comparing import Pair, Verdict, compared, decided
from sacpy.benching.subjects import Subject
from sacpy.nodes import Node

WARM = 0.3  # seconds that a call is repeated before it counts as warm
SAMPLE = 0.001  # seconds that a sample takes at least
LEAST, MOST = 10, 2000  # samples of a subject
GROUPS = 3  # how often both states of a program are prepared for a comparison


class Measured(Node):
    """`first`: seconds of reading, checking, and the first call; `samples`: of a warm call; `calls` in each sample."""

    first: float
    samples: tuple[float, ...]
    calls: int

    @property
    def least(self) -> float:
        return min(self.samples)

    @property
    def median(self) -> float:
        return median(self.samples)


def measured(subjects: Sequence[Subject], seconds: float) -> list[Measured]:
    """Times of several subjects, in turns, for about so many seconds each."""
    counts = [_count(subject, seconds) for subject in subjects]
    taken: list[list[float]] = [[] for _ in subjects]
    start = perf_counter()
    with _undisturbed():
        while len(taken[0]) < LEAST or (len(taken[0]) < MOST and perf_counter() - start < seconds * len(subjects)):
            for subject, count, times in zip(subjects, counts, taken, strict=True):
                times.append(subject.sample(count))
    return [
        Measured(subject.first, tuple(times), count)
        for subject, times, count in zip(subjects, taken, counts, strict=True)
    ]


def against(
    old: Callable[[], Subject], new: Callable[[], Subject], seconds: float, tolerance: float
) -> tuple[Verdict, list[list[Pair]]]:
    """How a call in a new state of a program compares with the same call in an old one, measured in turns."""
    groups: list[list[Pair]] = []
    for _ in range(GROUPS):
        first, second = old(), new()
        count, clock = max(_count(first, seconds), _count(second, seconds)), first.clock
        groups.append([])
        start, turn = perf_counter(), 0
        with _undisturbed():
            while len(groups[-1]) < LEAST or (len(groups[-1]) < MOST and perf_counter() - start < 2 * seconds / GROUPS):
                turn += 1
                if turn % 2:
                    a, b = first.sample(count, clock), second.sample(count, clock)
                else:
                    b, a = second.sample(count, clock), first.sample(count, clock)
                groups[-1].append((a, b))
                if len(groups[-1]) % LEAST == 0 and decided(compared(groups[-1:], tolerance), tolerance):
                    break
    return compared(groups, tolerance), groups


def _count(subject: Subject, seconds: float) -> int:
    """How many calls a sample has, once the subject is warm."""
    return max(1, int(SAMPLE / max(subject.warm(min(WARM, seconds)), 1e-9)))


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Inside, Python does not look for garbage."""
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


__all__ = ["Measured", "against", "measured"]
