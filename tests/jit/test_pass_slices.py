"""Slices that all cells read are copied, so that arrays are changed in place, on printed graphs; the results are the
same."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.options import Options
from sacpy.jit.passes import optimise, slices
from tests.jit.graph_text import unit
from tests.jit.native_tools import agree_on, compiled
from tests.jit.pass_tools import after, check, unchanged

ROUNDS = """
function f(int n, int m, double[n,n] x, double[n,n] y)
    double[n,n] b = for k from {first} to {last} step {step} with double[n,n] a := x
        {before}
        double[n,n] c = with [n,n] disjoint{complete}
            genarray double default 0.0
            part [{lower},0] <= [i,j] < [n,n]
                {inside}
                double u = load {row}
                double v = load {column}
                double w = load {own}
                double s = add u, v
                double t = add s, w
                yield t
        {after}
        next {result}
    return n, n, b
"""
FINE = {
    "first": "0",
    "last": "n",
    "step": "1",
    "before": "double q = load y[k,k]",
    "complete": " complete",
    "lower": "0",
    "inside": "double p = load y[i,j]",
    "row": "a[k,j]",
    "column": "a[i,k]",
    "own": "a[i,j]",
    "after": "double h = load c[0,0]",
    "result": "c",
}
COPIED = """
function f(int n, int m, double[n,n] x, double[n,n] y)
    double[n,n] b = for k from 0 to n step 1 with double[n,n] a := x
        double q = load y[k,k]
        double[n] a.1 = with [n] disjoint complete
            genarray double default 0.0
            part [0] <= [at] < [n]
                double t.1 = load a[k,at]
                yield t.1
        double[n] a.2 = with [n] disjoint complete
            genarray double default 0.0
            part [0] <= [at.1] < [n]
                double t.2 = load a[at.1,k]
                yield t.2
        double[n,n] c = with [n,n] disjoint complete
            genarray double default 0.0
            part [0,0] <= [i,j] < [n,n]
                double p = load y[i,j]
                double u = load a.1[j]
                double v = load a.2[i]
                double w = load a[i,j]
                double s = add u, v
                double t = add s, w
                yield t
        double h = load c[0,0]
        next c
    return n, n, b
"""


def rounds(**changed: str) -> str:
    return ROUNDS.format(**(FINE | changed))


def test_a_row_and_a_column_are_copied() -> None:
    check(slices.run, rounds(), COPIED)


@pytest.mark.parametrize(
    "changed",
    [
        {"row": "a[k,k]"},
        {"before": "double[n,n] a0 = with [n,n] disjoint complete\n            genarray double default 1.5",
         "row": "a0[k,j]", "column": "a0[i,k]", "own": "a0[i,j]"},
    ],
)  # fmt: skip
def test_other_slices(changed: dict[str, str]) -> None:
    assert "a.1" in after(slices.run, rounds(**changed)) or "a0.1" in after(slices.run, rounds(**changed))


@pytest.mark.parametrize(
    "changed",
    [
        {"after": "double h = load a[0,0]"},  # it is read later
        {"result": "a"},
        {"own": "y[i,j]"},  # no cell keeps its place
        {"row": "y[k,j]", "column": "y[i,k]"},  # which no round makes
        {"row": "a[j,k]"},  # no slice along the axes of the cells
        {"row": "a[j,i]"},
        {"inside": "int l = sub n, i", "row": "a[l,j]"},  # another one for each cell
        {"complete": "", "lower": "1"},
        {"last": "m"},  # nobody knows whether it is there
        {"first": "-1"},
        {"first": "n", "last": "0", "step": "-1"},
        {"inside": "double[n] q2 = view a[i]\n                double q3 = load q2[j]"},  # it may be read anywhere
    ],
)  # fmt: skip
def test_what_is_no_slice_or_may_be_needed_stays(changed: dict[str, str]) -> None:
    unchanged(slices.run, rounds(**changed))


def test_a_loop_in_the_body_reads_slices_too() -> None:
    inside = """double p = with
                    fold from 0.0 by (double s1), (double s2)
                        double s3 = add s1, s2
                        give s3
                    part [0] <= [l] < [n]
                        double z = load a[k,j]
                        double z1 = load y[l,j]
                        double z2 = mul z, z1
                        yield z2"""
    found = after(slices.run, rounds(inside=inside))
    assert found.count("load a.1[j]") == 2 and found.count("load a[") == 3  # the two copies, and the own cell


def test_a_few_short_rows_stay() -> None:
    unchanged(slices.run, rounds(last="3").replace("n,n", "3,3"))


def test_under_a_condition_too() -> None:
    """The copy is made whether there is a cell that needs it or not; so the row must be there."""
    row = """bool p1 = lt 0.5, p
                double u = if p1
                    double u1 = load a[k,j]
                    give u1
                else
                    give 0.5"""
    assert "load a.1[j]" in after(slices.run, rounds().replace("double u = load a[k,j]", row))
    unchanged(slices.run, rounds(last="m").replace("double u = load a[k,j]", row))


@pytest.mark.parametrize("threads", [1, 2])
def test_no_round_makes_an_array_of_the_size(threads: int) -> None:
    options, made = Options(threads=threads), []
    function = compiled(optimise(unit(rounds()), options, host=True), options)
    for n in (5, 60):
        before = function.context.allocations
        function.call((n, np.ones((n, n)), np.ones((n, n))))
        made.append(function.context.allocations - before)
    assert made == [1 + 2 * 5, 1 + 2 * 60]


@pytest.mark.parametrize("n", [0, 1, 2, 17])
def test_the_results_are_the_same(n: int) -> None:
    random = np.random.default_rng(n)
    x, y = random.random((2, n, n))
    for changed in ({}, {"row": "a[k,k]"}, {"after": "double h = load a[0,0]"}):
        done = optimise(unit(rounds(**changed)), host=True)
        agree_on(done, [(n, x, y)])
