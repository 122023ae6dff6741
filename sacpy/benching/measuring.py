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

from sacpy.base.clocks import thread_time
from sacpy.benching.comparing import Pair, Verdict, compared, decided
from sacpy.benching.subjects import Sample, Subject
from sacpy.nodes import Node

WARM = 0.3  # seconds that a call is repeated before it counts as warm
SAMPLE = 0.001  # seconds that a sample takes at least
LEAST, MOST = 10, 2000  # samples of a subject
CALM = 6  # undisturbed pairs of a preparation that are worth more than all of them
PATIENCE = 3  # how much longer than usual a comparison may take on a busy machine
BUSY = 0.1  # share of disturbed pairs from which on a machine is that
GROUPS = 3  # how often both states of a program are prepared for a comparison


class Measured(Node):
    """`first`: seconds of reading, checking, and the first call; `samples`: of a warm call; `calls` in each sample;
    `disturbed`: samples left out, in which the system took the processor away."""

    first: float
    samples: tuple[float, ...]
    calls: int
    disturbed: int = 0

    @property
    def least(self) -> float:
        return min(self.samples)

    @property
    def median(self) -> float:
        return median(self.samples)


def measured(subjects: Sequence[Subject], seconds: float) -> list[Measured]:
    """Times of several subjects, in turns, for about so many seconds each."""
    counts = [_count(subject, seconds) for subject in subjects]
    taken: list[list[Sample]] = [[] for _ in subjects]
    start = perf_counter()
    with _undisturbed():
        while len(taken[0]) < LEAST or (len(taken[0]) < MOST and perf_counter() - start < seconds * len(subjects)):
            for subject, count, samples in zip(subjects, counts, taken, strict=True):
                samples.append(subject.sample(count))
    return [
        Measured(subject.first, times, count, len(samples) - len(times))
        for subject, samples, count in zip(subjects, taken, counts, strict=True)
        if (times := _times(samples))
    ]


def _times(samples: Sequence[Sample]) -> tuple[float, ...]:
    """Of the samples that nothing has disturbed; of all, where they are too few."""
    calm = tuple(s.seconds for s in samples if not s.disturbed)
    return calm if len(calm) >= LEAST else tuple(s.seconds for s in samples)


def against(
    old: Callable[[], Subject], new: Callable[[], Subject], seconds: float, tolerance: float
) -> tuple[Verdict, list[list[Pair]]]:
    """How a call in a new state of a program compares with the same call in an old one, measured in turns. Pairs in
    which the system took the processor away do not count. Where hardly any others come about, the threads' own time
    tells something all the same; time on the wall does not."""
    calm: list[list[Pair]] = []
    every: list[list[Pair]] = []
    owned = True
    for _ in range(GROUPS):
        first, second = old(), new()
        count, clock = max(_count(first, seconds), _count(second, seconds)), first.clock
        owned = owned and clock is thread_time
        calm.append([])
        every.append([])
        start, spent, turn, busy = perf_counter(), 0.0, 0, False
        with _undisturbed():
            while turn < LEAST or (turn < MOST and spent < (PATIENCE if busy else 1) * seconds):
                turn += 1
                if turn % 2:
                    a, b = first.sample(count, clock), second.sample(count, clock)
                else:
                    b, a = second.sample(count, clock), first.sample(count, clock)
                every[-1].append((a.seconds, b.seconds))
                if not (a.disturbed or b.disturbed):
                    calm[-1].append((a.seconds, b.seconds))
                spent = (perf_counter() - start) * GROUPS / 2
                busy = len(calm[-1]) < max((1 - BUSY) * turn, CALM)
                if len(calm[-1]) >= CALM and turn % LEAST == 0 and decided(compared(calm[-1:], tolerance), tolerance):
                    break
    groups = calm if not owned or min(map(len, calm)) >= CALM else every
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
