"""Folds of what data say is a cell's own go through the data once, on printed graphs and in programs; the results are
the same."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import sacpy
from sacpy.jit.passes import class_folds
from tests.jit.graph_text import unit
from tests.jit.native_tools import agree_on
from tests.jit.pass_tools import after, assert_keeps_meaning, outcome, unchanged

TEXT = """
function f(int n, int[n] v, double[n] x, int b, int first)
    bool low = le 0, b
    check low : an extent is not negative
    bool high = lt b, 1000
    check high : an extent is not too large
    {base}[b] r = with [b] disjoint
        genarray {base} default {zero}
        part [{lower}] <= [k] < [b]
            {ahead}
            {base} s = with disjoint
                fold from {start} by ({base} s1), ({base} s2)
                    {base} s3 = {operation} s1, s2
                    give s3
                part [0] <= [i] < [n]
                    int c = load v[i]
                    bool q = {condition}
                    {value}
                    yield y
            yield s
    return b, r
"""
FINE = {
    "base": "int", "zero": "0", "start": "0", "lower": "0", "ahead": "int ahead = add! k, 1", "operation": "add",
    "condition": "eq c, k", "value": "int y = select q, 1, 0",
}  # fmt: skip
REAL = {"base": "double", "zero": "0.0", "start": "0.0"}
LOADED = """double y = if q
                        double w = load x[i]
                        give w
                    else
                        give 0.0"""
SELECTED = "double w = load x[i]\n                    double y = select q, w, 0.0"


def classes(**changed: str) -> str:
    return TEXT.format(**(FINE | changed))


def inputs() -> list[list[object]]:
    rng = np.random.default_rng(6)
    return [
        [rng.integers(-2, b + 2, n).astype(np.int32), rng.normal(size=n), b, first]
        for n, b, first in ((0, 0, 0), (0, 40, 2), (5, 3, 0), (50, 16, 1), (50, 17, 0), (90, 40, 7), (9, 60, 60))
    ]


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"condition": "eq k, c"},
        {"start": "7"},
        {"operation": "max", "start": "-2147483648", "value": "int y = select q, c, -2147483648"},
        {"operation": "mul", "start": "1", "value": "int y = select q, c, 1"},
        {"lower": "3"},
        REAL | {"value": LOADED},
        REAL | {"value": SELECTED},
    ],
)
def test_the_data_are_gone_through_once(changed: dict[str, str]) -> None:
    text = classes(**changed)
    found = after(class_folds.run, text)
    assert "= if many" in found and found.count("= for") == 1 == found.count("fold from"), "which is for few groups"
    for args in inputs():
        made = class_folds.run(unit(text))
        assert outcome(made, args) == outcome(unit(text), args)  # type: ignore[arg-type]
        agree_on(made, [tuple(args)])


def test_a_first_group_that_is_not_known() -> None:
    text = classes(lower="low2").replace(
        "    int[b] r", "    int low1 = max first, 0\n    int low2 = min low1, b\n    int[b] r"
    )
    assert "= if many" in after(class_folds.run, text)
    for args in inputs():
        assert outcome(class_folds.run(unit(text)), args) == outcome(unit(text), args)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changed",
    [
        {"condition": "lt c, k"},
        {"condition": "eq c, b"},
        {"value": "int y = select q, k, 0"},
        {"value": "int y = select q, 1, 2"},
        {"value": "int y = select q, 0, 1"},
        {"operation": "max", "start": "0", "value": "int y = select q, 1, 0"},
        {"ahead": "bool ok = lt k, n\n            check ok : something"},
        REAL | {"operation": "max", "value": SELECTED},
        REAL | {"start": "-0.0", "value": SELECTED},
    ],
)
def test_others_stay(changed: dict[str, str]) -> None:
    unchanged(class_folds.run, classes(**changed))


def test_few_groups_that_are_known() -> None:
    text = classes().replace("[b] r", "[16] r").replace("with [b]", "with [16]").replace("< [b]", "< [16]")
    text = text.replace("return b, r", "return r")
    unchanged(class_folds.run, text)
    text = text.replace("[16]", "[17]")
    assert "= for" in after(class_folds.run, text)


def test_random_units_keep_their_meaning() -> None:
    assert_keeps_meaning(class_folds.run, range(900, 940), raises_checks=True)


PROGRAM = """
use Array: all;
int[b] counts(double[n] x, int[n] g, int b) {
  return { [k] -> sum({ [i] -> g[i] == k ? 1 : 0 | [i] < [n] }) | [k] < [b] }; }
double[b] sums_(double[n] x, int[n] g, int b) {
  return { [k] -> sum({ [i] -> g[i] == k ? x[i] : 0.0 | [i] < [n] }) | [k] < [b] }; }
double[b] means(double[n] x, int[n] g, int b) {
  return { [k] -> sum({ [i] -> g[i] == k ? x[i] : 0.0 | [i] < [n] })
                  / tod(max(1, sum({ [i] -> g[i] == k ? 1 : 0 | [i] < [n] }))) | [k] < [b] }; }
double[b,d] centres(double[n] x, int[n] g, int b) | (d == 3) {
  d = 3;
  p = { [i,j] -> x[i] * tod(j) | [i,j] < [n,3] };
  return { [k,j] -> sum({ [i] -> g[i] == k ? p[i,j] : 0.0 | [i] < [n] }) | [k,j] < [b,d] }; }
double[b] looked_up(double[n] x, int[n] g, int b) {
  w = genarray([b], 2.5);
  return { [k] -> sum({ [i] -> g[i] == k ? x[i] * w[g[i]] : 0.0 | [i] < [n] }) | [k] < [b] }; }
double[b] fails(double[n] x, int[n] g, int b) {
  return { [k] -> sum({ [i] -> g[i] == k ? x[i + g[i]] : 0.0 | [i] < [n] }) | [k] < [b] }; }
"""


@cache
def modules() -> tuple[Any, Any]:
    native, meant = (sacpy.Session(target=target).compile(PROGRAM) for target in ("cpu", "interp"))
    return native, meant


@pytest.mark.parametrize("name", ["counts", "sums_", "means", "centres", "looked_up", "fails"])
def test_programs_give_what_the_interpreter_gives(name: str) -> None:
    native, meant = modules()
    rng = np.random.default_rng(1)
    for n, b in ((0, 0), (0, 20), (5, 3), (80, 40), (3000, 100)):
        x, g = rng.random(n), rng.integers(-3, b + 3, n).astype(np.int32)
        found: list[object] = []
        for module in (meant, native):
            try:
                found.append(getattr(module, name)(x, g, b))
            except sacpy.SacError as error:
                found.append(str(error))
        if isinstance(found[0], str) or isinstance(found[1], str):
            assert found[0] == found[1]
        else:
            np.testing.assert_allclose(found[1], found[0], rtol=1e-12)
