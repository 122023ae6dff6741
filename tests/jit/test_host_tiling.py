"""Contractions, which are computed in register tiles: equal to the plain nest, bit by bit where floating point is
strict."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from sacpy.jit.analysis.contractions import contraction
from sacpy.jit.failures import CheckFailed
from sacpy.jit.host.lowering import lower
from sacpy.jit.ir.graph import Atom, Const, Let, Unit, Var, WithLoop, statements
from sacpy.jit.options import Options
from sacpy.lang.types import REAL
from tests.jit.builder import B, arguments, unit
from tests.jit.graph_text import unit as parsed
from tests.jit.native_tools import STRICT, agree, agree_on, compiled, on_threads

RNG = np.random.default_rng(5)


def product(left: str, right: str, base: str = "double", lower: tuple[int, int] = (0, 0), extra: bool = False) -> Unit:
    """Sums over k of a[left] * b[right], for all i and j."""
    b = B()
    params, (x, y), inputs = arguments(b, (base, 2), (base, 2))
    ranges: dict[str, Atom] = {}
    for v, letters in ((x, left), (y, right)):
        for axis, letter in enumerate(letters):
            ranges.setdefault(letter, v.type.extents[axis])  # type: ignore[union-attr]

    def body(c: B, i: Var, j: Var) -> Atom:
        def term(d: B, k: Var) -> Atom:
            at = {"i": i, "j": j, "k": k}
            value = d.op("mul", d.load(x, *[at[s] for s in left]), d.load(y, *[at[s] for s in right]))
            return d.op("sub", d.op("neg", value), Const(base, 0.5)) if extra else value

        return c.fold("add", Const(base, 0.25 if base in REAL else 3), [c.partition([0], [ranges["k"]], term)])

    frame = [ranges["i"], ranges["j"]]
    return unit(b, params, inputs, [b.genarray(base, frame, [b.partition(lower, frame, body)], default=7)])


def kinds(u: Unit) -> list[bool]:
    """Of the contractions of a unit, whether they are packed."""
    parts = [
        p
        for s in statements(u.root.body)
        if isinstance(s, Let) and isinstance(s.rhs, WithLoop)
        for p in s.rhs.partitions
    ]
    return [c.packed for c in map(contraction, parts) if c is not None]


def is_tiled(u: Unit) -> bool:
    return bool(kinds(u))


def typed(text: str, base: str) -> str:
    """A text with a base type, and constants of it, put in."""
    real = base in REAL
    return text.format(base=base, zero=f"{'0.0' if real else '0'}:{base}", seven=f"{'7.0' if real else '7'}:{base}")


def shapes(left: str, right: str, i: int, j: int, k: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    sizes = {"i": i, "j": j, "k": k}
    return tuple(sizes[s] for s in left), tuple(sizes[s] for s in right)


@pytest.mark.sample(2)
@pytest.mark.parametrize(("left", "right"), [("ik", "kj"), ("ik", "jk"), ("ki", "kj"), ("ki", "jk"), ("kj", "ik")])
def test_all_layouts_are_tiled_and_strict(left: str, right: str) -> None:
    for base, dtype in (("double", "f8"), ("float", "f4"), ("int", "i4"), ("ulong", "u8")):
        u = product(left, right, base)
        assert kinds(u) == [True]
        sizes = ((1, 1, 1), (9, 27, 3), (17, 50, 5), (0, 3, 2), (3, 0, 2), (8, 24, 0))
        agree_on(
            u,
            [
                [(1e9 * RNG.standard_normal(s)).astype("i8").astype(dtype) for s in shapes(left, right, *size)]
                for size in sizes
            ],
        )


def test_bounds_and_longer_bodies() -> None:
    u = product("ik", "kj", extra=True, lower=(2, 3))
    agree(u, RNG.standard_normal((20, 6)), RNG.standard_normal((6, 40)))


def test_large_products_on_threads() -> None:
    u = product("ik", "kj")
    for options in (STRICT, Options(threads=3)):
        f = compiled(u, options)
        a, b = RNG.standard_normal((203, 190)), RNG.standard_normal((190, 207))
        found = [f.call((a, b))[0] for f.context.threads in (1, 2, 3)]
        assert all((x == found[0]).all() for x in found)
        assert np.allclose(found[0], a @ b + 0.25, rtol=1e-12)


def test_what_does_not_reuse_is_not_tiled() -> None:
    # nothing depends on i alone with k, and what depends on k lies side by side along it
    assert not is_tiled(product("ij", "jk"))
    b = B()
    params, (x,), inputs = arguments(b, ("double", 2))
    n = params[0]
    r = b.genarray(
        "double",
        [n, n],
        [
            b.partition(
                [0, 0],
                [n, n],
                lambda c, i, j: c.fold(
                    "add",
                    Const("double", 0.0),
                    [c.partition([0], [j], lambda d, k: d.op("mul", d.load(x, i, k), d.load(x, k, j)))],
                ),
            )
        ],
    )
    u = unit(b, params, inputs, [r])
    assert not is_tiled(u)
    agree(u, RNG.standard_normal((6, 6)))


def test_products_of_one_array_with_itself_inside_a_body() -> None:
    b = B()
    params, (x,), inputs = arguments(b, ("double", 3))
    m, n = params[0], params[1]

    def outer(c: B, p: Var) -> Atom:
        return c.genarray(
            "double",
            [n, n],
            [
                c.partition(
                    [0, 0],
                    [n, n],
                    lambda d, i, j: d.fold(
                        "add",
                        Const("double", 0.0),
                        [d.partition([0], [n], lambda e, k: e.op("mul", e.load(x, p, i, k), e.load(x, p, k, j)))],
                    ),
                )
            ],
        )

    r = b.genarray("double", [m], [b.partition([0], [m], outer)], default=b.genarray("double", [n, n], []), cell=[n, n])
    agree(unit(b, params, inputs, [r]), RNG.standard_normal((3, 10, 10)))


def test_code_is_the_same_for_any_number_of_threads() -> None:
    u = product("ik", "kj")
    assert lower(u, Options(threads=1)) == lower(u, Options(threads=4)) == lower(u, Options(threads=1))


AROUND = """
function f(int n, int m, int l, {base}[n,m] a, {base}[m,l] b, {base}[n] s, int[n] t)
    {base}[n,l] r = with [n,l] disjoint complete
        genarray {base} default {seven}
        part [0,0] <= [i,j] < [n,l]
            {base} before = load s[i]
            {base} sum = with disjoint
                fold from {zero} by ({base} acc), ({base} val)
                    {base} more = add acc, val
                    give more
                part [0] <= [k] < [m]
                    {base} x = load a[i,k]
                    {base} y = load b[k,j]
                    {base} xy = mul x, y
                    {base} z = mul before, xy
                    yield z
            bool c = lt sum, before
            {base} least = select c, before, sum
            {base} end = sub least, before
            yield end
    return n, l, r
