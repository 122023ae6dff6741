"""What a run finds out about a program, and what the next one makes of it."""

from __future__ import annotations

import marshal
from math import inf
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from sacpy.interp.evaluator import Evaluator
from sacpy.interp.world import World
from sacpy.jit.cache import Cache
from sacpy.jit.kinds import Detail
from sacpy.jit.run import dispatch, turns
from sacpy.jit.run.cost import STEP
from sacpy.jit.run.engine import Engine
from sacpy.jit.run.records import LONGER, SHORT, Records
from sacpy.jit.run.versions import Versions
from sacpy.workspace import Workspace

TEXT = """use Array: all;
int slow(double end) { s = 0; x = 0.0; while (x < end) { x = x + 0.5; s = (s * 31 + 7) % 1000003; } return s; }
int quick(int n) { s = 0; for (i = 0; i < n; i++) { s = s + i; } return s; }
int outer(double end) { return slow(end) + slow(end + 1.0); }
int both(double end) { return slow(end) + quick(3); }
"""


def run(cache: Path, name: str, *args: object, text: str = TEXT) -> Engine:
    """The engine that has run a function."""
    program, _ = Workspace().load_text(text)
    engine = Engine("auto", cache=Cache(cache), defects=True)
    Evaluator(program, World.captured(), engine=engine).call(program.key(program.main.own(name)[0], ()), args)
    engine.settle()
    engine.keep()
    return engine


def rounds_before(engine: Engine) -> int:
    """How many of its looks a loop needed before it was left."""
    return sum(v.calls for unit in engine.units for v in unit.versions.values())


def test_what_was_worth_it_is_native_from_the_beginning_in_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []
    ask = turns.Turn.__call__
    monkeypatch.setattr(
        turns.Turn, "__call__", lambda self, done, left, values: (looks.append(done), ask(self, done, left, values))[1]
    )
    assert rounds_before(run(tmp_path, "slow", 2.0e7)) == 1
    assert max(looks) > 0
    looks.clear()
    assert rounds_before(run(tmp_path, "slow", 2.0e7)) == 1
    assert looks == [0]


def test_little_work_leaves_no_record(tmp_path: Path) -> None:
    run(tmp_path, "quick", 10)
    assert not list(tmp_path.glob("record-*"))


def test_another_text_is_another_program(tmp_path: Path) -> None:
    run(tmp_path, "slow", 2.0e7)
    program, _ = Workspace().load_text(TEXT.replace("31", "37"))
    assert not Records(Cache(tmp_path), program).wanted
    program, _ = Workspace().load_text(TEXT)
    assert Records(Cache(tmp_path), program).saved > 0.01


@pytest.mark.parametrize("data", [b"", b"x", marshal.dumps([1, 2]), marshal.dumps(([(1, 2)], [], 0))])
def test_a_record_that_makes_no_sense_says_nothing(tmp_path: Path, data: bytes) -> None:
    run(tmp_path, "slow", 2.0e7)
    (path,) = tmp_path.glob("record-*")
    Cache(tmp_path).write(path.stem, data)
    program, _ = Workspace().load_text(TEXT)
    assert Records(Cache(tmp_path), program).wanted == {}
    assert rounds_before(run(tmp_path, "slow", 2.0e7)) == 1


def test_without_the_code_a_record_is_of_no_use(tmp_path: Path) -> None:
    run(tmp_path, "slow", 2.0e7)
    for path in tmp_path.glob("*.native"):
        if not path.stem.startswith("record-"):
            path.unlink()
    engine = run(tmp_path, "slow", 10.0)
    assert not engine.entered() or not any(u.versions for u in engine.units)


def test_what_interpreted_calls_took_is_expected_of_calls_like_them(tmp_path: Path) -> None:
    engine = run(tmp_path, "slow", 2.0e4)
    (site,) = engine.sites
    site.seconds, site.latest_size = 0.5, 100
    assert site.latest is not None
    run(tmp_path, "slow", 2.0e7)  # so that there is something to keep
    records = site.room.records
    records.wanted = {site.key: {site.latest: 1.0}}
    records.keep([site], [], 0.5)
    program, _ = Workspace().load_text(TEXT)
    kept = Records(Cache(tmp_path), program)
    assert kept.took(site.key, site.latest, 200) == 0.5
    assert kept.took(site.key, site.latest, 201) == inf, "a larger argument"
    assert kept.took("_MAIN::quick/0", site.latest, 1) == inf, "another function"
    assert engine.expected(site, (2.0e4,), 100) == min(0.5, engine.estimate(site, (2.0e4,)) * STEP)


