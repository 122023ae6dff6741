"""Arrays of small cells as one array for each element of a cell, on printed graphs."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.ir.graph import Unit
from sacpy.jit.passes import unroll
from sacpy.jit.passes.structure_of_arrays import run
from tests.jit.graph_evaluator import evaluate
from tests.jit.graph_text import unit
from tests.jit.pass_tools import after, assert_keeps_meaning, check, unchanged

PAIRS = """
function f(int n, double[n] x, int[n] at)
    double[n,2] w = with [n]
        genarray double cell [2] default 0.5
        part [0] <= [i] < [n]
            double a = load x[i]
            double b = mul a, a
            double[2] c = array double[2] of a, b
            yield c
{reader}
"""
SWAPPED = """
    double[2,n] r = with [2]
        genarray double cell [n] default 0.0
        part [0] <= [k] < [2]
            double[n] s = with [n]
                genarray double default 0.0
                part [0] <= [j] < [n]
                    double z = load w[j,k]
                    yield z
            yield s
    return n, r
"""


def test_an_array_for_each_element_and_a_partition_for_each() -> None:
    check(
        run,
        PAIRS.format(reader=SWAPPED.strip("\n")),
        """
        function f(int n, double[n] x, int[n] at)
            double[n] w.1, double[n] w.2 = with [n]
                genarray double default 0.5
                genarray double default 0.5
                part [0] <= [i] < [n]
                    double a = load x[i]
                    double b = mul a, a
                    double[2] c = array double[2] of a, b
                    yield a, b
            double[2,n] r = with [2]
                genarray double cell [n] default 0.0
                part [0] <= [k.1] < [1]
                    double[n] s.1 = with [n]
                        genarray double default 0.0
                        part [0] <= [j.1] < [n]
                            double z.1 = load w.1[j.1]
                            yield z.1
                    yield s.1
                part [1] <= [k.2] < [2]
                    double[n] s.2 = with [n]
                        genarray double default 0.0
                        part [0] <= [j.2] < [n]
                            double z.2 = load w.2[j.2]
                            yield z.2
                    yield s.2
            return n, r
        """,
    )


READ = """
    double[n] r = with [n]
        genarray double default 0.0
        part [0] <= [j] < [n]
            {index}
            double y = load w[{cell},0]
            double z = load w[j,{element}]
            double d = sub y, z
            yield d
    {after}
    return n, r
