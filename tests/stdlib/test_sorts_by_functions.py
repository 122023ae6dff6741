"""Sorts in the order that a function says: long vectors are sorted in parts, and merged."""

from __future__ import annotations

import numpy as np
import pytest

import sacpy

TEXT = """use Array: all; use Sort: all;
bool tens(int a, int b) { return a / 10 < b / 10; }
bool never(double a, double b) { return false; }
bool always(double a, double b) { return true; }
int[n] by_tens(int[n] v) { return argsort_by(v, tens); }
double[n], int[n] by_size(double[n] v) { return (sort_by(v, <), argsort_by(v, <)); }
int[n] as_they_were(double[n] v) { return argsort_by(v, never); }
int[n] anyhow(double[n] v) { return argsort_by(v, always); }
"""


@pytest.mark.parametrize("n", [65_535, 65_536, 65_539, pytest.param(1_000_003, marks=pytest.mark.long)])
def test_long_vectors_are_sorted_stably(n: int) -> None:
    rng = np.random.default_rng(n)
    module = sacpy.Session(target="cpu", threads=2).compile(TEXT)
    v = rng.integers(0, 1000, n).astype(np.int32)
    assert np.array_equal(module.by_tens(v), np.argsort(v // 10, kind="stable"))
    reals = rng.uniform(-1.0, 1.0, n)
    found, order = module.by_size(reals)
    assert np.array_equal(found, np.sort(reals)) and np.array_equal(reals[order], found)
    assert np.array_equal(module.as_they_were(reals), np.arange(n))


@pytest.mark.parametrize("target", ["interp", "cpu"])
@pytest.mark.parametrize("n", [0, 1, 100, pytest.param(70_001, marks=pytest.mark.long)])
def test_whatever_a_function_says_each_element_is_there_once(n: int, target: str) -> None:
    v = np.random.default_rng(n).uniform(size=n)
    v[::3] = np.nan
    module = sacpy.Session(target=target).compile(TEXT)
    _, order = module.by_size(v)
    assert np.array_equal(np.sort(order), np.arange(n))
    assert np.array_equal(np.sort(module.anyhow(v)), np.arange(n))
