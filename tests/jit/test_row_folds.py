"""Sums along rows that run side by side: what rows one by one give, whatever their lengths, and however many rows fill
no group; the same to the last bit for any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy import Module, SacError, Session, packed
from sacpy.jit.host.row_folds import LONG
from sacpy.jit.schedule.row_folds import ROWS
from sacpy.workspace import Workspace
from tests.fuzz.differential import native
from tests.jit.native_tools import same
from tests.jit.test_windows import called

SOURCE = """
use Array: all;
use Math: all;
double[n] times(double[n,m] a, double[m] x) { return { [i] -> sum(a[i] * x) | [i] < [n] }; }
float[n] fractions(float[n,m] a, float[m] x) { return { [i] -> 1f / (1f + sum(a[i] * x)) | [i] < [n] }; }
double[b,n] batches(double[b,n,m] a, double[m] x) { return { [k,i] -> sum(a[k,i] * x) | [k,i] < [b,n] }; }
double[n] lower(double[i<n, i+1] a, double[n] x) { return { [i] -> sum(a[i] * take([i+1], x)) | [i] < [n] }; }
double[n] upper(double[i<n, n-i] a, double[n] x) { return { [i] -> sum(a[i] * drop([i], x)) | [i] < [n] }; }
double[n] begun(double[n,m] a, double[m] x)
{ return { [i] -> with { ([0] <= [j] < [m]) : a[i,j] * x[j]; } : fold(+, 0.25) | [i] < [n] }; }
double[n] parts(double[n,m] a, double[m] x, int k)
{ return { [i] -> sum({ [j] -> a[i,j] * x[j] | [j] < [k - i] }) | [i] < [n] }; }
"""
LENGTHS = (0, 5, LONG - 1, LONG, LONG + 1, LONG + 37)
SHOWN = f"{ROWS} rows side by side"
RNG = np.random.default_rng(4)


@pytest.fixture(scope="module")
def modules() -> list[Module]:
    return [Session(target="cpu", threads=threads).compile(SOURCE) for threads in (1, 2)]


def agree(modules: list[Module], name: str, wanted: np.ndarray, *args: object) -> None:
    for module in modules:
        found = np.asarray(getattr(module, name)(*args))
        np.testing.assert_allclose(found, wanted, rtol=1e-5 if wanted.dtype == np.float32 else 1e-12)


def test_they_are_the_same_for_any_number_of_threads() -> None:
    loaded = Workspace().load_text(SOURCE)[0]
    engines = [native(strict_fp=False, threads=threads) for threads in (1, 2, 3)]
    for rows in (ROWS + 1, 400):
        a, x = RNG.random((rows, LONG + 37)), RNG.random(LONG + 37)
        for name in ("times", "begun"):
            first, *others = (called(loaded, name, engine, a, x) for engine in engines)
            assert all(same(first, other) for other in others), (name, rows)


@pytest.mark.parametrize("rows", [0, 1, ROWS - 1, ROWS, 4 * ROWS + 3])
def test_rows_of_one_length(modules: list[Module], rows: int) -> None:
    for length in LENGTHS:
        a, x = RNG.random((rows, length)), RNG.random(length)
        agree(modules, "times", a @ x, a, x)
        agree(modules, "begun", a @ x + 0.25, a, x)
        single, y = a.astype("f4"), x.astype("f4")
        agree(modules, "fractions", 1 / (1 + (single.astype("f8") @ y.astype("f8"))).astype("f4"), single, y)
        agree(modules, "batches", np.stack([a @ x, 2 * a @ x]), np.stack([a, 2 * a]), x)


@pytest.mark.parametrize("n", [LONG - 3, LONG + 70])
def test_rows_that_grow_and_shrink(modules: list[Module], n: int) -> None:
    a, x = RNG.random((n, n)), RNG.random(n)
    agree(modules, "lower", np.tril(a) @ x, packed("double[i<n, i+1]", a[np.tril_indices(n)], n=n), x)
    agree(modules, "upper", np.triu(a) @ x, packed("double[i<n, n-i]", a[np.triu_indices(n)], n=n), x)


def test_numbers_that_are_none(modules: list[Module]) -> None:
    a, x = np.ones((2 * ROWS, 2 * LONG)), np.ones(2 * LONG)
    a[1, 7], a[2, 8], a[2, LONG], a[ROWS + 1, 2 * LONG - 1] = np.nan, np.inf, -np.inf, np.inf
    a[3] = -0.0
    for m in modules:
        found = m.times(a, x)
        assert np.isnan(found[[1, 2]]).all() and found[ROWS + 1] == np.inf and found[0] == 2 * LONG and found[3] == 0


def test_what_fails_in_front_of_a_row_s_sum_fails(modules: list[Module]) -> None:
    a, x, rows = np.ones((9, LONG + 20)), np.ones(LONG + 20), 9
    interpreted = Session(target="interp").compile(SOURCE)
    assert np.array_equal(modules[0].parts(a, x, LONG + 20), LONG + 20 - np.arange(rows))
    for k in (LONG + 21, LONG + 28):
        said = []
        for m in (interpreted, modules[0]):
            with pytest.raises(SacError) as caught:
                m.parts(a, x, k)
            said.append(str(caught.value))
        assert said[0] == said[1]


def test_what_has_nothing_in_common_and_sums_in_order_run_row_by_row() -> None:
    alone = "double[n] f(double[n,m] a, double[m] x) { return { [i] -> sum(a[i]) + x[0] | [i] < [n] }; }"
    given = np.ones((9, LONG)), np.ones(LONG)
    cases = (SOURCE, False, True), (SOURCE, True, False), (f"use Array: all; {alone}", False, False)
    for source, strict, shown in cases:
        session = Session(target="cpu", strict_fp=strict)
        module = session.compile(source)
        for _ in range(2):
            (module.times if source is SOURCE else module.f)(*given)
        assert (SHOWN in session.explain()) == shown