"""
PLAIN = {"index": "int o = mul j, 1", "cell": "o", "element": "1", "after": "int q = add n, 1"}


def test_elements_that_are_named_by_numbers() -> None:
    found = after(run, PAIRS.format(reader=READ.format(**PLAIN).strip("\n")))
    assert "load w.1[o]" in found and "load w.2[j]" in found and "[n,2]" not in found


@pytest.mark.parametrize(
    ("part", "text"),
    [
        pytest.param("after", "double[2] q = view w[0]", id="a cell is needed as a whole"),
        pytest.param("after", "double[n,2] q = update w[0,0] with 1.0", id="it is changed"),
        pytest.param("element", "o", id="any element may be meant"),
        pytest.param("index", "int o = load at[j]", id="data say which cell"),
        pytest.param("both", "0", id="no loop goes along it"),
    ],
)
def test_others_stay(part: str, text: str) -> None:
    changed = {**PLAIN, part: text}
    reader = READ.format(**changed)
    if part == "both":
        reader = reader.replace("w[o,0]", "w[0,0]").replace("w[j,1]", "w[0,1]")
    unchanged(run, PAIRS.format(reader=reader.strip("\n")))


def test_cells_outside_of_loops_stay() -> None:
    reader = """
    int o = sub n, 1
    double y = load w[o,0]
    double z = load w[o,1]
    return y, z
    """
    unchanged(run, PAIRS.format(reader=reader.strip("\n")))


def test_a_cell_that_the_rounds_of_a_loop_around_choose() -> None:
    """Its row is one for all of the inner loop, which goes along another axis."""
    reader = """
    double[n,n] r = with [n,n]
        genarray double default 0.0
        part [0,0] <= [j,l] < [n,n]
            int o = load at[0]
            int p = add o, l
            double y = load w[p,0]
            yield y
    return n, n, r
    """
    assert "load w.1[p]" in after(run, PAIRS.format(reader=reader.strip("\n")))


def test_elements_that_become_cells_again_stay_side_by_side() -> None:
    reader = """
    double[n,2] r = with [n]
        genarray double cell [2] default 0.0
        part [0] <= [j] < [n]
            double y = load w[j,0]
            double z = load w[j,1]
            double[2] d = array double[2] of z, y
            yield d
    return n, r
    """
    unchanged(run, PAIRS.format(reader=reader.strip("\n")))
    split = """
    double[n] t = with [n]
        genarray double default 0.0
        part [0] <= [i.2] < [n]
            double y.2 = load r[i.2,0]
            yield y.2
    return n, t
    """
    both = reader.replace("    return n, r\n", "").rstrip() + "\n" + split.strip("\n")
    found = after(run, PAIRS.format(reader=both.strip("\n")))
    assert "load w.1[j]" in found and "load r.1[i.2]" in found


def test_a_last_axis_is_that_of_lanes_and_is_not_cut() -> None:
    reader = """
    double[n,2] r = with [n,2]
        genarray double default 0.0
        part [0,0] <= [j,k] < [n,2]
            double y = load w[j,k]
            yield y
    return n, r
    """
    unchanged(run, PAIRS.format(reader=reader.strip("\n")))


def test_what_would_grow_too_much_stays() -> None:
    many = "\n".join(f"                    double z.{i} = sqrt z" for i in range(9, 420))
    grown = SWAPPED.replace("                    yield z", f"{many}\n                    yield z")
    unchanged(run, PAIRS.format(reader=grown.strip("\n")))


NESTED = """
function f(int n, double[n] x)
    double[2,3] o = array double[2,3] of 1.5, 2.5, 3.5, 4.5, 5.5, 6.5
    double[n,2,3] w = with [n]
        genarray double cell [2,3] default {default}
        part [1] <= [i] < [n]
            double a = load x[i]
            double b = mul a, a
            double c = add a, b
            double[2,3] d = array double[2,3] of a, b, c, c, b, a
            yield d
    double[4,3,n] r = with [4,3]
        genarray double cell [n] default 0.0
        part [0,0] <= [k,l] < [4,3]
            double[n] s = with [n]
                genarray double default 0.0
                part [0] <= [j] < [n]
                    bool t = lt k, 2
                    double z = if t
                        double y = load w[j,k,l]
                        give y
                    else
                        give -1.0
                    yield z
            yield s
    return n, r
"""


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("default", ["0.5", "o"])
def test_cells_of_two_axes_defaults_and_branches_that_are_never_taken(n: int, default: str) -> None:
    """An index beyond the cells stands in a branch that its condition keeps from being taken."""
    before = unit(NESTED.format(default=default))
    result = run(before)
    assert result != before
    x = np.arange(1.0, n + 1.0)
    for expected, found in zip(evaluate(before, [x]), evaluate(result, [x])):
        assert np.array_equal(np.asarray(expected), np.asarray(found))


def test_a_cut_in_a_cut() -> None:
    text = """
function f(int n, double[n] x)
    double[n,2,2] w = with [n]
        genarray double cell [2,2] default 0.5
        part [0] <= [i] < [n]
            double a = load x[i]
            double b = mul a, a
            double[2,2] d = array double[2,2] of a, b, b, a
            yield d
    double[2,2,n] r = with [2]
        genarray double cell [2,n] default 0.0
        part [0] <= [k] < [2]
            double[2,n] q = with [2]
                genarray double cell [n] default 0.0
                part [0] <= [l] < [2]
                    double[n] s = with [n]
                        genarray double default 0.0
                        part [0] <= [j] < [n]
                            double y = load w[j,k,l]
                            yield y
                    yield s
            yield q
    return n, r
"""
    found = after(run, text)
    assert all(f"load w.{number}[" in found for number in (1, 2, 3, 4))
    x = np.arange(1.0, 4.0)
    for before, now in zip(evaluate(unit(text), [x]), evaluate(run(unit(text)), [x])):
        assert np.array_equal(np.asarray(before), np.asarray(now))


def test_it_keeps_the_meaning() -> None:
    def work(u: Unit) -> Unit:
        return run(unroll.run(u))

    assert assert_keeps_meaning(work, range(40)) > 20
