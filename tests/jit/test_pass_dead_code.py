"""Dead code, on printed graphs."""

from __future__ import annotations

from sacpy.jit.passes.dead_code import run
from tests.jit.pass_tools import check, unchanged


def test_unused_results_of_with_loops_loops_and_conditionals_go() -> None:
    check(
        run,
        """
        function f(int n, double[n] u, bool c)
            double[n] a, double[n] b = with [n]
                genarray double default 0.0
                genarray double default 1.0
                part [0] <= [i] < [n]
                    double x = load u[i]
                    double y = sqrt x
                    yield x, y
            int p, int q = for k from 0 to n step 1 with int r := 0, int s := 0
                int t = add r, k
                int v = add s, 1
                next t, v
            int g, int h = if c
                int w = add p, 1
                give w, p
            else
                give p, n
            return n, a, h
        """,
        """
        function f(int n, double[n] u, bool c)
            double[n] a = with [n]
                genarray double default 0.0
                part [0] <= [i] < [n]
                    double x = load u[i]
                    yield x
            int p = for k from 0 to n step 1 with int r := 0
                int t = add r, k
                next t
            int h = if c
                give p
            else
                give n
            return n, a, h
        """,
    )


def test_what_another_carried_variable_or_the_condition_needs_stays() -> None:
    unchanged(
        run,
        """
        function f(int n)
            int a, int b, int c = loop int p := 0, int q := 1, int r := n
                while
                    bool go = lt 0, r
                    test go
                round
                    int s = add p, q
                    int t = sub r, 1
                    next s, q, t
            return a
        """,
    )


def test_extents_of_arrays_that_are_used_stay() -> None:
    unchanged(
        run,
        """
        function f(int n)
            int m = add n, 1
            double[m] a = with [m]
                genarray double default 1.0
            return a
        """,
    )


def test_checks_of_used_code_stay_those_of_unused_code_go() -> None:
    check(
        run,
        """
        function f(int n, int[n] a)
            bool ok = lt 0, n
            check ok : not empty
            int s = with
                fold from 0 by (int acc), (int val)
                    int r = add acc, val
                    give r
                part [0] <= [i] < [n]
                    int x = load a[i]
                    bool fine = lt x, 5
                    check fine : small
                    yield x
            return n
        """,
        """
        function f(int n, int[n] a)
            bool ok = lt 0, n
            check ok : not empty
            return n
        """,
    )


def test_a_conditional_that_is_there_for_its_check_stays() -> None:
    unchanged(
        run,
        """
        function f(int n, bool c)
            if c
                bool ok = lt 0, n
                check ok : not empty
                give
            else
                give
            return n
        """,
    )


def test_a_fold_of_arrays_without_elements_goes_and_the_checks_of_its_cells_stay() -> None:
    check(
        run,
        """
        function f(int n, double[n] u)
            with
                fold from  by (), ()
                    give
                part [0] <= [i] < [n]
                    bool ok = lt i, 5
                    check ok : few
                    double x = load u[i]
                    yield
            return n
        """,
        """
        function f(int n, double[n] u)
            with
                part [0] <= [i] < [n]
                    bool ok = lt i, 5
                    check ok : few
                    yield
            return n
        """,
    )
