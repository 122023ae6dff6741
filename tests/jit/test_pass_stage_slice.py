"""Moving parts of arrays are computed aside, on printed graphs, and come out the same."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.passes import stage_slice
from tests.jit.graph_text import unit
from tests.jit.native_tools import agree_on, compiled
from tests.jit.pass_tools import after, check, unchanged

LEVELS = """
function f(int n, int m, double[n] a, double[n] v)
    double[n] b, int last = for l from 0 to m step 1 with double[n] x := a, int from := 0
        int to = add from, 2
        double[n] w = with [n] disjoint
            modarray {modified}
            part [{lower}] <= [i] < [{upper}]
                int k = sub {end}, i
                double y = load {read}
                double z = load v[i]
                double t = add y, z
                yield t
        {more}
        next w, to
    return n, b
"""
MOVING = {"modified": "x", "lower": "from", "upper": "to", "end": "3", "read": "x[k]", "more": "double c = tod to"}


def levels(**changed: str) -> str:
    return LEVELS.format(**(MOVING | changed))


def test_a_part_that_moves_is_computed_aside() -> None:
    check(
        stage_slice.run,
        levels(),
        """
        function f(int n, int m, double[n] a, double[n] v)
            double[n] b, int last = for l from 0 to m step 1 with double[n] x := a, int from := 0
                int to = add from, 2
                bool empty = le to, from
                int room = sub to, from
                int size = select empty, 0, room
                double[size] part = with [size] disjoint complete
                    genarray double default 0.0
                    part [0] <= [j] < [size]
                        int i = add! j, from
                        int k = sub 3, i
                        double y = load x[k]
                        double z = load v[i]
                        double t = add y, z
                        yield t
                double[n] w = with [n] disjoint
                    modarray x
                    part [from] <= [i.1] < [to]
                        int k.1 = sub! i.1, from
                        double e = load part[k.1]
                        yield e
                double c = tod to
                next w, to
            return n, b
        """,
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"lower": "0"},
        {"upper": "n"},
        {"read": "v[k]"},  # can be set in place as it is
        {"modified": "a"},  # has to be copied anyway
        {"more": "double c = load x[0]"},
    ],
)
def test_what_stays(changed: dict[str, str]) -> None:
    unchanged(stage_slice.run, levels(**changed))


def test_the_rest_is_not_copied_round_by_round_and_all_comes_out_the_same() -> None:
    v = np.arange(4.0)
    after_ = unit(after(stage_slice.run, levels()))
    for u in (unit(levels()), after_):
        agree_on(u, [(m, v, v * 2) for m in (0, 1, 2)])
    f = compiled(after_)
    f.call((2, v, v))
    assert f.context.copied == v.nbytes  # once, since it is an argument


@pytest.mark.parametrize(("lower", "upper"), [("to", "from"), ("from", "from"), ("big", "small")])
def test_an_empty_part_wherever_its_bounds_are(lower: str, upper: str) -> None:
    text = levels(lower=lower, upper=upper).replace(
        "int to = add from, 2\n",
        "int to = add from, 2\n        int big = sub 2147483647, from\n        int small = sub -2147483640, from\n",
    )
    v = np.arange(4.0)
    assert "part" in after(stage_slice.run, text)
    agree_on(unit(after(stage_slice.run, text)), [(m, v, v) for m in (0, 1, 2)])
