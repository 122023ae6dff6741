"""Few and long rows: blocks of them are dealt to threads, and every cell is computed once, every value folded once, in
order."""

from __future__ import annotations

import numpy as np
import pytest

from tests.fuzz.differential import compare, small_chunks
from tests.fuzz.programs import Case

TEXT = """use Array: all; use Math: all;
double[n,m] filled(double[n,m] v) { return { [i,j] -> v[i,j] * 2.0 + tod(i - j) | [i,j] < [n,m] }; }
double[n,m] stencil(double[n,m] v) { return { [i,j] -> v[i,j - 1] + v[i,j + 1] | [0,1] <= [i,j] < [n,m - 1];
  [i,j] -> v[i,j] | [i,j] < [n,m] }; }
double total(double[n,m] v) { return sum(v); }
double greatest(double[n,m] v) { return maxval(v * v); }
double part(double[n,m] v) { return with { ([0,3] <= [i,j] < [n,m - 2]) : v[i,j] * tod(j); } : fold(+, 0.5); }
double[n,m] picked(double[n,m] v, int[k] at) { return { [i,j] -> v[i, at[j]] | [i,j] < [n,m] }; }
double[n,m,3] cells(double[n,m] v) { return { [i,j,c] -> v[i,j] + tod(c) | [i,j,c] < [n,m,3] }; }
int[n,m] overlap(double[n,m] v) { return with { ([0,5] <= [i,j] < [n,m - 3]) : i + j; ([0,0] <= [i,j] < [n,m]) : i * j;
  } : genarray([n,m], 0); }
"""
SHAPES = [(1, 5000), (2, 1000), (3, 777), (7, 1000), (63, 257), (64, 300), (5, 255), (5, 256), (65, 10), (2, 6)]
FUNCTIONS = ("filled", "stencil", "total", "greatest", "part", "picked", "cells", "overlap")


@pytest.mark.sample(2)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_rows_cut_into_blocks_give_the_same(shape: tuple[int, int]) -> None:
    v = np.random.default_rng(1).integers(-1000, 1000, shape).astype(float)
    at = np.arange(shape[1], dtype=np.int32)[::-1].copy()
    with small_chunks():
        outcome = compare(Case(0, TEXT, tuple((f, (v, at) if f == "picked" else (v,)) for f in FUNCTIONS)))
    assert not outcome.refused_before
    assert not outcome.different, (outcome.different, outcome.expected)


def test_a_failing_check_in_a_block_is_found() -> None:
    v, at = np.ones((3, 2000)), np.arange(2000, dtype=np.int32)
    at[1500] = 2000
    with small_chunks():
        outcome = compare(Case(0, TEXT, (("picked", (v, at)),)))
    assert "E0601" in str(outcome.expected)
    assert not outcome.different
