"""Native code: arrays that are given up for a longer one grow where they lie, by turns with the interpreter, and nobody
ever sees that."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacpy.interp import growth
from sacpy.interp.evaluator import Evaluator
from sacpy.interp.growth import grown, keeper_of
from sacpy.interp.world import World
from sacpy.jit.analysis.ints import Ints
from sacpy.jit.cache import Cache
from sacpy.jit.failures import CheckFailed, OutOfMemory
from sacpy.jit.host.growing import kept_rows
from sacpy.jit.host.native import Context
from sacpy.jit.ir.graph import Let, Loop, WithLoop
from sacpy.jit.ir.graph import statements as all_statements
from sacpy.jit.run.engine import Engine
from tests.fuzz.paces import Steady, Wandering, paced
from tests.interp.growing_programs import programs
from tests.jit.graph_text import unit
from tests.jit.native_tools import agree, agree_on, compiled, on_threads
from tests.tools import loaded

ROUNDS = """
function f(int rounds, int n, int[n] a)
    int m, int[m] r = for k from 0 to rounds step 1 with int rn := n, int[rn] ra := a
        {more}
        next {size}, w
    return m, r
"""
BEHIND = """int t = add! rn, 1
        int[t] w = with [t] disjoint complete
            genarray int default 0
            part [0] <= [i] < [rn]
                int x = load ra[i]
                yield x
            part [rn] <= [j] < [t]
                yield k"""
BEFORE = """int t = add! rn, 2
        int[t] w = with [t] disjoint complete
            genarray int default 0
            part [0] <= [j] < [2]
                yield k
            part [2] <= [i] < [t]
                int p = add! i, -2
                int x = load ra[p]
                yield x"""
ITSELF = """int t = add! rn, rn
        int[t] w = with [t] disjoint complete
            genarray int default 0
            part [0] <= [i] < [rn]
                int x = load ra[i]
                yield x
            part [rn] <= [j] < [t]
                int p = sub! j, rn
                int y = load ra[p]
                yield y"""
LAST_OF_ALL = """int t = add! rn, 1
        int[t] w = with [t] disjoint complete
            genarray int default 0
            part [0] <= [j] < [1]
                int e = add! rn, -1
                int y = load ra[e]
                yield y
            part [1] <= [i] < [t]
                int p = add! i, -1
                int x = load ra[p]
                yield x"""
QUEUE = """int e = add! rn, -1
        int[rn] w = with [rn] disjoint complete
            genarray int default 0
            part [0] <= [i] < [e]
                int p = add! i, 1
                int x = load ra[p]
                yield x
            part [e] <= [j] < [rn]
                yield k"""
LESS = """int t = add! rn, -1
        int[t] w = with [t] disjoint complete
            genarray int default 0
            part [0] <= [i] < [t]
                int p = add! i, 1
                int x = load ra[p]
                yield x"""


def rounds(more: str, size: str = "t") -> Any:
    return unit(ROUNDS.format(more=more, size=size))


def ints(n: int) -> np.ndarray[Any, Any]:
    return (np.arange(n) * 37 % 101).astype(np.int32)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("more", "size", "counts"),
    [
        (BEHIND, "t", (0, 1, 40, 300)),
        (BEFORE, "t", (0, 1, 40, 300)),
        (ITSELF, "t", (0, 1, 2, 7)),
        (LAST_OF_ALL, "t", (1, 60)),
        (QUEUE, "rn", (1, 3, 300)),
        (LESS, "t", (0, 1)),
    ],
    ids=["behind", "before", "itself", "last of all", "queue", "less"],
)
def test_rounds_that_add_rows_give_what_they_mean(more: str, size: str, counts: tuple[int, ...]) -> None:
    agree_on(rounds(more, size), [(k, ints(n)) for k in counts for n in (1, 2, 20, 200) if k * n <= 8000])


@pytest.mark.parametrize(
    ("more", "size"), [(BEHIND, "t"), (BEFORE, "t"), (QUEUE, "rn")], ids=["behind", "before", "queue"]
)
def test_n_rounds_make_few_arrays(more: str, size: str) -> None:
    function = compiled(rounds(more, size))
    before = function.context.allocations
    found = function.call((20_000, ints(500)))[-1]
    assert function.context.allocations - before < (150 if size == "rn" else 30)
    assert isinstance(found, np.ndarray) and (found == 19_999).any()


def test_all_lengths_up_to_those_of_large_blocks() -> None:
    function = compiled(rounds(BEHIND))
    for count in (15, 16, 17, 1000, 16_367, 16_368, 16_369, 300_000, 1_048_560, 1_100_000, 2_200_000):
        found = function.call((count, ints(1)))[-1]
        assert isinstance(found, np.ndarray) and (found[1:] == np.arange(count)).all()


SHORT_AND_LONG = """
function f(int n, int[n] a, int m, int[m] b)
    int an = add! n, 0
    int[an] c = with [an] disjoint complete
        genarray int default 0
        part [0] <= [i] < [an]
            int x = load a[i]
            int y = add x, 1
            yield y
    int bn = add! m, 0
    int[bn] d = with [bn] disjoint complete
        genarray int default 0
        part [0] <= [i.1] < [bn]
            int x.1 = load b[i.1]
            int y.1 = add x.1, 2
            yield y.1
    int t = add! an, bn
    int[t] w = with [t] disjoint complete
        genarray int default 0
        part [0] <= [i.2] < [an]
            int x.2 = load c[i.2]
            yield x.2
        part [an] <= [i.3] < [t]
            int p = sub! i.3, an
            int x.3 = load d[p]
            yield x.3
    return t, w
