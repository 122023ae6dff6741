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


CARRIED = """
function f(int n, double[n,3] a, int rounds)
    double[n,3] r = for t from 0 to rounds step 1 with double[n,3] x := a
        double[n,3] w = with [n]
            genarray double cell [3] default 0.0
            part [0] <= [i] < [n]
                int o = sub n, i
                int m = sub o, 1
                double e = load x[i,0]
                double f = load x[m,1]
                double g = mul e, f
                double[3] c = array double[3] of f, g, e
                yield c
        {more}
        next w
    {behind}
    return n, r
"""
READER = """
double[n] q = with [n]
            genarray double default 0.0
            part [0] <= [l] < [n]
                double h = load x[l,0]
                yield h
"""
NOTHING = {"more": "int q = add t, 1", "behind": "int z = add n, 1"}


def test_what_a_loop_carries_comes_apart_before_it_and_together_behind_it() -> None:
    carried = ", ".join(f"double[n] x.{k} := a.{k}" for k in (1, 2, 3))
    rounds = f"t from 0 to rounds step 1 with {carried}"
    check(
        run,
        CARRIED.format(**NOTHING),
        """
        function f(int n, double[n,3] a, int rounds)
            double[n] a.1, double[n] a.2, double[n] a.3 = with [n] disjoint complete
                genarray double default 0.0
                genarray double default 0.0
                genarray double default 0.0
                part [0] <= [i.1] < [n]
                    double t.1 = load a[i.1,0]
                    double t.2 = load a[i.1,1]
                    double t.3 = load a[i.1,2]
                    yield t.1, t.2, t.3
            LOOP
                double[n] w.1, double[n] w.2, double[n] w.3 = with [n]
                    genarray double default 0.0
                    genarray double default 0.0
                    genarray double default 0.0
                    part [0] <= [i] < [n]
                        int o = sub n, i
                        int m = sub o, 1
                        double e = load x.1[i]
                        double f = load x.2[m]
                        double g = mul e, f
                        double[3] c = array double[3] of f, g, e
                        yield f, g, e
                int q = add t, 1
                next w.1, w.2, w.3
            double[n,3] r = with [n] disjoint complete
                genarray double cell [3] default 0.0
                part [0] <= [i.2] < [n]
                    double t.4 = load r.1[i.2]
                    double t.5 = load r.2[i.2]
                    double t.6 = load r.3[i.2]
                    double[3] c.1 = array double[3] of t.4, t.5, t.6
                    yield c.1
            int z = add n, 1
            return n, r
        """.replace("LOOP", f"double[n] r.1, double[n] r.2, double[n] r.3 = for {rounds}"),
    )


@pytest.mark.parametrize(
    ("part", "text"),
    [
        pytest.param("more", "double[3] v = view x[0]", id="a cell is needed as a whole"),
        pytest.param("more", "double[3] v = view w[0]", id="a new cell is needed as a whole"),
        pytest.param("more", "double[n,3] v = update w[0,0] with 1.0", id="the new array is changed"),
        pytest.param("next", "next x", id="the old array goes on"),
        pytest.param("load", "load x[i,t]", id="any element may be meant"),
        pytest.param("frame", "", id="the number of cells changes"),
        pytest.param("cell", "double[3] c = view b[i]", id="a new cell is none of numbers side by side"),
        pytest.param("other", "", id="the new array has extents of its own"),
        pytest.param("fold", "", id="it is made with what is folded"),
    ],
)
def test_what_a_loop_carries_otherwise_stays(part: str, text: str) -> None:
    if part == "frame":  # the first rows are numbers of the rounds before
        before = CARRIED.format(**NOTHING).replace("double[n,3] x := a", "int k := n, double[k,3] x := a")
        before = before.replace("double[n,3] r = for", "int u, double[u,3] r = for").replace("[n]", "[k]")
        before = before.replace("double[n,3] w", "double[k,3] w").replace("next w", "next k, w")
        before = before.replace("return n, r", "return u, r")
    elif part == "cell":
        before = CARRIED.format(**NOTHING).replace("double[3] c = array double[3] of f, g, e", text)
        before = before.replace("double e = load x[i,0]", "double e = load b[i,0]").replace(
            "load x[m,1]", "load b[m,1]"
        )
        before = before.replace("int q = add t, 1", READER.strip("\n"))
        before = before.replace("double[n,3] a,", "double[n,3] a, double[n,3] b,")
    elif part == "other":
        before = CARRIED.format(**NOTHING).replace("double[n,3] w = with [n]", "double[m,3] w = with [m]")
        before = (
            before.replace("int rounds", "int m, int rounds")
            .replace("int m = ", "int l = ")
            .replace("x[m,1]", "x[l,1]")
        )
    elif part == "fold":
        before = CARRIED.format(**NOTHING).replace("double[n,3] w", "double u, double v, double[n,3] w")
        give = "\n                give y, y2\n            "
        fold = f"fold from 0.0, 0.0 by (double p, double p2), (double y, double y2){give}"
        before = before.replace("genarray double cell", f"{fold}genarray double cell").replace(
            "yield c", "yield e, f, c"
        )
    elif part == "more":
        before = CARRIED.format(**{**NOTHING, "more": text})
    else:
        before = CARRIED.format(**NOTHING).replace("next w" if part == "next" else "load x[i,0]", text)
    unchanged(run, before)