"""


@pytest.mark.parametrize(("base", "dtype"), [("double", "f8"), ("float", "f4"), ("int", "i4"), ("long", "i8")])
def test_what_else_a_body_has_runs_for_each_cell(base: str, dtype: str) -> None:
    u = parsed(typed(AROUND, base))
    assert kinds(u) == [True]
    shapes = ((1, 1, 1), (9, 3, 27), (17, 5, 50), (8, 0, 24), (0, 1, 1), (3, 2, 0))
    agree_on(
        u,
        [
            [(100 * RNG.standard_normal(s)).astype(dtype) for s in ((n, m), (m, k), (n,))] + [np.zeros(n, "i4")]
            for n, m, k in shapes
        ],
    )


PARTS = """
function f(int n, int m, {base}[n,m,2] a, int l, {base}[m,l,2] b, {base}[l] s)
    {base}[n,l,2] r, {base}[n,l] q = with [n,l] disjoint complete
        genarray {base} cell [2] default {seven}
        genarray {base} default {seven}
        part [0,0] <= [i,j] < [n,l]
            {base} re, {base} im = with disjoint
                fold from {zero}, {seven} by ({base} acc.1, {base} acc.2), ({base} val.1, {base} val.2)
                    {base} more.1 = add acc.1, val.1
                    {base} more.2 = add acc.2, val.2
                    give more.1, more.2
                part [0] <= [k] < [m]
                    {base} ar = load a[i,k,0]
                    {base} ai = load a[i,k,1]
                    {base} br = load b[k,j,0]
                    {base} bi = load b[k,j,1]
                    {base} rr = mul ar, br
                    {base} ii = mul ai, bi
                    {base} ri = mul ar, bi
                    {base} ir = mul ai, br
                    {base} x = sub rr, ii
                    {base} y = add ri, ir
                    yield x, y
            {base} o = load s[j]
            {base} far = add re, o
            {base}[2] c = array {base}[2] of far, im
            yield c, im
    return n, l, r, q
