"""Parts of arrays that are assigned: computed in the array where nothing is read that has been overwritten, on printed
graphs."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.ir.graph import Let
from sacpy.jit.passes import assigning
from tests.jit.graph_evaluator import evaluate
from tests.jit.graph_text import unit
from tests.jit.pass_tools import after, assert_keeps_meaning, check, unchanged

ROW = """
function f(int n, int k, int i, int m, double[n,n] a)
    double[n] w = with [n] disjoint complete
        genarray double default 0.0
        part [0] <= [j] < [m]
            double y = load a[i,j]
            yield y
        part [m] <= [j.1] < [n]
            double x = load a[{row},{column}]
            double y.1 = load a[i,j.1]
            double z = sub y.1, x
            yield z
    double[n,n] c = update a[i] with w
    return n, n, c
"""


def test_a_row_is_computed_in_its_place() -> None:
    check(
        assigning.run,
        ROW.format(row="k", column="j.1"),
        """
        function f(int n, int k, int i, int m, double[n,n] a)
            double[n,n] a.1 = for j.1 from m to n step 1 with double[n,n] a.2 := a
                double x.1 = load a.2[k,j.1]
                double y.2 = load a.2[i,j.1]
                double z.1 = sub y.2, x.1
                double[n,n] a.4 = update a.2[i,j.1] with z.1
                next a.4
            return n, n, a.1
        """,
    )


@pytest.mark.parametrize(("row", "column"), [("k", "j.1"), ("i", "j.1")])
@pytest.mark.parametrize(("k", "i", "m"), [(0, 0, 0), (2, 1, 0), (1, 2, 3), (3, 3, 4)])
def test_it_gives_the_same(row: str, column: str, k: int, i: int, m: int) -> None:
    text = ROW.format(row=row, column=column)
    a = np.random.default_rng(m).random((4, 4))
    expected, found = (evaluate(u, [k, i, m, a.copy()])[-1] for u in (unit(text), assigning.run(unit(text))))
    assert np.array_equal(found, expected)
    assert "with [" not in after(assigning.run, text)


@pytest.mark.parametrize(("row", "column"), [("i", "k"), ("k", "i"), ("i", "m")])
def test_what_reads_elements_that_another_sets_stays(row: str, column: str) -> None:
    unchanged(assigning.run, ROW.format(row=row, column=column))


BEFORE = """
function f(int n, int i, int l, bool t, double[n,n] a)
    int h = {above}
    int q = sub! n, 1
    double[n] w = with [n] disjoint complete
        genarray double default 0.0
        part [0] <= [j] < [q]
            int e = add! j, 1
            double x = load a[{row},{column}]
            double y = load a[i,j]
            bool less = lt x, y
            double z = if less
                double g = load a[i,j]
                double m = mul g, 2.0
                give m
            else
                give x
            yield z
        part [q] <= [j.1] < [n]
            double v = load a[{other},j.1]
            yield v
    double[n,n] c = update a[i] with w
    return n, n, c
"""
ABOVE = {"above": "sub! i, 1", "row": "h", "column": "e", "other": "i"}


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"other": "h"},
        {"above": "add! i, 1"},
        {"column": "l"},
        {"row": "l", "column": "j"},
        {"row": "i", "column": "q"},
    ],
)
def test_rows_that_read_others_and_their_own_cells_are_computed_in_place(change: dict[str, str]) -> None:
    fine = change != {"row": "i", "column": "q"}
    text = BEFORE.format(**ABOVE | change)
    u = unit(text)
    if not fine:
        unchanged(assigning.run, text)
        return
    assert "with [" not in after(assigning.run, text)
    a = np.random.default_rng(7).random((5, 5))
    for i, k in ((1, 0), (3, 4), (2, 2)):
        expected, found = (evaluate(g, [i, k, True, a.copy()])[-1] for g in (u, assigning.run(u)))
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("change", [{"row": "l"}, {"above": "sub i, l"}, {"above": "sub! i, l"}])
def test_rows_that_may_be_the_own_one_stay(change: dict[str, str]) -> None:
    unchanged(assigning.run, BEFORE.format(**ABOVE | change))


MODIFIED = """
function f(int n, int i, int l, double v, double[n,n] a, double[n,n] b)
    double[n] r = view {array}[{row}]
    double[n] w = with [n] disjoint
        modarray r
        part [1] <= [j] < [3]
            yield v
    double[n,n] c = update a[i] with w
    return n, n, c
"""


def test_the_rest_of_a_modified_row_is_left_alone() -> None:
    found = after(assigning.run, MODIFIED.format(array="a", row="i"))
    assert "with [" not in found
    assert "for j from 1 to 3" in found


def test_points_a_step_apart_stay() -> None:
    text = MODIFIED.format(array="a", row="i")
    unchanged(assigning.run, text.replace("< [3]", "< [n] step [2] width [1]"))


@pytest.mark.parametrize(("array", "row"), [("a", "l"), ("b", "i")])
def test_another_row_that_is_modified_stays(array: str, row: str) -> None:
    unchanged(assigning.run, MODIFIED.format(array=array, row=row))


def test_a_matrix_of_an_array_takes_a_loop_for_each_axis() -> None:
    text = """
        function f(int n, int i, double[n,n,n] a)
            double[n,n] w = with [n,n] disjoint complete
                genarray double default 0.0
                part [0,0] <= [j,k] < [n,n]
                    double x = load a[0,j,k]
                    double y = add x, 1.0
                    yield y
            double[n,n,n] c = update a[i] with w
            return n, n, n, c
        """
    found = after(assigning.run, text)
    assert found.count("for ") == 2
    a = np.random.default_rng(1).random((3, 3, 3))
    for i in (0, 2):
        expected, got = (evaluate(u, [i, a.copy()])[-1] for u in (unit(text), assigning.run(unit(text))))
        assert np.array_equal(got, expected)


@pytest.mark.parametrize(
    "change",
    [
        ("disjoint complete", "disjoint"),
        ("disjoint complete", "complete"),
        ("return n, n, c", "return n, n, c, n, w"),
        ("            double z =", "            check t : something\n            double z ="),
        ("update a[i] with w", "update b[i] with w\n    double[n,n] d = update b[k] with w"),
        ("    double[n,n] c =", "    double[n,n] b = update a[k,k] with 1.0\n    double[n,n] c ="),
    ],
)
def test_what_may_differ_or_is_used_otherwise_stays(change: tuple[str, str]) -> None:
    text = ROW.format(row="k", column="j.1").replace(
        "function f(int n, int k, int i, int m, double[n,n] a)",
        "function f(int n, int k, int i, int m, bool t, double[n,n] a, double[n,n] b)"
        if "b" in change[1]
        else "function f(int n, int k, int i, int m, bool t, double[n,n] a)",
    )
    if "double[n,n] b =" in change[1]:
        text = text.replace(", double[n,n] b)", ")")
    assert change[0] in text
    unchanged(assigning.run, text.replace(*change))


def test_random_units_keep_their_meaning() -> None:
    assert assert_keeps_meaning(assigning.run, range(40)) > 20


def test_a_statement_that_sets_nothing_is_no_with_loop() -> None:
    text = (
        ROW.format(row="k", column="j.1")
        .replace(
            "    double[n,n] c =",
            "    if t\n        bool u = lt i, n\n        check u : it is in range\n        give\n    else\n"
            "        give\n    double[n,n] c =",
        )
        .replace("int m, double", "int m, bool t, double")
    )
    before = unit(text)
    assert any(not s.targets for s in before.root.body.statements if isinstance(s, Let))
    assert "with [" not in after(assigning.run, text)
