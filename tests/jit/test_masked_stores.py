"""What is a new value or the one that is there is stored whole: under a mask it takes many processors longer."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.host.lowering import lower
from sacpy.jit.host.translate import Task, emitted, optimised
from sacpy.jit.ir.graph import Unit
from sacpy.jit.llvm.processor import architecture
from sacpy.jit.options import Options
from tests.jit.graph_text import unit as parsed
from tests.jit.native_tools import agree_on

TEXT = """
function f(int n, double[n] d, double x, int rounds)
    double[n] r = for k from 0 to rounds step 1 with double[n] a := d
        double[n] w = with [n] disjoint complete
            modarray a
            part [0] <= [i] < [n]
                double old = load a[i]
                {body}
                yield new
        next w
    return n, r
"""
BODIES = {
    "the smaller one": ("double y = add old, x", "double new = min old, y"),
    "a choice": ("double y = mul old, x", "bool c = lt old, x", "double new = select c, y, old"),
    "a conditional": (
        "bool c = lt old, x",
        "double new = if c",
        "    double y = mul old, x",
        "    give y",
        "else",
        "    give old",
    ),
    "no choice": ("double new = mul old, x",),
}


def in_place(name: str) -> Unit:
    return parsed(TEXT.format(body="\n                ".join(BODIES[name])))


@pytest.mark.skipif(architecture() not in ("x86_64", "AMD64"), reason="the instructions of x86")
@pytest.mark.parametrize("name", BODIES)
def test_there_are_vectors_and_no_masks(name: str) -> None:
    task = Task(lower(in_place(name), Options()), assembly=True)
    text = emitted(optimised(task), task, portable=True).decode()
    assert "ymm" in text
    assert "maskmov" not in text


@pytest.mark.parametrize("name", BODIES)
def test_results_are_right(name: str) -> None:
    rng = np.random.default_rng(5)
    special = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0])
    agree_on(
        in_place(name),
        [
            (np.concatenate([special, rng.uniform(-2, 2, n)])[:n], 0.5, rounds)
            for n in (0, 1, 5, 37)
            for rounds in (0, 3)
        ],
    )
