"""A session that lives for long: what a call costs and leaves behind does not grow with those before it."""

import cProfile
import gc
import tracemalloc

import pytest

import sacpy
from sacpy.interp.evaluator import Evaluator
from sacpy.jit.run.remembered import ENDED
from sacpy.session import REMEMBERED

ROOM = 400  # bytes that a call may seem to leave behind: what watches the memory keeps names of files itself
FEW = REMEMBERED // 4


def test_what_an_expression_costs_does_not_grow_with_those_before_it() -> None:
    session = sacpy.Session()

    def calls(text: str) -> int:
        profile = cProfile.Profile()
        profile.runcall(session.eval, text)
        return sum(entry.callcount for entry in profile.getstats())

    gc.disable()  # so nothing of those before is gone
    try:
        counts = [calls(f"{k} + 1") for k in range(400)]
    finally:
        gc.enable()
    assert max(counts[-20:]) < 1.3 * min(counts[40:60])


def test_what_ran_an_expression_goes_with_it() -> None:
    session = sacpy.Session()
    for k in range(4 * REMEMBERED):
        session.eval(f"{k} + 1")
    gc.collect()
    runner = session._runner
    alive = [e for e in gc.get_objects() if isinstance(e, Evaluator) and e.world is runner.host.world]
    assert len(alive) <= 1 + ENDED


@pytest.mark.parametrize(
    "text", ["unknown{} + 1", "[1, 2][{}]", "1 + + {}"], ids=["unknown name", "wrong index", "wrong text"]
)
def test_errors_leave_nothing_behind(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sacpy.session.REMEMBERED", FEW)
    session = sacpy.Session(target="interp")

    def fail(first: int, last: int) -> None:
        for k in range(first, last):
            with pytest.raises(sacpy.SacError):
                session.eval(text.format(k + 7))

    tracemalloc.start()
    try:
        fail(0, 3 * FEW // 2)  # by now the expressions have been forgotten once
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        fail(3 * FEW // 2, 5 * FEW // 2)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < ROOM * FEW


ENDLESS = (
    "use Array: all; int f(int n) { x = n; "
    + " ".join(f"x = (x * {k + 3} + {k}) % {10007 + k};" for k in range(600))
    + " while (x != -1) { x = x * 3 % 1009; } return x; }"
)
LONG = "int f(int x) { " + " ".join(f"x = (x * {k + 3} + {k}) % {10007 + k};" for k in range(30_000)) + " return x; }"


@pytest.mark.parametrize("text, most", [(ENDLESS, 6000), (LONG, 2000)], ids=["running", "reading"])
def test_what_a_limit_cuts_off_is_gone_without_a_search_for_cycles(text: str, most: int) -> None:
    def cut_off(session: sacpy.Session) -> None:
        try:
            session.compile(text).f(1)
        except sacpy.SacError as error:  # what pytest has for this would keep all that the error has passed
            assert error.diagnostics[0].code == "E0704"
        else:
            pytest.fail("no limit has struck")

    session = sacpy.Session(target="interp", limits=sacpy.Limits(seconds=0.5))
    cut_off(session)  # what is loaded and remembered
    gc.collect()
    gc.disable()
    try:
        before = len(gc.get_objects())
        cut_off(session)
        after = len(gc.get_objects())
    finally:
        gc.enable()
    assert after - before < most
