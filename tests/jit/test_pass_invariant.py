"""Invariant motion, on printed graphs: what moves in front of a loop, and what must not."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.ir.graph import Check, Let, Unit, blocks, statements
from sacpy.jit.ir.graph_verify import verify
from sacpy.jit.passes import dead_code, invariant, ranges
from tests.jit.graph_evaluator import CheckFailed, evaluate
from tests.jit.graph_text import unit
from tests.jit.pass_tools import after, check, outcome


def run(unit: Unit) -> Unit:
    return dead_code.run(invariant.run(unit))


def test_operations_move_out_of_all_loops_that_they_do_not_depend_on() -> None:
    check(
        run,
        """
        function f(int n, double x)
            double[n,n] a = with [n,n]
                genarray double default 0.0
                part [0,0] <= [i,j] < [n,n]
                    double s = with
                        fold from 0.0 by (double acc), (double val)
                            double r = add acc, val
                            give r
                        part [0] <= [k] < [n]
                            double y = sqrt x
                            int l = add i, j
                            double z = tod l
                            double t = mul z, y
                            yield t
                    yield s
            return n, n, a
        """,
        """
        function f(int n, double x)
            double y.1 = sqrt x
            double[n,n] a = with [n,n]
                genarray double default 0.0
                part [0,0] <= [i,j] < [n,n]
                    int l.1 = add i, j
                    double z.1 = tod l.1
                    double t.1 = mul z.1, y.1
                    double s = with
                        fold from 0.0 by (double acc), (double val)
                            double r = add acc, val
                            give r
                        part [0] <= [k] < [n]
                            yield t.1
                    yield s
            return n, n, a
        """,
    )


TABLES = """
        function f(int n, double x, double[n] a)
            double s.1, double[2] t.1 = for j from 0 to n step 1 with double s := 0.0, double[2] t := {start}
                double[2] c = array double[2] of {second}, x
                int k = mod j, 2
                double y = load c[k]
                double[2] d = array double[2] of x, y
                double z = load d[k]
                double r = add z, s
                {more}
                next r, {next}
            return s.1, t.1
        """


def test_a_small_array_that_rounds_only_load_from_is_made_in_front_of_them() -> None:
    text = (
        TABLES.replace("{start}", "e")
        .replace("double s.1,", "double[2] e = array double[2] of 1.0, x\n            double s.1,")
        .replace("{next}", "t")
    )
    fine = text.format(second="2.0", more="double q = mul r, z")
    assert after(run, fine).index("double[2] c.1 = array double[2] of 2.0, x") < after(run, fine).index("for j from")
    assert after(run, fine).index("array double[2] of x, y") > after(run, fine).index("for j from")
    for second, more, next_ in (
        ("s", "double q = mul r, z", "t"),
        ("2.0", "double[2] u = update c[0] with z", "u"),
        ("2.0", "double q = mul r, z", "c"),
    ):
        kept = text.replace(", t\n", f", {next_}\n").format(second=second, more=more)
        assert after(run, kept).index(f"double[2] c = array double[2] of {second}, x") > after(run, kept).index(
            "for j from"
        )


def test_a_small_array_moves_out_of_inner_with_loops_only() -> None:
    text = """
        function f(int n, double x)
            double[n] a = with [n]
                genarray double default 0.0
                part [0] <= [i] < [n]
                    double s = with
                        fold from 0.0 by (double acc), (double val)
                            double r = add acc, val
                            give r
                        part [0] <= [k] < [n]
                            double[2] c = array double[2] of 1.0, x
                            int l = mod k, 2
                            double y = load c[l]
                            yield y
                    yield s
            return n, a
        """
    moved = after(run, text)
    assert (
        moved.index("part [0] <= [i]")
        < moved.index("double[2] c.1 = array double[2] of 1.0, x")
        < moved.index("double s = with")
    )


def test_a_small_array_and_a_load_from_it_move_out_of_two_loops() -> None:
    moved = after(
        run,
        """
        function f(int n, double x, double[n] z)
            double s = for k from 0 to 2 step 1 with double a := 0.0
                double b = for i from 0 to n step 1 with double d := a
                    double[2] c = array double[2] of 1.0, x
                    double y = load c[k]
                    double q = load z[i]
                    double r = mul y, q
                    double e = add d, r
                    next e
                next b
            return s
        """,
    )
    assert (
        moved.index("array double[2] of 1.0, x")
        < moved.index("for k from")
        < moved.index("load c")
        < moved.index("for i from")
    )


def test_a_check_of_every_index_becomes_one_of_the_worst() -> None:
    check(
        run,
        """
        function f(int n, int m, double[m] z)
            double[n] a = with [n]
                genarray double default 0.0
                part [0] <= [k] < [n]
                    int j = add k, 1
                    bool ok = lt j, m
                    check ok : below
                    double x = load z[j]
                    yield x
            return n, a
        """,
        """
        function f(int n, int m, double[m] z)
            bool empty = le n, 0
            int sum = add! m, -1
            bool ok.1 = le n, sum
            bool ok.3 = or ok.1, empty
            check ok.3 : below
            double[n] a = with [n]
                genarray double default 0.0
                part [0] <= [k] < [n]
                    int j = add! k, 1
                    double x = load z[j]
                    yield x
            return n, a
        """,
    )


LOADS = """
function f(int n, double[n] z, double[4] w, int i)
    double s = for k from 0 to n step 1 with double p := 0.0
        double x = load w[3]
        double y = load z[0]
        double q = add p, x
        double r = add q, y
        next r
    return s
