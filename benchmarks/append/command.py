"""Measures functions whose arrays get longer at several sizes, beside Python's lists and C++'s vectors, and holds the
exponent with which the time grows against a limit.

In: names of functions, how often. Out: the report, and whether something is over its limit. All ways of one size take
turns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.append import lists
from benchmarks.clib import NoCompiler, library
from benchmarks.measure import Row, Timing, aligned, as_json, in_turns, seconds_text, table
from benchmarks.sac import TARGETS, SacProgram

HERE = Path(__file__).resolve().parent
FUNCTIONS = ("push", "unshift", "pieces", "filtered", "rows", "points", "queue")
SIZES = (10_000, 100_000, 1_000_000)
QUICK = (1_000, 10_000)
EXPONENT = 1.25  # caches are left between sizes; a quadratic one is 2
AT_LEAST = 0.02  # seconds of a repetition


def show(only: Sequence[str], repetitions: int, quick: bool) -> tuple[dict[str, Any], bool]:
    """Measures the chosen functions, prints tables. Raises ValueError for a name that no function has."""
    unknown = [name for name in only if name not in FUNCTIONS]
    if unknown:
        raise ValueError(f"there is no function {unknown[0]}; there are {', '.join(FUNCTIONS)}")
    sizes = QUICK if quick else SIZES
    ways = _ways()
    found = {
        name: {
            n: in_turns({way: _action(function, n) for way, function in ways[name].items()}, repetitions, AT_LEAST)
            for n in sizes
        }
        for name in only or FUNCTIONS
    }
    for name, timings in found.items():
        print(_table(name, timings), flush=True)
    judged = [row for name, timings in found.items() for row in limits(name, timings)]
    print(table("\nlimits", judged))
    seconds = {
        name: {str(n): {way: t.seconds for way, t in by_way.items()} for n, by_way in timings.items()}
        for name, timings in found.items()
    }
    return {"seconds": seconds, "limits": [as_json(row) for row in judged]}, any(
        row.verdict == "OVER" for row in judged
    )


def _ways() -> dict[str, dict[str, Callable[[int], object]]]:
    """By function, who computes it."""
    programs = {target: SacProgram.from_file(HERE / "append.sac", target) for target in TARGETS}
    found: dict[str, dict[str, Callable[[int], object]]] = {
        name: {target: program.function(name) for target, program in programs.items()} for name in FUNCTIONS
    }
    for name in FUNCTIONS:
        found[name]["list"] = getattr(lists, name)
    try:
        peer = library(HERE / "append.cpp")
    except NoCompiler:
        return found
    last = np.zeros(1, np.int32)
    for name in FUNCTIONS:
        found[name]["C++"] = _told(getattr(peer, name), last)
    return found


def _told(function: Callable[..., None], last: np.ndarray) -> Callable[[int], object]:
    return lambda n: function(n, last)


def _action(function: Callable[[int], object], n: int) -> Callable[[], object]:
    return lambda: function(n)


def exponent(timings: Mapping[int, Mapping[str, Timing]], way: str) -> float:
    """With which power of the size the time has grown from the last size but one to the last; the shortest repetitions
    count."""
    small, large = sorted(timings)[-2:]
    return math.log(min(timings[large][way].seconds) / min(timings[small][way].seconds)) / math.log(large / small)


def limits(name: str, timings: Mapping[int, Mapping[str, Timing]]) -> list[Row]:
    """What sacpy must keep to."""
    rows = []
    for target in TARGETS:
        power = exponent(timings, target)
        rows.append(Row(f"{name}, {target}: exponent", power, "", power, power, EXPONENT))
    return rows


def _table(name: str, timings: Mapping[int, Mapping[str, Timing]]) -> str:
    ways = list(next(iter(timings.values())))
    cells = [(name, *ways)]
    cells += [(f"{n}", *(seconds_text(by_way[way].median) for way in ways)) for n, by_way in sorted(timings.items())]
    cells.append(("exponent", *(f"{exponent(timings, way):.2f}" for way in ways)))
    return aligned("", cells)
