"""Detaching, on printed graphs: which views become arrays of their own, and of which array is read what an update
leaves alone."""

from __future__ import annotations

from sacpy.jit.passes import dead_code, detach
from tests.jit.pass_tools import after, assert_keeps_meaning, check, unchanged

EXCHANGE = """
function f(int n, int k, int l, double[n,n] a)
    double[n] r = view a[k]
    double[n] s = view a[l]
    double[n,n] b = update a[k] with s
    double[n,n] c = update b[l] with r
    return n, n, c
"""


def test_rows_that_change_places_are_copied() -> None:
    check(
        detach.run,
        EXCHANGE,
        """
        function f(int n, int k, int l, double[n,n] a)
            double[n] r = with [n] disjoint complete
                genarray double default 0.0
                part [0] <= [i] < [n]
                    double x = load a[k,i]
                    yield x
            double[n] s = with [n] disjoint complete
                genarray double default 0.0
                part [0] <= [i.1] < [n]
                    double x.1 = load a[l,i.1]
                    yield x.1
            double[n,n] b = update a[k] with s
            double[n,n] c = update b[l] with r
            return n, n, c
        """,
    )


def test_a_view_that_nobody_needs_after_the_update_stays() -> None:
    text = """
        function f(int n, int k, int l, double[n,n] a)
            double[n] r = view a[k]
            double s = with
                fold from 0.0 by (double acc), (double val)
                    double t = add acc, val
                    give t
                part [0] <= [i] < [n]
                    double x = load r[i]
                    yield x
            double[n,n] b = update a[0,0] with s
            return n, n, b
        """
    assert "genarray" not in after(detach.run, text)


def test_a_view_of_an_array_that_is_copied_anyway_stays() -> None:
    unchanged(detach.run, EXCHANGE.replace("return n, n, c", "return n, n, c, n, n, a"))


def test_an_update_in_a_loop_or_branch_counts() -> None:
    text = """
        function f(int n, int k, bool t, double[n,n] a)
            double[n] r = view a[k]
            double[n,n] c = {inner}
            double x = load r[1]
            return n, n, c, x
        """
    loop = """for i from 0 to n step 1 with double[n,n] p := a
                double[n,n] q = update p[i,0] with 1.0
                next q"""
    branch = """if t
                double[n,n] q = update a[0,0] with 1.0
                give q
            else
                give a"""
    for inner in (loop, branch):
        assert "load a[k," in after(detach.run, text.format(inner=inner))


def test_random_graphs_keep_their_meaning() -> None:
    assert assert_keeps_meaning(detach.run, range(60)) > 60


def test_what_an_update_leaves_alone_is_read_behind_it_from_the_new_array() -> None:
    check(
        lambda u: dead_code.run(detach.run(u)),
        """
        function f(int n, int i, double[n,4] a)
            double[n,4] b = update a[i,2] with 1.0
            double y = load a[i,3]
            double[n,4] c = update b[i,3] with y
            int j = add! i, 1
            double z = load a[j,2]
            double v = load a[i,0]
            double x = add y, z
            double w = add x, v
            double[n,4] d = update c[i,0] with w
            return n, d
        """,
        """
        function f(int n, int i, double[n,4] a)
            double[n,4] b = update a[i,2] with 1.0
            double y = load b[i,3]
            double[n,4] c = update b[i,3] with y
            int j = add! i, 1
            double z = load c[j,2]
            double v = load c[i,0]
            double x = add y, z
            double w = add x, v
            double[n,4] d = update c[i,0] with w
            return n, d
        """,
    )


def test_what_an_update_may_have_set_is_read_from_the_old_array() -> None:
    unchanged(
        detach.run,
        """
        function f(int n, int i, int j, double[n] a)
            double[n] b = update a[i] with 1.0
            double y = load a[j]
            double[n] c = update b[i] with y
            return n, c
        """,
    )


def test_what_a_loop_carries_on_is_not_read_inside_it() -> None:
    text = after(
        detach.run,
        """
        function f(int n, double[n] a)
            double[n] b = update a[0] with 1.0
            double[n] r = for i from 1 to n step 1 with double[n] c := b
                int k = add! i, -1
                double x = load c[k]
                double y = load a[i]
                double z = add x, y
                double[n] d = update c[i] with z
                next d
            return n, r
        """,
    )
    assert "load a[i]" in text


def test_rows_that_change_places_beside_a_conditional_that_sets_nothing() -> None:
    conditional = """
    if p
        bool ok = lt k, n
        check ok : k is a row
        give
    else
        give
    double[n] r"""
    text = EXCHANGE.replace("(int n, int k, int l,", "(int n, int k, int l, bool p,").replace(
        "\n    double[n] r", conditional
    )
    assert after(detach.run, text).count("genarray") == 2