def test_of_functions_that_call_each_other_the_outer_one_is_made_ahead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, float]] = []
    monkeypatch.setattr(
        dispatch.Site,
        "look_ahead",
        lambda site, native: (asked.append((site.key, native)), site.key.endswith("r/0"))[1],
    )
    monkeypatch.setattr("sacpy.jit.run.engine.COMPILING", 1e-6)
    run(tmp_path, "outer", 1.0e3)
    assert asked == [("_MAIN::outer/0", 0.0)]
    asked.clear()
    run(tmp_path / "other", "slow", 1.0e3)
    assert asked == [("_MAIN::slow/0", 0.0)]


def test_a_program_that_asks_for_nothing_has_no_process_ready_the_next_time(tmp_path: Path) -> None:
    program, _ = Workspace().load_text(TEXT)
    new = Records(Cache(tmp_path), program)
    assert not new.is_new(SHORT / 2) and new.is_new(SHORT)
    new.keep([], [], 5 * SHORT)
    quiet = Records(Cache(tmp_path), program)
    assert not quiet.is_new(5 * SHORT)
    assert quiet.is_new(LONGER * 5 * SHORT), "it may be up to something else"
    before = {p: p.stat().st_mtime_ns for p in tmp_path.iterdir()}
    quiet.keep([], [], 4 * SHORT)
    assert {p: p.stat().st_mtime_ns for p in tmp_path.iterdir()} == before, "it took about as long"


def test_a_short_run_that_asks_for_nothing_leaves_no_record(tmp_path: Path) -> None:
    program, _ = Workspace().load_text(TEXT)
    Records(Cache(tmp_path), program).keep([], [], SHORT / 2)
    assert not list(tmp_path.iterdir())


def test_of_a_program_that_had_something_compiled_no_process_is_needed(tmp_path: Path) -> None:
    run(tmp_path, "slow", 2.0e7)
    program, _ = Workspace().load_text(TEXT)
    assert not Records(Cache(tmp_path), program).is_new(1e3)


