"""Products of a packed triangle and a vector beside C on the same elements, and beside BLAS, on full storage (`trmv`)
and packed (`tpmv`): that of the OpenBLAS that NumPy brings along, where it does.

In: how often. Out: rows with limits. Each way runs several times in a row, so that it finds the elements in the caches
as it left them; the shortest of these counts, since most ways wait for all their threads, of which something else may
keep one from running. All of them read at least the n (n + 1) / 2 elements; what that takes alone stands beside: none
can be faster, so the limit beside `trmv`, which reads twice as much memory, is no less than that.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sacpy
from benchmarks.clib import NoCompiler, library
from benchmarks.measure import Row, aligned, in_bursts, seconds_text

SIZES = (512, 1024, 2048, 4096, 8192, 16384)
C, BLAS = 1.1, 0.6
READING = 1.1  # times what reading the elements takes: where that is more than `BLAS`, the limit beside `trmv`
ENDS = 12000  # n up to which OpenBLAS's `tpmv` ends on several threads; beyond, it has one
WARM = 2.0  # seconds in which calls become direct ones
PROGRAM = """
use Array: all;
double[n] trmv(double[i<n, i+1] a, double[n] x) { return { [i] -> sum(a[i] * take([i+1], x)) | [i] < [n] }; }
"""
_ROW_MAJOR, _LOWER, _PLAIN, _ANY_DIAGONAL = 101, 122, 111, 131
Action = Callable[[], object]


def measure(repetitions: int, sizes: tuple[int, ...] = SIZES) -> list[Row]:
    """Rows for all sizes; a table of seconds is printed for each."""
    function = sacpy.Session(target="cpu").compile(PROGRAM).trmv
    rows: list[Row] = []
    for n in sizes:
        rng = np.random.default_rng(n)
        elements, x = rng.random(n * (n + 1) // 2), rng.random(n)
        full = _full(elements, n)
        packed = sacpy.packed("double[i<n, i+1]", elements, n=n)
        by_way = {"sacpy": lambda: function(packed, x), **_in_c(elements, x), **_in_blas(full, elements, x)}  # noqa: B023
        assert np.allclose(_warm(lambda: function(packed, x)), full @ x)  # noqa: B023
        found = {way: min(t.seconds) for way, t in in_bursts(by_way, repetitions).items()}
        found["best C"] = min((found[w] for w in ("C", "C by four rows") if w in found), default=0.0)
        print(_table(n, found), flush=True)
        rows += _rows(n, found)
        bytes_ = f"{packed.data.nbytes / 1e6:.3g} MB against {full.nbytes / 1e6:.3g} MB"
        value = packed.data.nbytes / full.nbytes
        rows.append(Row(f"n = {n}: bytes beside full storage", value, "x", value, value, (n + 1) / (2 * n), bytes_))
    return rows


def _full(elements: np.ndarray, n: int) -> np.ndarray:
    """All of the matrix, row by row: of a large one there is no room for more than one."""
    full = np.zeros((n, n))
    for i in range(n):
        full[i, : i + 1] = elements[i * (i + 1) // 2 : (i + 1) * (i + 2) // 2]
    return full


def _warm(action: Callable[[], Any]) -> Any:
    """What an action gives in the end, once it goes directly to compiled code."""
    start = time.perf_counter()
    for number in range(400):
        result = action()
        if number >= 20 and time.perf_counter() - start > WARM:
            break
    return result


def _rows(n: int, found: dict[str, float]) -> list[Row]:
    """Our time over those of the others. Beside `trmv` the limit is what can be: nothing that reads all elements takes
    less time than reading them does, and at most sizes that alone is more than `BLAS` of what `trmv` takes."""
    reading = found.get("reading", 0.0)
    rows = []
    for name, peer, limit in (
        ("C", "best C", C),
        ("reading the elements", "reading", None),
        ("trmv, full storage", "trmv", BLAS),
        ("tpmv, packed", "tpmv", 1.0),
    ):
        if found.get(peer):
            value = found["sacpy"] / found[peer]
            note = f"{seconds_text(found['sacpy'])} against {seconds_text(found[peer])}"
            if peer == "trmv" and reading:
                limit = max(BLAS, READING * reading / found[peer])
                note += f"; reading alone is {reading / found[peer]:.2f} of it"
            rows.append(Row(f"n = {n}: beside {name}", value, "x", value, value, limit, note))
    return rows


def _table(n: int, found: dict[str, float]) -> str:
    """The seconds of each way, and what reading the elements is of them."""
    cells = [(f"n = {n}", "seconds", "reading alone is of it")]
    for way, seconds in found.items():
        if way != "best C":
            share = f"{found['reading'] / seconds:.2f}" if "reading" in found else ""
            cells.append((way, seconds_text(seconds), share))
    return aligned("", cells)


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
    threads = blas.scipy_openblas_get_num_threads64_()
    y, one, n = x.copy(), ctypes.c_int64(1), ctypes.c_int64(len(x))
    to_full, to_elements, to_y = (ctypes.c_void_p(a.ctypes.data) for a in (full, elements, y))

    def trmv() -> None:
        y[:] = x
        blas.scipy_cblas_dtrmv64_(_ROW_MAJOR, _LOWER, _PLAIN, _ANY_DIAGONAL, n, to_full, n, to_y, one)

    def tpmv() -> None:
        y[:] = x
        if len(x) > ENDS:
            blas.scipy_openblas_set_num_threads64_(1)
        blas.scipy_cblas_dtpmv64_(_ROW_MAJOR, _LOWER, _PLAIN, _ANY_DIAGONAL, n, to_elements, to_y, one)
        blas.scipy_openblas_set_num_threads64_(threads)

    for way in (trmv, tpmv):
        way()
        assert np.allclose(y, full @ x)
    return {"trmv": trmv, "tpmv": tpmv}
