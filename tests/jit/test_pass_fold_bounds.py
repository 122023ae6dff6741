"""Folds leave out indices at which they combine with what changes nothing, on printed graphs; the results are the
same."""

from __future__ import annotations

import numpy as np
import pytest

import sacpy
from sacpy.jit.passes import fold_bounds
from tests.jit.graph_text import unit
from tests.jit.native_tools import agree_on
from tests.jit.pass_tools import after, assert_keeps_meaning, check, unchanged

SUM = """
function f(int n, int m, {base}[n] v, int a, int b)
    {base} s = with disjoint
        fold from {start} by ({base} s1), ({base} s2)
            {base} s3 = {operation} s1, s2
            give s3
        part [0] <= [i] < [n]{step}
            bool c = {first}
            bool d = {second}
            bool e = {both}
            {base} x = load v[i]
            {base} y = select e, x, {other}
            {base} z = {value}
            yield y
    return s
"""
FINE = {
    "base": "double",
    "start": "0.0",
    "operation": "add",
    "step": "",
    "first": "le a, i",
    "second": "lt i, b",
    "both": "and c, d",
    "other": "0.0",
    "value": "add x, x",
}
TIGHT = """
function f(int n, int m, double[n] v, int a, int b)
    int low = max 0, a
    int high = min n, b
    double s = with disjoint
        fold from 0.0 by (double s1), (double s2)
            double s3 = add s1, s2
            give s3
        part [low] <= [i] < [high]
            double x = load v[i]
            yield x
    return s
"""
INT = {"base": "int", "start": "7", "other": "0"}


def fold(**changed: str) -> str:
    return SUM.format(**(FINE | changed))


def test_conditions_on_the_index_become_bounds() -> None:
    check(fold_bounds.run, fold(), TIGHT)


@pytest.mark.parametrize(
    ("changed", "bounds"),
    [
        ({"both": "and c, c"}, "[low.1] <= [i] < [n]"),
        ({"both": "or c, c", "first": "le a, i"}, ""),
        ({"first": "lt 3, i", "both": "and c, d"}, "[low] <= [i] < [high]"),
        ({"second": "le i, 30"}, "[low] <= [i] < [high]"),
        ({"second": "le i, b"}, ""),  # b + 1 may wrap
        ({"first": "lt a, i"}, ""),
        ({"first": "le i, i"}, ""),
        ({"other": "1.0"}, ""),
        ({"start": "-0.0", "other": "0.0"}, ""),  # if all is -0.0, one 0.0 makes it 0.0
        ({"operation": "max"}, ""),
        ({"operation": "min", "start": "inf", "other": "inf"}, ""),  # behind a NaN, the least is infinity
        ({"value": "add y, y"}, ""),  # somebody else needs it
        ({"step": " step [2] width [1]"}, ""),
        (INT, "[low] <= [i] < [high]"),
        (INT | {"operation": "max"}, ""),
        (INT | {"operation": "min", "other": "2147483647"}, "[low] <= [i] < [high]"),
        (INT | {"operation": "mul", "other": "1"}, "[low] <= [i] < [high]"),
    ],
)
def test_other_conditions_values_and_folds(changed: dict[str, str], bounds: str) -> None:
    text = fold(**changed)
    if bounds:
        assert bounds in after(fold_bounds.run, text)
    else:
        unchanged(fold_bounds.run, text)
    for n, a, b in ((0, 0, 5), (9, 3, 6), (9, -5, 40), (9, 7, 2), (40, 31, 33), (9, -(2**31), 2**31 - 1)):
        v = np.random.default_rng(n).integers(-9, 9, n).astype(np.float64 if "double" in text else np.int32)
        agree_on(fold_bounds.run(unit(text)), [(0, v, a, b)])


def test_random_units_keep_their_meaning() -> None:
    assert_keeps_meaning(fold_bounds.run, range(60))


