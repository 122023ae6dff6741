"""A first call is interpreted while its version is made, and begun anew when that is there: nobody can tell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sacpy.interp.evaluator import Evaluator
from sacpy.interp.world import World
from sacpy.jit.beside import Job
from sacpy.jit.cache import Cache
from sacpy.jit.kinds import Kind
from sacpy.jit.run import turns
from sacpy.jit.run.engine import Engine
from sacpy.jit.run.versions import Version, Versions
from sacpy.lang.diagnostics import SacError
from sacpy.workspace import Workspace

TEXT = """use Array: all; use StdIO: all;
int[.], int steps(int[.] a, int n) {
  s = 0;
  for (i = 0; i < n; i++) { a[i % shape(a)[0]] = a[i % shape(a)[0]] + i; s = s + inner(a, i); }
  return (a, s);
}
int inner(int[.] a, int m) { s = 0; for (j = 0; j < 40; j++) { s = (s * 7 + a[j % 3] + m) % 1009; } return s; }
int late(int[.] a, int n) { s = 0; for (i = 0; i < n; i++) { s = (s + a[i]) % 1009; } return s; }
int said(int n) { s = 0; for (i = 0; i < n; i++) { s = (s * 7 + i) % 1009; if (i == 5) print(i); } return s; }
double[.,.] grid(double[n,m] x) {
  return { [i,j] -> sum({ [k] -> tod((i + j * k) % 5) | [k] < [30] }) + x[i,j] | [i,j] < [n,m] };
}
"""


class Later(Job[Version]):
    """A version that is there after so many looks."""

    def __init__(self, engine: Engine, unit: Versions, kind: Kind, looks: int) -> None:
        self.looks = looks
        self.work = lambda: engine._version(unit, kind)
        self.away = True

    @property
    def over(self) -> bool:
        self.looks -= 1
        return self.looks < 0

    def result(self) -> Version:
        return self.work()

    def settle(self) -> None:
        pass


def run(monkeypatch: pytest.MonkeyPatch, looks: int, name: str, *args: Any) -> tuple[Any, str, Engine]:
    """What a first call gives and prints where somebody compiles who has nothing else to do."""
    monkeypatch.setattr(Engine, "is_ready", lambda self, room: True)
    monkeypatch.setattr(
        Engine, "beside", lambda self, unit, kind, sure: Later(self, unit, kind, looks) if sure else None
    )
    monkeypatch.setattr(turns, "LOOK", 0.0)
    program, _ = Workspace().load_text(TEXT)
    engine, world = Engine("auto", cache=Cache(None), defects=True), World.captured()
    evaluator = Evaluator(program, world, engine=engine)
    try:
        found: Any = evaluator.call(program.key(program.main.own(name)[0], ()), args)
    except SacError as error:
        found = error.diagnostics[0]
    return found, world.out().decode(), engine


def natives(engine: Engine, name: str) -> list[int]:
    """The calls of versions of a function."""
    return [v.calls for s in engine.sites if s.key.startswith(f"_MAIN::{name}/") for v in s.versions.values()]


def is_renewed(engine: Engine, name: str) -> list[bool]:
    """Whether the first call of a function is known to have been one natively."""
    return [s.is_renewed for s in engine.sites if s.key.startswith(f"_MAIN::{name}/")]


@pytest.mark.parametrize("looks", [0, 2, 30])
def test_a_call_that_is_begun_anew_gives_the_same_and_changes_nothing_of_its_arguments(
    monkeypatch: pytest.MonkeyPatch, looks: int
) -> None:
    a = np.arange(5, dtype=np.int32)
    expected = a.copy()
    total = 0
    for i in range(100):
        expected[i % 5] += i
        s = 0
        for j in range(40):
            s = (s * 7 + int(expected[j % 3]) + i) % 1009
        total += s
    (array, s), _, engine = run(monkeypatch, looks, "steps", a, 100)
    np.testing.assert_array_equal(array, expected)
    assert s == total and list(a) == [0, 1, 2, 3, 4]
    assert natives(engine, "steps") == [1] and is_renewed(engine, "steps") == [True]


@pytest.mark.parametrize("looks", [0, 1])
def test_so_is_one_whose_work_is_in_a_with_loop(monkeypatch: pytest.MonkeyPatch, looks: int) -> None:
    x = np.zeros((20, 20))
    i, j, k = np.ogrid[:20, :20, :30]
    (found,), _, engine = run(monkeypatch, looks, "grid", x)
    np.testing.assert_array_equal(found, ((i + j * k) % 5).sum(axis=2).astype(float))
    assert natives(engine, "grid") == [1]


def test_what_prints_is_not_begun_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    found, printed, engine = run(monkeypatch, 1, "said", 200)
    plain, once, _ = run(monkeypatch, 1 << 40, "said", 200)
    assert found == plain and printed == once != ""
    assert natives(engine, "said") == []


@pytest.mark.parametrize("looks", [0, 2])
def test_what_fails_fails_in_the_same_place(monkeypatch: pytest.MonkeyPatch, looks: int) -> None:
    a = np.arange(100, dtype=np.int32)
    found, _, engine = run(monkeypatch, looks, "late", a, 101)
    plain, _, _ = run(monkeypatch, 1 << 40, "late", a, 101)
    assert found.code == plain.code == "E0601" and found.message == plain.message
    assert (found.span.start, found.span.end) == (plain.span.start, plain.span.end)
    assert natives(engine, "late") == [0]


def test_a_call_that_is_over_before_is_not_begun_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    (found,), _, engine = run(monkeypatch, 1 << 40, "late", np.ones(100, np.int32), 100)
    assert found == 100
    assert natives(engine, "late") == [] and is_renewed(engine, "late") == [False]
    assert all(site.room.awaited is None for site in engine.sites)


def test_who_does_not_wait_leaves_others_to_their_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sacpy.jit.run.dispatch.SURE", 0.0)  # so that it is had natively from the beginning
    _, _, engine = run(monkeypatch, 1, "steps", np.arange(5, dtype=np.int32), 100)
    assert natives(engine, "steps") == [1]
    assert all(site.room.awaited is None and not site._given for site in engine.sites)
