"""Filters with windows: all ways agree, and the limits are judged."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.measure import Timing
from benchmarks.windows.command import MANNERS, limits, show, ways


@pytest.mark.parametrize("manner", ["clamped", *(pytest.param(m, marks=pytest.mark.long) for m in MANNERS[1:])])
def test_all_ways_agree(manner: str) -> None:
    rng = np.random.default_rng(2)
    picture, weights = rng.random((20, 33), np.float32), rng.random((3, 3), np.float32)
    found = {way: np.asarray(f(picture, weights)) for way, f in ways(3, manner).items()}
    for way, result in found.items():
        assert np.allclose(result, found["by hand"], rtol=1e-5), way


def test_what_is_too_slow_is_over_its_limit() -> None:
    timings = {"as written": Timing((2.0, 1.15)), "by hand": Timing((1.0, 9.0)), "C": Timing((1.0, 1.0))}
    rows = limits({("clamped", 3, 1024): timings})
    assert [(r.value, r.verdict) for r in rows] == [(1.15, "OVER"), (1.15, "ok")]


def test_there_are_only_these_manners() -> None:
    with pytest.raises(ValueError, match="there is no manner odd; there are clamped"):
        show(["odd"], 1, True)
