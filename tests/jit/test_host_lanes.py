"""Sums of reals in lanes: rounds that fill all of them, then what is left in fewer."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.host.lowering import lower
from sacpy.jit.options import Options
from sacpy.jit.schedule.nests import REST, VECTORS_AT_ONCE
from tests.jit.graph_text import unit as parsed
from tests.jit.native_tools import STRICT, agree_on, compiled

DOT = """
function f(int n, {base}[n] a, {base}[n] b, int from)
    {base} s = with
        fold from {zero} by ({base} acc), ({base} val)
            {base} t = add acc, val
            give t
        part [from] <= [i] < [n]
            {base} x = load a[i]
            {base} y = load b[i]
            {base} z = mul x, y
            yield z
    return s
"""


def dot(base: str) -> str:
    return DOT.format(base=base, zero="0.0:float" if base == "float" else "0.0")


@pytest.mark.parametrize("base", ["float", "double"])
def test_rows_of_every_length(base: str) -> None:
    rng = np.random.default_rng(3)
    f = compiled(parsed(dot(base)), Options())
    for n in (*range(140), 1000):
        # sums are exact in any order
        a, b = (rng.integers(-8, 8, n).astype(np.float32 if base == "float" else np.float64) for _ in range(2))
        for start in {0, min(3, n), n, n + 2}:
            assert f.call((a, b, start))[0] == float(a[start:] @ b[start:])


@pytest.mark.parametrize("base", ["float", "double"])
def test_what_does_not_fill_the_lanes_has_lanes_of_its_own(base: str) -> None:
    text = lower(parsed(dot(base)), Options())
    assert f'"llvm.loop.interleave.count", i32 {VECTORS_AT_ONCE}}}' in text
    assert f'"llvm.loop.vectorize.width", i32 {REST}}}' in text and '"llvm.loop.interleave.count", i32 1}' in text


SEVERAL = """
function f(int n, double[n] a)
    {names} = with
        {folds}
        part [0] <= [i] < [n]
            double x = load a[i]
            {yields}
            yield {values}
    return {values_out}
"""


@pytest.mark.parametrize(("folds", "vectors"), [(1, 4), (2, 2), (3, 1), (5, 1)])
def test_folds_that_run_in_one_loop_share_the_registers(folds: int, vectors: int) -> None:
    unit = parsed(
        SEVERAL.format(
            names=", ".join(f"double s{k}" for k in range(folds)),
            folds="\n        ".join(
                f"fold from 0.0 by (double acc{k}), (double val{k})\n"
                f"            double t{k} = add acc{k}, val{k}\n            give t{k}"
                for k in range(folds)
            ),
            yields="\n            ".join(f"double y{k} = mul x, {k + 1}.0" for k in range(folds)),
            values=", ".join(f"y{k}" for k in range(folds)),
            values_out=", ".join(f"s{k}" for k in range(folds)),
        )
    )
    text = lower(unit, Options())
    assert f'"llvm.loop.interleave.count", i32 {vectors}}}' in text
    if vectors < VECTORS_AT_ONCE:
        assert f'"llvm.loop.interleave.count", i32 {VECTORS_AT_ONCE}}}' not in text
    for n in (0, 1, 31, 77):
        assert compiled(unit, Options()).call((np.ones(n),)) == tuple(float(n * (k + 1)) for k in range(folds))


def test_strict_sums_are_computed_in_order() -> None:
    assert "interleave" not in lower(parsed(dot("double")), STRICT)
    rng = np.random.default_rng(4)
    agree_on(parsed(dot("double")), [(rng.uniform(size=n), rng.uniform(size=n), 0) for n in (0, 1, 31, 77)])