"""


def test_of_two_that_die_either_may_stay() -> None:
    short = (0, 1, 5, 700)
    both = [*product(short, short), (17_000, 5), (0, 17_000), (16_500, 17_000)]
    agree_on(unit(SHORT_AND_LONG), [(ints(n), ints(m)) for n, m in both])
    on_threads(unit(SHORT_AND_LONG), ints(400_000), ints(300_000))


HELD = """
function f(int rounds, int n, int[n] a)
    int m, int[m] r, int[n] s = for k from 0 to rounds step 1 with int rn := n, int[rn] ra := a, int[n] sa := a
        int t = add! rn, 1
        int[t] w = with [t] disjoint complete
            genarray int default 0
            part [0] <= [i] < [rn]
                int x = load ra[i]
                yield x
            part [rn] <= [j] < [t]
                int z = load ra[0]
                int y = add z, k
                yield y
        int[t] u = update w[0] with k
        int q = load ra[0]
        next t, u, sa
    return m, r, n, s
"""
SHARED = """
function f(int n, int[n] a)
    int[n] b = update a[0] with 7
    int[n] c = b
    int t = add! n, 1
    int[t] w = with [t] disjoint complete
        genarray int default 0
        part [0] <= [i] < [n]
            int x = load b[i]
            yield x
        part [n] <= [j] < [t]
            yield 1
    int[t] u = update w[0] with 8
    int[t] v = with [t] disjoint complete
        genarray int default 0
        part [0] <= [i.1] < [n]
            int x.1 = load c[i.1]
            yield x.1
        part [n] <= [j.1] < [t]
            yield 2
    return t, u, v
