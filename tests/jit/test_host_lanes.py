"""Sums of reals in lanes: rounds that fill all of them, then what is left in fewer."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.host.lowering import lower
from sacpy.jit.options import Options
from sacpy.jit.schedule.nests import LANES, REST
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
    assert f'"llvm.loop.interleave.count", i32 {LANES[base][1]}}}' in text
    assert f'"llvm.loop.vectorize.width", i32 {REST}}}' in text and '"llvm.loop.interleave.count", i32 1}' in text


def test_strict_sums_are_computed_in_order() -> None:
    assert "interleave" not in lower(parsed(dot("double")), STRICT)
    rng = np.random.default_rng(4)
    agree_on(parsed(dot("double")), [(rng.uniform(size=n), rng.uniform(size=n), 0) for n in (0, 1, 31, 77)])
