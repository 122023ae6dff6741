"""Cells whose elements are computed alike, and run in lanes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from sacpy import Session
from sacpy.jit.analysis.alike import alike, in_common, made_cells
from sacpy.jit.host.lowering import lower
from sacpy.jit.host.translate import Task, optimised
from sacpy.jit.ir import graph as g
from sacpy.jit.options import Options
from tests.jit.graph_text import unit as parsed

TEXT = """
function f(int n, double[n,2] a, double[n] b, double[2,n] t)
    double[n,2] r = with [n] disjoint
        genarray double cell [2] default 0.0
        part [0] <= [i] < [n]
            int next = add! i, 1
            {}
            double[2] cell = array [2] of {}
            yield cell
    return n, r
"""
X, Y = "double x = load a[i,0]", "double y = load a[i,1]"
LIKE = {
    "as they are": ([X, Y], "x, y"),
    "the other way round": ([X, Y], "y, x"),
    "by constants": ([X, Y, "double z = mul x, 2.0", "double w = mul y, 3.0"], "z, w"),
    "with one scalar": ([X, Y, "double s = load b[next]", "double z = sub s, x", "double w = sub s, y"], "z, w"),
    "with neighbours": (
        [X, Y, "double p = load a[next,0]", "double q = load a[next,1]", "double z = sub p, x", "double w = sub q, y"],
        "z, w",
    ),
}
UNLIKE = {
    "another operation": ([X, Y, "double z = mul x, 2.0", "double w = add y, 2.0"], "z, w"),
    "operands change places": ([X, Y, "double z = sub x, 2.0", "double w = sub 2.0, y"], "z, w"),
    "one is left as it is": ([X, Y, "double w = add y, 2.0"], "x, w"),
    "of another index": ([X, "double y = load a[next,1]"], "x, y"),
    "that lie apart": (["double x = load t[0,i]", "double y = load t[1,i]"], "x, y"),
    "one by a routine": ([X, Y, "double z = exp x", "double w = exp y"], "z, w"),
    "nothing is loaded": (["double x = tod i", "double y = tod i"], "x, y"),
}


def body(lines: list[str], elements: str) -> g.Block:
    (function,) = parsed(TEXT.format("\n            ".join(lines), elements)).functions
    (w,) = (s.rhs for s in function.body.statements if isinstance(s, g.Let) and isinstance(s.rhs, g.WithLoop))
    return w.partitions[0].body


@pytest.mark.parametrize("name", LIKE)
def test_elements_that_are_alike(name: str) -> None:
    assert alike(body(*LIKE[name]))


@pytest.mark.parametrize("name", UNLIKE)
def test_elements_that_differ(name: str) -> None:
    assert not alike(body(*UNLIKE[name]))


def test_what_elements_have_in_common() -> None:
    both = [X, Y, "double s = add x, y", "double q = sqrt s", "double z = div x, q", "double w = div y, q"]
    block = body(both, "z, w")
    assert alike(block)
    assert in_common(block, made_cells(block)) == 1 + 4  # the sum and the root
    block = body(*LIKE["with one scalar"])
    assert in_common(block, made_cells(block)) == 0, "a load is no work"


SIX = """
function f(int n, double[n,6] a, double x)
    double[n,6] r = with [n] disjoint
        genarray double cell [6] default 0.0
        part [0] <= [i] < [n]
            {}
            double[6] cell = array [6] of {}
            yield cell
    return n, r
"""


@pytest.mark.parametrize("scaled", [6, 5])
def test_cells_become_vectors_if_all_their_elements_are_alike(scaled: int) -> None:
    loads = [f"double v{k} = load a[i,{k}]" for k in range(6)]
    products = [f"double w{k} = mul v{k}, x" for k in range(scaled)]
    elements = ", ".join([*(f"w{k}" for k in range(scaled)), *(f"v{k}" for k in range(scaled, 6))])
    unit = parsed(SIX.format("\n            ".join(loads + products), elements))
    text = lower(unit, Options())
    assert ("vectorize.enable" in text) == (scaled == 6)
    if scaled == 6:
        optimal = str(optimised(Task(text)))
        assert re.search(r"load <\d x double>", optimal) and re.search(r"store <\d x double>", optimal)


SAC = """
use Array: all;
{type}[n,{cell}] f({type}[n,{cell}] u, {type}[n,{cell}] v)
{{
  for (k = 0; k < 3; k++) {{
    u = {{ [i] -> u[i] * v[i] + u[max(i - 1, 0)] | [i] < [n] }};
    u = {{ [i] -> rotate([1], u[i]) - 2.0 * v[i] | [1] <= [i] < [n]; [i] -> v[i] | [i] < [n] }};
  }}
  return u;
}}
"""


@pytest.mark.parametrize("type_", ["double", "float"])
@pytest.mark.parametrize("cell", [4, 5, 7, 8, 13, 32, 33])
def test_cells_of_any_size_are_right(tmp_path: Path, type_: str, cell: int) -> None:
    program = SAC.format(type=type_, cell=cell)
    if type_ == "float":
        program = program.replace("2.0", "2.0f")
    (tmp_path / "cells.sac").write_text(program)
    rng = np.random.default_rng(cell)
    native, meant = (Session(target=t).load(tmp_path / "cells.sac") for t in ("cpu", "interp"))
    for n in (0, 1, 2, 9):
        u, v = (rng.integers(-3, 4, (n, cell)).astype(np.float64 if type_ == "double" else np.float32) for _ in "uv")
        np.testing.assert_array_equal(native.f(u, v), meant.f(u, v))