"""
CELLS = (
    "            {base} o = load s[j]\n            {base} far = add re, o\n"
    "            {base}[2] c = array {base}[2] of far, im\n            yield c, im"
)


@pytest.mark.sample(2)
@pytest.mark.parametrize(("base", "dtype"), [("double", "f8"), ("float", "f4"), ("int", "i4"), ("ulong", "u8")])
def test_several_sums_of_a_cell_are_computed_in_one_tile(base: str, dtype: str) -> None:
    """A product of complex matrices, to cells of two numbers and to arrays of the parts; results of a partition that
    are and are not its sums."""
    apart = PARTS.replace("{base}[n,l,2] r", "{base}[n,l] r").replace("cell [2] ", "")
    rows = [(1, 1, 1), (9, 3, 27), (3, 5, 50), (17, 2, 24), (8, 0, 24), (0, 1, 1), (3, 2, 0)]
    many = [
        [(1e4 * RNG.standard_normal(s)).astype("i8").astype(dtype) for s in ((n, m, 2), (m, k, 2), (k,))]
        for n, m, k in rows
    ]
    for text in (
        PARTS,
        apart.replace(CELLS, "            yield re, im"),
        apart.replace(CELLS, "            yield im, re"),
        apart.replace(CELLS, "            {base} least = min re, im\n            yield least, {seven}"),
    ):
        u = parsed(typed(text, base))
        assert kinds(u) == [True]
        agree_on(u, many)


def test_so_are_the_sums_of_columns_and_those_of_two_folds() -> None:
    """Sums and sums of squares."""
    for sums, rows in (("double r.1, double r.2", 3), ("double r.1, double r.2, double r.3, double r.4", 5)):
        names = re.findall(r"r\.\d", sums)
        folds = "\n".join(
            f"""
                    fold from {k}.5 by (double acc.{k}), (double val.{k})
                        double more.{k} = add acc.{k}, val.{k}
                        give more.{k}"""
            for k, _ in enumerate(names)
        )
        text = f"""
        function f(int n, int m, int l, double[n,m,l] a)
            {", ".join(f"double[n,l] w{k}" for k, _ in enumerate(names))} = with [n,l] disjoint complete
                {"".join("genarray double default 0.0" + chr(10) + 16 * " " for _ in names)}part [0,0] <= [i,j] < [n,l]
                    {sums} = with disjoint{folds.replace(chr(10), chr(10) + 4 * " ")}
                        part [0] <= [k] < [m]
                            double x = load a[i,k,j]
                            double y = mul x, x
                            double z = sub x, y
                            double t = neg x
                            yield {", ".join(["x", "y", "z", "t"][: len(names)])}
                    yield {", ".join(names)}
            return n, l, {", ".join(f"w{k}" for k, _ in enumerate(names))}
        """
        u = parsed(text)
        assert kinds(u) == [False]
        agree_on(
            u,
            [
                [RNG.standard_normal(s)]
                for s in ((rows, 3, 1), (2, 5, 7), (2, 4, 70), (1, 3, 131), (2, 0, 9), (0, 3, 3), (3, 3, 0))
            ],
        )


COLUMNS = """
function f(int n, int m, int l, {base}[n,m,l] a, {base}[m] w, int[n] ends, {base}[l] o)
    {base}[n,l] r = with [n,l] disjoint complete
        genarray {base} default {seven}
        part [0,0] <= [i,j] < [n,l]
            int end = load ends[i]
            bool ok = le end, m
            check ok : rows end in the array
            {base} offset = load o[j]
            {base} sum = with disjoint
                fold from {zero} by ({base} acc), ({base} val)
                    {base} more = add acc, val
                    give more
                part [0] <= [k] < [end]
                    {base} x = load a[i,k,j]
                    {base} y = load w[k]
                    {base} xy = mul x, y
                    {base} z = sub xy, offset
                    yield z
            {base} result = mul sum, offset
            yield result
    return n, l, r
