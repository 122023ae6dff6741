"""Each benchmark computes the same in SaC as in NumPy, C and Numba."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.clib import NoCompiler
from benchmarks.suite import Benchmark, benchmarks


def results(benchmark: Benchmark, version: str) -> tuple[Any, ...]:
    """What a version gives at the small size; the inputs are left as they were."""
    inputs = benchmark.inputs(benchmark.size("small"))
    before = [np.copy(i) for i in inputs]
    found = benchmark.version(version)(*inputs)
    for was, now in zip(before, inputs, strict=True):
        np.testing.assert_array_equal(was, now)
    return found if isinstance(found, tuple) else (found,)


def agree(found: tuple[Any, ...], wanted: tuple[Any, ...]) -> None:
    """Integers to the last bit, floating-point numbers but for the order of sums."""
    assert len(found) == len(wanted)
    for f, w in zip(map(np.asarray, found), map(np.asarray, wanted)):
        assert f.shape == w.shape
        assert f.dtype.kind == w.dtype.kind
        if f.dtype.kind == "f":
            np.testing.assert_allclose(f, w, rtol=1e-9, atol=1e-11)
        else:
            np.testing.assert_array_equal(f, w)


@pytest.mark.parametrize("benchmark_", benchmarks(), ids=lambda b: b.name)
@pytest.mark.parametrize("version", ["sac", "c", "numba"])
def test_version_agrees_with_numpy(benchmark_: Benchmark, version: str) -> None:
    if version == "numba":
        pytest.importorskip("numba")
    try:
        found = results(benchmark_, version)
    except NoCompiler as reason:
        pytest.skip(str(reason))
    agree(found, results(benchmark_, "numpy"))


def test_there_are_benchmarks() -> None:
    assert {"triad", "matmul", "quicksort"} <= {b.name for b in benchmarks()}
