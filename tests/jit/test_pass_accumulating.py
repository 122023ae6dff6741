"""Nests of counting loops that add to elements: which become sums, and that nothing changes by it."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from sacpy.jit.ir.graph import Unit
from sacpy.jit.ir.graph_printer import print_unit
from sacpy.jit.passes import accumulating
from tests.jit.graph_evaluator import evaluate
from tests.jit.graph_text import unit
from tests.jit.native_tools import agree_on
from tests.jit.pass_tools import after, assert_keeps_meaning, check, unchanged

HEAD = "function f(int n, int m, double[n,m] a, int l, double[n,l] u, double[l,m] v, int lo, int hi)\n"
UPPER = {"i": "n", "j": "m", "k": "l"}


def product(order: str, lower: str = "0") -> str:
    """A matrix product with its loops in an order."""
    text, outer = "", "a"
    for depth, i in enumerate(order):
        text += (
            f"{'    ' * (depth + 1)}double[n,m] r{i} = for {i} from {lower if i == 'i' else 0} to {UPPER[i]} step "
            f"1 with double[n,m] p{i} := {outer}\n"
        )
        outer = f"p{i}"
    lines = [
        "double x = load u[i,k]",
        "double y = load v[k,j]",
        "double t = mul x, y",
        f"double z = load {outer}[i,j]",
        "double g = add z, t",
        f"double[n,m] h = update {outer}[i,j] with g",
        "next h",
    ]
    text += "".join(f"                {line}\n" for line in lines)
    for depth in (1, 0):
        text += f"{'    ' * (depth + 2)}next r{order[depth + 1]}\n"
    return HEAD + text + f"    return n, m, r{order[0]}\n"


def test_a_product_by_loops_is_a_sum_for_each_element() -> None:
    check(
        accumulating.run,
        product("ikj"),
        """
        function f(int n, int m, double[n,m] a, int l, double[n,l] u, double[l,m] v, int lo, int hi)
            double[n,m] ri = with [n,m] disjoint complete
                modarray a
                part [0,0] <= [i,j] < [n,m]
                    double x.1 = load a[i,j]
                    double s = with disjoint
                        fold from x.1 by (double acc), (double val)
                            double t.1 = add acc, val
                            give t.1
                        part [0] <= [k] < [l]
                            double x = load u[i,k]
                            double y = load v[k,j]
                            double t = mul x, y
                            yield t
                    yield s
            return n, m, ri
        """,
    )


RNG = np.random.default_rng(11)


def arguments() -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    for n, m, l_ in ((3, 4, 5), (1, 1, 1), (9, 14, 6), (0, 3, 2), (3, 0, 2), (3, 4, 0)):
        found.append((RNG.uniform(size=(n, m)), RNG.uniform(size=(n, l_)), RNG.uniform(size=(l_, m)), 1, 2))
    return found


@pytest.mark.parametrize(("order", "lower"), [*(("".join(p), "0") for p in permutations("ijk")), ("ikj", "2")])
def test_every_order_gives_the_same_bit_by_bit(order: str, lower: str) -> None:
    changed, many = changed_to(product(order, lower)), arguments()
    assert "for" not in print_unit(changed).split()
    assert repr(agree_on(changed, many)) == repr([tuple(evaluate(unit(product(order, lower)), args)) for args in many])


def changed_to(text: str) -> Unit:
    return unit(after(accumulating.run, text))


def test_bounds_that_leave_the_array_where_nothing_is_added_are_cut() -> None:
    text = product("ijk").replace("to m step", "to hi step")
    assert "min hi, m" in after(accumulating.run, text)
    rng = np.random.default_rng(2)
    many = [
        (rng.uniform(size=(3, 4)), rng.uniform(size=(3, l_)), rng.uniform(size=(l_, 4)), 0, hi)
        for l_, hi in ((0, 1000), (0, -3), (5, 3), (5, 4))
    ]
    assert repr(agree_on(changed_to(text), many)) == repr(agree_on(unit(text), many))


def test_any_terms_are_added_up_inside_where_the_loops_stand_like_that() -> None:
    text = product("ijk").replace("double t = mul x, y", "double w = exp x\n                double t = div w, y")
    assert "for" not in after(accumulating.run, text).split()
    unchanged(
        accumulating.run,
        product("kij").replace("double t = mul x, y", "double w = exp x\n                double t = div w, y"),
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("load pk[i,j]", "load pk[i,0]"),
        ("add z, t", "sub z, t"),
        ("load u[i,k]", "load pk[i,k]"),
        ("with g", "with t"),
        ("add z, t", "add z, z"),
        ("to l step 1", "to l step 2"),
        ("for k from 0", "for k from j"),
        ("for j from 0", "for j from lo"),
        (
            "double t = mul x, y",
            "bool c = lt k, hi\n                check c : low\n                double t = mul x, y",
        ),
    ],
)
def test_what_stays(old: str, new: str) -> None:
    assert old in product("ijk")
    unchanged(accumulating.run, product("ijk").replace(old, new))


def test_random_units_keep_their_meaning() -> None:
    assert assert_keeps_meaning(accumulating.run, range(40)) > 20
