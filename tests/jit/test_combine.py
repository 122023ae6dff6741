"""What is combined: steps, the functions of folds, cells, and nests with ends of their own."""

from __future__ import annotations

import re

import numpy as np
import pytest

from sacpy.jit.analysis.combine import cell_of, steps_of
from sacpy.jit.analysis.folds import recognised
from sacpy.jit.ir.graph import Fold, For, Let, WithLoop
from sacpy.jit.passes import accumulating
from tests.jit.graph_text import unit
from tests.jit.native_tools import agree_on
from tests.jit.pass_tools import after, unchanged
from tests.jit.test_host_tiling import COLUMNS, kinds, typed
from tests.jit.test_pass_accumulating import ROWS, product

ROUND = """
function f(int n, double[n] v, double z)
    double r = for i from 0 to n step 1 with double p := z
        double x = load v[i]
        {round}
        next b
    return r
"""
# What a round does; the code, whether it is of the negative, whether NaN stays. None: that is no step.
ROUNDS: dict[str, tuple[str, tuple[str, bool, bool] | None]] = {
    "sum": ("double b = add x, p", ("add", False, False)),
    "less": ("double b = sub p, x", ("add", True, False)),
    "the other way": ("double b = sub x, p", None),
    "least": ("bool c = lt x, p; double b = select c, x, p", ("min", False, False)),
    "greatest": ("bool c = ge p, x; double b = select c, p, x", ("max", False, False)),
    "another is compared": ("bool c = lt x, z; double b = select c, x, p", None),
    "sticky": (
        "bool u = neq p, p; bool c = le p, x; bool o = or u, c; double b = select o, p, x",
        ("min", False, True),
    ),
    "NaN of the value": ("bool u = neq x, x; bool c = le p, x; bool o = or u, c; double b = select o, p, x", None),
    "equal": ("bool c = eq p, x; double b = select c, p, x", None),
    "twice": ("double b = add p, p", None),
    "used": ("double b = add p, x; bool c = lt b, 9.0; check c : it is small", None),
    "the old one is used": ("bool c = lt p, 9.0; check c : it was small; double b = add p, x", None),
    "a quotient": ("double b = div p, x", None),
}


@pytest.mark.parametrize("name", ROUNDS)
def test_what_a_round_does(name: str) -> None:
    text, expected = ROUNDS[name]
    u = unit(ROUND.format(round=text.replace("; ", "\n        ")))
    loop = next(s.rhs for s in u.root.body.statements if isinstance(s, Let))
    assert isinstance(loop, For)
    found = steps_of(loop.body, loop.params, loop.body.results)
    if expected is None:
        assert found is None
    else:
        assert found is not None
        (step,) = found
        assert ((step.code, step.negative, step.sticky), step.new.name) == (expected, "b")
        assert step.exact is step.sticky and step.old.name == "p" and str(step.value.name) == "x"  # type: ignore[union-attr]


FOLD = """
function f(int n, double[n] v, double z)
    double r = with disjoint
        fold from z by (double acc), (double val)
            {function}
            give m
        part [0] <= [i] < [n]
            double x = load v[i]
            yield x
    return r
"""
FOLDS = {
    "least": ("bool c = ge acc, val; double m = select c, val, acc", ("min",)),
    "something else": ("double m = add acc, z", None),
    "a difference": ("double m = sub acc, val", None),
    "a check": ("bool c = lt val, 9.0; check c : it is small; double m = add acc, val", None),
}


@pytest.mark.parametrize("name", FOLDS)
def test_folds_that_are_reductions(name: str) -> None:
    text, codes = FOLDS[name]
    w = next(
        s.rhs
        for s in unit(FOLD.format(function=text.replace("; ", "\n            "))).root.body.statements
        if isinstance(s, Let)
    )
    assert isinstance(w, WithLoop) and isinstance(w.operators[0], Fold)
    found = recognised(w.operators[0])
    assert (found and found.codes) == codes


def test_cells_that_are_folds() -> None:
    def part(text: str) -> bool:
        w = next(s.rhs for s in unit(typed(text, "double")).root.body.statements if isinstance(s, Let))
        assert isinstance(w, WithLoop)
        return cell_of(w.partitions[0]) is not None

    assert part(COLUMNS)
    assert not part(COLUMNS.replace("fold from {zero}", "fold from {zero} until {seven}"))
    again = COLUMNS[COLUMNS.index("                part [0] <= [k]") : COLUMNS.index("            {base} result")]
    other = again
    for name in ("xy", "x", "y", "z", "k"):
        other = re.sub(rf"\b{name}\b", f"{name}1", other)
    assert not part(COLUMNS.replace(again, again + other))


def test_ends_that_are_loaded_stay() -> None:
    """They need not be there for elements that see no round."""
    text = (
        product("ikj")
        .replace("double[l,m] v,", "double[l,m] v, int q, int[q] ends,")
        .replace("to l step", "to end step")
    )
    row = "        double[n,m] rk"
    assert row in text
    unchanged(accumulating.run, text.replace(row, f"        int end = load ends[i]\n{row}"))


NESTED = """
function f(int n, int m, double[n,m] a, int l, double[n,l] u, double[l,m] v)
    double[n,m] r = for i from 0 to n step 1 with double[n,m] p := a
        double[n,m] o = for k from 0 to l step 1 with double[n,m] q := p
            double[n,m] c = for h from 0 to {end} step 1 with double[n,m] g := q
                double[n,m] e = for j from 0 to m step 1 with double[n,m] s := g
                    double x = load u[i,h]
                    double y = load v[k,j]
                    double t = mul x, y
                    double z = load s[i,j]
                    double w = add z, t
                    double[n,m] d = update s[i,j] with w
                    next d
                next e
            next c
        next o
    return n, m, r
"""


def test_ends_that_depend_on_other_rounds_stay() -> None:
    """A fold over k and h of which h ends where k says is no box of rounds."""
    assert "for" not in after(accumulating.run, NESTED.format(end="i")).split()
    unchanged(accumulating.run, NESTED.format(end="k"))


def test_a_row_that_is_used_elsewhere_stays() -> None:
    unchanged(
        accumulating.run,
        ROWS.replace(
            "            double[n,m] w = update q[i] with row\n",
            "            double first = load row[0]\n            double[n,m] w = update q[i] with row\n",
        ),
    )


SECOND = """                fold from {seven} by ({base} a2), ({base} v2)
                    {base} m2 = max a2, v2
                    give m2
                part [0] <= [k]"""


def test_two_different_steps_of_a_cell() -> None:
    text = (
        COLUMNS.replace("{base} sum = with", "{base} sum, {base} most = with")
        .replace("                part [0] <= [k]", SECOND)
        .replace("yield z", "yield z, xy")
        .replace("mul sum, offset", "mul sum, most")
    )
    u = unit(typed(text, "double"))
    assert kinds(u) == [False]
    rng = np.random.default_rng(3)
    agree_on(u, [[rng.normal(size=(2, 5, 40)), rng.normal(size=5), np.full(2, 5, "i4"), rng.normal(size=40)]])
