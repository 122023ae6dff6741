"""What the prompt costs, without a terminal: evaluating small inputs in a session that has definitions and an array,
and showing a large one."""

from __future__ import annotations

import time

from benchmarks.measure import Row, duration
from sacpy.interp.world import World
from sacpy.repl.engine import Engine
from sacpy.workspace import Workspace

LIMIT = 5.0  # milliseconds
SETTING = (
    "double[n] halves(int[n] a) { return tod(a) / 2.0; } int f(int a) { return a + 1; } big = genarray([3000, "
    "3000], 1.5) + 1.0; x = 3;"
)
INPUTS = ("1 + 1", "f(x) * 2", "sum(halves(iota(10)))", "big[7, 7] = 2.5;", "big", "x +")


def measure(repetitions: int) -> list[Row]:
    """Each input as often as that, after it has been typed once."""
    engine = Engine(Workspace(), World.captured())
    engine.enter(SETTING)
    rows = []
    for text in INPUTS:
        engine.enter(text)
        rows.append(
            duration(f"{text!r} at the prompt", [_seconds(engine, text) for _ in range(repetitions)], "ms", LIMIT)
        )
    return rows


def _seconds(engine: Engine, text: str) -> float:
    start = time.perf_counter()
    engine.enter(text)
    return time.perf_counter() - start
