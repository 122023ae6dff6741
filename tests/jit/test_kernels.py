"""Kernels of genarray and modarray: what they compute, and how pieces become launches."""

from __future__ import annotations

import re

import numpy as np
import pytest

from sacpy.jit.ir.graph import Unit
from sacpy.jit.ir.kernel_printer import print_kernel
from tests.jit import graph_text
from tests.jit.builder import B, arguments, unit
from tests.jit.kernel_tools import agree, options


def stepped(shape: int = 2) -> Unit:
    """A step in the first axis, a border around: the default and one partition."""
    b = B()
    params, (a,), inputs = arguments(b, ("double", shape))
    frame = a.type.extents  # type: ignore[union-attr]
    p = b.partition([1, 1], [5, 7], lambda b, i, j: b.op("add", b.load(a, i, j), b.op("tod", j)), step=[2, 1])
    return unit(b, params, inputs, [b.genarray("double", frame, [p], 3.0)])


@pytest.mark.parametrize("strategy", ["auto", "jing", "jing_ext", "jing_printed", "foldall"])
@pytest.mark.parametrize("merge", [True, False])
def test_a_step_and_its_default(strategy: str, merge: bool) -> None:
    run = agree(stepped(), [np.arange(72.0).reshape(8, 9)], options(strategy=strategy, merge=merge))
    assert [launch.purpose for launch in run.launches] == (["pieces"] if merge else ["partition", *["default"] * 5])


def test_equal_forms_share_a_kernel() -> None:
    run = agree(stepped(), [np.arange(72.0).reshape(8, 9)], options(merge=False))
    assert len({id(launch.kernel) for launch in run.launches}) < len(run.launches)


CALLED = """
function main(int n)
  int[n] r = with [n]
    genarray int default 0
    part [0] <= [i] < [n]
      int j = add i, 1
      int[2] x = array int[2] of i, j
      int a = call at(2, x, {index})
      yield a
  return n, r
function at(int m, int[m] x, int k)
  bool inside = lt k, m
  int r = if inside
    {access}
    give v
  else
    give 7
  return r
"""
ACCESSES = {
    "load": ("int v = load x[k]",),
    "view": ("int[m,1] y = reshape x to [m,1]", "int[1] z = view y[k]", "int v = load z[0]"),
    "update": ("int[m] y = update x[k] with 5", "int[m] z = update y[0] with 6", "int v = load z[1]"),
    "reshape": ("int[1,m] y = reshape x to [1,m]", "int v = load y[0,k]"),
}


@pytest.mark.parametrize("index", [0, 1, 2, 9])
@pytest.mark.parametrize("access", ACCESSES)
def test_a_constant_index_outside_of_an_array_in_registers_in_a_branch_that_is_not_taken(
    access: str, index: int
) -> None:
    text = CALLED.format(index=index, access="\n    ".join(ACCESSES[access]))
    assert agree(graph_text.unit(text), (5,)).launches


@pytest.mark.parametrize(("overlap", "first"), [(0, 2), (1, 0)], ids=["apart", "overlapping"])
def test_of_pieces_that_share_a_launch_the_largest_is_asked_first(overlap: int, first: int) -> None:
    """Where no two partitions have an index; else the order is the program's."""
    b = B()
    params, (a,), inputs = arguments(b, ("double", 1))
    parts = [
        b.partition([0], [1 + overlap], lambda b, i: b.op("tod", i)),
        b.partition([39], [40], lambda b, i: b.load(a, 0)),
        b.partition([1], [39], lambda b, i: b.op("add", b.load(a, i), 1.0)),
    ]
    made = b.genarray("double", a.type.extents, parts, disjoint=not overlap, complete=True)  # type: ignore[union-attr]
    (launch,) = agree(unit(b, params, inputs, [made]), [np.arange(40.0)]).launches
    asked = re.search(r"lt below0_(\d)", print_kernel(launch.kernel))
    assert launch.purpose == "pieces" and asked is not None and int(asked[1]) == first
