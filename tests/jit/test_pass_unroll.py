"""Unrolling, on printed graphs."""

from __future__ import annotations

import pytest

from sacpy.jit.passes.unroll import run, run_longer
from tests.jit.pass_tools import after, check, unchanged


def test_a_short_fold_is_straight_code_from_left_to_right_with_its_neutral() -> None:
    check(
        run,
        """
        function f(int n, double[n,3] a, int i)
            double s = with
                fold from 0.0 by (double acc), (double val)
                    double r = add acc, val
                    give r
                part [0] <= [j] < [3]
                    double x = load a[i,j]
                    yield x
            return s
        """,
        """
        function f(int n, double[n,3] a, int i)
            double x.1 = load a[i,0]
            double r.1 = add x.1, 0.0
            double x.2 = load a[i,1]
            double r.2 = add r.1, x.2
            double x.3 = load a[i,2]
            double r.3 = add r.2, x.3
            return r.3
        """,
    )


def test_partials_of_several_partitions_are_combined_the_later_first() -> None:
    check(
        run,
        """
        function f(double x, double y)
            double s = with
                fold from 1.0 in order by (double acc), (double val)
                    double r = sub acc, val
                    give r
                part [0] <= [j] < [1]
                    yield x
                part [0] <= [k] < [4] step [3] width [1]
                    yield y
            return s
        """,
        """
        function f(double x, double y)
            double r.1 = sub 1.0, x
            double r.2 = sub 1.0, y
            double r.3 = sub r.2, y
            double r.4 = sub r.3, r.1
            return r.4
        """,
    )


def test_a_counting_loop_of_few_rounds_is_straight_code() -> None:
    check(
        run,
        """
        function f(double x)
            double s = for k from 5 to 0 step -2 with double p := x
                double t = tod k
                double q = mul p, t
                next q
            return s
        """,
        """
        function f(double x)
            double q.1 = mul x, 5.0
            double q.2 = mul q.1, 3.0
            return q.2
        """,
    )


def test_long_or_unknown_loops_and_folds_that_end_early_stay() -> None:
    for head, bounds in (
        ("fold from 0.0 by", "[100]"),
        ("fold from 0.0 by", "[n]"),
        ("fold from 0.0 until 8.0 by", "[3]"),
    ):
        unchanged(
            run,
            f"""
            function f(int n, double[n] a)
                double s = with
                    {head} (double acc), (double val)
                        double r = add acc, val
                        give r
                    part [0] <= [j] < {bounds}
                        double x = load a[j]
                        yield x
                return s
            """,
        )


def test_a_loop_without_rounds_gives_what_stands_for_its_initial_values_by_then() -> None:
    check(
        run,
        """
        function f(double[3] v)
            double[3,1] r = reshape v to [3,1]
            double[3,1] again = reshape r to [3,1]
            double[3,1] l = for k from 1 to 0 step 1 with double[3,1] p := again
                next p
            return 3, 1, l
        """,
        """
        function f(double[3] v)
            double[3,1] r = reshape v to [3,1]
            return 3, 1, r
        """,
    )


def test_a_fold_of_elements_that_are_long_to_compute_waits_for_these() -> None:
    """Else there would be a copy of their code for each index, or the array would have to be made."""
    for terms, short in ((2, True), (9, False)):
        sums = "".join(f"                double x.{k + 1} = add x.{k}, 1.0\n" for k in range(1, terms))
        found = after(
            run_longer,
            f"""
            function f(double[49] a)
                double[49] t = with [49]
                    genarray double default 0.0
                    part [0] <= [i] < [49]
                        double x.1 = load a[i]
{sums}                        yield x.{terms}
                double s = with
                    fold from 0.0 by (double acc), (double val)
                        double r = add acc, val
                        give r
                    part [0] <= [j] < [49]
                        double y = load t[j]
                        yield y
                return s
            """.replace("                double x.", "                        double x."),
        )
        assert ("fold" not in found) == short


DIFFERENCES = """
function f(int n, double[n] v, double[n] w, double x)
    double[n] r, double t = for i from 0 to 12 step 1 with double[n] a := w, double s := x
        double d = load a[i]
        double y = sub d, s
        double[n] b = update a[i] with s
        next b, y
    return n, r, t
"""


@pytest.mark.parametrize(
    ("extent", "update", "straight"), [("12", "s", True), ("17", "s", False), ("n", "s", False), ("12", "d", True)]
)
def test_more_rounds_are_straight_code_where_they_change_a_small_array(
    extent: str, update: str, straight: bool
) -> None:
    text = (
        DIFFERENCES.replace("with s", f"with {update}")
        .replace("double[n] w", f"double[{extent}] w")
        .replace("double[n] r", f"double[{extent}] r")
        .replace("double[n] a", f"double[{extent}] a")
        .replace("double[n] b", f"double[{extent}] b")
        .replace("return n", f"return {extent}")
    )
    assert ("for" not in after(run, text).split()) == straight


def test_rounds_that_set_an_element_each_are_left_to_become_a_with_loop() -> None:
    text = """
function f(double[12] w, double x)
    double[12] r = for i from 0 to 12 step 1 with double[12] a := w
        double d = load a[i]
        double y = sub d, x
        double[12] b = update a[i] with y
        next b
    return 12, r
"""
    assert "for" in after(run, text).split()


def test_the_sum_of_a_matrix_product_stays_a_loop_but_for_the_shortest_and_others_do_not() -> None:
    for terms, index, loop in ((16, "k,j", False), (17, "k,j", True), (17, "k,0", False)):
        found = after(
            run_longer,
            f"""
            function f(int n, double[n,17] a, double[17,n] b)
                double[n,n] c = with [n,n]
                    genarray double default 0.0
                    part [0,0] <= [i,j] < [n,n]
                        double s = with
                            fold from 0.0 by (double acc), (double val)
                                double r = add acc, val
                                give r
                            part [0] <= [k] < [{terms}]
                                bool ok = lt k, n
                                check ok : the index lies in the array
                                double x = load a[i,k]
                                double y = load b[{index}]
                                double z = mul x, y
                                yield z
                        yield s
                return c
            """,
        )
        assert ("fold" in found) == loop, found
