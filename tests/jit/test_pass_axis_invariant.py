"""What cells have in common along an axis is computed once, on printed graphs; the results are the same."""

from __future__ import annotations

import re
from textwrap import dedent

import numpy as np
import pytest

import sacpy
from sacpy.jit.passes import axis_invariant, optimise
from tests.jit.graph_text import unit
from tests.jit.native_tools import agree_on
from tests.jit.pass_tools import after, assert_keeps_meaning, check, unchanged

SCALED = """
function f(int n, int m, double[n,m] a, double[m] b, int c)
    double q0 = load b[0]
    double[n,m] r = with [n,m] disjoint{complete}
        genarray double default 0.0
        part [{lower}] <= [i,j] < [{upper}]{step}
            {before}
            double s = with disjoint
                fold from 0.0 by (double s1), (double s2)
                    double s3 = add s1, s2
                    give s3
                part [0] <= [k] < [{terms}]
                    double x = load a[{row},{column}]
                    yield x
            double d = sqrt s
            double y = load a[i,j]
            double z = div y, d
            {after}
            yield {value}
    return n, m, r
"""
FINE = {
    "complete": " complete",
    "lower": "0,0",
    "upper": "n,m",
    "step": "",
    "before": "double q = load b[j]",
    "terms": "n",
    "row": "k",
    "column": "j",
    "after": "double v = mul z, q",
    "value": "v",
}
ONCE = """
function f(int n, int m, double[n,m] a, double[m] b, int c)
    double q0 = load b[0]
    bool some = lt 0, n
    int extent = select some, m, 0
    double[extent] s.2 = with [extent] disjoint complete
        genarray double default 0.0
        part [0] <= [j.1] < [extent]
            double s.1 = with disjoint
                fold from 0.0 by (double s1.1), (double s2.1)
                    double s3.1 = add s1.1, s2.1
                    give s3.1
                part [0] <= [k.1] < [n]
                    double x.1 = load a[k.1,j.1]
                    yield x.1
            yield s.1
    double[extent] d.2 = with [extent] disjoint complete
        genarray double default 0.0
        part [0] <= [j.2] < [extent]
            double s.3 = load s.2[j.2]
            double d.1 = sqrt s.3
            yield d.1
    double[n,m] r = with [n,m] disjoint complete
        genarray double default 0.0
        part [0,0] <= [i,j] < [n,m]
            double d = load d.2[j]
            double s = load s.2[j]
            double q = load b[j]
            double y = load a[i,j]
            double z = div y, d
            double v = mul z, q
            yield v
    return n, m, r
"""


def scaled(**changed: str) -> str:
    return SCALED.format(**(FINE | changed))


def test_a_sum_down_a_column_is_made_once_and_what_follows_from_it() -> None:
    check(axis_invariant.run, scaled(), ONCE)


@pytest.mark.parametrize(
    "changed",
    [
        {"row": "i", "column": "k", "terms": "m"},  # along a row: it stands in front of the loop over columns
        {"before": "double q = load b[j]\n            bool p = lt 0, n\n            check p : something"},
        {"step": " step [2,2] width [1,1]", "complete": ""},
        {"lower": "0,1", "complete": ""},  # there would be values that nobody needs
        {"upper": "3,m", "complete": ""},  # for three rows
        {"upper": "n,m", "terms": "2"},  # which is soon done
        {"before": "int l = add i, 0\n            double q = load b[j]", "row": "l", "terms": "m"},
    ],
)  # fmt: skip
def test_what_is_in_front_of_a_loop_or_worth_little_stays(changed: dict[str, str]) -> None:
    unchanged(axis_invariant.run, scaled(**changed))


def test_a_fold_that_stops_may_not_come_to_an_index() -> None:
    text = """
    function f(int n, int m, double[n,m] a, double[m] b)
        bool r = with disjoint
            fold from false until true by (bool s1), (bool s2)
                bool s3 = or s1, s2
                give s3
            part [0,0] <= [i,j] < [n,m]
                double q = load b[j]
                double e = exp q
                double x = load a[i,j]
                bool y = lt x, e
                yield y
        return r
    """
    unchanged(axis_invariant.run, dedent(text))
    assert "[extent" in after(axis_invariant.run, dedent(text.replace(" until true", "")))


def test_what_is_everywhere_the_same_is_a_number() -> None:
    """Unless there is no cell, which needs it."""
    text = after(axis_invariant.run, scaled(column="0"))
    assert re.search(r"bool some\.2 = and some, some\.1\n +double s = if some\.2\n", text)
    assert "double[extent]" not in text


ROUNDS = """
function f(int n, int m, double[n] a, double[m] b, double t)
    double r = for k from {first} to {last} step {step} with double y := t
        {before}
        double s = with disjoint
            fold from 0.0 by (double s1), (double s2)
                double s3 = add s1, s2
                give s3
            part [0] <= [i] < [n]
                double x = load a[i]
                double x1 = {term}
                yield x1
        double z = add y, s
        next z
    return r
"""
ALIKE = {"first": "0", "last": "m", "step": "1", "before": "double q = load b[k]", "term": "mul x, x"}


