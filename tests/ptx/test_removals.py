"""One barrier, guard or bound of a kernel is left out: the interpreter of PTX finds it, or there is a proof."""

from __future__ import annotations

import pytest

from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from tests.ptx.indices import strictly
from tests.ptx.removals import FUNCTIONS, removals

SAMPLE = ("map", "rows", "points")
MOST = {"map": 1, "rows": 4, "points": 5}  # removals that there are at least


@pytest.mark.parametrize(
    ("name", "front"),
    [
        pytest.param(name, front, marks=() if name in SAMPLE and front == "nvptx" else pytest.mark.long)
        for name in FUNCTIONS
        for front in ("nvptx", "libnvvm")
    ],
)
def test_what_is_left_out_is_found_or_proved_harmless(name: str, front: str) -> None:
    told = removals(name, front)
    assert len(told.by) == sum(told.found.values()) >= MOST.get(name, 1)
    assert all(": harmless because " in line for line in told.proved)
    assert told.missed == []


def test_accesses_that_keep_to_each_axis_are_told_from_those_that_reach_the_next_row() -> None:
    array = g.Var("a", g.ArrayType("int", (g.integer(4), g.integer(8))))
    i = g.Var("i", g.INT)
    kernel = k.Kernel(
        "reach",
        (array, g.Var("r", g.ArrayType("int", (g.integer(8),)))),
        (),
        (g.Var("b", g.INT),),
        (g.integer(1),),
        (g.integer(8),),
        (k.ForAll((i,), (g.integer(8),), (k.Let(g.Var("x", g.INT), g.Load(array, (g.integer(0), i))),)),),
        (),
    )
    (phase,) = strictly(kernel).body
    assert isinstance(phase, k.ForAll)
    *asked, load = phase.body
    assert [s.rhs.code for s in asked if isinstance(s, k.Let) and isinstance(s.rhs, g.Op)] == [
        "le",
        "lt",
        "and",
        "select",
    ]
    assert isinstance(load, k.Let) and isinstance(load.rhs, g.Load) and load.rhs.index[1] == i
    assert load.rhs.index[0] != g.integer(0)
