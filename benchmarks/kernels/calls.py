"""What a call from Python costs that has its arrays on a GPU, before the driver has it: on the stand-in for the driver,
which does not execute the kernels here.

In: nothing. Out: a row with a limit: microseconds of a call, beside those of its launch alone, of which cuda.core has
nothing here.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.kernels.programs import USE
from benchmarks.measure import Row
from tests.ptx.driver import PtxCuda
from tests.ptx.lending import Lent
from tests.ptx.sessions import session

SOURCE = USE + "double[n] f(double[n] a, double[n] b) { return { [i] -> a[i] * 2.0 + b[i] | [i] < [n] }; }"
NAME = "a call from Python"
LIMIT = 15.0  # microseconds
ROUNDS, REPETITIONS = 100, 40


class Quiet(PtxCuda):
    """A GPU that does nothing; `seen`: the arguments of the last launch."""

    seen: tuple[Any, ...] = ()

    def execute(self, kernel: Any, config: Any, args: list[Any]) -> None:
        pass


def microseconds(call: Callable[[], Any]) -> tuple[float, float, float]:
    """The least, the median and the most of some repetitions."""
    found = []
    for _ in range(REPETITIONS):
        start = perf_counter()
        for _ in range(ROUNDS):
            call()
        found.append((perf_counter() - start) / ROUNDS * 1e6)
    found.sort()
    return found[0], found[len(found) // 2], found[-1]


def row() -> Row:
    """The least of the calls counts: whatever else the computer does comes on top."""
    gpu = Quiet("sm_90", "nvptx", races=False)
    module = session(gpu).compile(SOURCE)
    x, y = (np.ones(1 << 16) for _ in "xy")
    there = module.f(Lent(gpu, x), Lent(gpu, y))
    for _ in range(3):
        module.f(there, there)
    launch = gpu.launch
    seen: list[tuple[Any, ...]] = []

    def noted(*args: Any) -> None:
        seen.append(args)
        launch(*args)

    gpu.launch = noted  # type: ignore[method-assign]
    module.f(there, there)
    gpu.launch = launch  # type: ignore[method-assign]
    least, median, most = microseconds(lambda: module.f(there, there))
    alone, _, _ = microseconds(lambda: launch(*seen[0]))
    note = f"at least {least:.1f}, of which the stand-in's launch {alone:.1f}; median {median:.1f}"
    return Row(NAME, least, "us", least, most, LIMIT, note)
