"""Arrays that get longer: all ways of a function agree, and the exponent is told."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.append import lists
from benchmarks.append.command import FUNCTIONS, HERE, exponent, limits
from benchmarks.clib import NoCompiler, library
from benchmarks.measure import Timing
from benchmarks.sac import TARGETS, SacProgram


@pytest.mark.parametrize("target", TARGETS)
def test_functions_agree_with_those_on_lists(target: str) -> None:
    program = SacProgram.from_file(HERE / "append.sac", target)
    for name in FUNCTIONS:
        for n in (0, 1, 37, 1200):
            assert np.array_equal(
                np.asarray(program.function(name)(n)).ravel(), np.asarray(getattr(lists, name)(n)).ravel()
            ), name


def test_functions_agree_with_those_on_vectors() -> None:
    try:
        peer = library(HERE / "append.cpp")
    except NoCompiler:
        pytest.skip("there is no gcc here")
    last = np.zeros(1, np.int32)
    for name in ("push", "unshift", "pieces", "filtered", "queue"):
        getattr(peer, name)(1200, last)
        assert last[0] == list(getattr(lists, name)(1200))[-1], name


def test_a_quadratic_way_is_over_its_limit() -> None:
    timings = {n: {t: Timing((n * n * 1e-9 if t == "cpu" else n * 1e-6,)) for t in TARGETS} for n in (1000, 10_000)}
    assert exponent(timings, "cpu") == pytest.approx(2.0)
    assert [row.verdict for row in limits("push", timings)] == ["ok", "ok", "OVER"]