"""


def test_an_array_gets_less_where_it_lies() -> None:
    agree_on(rounds(LESS), [(count, ints(n)) for count in (2, 20, 200) for n in (200, 300)])
    function = compiled(rounds(LESS))
    assert function.call((10_000, ints(11_000)))[-1].tolist() == ints(11_000).tolist()[10_000:]  # type: ignore[union-attr]
    assert function.context.allocations < 20


def test_what_others_hold_stays_as_it_is() -> None:
    agree_on(unit(HELD), [(count, ints(n)) for count in (0, 1, 2, 30) for n in (1, 10, 500)])
    agree_on(unit(SHARED), [(ints(n),) for n in (1, 10, 5000)])


ROWS = """
function f(int rounds, int n, int c, double[n,c] a)
    int m, double[m,c] r = for k from 0 to rounds step 1 with int rn := n, double[rn,c] ra := a
        int t = add! rn, 2
        int e = add! rn, 1
        double[t,c] w = with [t,c] disjoint complete
            genarray double default 0.0
            part [0,0] <= [j,j2] < [1,c]
                yield 1.5
            part [1,0] <= [i,i2] < [e,c]
                int p = add! i, -1
                double x = load ra[p,i2]
                yield x
            part [e,0] <= [l,l2] < [t,c]
                yield -0.0
        next t, w
    return m, c, r
"""


def test_rows_are_added_before_and_behind_a_matrix() -> None:
    agree_on(
        unit(ROWS),
        [(count, np.arange(float(n * c)).reshape(n, c)) for count in (0, 1, 50) for n in (0, 1, 9) for c in (0, 1, 7)],
    )


def kept(text: str) -> list[int]:
    """How many arrays each with-loop of a unit can keep the rows of, if all die there."""
    function = unit(text).root
    loops = [s.rhs for s in all_statements(function.body) if isinstance(s, Let) and isinstance(s.rhs, WithLoop)]
    assert not any(isinstance(s, Let) and isinstance(s.rhs, Loop) for s in function.body.statements)
    return [len(kept_rows(w, {"a", "b", "c", "d", "ra"}, Ints(function))) for w in loops]


BODY = """
function f(int n, int[n] a, int m, int s)
    int t = add! n, m
    int[t] w = with [t] disjoint complete
        genarray int default 0
        part [0] <= [i] < [n]
            {0}
            yield x
        part [n] <= [j] < [t]
            {1}
            yield y
    return t, w
"""


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("int x = load a[i]", "int y = add j, m", 1),
        ("int p = add! i, s\n            int x = load a[p]", "int y = add j, m", 1),
        ("int p = sub! s, i\n            int x = load a[p]", "int y = add j, m", 0),  # from the last to the first
        ("int p = mul! i, 2\n            int x = load a[p]", "int y = add j, m", 0),
        ("int p = add i, s\n            int x = load a[p]", "int y = add j, m", 0),  # which may wrap
        ("int x = load a[s]", "int y = add j, m", 0),
        ("int z = load a[i]\n            int x = add z, 1", "int y = add j, m", 0),
        ("int x = load a[i]", "int y = load a[0]", 1),  # all of it stays
        (
            "int p = add! i, s\n            int x = load a[p]",
            "int y = load a[0]",
            0,
        ),  # of which nobody knows that it stays
    ],
)
def test_which_rows_stay_where_they_are(first: str, second: str, expected: int) -> None:
    assert kept(BODY.format(first, second)) == [expected]


def test_columns_do_not_stay() -> None:
    text = (
        "function f(int n, int m, int[n,m] a)\n    int t = add! m, 1\n"
        "    int[n,t] w = with [n,t] disjoint complete\n        genarray int default 0\n"
        "        part [0,0] <= [i,j] < [n,m]\n            int x = load a[i,j]\n            yield x\n"
        "        part [0,m] <= [k,l] < [n,t]\n            yield 1\n    return n, t, w\n"
    )
    assert kept(text) == [0]
    agree(unit(text), ints(12).reshape(3, 4))


# ---------------------------------------------------------------- limits, and the border


def test_room_counts_only_once_it_is_used() -> None:
    """3 MB fit where 1.9 and 1.1 times as much are needed in between; with room for half as much again they would
    not."""
    text = ROUNDS.format(more=BEHIND, size="t").replace(
        "return m, r",
        "int[m] c = with [m] disjoint complete\n        genarray int default 0\n        part [0] <= [i.9] < [m]\n"
        "            int q.9 = load r[i.9]\n            int o.9 = sub! m, i.9\n            int u.9 = add q.9, o.9\n"
        "            yield u.9\n    int z = load r[0]\n    int[m] d = update c[0] with z\n    return m, d",
    )
    needed = 4 * 700_000
    function = compiled(unit(text), context=Context(1, 2 * needed + (1 << 18)))
    found = function.call((700_000, ints(1)))[-1]
    assert isinstance(found, np.ndarray) and len(found) == 700_001
    with pytest.raises(OutOfMemory):
        compiled(unit(text), context=Context(1, needed + (1 << 18))).call((700_000, ints(1)))


def test_a_limit_stops_one_that_grows_in_its_room() -> None:
    function = compiled(rounds(BEHIND), context=Context(1, 1 << 22))
    assert len(function.call((350_000, ints(1)))[-1]) == 350_001  # type: ignore[arg-type]
    with pytest.raises(OutOfMemory):
        function.call((1 << 21, ints(1)))


PUSH = """
function f(int n, int[n] a, int x)
    bool ok = le n, 1073741822
    check ok : an extent is not too large
    int t = add! n, 1
    int[t] w = with [t] disjoint complete
        genarray int default 0
        part [0] <= [i] < [n]
            int y = load a[i]
            yield y
        part [n] <= [j] < [t]
            yield x
    return t, w
