"""Each benchmark computes the same in SaC as in NumPy, C and Numba."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.clib import NoCompiler
from benchmarks.suite import Benchmark, benchmarks


def results(benchmark: Benchmark, version: str) -> Any:
    """What a version gives at the small size; the inputs are left as they were."""
    inputs = benchmark.inputs(benchmark.size("small"))
    before = [np.copy(i) for i in inputs]
    found = benchmark.version(version)(*inputs)
    for was, now in zip(before, inputs, strict=True):
        np.testing.assert_array_equal(was, now)
    return found


@pytest.mark.parametrize("benchmark_", benchmarks(), ids=lambda b: b.name)
@pytest.mark.parametrize("version", ["sac", "c", "numba"])
def test_version_agrees_with_numpy(benchmark_: Benchmark, version: str) -> None:
    if version == "numba":
        pytest.importorskip("numba")
    try:
        found = results(benchmark_, version)
    except NoCompiler as reason:
        pytest.skip(str(reason))
    benchmark_.check(found, results(benchmark_, "numpy"))


def test_a_wrong_result_is_found() -> None:
    quicksort = Benchmark("quicksort")
    right = results(quicksort, "numpy")
    wrong = right.copy()
    wrong[-1] += 1
    quicksort.check(right, right)
    for found in (wrong, right[1:], right.astype(np.float64)):
        with pytest.raises(AssertionError):
            quicksort.check(found, right)


def test_there_are_benchmarks() -> None:
    assert {"triad", "matmul", "quicksort"} <= {b.name for b in benchmarks()}