@pytest.mark.parametrize("changed", [{}, {"first": "m", "last": "0", "step": "-1", "before": "double q = load b[0]"}])
def test_what_all_rounds_do_alike_is_done_once(changed: dict[str, str]) -> None:
    text = ROUNDS.format(**(ALIKE | changed))
    found = after(axis_invariant.run, text)
    assert found.index("fold from") < found.index("for k") and "else\n" in found
    for n, m in ((0, 3), (3, 0), (5, 4)):
        rng = np.random.default_rng(n)
        u = unit(text.replace(text.split("\n")[3], "") if "b[0]" in text else text)
        agree_on(axis_invariant.run(u), [(rng.random(n), rng.random(m), 0.5)])


@pytest.mark.parametrize(
    "changed",
    [
        {"term": "mul x, y"},  # what is carried
        {"term": "mul x, q"},
        {"before": "bool p = lt 0, n\n        check p : something"},
    ],
)
def test_what_rounds_do_each_in_its_way_stays(changed: dict[str, str]) -> None:
    unchanged(axis_invariant.run, ROUNDS.format(**(ALIKE | changed)))


@pytest.mark.parametrize("column", ["j", "0"])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (5, 7), (40, 2)])
def test_the_results_are_the_same(shape: tuple[int, int], column: str) -> None:
    rng = np.random.default_rng(shape)
    u = unit(scaled(column=column).replace("    double q0 = load b[0]\n", ""))
    agree_on(optimise(axis_invariant.run(u), host=True), [(rng.random(shape), rng.random(shape[1]), 1)])


def test_random_units_keep_their_meaning() -> None:
    assert_keeps_meaning(axis_invariant.run, range(60))


PROGRAM = """
use Array: all; use Math: all;
double[n,m] columns(double[n,m] a) {
  return { [i,j] -> (a[i,j] - sum(a[.,j]) / tod(n)) / (1.0 + maxval(a[.,j] * a[.,j])) | [i,j] < [n,m] }; }
double[n,m] first(double[n,m] a) { return { [i,j] -> a[i,j] - exp(a[0,j]) | [i,j] < [n,m] }; }
double all(double[n,m] a) { return sum({ [i,j] -> a[i,j] * exp(a[n-1,j]) * sin(a[0,j]) | [i,j] < [n,m] }); }
double[n,m,m] middle(double[n,m] a) { return { [i,j,k] -> a[i,j] + exp(a[i,k]) * tod(j) | [i,j,k] < [n,m,m] }; }
double[n,m] two(double[n,m] a) {
  return { [i,j] -> exp(a[0,j]) + a[i,j] | [1,0] <= [i,j] < [n,m]; [i,j] -> exp(a[0,j]) - sum(a[0])
    | [0,0] <= [i,j] < [1,m] }; }
double rounds(double[n,m] a) {
  s = 0.0; for (q = 0; q < 5; q++) { a = { [i,j] -> a[i,j] / (1.0 + fabs(sum({ [k] -> a[k,j]
    | [k] < [n] }))) | [i,j] < [n,m] }; s += sum(a); } return s; }
double[n,m] partly(double[n,m] a) {
  r = a; if (n > 2) { r = { [i,j] -> a[i,j] * exp(a[2,j]) | [i,j] < [n,m] }; } return r; }
double[n] spread(double[n,m] a) { return { [i] -> a[i,0] - sum(a) / tod(n) + sum(a[n-1]) | [i] < [n] }; }
double variance(double[n,m] a) { return sum({ [i,j] -> pow(a[i,j] - sum(a) / tod(n * m), 2.0) | [i,j] < [n,m] }); }
double in_order(double[n,m] a) { s = 0.0; for (i = 0; i < n; i++) { s = 0.5 * s + sum(a) * sum(a[0]); } return s; }
double deeper(double[n,m] a) {
  return sum({ [i] -> sum({ [j] -> a[i,j] * sum(a[i]) | [j] < [m] }) * sum(a) | [i] < [n] }); }
int[n,m] never(int[n,m] a) { return { [i,j] -> a[i,j] / sum({ [k] -> a[k % n,j] | [k] < [20] }) | [i,j] < [n,m] }; }
"""


@pytest.mark.parametrize(
    "name",
    [
        "columns",
        "first",
        "all",
        "middle",
        "two",
        "rounds",
        "partly",
        "spread",
        "variance",
        "in_order",
        "deeper",
        "never",
    ],
)
@pytest.mark.parametrize("shape", [(5, 7), (1, 1), (0, 4), (4, 0), (0, 0), (30, 20)])
def test_programs_give_what_the_interpreter_gives(name: str, shape: tuple[int, int]) -> None:
    """Where there is no row nobody looks at the first one, and nobody divides by a sum of no row."""
    a = np.random.default_rng(shape).random(shape)
    if name == "never":
        a = (9 * a).astype(np.int32)
    found = []
    for target in ("interp", "cpu"):
        try:
            found.append(getattr(sacpy.Session(target=target).compile(PROGRAM), name)(a))
        except sacpy.SacError as error:
            found.append(error.diagnostics[0].code)
    assert isinstance(found[0], str) == isinstance(found[1], str)
    if isinstance(found[0], str):
        assert found[0] == found[1]
    else:
        np.testing.assert_allclose(found[1], found[0], rtol=1e-12)


