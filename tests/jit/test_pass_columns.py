"""Columns that lanes load far apart again and again, on printed graphs."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.passes.columns import run
from tests.jit.graph_evaluator import evaluate
from tests.jit.graph_text import unit
from tests.jit.pass_tools import after, assert_keeps_meaning, check, unchanged

TABLE = """
function f(int n, int m, int k, double[{n},{cell}] a)
    int last = sub n, 1
    bool c = lt 3, k
    check c : there are columns
    double[{m},{n}] r = with [{m}]
        genarray double cell [{n}] default 0.0
        part [0] <= [p] < [{m}]
            double v = tod p
            double[{n}] s = with [{n}]
                genarray double default 0.0
                part [{lower}] <= [j] < [{upper}]{step}
                    {before}
                    double y = load a[{row},{column}]
                    double x = load a[j,{other}]
                    double z = mul x, y
                    double u = add z, v
                    yield u
            yield s
    return {m}, {n}, r
"""
PLAIN = {
    "n": "n",
    "cell": "7",
    "m": "m",
    "lower": "0",
    "upper": "n",
    "step": "",
    "before": "int o = add j, 0",
    "row": "j",
    "column": "3",
    "other": "2",
}


def test_columns_are_copied_once_in_front_of_the_outermost_loop() -> None:
    check(
        run,
        TABLE.format(**PLAIN),
        """
        function f(int n, int m, int k, double[n,7] a)
            int last = add! n, -1
            bool c = lt 3, k
            check c : there are columns
            double[2,n] a.1 = with [2,n] disjoint complete
                genarray double default 0.0
                part [0,0] <= [at,at.1] < [2,n]
                    int column = add! at, 2
                    double t = load a[at.1,column]
                    yield t
            double[m,n] r = with [m]
                genarray double cell [n] default 0.0
                part [0] <= [p] < [m]
                    double v = tod p
                    double[n] s = with [n]
                        genarray double default 0.0
                        part [0] <= [j] < [n]
                            double y = load a.1[1,j]
                            double x = load a.1[0,j]
                            double z = mul x, y
                            double u = add z, v
                            yield u
                    yield s
            return m, n, r
        """,
    )


@pytest.mark.parametrize(
    ("part", "text"),
    [
        pytest.param("cell", "4", id="vectors of short cells are shuffled"),
        pytest.param("lower", "1", id="the loop leaves out rows"),
        pytest.param("upper", "last", id="the loop leaves out the last"),
        pytest.param("step", " step [2] width [1]", id="the loop has a step"),
        pytest.param("m", "3", id="there are few rounds"),
        pytest.param("cell", "k", id="a column may be missing"),
    ],
)
def test_other_loops_stay(part: str, text: str) -> None:
    changed = {**PLAIN, part: text}
    if text == "k":
        changed |= {"column": "4", "other": "2"}
    assert " a.1 = with " not in after(run, TABLE.format(**changed))


@pytest.mark.parametrize(("part", "text"), [("row", "last"), ("column", "k"), ("row", "o")])
def test_other_loads_stay(part: str, text: str) -> None:
    """A row that is the same for all lanes, a column that is not known, a row that is computed."""
    before = "int o = sub last, j" if text == "o" else PLAIN["before"]
    found = after(run, TABLE.format(**{**PLAIN, part: text, "before": before}))
    assert "load a.1[0,j]" in found and f"load a[{text if part == 'row' else 'j'}," in found


def test_an_unknown_number_of_columns_is_enough_where_a_check_says_so() -> None:
    assert "load a.1[1,j]" in after(run, TABLE.format(**{**PLAIN, "cell": "k"}))


def test_columns_far_apart_stay_where_they_are() -> None:
    found = after(run, TABLE.format(**{**PLAIN, "other": "2", "column": "6"}))
    assert " a.1 = " not in found
    assert "double[4,n] a.1" in after(run, TABLE.format(**{**PLAIN, "other": "3", "column": "6"}))


@pytest.mark.parametrize("n", [7, 8])
def test_few_lanes_load_them_one_by_one(n: int) -> None:
    found = after(run, TABLE.format(**{**PLAIN, "n": str(n), "upper": str(n)}))
    assert ("load a.1[0,j]" in found) == (n == 8)


ROUNDS = """
function f(int n, int m, double[n,m,9] a, double[n,m] b, int many)
    double[n,m] w = for t from 0 to many step 1 with double[n,m] c := b
        double[n,m] r = with [n,m]
            genarray double default 0.0
            part [0,0] <= [i,j] < [n,m]
                double x = load c[i,j]
                bool o = lt x, 0.5
                double y = if o
                    double p = load a[i,j,8]
                    give p
                else
                    double q = load a[i,j,7]
                    give q
                double z = add x, y
                yield z
        next r
    return n, m, w