def test_what_goes_on_as_two_arrays_comes_apart_once() -> None:
    text = (
        CARRIED.format(**NOTHING).replace("x := a", "x := a, double[n,3] y := a").replace("load x[m,1]", "load y[m,1]")
    )
    text = text.replace("double[n,3] r =", "double[n,3] r, double[n,3] s =").replace("next w", "next w, w")
    found = after(run, text)
    assert "next w.1, w.2, w.3, w.1, w.2, w.3" in found and found.count(" w.1, double[n] w.2") == 1


def test_pairs_that_a_loop_carries_stay() -> None:
    unchanged(run, CARRIED.format(**NOTHING).replace(",3]", ",2]").replace("[3]", "[2]").replace("f, g, e", "f, g"))


def test_arrays_made_in_a_round_come_apart_with_it() -> None:
    text = """
function f(int n, double[n,3] a, int rounds)
    double[n,3] r = for t from 0 to rounds step 1 with double[n,3] x := a
        double[n,3] y = with [n]
            genarray double cell [3] default 0.0
            part [0] <= [i] < [n]
                double e = load x[i,0]
                double f = load x[i,1]
                double g = add e, f
                double[3] c = array double[3] of g, e, g
                yield c
        double[n,3] z = with [n]
            genarray double cell [3] default 0.0
            part [0] <= [l] < [n]
                double p = load y[l,0]
                double p2 = load y[l,1]
                double[3] b = array double[3] of p2, p, p2
                yield b
        double[n,3] w = with [n]
            genarray double cell [3] default 0.0
            part [0] <= [j] < [n]
                int o = sub n, j
                int m = sub o, 1
                double h = load z[m,0]
                double k = load z[j,1]
                double[3] d = array double[3] of h, k, h
                yield d
        {more}
        next w
    return n, r
"""
    found = after(run, text.format(more="int q = add t, 1"))
    assert all(f"load {array}[" in found for array in ("x.1", "x.2", "y.1", "y.2"))
    unchanged(run, text.format(more="double[3] v = view w[0]"))


WHILE = """
function f(int n, double[n,3] a, int rounds)
    int u, double[n,3] r, double[n,3] s = loop int k := 0, double[n,3] x := a, double[n,3] y := a
        while
            double b = load x[0,1]
            bool p = lt b, 100.0
            bool p2 = lt k, rounds
            bool p3 = and p, p2
            test p3
        round
            double[n,3] w, double[n,3] v = with [n]
                genarray double cell [3] default 0.0
                genarray double cell [3] default 0.0
                part [0] <= [i] < [n]
                    int o = sub n, i
                    int m = sub o, 1
                    double e = load x[i,0]
                    double f = load x[m,1]
                    double g = load y[m,0]
                    double h = add e, f
                    double[3] c = array double[3] of h, e, g
                    double[3] d = array double[3] of g, h, e
                    yield c, d
            int l = add k, 1
            next l, w, v
    return n, r, n, s
"""


@pytest.mark.parametrize("text", [CARRIED.format(**NOTHING), WHILE])
@pytest.mark.parametrize("n", [1, 4])
def test_rounds_carry_the_same(text: str, n: int) -> None:
    before = unit(text)
    result = run(before)
    assert result != before
    a = np.arange(1.0, 3 * n + 1.0).reshape(n, 3) / 4
    for rounds in (0, 1, 2, 5):
        for expected, found in zip(evaluate(before, [a, rounds]), evaluate(result, [a, rounds])):
            assert np.array_equal(np.asarray(expected), np.asarray(found))


def test_loops_in_pieces_that_are_cut_carry_arrays_of_their_own() -> None:
    text = """
function f(int n, double[n,3] a, double[n] x, int rounds)
    double[n,2] w = with [n]
        genarray double cell [2] default 0.5
        part [0] <= [i] < [n]
            double p = load x[i]
            double q = mul p, p
            double[2] c = array double[2] of p, q
            yield c
    double[2,n,3] r = with [2]
        genarray double cell [n,3] default 0.0
        part [0] <= [k] < [2]
            double[n,3] b = update a[0,0] with 1.0
            double[n,3] s = for t from 0 to rounds step 1 with double[n,3] y := b
                double[n,3] v = with [n]
                    genarray double cell [3] default 0.0
                    part [0] <= [j] < [n]
                        double z = load w[j,k]
                        double e = load y[j,0]
                        double f = load y[j,1]
                        double g = add e, z
                        double[3] d = array double[3] of f, g, e
                        yield d
                next v
            yield s
    return n, r
"""
    found = after(run, text)
    assert "load w.1[" in found and "load w.2[" in found and "load y[" not in found
    a, x = np.arange(9.0).reshape(3, 3), np.arange(3.0)
    for before, now in zip(evaluate(unit(text), [a, x, 3]), evaluate(run(unit(text)), [a, x, 3])):
        assert np.array_equal(np.asarray(before), np.asarray(now))
