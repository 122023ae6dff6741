"""Scratch arrays that each round fills for itself are no longer carried, on printed graphs, and rounds then give the
same on any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.passes import optimise, private
from tests.jit.graph_text import unit
from tests.jit.native_tools import agree_on, on_threads
from tests.jit.pass_tools import after, check, unchanged

ROWS = """
function f(int n, int m, double[n,m] a)
    double[n] x = with [n] disjoint
        genarray double default 0.0
    double[m] y = with [m] disjoint
        genarray double default 0.0
    double[n] b, double[m] t = for i from 0 to n step 1 with double[n] p := x, double[m] s := y
        double[m] u, double top = for j from {start} to {end} step {step} with double[m] v := s, double most := -1e+300
            {early}
            double c = load a[i,j]
            double[m] w = update v[{at}] with c
            double d = load {read}
            double e = max most, d
            next w, e
        double sum = for j.1 from 0 to m step 1 with double sofar := 0.0
            double g = load u[j.1]
            double h = sub g, top
            double k = mul h, h
            double more = add sofar, k
            next more
        double[n] q = update p[{set}] with sum
        next q, u
    return {results}
"""
FILLING = {
    "start": "0",
    "end": "m",
    "step": "1",
    "at": "j",
    "read": "w[j]",
    "set": "i",
    "early": "double z = add most, 1.0",
    "results": "n, b",
}


def rows(**changed: str) -> str:
    return ROWS.format(**(FILLING | changed))


def test_a_filled_array_is_each_rounds_own() -> None:
    check(
        private.run,
        """
        function f(int n, int m, double[n,m] a, double[m] y, double[n] x)
            double[n] b, double[m] t = for i from 0 to n step 1 with double[n] p := x, double[m] s := y
                double[m] u = for j from 0 to m step 1 with double[m] v := s
                    double c = load a[i,j]
                    double[m] w = update v[j] with c
                    next w
                double d = load u[0]
                double[n] q = update p[i] with d
                next q, u
            return n, b
        """,
        """
        function f(int n, int m, double[n,m] a, double[m] y, double[n] x)
            double[n] b = for i from 0 to n step 1 with double[n] p := x
                double[m] s = with [m] disjoint
                    genarray double default 0.0
                double[m] u = for j from 0 to m step 1 with double[m] v := s
                    double c = load a[i,j]
                    double[m] w = update v[j] with c
                    next w
                double d = load u[0]
                double[n] q = update p[i] with d
                next q
            return n, b
        """,
    )


def test_an_array_of_two_axes_filled_by_two_loops() -> None:
    text = """
        function f(int n, int m, int[n] x, int[m,n] y)
            int[n] b, int[m,n] t = for i from 0 to n step 1 with int[n] p := x, int[m,n] s := y
                int[m,n] u = for k from 0 to n step 1 with int[m,n] r := s
                    int[m,n] o = for j from 0 to m step 1 with int[m,n] v := r
                        int c = add j, i
                        int[m,n] w = update v[{at}] with c
                        next w
                    {between}
                    next o
                int d = load u[0,i]
                int[n] q = update p[i] with d
                next q, u
            return n, b
        """
    fine = text.format(at="j,k", between="int z = add k, 1")
    assert "int[m,n] s = with [m,n]" in after(private.run, fine)
    unchanged(private.run, text.format(at="k,j", between="int z = add k, 1"))
    unchanged(private.run, text.format(at="j,k", between="int z = load o[0,0]"))


REPLACED = """
        function f(int n, int m, int[n] x, int[m,2] y)
            int[n] b, int[m,2] t = for i from 0 to n step 1 with int[n] p := x, int[m,2] s := y
                int[m,2] u = with [m] disjoint{complete}
                    {operator}
                    part [0] <= [j] < [m]
                        int k = {element}
                        int[2] v = array int[2] of k, 7
                        yield v
                int d = load u[0,0]
                int[n] q = update p[i] with d
                next q, u
            return n, b
        """
REPLACING = {"complete": " complete", "operator": "modarray s", "element": "add i, j"}


def test_an_array_that_a_with_loop_replaces() -> None:
    text = REPLACED.format(**REPLACING)
    own = REPLACED.format(**REPLACING | {"operator": "genarray int cell [2] default 0"})
    check(
        private.run,
        text,
        own.replace("int[n] b, int[m,2] t", "int[n] b").replace(", int[m,2] s := y", "").replace("next q, u", "next q"),
    )


@pytest.mark.parametrize("changed", [{"complete": ""}, {"element": "load s[j,0]"}])
def test_an_array_of_which_something_may_stay(changed: dict[str, str]) -> None:
    text = REPLACED.format(**REPLACING | changed).replace("disjoint \n", "disjoint\n")
    unchanged(private.run, text)


@pytest.mark.parametrize(
    "changed",
    [
        {"start": "1"},
        {"end": "n"},
        {"step": "2"},
        {"at": "i"},
        {"at": "0"},
        {"early": "double z = load v[j]"},
        {"read": "w[0]"},
        {"set": "0"},
        {"results": "m, t"},
        {"results": "n, b, m, t"},
    ],
)
def test_what_a_round_may_find_there_stays(changed: dict[str, str]) -> None:
    unchanged(private.run, rows(**changed))


def test_the_rounds_run_on_threads() -> None:
    u = optimise(unit(rows()), host=True)
    assert "double[m] s = with" in after(private.run, rows())
    a = np.random.default_rng(4).standard_normal((403, 57))
    found = on_threads(u, a)
    top = a.max(axis=1, keepdims=True)
    assert np.allclose(found, ((a - top) ** 2).sum(axis=1))
    agree_on(u, [[a[:n, :m]] for n, m in ((0, 0), (0, 3), (3, 0), (1, 1), (5, 4))])