"""


@pytest.mark.parametrize("n", [0, 1, 9])
def test_rounds_of_a_loop_and_branches(n: int) -> None:
    found = after(run, ROUNDS)
    assert "double[2,n,m] a.1 = with [2,n,m]" in found and "load a.1[1,i,j]" in found
    assert found.index("a.1 =") < found.index(" = for ")
    a = np.arange(n * 4 * 9.0).reshape(n, 4, 9)
    arguments = [a, a[..., 0] - 3.0, 5]
    before, now = unit(ROUNDS), run(unit(ROUNDS))
    for expected, result in zip(evaluate(before, arguments), evaluate(now, arguments)):
        assert np.array_equal(np.asarray(expected), np.asarray(result))


LOOPS = """
function f(int n, int m, double[n,n,9] a, int many)
    double[n] z = with [n]
        genarray double default 0.0
        part [0] <= [i] < [n]
            yield 1.0
    double[n] w = for t from 0 to many step 1 with double[n] c := z
        double[n] d = for u from 0 to n step 1 with double[n] e := c
            double[n] r = with [n]
                genarray double default 0.0
                part [0] <= [j] < [n]
                    double x = load e[j]
                    double y = load a[{row},8]
                    double v = add x, y
                    yield v
            next r
        next d
    return n, w
"""


def test_loops_in_order_go_through_rows_too() -> None:
    found = after(run, LOOPS.format(row="u,j"))
    assert "load a.1[0,u,j]" in found and found.count(" a.1 = with ") == 1 and " a.2 " not in found
    assert found.index("a.1 =") < found.index(" for t ")


def test_a_copy_serves_all_loops_behind_it() -> None:
    text = LOOPS.replace("[n,n,9] a", "[n,9] a").format(row="j")
    found = after(run, text)
    assert "load a.1[0,j]" in found and found.count("load a[") == 1
    assert found.index("a.1 =") < found.index(" for t ")


@pytest.mark.parametrize("row", ["j,u", "j,j", "u,t"])
def test_rows_in_another_order_and_diagonals_stay(row: str) -> None:
    found = after(run, LOOPS.format(row=row))
    assert f"load a[{row},8]" in found and " a.1 " not in found


def test_an_array_that_each_round_makes_is_copied_where_it_stands_if_at_all() -> None:
    text = """
function f(int n, int m, double[n] b)
    double[m,n] r = with [m]
        genarray double cell [n] default 0.0
        part [0] <= [p] < [m]
            double v = tod p
            double[n,8] a = with [n,8]
                genarray double default 0.0
                part [0,0] <= [i,k] < [n,8]
                    double e = mul v, v
                    yield e
            double[{q}n] s = with [{q}n]
                genarray double default 0.0
                part [{zero}0] <= [{g}j] < [{q}n]
                    double x = load a[j,0]
                    double y = load a[j,1]
                    double z = mul x, y
                    yield z
            double[n] d = {one}
            yield d
    return m, n, r
"""
    unchanged(run, text.format(q="", zero="", g="", one="view r0[0]").replace("view r0[0]", "s"))
    found = after(run, text.format(q="m,", zero="0,", g="l,", one="view s[0]"))
    assert found.index(" part [0] <= [p]") < found.index(" a.1 = ") < found.index(" s = ")


def test_it_keeps_the_meaning() -> None:
    assert assert_keeps_meaning(run, range(40)) > 20
