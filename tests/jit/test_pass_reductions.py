"""Loops that accumulate become folds, on printed graphs."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.analysis.folds import recognised
from sacpy.jit.ir.graph import Fold, Let, WithLoop
from sacpy.jit.passes import reductions
from tests.jit.graph_evaluator import evaluate
from tests.jit.graph_text import unit
from tests.jit.native_tools import agree_on
from tests.jit.pass_tools import after, check, outcome

LOOP = """
function f(int n, double[n] z, double x)
    double q = for k from 0 to n step 1 with double p := x
        double a = load z[k]
        double b = {combined}
        next b
    return q
"""


def test_a_sum_is_a_fold() -> None:
    check(
        reductions.run,
        LOOP.format(combined="add a, p"),
        """
        function f(int n, double[n] z, double x)
            double q = with disjoint
                fold from x by (double p), (double val)
                    double b = add p, val
                    give b
                part [0] <= [k] < [n]
                    double a = load z[k]
                    yield a
            return q
        """,
    )


def test_a_difference_is_the_sum_with_the_negative() -> None:
    text = after(reductions.run, LOOP.format(combined="sub p, a"))
    assert "neg a" in text
    assert "add p, val" in text


@pytest.mark.parametrize(
    ("combined", "kept"), [("max p, a", "max p, val"), ("max a, p", "max val, p"), ("add a, p", "add p, val")]
)
def test_operands_of_an_extreme_stay_in_order(combined: str, kept: str) -> None:
    assert f"double b = {kept}" in after(reductions.run, LOOP.format(combined=combined))


CHOICE = LOOP.format(combined="select c, {chosen}").replace(
    "        double b =", "        bool c = {test}\n        double b ="
)


@pytest.mark.parametrize(
    ("test", "chosen", "kept"),
    [
        ("lt a, p", "a, p", "min val, p"),
        ("lt p, a", "a, p", "max val, p"),
        ("lt p, a", "p, a", "min p, val"),
        ("lt a, p", "p, a", "max p, val"),
    ],
)
def test_a_choice_of_the_lesser_or_the_greater_is_an_extreme(test: str, chosen: str, kept: str) -> None:
    text = CHOICE.format(test=test, chosen=chosen)
    assert f"double b = {kept}" in after(reductions.run, text)
    for start in (0.0, -0.0, np.nan, 0.5):
        for z in ([], [0.0], [-0.0], [0.5, np.nan, 2.0, -0.0], [np.nan], [1.0, -1.0, 1.0]):
            args = (np.array(z), start)
            assert outcome(reductions.run(unit(text)), args) == outcome(unit(text), args)


@pytest.mark.parametrize("test", ["le a, p", "le p, a"])
@pytest.mark.parametrize("chosen", ["a, p", "p, a"])
def test_where_equal_ones_are_chosen_otherwise_the_choice_stays_as_it_is(test: str, chosen: str) -> None:
    text = CHOICE.format(test=test, chosen=chosen)
    found = after(reductions.run, text)
    assert f"bool c = {test}".replace("a", "val") in found
    w = next(s.rhs for s in unit(found).root.body.statements if isinstance(s, Let))
    assert isinstance(w, WithLoop) and isinstance(w.operators[0], Fold)
    reduction = recognised(w.operators[0])
    assert reduction is not None and reduction.codes == ("min" if test[3:] == chosen else "max",)
    many = [
        (np.array(z), start)
        for start in (0.0, -0.0, np.nan, 0.5)
        for z in ([], [0.0], [-0.0, 0.0], [0.5, np.nan, 2.0, -0.0], [np.nan], [1.0, -1.0, 1.0], [0.0, -0.0] * 40)
    ]
    assert repr(agree_on(unit(found), many)) == repr([tuple(evaluate(unit(text), args)) for args in many])


@pytest.mark.parametrize(("test", "chosen"), [("lt a, x", "a, p"), ("lt a, p", "a, x"), ("eq a, p", "a, p")])
def test_other_choices_stay_loops(test: str, chosen: str) -> None:
    assert "fold" not in after(reductions.run, CHOICE.format(test=test, chosen=chosen))


@pytest.mark.parametrize("combined", ["sub a, p", "max p, p", "add p, p", "div p, a"])
def test_what_is_not_a_sum_stays_a_loop(combined: str) -> None:
    assert "fold" not in after(reductions.run, LOOP.format(combined=combined))


def test_variables_that_use_each_other_stay_a_loop() -> None:
    text = """
    function f(int n, double x)
        double q, double r = for k from 0 to n step 1 with double p := x, double o := x
            double b = add p, o
            double c = add o, x
            next b, c
        return q, r
    """
    assert "fold" not in after(reductions.run, text)


def test_several_at_once() -> None:
    text = """
    function f(int n, int[n] z)
        int q, int r = for k from 0 to n step 1 with int p := 0, int o := 1
            int a = load z[k]
            int b = add p, a
            int c = max o, a
            next b, c
        return q, r
    """
    found = after(reductions.run, text)
    assert "fold from 0, 1 by (int p, int o)" in found
    assert "yield a, a" in found


def test_a_loop_whose_sum_is_used_inside_stays() -> None:
    text = """
    function f(int n, double[n] z)
        double q, double[n] w = for k from 0 to n step 1 with double p := 0.0, double[n] y := z
            double b = add p, 1.0
            double[n] u = update y[k] with b
            next b, u
        return q, w
    """
    assert "fold" not in after(reductions.run, text)
