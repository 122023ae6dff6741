"""Loops of short rounds on all threads, beside the same on one: where it does not pay to deal a loop out, it should not
take longer either.

In: how often. Out: rows with limits; each tells how long a round takes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from benchmarks.measure import Row, in_turns, ratio, seconds_text
from benchmarks.sac import SacProgram
from sacpy.jit.options import cores

PROGRAM = Path(__file__).resolve().parent / "dealing.sac"
LIMIT = 1.1
SHORTEST = 0.02  # seconds of a repetition
REST = 0.003  # seconds in which threads come to rest before another way is measured
SIZES: dict[str, dict[int, int]] = {  # extents, and how many rounds
    "jacobi": {128: 1000, 192: 500, 256: 300, 384: 100},
    "shortest_paths": {128: 128, 192: 192, 256: 256, 384: 384, 512: 512},
    "elimination": {128: 128, 192: 192, 256: 256, 384: 384},
    "life": {128: 500, 256: 200, 512: 50},
    "power_method": {128: 1000, 256: 300, 512: 100},
    "wave": {10000: 1000, 20000: 1000, 40000: 500},
    "bodies": {64: 1000, 128: 300, 256: 100},
    "two_loops": {20000: 500, 40000: 500, 60000: 300, 80000: 300},
    "heat": {16: 2000, 24: 1000, 32: 500, 48: 200},
}
"""From too little work to deal out to plainly enough."""


def measure(repetitions: int, sizes: dict[str, dict[int, int]] = SIZES) -> list[Row]:
    """Rows for all loops and extents."""
    spread, alone = (SacProgram.from_file(PROGRAM, "cpu", threads=n) for n in (cores(), 1))
    rows = []
    for name, extents in sizes.items():
        for n, rounds in extents.items():
            ways = {"all": _run(spread, name, n, rounds), "one": _run(alone, name, n, rounds)}
            assert ways["all"]() == ways["one"]()
            found = in_turns(ways, repetitions, SHORTEST, REST)
            row = ratio(f"{name}, {n}: {cores()} threads / one", found["all"], found["one"], LIMIT)
            rows.append(replace(row, note=f"a round on one takes {seconds_text(found['one'].median / rounds)}"))
    return rows


def _run(program: SacProgram, name: str, n: int, rounds: int) -> Callable[[], object]:
    return lambda: program.function(name)(n, rounds)
