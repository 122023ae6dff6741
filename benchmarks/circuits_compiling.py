"""What array short-circuiting adds to compiling: every function of every program of the repository, with and without.

In: how often. Out: the report: seconds of specialising, of passes with writing, and of LLVM, both ways, in processor
time of this process, which other work on the machine changes little; and the sum with over that without, with a limit.
Functions are compiled for the extents that they declare; what is not compiled is left out.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import suppress
from time import process_time
from typing import Any, TypeVar

from benchmarks.first.cases import ROOT
from benchmarks.measure import Row, aligned, as_json, seconds_text, table
from sacpy.jit.failures import Unsupported
from sacpy.jit.ir.graph import Unit
from sacpy.jit.options import Options
from sacpy.jit.reports.stages import versions
from sacpy.jit.run.compiler import Clock, optimised, specialised
from sacpy.jit.run.regions import Regions
from sacpy.jit.specialise import Specialiser
from sacpy.lang.diagnostics import SacError
from sacpy.workspace import Workspace

LIMIT = 1.10
PLACES = ("programs", "benchmarks/suite", "benchmarks/first")
T = TypeVar("T")
STAGES = ("specialising", "passes, writing", "LLVM")


def show(repetitions: int, quick: bool) -> tuple[dict[str, Any], bool]:
    """Compiles all programs, a fifth of them if `quick`, and prints a table."""
    files = sorted(f for place in PLACES for f in (ROOT / place).rglob("*.sac"))[:: 5 if quick else 1]
    sums = {on: dict.fromkeys(STAGES, 0.0) for on in (True, False)}
    farthest: list[tuple[float, str]] = []
    count = 0
    for file in files:
        before = {on: sum(s.values()) for on, s in sums.items()}
        for plain in _graphs(file, sums):
            count += 1
            for on, seconds in _both(plain, repetitions).items():
                for stage, taken in zip(STAGES[1:], seconds):
                    sums[on][stage] += taken
        added = {on: sum(s.values()) - before[on] for on, s in sums.items()}
        if added[False] > 0.02:
            farthest.append((added[True] / added[False], str(file.relative_to(ROOT))))
    totals = {on: sum(s.values()) for on, s in sums.items()}
    cells = [("", "with", "without", "with / without")]
    for stage in STAGES:
        with_, without = sums[True][stage], sums[False][stage]
        cells.append((stage, seconds_text(with_), seconds_text(without), f"{with_ / without:.3f}"))
    print(aligned(f"\ncompiling {count} functions of {len(files)} programs", cells))
    farthest.sort(reverse=True)
    print("farthest: " + ", ".join(f"{name} {ratio:.2f}" for ratio, name in farthest[:5]))
    ratio = totals[True] / totals[False]
    row = Row("compiling with circuits", ratio, "x", farthest[-1][0], farthest[0][0], LIMIT)
    print(table("\nlimits", [row]))
    return {"seconds": {str(on): s for on, s in sums.items()}, "limits": [as_json(row)]}, row.verdict == "OVER"


def _graphs(file: Any, sums: dict[bool, dict[str, float]]) -> Iterator[Unit]:
    """The functions of a program, specialised, which takes the same both ways."""
    with suppress(SacError):
        program = Workspace().load(file)[0]
        regions = Regions(program)
        specialiser = Specialiser(regions)
        for key, kind in versions(program, regions, "", ()):
            with suppress(Unsupported):
                start = process_time()
                plain = specialised(specialiser, regions, key, kind, Options(), Clock())
                for s in sums.values():
                    s["specialising"] += process_time() - start
                yield plain


def _both(plain: Unit, repetitions: int) -> dict[bool, tuple[float, float]]:
    """The seconds of passes and writing, and of LLVM, with circuits and without: the least of all repetitions, one of
    each by turns."""
    from sacpy.jit.host.lowering import lower
    from sacpy.jit.host.translate import Task, translated

    first: dict[bool, list[float]] = {True: [], False: []}
    texts: dict[bool, str] = {}
    gc.disable()
    try:
        for _ in range(repetitions):
            for on, times in first.items():
                options = Options(short_circuit=on)
                seconds, texts[on] = _timed(lambda o=options: lower(optimised(plain, o, Clock()), o))  # type: ignore[misc]
                times.append(seconds)
        if texts[True] == texts[False]:
            code = min(_timed(lambda: translated(Task(texts[True], 3, False)))[0] for _ in range(repetitions))
            return {on: (min(times), code) for on, times in first.items()}
        llvm: dict[bool, list[float]] = {True: [], False: []}
        for _ in range(repetitions):
            for on in llvm:
                llvm[on].append(_timed(lambda t=texts[on]: translated(Task(t, 3, False)))[0])  # type: ignore[misc]
        return {on: (min(times), min(llvm[on])) for on, times in first.items()}
    finally:
        gc.enable()


def _timed(action: Callable[[], T]) -> tuple[float, T]:
    start = process_time()
    found = action()
    return process_time() - start, found
