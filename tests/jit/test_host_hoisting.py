"""What the bodies of partitions compute for several innermost indices at once: where it goes, and that errors stay
where they are."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.failures import CheckFailed
from sacpy.jit.ir.graph import Block, Check, For, Let, Load, Op, Partition, Unit, WithLoop, statements
from sacpy.jit.schedule.hoisting import hoisted
from sacpy.jit.schedule.loops import loops_before
from sacpy.jit.schedule.threads import is_cut
from sacpy.nodes import replace
from tests.jit.graph_text import unit as parsed
from tests.jit.native_tools import agree, agree_on, compiled, on_threads

ROWS = """
function f(int m, int n, double[m,n] a, int k, double[k] w, int count)
    double[m,n] r = with [m,n] disjoint complete
        genarray double default 0.0
        part [0,0] <= [p,q] < [m,n]
            int t = mul p, count
            bool t.1 = le 0, t
            check t.1 : the index is not negative
            bool t.2 = lt t, k
            check t.2 : the index lies in the array
            double t.3 = load w[t]
            double t.4 = load a[p,q]
            double t.5 = mul t.3, t.4
            yield t.5
    return m, n, r
"""

GATHERED = """
function f(int m, int n, int[m] at, double[m,n] a)
    double[m,n] r = with [m,n] disjoint complete
        genarray double default 0.0
        part [0,0] <= [p,q] < [m,n]
            int t = load at[p]
            bool t.1 = le 0, t
            check t.1 : the index is not negative
            bool t.2 = lt t, m
            check t.2 : the index lies in the array
            double t.3 = load a[t,q]
            yield t.3
    return m, n, r
"""


SHIFTED = """
function f(int m, int n, double[m,n] a)
    double[m,n] r = with [m,n] disjoint complete
        genarray double default 0.0
        part [0,0] <= [p,q] < [m,n]
            double x = load a[p,q]
            {loop}
            double y = sub x, w
            double z = mul y, y
            yield z
    return m, n, r
"""
FOLD = """double w = with
                fold from -1e308 by (double acc), (double val)
                    double top = max acc, val
                    give top
                part [0] <= [k] < [n]
                    double t = load a[p,k]
                    yield t"""
ROUNDS = """double w = for k from 0 to n step 1 with double s := 0.0
                double t = load a[p,k]
                double u = mul s, 0.5
                double s.1 = add u, t
                next s.1"""


def partition(u: Unit) -> Partition:
    (loop, *_) = [s.rhs for s in statements(u.root.body) if isinstance(s, Let) and isinstance(s.rhs, WithLoop)]
    return loop.partitions[0]


@pytest.mark.parametrize("text", [ROWS, GATHERED])
def test_checks_of_a_row_stand_in_front_of_its_loop(text: str) -> None:
    found = hoisted(partition(parsed(text)))
    assert [len([s for s in before if isinstance(s, Check)]) for before in found.before] == [0, 2]
    assert not any(isinstance(s, Check) for s in found.partition.body.statements)


def test_a_load_stays_behind_the_check_that_it_stood_behind() -> None:
    text = ROWS.replace("bool t.2 = lt t, k", "bool t.2 = lt q, k")
    found = hoisted(partition(parsed(text)))
    assert any(
        isinstance(s, Let) and isinstance(s.rhs, Load) and s.rhs.array.name == "w"
        for s in found.partition.body.statements
    )


def test_what_each_index_sets_anew_stays() -> None:
    p = partition(parsed(ROWS))
    t = next(v for s in p.body.statements if isinstance(s, Let) for v in s.targets if v.name == "t")
    carried = replace(p, body=Block(p.body.statements[1:], p.body.results))
    assert hoisted(carried)
    assert not hoisted(carried, [t])


def test_without_checks_to_move_nothing_moves() -> None:
    p = partition(parsed("\n".join(line for line in ROWS.splitlines() if "check" not in line)))
    found = hoisted(p)
    assert not found
    assert found.partition is p


@pytest.mark.parametrize("loop", [FOLD, ROUNDS])
def test_a_loop_that_needs_the_row_alone_runs_once_for_each_row(loop: str) -> None:
    found = hoisted(partition(parsed(SHIFTED.format(loop=loop))))
    (moved,) = [s for s in found.before[1] if isinstance(s, Let) and isinstance(s.rhs, WithLoop | For)]
    assert moved.targets[0].name == "w"
    assert [s.rhs.code for s in found.partition.body.statements if isinstance(s, Let) and isinstance(s.rhs, Op)] == [
        "sub",
        "mul",
    ]
    assert loops_before(found.before, 1) and not loops_before(found.before, 0)
    assert not is_cut(partition(parsed(SHIFTED.format(loop=loop))))  # each piece of a row would run it


def test_a_loop_that_needs_the_element_stays() -> None:
    assert not hoisted(
        partition(parsed(SHIFTED.format(loop=FOLD.replace("load a[p,k]", "load a[k,q]").replace("[n]", "[m]"))))
    )


def test_a_loop_stays_behind_the_check_that_it_stood_behind() -> None:
    guarded = "bool ok = lt q, m\n            check ok : it is so\n            " + FOLD
    assert not hoisted(partition(parsed(SHIFTED.format(loop=guarded))))


def test_the_results_are_the_same() -> None:
    rng = np.random.default_rng(1)
    agree(parsed(ROWS), rng.uniform(size=(7, 33)), rng.uniform(size=19), 3)
    agree(parsed(GATHERED), rng.integers(0, 5, 5, dtype=np.int32), rng.uniform(size=(5, 12)))
    for loop in (FOLD, ROUNDS):
        agree_on(
            parsed(SHIFTED.format(loop=loop)),
            [[rng.uniform(size=shape)] for shape in ((9, 21), (2, 70), (4, 1), (5, 0), (0, 5))],
        )
        on_threads(parsed(SHIFTED.format(loop=loop)), rng.uniform(size=(300, 290)))
        on_threads(parsed(SHIFTED.format(loop=loop)), rng.uniform(size=(3, 30000)))


def test_a_failing_check_is_found() -> None:
    f = compiled(parsed(ROWS))
    with pytest.raises(CheckFailed):
        f.call((np.ones((7, 33)), np.ones(18), 3))


@pytest.mark.parametrize("shape", [(7, 0), (0, 7), (0, 0)])
def test_no_check_fails_where_there_is_no_index(shape: tuple[int, int]) -> None:
    agree(parsed(ROWS), np.ones(shape), np.ones(0), 3)
