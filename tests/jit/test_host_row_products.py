"""Rows that are products with a matrix: computed a block at a time in front of what uses them."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.failures import CheckFailed
from sacpy.jit.ir.graph import Let, Partition, Unit, WithLoop, statements
from sacpy.jit.schedule.row_products import ROWS, row_products, without
from tests.jit.graph_text import unit as parsed
from tests.jit.native_tools import agree_on, compiled, on_threads

SCORES = """
function f(int n, int d, {base}[n,d] q, int m, int d2, {base}[m,d2] k, {base} scale)
    bool fits = le d, d2
    check fits : the columns fit
    {base}[n,m] r = with [n] disjoint complete
        genarray {base} cell [m] default {zero}
        part [0] <= [i] < [n]
            {before}
            {base} h = load q[i,0]
            {base}[m] s = with [m] disjoint complete
                genarray {base} default {zero}
                part [0] <= [j] < [{upper}]
                    {base} t = with
                        fold from {zero} by ({base} acc), ({base} val)
                            {base} u = add acc, val
                            give u
                        part [0] <= [c] < [d]
                            {base} x = load q[i,c]
                            {base} y = load k[j,c]
                            {base} z = mul x, y
                            yield z
                    {base} v = mul t, {factor}
                    yield v
            {base} top = with
                fold from {lowest} by ({base} acc.1), ({base} val.1)
                    {base} larger = max acc.1, val.1
                    give larger
                part [0] <= [e] < [m]
                    {base} w = load s[e]
                    yield w
            {base}[m] row = with [m] disjoint complete
                genarray {base} default {zero}
                part [0] <= [g] < [m]
                    {base} a = load s[g]
                    {base} b = sub a, top
                    {base} b2 = add b, h
                    yield b2
            yield row
    return n, m, r
"""


def scores(base: str = "double", before: str = "", upper: str = "m", factor: str = "scale") -> Unit:
    literal = ":float" if base == "float" else ""
    return parsed(
        SCORES.format(
            base=base, zero=f"0.0{literal}", lowest=f"-1e+30{literal}", before=before, upper=upper, factor=factor
        )
        .replace("            \n", "")
        .replace("-1e+30:float", "-1000.0:float")
    )


def partition(u: Unit) -> Partition:
    (loop, *_) = [s.rhs for s in statements(u.root.body) if isinstance(s, Let) and isinstance(s.rhs, WithLoop)]
    return loop.partitions[0]


def test_a_product_is_taken_out_of_the_body() -> None:
    p = partition(scores())
    (found,) = row_products(p)
    assert found.target.name == "s" and not found.needed
    assert [v.name for v in found.tiles.contraction.p.index] == ["i", "j"]
    assert len(without(p, (found,)).body.statements) == len(p.body.statements) - 1


def test_what_its_terms_need_comes_along() -> None:
    (found,) = row_products(partition(scores(factor="h")))
    assert [s.targets[0].name for s in found.needed] == ["h"]


@pytest.mark.parametrize(
    "change",
    [
        {"before": "bool ok = lt i, m\n            check ok : it is so"},  # loads stay behind it
        {"before": "int up = min i, m", "upper": "up"},  # rows differ in length
    ],
)
def test_what_is_no_product_stays(change: dict[str, str]) -> None:
    assert not row_products(partition(scores(**change)))


@pytest.mark.sample(2)
@pytest.mark.parametrize(("base", "dtype"), [("double", np.float64), ("float", np.float32)])
@pytest.mark.parametrize("factor", ["scale", "h"])
def test_results_are_the_same_for_all_shapes(base: str, dtype: type, factor: str) -> None:
    rng = np.random.default_rng(5)
    shapes = [
        (n, m, d)
        for n, m, d in (
            (0, 3, 2),
            (1, 5, 3),
            (3, 2, 1),
            (4, 7, 2),
            (5, 0, 3),
            (ROWS, 9, 3),
            (ROWS + 1, 3, 2),
            (2 * ROWS + 6, 50, 5),
        )
    ]
    agree_on(
        scores(base, factor=factor),
        [
            (rng.uniform(-1, 1, (n, d)).astype(dtype), rng.uniform(-1, 1, (m, d)).astype(dtype), 0.5)
            for n, m, d in shapes
        ],
    )


def test_blocks_on_threads() -> None:
    rng = np.random.default_rng(6)
    for n in (100, 1001):
        q, k = rng.uniform(-1, 1, (n, 24)), rng.uniform(-1, 1, (70, 24))
        s = q @ k.T * 0.5
        found = on_threads(scores(), q, k, 0.5)
        assert np.allclose(found, s - s.max(axis=1, keepdims=True) + q[:, :1])


def test_checks_behind_it_are_checked() -> None:
    text = SCORES.replace(
        "            yield row",
        "            bool ok = lt top, scale\n            check ok : it is less\n            yield row",
    )
    f = compiled(
        parsed(
            text.format(base="double", zero="0.0", lowest="-1e+30", before="", upper="m", factor="2.0").replace(
                "            \n", ""
            )
        )
    )
    assert len(f.call((np.ones((40, 2)), np.ones((6, 2)), 4.5))) == 3
    with pytest.raises(CheckFailed):
        f.call((np.ones((40, 2)), np.ones((6, 2)), 4.0))
