"""A loop that gives nothing, and is kept because it may not end, may stand anywhere: nobody stumbles over it."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.analysis.filled import set_whole
from sacpy.jit.host.lowering import lower
from sacpy.jit.ir import graph as g
from sacpy.nodes import replace
from tests.jit import test_reach as reach
from tests.jit.graph_text import unit as parsed
from tests.jit.native_tools import agree_on

NOTHING = g.Let((), g.Loop((), (), g.Block((), (g.Const("bool", False),)), g.Block(())))
UNITS = sorted({*reach.REACH.values(), *reach.CHOICES.values()})
SAMPLE = (
    ("benchmarks/suite/relax3d/relax3d.sac", "relax/0"),
    ("programs/components.sac", "components/0"),
    ("programs/nbody.sac", "energy/0"),
    ("programs/tour.sac", "nearest/0"),
    ("tests/corpus/ways-loops-run.sac", "apart/0"),
    ("tests/corpus/scans-and-into.sac", "sums/0"),
)


def block(b: g.Block) -> g.Block:
    """A block with such a loop in the middle, and in the middle of all blocks inside."""
    made = [inside(s) if isinstance(s, g.Let) else s for s in b.statements]
    made.insert(len(made) // 2, NOTHING)
    return replace(b, statements=tuple(made))


def inside(s: g.Let) -> g.Let:
    match s.rhs:
        case g.For() | g.Loop():
            return replace(s, rhs=replace(s.rhs, body=block(s.rhs.body)))
        case g.If():
            return replace(s, rhs=replace(s.rhs, then=block(s.rhs.then), otherwise=block(s.rhs.otherwise)))
        case g.WithLoop():
            partitions = tuple(replace(p, body=block(p.body)) for p in s.rhs.partitions)
            return replace(s, rhs=replace(s.rhs, partitions=partitions))
    return s


@pytest.mark.parametrize(
    "place", [pytest.param(u, marks=() if u in SAMPLE else pytest.mark.long, id=" ".join(u)) for u in UNITS]
)
def test_anywhere(place: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    specialised = reach.specialised

    def with_loops(*args: object) -> g.Unit:
        unit = specialised(*args)  # type: ignore[arg-type]
        return replace(unit, functions=tuple(replace(f, body=block(f.body)) for f in unit.functions))

    monkeypatch.setattr(reach, "specialised", with_loops)
    assert lower(reach.made(*place), reach.OPTIONS)
    assert reach.made(*place, device=True).functions


def test_before_a_loop_that_sets_an_array_from_end_to_end() -> None:
    unit = parsed(
        """
function f(int n, double[n] x)
    double[n] a = with [n] disjoint
        genarray double default 7.0
    double[n] b = for i from 0 to n step 1 with double[n] p := a
        double v = load x[i]
        double[n] u = update p[i] with v
        next u
    return n, b
"""
    )
    (f,) = unit.functions
    unit = replace(unit, functions=(replace(f, body=block(f.body)),))
    assert set_whole(unit.functions[0].body) == {"a"}
    agree_on(unit, [(np.linspace(1.0, 2.0, n),) for n in (1, 6)])
