"""Loops of short rounds on all threads and on one."""

from benchmarks.dealing import SIZES, measure


def test_small_sizes() -> None:
    rows = measure(1, {name: {5: 3} for name in SIZES})
    assert [row.name.partition(",")[0] for row in rows] == list(SIZES)
    assert all(row.unit == "x" and row.low > 0 for row in rows)