@pytest.mark.parametrize("runs", [0, 20])
def test_what_comes_too_late_for_a_run_is_compiled_for_those_that_follow(
    runs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first: list[float] = []
    begun: list[turns.Turn] = []

    def is_worth(turn: turns.Turn, values: object, seconds: float) -> bool:
        first.append(seconds)
        return seconds > 5 * first[0]  # than all that there was to do

    monkeypatch.setattr(dispatch.Site, "_is_due", lambda site, args: False)  # the function is not, as a whole
    monkeypatch.setattr(turns, "RUNS", runs)
    monkeypatch.setattr(turns.Turn, "_is_worth", is_worth)
    monkeypatch.setattr(turns.Turn, "_is_begun", lambda turn, values: begun.append(turn) or True)
    engine = run(tmp_path, "quick", 1_000_000)
    assert len(first) > 2 and len(begun) == (1 if runs else 0), "once, and only if there are such runs"
    assert not any(unit.versions for unit in engine.units)


VARIED = """use Array: all;
int work(int[.] a) { s = 0; for (i = 0; i < shape(a)[0]; i++) { s = (s * 31 + a[i]) % 9973; } return s; }
"""


def test_one_version_for_all_extents_serves_the_first_call_of_the_next_run(tmp_path: Path) -> None:
    nine, two = np.arange(9, dtype=np.int32), np.arange(2, dtype=np.int32)
    (site,) = run(tmp_path, "work", nine, text=VARIED).sites
    assert site.calls == 1
    version, records = site.forced((nine,)), site.room.records
    assert version is not None and version.kind == ((None,),)
    records.wanted = {site.key: {version.kind: 1.0}}
    records.keep([site], [], 1.0)
    (site,) = run(tmp_path, "work", two, text=VARIED).sites
    assert (site.calls, [*site.versions]) == (0, [((None,),)])


def test_what_had_versions_for_small_extents_has_them_again(tmp_path: Path) -> None:
    two, nine = np.zeros(2, np.int32), np.zeros(9, np.int32)
    (site,) = run(tmp_path, "work", nine, text=VARIED).sites
    records = site.room.records
    for known, args, resumed in [
        ([((None,),)], two, True),
        ([((None,),)], nine, True),
        ([((3,),)], two, False),
        ([((None,),), ((3,),)], two, False),
        ([((None,),), ((3,),)], nine, True),  # which is its kind anyway, and tells nothing about others
        ([], nine, False),
    ]:
        records.wanted = {site.key: dict.fromkeys(known, 1.0)} if known else {}
        unit = Versions(site.engine, site.room, site.function)
        assert unit.resume((args,)) is resumed, known
        assert unit.detail == (Detail.RANKS if known == [((None,),)] and args is two else Detail.EXTENTS)


def test_of_calls_that_took_little_nobody_asks_for_an_estimate_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    estimate = Engine.estimate
    monkeypatch.setattr(Engine, "estimate", lambda self, *of: (asked.append(of[0].key), estimate(self, *of))[1])
    text = (
        TEXT
        + """int little(int n) { s = 1; for (i = 0; i < n; i++) { s = (s * 31 + i) % 1000003; } return s; }
int all(double end) { return slow(end) + little(5); }"""
    )
    run(tmp_path, "all", 2.0e7, text=text)
    assert "_MAIN::little/0" in asked
    asked.clear()
    run(tmp_path, "all", 2.0e7, text=text)
    assert "_MAIN::little/0" not in asked


VECTORS = """use Array: all;
double f(double[*] v) { return sum(v * v); }
"""


def site_of_vectors() -> dispatch.Site:
    """A function of arrays of any rank, none of whose calls have taken anything so far."""
    program, _ = Workspace().load_text(VECTORS)
    engine = Engine("auto", cache=Cache(None), defects=True)
    evaluator = Evaluator(program, World.captured(), engine=engine)
    key = program.key(program.main.own("f")[0], ())
    evaluator.call(key, (np.ones(2),))
    (site,) = (s for s in engine.sites if s.key == key)
    site.spent.clear()
    site.latest, site.seconds = None, 0.0
    return site


def kinds_made_ahead(
    seconds: dict[int, float], monkeypatch: pytest.MonkeyPatch, price: float, native: float = 0.0, version: int = 9
) -> list[int]:
    """The ranks for which versions are made when calls with arrays of some have taken so many seconds, which were the
    last that was looked at each time. There is a version for those of rank `version`."""
    site = site_of_vectors()
    for rank, taken in seconds.items():
        site._share_out()
        site.latest = site.kind((np.ones((2,) * rank),))
        site.seconds += taken
        if rank == version:
            site.versions[site.latest] = None  # type: ignore[assignment, index]
    made: list[int] = []
    monkeypatch.setattr(site.engine, "usual_price", lambda unit: price)
    monkeypatch.setattr(site.engine, "beside", lambda unit, kind, sure: (made.append(len(kind[0])), object())[1])
    assert site.look_ahead(native) == bool(made)
    return made


def test_each_kind_of_arguments_that_took_long_is_made_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    took = {1: 0.125, 2: 0.75, 3: 0.25}
    price = 0.25 * dispatch.RUNS
    assert kinds_made_ahead(took, monkeypatch, price) == [2, 3]
    assert kinds_made_ahead(took, monkeypatch, price, native=0.125) == [2], "so much of it was native already"
    assert kinds_made_ahead(took, monkeypatch, price, version=2) == [3]
    assert kinds_made_ahead({**took, 4: 0.0}, monkeypatch, price) == [2, 3]
    assert kinds_made_ahead(took, monkeypatch, 2 * dispatch.RUNS) == []


def test_long_calls_are_put_down_to_their_own_kind_and_the_rest_to_the_one_that_was_looked_at() -> None:
    site = site_of_vectors()
    site.latest, site.seconds = site.kind((np.ones(2),)), 1.0
    site.took((np.ones((2, 2)),), 0.75)
    assert {len(kind[0]): seconds for kind, seconds in site.slow().items()} == {2: 0.75, 1: 0.25}
    assert len(next(iter(site.slow()))[0]) == 2, "most first"


def test_of_what_is_still_being_made_a_record_says_what_it_would_have_saved(tmp_path: Path) -> None:
    engine = run(tmp_path, "slow", 2.0e4)
    (site,) = engine.sites
    assert site.latest is not None and not site.versions
    site.spent, site.seconds, site.prices = {site.latest: 0.125}, 0.5, {site.latest: 1.0}
    site.spent[((3,),)] = 0.375
    site.jobs[site.latest] = None  # type: ignore[assignment]
    records = site.room.records
    records.keep([site], [], 0.5)
    assert records.wanted[site.key] == {site.latest: pytest.approx(0.125, abs=0.01)}


@pytest.mark.parametrize("anew", [False, True])
def test_a_call_that_was_begun_anew_tells_nothing_of_what_interpreted_calls_take(tmp_path: Path, anew: bool) -> None:
    """But that somebody has waited for native code tells that this was worth its price."""
    engine = run(tmp_path, "slow", 2.0e4)
    (site,) = engine.sites
    assert site.latest is not None and site.calls == 1
    report = SimpleNamespace(seconds=0.25)
    site.versions[site.latest] = SimpleNamespace(  # type: ignore[assignment]
        calls=1, seconds=1e-4, kind=site.latest, report=report
    )
    site.seconds, site.is_renewed = 5e-4, anew
    records = site.room.records
    records._taken.clear()
    records.wanted.clear()
    records.keep([site], [], 0.5)
    wanted = Records(Cache(tmp_path), site.room.program).wanted
    assert records.took(site.key, site.latest, 0) == (inf if anew else 5e-4)
    assert (wanted.get(site.key, {}).get(site.latest, 0.0) > 0.2) == anew