INNER = """
use Array: all; use Math: all;
double[n] weighted(double[n,m] a, double[m] x) {
  return { [i] -> sum({ [k] -> exp(x[k]) * a[i,k] | [k] < [m] }) | [i] < [n] }; }
double[n,m] product(double[n,m] a, double[m] x) {
  return { [i,j] -> sum({ [k] -> a[i,k] * exp(a[k % n,j]) * sin(x[j]) | [k] < [m] }) | [i,j] < [n,m] }; }
double total(double[n,m] a, double[m] x) {
  return sum({ [i] -> maxval({ [k] -> exp(x[k]) * a[i,k] | [k] < [m] }) | [i] < [n] }); }
double[n] first(double[n,m] a, double[m] x) {
  return { [i] -> sum({ [k] -> exp(a[0,k]) * a[i,k] | [k] < [m] }) | [i] < [n] }; }
double[n] two(double[n,m] a, double[m] x) {
  return { [i] -> sum({ [k,l] -> exp(x[k]) * cos(x[l]) * a[i,k] | [k,l] < [m,m] }) | [i] < [n] }; }
double[n] folds(double[n,m] a, double[m] x) {
  return { [i] -> sum({ [k] -> sum({ [l] -> x[l] * x[k] | [l] < [m] }) * a[i,k] | [k] < [m] }) | [i] < [n] }; }
double[n] checked(double[n,m] a, double[m] x) {
  return { [i] -> sum({ [k] -> exp(x[k+1]) * a[i,k] | [k] < [max(m - 1, 0)] }) | [i] < [n] }; }
double[n] partly(double[n,m] a, double[m] x) {
  return { [i] -> i > 0 ? sum({ [k] -> exp(x[k]) * a[i,k] | [k] < [m] }) : 0.0 | [i] < [n] }; }
double[n] shorter(double[n,m] a, double[m] x) {
  return { [i] -> sum({ [k] -> exp(tod(k)) | [k] < [min(i, m)] }) | [i] < [n] }; }
double[n,m] table(double[n,m] a, double[m] x) {
  return { [i,j] -> sum({ [k] -> a[i,k] * exp(x[k] * x[j]) | [k] < [m] }) | [i,j] < [n,m] }; }
"""
KEPT = ("partly", "shorter", "product", "table")  # for some cells, checked; no array is as large as a table of pairs


@pytest.mark.parametrize("name", re.findall(r"(\w+)\(double\[n,m\] a", INNER))
@pytest.mark.parametrize("shape", [(5, 7), (1, 1), (0, 4), (4, 0), (0, 0), (30, 20)])
def test_what_depends_on_the_indices_of_inner_loops(name: str, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(shape)
    a, x = rng.random(shape), rng.random(shape[1])
    expected, found = (getattr(sacpy.Session(target=target).compile(INNER), name)(a, x) for target in ("interp", "cpu"))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("name", re.findall(r"(\w+)\(double\[n,m\] a", INNER))
def test_inner_loops_load_what_took_long(name: str) -> None:
    last = re.split(r"^    (?=\S)", sacpy.Session(target="cpu").emit("graph", name, INNER), flags=re.MULTILINE)[-2]
    assert last.count("with ") > 1 or name == "total"
    assert ("exp" in last or "cos" in last or last.count("fold from") > 1 + (name == "total")) == (name in KEPT)


def test_columns_are_folded_for_all_rows_at_once() -> None:
    text = sacpy.Session(target="cpu").emit("graph", "columns", PROGRAM)
    body = text[text.rindex("part [0,0] <= [i,j]") :]
    assert "fold" not in body
    assert text.count("fold from") == 2, "two of one column, though the formula has three"


def test_equal_folds_are_computed_once() -> None:
    text = "use Array: all; double f(double[n] a) { return sum(a * a) / (1.0 + sum(a * a)) + maxval(a * a); }"
    assert sacpy.Session(target="cpu").emit("graph", "f", text).count("fold from") == 2


def test_other_folds_are_not() -> None:
    text = """use Array: all; double f(double[n] a, double[n] b, int k) {
      return sum(a * a) - sum(a * b) + sum({ [i] -> a[i] * a[i] | [i] < [k] }) + sum({ [i] -> a[i] * a[k]
    | [i] < [n] })
             - sum({ [i] -> a[i] + a[i] | [i] < [n] }); }"""
    assert sacpy.Session(target="cpu").emit("graph", "f", text).count("fold from") == 5
