"""Loops that combine elements of arrays with terms: which become folds, and that nothing changes by it."""

from __future__ import annotations

import re
from itertools import permutations

import numpy as np
import pytest

from sacpy.jit.analysis.contractions import contraction
from sacpy.jit.ir.graph import Let, Unit, WithLoop
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
                        fold from x.1 by (double z), (double val)
                            double g = add z, val
                            give g
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


STEPS = {
    "less": "double g = sub z, t",
    "least": "double g = min t, z",
    "product": "double g = mul z, t",
    "chosen": "bool c = le z, t\n                double g = select c, z, t",
    "sticky": "bool c = ge z, t\n                bool o = neq z, z\n                bool e = or o, c\n"
    "                double g = select e, z, t",
}


@pytest.mark.parametrize("step", STEPS)
def test_other_operations_and_ends_that_differ_from_row_to_row(step: str) -> None:
    text = product("ikj").replace("double g = add z, t", STEPS[step])
    text = text.replace("for k from 0 to l", "for k from i to end").replace(
        "    double[n,m] rk =", "    int s = add i, 2\n            int end = min s, l\n        double[n,m] rk ="
    )
    changed = changed_to(text)
    assert "for" not in print_unit(changed).split()
    many = [
        (RNG.choice([0.0, -0.0, np.nan, 1.5, -2.0], (n, m)), RNG.normal(size=(n, l_)), RNG.normal(size=(l_, m)), 1, 2)
        for n, m, l_ in ((9, 14, 6), (3, 0, 2), (3, 4, 0), (5, 70, 7))
    ]
    assert repr(agree_on(changed, many)) == repr([tuple(evaluate(unit(text), args)) for args in many])


ROWS = """
function f(int n, int m, double[n,m] a, int l, double[n,l] u, double[l,m] v)
    double[n,m] r = for i from 0 to n step 1 with double[n,m] p := a
        double[n,m] o = for k from 0 to l step 1 with double[n,m] q := p
            double x = load u[i,k]
            double[m] row = with [m] disjoint complete
                genarray double default 0.0
                part [0] <= [j] < [m]
                    double z = load q[i,j]
                    double y = load v[k,j]
                    double t = mul x, y
                    double g = sub z, t
                    yield g
            double[n,m] w = update q[i] with row
            next w
        next o
    return n, m, r
"""
INTERIOR = """
function f(int n, int m, double[n,m] a, int l, double[n,l] u, double[l,m] v)
    int e = sub n, 1
    int w = sub m, 1
    bool big = lt 1, e
    check big : there is an interior
    bool wide = lt 1, w
    check wide : there is an interior
    double[n,m] r = for k from 0 to l step 1 with double[n,m] p := a
        double[n,m] o = with [n,m] disjoint
            modarray p
            part [1,1] <= [i,j] < [e,w]
                double z = load p[i,j]
                double x = load u[i,k]
                double y = load v[k,j]
                double t = mul x, y
                double g = add t, z
                yield g
        next o
    return n, m, r
"""


@pytest.mark.parametrize("text", [ROWS, INTERIOR])
def test_rows_and_interiors_become_folds_too(text: str) -> None:
    changed = changed_to(text)
    assert "for" not in print_unit(changed).split() and "modarray a" in print_unit(changed)
    many = [(RNG.normal(size=(n, m)), RNG.normal(size=(n, k)), RNG.normal(size=(k, m))) for n, m, k in SIZES]
    assert repr(agree_on(changed, many)) == repr([tuple(evaluate(unit(text), args)) for args in many])


def test_where_each_element_has_terms_of_its_own_memory_is_read_in_its_order() -> None:
    text = INTERIOR.replace("int l, double[n,l] u", "int l, double[l,n,m] u").replace("load u[i,k]", "load u[k,i,j]")
    assert "fold" in after(accumulating.run, text)  # an element of v belongs to many
    unchanged(accumulating.run, text.replace("load v[k,j]", "load u[k,i,j]"))


SIZES = ((9, 14, 6), (3, 3, 2), (3, 4, 0), (5, 70, 7))


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (ROWS, "load q[i,j]", "load q[k,j]"),
        (ROWS, "update q[i]", "update q[k]"),
        (ROWS, "load v[k,j]", "load q[k,j]"),
        (INTERIOR, "load p[i,j]", "load p[j,i]"),
        (INTERIOR, "[1,1] <= [i,j]", "[k,1] <= [i,j]"),
        (INTERIOR, "[e,w]", "[e,w] step [2,1] width [1,1]"),
    ],
)
def test_rows_and_interiors_that_stay(text: str, old: str, new: str) -> None:
    assert old in text
    unchanged(accumulating.run, text.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("load pk[i,j]", "load pk[i,0]"),
        ("add z, t", "sub t, z"),
        ("load u[i,k]", "load pk[i,k]"),
        ("with g", "with t"),
        ("add z, t", "add z, z"),
        ("to l step 1", "to l step 2"),
        ("add z, t", "div z, t"),
        ("for j from 0", "for j from lo"),
        ("for j from 0", "for j from i"),
        (
            "double t = mul x, y",
            "bool c = lt k, hi\n                check c : low\n                double t = mul x, y",
        ),
    ],
)
def test_what_stays(old: str, new: str) -> None:
    assert old in product("ijk")
    unchanged(accumulating.run, product("ijk").replace(old, new))


