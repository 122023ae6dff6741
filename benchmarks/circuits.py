"""What array short-circuiting gains: programs of the suite with and without it, beside what Munksgaard's thesis (2023)
found for its seven on a GPU, and with the seconds of C.

In: names of programs, how often. Out: the report. Nothing has a limit here; but both ways must give the same. Where
both are the same code, since folding has left nothing to copy, that is said in the place of a ratio.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from benchmarks.clib import NoCompiler
from benchmarks.measure import Timing, aligned, in_turns, seconds_text
from benchmarks.sac import SacProgram
from benchmarks.suite import Benchmark

THESIS = {
    "needleman_wunsch": "1.13 to 1.31",
    "lu_blocks": "1.19 to 1.39",
    "hotspot": "1.78 to 2.05",
    "lattice_boltzmann": "1.09 to 1.60",
    "option_pricing": "1.03 to 1.21",
    "local_volatility": "1.04 to 1.12",
    "neighbours": "1.05 to 1.55",
}
"""Of an A100 and an MI100, chapter 6: the time without over the time with."""
AT_LEAST = 0.05  # seconds of a repetition


def show(only: Sequence[str], repetitions: int, quick: bool) -> tuple[dict[str, Any], bool]:
    """Measures the chosen programs at both larger sizes, and prints a table. Raises ValueError for a name that no
    program has."""
    unknown = [name for name in only if name not in THESIS]
    if unknown:
        raise ValueError(f"there is no program {unknown[0]} here; there are {', '.join(THESIS)}")
    sizes = ("small",) if quick else ("cached", "large")
    found = {(name, size): measured(name, size, repetitions) for name in only or THESIS for size in sizes}
    cells = [("", "with", "without", "without / with", "thesis", "with / C")]
    for (name, size), (by_way, same) in found.items():
        without, with_, peer = (_shortest(by_way, way) for way in ("without", "with", "C"))
        over = "" if peer is None else f"{with_ / peer:.2f}"
        cells.append(
            (
                f"{name}, {size}",
                seconds_text(with_),
                seconds_text(without),
                "same code" if same else f"{without / with_:.2f}",
                THESIS[name],
                over,
            )
        )
    print(aligned("\nshort-circuiting, by the shortest repetitions", cells))
    seconds = {
        f"{name} {size}": {way: t.seconds for way, t in by_way.items()} for (name, size), (by_way, _) in found.items()
    }
    return {"seconds": seconds}, False


def _shortest(by_way: dict[str, Timing], way: str) -> Any:
    return min(by_way[way].seconds) if way in by_way else None


def measured(name: str, size: str, repetitions: int) -> tuple[dict[str, Timing], bool]:
    """The seconds of each way, C only where there is a compiler; and whether both ways are the same code."""
    benchmark = Benchmark(name)
    inputs = benchmark.inputs(benchmark.size(size))
    programs = {
        way: SacProgram.from_file(benchmark.folder / f"{name}.sac", "cpu", short_circuit=on)
        for way, on in (("with", True), ("without", False))
    }
    ways: dict[str, Callable[..., Any]] = {way: program.function("run") for way, program in programs.items()}
    results = [f(*inputs) for f in ways.values()]
    for one, other in zip(*(r if isinstance(r, tuple) else (r,) for r in results), strict=True):
        assert np.array_equal(one, other), f"{name} differs with and without short-circuiting"
    same = len({program.code() for program in programs.values()}) == 1
    with suppress(NoCompiler):
        ways["C"] = benchmark.version("c")
    return in_turns({way: partial(f, *inputs) for way, f in ways.items()}, repetitions, AT_LEAST), same
