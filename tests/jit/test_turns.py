"""Loops and with-loops that are left in the middle and go on natively: the same results, and the same errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sacpy.interp.evaluator import Evaluator
from sacpy.interp.world import World
from sacpy.jit.cache import Cache
from sacpy.jit.reports.statistics import explain, stats
from sacpy.jit.run import turns
from sacpy.jit.run.engine import Engine
from sacpy.jit.run.judgement import Pace
from sacpy.jit.run.versions import Versions
from sacpy.lang.diagnostics import SacError, render_text
from sacpy.workspace import Workspace
from tests.fuzz.paces import Steady, Wandering, paced
from tests.jit.turn_programs import Result, different, results

PACES = [Steady(None, 1, 1), Steady(None, 2, 3), Steady(None, 7, 0), Steady(1, 2, 0), Wandering(1)]


@pytest.fixture(scope="module")
def expected() -> list[Result]:
    """What the calls give interpreted."""
    return results(None)


@pytest.mark.parametrize(
    "pace", PACES, ids=["each round", "two and three", "from the seventh", "from the second call", "wandering"]
)
def test_whatever_the_pace_results_and_errors_are_the_interpreters(
    expected: list[Result], pace: Steady | Wandering
) -> None:
    engine = paced(pace)
    assert different(expected, results(engine)) == []
    assert sum(v.calls for unit in engine.units for v in unit.versions.values()) > 20


def run(text: str, name: str, *args: object, **settings: object) -> tuple[object, Engine]:
    """The result of a call, or its diagnostics, with the engine that ran it."""
    program, _ = Workspace().load_text(text)
    engine = Engine("auto", cache=Cache(None), defects=True, **settings)  # type: ignore[arg-type]
    evaluator = Evaluator(program, World.captured(), engine=engine)
    try:
        return evaluator.call(program.key(program.main.own(name)[0], ()), args), engine
    except SacError as error:
        return render_text(error.diagnostics), engine


def left(engine: Engine) -> list[Versions]:
    """The loops that were left."""
    return [u for u in engine.units if any(v.calls for v in u.versions.values())]


LONG = (
    "use Array: all; int f(double end) { s = 0; x = 0.0; while (x * x < end) { x = x + 0.5; s = (s * 31 + 7) % "
    "1000003; } return s; }"
)


def test_a_loop_that_nobody_could_foresee_goes_on_natively_in_a_function_that_is_called_once() -> None:
    found, engine = run(LONG, "f", 1.0e12)
    assert len(left(engine)) == 1
    assert not next(s for s in engine.sites if s.key == "_MAIN::f/0").versions
    s = 0
    for _ in range(2_000_000):
        s = (s * 31 + 7) % 1000003
    assert found == (s,)


def test_a_withloop_over_indices_of_any_length_is_left_in_the_middle() -> None:
    cell = "sum({ [k] -> a[take([dim(a)], iv)] * k % 7 | [k] < [400] })"
    text = f"use Array: all; int[*] f(int[*] a) {{ return {{ iv -> {cell} | iv < shape(a) }}; }}"
    array = np.arange(4000, dtype=np.int32).reshape(20, 20, 10)
    found, engine = run(text, "f", array)
    assert len(left(engine)) == 1
    assert isinstance(found, tuple)
    np.testing.assert_array_equal(found[0], (array[..., None] * np.arange(400) % 7).sum(-1))


def test_a_loop_in_a_program_that_prints_is_left_too() -> None:
    text = (
        "use Array: all; use StdIO: all; int main() { s = 0; x = 1.0; while (x < 1.0e7) { x = x * 1.000001 + 0.5; "
        "s = s + 1; } print(s); return 0; }"
    )
    program, _ = Workspace().load_text(text)
    engine = Engine("auto", cache=Cache(None), defects=True)
    world = World.captured()
    Evaluator(program, world, engine=engine).call(program.key(program.main.own("main")[0], ()), ())
    assert left(engine)
    plain = World.captured()
    Evaluator(program, plain).call(program.key(program.main.own("main")[0], ()), ())
    assert world.out() == plain.out()


def test_a_recursion_goes_native_while_its_first_call_is_running() -> None:
    text = "use Array: all; int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }"
    found, engine = run(text, "f", 27)
    assert found == (196418,)
    (version,) = next(s for s in engine.sites if s.key == "_MAIN::f/0").versions.values()
    assert version.calls > 0


LATE = (
    "use Array: all; int f(int[.] v, int n) { s = 0; for (i = 0; i < n; i++) { s = (s * 31 + v[i / 1000]) % "
    "1000003; } return s; }"
)


def test_of_a_loop_that_fails_late_only_the_last_rounds_are_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    seen: list[int] = []
    run_one = turns.Turn.__call__

    def watched(self: turns.Turn, done: int, left: int, values: tuple[object, ...]) -> int:
        seen.append(done)
        return run_one(self, done, left, values)  # type: ignore[arg-type]

    monkeypatch.setattr(turns.Turn, "__call__", watched)
    found, engine = run(LATE, "f", np.zeros(20_000, np.int32), 20_000_001, eager=True)
    wanted = run(LATE, "f", np.zeros(20, np.int32), 20_001, eager=True)[0]
    assert str(found).replace("20000", "20").replace("19999", "19") == wanted
    assert max(seen) < 1000, "many rounds were interpreted"
    assert any(v.calls > 3 for u in left(engine) for v in u.versions.values())


def test_a_failure_behind_much_native_code_is_not_run_into_at_each_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sacpy.jit.run.dispatch.LATE", 1e-3)  # whatever the machine
    calls = LATE + " int g(int[.] v, int n) { return 1 + f(v, n); } int h(int[.] v, int n) { return 2 * g(v, n); }"
    found, engine = run(calls, "h", np.zeros(5_000, np.int32), 5_000_001, eager=True)
    assert "E0601" in str(found) and "in f at" in str(found)
    failed = [v.failed for s in engine.sites for v in s.versions.values() if v.failed]
    assert sum(failed) <= 2, "the outermost, and one that has no loops of its own"


def test_what_happened_is_told_with_the_lines() -> None:
    _, engine = run(LONG, "f", 1.0e12)
    rows = {row.function + row.place: row for row in stats(engine).rows}
    assert (rows["f"].where, rows["f"].reason) == ("interpreted", "until its loops went on natively")
    assert (rows["f, line 1"].where, rows["f, line 1"].calls) == ("native", 1)
    assert "f(double, int, double), line 1" in explain(engine, "f")


def test_what_cannot_be_compiled_stays_interpreted_and_is_not_asked_for_again() -> None:
    text = (
        "use Array: all; int f(int n) { v = [1]; for (i = 0; i < n; i++) { v = i % 2 == 0 ? [v] : v[0]; v = i > "
        "100000 ? [1] : v; } return dim(v); }"
    )
    found, engine = run(text, "f", 200, eager=True)
    assert isinstance(found, tuple | str)
    assert not left(engine)


EVERYWHERE: dict[str, Pace] = {
    "each round": Steady(None, 1, 1),
    "every second round": Steady(None, 2, 1),
    "from the seventh": Steady(None, 7, 0),
    "seven and two": Steady(None, 7, 2),
    "from the second call": Steady(1, 1, 1),
    "from the third call": Steady(2, 2, 2),
    "from the eighth call": Steady(7, 7, 7),
    **{f"wandering {seed}": Wandering(seed) for seed in range(6)},
}


def outcome(path: Path, engine: Engine | None) -> tuple[int | str, bytes]:
    """What a program's `main` returns, or its diagnostics; and what it has printed until then."""
    program, _ = Workspace(search=[path.parent]).load(path)
    world = World.captured()
    try:
        (status,) = Evaluator(program, world, engine=engine, strict_fp=True).call(
            program.key(program.main.own("main")[0], ()), ()
        )
    except SacError as error:
        status = render_text(error.diagnostics)
    return status, world.out()