"""
FAILING = PUSH.replace("yield x", "bool in = le x, 1000\n            check in : x is small\n            yield x")


def test_an_array_grows_from_call_to_call_by_turns_with_the_interpreter() -> None:
    function = compiled(unit(PUSH))
    assert function.giving is not None
    array: Any = ints(3)
    before, moves, place = function.context.allocations, 0, 0
    for k in range(40_000):
        if k % 3:
            array = function.giving((array, k), (True, True))[-1]
        else:
            array = grown(array, np.array([k], np.int32), (True, False))
        moves += place != (place := growth.address_of()(array))
        keeper = keeper_of(array)
        assert keeper is None or keeper.capacity() <= 2 * array.nbytes + 2 * growth.LITTLE
    assert (array[3:] == np.arange(40_000)).all()
    assert moves < 1000 and function.context.allocations - before < 1000  # short ones are copied by the interpreter


def test_after_a_failed_check_the_array_is_what_it_was() -> None:
    function = compiled(unit(FAILING))
    assert function.giving is None or not function.signature.takes
    array = compiled(unit(PUSH)).call((ints(2000), 5))[-1]
    with pytest.raises(CheckFailed):
        function.call((array, 5000))
    assert isinstance(array, np.ndarray) and (array[:2000] == ints(2000)).all()


def test_a_result_has_no_more_room_than_it_has_elements() -> None:
    function = compiled(rounds(BEHIND))
    for count in (1000, 9000, 30_000, 100_000, 300_000, 700_000, 1_300_000):
        found: Any = function.call((count, ints(1)))[-1]
        keeper = keeper_of(found)
        assert keeper is not None and keeper.capacity() <= 2 * found.nbytes + growth.LITTLE


# ---------------------------------------------------------------- whole programs


def out(text: str, engine: Engine | None) -> str:
    program = loaded(text)
    world = World.captured()
    Evaluator(program, world, engine=engine, strict_fp=True, always_copy=engine is None).call(program.main_key(), ())
    return bytes(world.out() if callable(world.out) else world.out).decode("latin-1")


@settings(max_examples=10, deadline=None)
@given(programs())
def test_programs_that_grow_arrays_mean_the_same_natively(text: str) -> None:
    assert out(text, Engine("cpu", eager=True, defects=True, strict_fp=True, cache=Cache(None))) == out(text, None)


@settings(max_examples=10, deadline=None)
@given(programs(), st.sampled_from([Steady(None, 1, 1), Steady(None, 2, 3), Steady(1, 2, 0), Wandering(3)]))
def test_programs_that_grow_arrays_mean_the_same_by_turns(text: str, pace: Steady | Wandering) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growth, "FEW", 0)
        assert out(text, paced(pace)) == out(text, None)
