"""Folds of what lies before or behind a cell take one step a cell, on printed graphs and in programs; the results are
the same."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import sacpy
from sacpy.jit.passes import running_folds
from tests.jit.graph_text import unit
from tests.jit.pass_tools import after, assert_keeps_meaning, outcome, unchanged

TEXT = """
function f(int n, {base}[n] v, int a, int b)
    {base}[n] r = with [n] disjoint
        genarray {base} default {zero}
        part [{first}] <= [i] < [{last}]
            {ahead}
            int u = add! i, {by}
            int neg = sub! n, i
            {base} s = with disjoint
                fold from {zero} by ({base} s1), ({base} s2)
                    {base} s3 = {operation} s1, s2
                    give s3
                part [{lower}] <= [j] < [{upper}]
                    {index}
                    {base} x = load v[j.1]
                    {base} y = {value}
                    yield y
            {base} t = {result}
            yield t
    return n, r
"""
FINE = {
    "base": "double", "zero": "0.0", "first": "0", "last": "n", "ahead": "int ahead = add! i, 1", "by": "1",
    "operation": "add", "lower": "0", "upper": "u", "index": "int j.1 = add! j, 0", "value": "mul x, x",
    "result": "mul s, s",
}  # fmt: skip
INT = {"base": "int", "zero": "0"}
DOWN = {"lower": "i", "upper": "n"}


def running(**changed: str) -> str:
    return TEXT.format(**(FINE | changed))


def cases() -> list[list[object]]:
    return [
        [np.arange(1.0, n + 1), a, b]
        for n, a, b in ((0, 0, 0), (1, 0, 1), (7, 0, 7), (7, 2, 5), (7, 5, 2), (7, 6, -3), (9, -4, 40))
    ]


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"by": "0"},
        {"operation": "mul", "zero": "1.0"},
        {"operation": "max", "zero": "-inf"},
        {"first": "2"},
        {"lower": "a"},  # what is negative fails where it is loaded
        INT | {"operation": "min", "zero": "2147483647"},
        DOWN,
        DOWN | {"lower": "u"},
        DOWN | {"upper": "b", "value": "select true, 1.0, x", "index": "int j.1 = max 0, 0"},
        DOWN | INT | {"operation": "max", "zero": "-2147483648"},
        {"lower": "0", "upper": "neg", "index": "int j.1 = add! j, i"},
        {"ahead": "int ahead = add! i, 1\n            double w = load v[i]", "result": "mul s, w"},
    ],
)
def test_each_cell_takes_a_step(changed: dict[str, str]) -> None:
    text = running(**changed)
    found = after(running_folds.run, text)
    assert "= for i" in found or "= for i.1" in found
    assert found.count("step 1 with") + found.count("step -1 with") == 1
    if not changed.keys() & {"lower", "first"} - {"upper"}:
        assert "fold from" not in found
    u = unit(text)
    for args in cases():
        if "int[n]" in text:
            args[0] = np.asarray(args[0]).astype(np.int32)
        if changed.get("lower") == "a" and int(args[1]) < 0:  # type: ignore[call-overload]
            continue
        wanted, got = outcome(u, args), outcome(running_folds.run(u), args)  # type: ignore[arg-type]
        assert wanted == got, args


@pytest.mark.parametrize(
    "changed",
    [
        {"value": "mul x, acc"},
        {"lower": "a", "upper": "b"},
        {"lower": "i", "upper": "u"},
        {"by": "1048577"},
        DOWN | {"operation": "max", "zero": "-inf"},  # behind a NaN, the greatest is another one
        {"ahead": "bool low = le 0, a\n            check low : it is not negative"},
    ],
)
def test_others_stay(changed: dict[str, str]) -> None:
    text = running(**changed).replace("mul x, acc", "mul x, w")
    if changed.get("value"):
        text = text.replace("int ahead = add! i, 1", "double w = load v[i]")
    unchanged(running_folds.run, text)


def test_sums_of_reals_from_the_end_keep_their_order_where_that_is_asked_for() -> None:
    unchanged(running_folds.run_in_order, running(**DOWN))
    assert "= for" in after(running_folds.run_in_order, running())
    assert "= for" in after(running_folds.run_in_order, running(**DOWN, **INT))


def test_cells_that_wait_for_each_other_stay() -> None:
    unchanged(
        running_folds.run,
        """
function f(int n, double[n] v)
    double[n] r, double e = with [n] disjoint
        genarray double default 0.0
        propagate double e0 := 1.0
        part [0] <= [i] < [n]
            double s = with disjoint
                fold from 0.0 by (double s1), (double s2)
                    double s3 = add s1, s2
                    give s3
                part [0] <= [j] < [i]
                    double x = load v[j]
                    double y = mul x, e0
                    yield y
            double t = add s, 1.0
            yield s, t
    return n, r, e