def runnable() -> list[Path]:
    """The programs of the corpus that need nothing from outside, those that fail included."""
    from tests.jit.test_corpus_cpu import PROGRAMS
    from tests.tools import first_directive, read_directives

    return [p for p in PROGRAMS if not any(first_directive(read_directives(p), d) for d in ("args", "stdin", "flags"))]


@pytest.mark.long
@pytest.mark.parametrize("name", EVERYWHERE)
def test_the_corpus_at_every_pace(name: str) -> None:
    entered = 0
    for path in runnable():
        engine = paced(EVERYWHERE[name])
        assert outcome(path, engine) == outcome(path, None), path
        entered += sum(v.calls for unit in (*engine.units, *engine.sites) for v in unit.versions.values())
    assert entered > 100


@pytest.mark.long
@pytest.mark.parametrize("name", EVERYWHERE)
def test_random_programs_at_every_pace(name: str) -> None:
    from tests.fuzz.differential import compare
    from tests.fuzz.seeds import case

    found = [compare(case(seed), {name: lambda: paced(EVERYWHERE[name])}) for seed in range(9000, 9100)]
    assert [(o.case, o.different) for o in found if o.different] == []
    engines = [engine for o in found for engine in o.engines.values()]
    assert sum(v.calls for e in engines for u in (*e.units, *e.sites) for v in u.versions.values()) > 100