"""


@pytest.mark.parametrize(("base", "dtype"), [("double", "f8"), ("float", "f4"), ("int", "i4"), ("ulong", "u8")])
def test_sums_of_columns_have_tiles_of_one_row(base: str, dtype: str) -> None:
    u = parsed(typed(COLUMNS, base))
    assert kinds(u) == [False]
    many = []
    for n, m, k in ((1, 1, 1), (3, 4, 15), (2, 5, 64), (2, 3, 65), (3, 2, 200), (2, 0, 9), (0, 3, 3), (3, 3, 0)):
        a, w, o = ((10 * RNG.standard_normal(s)).astype("i8").astype(dtype) for s in ((n, m, k), (m,), (k,)))
        many.append([a, w, RNG.integers(-1, m + 1, n).astype("i4"), o])
    agree_on(u, many)
    with pytest.raises(CheckFailed):
        compiled(u).call((np.ones((2, 3, 4), dtype), np.ones(3, dtype), np.array([1, 4], "i4"), np.ones(4, dtype)))


def test_sums_of_columns_on_threads() -> None:
    text = """
        function f(int n, int m, double[n,m] a)
            double[m] r = with [m] disjoint complete
                genarray double default 0.0
                part [0] <= [j] < [m]
                    double sum = with disjoint
                        fold from 0.0 by (double acc), (double val)
                            double more = add acc, val
                            give more
                        part [0] <= [i] < [n]
                            double x = load a[i,j]
                            yield x
                    yield sum
            return m, r
        """
    u = parsed(text)
    assert kinds(u) == [False]
    a = RNG.standard_normal((301, 1001))
    assert np.array_equal(on_threads(u, a), np.add.reduce(a, axis=0, initial=0.0))


CONVOLUTION = """
function f(int h, int v, int first, int n, int m, {base}[n,m] a, int p, int q, {base}[p,q] w)
    {base}[h,v] r = with [h,v] disjoint
        genarray {base} default {seven}
        part [0,first] <= [i,j] < [h,v]
            {base} sum = with disjoint
                fold from {zero} by ({base} acc), ({base} val)
                    {base} more = add acc, val
                    give more
                part [0,0] <= [b,c] < [p,q]
                    int row = add! i, b
                    int shifted = {shift}
                    {base} x = load a[row,shifted]
                    {base} y = load w[b,c]
                    {base} xy = mul x, y
                    yield xy
            yield sum
    return h, v, r
