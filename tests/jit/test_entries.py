"""What calls of a watched function go to, with a clock that the test moves."""

from types import SimpleNamespace

import numpy as np
import pytest

from sacpy.jit.run.entries import LONG_CALL, watcher


@pytest.mark.parametrize(("each", "timed"), [(1e-6, 64), (1e-4, 1000)])
def test_brief_calls_are_counted_and_a_part_of_them_timed(each: float, timed: int) -> None:
    now, asked = 0.0, 0

    def clock() -> float:
        nonlocal asked
        asked += 1
        return now

    def interpreted(a: int) -> int:
        nonlocal now
        now += each
        return a + 1

    site = SimpleNamespace(calls=0, ahead=1 << 30, large=100, active=0, started=0.0, seconds=0.0, own=0.0)
    site.interpreted, site.look = interpreted, lambda args: False
    engine = SimpleNamespace(inner=0.0, compiling=0.0)
    watching = watcher(1, (), (0,), False)(site, engine, clock, np.ndarray)
    assert [watching(k % 10) for k in range(1000)] == [k % 10 + 1 for k in range(1000)]
    assert site.calls == 1000 and timed <= asked // 2 <= 1.1 * timed
    assert site.seconds == site.own == engine.inner == pytest.approx(now, rel=0.02)


def test_a_large_argument_is_looked_at_between_two_brief_calls_that_are_timed() -> None:
    looked: list[tuple[int, ...]] = []
    site = SimpleNamespace(calls=0, ahead=1 << 30, large=100, active=0, started=0.0, seconds=0.0, own=0.0)
    site.interpreted, site.look = lambda a: a, lambda args: looked.append(args)
    watching = watcher(1, (), (0,), False)(site, SimpleNamespace(inner=0.0, compiling=0.0), lambda: 0.0, np.ndarray)
    for k in (*range(50), 1000, 5):
        watching(k)
    assert looked == [(1000,)]
    site.ahead = 60
    for _ in range(20):
        watching(5)
    assert looked[1] == (5,) and len(looked) == 13  # from the 60th on, as long as nobody puts that off


@pytest.mark.parametrize("recursive", [False, True])
def test_what_long_calls_take_is_put_down_to_their_arguments(recursive: bool) -> None:
    now, took = 0.0, list[tuple[tuple[int, ...], float]]()

    def interpreted(a: int) -> int:
        nonlocal now
        now += a * LONG_CALL / 4
        return a

    site = SimpleNamespace(calls=0, ahead=1 << 30, large=100, active=0, started=0.0, seconds=0.0, own=0.0)
    site.interpreted, site.look, site.within = interpreted, lambda args: False, lambda entry: None
    site.generated, site.took = lambda: interpreted, lambda args, seconds: took.append((args, seconds))
    engine = SimpleNamespace(inner=0.0, compiling=0.0)
    watching = watcher(1, (), (0,), recursive)(site, engine, lambda: now, np.ndarray)
    assert [watching(k) for k in (1, 8, 3, 12)] == [1, 8, 3, 12]
    assert took == [((8,), pytest.approx(2 * LONG_CALL)), ((12,), pytest.approx(3 * LONG_CALL))]
    assert site.seconds == pytest.approx(6 * LONG_CALL)
