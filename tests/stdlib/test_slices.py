"""Slices by offset, counts and strides: what NumPy sees through the same strides; nothing outside, nothing written
twice."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import sacpy
from sacpy.lang.diagnostics import SacError
from tests.jit.circuit_tools import arrays

TEXT = """use Array: all; use Slice: all;
int[*] read(int offset, int[.] counts, int[.] strides, int[.] v) { return slice(offset, counts, strides, v); }
int[.] written(int offset, int[.] counts, int[.] strides, int[*] value, int[.] v)
{ return modslice(offset, counts, strides, value, v); }
"""


@pytest.fixture(scope="module", params=["interp", "cpu"])
def module(request: pytest.FixtureRequest) -> Any:
    return sacpy.Session(target=request.param).compile(TEXT)


def seen(v: np.ndarray, offset: int, counts: list[int], strides: list[int]) -> np.ndarray:
    """The slice as NumPy has it."""
    start = v[offset:] if v[offset:].size else v
    return as_strided(start, counts, [s * v.itemsize for s in strides])


def random_slice(random: Random, n: int) -> tuple[int, list[int], list[int]]:
    """One that lies within n elements."""
    while True:
        rank = random.randint(1, 3)
        counts = [random.choice((0, 1, 2, 3, 4, 5)) for _ in range(rank)]
        strides = [random.choice((-7, -3, -1, 0, 1, 2, 3, 6, 9)) for _ in range(rank)]
        offset = random.randrange(n)
        far = [(c - 1) * s for c, s in zip(counts, strides)]
        if 0 in counts or (offset + sum(min(f, 0) for f in far) >= 0 and offset + sum(max(f, 0) for f in far) < n):
            return offset, counts, strides


def test_slices_are_what_numpy_sees(module: Any) -> None:
    random, v = Random(1), np.arange(60, dtype=np.int32)
    for _ in range(60):
        offset, counts, strides = random_slice(random, len(v))
        expected = seen(v, offset, counts, strides)
        assert np.array_equal(module.read(offset, counts, strides, v), expected)
        value = -1 - np.arange(expected.size, dtype=np.int32).reshape(counts)
        if len(set(expected.ravel())) < expected.size:
            with pytest.raises(SacError, match="is_injective"):
                module.written(offset, counts, strides, value, v)
            continue
        after = v.copy()
        after[expected.ravel()] = value.ravel()
        assert np.array_equal(module.written(offset, counts, strides, value, v), after)
    assert np.array_equal(v, np.arange(60))


def test_staggered_columns_and_a_diagonal(module: Any) -> None:
    v = np.arange(100, dtype=np.int32)
    staggered = module.read(0, [6, 3], [9, 8], v)
    assert sorted(staggered.ravel()) == sorted(9 * i + 8 * j for i in range(6) for j in range(3))
    assert list(module.read(9, [10], [9], v)) == [9 + 9 * k for k in range(10)]
    changed = module.written(9, [10], [9], np.zeros(10, np.int32), v)
    assert np.array_equal(np.diag(changed.reshape(10, 10)[:, ::-1]), np.zeros(10))
    assert module.written(0, [6, 3], [9, 8], -staggered, v)[70 - 9] == -61 or 61 not in staggered


@pytest.mark.parametrize(
    ("offset", "counts", "strides"),
    [
        (0, [11], [6]),
        (-1, [2], [1]),
        (60, [1], [1]),
        (3, [5], [-1]),
        (0, [2, 2], [2**31 - 1, 2**31 - 1]),
        (0, [2**30, 4], [4, 1]),
        (5, [-1], [1]),
    ],
)
def test_what_lies_outside_is_refused(module: Any, offset: int, counts: list[int], strides: list[int]) -> None:
    v = np.arange(60, dtype=np.int32)
    with pytest.raises(SacError, match=r"lies_within|counts >= 0") as raised:
        module.read(offset, counts, strides, v)
    assert raised.value.diagnostics[0].code == "E0616"


def test_a_place_is_not_written_twice(module: Any) -> None:
    v = np.arange(60, dtype=np.int32)
    for counts, strides in (([3, 2], [2, 4]), ([2], [0]), ([4, 4], [1, 1]), ([8, 9], [1, 1])):
        with pytest.raises(SacError, match="is_injective"):
            module.written(0, counts, strides, np.zeros(counts, np.int32), v)
    with pytest.raises(SacError, match="shape"):
        module.written(0, [3, 2], [2, 1], np.zeros((2, 3), np.int32), v)
    assert np.array_equal(module.written(0, [1, 3], [0, 2], np.full((1, 3), 9, np.int32), v)[:6], [9, 1, 9, 3, 9, 5])


def test_a_slice_that_is_read_is_not_made_and_one_that_is_written_is_in_its_place() -> None:
    text = """use Array: all; use Slice: all;
double read(double[n] v, int k) { b = slice(k, [n / 8, 4], [8, -1], v); x = 0.0;
  for (i = 0; i < n / 8; i++) { for (j = 0; j < 4; j++) { x = 0.5 * x + b[i,j]; } } return x; }
double[n] written(double[n] v, int k) {
  for (i = 0; i < 4; i++) { v = modslice(i, [n / 8, 2], [8, 4], genarray([n / 8, 2], tod(i)), v); } return v; }"""
    v = np.cos(np.arange(800.0))
    assert arrays(text, "read", v, 3) == 0
    assert arrays(text, "written", v, 3) <= 1 + 4