"""


@pytest.mark.parametrize(("base", "dtype"), [("double", "f8"), ("int", "i4")])
@pytest.mark.parametrize("shift", ["add! j, c", "add! c, j", "sub! j, c"])
def test_what_is_at_j_plus_something_is_a_vector_too(base: str, dtype: str, shift: str) -> None:
    u = parsed(typed(CONVOLUTION.replace("{shift}", shift), base))
    assert kinds(u) == [False]
    many = []
    for columns in (3, 9, 17, 70, 130):
        a, w = ((10 * RNG.standard_normal(s)).astype("i8").astype(dtype) for s in ((5, columns + 3), (2, 3)))
        many.append([3, columns, 2, a, w])
    agree_on(u, many)


@pytest.mark.parametrize("shift", ["sub! c, j", "add! j, j", "mul! j, c", "add j, c"])
def test_what_is_not_is_not(shift: str) -> None:
    assert not is_tiled(parsed(typed(CONVOLUTION.replace("{shift}", shift), "double")))


@pytest.mark.parametrize(
    "change",
    [
        ("load a[i,k,j]", "load a[i,j,k]"),  # elements lie side by side along k
        ("load a[i,k,j]", "load a[i,i,j]"),  # nothing else is read for another k
        ("[0] <= [k] < [end]", "[0] <= [k] < [j]"),
        ("mul x, y", "pow x, y"),
        (
            "            {base} offset = load o[j]\n",
            "            {base} offset = load o[j]\n            bool fine = lt offset, 9\n"
            "            check fine : it is small\n",
        ),
    ],
)
def test_other_sums_are_not_tiled(change: tuple[str, str]) -> None:
    assert change[0] in COLUMNS
    assert not is_tiled(parsed(typed(COLUMNS.replace(*change), "double")))


STEPS = {
    "least": "{base} more = min acc, val",
    "the last of equal ones": "{base} more = min val, acc",
    "greatest": "{base} more = max val, acc",
    "product": "{base} more = mul acc, val",
    "chosen": "bool c = le acc, val\n                    {base} more = select c, val, acc",
    "sticky": "bool c = ge acc, val\n                    bool u = neq acc, acc\n"
    "                    bool e = or c, u\n                    {base} more = select e, acc, val",
}
TERMS = ("mul x, y", "min x, y", "max y, x", "sub x, y")


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("step", "base", "dtype"),
    [*((step, "double", "f8") for step in STEPS), ("greatest", "ulong", "u8"), ("chosen", "int", "i4")],
)
def test_any_step_is_done_in_order_lane_by_lane(step: str, base: str, dtype: str) -> None:
    """For NaN, infinities and zeros of both signs too, along rows and in products."""
    odd = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.5, -2.5]
    values: Any = np.array(odd) if base in REAL else np.array([0, 1, 3, 250, 2**31 - 1]).astype(dtype)
    seven = RNG.choice(values[:2])
    for text, sizes, packed in (
        (PRODUCT, lambda n, m, l_: ((n, m), (m, l_), (l_,)), True),
        (COLUMNS, lambda n, m, l_: ((n, m, l_), (m,), (), (l_,)), False),
    ):
        changed = text.replace("{base} more = add acc, val", STEPS[step]).replace("mul x, y", RNG.choice(TERMS))
        for name, part in PLAIN.items():
            changed = changed.replace("{" + name + "}", part)
        changed = "\n".join(line for line in changed.split("\n") if line.strip())
        start = f"{seven}:{base}" if base not in REAL or seven == seven else "0.5:double"
        u = parsed(typed(changed.replace("{zero}", start), base))
        assert kinds(u) == [packed]
        many: list[list[Any]] = []
        for n, m, l_ in ((3, 5, 70), (1, 1, 1), (9, 2, 33), (2, 0, 9)):
            args = [RNG.choice(values, s) for s in sizes(n, m, l_)]
            many.append(args if packed else [*args[:2], np.full(n, m, "i4"), args[3]])
        agree_on(u, many)


@pytest.mark.parametrize("term", ["div x, y", "abs xx", "sqrt xx"])
def test_terms_may_divide_and_take_roots(term: str) -> None:
    text = COLUMNS.replace("mul x, y", term).replace(
        "{base} xy =", "{base} xx = sub x, y\n                    {base} xy ="
    )
    for base, dtype in (("double", "f8"), ("float", "f4")):
        u = parsed(typed(text, base))
        assert kinds(u) == [False]
        shapes_ = [((3, 5, 70), 5, 70), ((2, 3, 17), 3, 17), ((2, 0, 3), 0, 3)]
        agree_on(
            u,
            [
                [RNG.standard_normal(s).astype(dtype) for s in (a, m)]
                + [np.full(a[0], m, "i4"), RNG.standard_normal(l_).astype(dtype)]
                for a, m, l_ in shapes_
            ],
        )


PRODUCT = """
function f(int n, int m, {base}[n,m] a, int l, {base}[m,l] b, {base}[l] s)
    {base}[n,l] r = with [n,l] disjoint complete
        genarray {base} default {seven}
        part [0,0] <= [i,j] < [n,l]
            {before}
            {base} sum = with disjoint
                fold from {zero} by ({base} acc), ({base} val)
                    {base} more = add acc, val
                    give more
                part [0] <= [k] < [m]
                    {base} x = load a[i,k]
                    {base} y = load b[k,j]
                    {base} xy = mul x, y
                    {term}
            {after}
            yield sum
    return n, l, r