""",
    )


def test_random_units_keep_their_meaning() -> None:
    assert_keeps_meaning(running_folds.run_in_order, range(700, 740), raises_checks=True)


PROGRAM = """
use Array: all; use Math: all;
double[n] sums_(double[n] x, int w) { return { [i] -> sum({ [j] -> x[j] | [j] < [i + 1] }) | [i] < [n] }; }
double[n] before(double[n] x, int w) { return { [i] -> sum({ [j] -> x[j] | [j] < [i] }) | [i] < [n] }; }
double[n] taken(double[n] x, int w) {
  return { [i] -> maxval(take([i + 1], x)) - minval(take([i + 1], x)) | [i] < [n] }; }
double[n] dropped(double[n] x, int w) { return { [i] -> sum(drop([i], x)) | [i] < [n] }; }
double[n] behind(double[n] x, int w) { return { [i] -> sum({ [j] -> x[j] | [i + 1] <= [j] < [n] }) | [i] < [n] }; }
double[n] from(double[n] x, int w) {
  return { [i] -> sum({ [j] -> x[j] * 2.0 | [w] <= [j] < [i] }) | [w] <= [i] < [n]; [i] -> x[i] | [i] < [n] }; }
double[n] both(double[n] x, int w) {
  return { [i] -> sum({ [j] -> x[j] | [j] < [i] }) / (1.0 + sum({ [j] -> x[j] | [i] <= [j] < [n] })) | [i] < [n] }; }
double[m,n] rows(double[n] x, int w) | (m == w + 1) {
  m = w + 1;
  return { [a,i] -> sum({ [j] -> x[j] * tod(a) | [j] < [i + 1] }) | [a,i] < [m,n] }; }
double[n,m] columns(double[n] x, int w) | (m == w + 1) {
  m = w + 1;
  return { [i,a] -> sum({ [j] -> x[j] - tod(a) | [j] < [i + 1] }) | [i,a] < [n,m] }; }
double[n,m] scaled(double[n] x, int w) | (m == w) {
  m = w;
  return { [i,a] -> x[i] / sum({ [j] -> x[j] + x[n - 1] | [j] < [i + 1] }) | [i,a] < [n,m] }; }
double[m,n] inner(double[n] x, int w) | (m == w + 2) {
  m = w + 2;
  return { [a,i] -> sum({ [j] -> x[j] * x[a - 1] | [j] < [i] }) | [1,0] <= [a,i] < [w,n];
           [a,i] -> 7.0 | [a,i] < [m,n] }; }
bool[n] seen(double[n] x, int w) { return { [i] -> any({ [j] -> x[j] > 0.9 | [j] < [i] }) | [i] < [n] }; }
double[n] fails(double[n] x, int w) { return { [i] -> sum({ [j] -> x[j + w] | [j] < [i + 1] }) | [i] < [n] }; }
double[n] rounds(double[n] x, int w) {
  for (k = 0; k < w; k++) { x = { [i] -> sum({ [j] -> x[j] * 0.5 | [j] < [i + 1] }) | [i] < [n] }; }
  return x; }
int[n] inversions(double[n] x, int w) {
  return { [i] -> sum({ [j] -> x[j] > 0.5 ? 1 : 0 | [i + 1] <= [j] < [n] }) | [i] < [n] }; }
"""
NAMES = (
    "sums_", "before", "taken", "dropped", "behind", "from", "both", "rows", "columns", "scaled", "inner", "seen",
    "fails", "rounds", "inversions",
)  # fmt: skip


@cache
def modules(strict: bool) -> tuple[Any, Any]:
    native, meant = (sacpy.Session(target=target, strict_fp=strict).compile(PROGRAM) for target in ("cpu", "interp"))
    return native, meant


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_programs_give_what_the_interpreter_gives(name: str, strict: bool) -> None:
    native, meant = modules(strict)
    for n in (0, 1, 2, 9, 70):
        x = np.random.default_rng(n).random(n)
        if n == 9:
            x[4] = np.nan
        for w in (0, 1, 3):
            found: list[object] = []
            for module in (meant, native):
                try:
                    found.append(getattr(module, name)(x, w))
                except sacpy.SacError as error:
                    found.append(str(error))
            if isinstance(found[0], str) or isinstance(found[1], str):
                assert found[0] == found[1]
            elif strict:
                np.testing.assert_array_equal(found[1], found[0])
            else:
                np.testing.assert_allclose(found[1], found[0], rtol=1e-12)


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("fails", "from", "inner")])
def test_nothing_is_folded_anew_in_each_cell(name: str) -> None:
    text = sacpy.Session(target="cpu").emit("graph", name, PROGRAM)
    assert "fold from" not in text and " for i" in text
