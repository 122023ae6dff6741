"""Functions that users of Numba and JAX write, captured and run, against plain Python."""

import copy
from typing import Any

import numpy as np
import pytest

from benchmarks.capture.cases import CASES, arguments
from sacpy import Captured
from sacpy.capture.function import default_session


def several(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


# every third; `long` has all of them
SOME = [pytest.param(f, marks=[] if k % 3 == 0 else pytest.mark.long) for k, f in enumerate(CASES)]


@pytest.mark.parametrize("function", SOME, ids=lambda f: f.__name__)
def test_a_captured_function_gives_what_python_gives(function: Captured) -> None:
    given = arguments(function, 0)
    kept = copy.deepcopy(given)
    found = function.interpreted(*given)
    expected = function.python(*copy.deepcopy(kept))
    for mine, theirs in zip(several(found), several(expected), strict=True):
        assert np.shape(mine) == np.shape(theirs)
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-14)
    for before, after in zip(kept, given, strict=True):
        np.testing.assert_array_equal(before, after)


@pytest.mark.long
@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_the_same_compiled(function: Captured) -> None:
    given = arguments(function, 0)
    compiled = function.on(default_session("cpu"))
    for mine, theirs in zip(several(compiled(*given)), several(function.python(*copy.deepcopy(given))), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-14)


def test_there_are_forty() -> None:
    assert len(CASES) >= 40
