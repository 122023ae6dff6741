"""The functions with arguments of two sizes: small ones for tests, larger ones to be timed.

In: a scale, 0 or 1. Out: for each function its arguments, the same each time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.capture import arrays, loops
from sacpy import Captured

Arguments = Callable[[np.random.Generator, int], tuple[Any, ...]]


def _sparse(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    counts = rng.integers(0, 9, n)
    begin = np.concatenate(([0], np.cumsum(counts)))
    return rng.normal(size=begin[-1]), rng.integers(0, n, begin[-1]), begin, rng.normal(size=n)


def _positive(rng: np.random.Generator, n: int) -> np.ndarray[Any, Any]:
    a = rng.normal(size=(n, n))
    return a @ a.T + n * np.eye(n)


def _viterbi(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return (np.log(rng.random(6)), np.log(rng.random((6, 6))), np.log(rng.random((6, 4))), rng.integers(0, 4, n))


# fmt: off
CASES: dict[Captured, Arguments] = {
    loops.nbody: lambda r, s: (
        r.normal(size=((5, 200)[s], 3)), np.zeros(((5, 200)[s], 3)), r.random((5, 200)[s]), 0.01, (3, 10)[s]),
    loops.mandelbrot: lambda r, s: ((7, 200)[s], (5, 150)[s], (20, 100)[s]),
    loops.julia: lambda r, s: ((7, 200)[s], (5, 150)[s], -0.4, 0.6, (20, 100)[s]),
    loops.life: lambda r, s: (r.integers(0, 2, ((5, 7), (150, 150))[s]), (3, 5)[s]),
    loops.monte_carlo_pi: lambda r, s: ((200, 1_000_000)[s], 7),
    loops.common_subsequence: lambda r, s: (r.integers(0, 4, (9, 800)[s]), r.integers(0, 4, (7, 700)[s])),
    loops.edit_distance: lambda r, s: (r.integers(0, 4, (9, 800)[s]), r.integers(0, 4, (7, 700)[s])),
    loops.knapsack: lambda r, s: (r.integers(1, 9, (6, 100)[s]), r.integers(1, 99, (6, 100)[s]), (20, 5000)[s]),
    loops.time_warp: lambda r, s: (r.normal(size=(8, 700)[s]), r.normal(size=(6, 700)[s])),
    loops.kmeans: lambda r, s: (r.normal(size=((20, 3), (5000, 4))[s]), r.normal(size=((3, 3), (8, 4))[s]), (3, 5)[s]),
    loops.convolve: lambda r, s: (r.normal(size=(12, 50_000)[s]), r.normal(size=(3, 31)[s])),
    loops.convolve2d: lambda r, s: (r.normal(size=((8, 7), (300, 300))[s]), r.normal(size=((3, 2), (5, 5))[s])),
    loops.lorenz: lambda r, s: ((5, 20_000)[s], (0.01, 0.0005)[s]),  # so short that chaos does not show rounding
    loops.newton_roots: lambda r, s: (r.random((6, 50_000)[s]) * 100.0,),
    loops.bisection: lambda r, s: (r.random((6, 5_000)[s]) * 100.0,),
    loops.sparse_product: lambda r, s: _sparse(r, (6, 50_000)[s]),
    loops.bootstrap: lambda r, s: (r.normal(size=(7, 1000)[s]), (5, 500)[s], 3),
    loops.lu: lambda r, s: (_positive(r, (5, 150)[s]),),
    loops.cholesky: lambda r, s: (_positive(r, (5, 150)[s]),),
    loops.shortest_paths: lambda r, s: (r.random(((6, 6), (120, 120))[s]),),
    loops.sieve: lambda r, s: ((50, 1_000_000)[s],),
    loops.collatz: lambda r, s: ((30, 20_000)[s],),
    loops.fibonacci: lambda r, s: ((12, 27)[s],),
    loops.lookup: lambda r, s: (np.sort(r.random((9, 50_000)[s])), r.random((7, 50_000)[s])),
    loops.insertion_sort: lambda r, s: (r.normal(size=(9, 2000)[s]),),
    loops.viterbi: lambda r, s: _viterbi(r, (8, 5000)[s]),
    arrays.blur: lambda r, s: (r.random(((6, 7), (400, 400))[s]),),
    arrays.sobel: lambda r, s: (r.random(((6, 7), (500, 500))[s]),),
    arrays.median3: lambda r, s: (r.random(((6, 7), (200, 200))[s]),),
    arrays.heat: lambda r, s: (r.random(((6, 7), (300, 300))[s]), 0.1, (3, 20)[s]),
    arrays.wave: lambda r, s: (np.sin(np.linspace(0.0, 3.0, (9, 5000)[s])), (4, 100)[s]),
    arrays.jacobi: lambda r, s: (_positive(r, (5, 200)[s]), r.random((5, 200)[s]), (3, 20)[s]),
    arrays.gauss_seidel: lambda r, s: (r.random(((6, 7), (200, 200))[s]), (3, 10)[s]),
    arrays.histogram: lambda r, s: (r.random((30, 500_000)[s]), (5, 64)[s]),
    arrays.moving_mean: lambda r, s: (r.random((12, 500_000)[s]), (3, 50)[s]),
    arrays.option_prices: lambda r, s: (90 + 20 * r.random((6, 100_000)[s]), 90 + 20 * r.random((6, 100_000)[s]),
                                        1 + r.random((6, 100_000)[s]), 0.03, 0.2),
    arrays.softmax: lambda r, s: (r.normal(size=((4, 6), (500, 500))[s]),),
    arrays.distances: lambda r, s: (r.random(((6, 3), (400, 5))[s]),),
    arrays.matrix_product: lambda r, s: (r.random(((4, 5), (150, 150))[s]), r.random(((5, 3), (150, 150))[s])),
    arrays.horner: lambda r, s: (r.normal(size=(5, 12)[s]), r.random((7, 100_000)[s])),
    arrays.fourier: lambda r, s: (r.normal(size=(8, 300)[s]),),
    arrays.simpson: lambda r, s: ((20, 500_000)[s],),
    arrays.ising: lambda r, s: (2 * r.integers(0, 2, ((5, 6), (100, 100))[s]) - 1, (2, 10)[s], 0.4, 11),
    arrays.resize: lambda r, s: (r.random(((5, 6), (200, 200))[s]), (7, 300)[s], (9, 300)[s]),
    arrays.autocorrelation: lambda r, s: (r.normal(size=(20, 20_000)[s]), (4, 50)[s]),
}
# fmt: on


def arguments(function: Captured, scale: int) -> tuple[Any, ...]:
    """The arguments of a function."""
    return CASES[function](np.random.default_rng(1), scale)