"""
PLAIN = {"before": "", "term": "yield xy", "after": ""}


def around(base: str, **changes: str) -> Unit:
    text = PRODUCT
    for name, part in (PLAIN | changes).items():
        text = text.replace("{" + name + "}", part)
    return parsed(typed("\n".join(line for line in text.split("\n") if line.strip()), base))


@pytest.mark.parametrize(
    "term",
    [
        "int jk = mul j, k\n                    int t = add xy, jk\n                    yield t",
        "int p = min k, j\n                    int t = load s[p]\n                    int q = mul xy, t\n"
        "                    yield q",
        "yield j",
    ],
)
def test_the_column_s_own_number_is_no_vector(term: str) -> None:
    u = around("int", term=term)
    assert not is_tiled(u)
    agree_on(u, [[RNG.integers(-9, 9, s).astype("i4") for s in ((5, 9), (9, 30), (30,))]])


@pytest.mark.parametrize("where", ["before", "after"])
def test_what_a_body_checks_is_checked(where: str) -> None:
    u = around("double", **{where: "bool fine = lt i, 3\n            check fine : there are few rows"})
    f = compiled(u)
    ok, bad = ([np.ones(s) for s in ((n, 4), (4, 30), (30,))] for n in (3, 4))
    assert np.array_equal(f.call(tuple(ok))[-1], np.full((3, 30), 4.0))
    with pytest.raises(CheckFailed):
        f.call(tuple(bad))


def test_a_branch_before_the_sum_that_differs_by_column() -> None:
    branch = (
        "bool c = lt i, 2\n            {base} w = if c\n                {base} o = load s[j]\n"
        "                give o\n            else\n                give {zero}"
    )
    for base, dtype in (("double", "f8"), ("int", "i4")):
        text = (
            PRODUCT.replace("{before}", branch)
            .replace("{term}", "yield xy")
            .replace("{after}", "{base} end = add sum, w")
            .replace("yield sum", "yield end")
        )
        u = parsed(typed(text, base))
        assert is_tiled(u)
        agree_on(u, [[RNG.integers(-9, 9, s).astype(dtype) for s in ((n, 3), (3, 30), (30,))] for n in (1, 4, 9)])


def test_nothing_is_read_where_there_is_no_cell() -> None:
    text = (
        PRODUCT.replace("part [0] <= [k] < [m]", "part [0] <= [k] < [1000000]")
        .replace("{before}", "")
        .replace("{term}", "yield xy")
        .replace("{after}", "")
    )
    u = parsed(typed(text, "double"))
    assert kinds(u) == [True]
    assert compiled(u).call((np.zeros((0, 2)), np.zeros((2, 1000)), np.zeros(1000)))[-1].shape == (0, 1000)
    columns = parsed(
        typed(
            COLUMNS.replace("int end = load ends[i]", "int at = load ends[i]\n            int end = load ends[at]"),
            "double",
        )
    )
    assert kinds(columns) == [False]
    wild = np.array([1 << 30, -(1 << 30)], "i4")
    assert compiled(columns).call((np.zeros((2, 3, 0)), np.zeros(3), wild, np.zeros(0)))[-1].shape == (2, 0)


def test_bounds_that_depend_on_an_outer_index() -> None:
    text = """
        function f(int n, int m, double[n,m,m] a, int l, double[m,l] b)
            double[n,m,l] r = with [n,m,l] disjoint complete
                genarray double default 0.0
                part [0,0,0] <= [q,i,j] < [n,m,l]
                    double sum = with disjoint
                        fold from 0.0 by (double acc), (double val)
                            double more = add acc, val
                            give more
                        part [0] <= [k] < [q]
                            double x = load a[q,i,k]
                            double y = load b[k,j]
                            double xy = mul x, y
                            yield xy
                    yield sum
            return n, m, l, r
        """
    agree_on(parsed(text), [[RNG.standard_normal((4, 5, 5)), RNG.standard_normal((5, 30))]])


def test_of_two_products_neither_is_more_exact() -> None:
    u = around(
        "double", term="{base} z = mul y, x\n                    {base} d = sub xy, z\n                    yield d"
    )
    assert kinds(u) == [True]
    a, b = RNG.standard_normal((9, 7)), RNG.standard_normal((7, 50))
    assert np.array_equal(compiled(u, Options()).call((a, b, np.zeros(50)))[-1], np.zeros((9, 50)))


def test_tiles_between_borders_lie_in_the_rows_of_these() -> None:
    """An interior and its borders share the loop over the rows; a check of a row is made where it has cells."""
    head, body = COLUMNS.split("        part [0,0] <= [i,j] < [n,l]\n")
    body, end = body.split("    return")
    border = "\n".join(
        re.sub(r"\b(i|j|end|ok|offset|sum|acc|val|more|k|x|y|xy|z|result)\b(?! :)", r"\1.1", line)
        if "check" not in line
        else "            check ok.1 : rows end in the array"
        for line in body.split("\n")
    )
    cut = head.replace("    {base}[n,l] r", "    int cut = min l, 3\n    {base}[n,l] r")
    text = (
        f"{cut}        part [0,0] <= [i,j] < [n,cut]\n{body}        part [0,cut] <= [i.1,j.1] < [n,l]\n"
        f"{border}    return{end}"
    )
    u = parsed(typed(text, "double"))
    assert kinds(u) == [False, False]
    assert re.search(r"store <\d+ x double>", lower(u, STRICT))
    many = []
    for n, m, k in ((1, 1, 1), (3, 4, 15), (2, 5, 70), (0, 3, 3), (3, 3, 0)):
        many.append(
            [
                RNG.standard_normal((n, m, k)),
                RNG.standard_normal(m),
                RNG.integers(-1, m + 1, n).astype("i4"),
                RNG.standard_normal(k),
            ]
        )
    agree_on(u, many)
    wild = np.array([0, 9], "i4")
    assert compiled(u).call((np.ones((2, 3, 0)), np.ones(3), wild, np.ones(0)))[-1].shape == (2, 0)
    for columns in (2, 3, 4):
        with pytest.raises(CheckFailed):
            compiled(u).call((np.ones((2, 3, columns)), np.ones(3), wild, np.ones(columns)))


BEGUN = """
function f(int n, int l, {base}[n,l] a, int m, {base}[n,m] x, {base}[m,l] y)
    {base}[n,l] b = with [n,l] disjoint complete
        genarray {base} default {zero}
        part [0,0] <= [p,q] < [n,l]
            {base} z = load a[p,q]
            {base} w = add z, z
            yield w
    {base}[n,l] r = with [n,l] disjoint complete
        genarray {base} default {zero}
        part [0,0] <= [i,j] < [n,l]
            {base} first = load b[i,j]
            {base} sum = with
                fold from first by ({base} acc), ({base} val)
                    {base} more = add acc, val
                    give more
                part [0] <= [k] < [m]
                    {base} u = load x[LEFT]
                    {base} v = load y[k,j]
                    {base} uv = mul u, v
                    yield uv
            yield sum
    return n, l, r
"""


@pytest.mark.sample(2)
@pytest.mark.parametrize(("base", "dtype"), [("double", "f8"), ("float", "f4"), ("int", "i4")])
@pytest.mark.parametrize(("left", "packed"), [("i,k", True), ("0,k", False)])
def test_sums_that_begin_with_elements_of_an_array_which_they_take_the_place_of(
    base: str, dtype: str, left: str, packed: bool
) -> None:
    u = parsed(typed(BEGUN, base).replace("LEFT", left))
    assert kinds(u) == [packed]
    many = []
    for n, m, k in ((1, 1, 1), (3, 4, 15), (9, 2, 64), (17, 5, 65), (6, 2, 130), (2, 0, 9), (2, 3, 0)):
        many.append([(10 * RNG.standard_normal(s)).astype("i8").astype(dtype) for s in ((n, k), (n, m), (m, k))])
    agree_on(u, many)
    function = compiled(u)
    function.call(tuple(many[3]))
    assert function.context.allocations == 1 + packed  # the other one is for a panel
    elsewhere = parsed(typed(BEGUN.replace("load b[i,j]", "load b[0,j]"), base).replace("LEFT", left))
    assert kinds(elsewhere) == []
    agree_on(elsewhere, many)
