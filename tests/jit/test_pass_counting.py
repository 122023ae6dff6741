"""Loops that count, on printed graphs."""

from __future__ import annotations

import pytest

from sacpy.jit.ir.graph import Unit
from sacpy.jit.passes import counting, dead_code
from tests.jit.pass_tools import after, check

LOOP = """
function f(int n, int m, double x)
    double s, int last = loop double p := x, int k := {start}
        while
            bool t = {test}
            test t
        round
            double q = add p, x
            int j = {step}
            next q, j
    return s, last
"""


def run(unit: Unit) -> Unit:
    return dead_code.run(counting.run(unit))


def test_a_loop_that_counts_up_becomes_a_counting_loop() -> None:
    check(
        run,
        LOOP.format(start="0", test="lt k, n", step="add k, 1"),
        """
        function f(int n, int m, double x)
            double s = for k from 0 to n step 1 with double p := x
                double q = add p, x
                next q
            int last = max n, 0
            return s, last
        """,
    )


@pytest.mark.parametrize(
    ("start", "test", "step", "expected"),
    [
        ("m", "le 0, k", "sub k, 1", "from m to -1 step -1"),
        ("n", "gt k, m", "add k, -1", "from n to m step -1"),
        ("0", "gt n, k", "add 1, k", "from 0 to n step 1"),
        ("3", "le k, 9", "add k, 1", "from 3 to 10 step 1"),
        ("1", "neq k, 5", "add k, 1", "from 1 to 5 step 1"),
        ("0", "lt k, 100", "add k, 7", "from 0 to 100 step 7"),
    ],
)
def test_other_ways_to_count(start: str, test: str, step: str, expected: str) -> None:
    text = after(run, LOOP.format(start=start, test=test, step=step))
    assert expected in text
    assert "check" not in text


@pytest.mark.parametrize(
    ("start", "test", "step"),
    [("0", "le k, n", "add k, 1"), ("0", "lt k, n", "add k, 2"), ("m", "neq k, n", "add k, 1")],
)
def test_a_counter_that_could_wrap_is_checked_in_front_of_the_loop(start: str, test: str, step: str) -> None:
    text = after(run, LOOP.format(start=start, test=test, step=step))
    assert text.index("check") < text.index("for k")


@pytest.mark.parametrize(
    ("start", "test", "step"),
    [
        ("0", "lt k, n", "sub k, 1"),
        ("0", "gt k, n", "add k, 1"),
        ("0", "lt k, n", "mul k, 2"),
        ("9", "neq k, 5", "add k, 1"),
        ("0", "eq k, n", "add k, 1"),
        ("0", "lt k, n", "add k, m"),
    ],
)
def test_loops_that_do_not_count_to_their_bound_stay(start: str, test: str, step: str) -> None:
    assert "loop" in after(run, LOOP.format(start=start, test=test, step=step))


def test_a_bound_that_changes_in_the_loop_is_none() -> None:
    text = after(
        run,
        """
        function f(int n)
            int a, int b = loop int k := 0, int m := n
                while
                    bool t = lt k, m
                    test t
                round
                    int j = add k, 1
                    int l = div m, 3
                    next j, l
            return a, b
        """,
    )
    assert "loop" in text


ROW = """
function f(int i, int n, int[n] row, double x)
    int first = load row[i]
    double s, int last = loop double p := x, int k := first
        while
            int j = add! i, 1
            bool ok = lt j, n
            check ok : the index lies in the array
            int end = load {array}[j]
            bool t = lt k, end
            test t
        round
            double q = add p, x
            int next_k = add! k, 1
            next q, next_k
    return s
"""


def test_a_bound_that_is_read_from_an_array_is_read_once_after_its_check() -> None:
    text = after(run, ROW.format(array="row"))
    assert "for k from first to end step 1" in text
    assert text.index("check ok") < text.index("load row[j]") < text.index("for k")


def test_a_bound_read_from_an_array_that_the_loop_changes_is_none() -> None:
    changed = ROW.format(array="r").replace(
        "double s, int last = loop double p := x, ",
        "double s, int[n] rs, int last = loop double p := x, int[n] r := row, ",
    )
    changed = changed.replace(
        "            next q, next_k", "            int[n] u = update r[0] with k\n            next q, u, next_k"
    )
    assert "while" in after(run, changed)


def test_a_condition_whose_check_changes_stays() -> None:
    assert "while" in after(run, ROW.format(array="row").replace("lt j, n", "lt k, n"))
