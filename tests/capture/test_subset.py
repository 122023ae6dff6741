"""Each part of the subset, interpreted, against CPython and NumPy on the same text."""

import copy
import warnings
from typing import Any

import numpy as np
import pytest

from sacpy import Captured
from sacpy.capture.function import default_session
from tests.capture.edges import EDGES
from tests.capture.parts import PARTS as REPEATED
from tests.capture.subset import CASES as PARTS

CASES = [*PARTS, *EDGES, *REPEATED]


def compare(found: Any, expected: Any) -> None:
    """The same numbers, sorts and shapes."""
    if isinstance(expected, tuple):
        assert isinstance(found, tuple) and len(found) == len(expected)
        for mine, theirs in zip(found, expected, strict=True):
            compare(mine, theirs)
        return
    theirs = np.asarray(expected)
    mine = np.asarray(found)
    assert mine.shape == theirs.shape
    if theirs.size:
        assert mine.dtype.kind == theirs.dtype.kind, (found, expected)
    np.testing.assert_allclose(mine, theirs, rtol=1e-13, atol=1e-15)
    if mine.dtype.kind == "f":
        zero = theirs == 0
        np.testing.assert_array_equal(np.signbit(mine[zero]), np.signbit(theirs[zero]))


@pytest.mark.parametrize(("function", "calls"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_a_part_of_the_subset(function: Captured, calls: Any) -> None:
    for given in calls:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = function.python(*copy.deepcopy(given))
        compare(function(*given), expected)


@pytest.mark.long
@pytest.mark.parametrize(("function", "calls"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_the_same_compiled(function: Captured, calls: Any) -> None:
    compiled = function.on(default_session("cpu"))
    for given in calls:
        compare(compiled(*given), function(*given))
