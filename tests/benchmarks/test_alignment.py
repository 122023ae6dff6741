"""The four manners of Needleman and Wunsch's table give what C gives."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.alignment.command import MANNERS, show, versions
from benchmarks.suite import Benchmark


@pytest.mark.parametrize("target", ["interp", pytest.param("cpu", marks=pytest.mark.long)])
def test_each_manner_gives_the_same_table(target: str) -> None:
    n = 64 * (2 if target == "interp" else 5) + 1
    suite = Benchmark("needleman_wunsch")
    (s,) = suite.inputs(n)
    wanted = suite.version("numpy")(s)[1:, 1:]
    for name, f in versions(tuple(MANNERS), target=target).items():
        assert np.array_equal(MANNERS[name](f(s), n), wanted), name


def test_there_are_only_these_manners() -> None:
    with pytest.raises(ValueError, match="there is no manner odd; there are plain, written_back, blocks, skewed"):
        show(["odd"], 1, True)
