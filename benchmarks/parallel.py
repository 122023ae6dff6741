"""Scans, reductions by index, sorts, segments and selections beside NumPy, SciPy (where it is installed, else a loop in
C) and one another.

In: how often. Out: rows with limits: our time as a multiple of a peer's, all in one process, by turns.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.clib import NoCompiler, library
from benchmarks.measure import Row, in_turns, ratio
from benchmarks.sac import SacProgram

HERE = Path(__file__).resolve().parent
SORTED = (1 << 20, 1 << 24)
LENGTH = 10**7
BINS = 256
Action = Callable[[], object]


def measure(repetitions: int) -> list[Row]:
    """All rows; sorts of the larger vectors at most three times."""
    program = SacProgram.from_file(HERE / "parallel.sac", "cpu")
    rows = []
    for n in SORTED:
        rows += sorts(program, n, repetitions if n < SORTED[-1] else min(repetitions, 3))
    return [*rows, *scans(program, repetitions), *by_index(program, repetitions), *chosen(program, repetitions)]


def _rows(actions: dict[str, Action], pairs: list[tuple[str, str, str, float | None]], repetitions: int) -> list[Row]:
    """A row for each pair of actions: its name, which, beside which, and the limit."""
    found = in_turns(actions, repetitions)
    return [ratio(name, found[ours], found[peer], limit) for name, ours, peer, limit in pairs]


def sorts(program: SacProgram, n: int, repetitions: int) -> list[Row]:
    """Sorts of n ints and of n doubles."""
    rng = np.random.default_rng(1)
    rows: list[Row] = []
    for kind, v in (("ints", rng.integers(-(2**31), 2**31, n).astype(np.int32)), ("doubles", rng.standard_normal(n))):
        sort, argsort = program.function(f"sort_{kind}"), program.function(f"argsort_{kind}")
        actions: dict[str, Action] = {
            "sort": lambda f=sort, v=v: f(v),
            "argsort": lambda f=argsort, v=v: f(v),
            "np.sort": lambda v=v: np.sort(v),
            "stable": lambda v=v: np.sort(v, kind="stable"),
            "np.argsort": lambda v=v: np.argsort(v),
            "stable argsort": lambda v=v: np.argsort(v, kind="stable"),
        }
        size = f"2^{n.bit_length() - 1} {kind}"
        pairs: list[tuple[str, str, str, float | None]] = [
            (f"sort of {size} / np.sort", "sort", "np.sort", 0.7),
            (f"sort of {size} / stable", "sort", "stable", 0.3),
            (f"argsort of {size} / np.argsort", "argsort", "np.argsort", 0.3),
            (f"argsort of {size} / stable", "argsort", "stable argsort", 0.3),
        ]
        rows += _rows(actions, pairs, repetitions)
    return [*rows, *by_function(program, rng.standard_normal(n), repetitions)]


def by_function(program: SacProgram, v: Any, repetitions: int) -> list[Row]:
    """Sorts of doubles by a function that compares two, beside the same in C on one thread, and NumPy's order of
    keys."""
    size = f"2^{len(v).bit_length() - 1}"
    actions: dict[str, Action] = {
        "sort": lambda: program.function("sort_nearer")(v),
        "argsort": lambda: program.function("argsort_nearer")(v),
        "np.argsort": lambda: np.argsort(np.abs(v), kind="stable"),
    }
    pairs: list[tuple[str, str, str, float | None]] = [
        (f"argsort of {size} doubles by a function / stable", "argsort", "np.argsort", 1.0)
    ]
    try:
        peer, room = library(HERE / "parallel.c").sort_nearer, np.empty_like(v)
    except NoCompiler:
        pass
    else:
        actions["C"] = lambda: peer(v.copy(), room, len(v))
        pairs.append((f"sort of {size} doubles by a function / C", "sort", "C", 0.9))
    return _rows(actions, pairs, repetitions)


def scans(program: SacProgram, repetitions: int) -> list[Row]:
    """Scans of 10^7 doubles: sums beside NumPy's, others beside our sums. A sum moves 16 bytes an element, one by flags
    17, a scan of affine maps 24, since it reads two vectors: its limit is half as much again, and it stands beside
    the sums of half as many values, too, which move as many bytes."""
    rng = np.random.default_rng(2)
    v, flags = rng.standard_normal(LENGTH), rng.random(LENGTH) < 0.001
    factors, plane = rng.uniform(-1.0, 1.0, LENGTH), v.reshape(2500, 4000)
    longer, rates = np.resize(v, LENGTH * 3 // 2), v * 1e-9
    f = program.function
    actions: dict[str, Action] = {
        "sums": lambda: f("sums")(v),
        "np.cumsum": lambda: np.cumsum(v),
        "before": lambda: f("sums_before")(v),
        "down": lambda: f("sums_down")(v),
        "flags": lambda: f("sums_by_flags")(flags, v),
        "largest": lambda: f("largest")(v),
        "function": lambda: f("returns")(rates),
        "maps": lambda: f("maps")(factors, v),
        "longer": lambda: f("sums")(longer),
        "columns": lambda: f("sums_down_columns")(plane),
        "np columns": lambda: np.cumsum(plane, 0),
        "along": lambda: f("sums_along_rows")(plane),
        "np along": lambda: np.cumsum(plane, 1),
    }
    return _rows(
        actions,
        [
            ("cumsum / np.cumsum", "sums", "np.cumsum", 0.6),
            ("exclusive scan / cumsum", "before", "sums", 1.2),
            ("scan from the end / cumsum", "down", "sums", 1.2),
            ("scan by flags / cumsum", "flags", "sums", 1.2),
            ("largest so far / cumsum", "largest", "sums", 1.2),
            ("scan by a function / cumsum", "function", "sums", 1.2),
            ("scan of affine maps / cumsum", "maps", "sums", 1.2 * 24 / 16),
            ("scan of affine maps / cumsum of as many bytes", "maps", "longer", 1.2),
            ("cumsum down columns / np.cumsum", "columns", "np columns", 0.6),
            ("cumsum along rows / np.cumsum", "along", "np along", 0.6),
        ],
        repetitions,
    )


def by_index(program: SacProgram, repetitions: int) -> list[Row]:
    """Reductions of 10^7 values by index, and rows of a matrix in compressed form."""
    rng = np.random.default_rng(3)
    k, w = rng.integers(0, BINS, LENGTH).astype(np.int32), rng.random(LENGTH)
    values = rng.integers(0, 1000, LENGTH).astype(np.int32)
    f = program.function
    n = 1 << 20
    offsets = np.sort(rng.integers(0, 8 * n, n + 1)).astype(np.int32)
    columns, x = rng.integers(0, n, 8 * n).astype(np.int32), rng.random(n)
    entries = rng.random(8 * n)
    offsets[0], offsets[-1] = 0, 8 * n
    peer, product = _product(offsets, columns, entries, x)
    actions: dict[str, Action] = {
        "counts": lambda: f("counts")(BINS, k),
        "np.bincount": lambda: np.bincount(k, minlength=BINS),
        "weights": lambda: f("weights")(BINS, k, w),
        "weighted": lambda: np.bincount(k, w, minlength=BINS),
        "most": lambda: f("most")(BINS, k, values),
        "rows": lambda: f("rows")(offsets, columns, entries, x),
        "product": product,
    }
    return _rows(
        actions,
        [
            (f"bincount, {BINS} / np.bincount", "counts", "np.bincount", 0.15),
            ("with weights / np.bincount", "weights", "weighted", 0.3),
            ("largest by index / np.bincount", "most", "np.bincount", 0.3),
            (f"spmv / {peer}", "rows", "product", 1.1),
        ],
        repetitions,
    )


def _product(offsets: Any, columns: Any, entries: Any, x: Any) -> tuple[str, Action]:
    """Who multiplies a matrix in compressed rows by a vector, and how."""
    n = len(offsets) - 1
    try:
        matrix = import_module("scipy.sparse").csr_matrix((entries, columns, offsets), shape=(n, len(x)))
        return "SciPy", lambda: matrix @ x
    except ImportError:
        pass
    y = np.zeros(n)
    try:
        loop = library(HERE / "parallel.c").spmv
        return "C", lambda: loop(offsets, columns, entries, x, y, n)
    except NoCompiler:
        return "np.add.reduceat", lambda: np.add.reduceat(entries * x[columns], offsets[:-1])


def chosen(program: SacProgram, repetitions: int) -> list[Row]:
    """Selections of 10^7 elements."""
    rng = np.random.default_rng(4)
    v = rng.standard_normal(LENGTH)
    half, few = v > 0, v > 3.0
    k = rng.integers(0, 1 << 20, LENGTH // 10).astype(np.int32)
    f = program.function
    actions: dict[str, Action] = {
        "half": lambda: f("chosen")(half, v),
        "np half": lambda: v[half],
        "few": lambda: f("chosen")(few, v),
        "np few": lambda: v[few],
        "distinct": lambda: f("distinct")(k),
        "np.unique": lambda: np.unique(k),
    }
    return _rows(
        actions,
        [
            ("filter, half / NumPy", "half", "np half", 1.0),
            ("filter, 1 in 1000 / NumPy", "few", "np few", 1.0),
            ("unique / np.unique", "distinct", "np.unique", 1.0),
        ],
        repetitions,
    )
