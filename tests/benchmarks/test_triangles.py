"""Products of packed triangles beside peers: all ways agree, and each is measured."""

from __future__ import annotations

from benchmarks.triangles import _rows, measure


def test_small_triangles() -> None:
    rows = measure(1, (40,))
    assert all(row.name.startswith("n = 40: ") and row.value > 0 for row in rows)
    assert rows[-1].verdict == "ok", "memory is half"


def test_nothing_need_be_faster_than_reading() -> None:
    found = {"sacpy": 1.0, "best C": 1.0, "reading": 0.9, "trmv": 1.0, "tpmv": 2.0}
    limits = {row.name: (row.limit, row.verdict) for row in _rows(9, found)}
    assert limits["n = 9: beside trmv, full storage"] == (1.1 * 0.9, "OVER")
    slower = {row.name: row.limit for row in _rows(9, {**found, "trmv": 4.0})}
    assert slower["n = 9: beside trmv, full storage"] == 0.6