ADDED = """
function f(int n, int m, int l, int u, double[n] x, double[n,m] v)
    double[m] zeros = with [m] disjoint
        genarray double default 0.5
    double[m] r = for j from l to u step 1 with double[m] a := zeros
        double w = load x[j]
        double[m] t = with [m] disjoint complete
            genarray double default 0.0
            part [0] <= [c] < [m]
                double y = load v[j,c]
                double p = mul w, y
                double b = load a[c]
                double z = add b, p
                yield z
        next t
    return m, r
"""


def test_a_loop_around_becomes_a_sum_inside() -> None:
    check(
        accumulating.run,
        ADDED,
        """
        function f(int n, int m, int l, int u, double[n] x, double[n,m] v)
            double[m] zeros = with [m] disjoint
                genarray double default 0.5
            double[m] r = with [m] disjoint complete
                genarray double default 0.5
                part [0] <= [c] < [m]
                    double s = with disjoint
                        fold from 0.5 by (double b), (double val)
                            double z = add b, val
                            give z
                        part [l] <= [j] < [u]
                            double w = load x[j]
                            double y = load v[j,c]
                            double p = mul w, y
                            yield p
                    yield s
            return m, r
        """,
    )


def test_sums_may_begin_with_the_elements_of_an_array() -> None:
    text = after(
        accumulating.run,
        ADDED.replace("double[m] a := zeros", "double[m] a := g").replace(
            "double[n,m] v)", "double[n,m] v, double[m] g)"
        ),
    )
    assert re.search(r"double (x\S*) = load g\[c\]\n.*\n +fold from \1 by", text)
    assert "for" not in text.split()


@pytest.mark.parametrize(
    "text",
    [
        ADDED,
        ADDED.replace("add b, p", "add p, b"),
        ADDED.replace("            genarray double default 0.0", "            modarray a"),
        ADDED.replace("double", "int").replace("0.5", "5").replace("0.0", "0"),
        ADDED.replace("load x[j]", "load x[j]\n        double q = div w, 3.0").replace("mul w, y", "mul q, y"),
        ADDED.replace(":= zeros", ":= g").replace(
            "    double[m] r = for",
            """    double[m] g = with [m] disjoint complete
        genarray double default 0.0
        part [0] <= [h] < [m]
            int hh = mul h, h
            double o = tod hh
            yield o
    double[m] r = for""",
        ),
    ],
)
def test_arrays_that_are_added_up_give_the_same(text: str) -> None:
    dtype = "i4" if "int[m] r" in text else "f8"
    rng = np.random.default_rng(1)
    u, sums = unit(text), accumulating.run(unit(text))
    assert "fold" in after(accumulating.run, text)
    # it pays
    assert [
        c.packed
        for c in map(
            contraction,
            [
                p
                for s in sums.root.body.statements
                if isinstance(s, Let) and isinstance(s.rhs, WithLoop)
                for p in s.rhs.partitions
            ],
        )
        if c
    ] == [False]
    for n, m, first, last in ((5, 4, 0, 5), (5, 4, 2, 3), (5, 1, 3, 3), (5, 3, 4, 1), (0, 3, 0, 0), (3, 0, 0, 3)):
        x, v = (3e8 * rng.standard_normal(n)).astype(dtype), (3e8 * rng.standard_normal((n, m))).astype(dtype)
        expected, found = (evaluate(g, [first, last, x, v])[-1] for g in (u, sums))
        assert np.array_equal(found, expected)


@pytest.mark.parametrize(
    "change",
    [
        ("add b, p", "sub p, b"),
        ("mul w, y", "pow w, y"),
        ("double w = load x[j]", "double w0 = load x[j]\n        double w = exp w0"),
        ("load v[j,c]", "load v[c,j]"),
        ("load v[j,c]", "load v[l,c]"),
        ("load a[c]", "load a[j]"),
        ("add b, p", "add b, b"),
        ("mul w, y", "mul b, y"),
        ("disjoint complete", "disjoint"),
        ("step 1", "step 2"),
        ("        double w = load x[j]\n", "        double w = load a[l]\n"),
        (
            "part [0] <= [c] < [m]\n                double y",
            "part [0] <= [c] < [m] step [2] width [1]\n                double y",
        ),
    ],
)
def test_what_is_no_such_sum_or_does_not_pay_stays(change: tuple[str, str]) -> None:
    assert change[0] in ADDED
    text = ADDED.replace(*change)
    if change[1].startswith("mul b"):
        text = text.replace("                double b = load a[c]\n", "").replace(
            "                double y =", "                double b = load a[c]\n                double y ="
        )
    unchanged(accumulating.run, text)


def test_indices_that_are_computed_in_a_round_are_no_terms() -> None:
    text = ADDED.replace("double", "int").replace("0.5", "5").replace("0.0", "0")
    unchanged(
        accumulating.run,
        text.replace(
            "                int y = load v[j,c]\n",
            "                int far = mul c, 2\n                int y = load v[j,far]\n"
            "                int near = load v[j,c]\n",
        ).replace("mul w, y", "mul near, y"),
    )


def test_random_units_keep_their_meaning() -> None:
    assert assert_keeps_meaning(accumulating.run, range(40)) > 20
