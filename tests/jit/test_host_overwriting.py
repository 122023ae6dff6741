"""Loops whose results may lie in the memory of what they read: LLVM makes vectors of them without asking at run time,
which would find that they do."""

from __future__ import annotations

import re

import numpy as np
import pytest

from sacpy.jit.analysis import depends
from sacpy.jit.analysis.depends import Conditions, may_share
from sacpy.jit.analysis.ints import Ints
from sacpy.jit.host.lowering import lower
from sacpy.jit.host.memory_plan import memory_text
from sacpy.jit.host.translate import Task, optimised
from sacpy.jit.ir.graph import Unit, Var, WithLoop
from sacpy.jit.options import Options
from tests.jit.graph_text import unit as parsed
from tests.jit.native_tools import agree_on, compiled

# In the first round x is the argument; in later ones, its memory is free for y.
ROUNDS = """
function f(int n, double[n] a, double[n] b, int rounds, double s)
    double[n] r, double[n] q = for k from 0 to rounds step 1 with double[n] x := a, double[n] z := b
        double[n] y, double[n] v = with [n] disjoint complete
            genarray double default 0.0
            genarray double default 0.0
            part [0] <= [i] < [n]
                double e = load x[i]
                double h = load z[i]
                {guarded}
                double e2 = mul g, e
                double f = add e2, s
                yield f, e
        double[n] w, double[n] u = with [n] disjoint complete
            genarray double default 0.0
            genarray double default 0.0
            part [0] <= [j] < [n]
                int t = sub! n, j
                int m = add! t, -1
                double c = load y[m]
                double d = load v[m]
                double o1 = sub c, d
                yield o1, c
        next w, u
    return n, r, n, q
"""
PLAIN = "double g = add h, 0.5"
CHOICE = """bool p = lt h, e
                double g = if p
                    give h
                else
                    give 2.5"""
GUARD = """bool p = lt 0, i
                double g = if p
                    int l = add! i, -1
                    double before = load b[l]
                    give before
                else
                    give 2.5"""
CHECK = """bool p = lt h, 1e9
                check p : it is not too large
                double g = add h, 0.5"""


SUMMED = """
function f(int n, double[n] a, int rounds, double s)
    double[n] r, double q = for k from 0 to rounds step 1 with double[n] x := a, double p := s
        double[n] y, double t = with [n] disjoint complete
            genarray double default 0.0
            fold from 0.0 by (double t1), (double t2)
                double t3 = mul t1, {factor}
                double t4 = add t3, t2
                give t4
            part [0] <= [i] < [n]
                double e = load x[i]
                double f = add e, 0.5
                yield f, e
        double[n] w = with [n] disjoint complete
            genarray double default 0.0
            part [0] <= [j] < [n]
                int l = sub! n, j
                int m = add! l, -1
                double c = load y[m]
                yield c
        double u = add t, p
        next w, u
    return n, r, q
"""
SUMS = SUMMED.replace("double t3 = mul t1, {factor}\n                double t4 = add t3, t2", "double t4 = add t1, t2")


def rounds(guarded: str) -> Unit:
    return parsed(ROUNDS.format(guarded=guarded))


def vectors(text: str) -> tuple[int, int]:
    """How many loops of a module are vectors', and how many of these are only chosen at run time."""
    module = str(optimised(Task(text)))
    return module.count("vector.body:"), module.count("vector.memcheck:")


def made_in_a_round(u: Unit) -> int:
    """How many arrays a later round makes."""
    function, one, found = compiled(u), np.ones(9), list[int]()
    for many in (5, 6):
        before = function.context.allocations
        function.call((one, one, many, 0.25))
        found.append(function.context.allocations - before)
    return found[1] - found[0]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("guarded", [PLAIN, CHOICE])
def test_vectors_are_certain(guarded: str, threads: int) -> None:
    text = lower(rounds(guarded), Options(threads=threads))
    groups = re.findall(r"!llvm\.access\.group (!\d+)", text)
    assert len(groups) == 2 * 4 and len(set(groups)) == 2  # of the loop for short rows, and that of a chunk
    assert all(f'parallel_accesses", {group}' in text for group in groups)
    loops, checked = vectors(text)
    assert loops >= 2 and not checked


@pytest.mark.parametrize("guarded", [GUARD, CHECK])
def test_what_a_condition_guards_is_not_loaded_without_it(guarded: str) -> None:
    """So results have memory of their own, unless it is certain that nobody holds what dies."""
    text = lower(rounds(guarded), Options())
    assert "access.group" not in text and "call i1 @sacpy.unique" not in text
    loops, checked = vectors(text)
    assert loops >= 2 and not checked


@pytest.mark.parametrize(("guarded", "place"), [(PLAIN, "in the memory of x"), (GUARD, "new")])
def test_the_memory_is_told(guarded: str, place: str) -> None:
    row = next(row for row in memory_text(rounds(guarded), Options()).splitlines() if row.strip().startswith("y ="))
    assert row.endswith(place)