PROGRAM = """
use Array: all; use Math: all;
double[n] windows(double[n] x, int w) {
  return { [i] -> sum({ [j] -> x[j] | [max(0, i-w)] <= [j] < [min(n, i+w+1)] }) | [i] < [n] }; }
double[n] behind(double[n] x, int w) { return { [i] -> sum({ [j] -> x[j] * x[i] | [i+1] <= [j] < [n] }) | [i] < [n] }; }
double chosen(double[n] x, int w) { return sum({ [i] -> i < w ? x[i] : 0.0 | [i] < [n] }); }
double squares(double[n] x, int w) { return sum({ [i,j] -> x[i] * x[j] | [w,2] <= [i,j] < [n,n-1] }); }
bool any_there(double[n] x, int w) { return any({ [i] -> x[i] > 0.9 | [w] <= [i] < [n] }); }
double product(double[n] x, int w) { return prod({ [i] -> i >= w && i < n - 2 ? x[i] : 1.0 | [i] < [n] }); }
double[n] upto(double[n] x, int w) {
  return { [i] -> sum({ [j] -> j <= i ? x[j] * x[i] : 0.0 | [j] < [n] }) | [i] < [n] }; }
double gathered(double[n] x, int w) { return sum({ [j] -> x[j * 7] | [w / 2] <= [j] < [w] }); }
double not_a_number(double[n] x, int w) { return sum({ [i] -> i >= w ? x[i] / 0.0 * 0.0 : 0.0 | [i] < [n] }); }
"""


@pytest.mark.parametrize("w", [0, 1, 3, 50])
@pytest.mark.parametrize(
    "name", ["windows", "behind", "chosen", "squares", "any_there", "product", "not_a_number", "gathered"]
)
def test_programs_give_what_the_interpreter_gives(name: str, w: int) -> None:
    found: list[object] = []
    for n in (40, 1, 0, 5):
        x = np.random.default_rng(n).random(n)
        for target in ("interp", "cpu"):
            try:
                found.append(getattr(sacpy.Session(target=target).compile(PROGRAM), name)(x, w))
            except sacpy.SacError as error:
                found.append(error.diagnostics[0].code)
        if isinstance(found[-2], str):
            assert found[-1] == found[-2]
        else:
            np.testing.assert_allclose(found[-1], found[-2], rtol=1e-12)


@pytest.mark.parametrize("name", ["windows", "gathered", "upto"])
def test_a_window_costs_what_is_in_it(name: str) -> None:
    text = sacpy.Session(target="cpu").emit("graph", name, PROGRAM)
    fold = text[text.index("fold") :]
    assert "select" not in fold and " if " not in fold and "[0] <= [j" not in text
    assert text.count("index lies in the array") == (name == "gathered"), "what is looked at may not be there"


COMPUTED = """
function f(int n, double[n] v, int a, int b)
    double s = with disjoint
        fold from 0.0 by (double s1), (double s2)
            double s3 = add s1, s2
            give s3
        part [0] <= [i] < [n]
            int low = sub a, b
            {more}
            bool c = {condition}
            double x = load v[i]
            double y = select c, x, 0.0
            yield y
    return s
"""


@pytest.mark.parametrize(
    ("more", "condition", "moves"),
    [
        ("int half = div low, 2", "le half, i", True),
        ("int half = add low, i", "le half, i", False),
        ("int half = mul i, 2", "le a, half", False),
        ("double w = load v[0]\n            int half = toi w", "le half, i", False),  # there may be no such element
    ],
)
def test_bounds_are_computed_in_front(more: str, condition: str, moves: bool) -> None:
    text = COMPUTED.format(more=more, condition=condition)
    if not moves:
        unchanged(fold_bounds.run, text)
        return
    found = after(fold_bounds.run, text)
    assert found.index("div low") < found.index("fold") and "select" not in found
    for n, a, b in ((0, 3, 1), (9, 7, 2), (9, -(2**31), 1)):
        agree_on(fold_bounds.run(unit(text)), [(np.arange(1.0, n + 1), a, b)])
