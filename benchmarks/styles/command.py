"""Measures each computation in SaC and in C, in turns, on one thread or as many as there are, and holds the ratios of
the shortest repetitions against a limit.

In: names of computations, how often. Out: the report, and whether something is over its limit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.clib import Library, library
from benchmarks.measure import Row, Timing, as_json, in_turns, seconds_text, table
from benchmarks.sac import SacProgram

HERE = Path(__file__).resolve().parent
C = 1.6  # times the time of C
GROUPS = 200  # of `group_means`
POINTS = 4096  # of `clusters`, in C too

Arguments = tuple[Any, ...]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Style:
    """One computation. `arguments`: for a random generator and an extent; `shape`: of the result, by that of the first
    argument; `extents`: of a run, and of a look at the result."""

    arguments: Callable[[np.random.Generator, int], Arguments]
    extents: tuple[int, int]
    shape: Callable[[Shape], Shape] = lambda s: s
    dtype: type = np.float64


def _cube(rank: int) -> Callable[[np.random.Generator, int], Arguments]:
    return lambda r, n: (r.random((n,) * rank),)


def _ints(r: np.random.Generator, n: int) -> Arguments:
    return (r.integers(0, 1 << 30, n).astype(np.int32),)


def _dominant(r: np.random.Generator, n: int) -> Arguments:
    return (r.random((n, n)) + n * np.eye(n),)


def _plane(r: np.random.Generator, n: int) -> Arguments:
    return (np.tile(np.linspace(-2, 0.5, n), (n, 1)), np.tile(np.linspace(-1.2, 1.2, n), (n, 1)).T.copy(), 50)


def _sparse(r: np.random.Generator, n: int) -> Arguments:
    """About twelve entries a row."""
    counts = r.integers(0, 25, n)
    k = int(counts.sum())
    rows = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return (r.random(n), r.random(k), r.integers(0, n, k).astype(np.int32), rows)


STYLES = {
    "halved_grids": Style(_cube(2), (512, 9)),
    "prolongation_by_axes": Style(_cube(2), (256, 9), lambda s: (2 * s[0] - 1, 2 * s[1] - 1)),
    "redblack_by_masks": Style(_cube(2), (512, 9)),
    "redblack_by_rows": Style(_cube(2), (512, 9)),
    "points27_by_distance": Style(lambda r, n: (r.random((n, n, n)), r.random(4)), (64, 6)),
    "cells_of_3": Style(lambda r, n: (r.random((n, n, 3)),), (256, 6)),
    "cells_of_16": Style(lambda r, n: (r.random((n, n, 16)),), (96, 6)),
    "pulls": Style(lambda r, n: (r.random((n, 3)), r.random(n)), (512, 9)),
    "gradient_by_padding": Style(
        lambda r, n: (r.random((n, n)), r.random((5, 5))), (256, 9), lambda s: (s[0] + 4, s[1] + 4)
    ),
    "lattice_by_planes": Style(lambda r, n: (1.0 + r.random((5, n, n)),), (256, 6)),
    "lattice_by_cells": Style(lambda r, n: (1.0 + r.random((n, n, 5)),), (256, 6)),
    "reaction_and_diffusion": Style(_cube(2), (512, 9)),
    "halo_copies": Style(_cube(2), (512, 9)),
    "merge_sort": Style(_ints, (1 << 16, 50), dtype=np.int32),
    "lomuto": Style(_ints, (1 << 16, 50), dtype=np.int32),
    "windows_in_3": Style(_cube(3), (64, 7), lambda s: tuple(e - 2 for e in s)),
    "windows_in_4": Style(_cube(4), (24, 5), lambda s: tuple(e - 1 for e in s)),
    "mandelbrot_by_arrays": Style(_plane, (256, 9), dtype=np.int32),
    "shortest_paths": Style(_cube(2), (256, 33)),
    "closure": Style(lambda r, n: (r.random((n, n)) < 1.5 / n,), (256, 33), dtype=np.bool_),
    "elimination": Style(_dominant, (256, 33)),
    "exchanged_rows": Style(_dominant, (256, 33)),
    "standard_columns": Style(_cube(2), (512, 9)),
    "moving_means": Style(lambda r, n: (r.random(n), 20), (20000, 60)),
    "towards_mean": Style(lambda r, n: (r.random(n), r.random(n), 40), (2000, 60)),
    "drawdowns": Style(lambda r, n: (r.random(n),), (20000, 60)),
    "sparse_product": Style(_sparse, (4000, 60)),
    "group_means": Style(
        lambda r, n: (r.random(n), r.integers(0, GROUPS, n).astype(np.int32), GROUPS), (20000, 60), lambda s: (GROUPS,)
    ),
    "clusters": Style(lambda r, n: (r.random((n, 8)), r.random((POINTS, 8))), (16, 5)),
}


def versions(names: Sequence[str], threads: int = 0) -> dict[str, dict[str, Callable[..., Any]]]:
    """The computations as functions of their arguments, in SaC and in C. Raises `NoCompiler`."""
    program = SacProgram.from_file(HERE / "styles.sac", "cpu", **({"threads": threads} if threads else {}))
    peer = library(HERE / "styles.c")
    return {name: {"sac": program.function(name), "c": _in_c(peer, name)} for name in names}


def _in_c(peer: Library, name: str) -> Callable[..., Any]:
    function, style = getattr(peer, name), STYLES[name]

    def call(*arguments: Any) -> Any:
        first = arguments[0]
        out: Any = np.empty(style.shape(first.shape), style.dtype)
        function(out, *arguments, *first.shape)
        return out

    return call


def show(only: Sequence[str], repetitions: int, quick: bool) -> tuple[dict[str, Any], bool]:
    """Measures the chosen computations, prints a table. Raises ValueError for a name that there is not."""
    unknown = [name for name in only if name not in STYLES]
    if unknown:
        raise ValueError(f"there is no style {unknown[0]}; there are {', '.join(STYLES)}")
    rows = []
    for threads in (1,) if quick else (1, 0):
        for name, both in versions(only or tuple(STYLES), threads).items():
            given = STYLES[name].arguments(np.random.default_rng(1), STYLES[name].extents[0])
            agree(name, both, given)
            found = in_turns({way: lambda f=f, given=given: f(*given) for way, f in both.items()}, repetitions)  # type: ignore[misc]
            rows.append(judged(f"{name}{', one thread' if threads else ''}", found["sac"], found["c"]))
    print(table("in the manner of arrays, over C on one thread, by the shortest repetitions", rows))
    return {"limits": [as_json(row) for row in rows]}, any(row.verdict == "OVER" for row in rows)


def agree(name: str, both: dict[str, Callable[..., Any]], given: Arguments) -> None:
    """Raises AssertionError unless the two give the same, but for the order of sums."""
    found, wanted = (np.asarray(f(*given)) for f in both.values())
    assert found.shape == wanted.shape and np.allclose(found, wanted, rtol=1e-9, atol=1e-12), name


def judged(name: str, ours: Timing, peer: Timing) -> Row:
    """The ratio of the shortest repetitions."""
    mine, other = min(ours.seconds), min(peer.seconds)
    note = f"{seconds_text(mine)} against {seconds_text(other)}"
    return Row(name, mine / other, "x", mine / max(peer.seconds), max(ours.seconds) / other, C, note)
