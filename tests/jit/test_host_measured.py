"""Whether loops are dealt out is measured: with a clock that the tests turn."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from math import inf, nan

import pytest

from sacpy.jit.host.compile import Linked
from sacpy.jit.host.measured import AGAIN, LARGE, LOOPS, MARGIN, MEASURED, PAUSE, SETTLING, SOON, TRIED
from sacpy.jit.host.translate import Task, translated

AROUND = f"""
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
@now = global i64 1000
define internal i64 @clock() noinline {{
  %now = load volatile i64, ptr @now
  ret i64 %now
}}
{MEASURED}
define i32 @ask(ptr %body, double %amount, i32 %ready) {{
  %is_ready = icmp ne i32 %ready, 0
  %alone = call i1 @done_alone_is_faster(ptr %body, double %amount, i1 %is_ready)
  %found = zext i1 %alone to i32
  ret i32 %found
}}
"""
WORK = 50_000.0
BODY = 0x7F0012345678

Times = Callable[[int], int]  # nanoseconds of a round
Work = Callable[[int], float]


class Pool:
    """Loops that run one after the other, by a clock of their own."""

    def __init__(self, code: bytes) -> None:
        self.linked = Linked([code], ["ask", "now"], {})
        self.now = ctypes.c_int64.from_address(self.linked.address("now"))
        self._ask = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_double, ctypes.c_int32)(
            self.linked.address("ask")
        )

    def is_alone(self, body: int = BODY, work: float = WORK, ready: bool = True) -> bool:
        return bool(self._ask(body, work, ready))

    def ways(
        self, rounds: int, spread: Times, alone: Times, work: Callable[[int], float] = lambda i: WORK
    ) -> list[bool]:
        """Of so many rounds, whether they are done alone; and how long they take in nanoseconds, so or so."""
        found = []
        for i in range(rounds):
            found.append(self.is_alone(work=work(i)))
            self.now.value += alone(i) if found[-1] else spread(i)
        return found


@pytest.fixture(scope="module")
def code() -> bytes:
    return translated(Task(AROUND, level=2))


@pytest.fixture
def pool(code: bytes) -> Pool:
    return Pool(code)


def always(time: int) -> Times:
    return lambda i: time


@pytest.mark.parametrize(
    ("spread", "alone"), [(9000, 6000), (5000, 9000), (6000, int(6000 * MARGIN) + 10), (7000, 7000)]
)
def test_both_ways_are_tried_and_the_faster_one_stays(pool: Pool, spread: int, alone: int) -> None:
    found = pool.ways(SOON, always(spread), always(alone))
    assert found[:TRIED] == [False] * TRIED
    assert found[TRIED : 2 * TRIED] == [True] * TRIED
    assert set(found[2 * TRIED :]) == {alone < spread * MARGIN}


@pytest.mark.parametrize("faster", [True, False])
def test_first_rounds_and_one_that_was_held_up_do_not_count(pool: Pool, faster: bool) -> None:
    times = (8000, 6000) if faster else (6000, 8000)

    def with_odd_ones(time: int, odd: bool) -> Times:
        return lambda i: 100_000 if odd and (i % TRIED < SETTLING - 1 or i % TRIED == SETTLING + 2) else time

    found = pool.ways(SOON, with_odd_ones(times[0], faster is False), with_odd_ones(times[1], faster))
    assert set(found[2 * TRIED :]) == {faster}


def test_work_may_change_from_round_to_round(pool: Pool) -> None:
    def work(i: int) -> float:
        return WORK * (120 - i) / 120

    def time(each: float) -> Times:
        return lambda i: int(each * work(i))

    found = pool.ways(SOON, time(0.20), time(0.21), work)
    assert not any(found[2 * TRIED :])  # though the rounds alone came later and were shorter


def test_after_many_rounds_both_ways_are_tried_again(pool: Pool) -> None:
    found = pool.ways(2 * SOON, always(9000), always(6000))
    assert found[SOON : SOON + 2 * TRIED] == [False] * TRIED + [True] * TRIED
    assert set(found[SOON + 2 * TRIED :]) == {True}
    found, before = pool.ways(AGAIN, always(5000), always(6000)), AGAIN - SOON
    assert set(found[:before]) == {True}
    assert found[before : before + 2 * TRIED] == [False] * TRIED + [True] * TRIED
    assert set(found[before + 2 * TRIED :]) == {False}


def test_loops_that_follow_one_another_agree(pool: Pool) -> None:
    """Mixed, the two take longer than either way; in the first rounds one way takes very long."""
    bodies, rounds, last = (BODY, BODY + 64), 3 * SOON, []
    for i in range(rounds):
        ways = []
        for body in bodies:
            ways.append(pool.is_alone(body))
            mixed = len(set(ways)) > 1
            pool.now.value += 30_000 if mixed else 15_000 if ways[0] else 100_000 if i < SOON // 2 else 10_000
        last = ways
        if i == SOON - 1:
            assert ways == [True, True]
    assert last == [False, False]


def test_one_that_joined_later_is_tried_with_the_other(pool: Pool) -> None:
    """At first, for as long as both have short trials, memory is new; then each is faster the way the other one goes,
    so that neither changes on its own."""
    late, new, ways, tried = 30, 2 * SOON, [False, False], []
    for i in range(SOON + AGAIN + late + 3 * TRIED):
        for k in range(2 if i >= late else 1):
            ways[k] = pool.is_alone(BODY + 64 * k)
            mixed = len(set(ways)) > 1
            pool.now.value += 30_000 if mixed else 15_000 if ways[0] else 100_000 if i < new else 10_000
        tried.append(tuple(ways))
    again = SOON + AGAIN + late
    assert set(tried[again - SOON : again]) == {(True, True)}
    assert set(tried[again + 2 * TRIED + 1 :]) == {(False, False)}


def test_rounds_without_helpers_do_not_count(pool: Pool) -> None:
    for i in range(3 * TRIED):
        assert not pool.is_alone(ready=i % 2 > 0)
        pool.now.value += 1000
    assert not any(pool.ways(1, always(1), always(1)))


@pytest.mark.parametrize("before", [3, TRIED, TRIED + 5])
def test_a_trial_in_which_there_is_a_pause_begins_anew(pool: Pool, before: int) -> None:
    pool.ways(before, always(9000), always(1000))
    pool.now.value += 2 * PAUSE
    found = pool.ways(3 * TRIED, always(4000), always(5000))  # what was measured before does not count
    assert found == [False] * (TRIED + 1) + [True] * TRIED + [False] * (TRIED - 1)


def test_what_is_seldom_is_for_all_threads(pool: Pool) -> None:
    assert not any(pool.ways(SOON, always(2 * PAUSE), always(PAUSE // 2)))


@pytest.mark.parametrize("work", [LARGE, 2 * LARGE, inf, nan])
def test_what_is_large_or_not_known_is_for_all_threads(pool: Pool, work: float) -> None:
    assert not any(pool.ways(3 * TRIED, always(9_000_000), always(1000), lambda i: work))


def test_more_loops_than_there_is_room_for(pool: Pool) -> None:
    for i in range(3 * TRIED):
        for k in range(4 * LOOPS):
            alone = pool.is_alone(BODY + 48 * k)
            assert not alone or i >= TRIED
            pool.now.value += 1000
