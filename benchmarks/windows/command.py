"""Measures filters as they are written beside the same split by hand, in SaC and in C, and holds the ratios against
limits; the gain by the cut stands beside them.

In: names of manners, how often. Out: the report, and whether something is over its limit. Of one width, manner and size
all take turns, a burst of calls each, but for what is left whole, which takes long, and is done once. Ratios are of the
shortest calls: these last a millisecond, and whatever else the machine does adds to some of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.clib import Library, NoCompiler, library
from benchmarks.measure import Row, Timing, aligned, as_json, in_bursts, seconds_text, table
from benchmarks.sac import SacProgram

HERE = Path(__file__).resolve().parent
_AT = {"clamped": "nearest", "constant": "outside", "wrapped": "around", "reflected": "mirrored"}
MANNERS = tuple(_AT)
WIDTHS = (3, 5, 7, 9, 11, 15)
SIZES = (1024, 4096)
QUICK_WIDTHS, QUICK_SIZES = (3, 9), (256,)
BY_HAND = 1.1  # times the time of the program split by hand
C = 1.2  # times that of C split by hand
WAYS = ("as written", "by hand", "C", "whole")

Found = dict[tuple[str, int, int], dict[str, Timing]]
Filter = Callable[[np.ndarray, np.ndarray], np.ndarray]


def show(only: Sequence[str], repetitions: int, quick: bool) -> tuple[dict[str, Any], bool]:
    """Measures the chosen manners, prints tables. Raises ValueError for a name that no manner has."""
    unknown = [name for name in only if name not in MANNERS]
    if unknown:
        raise ValueError(f"there is no manner {unknown[0]}; there are {', '.join(MANNERS)}")
    found: Found = {}
    for width in QUICK_WIDTHS if quick else WIDTHS:
        filters = {manner: ways(width, manner) for manner in only or MANNERS}
        for size in QUICK_SIZES if quick else SIZES:
            rng = np.random.default_rng(width)
            picture, weights = rng.random((size, size), np.float32), rng.random((width, width), np.float32)
            for manner, by_way in filters.items():
                found[manner, width, size] = measured(by_way, picture, weights, repetitions)
            print(_table(width, size, {m: found[m, width, size] for m in filters}), flush=True)
    judged = limits(found)
    print(table("\nlimits, by the shortest repetitions", judged))
    seconds = {
        f"{manner} {width} {size}": {way: t.seconds for way, t in by_way.items()}
        for (manner, width, size), by_way in found.items()
    }
    return {"seconds": seconds, "limits": [as_json(row) for row in judged]}, any(
        row.verdict == "OVER" for row in judged
    )


def ways(width: int, manner: str) -> dict[str, Filter]:
    """By name, the ways to filter; C only where there is a compiler."""
    text = f"#define WIDTH {width}\n" + (HERE / "windows.sac").read_text(encoding="utf-8")
    program = SacProgram.from_text(text, "cpu")
    found: dict[str, Filter] = {
        "as written": program.function(manner),
        "by hand": program.function(f"{manner}_by_hand"),
        "whole": SacProgram.from_text(text, "cpu", split_borders=False).function(manner),
    }
    with suppress(NoCompiler):
        defined = (f"-DMANNER={manner}", f"-DAT={_AT[manner]}", f"-DWIDTH={width}")
        found["C"] = _in_c(library(HERE / "windows.c", *defined), f"{manner}_{width}")
    return found


def _in_c(peer: Library, name: str) -> Filter:
    function = getattr(peer, name)

    def call(picture: np.ndarray, weights: np.ndarray) -> np.ndarray:
        out = np.empty_like(picture)
        function(out, picture, weights, *picture.shape)
        return out

    return call


def measured(
    by_way: dict[str, Filter], picture: np.ndarray, weights: np.ndarray, repetitions: int
) -> dict[str, Timing]:
    """The seconds of each way, once all have given the same but for rounding."""
    expected = by_way["by hand"](picture, weights)
    for way, function in by_way.items():
        assert np.allclose(function(picture, weights), expected, rtol=1e-4, atol=1e-4), way
    actions = {way: lambda f=function: f(picture, weights) for way, function in by_way.items()}  # type: ignore[misc]
    found = in_bursts({way: a for way, a in actions.items() if way != "whole"}, repetitions)
    start = time.perf_counter()
    actions["whole"]()
    return {**found, "whole": Timing((time.perf_counter() - start,))}


def limits(found: Found) -> list[Row]:
    """What the filters as they are written must keep to, and what the cut gains."""
    rows = []
    for (manner, width, size), by_way in found.items():
        name = f"{manner}, {width} x {width}, {size}^2"
        for peer, limit in (("by hand", BY_HAND), ("C", C), ("whole", None)):
            if peer in by_way:
                rows.append(_shortest(f"{name}: over {peer}", by_way["as written"], by_way[peer], limit))
    return rows


def _shortest(name: str, ours: Timing, peer: Timing, limit: float | None) -> Row:
    mine, other = min(ours.seconds), min(peer.seconds)
    note = f"{seconds_text(mine)} against {seconds_text(other)}"
    return Row(name, mine / other, "x", mine / max(peer.seconds), max(ours.seconds) / other, limit, note)


def _table(width: int, size: int, timings: dict[str, dict[str, Timing]]) -> str:
    cells = [(f"{width} x {width}, {size}^2 floats", *WAYS, "whole over as written")]
    for manner, by_way in timings.items():
        shortest = {way: min(t.seconds) for way, t in by_way.items()}
        texts = [seconds_text(shortest[way]) if way in shortest else "" for way in WAYS]
        cells.append((manner, *texts, f"{shortest['whole'] / shortest['as written']:.1f}"))
    return aligned("", cells)