def test_what_a_loop_has_made_is_overwritten_where_loads_are_guarded_too() -> None:
    made = """double[n] o = with [n] disjoint complete
            genarray double default 0.0
            part [0] <= [a1] < [n]
                double a2 = load z[a1]
                double a3 = add a2, s
                yield a3
        double[n] y, double[n] v = with"""
    text = ROUNDS.replace("double[n] y, double[n] v = with", made).replace("= load z[i]", "= load o[i]")
    u = parsed(text.format(guarded=GUARD))
    rows = memory_text(u, Options()).splitlines()
    assert any(row.strip().startswith("y =") and row.endswith("in the memory of o") for row in rows)
    agree_on(u, [[np.arange(9.0), np.arange(9.0), 3, 0.5]])
    assert made_in_a_round(u) == 3  # v, w and u; o lies in the memory of z
    assert lower(u, Options()).count("!llvm.access.group") == 2 * 2  # of o, for short rows and in chunks


@pytest.mark.parametrize("guarded", [PLAIN, CHOICE, GUARD, CHECK])
@pytest.mark.parametrize("n", [0, 1, 7, 64, 999])
def test_results(guarded: str, n: int) -> None:
    random = np.random.default_rng(n)
    agree_on(rounds(guarded), [[random.random(n), random.random(n), many, 0.25] for many in (0, 1, 2, 5)])


def test_each_result_takes_an_array_of_its_own() -> None:
    """The two arrays that die in each round become two results; the others are new."""
    assert made_in_a_round(rounds(PLAIN)) == 2


def test_no_result_asks_for_what_another_one_may_have() -> None:
    """Three arrays that die, two of which are there for the first of two results."""
    text = ROUNDS.format(guarded=PLAIN).replace("double[n] z := b", "double[n] z := b, double[n] o := a")
    text = text.replace("double[n] r, double[n] q =", "double[n] r, double[n] q, double[n] p =")
    text = text.replace("load z[i]", "load z[i]\n                double h2 = load o[i]")
    text = text.replace("next w, u", "next w, u, w")
    assert lower(parsed(text), Options()).count("call i1 @sacpy.unique") == 3


def test_of_each_array_it_is_asked_once_whether_results_may_take_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, str]] = []

    def noted(w: WithLoop, array: Var, *ints: Ints) -> Conditions | None:
        asked.append((id(w), array.name))
        return may_share(w, array, *ints)

    monkeypatch.setattr(depends, "may_share", noted)
    u = rounds(PLAIN)
    lower(u, Options())
    assert len(asked) == len(set(asked)) > 2


def test_only_innermost_loops_are_meant() -> None:
    """With three axes: the first has the threads, and the second is a loop around the last."""
    text = ROUNDS.format(guarded=PLAIN).replace("double[n]", "double[n,n,n]").replace("with [n]", "with [n,n,n]")
    for inner, loads in (("i", "xz"), ("j", "yv")):
        text = text.replace(f"part [0] <= [{inner}] < [n]", f"part [0,0,0] <= [{inner}1,{inner}2,{inner}] < [n,n,n]")
        for array in loads:
            text = text.replace(f"load {array}[", f"load {array}[{inner}1,{inner}2,")
    text = text.replace("return n, r, n, q", "return n, n, n, r, n, n, n, q")
    assert lower(parsed(text), Options()).count("parallel_accesses") == 1


def test_loops_around_others_are_not_meant() -> None:
    fold = """double g = with
                    fold from 0.0 by (double s0), (double s1)
                        double s2 = add s0, s1
                        give s2
                    part [0] <= [l] < [rounds]
                        double l1 = tod l
                        double l2 = mul l1, h
                        yield l2"""
    assert "access.group" not in lower(rounds(fold), Options())


@pytest.mark.parametrize("threads", [1, 2])
def test_sums_beside_are_lanes(threads: int) -> None:
    """The lanes, and the rest of them: a load and a store in each, for short rows and in chunks."""
    text = lower(parsed(SUMS), Options(threads=threads))
    assert text.count("!llvm.access.group") == 2 * 4 and text.count("parallel_accesses") == 2 * 2
    assert vectors(text)[1] == 0


def test_other_folds_beside_stay_in_order() -> None:
    assert "access.group" not in lower(parsed(SUMMED.format(factor=0.5)), Options())


@pytest.mark.parametrize("text", [SUMS, SUMMED.format(factor=0.5)])
@pytest.mark.parametrize("n", [0, 1, 9, 70, 999])
def test_results_with_sums(n: int, text: str) -> None:
    whole = np.arange(n) % 4.0  # so that no order of adding up differs
    agree_on(parsed(text), [[whole, many, 0.5] for many in (0, 1, 2)], Options())
