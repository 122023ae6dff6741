"""Products of packed triangles beside peers: all ways agree, and each is measured."""

from __future__ import annotations

from benchmarks.triangles import measure


def test_small_triangles() -> None:
    rows = measure(1, (40,))
    assert all(row.name.startswith("n = 40: beside ") and row.value > 0 for row in rows)
