"""One barrier, guard or bound of a kernel is left out: the interpreter of PTX finds it."""

from __future__ import annotations

import pytest

from tests.ptx.removals import FUNCTIONS, removals

SAMPLE = ("map", "rows")
PRODUCTS = tuple(name for name in FUNCTIONS if name.startswith("product"))  # clamps of indices hang on extents there
TILES = ("stencil in shared memory", "turned")  # guards of a tile's first elements, too
MOST = {"map": 1, "rows": 4}  # removals that there are at least


@pytest.mark.parametrize(
    ("name", "front"),
    [
        pytest.param(name, front, marks=() if name in SAMPLE and front == "nvptx" else pytest.mark.long)
        for name in FUNCTIONS
        for front in ("nvptx", "libnvvm")
    ],
)
def test_what_is_left_out_is_found(name: str, front: str) -> None:
    told = removals(name, front)
    assert sum(told.found.values()) >= MOST.get(name, 1)
    kinds = [what.partition(", ")[2].partition(" ")[0] for what in told.missed]
    allowed = {"bound"} if name in PRODUCTS else {"guard"} if name in TILES else set()
    assert set(kinds) <= allowed and len(kinds) <= sum(told.found.values()), told.missed
