"""Measures the four manners of Needleman and Wunsch's table beside blocks in C, in turns, and holds the ratios of the
shortest repetitions against a limit.

In: names of manners, how often. Out: the report, and whether something is over its limit. The limit is for C on one
thread, where ours has one, and where it has as many as there are: two of the manners say in which order blocks are
made, so that no two of them may be made at once. How long C takes on as many threads is a remark.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.clib import library
from benchmarks.measure import Row, as_json, in_turns, seconds_text, table
from benchmarks.sac import SacProgram
from benchmarks.suite import FOLDER, Benchmark
from sacpy.jit.options import cores

C = 1.3  # times the time of blocks in C
SIDE = 64
EXTENTS = {False: 4097, True: 513}  # of a run, of a quick one
AT_LEAST = 0.05  # seconds of a repetition
HERE = FOLDER.parent / "alignment"


def _table(t: Any, n: int) -> Any:
    return t[1:, 1:]


def _from_blocks(u: Any, n: int) -> Any:
    return u[1:, 1:].transpose(0, 2, 1, 3).reshape(n - 1, n - 1)


def _from_diagonals(u: Any, n: int) -> Any:
    q = np.arange(1, (n - 1) // SIDE + 1)
    return u[q[:, None] + q, q[:, None]].transpose(0, 2, 1, 3).reshape(n - 1, n - 1)


MANNERS: dict[str, Callable[[Any, int], Any]] = {
    "plain": _table,
    "written_back": _table,
    "blocks": _from_blocks,
    "skewed": _from_diagonals,
}
"""What a manner's result is as a table without its border."""


def show(only: Sequence[str], repetitions: int, quick: bool) -> tuple[dict[str, Any], bool]:
    """Measures the chosen manners, prints a table. Raises ValueError for a name that there is not."""
    unknown = [name for name in only if name not in MANNERS]
    if unknown:
        raise ValueError(f"there is no manner {unknown[0]}; there are {', '.join(MANNERS)}")
    rows = []
    for threads in (1, 0):
        rows += measured(only or tuple(MANNERS), threads, EXTENTS[quick], repetitions)
    title = f"\nalignment of {EXTENTS[quick]} letters, over blocks in C on one thread, by the shortest repetitions"
    print(table(title, rows))
    return {"limits": [as_json(row) for row in rows]}, any(row.verdict == "OVER" for row in rows)


def measured(names: Sequence[str], threads: int, n: int, repetitions: int) -> list[Row]:
    """A row for each manner, on so many threads, 0 for as many as there are. Raises AssertionError where one's table
    is another than C's."""
    suite = Benchmark("needleman_wunsch")
    (s,) = suite.inputs(n)
    peer = suite.version("c")
    functions = versions(names, threads)
    wanted = peer(s)[1:, 1:]
    for name, f in functions.items():
        assert np.array_equal(MANNERS[name](f(s), n), wanted), name
    ways: dict[str, Callable[[], Any]] = {name: partial(f, s) for name, f in functions.items()}
    set_threads = library(suite.folder / "needleman_wunsch.c").omp_set_num_threads
    many = cores()

    def in_c(count: int) -> Any:
        set_threads(count)
        return peer(s)

    ways["C"] = partial(in_c, 1)
    ways["C, all threads"] = partial(in_c, many)
    found = {way: min(t.seconds) for way, t in in_turns(ways, repetitions, AT_LEAST).items()}
    rows = []
    for name in names:
        mine, one, every = found[name], found["C"], found["C, all threads"]
        note = f"{seconds_text(mine)} against {seconds_text(one)}"
        if not threads:
            note += f"; {mine / every:.2f} of C on {many} threads"
        label = f"{name}{', one thread' if threads else ''}"
        rows.append(Row(label, mine / one, "x", mine / one, mine / one, C, note))
    return rows


def versions(names: Sequence[str], threads: int = 0, target: str = "cpu") -> dict[str, Callable[..., Any]]:
    """The manners as functions of how alike letters are."""
    choices = {"threads": threads} if threads else {}
    program = SacProgram.from_file(HERE / "alignment.sac", target, **choices)
    return {name: program.function(name) for name in names}