"""


def test_a_load_moves_only_if_its_index_is_in_range_without_the_loop() -> None:
    text = after(run, LOADS)
    assert text.index("load w[3]") < text.index("for k") < text.index("load z[0]")


def test_a_check_in_a_branch_stays_as_does_one_of_data() -> None:
    text = after(
        run,
        """
        function f(int n, int m, int[n] a, double[m] z, bool c)
            double s = for k from 0 to n step 1 with double p := 0.0
                int i = load a[k]
                bool low = le 0, i
                check low : not negative
                double q = if c
                    bool ok = lt k, m
                    check ok : below
                    double x = load z[k]
                    give x
                else
                    give p
                next q
            return s
        """,
    )
    assert text.index("for k") < text.index("check low") < text.index("check ok")


def test_a_partition_that_an_earlier_one_may_cover_keeps_its_checks() -> None:
    text = after(
        run,
        """
        function f(int n, int m, double[m] z)
            double[n] a = with [n]
                genarray double default 0.0
                part [3] <= [i] < [n]
                    yield 1.0
                part [0] <= [k] < [n]
                    bool ok = lt k, m
                    check ok : below
                    double x = load z[k]
                    yield x
            return n, a
        """,
    )
    assert text.index("part [0]") < text.index("check ok")


PAIRS = """
function f(int n, double[n] v)
    double s = for i from {loop} with double p := 0.0
        int j = add i, {offset}
        bool low = le 0, j
        check low : not negative
        bool high = lt j, n
        check high : below
        double x = load v[j]
        double q = add p, x
        next q
    return s
"""


@pytest.mark.parametrize(
    ("loop", "offset"), [("0 to n step 2", 1), ("1 to n step 3", 1), ("n to 0 step -2", -2), ("0 to n step 5", 4)]
)
def test_the_worst_index_of_a_loop_with_a_step_is_the_last_that_it_has(loop: str, offset: int) -> None:
    text = PAIRS.format(loop=loop, offset=offset)
    before, moved = unit(text), run(unit(text))
    verify(moved)
    assert not any(
        isinstance(s, Check)
        for loop in statements(moved.root.body)
        if isinstance(loop, Let)
        for b in blocks(loop.rhs)
        for s in statements(b)
    )
    for n in range(12):
        args = (np.arange(n, dtype="f8"),)
        assert outcome(moved, args) == outcome(before, args), n


SHIFTED = """
function f(int n, int k, int m, double[m] z)
    double[n] a = with [n]
        genarray double default 0.0
        part [0] <= [i] < [n]
            int j = add i, k
            bool low = le 0, j
            check low : not negative
            bool high = lt j, m
            check high : below
            double x = load z[j]
            yield x
    return n, a
"""


def test_a_sum_that_might_wrap_is_checked_in_64_bits_in_front_of_the_loop_and_is_exact_inside() -> None:
    text = after(lambda u: dead_code.run(ranges.run(run(u))), SHIFTED)
    before, inside = text.split("part", 1)
    assert "tol k" in before
    assert "check" in before
    assert "check" not in inside
    assert "add! i, k" in inside


@pytest.mark.parametrize(("n", "k", "m"), [(5, 3, 8), (5, 0, 5), (0, 99, 0), (1, 7, 8)])
def test_such_a_loop_runs_where_all_indices_lie_in_the_array(n: int, k: int, m: int) -> None:
    shifted = run(unit(SHIFTED))
    z = np.arange(float(m))
    assert (evaluate(shifted, [n, k, z])[-1] == z[k : k + n]).all()


@pytest.mark.parametrize(("n", "k", "m"), [(5, 4, 8), (5, -1, 8), (2, 2147483647, 8), (3, -2147483648, 8)])
def test_and_fails_where_one_does_not(n: int, k: int, m: int) -> None:
    with pytest.raises(CheckFailed):
        evaluate(run(unit(SHIFTED)), [n, k, np.arange(float(m))])