def test_a_loop_whose_rounds_are_over_at_once_is_soon_left_in_peace(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    look = turns.Turn.__call__

    def counting(turn: turns.Turn, done: int, left: int, values: tuple[object, ...]) -> int:
        asked.append(done)
        return look(turn, done, left, values)  # type: ignore[arg-type]

    monkeypatch.setattr(turns.Turn, "__call__", counting)
    text = (
        "use Array: all; int f(int n) { s = 0; for (t = 0; t < 300; t++) { i = 0; while (i * i < n) { "
        "s = (s * 31 + i) % 1009; i = i + 1; } } return s; }"
    )
    found, _ = run(text, "f", 1600)
    s = 0
    for _ in range(300):
        for i in range(40):
            s = (s * 31 + i) % 1009
    assert found == (s,)
    assert len(asked) < 60  # two for each of the 300 otherwise


def turn_of_a_loop(monkeypatch: pytest.MonkeyPatch) -> turns.Turn:
    """What a loop asks, which goes on interpreted whatever it takes."""
    made: list[turns.Turn] = []
    make = turns.Turn.__init__

    def keeping(turn: turns.Turn, *args: object) -> None:
        make(turn, *args)  # type: ignore[arg-type]
        made.append(turn)

    monkeypatch.setattr(turns.Turn, "__init__", keeping)
    run("use Array: all; int f(int n) { i = 0; while (i * i < n) { i = i + 1; } return i; }", "f", 100)
    monkeypatch.setattr(turns.Turn, "_is_due", lambda *args: False)
    return made[0]


def test_a_round_that_was_disturbed_does_not_have_brief_loops_looked_at_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    turn, now = turn_of_a_loop(monkeypatch), 0.0
    monkeypatch.setattr(turns.Turn, "_clock", lambda turn: now)
    turn(turn.first, -1, (0, 100))
    now += 0.9 * turns.LOOK  # a page fault, a module that is loaded
    turn(2 * turn.first, -1, (0, 100))
    for _ in range(20):  # each has one look at most
        turn(turn.first, -1, (0, 100))
        now += 1.5 * turn.first * 1e-7
    assert turn.first >= turns.LATER


def test_a_loop_that_was_brief_is_looked_at_as_soon_as_ever_when_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    turn, now = turn_of_a_loop(monkeypatch), 0.0
    monkeypatch.setattr(turns.Turn, "_clock", lambda turn: now)
    first = turn.first
    for _ in range(20):
        now += 1.0  # seconds between two executions, which are not theirs
        done = turn.first
        turn(done, -1, (0, 100))
        now += 1e-6
        turn(done + 17, -1, (0, 100))
    each = 1e-6 / 17  # seconds of a round
    assert turns.LATER < turn.first <= turns.BRIEF / each
    for done in range(turn.first, turn.first + 5):
        turn(done, -1, (0, 100))
        now += turns.LOOK
    turn(turn.first, -1, (0, 100))
    assert turn.first == first
