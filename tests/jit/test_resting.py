"""Programs whose earlier run left nothing to do for the engine."""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from math import inf
from pathlib import Path
from time import monotonic, perf_counter, sleep
from types import SimpleNamespace
from typing import Any

import pytest

from sacpy.base import kept as kept_files
from sacpy.commands.opening import Opening
from sacpy.interp.world import World
from sacpy.jit.cache import Cache
from sacpy.jit.options import cores
from sacpy.jit.run import fork, on_demand, resting
from sacpy.jit.run.on_demand import ENGINE, OnDemand, saved
from sacpy.jit.run.resting import Resting
from sacpy.workspace import Workspace
from tests.fuzz.paces import Steady
from tests.tools import ROOT

MOST_WAITED = 20.0  # seconds for what comes about behind a run
LOADED = """
import sys
import sac_lang
from sacpy.jit.run import fork, resting
if {alone}:
    fork.detach = lambda action: None
status = sac_lang.main()
engine, regions = ("sacpy.jit.run." + name in sys.modules for name in ("engine", "outline"))
print("engine" if engine else "regions" if regions else "none", file=sys.stderr)
sys.exit(status)
"""
SHORT = 'use StdIO: all; use Array: all; int main() { printf("%d\\n", sum(iota(100) * 3)); return 0; }'
# as long as a number on standard input says
AS_LONG = """
use StdIO: all; use Array: all; use ScalarIO: all;
int main() {
  n = FibreScanInt(stdin);
  s = 0;
  for (i = 0; i < n; i++) { s = (s * 31 + i) % 1000003; }
  printf("%d\\n", s);
  return 0;
}
"""
# recursion from main, a loop, with-loops, one of them again and again, statements on whole arrays
KINDS = """
use StdIO: all; use Array: all;
int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int[n] steps(int[n] a, int k) {
  for (i = 0; i < k; i++) { a = { [j] -> (a[j] * 3 + i) % 1009 | [j] < [n] }; }
  return a;
}
int rounds(int k) { s = 1; i = 0; while (i < k) { s = (s * 7 + i) % 9973; i = i + 1; } return s; }
int main() {
  a = steps(iota(40), 30);
  b = with { ([0,0] <= iv < [20,20]) : iv[0] * iv[1] + a[iv[0]]; } : genarray([20,20], 0);
  t = 0;
  for (i = 0; i < 300; i++) { t = t + rounds(i % 7) * b[i % 20, i % 13]; }
  printf("%d %d %d %d\\n", sum(a), sum(b), t, fib(15));
  return 0;
}
"""


def told(program: Path, given: str = "", alone: bool = True) -> tuple[str, str]:
    """What a run prints, and whether it had an engine. `alone`: no process goes on behind it."""
    environment = {**os.environ, "SACPY_CACHE_DIR": str(program.parent / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", LOADED.replace("{alone}", str(alone)), str(program)],
        cwd=ROOT, env=environment, input=given, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout, done.stderr.strip()


def kept(program: Path) -> Mapping[str, Any]:
    """What is kept of a program."""
    *_, path = sorted((program.parent / "cache").rglob("program-*.native"), key=os.path.getmtime)
    data = kept_files.read(path, path.name.removesuffix(".native"))
    assert data is not None
    found: Mapping[str, Any] = marshal.loads(data)
    return found


def idle_for(program: Path) -> float:
    """How long it took when there was nothing for the engine to do."""
    found: float = kept(program)["idle_for"]
    return found


def test_a_short_program_has_no_engine_in_its_second_run_and_is_as_written_in_its_third(tmp_path: Path) -> None:
    program = tmp_path / "program.sac"
    program.write_text(SHORT)
    assert told(program) == ("14850\n", "engine")
    assert 0 < idle_for(program) < 0.15
    assert [told(program) for _ in range(3)] == [("14850\n", had) for had in ("regions", "none", "none")]
    program.write_text(SHORT.replace("100", "200"))  # of another program nothing is known
    assert told(program) == ("59700\n", "engine")


@pytest.mark.skipif(cores() == 1, reason="there is no processor on which nobody waits")
def test_behind_its_first_run_it_is_made_ready_for_running_as_written(tmp_path: Path) -> None:
    program = tmp_path / "program.sac"
    program.write_text(KINDS)
    first = told(program, alone=False)
    end = monotonic() + MOST_WAITED
    while not kept(program)["has_rested"]:
        assert monotonic() < end
        sleep(0.02)
    assert idle_for(program) > 0 and first[1] == "engine"
    assert told(program) == (first[0], "none")


def test_a_run_that_takes_longer_than_the_earlier_one_has_one_and_so_have_those_that_follow(tmp_path: Path) -> None:
    program = tmp_path / "program.sac"
    program.write_text(AS_LONG)
    short = told(program, "100")
    assert short[1] == "engine" and idle_for(program) > 0
    assert [told(program, "100") for _ in range(2)] == [(short[0], had) for had in ("regions", "none")]
    _, had = told(program, "3000000")
    assert had == "engine" and idle_for(program) == 0
    assert told(program, "100") == (short[0], "engine")


def run(engine: OnDemand, text: str) -> bytes:
    w = Workspace(target="auto")
    w.use(engine)
    world = World.captured()
    assert w.run(w.load_text(text)[0], world) == 0
    return world.out()


@pytest.mark.parametrize(
    ("before", "value"),
    [
        ("", "0; for (i = 0; i < 9000000; i++) { s = (s * 31 + i) % 1000003; }"),
        ("int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }", "f(31);"),
        ("", "sum({ [i] -> (i * i + i / 3) % 1009 | [i] < [9000000] });"),
    ],
    ids=["loop", "recursion", "with-loop"],
)
def test_what_turns_out_long_is_compiled_after_all(before: str, value: str) -> None:
    text = f'use StdIO: all; use Array: all; {before} int main() {{ s = {value} printf("%d\\n", s); return 0; }}'
    engine, plain = (OnDemand("auto", cache=Cache(None), threads=1) for _ in range(2))
    engine.rest(0.005)
    assert run(engine, text) == run(plain, text)
    assert engine.started is not None
    assert any(u.versions for u in (*engine.started.sites, *engine.started.units)) and engine.idle_for == 0


@pytest.mark.parametrize("asked", [1, 2, 3, 5, 9, 17, 40, 90, 10_000])
@pytest.mark.parametrize("pace", [Steady(None, 1, 0), Steady(2, 3, 2)], ids=["loops", "calls"])
def test_the_engine_may_begin_at_any_time(monkeypatch: pytest.MonkeyPatch, asked: int, pace: Steady) -> None:
    """At the so-manieth time that somebody asks whether it is to."""
    questions = iter(range(1, 1 << 60))
    monkeypatch.setattr(Resting, "has_lasted", property(lambda self: next(questions) >= asked))
    monkeypatch.setattr(resting, "SOON", 1)
    engine = OnDemand("auto", cache=Cache(None), threads=1, pace=pace, strict_fp=True, opt_level=0)
    engine.rest(10.0)
    w = Workspace()
    world = World.captured()
    assert w.run(w.load_text(KINDS)[0], world) == 0
    assert run(engine, KINDS) == world.out()
    native = engine.started is not None and any(
        v.calls for u in (*engine.started.sites, *engine.started.units) for v in u.versions.values()
    )
    assert native == (asked < 10_000)


def test_a_recursion_that_asks_nobody_is_found_by_a_thread() -> None:
    engine = OnDemand("auto", cache=Cache(None), threads=1)
    engine.rest(0.001)
    text = "use Array: all; int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); } int main() { return f(32) % 7; }"
    w = Workspace(target="auto")
    w.use(engine)
    assert w.run(w.load_text(text)[0], World.captured()) == 2178309 % 7
    assert engine.started is not None and any(site.key == "_MAIN::f/0" for site in engine.started.sites)


def test_targets_that_compile_everything_do_not_rest() -> None:
    engine = OnDemand("cpu", cache=Cache(None), threads=1)
    engine.rest(10.0)
    run(engine, SHORT)
    assert engine.started is not None and engine.idle_for is None


def test_once_it_is_over_loops_ask_when_the_engine_says() -> None:
    class Turn:
        first = 12345

        def __call__(self, done: int, left: int, values: tuple[object, ...]) -> int:
            return 678

        def begin(self, cells: int, values: tuple[object, ...]) -> None: ...

    class Engine:
        def turn(self, *place: object) -> Turn:
            return Turn()

    rest = Resting(0.0, Engine)  # type: ignore[arg-type]
    turn = resting.RestingTurn(rest, *(None,) * 3)  # type: ignore[arg-type]
    assert (turn.first, turn(64, 1, ())) == (resting.SOON, resting.SOON)
    rest.begin()
    rest._end = 0.0
    assert (turn(128, 1, ()), turn.first) == (678, 12345)


def missed(seconds: float) -> SimpleNamespace:
    """A unit of which calls took so long, interpreted while native code was being made."""
    return SimpleNamespace(versions={}, jobs={(): object()}, taken=lambda kind: seconds)


def test_while_code_is_generated_the_time_of_rest_does_not_pass() -> None:
    rest = Resting(0.0, lambda: pytest.fail("it rests"))
    evaluator: Any = SimpleNamespace(namespace={"f": "interpreted"}, python_name=lambda key: key)
    function: Any = SimpleNamespace(signature=SimpleNamespace(key="f"))
    rest._functions.append((evaluator, function, lambda: None))
    rest._end = perf_counter() - 1.0
    rest.generating = lambda: 60.0
    assert not rest.has_lasted
    before = rest._timer
    rest._end_calls()
    assert evaluator.namespace == {"f": "interpreted"} and rest._timer is not before and rest._timer.is_alive()
    rest._timer.cancel()
    rest.generating = lambda: 0.5
    assert rest.has_lasted
    rest._end_calls()
    assert callable(evaluator.namespace["f"])


NATIVE = SimpleNamespace(versions={(): object()}, jobs={})


@pytest.mark.parametrize(
    ("seconds", "units", "expected"),
    [
        (1.0, [], 0.0),
        (1.0, [missed(0.25)], 0.25),
        (1.0, [missed(0.25), missed(0.5)], 0.75),
        (0.625, [missed(0.5), missed(0.5)], 0.625),  # one calls the other
        (1.0, [missed(0.25), NATIVE], inf),
    ],
)
def test_what_native_code_saves(seconds: float, units: list[SimpleNamespace], expected: float) -> None:
    for sites in (units, []):
        engine: Any = SimpleNamespace(sites=sites, units=[unit for unit in units if not sites])
        assert saved(engine, seconds) == expected


@pytest.mark.parametrize(("share", "worth"), [(0.9, False), (1.0, True), (3.0, True)])
def test_a_program_has_an_engine_again_where_its_code_saves_what_that_takes(
    share: float, worth: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = OnDemand("auto", cache=Cache(None))
    engine.rest(0.0)
    engine.begin(0)
    monkeypatch.setattr(on_demand, "thread_time", lambda: engine._began + 4 * ENGINE)
    made: Any = SimpleNamespace(sites=[missed(share * ENGINE)], units=[], keep=lambda: None)
    engine._engine = made
    engine.keep()
    assert engine.idle_for is not None and (engine.idle_for == 0.0) == worth


def test_a_run_that_has_woken_the_engine_is_followed_by_one_with_it() -> None:
    engine = OnDemand("auto", cache=Cache(None))
    engine.rest(1.0)
    engine.begin(0)
    made: Any = SimpleNamespace(sites=[], units=[], keep=lambda: None)
    engine._engine = made
    assert engine._resting is not None
    engine.keep()
    assert engine.idle_for
    engine._resting.is_over = True
    engine.keep()
    assert engine.idle_for == 0


def kept_by(program: Path, alone: bool, monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """What a command that has run a program in this process leaves to another one."""
    left: list[Callable[[], None]] = []
    monkeypatch.setenv("SACPY_CACHE_DIR", str(program.parent / "cache"))
    monkeypatch.setattr(fork, "detach", left.append)
    opening = Opening(Workspace(target="auto"), program)
    with opening.during():
        loaded, _ = opening.program()
        opening.workspace.run(loaded, World.captured(), (), opening.code)
    opening.keep(alone)
    return left


def test_only_a_command_leaves_something_to_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the next run will have no engine."""
    program = tmp_path / "program.sac"
    program.write_text(SHORT)
    assert not kept_by(program, False, monkeypatch)
    program.write_text(SHORT.replace("100", "101"))
    (complete,) = kept_by(program, True, monkeypatch)
    assert not kept(program)["has_rested"]
    complete()
    assert kept(program)["has_rested"]
    assert not kept_by(program, True, monkeypatch), "all is there"
    monkeypatch.setattr(on_demand, "SHORT", 0.0)
    program.write_text(SHORT.replace("100", "102"))
    assert not kept_by(program, True, monkeypatch), "it has taken long"


def test_what_another_run_has_kept_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "program.sac"
    program.write_text(SHORT)
    (complete,) = kept_by(program, True, monkeypatch)
    (path,) = (tmp_path / "cache").rglob("program-*.native")
    Cache(path.parent).write(path.stem, marshal.dumps({**kept(program), "idle_for": 0.75}))
    complete()
    assert idle_for(program) == 0.75 and not kept(program)["has_rested"]


def test_what_only_a_first_run_does_is_not_in_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Generating code, and loading the engine."""
    engine = OnDemand("auto", cache=Cache(None))
    engine.rest(0.0)
    engine.begin(0)
    monkeypatch.setattr(on_demand, "thread_time", lambda: engine._began + 0.5)
    engine._loading = 0.125
    engine._evaluator = SimpleNamespace(generating=0.25)  # type: ignore[assignment]
    engine.keep()
    assert engine.idle_for == pytest.approx(0.125)
