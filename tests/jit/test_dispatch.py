"""The engine's decisions, with a compiler that takes what the test says: what is compiled when, in how many versions,
and what happens when native code does not come to an end."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sacpy.interp.evaluator import Evaluator
from sacpy.interp.world import World
from sacpy.jit.cache import Cache
from sacpy.jit.failures import CheckFailed, OutOfMemory, TooDeep, Unsupported
from sacpy.jit.run.contract import Compiled
from sacpy.jit.run.cost import STEP
from sacpy.jit.run.dispatch import Site
from sacpy.jit.run.engine import LIBRARIES, NATIVE, Engine
from sacpy.jit.run.judgement import EARLY
from sacpy.jit.run.makers import Makers
from sacpy.jit.run.report import Counts, Report
from sacpy.jit.run.versions import TRIAL
from sacpy.lang.diagnostics import SacError, render_text
from sacpy.workspace import Workspace

PRELUDE = "use Array: all;\n"
NOTHING = Counts(0, 0, 0, 0, 0, 0, 0)
Function = Callable[[tuple[Any, ...]], tuple[Any, ...]]


class FakeCompiler:
    """Compiles the functions that it was given, by name; it remembers for which kinds."""

    def __init__(self, **functions: Function) -> None:
        self.functions = functions
        self.made: list[tuple[str, Any]] = []

    def __call__(self, program: Any, key: str, kind: Any, name: str, tools: Any) -> Compiled:
        name = key.rpartition("::")[2].partition("/")[0]
        self.made.append((name, kind))
        if name not in self.functions:
            raise Unsupported(f"{name} is not for me")
        return Compiled(self.functions[name], Report(key, kind, (), NOTHING, NOTHING, 0, 0))


class Plain(Engine):
    """Without regions."""

    def prepared(self, program: Any) -> Any:
        return program


def run(
    text: str, compiler: FakeCompiler, *, target: str = "cpu", eager: bool = True
) -> tuple[Callable[..., Any], Plain]:
    """The program's functions by name, run with this compiler."""
    program, _ = Workspace().load_text(PRELUDE + text)
    engine = Plain(target, eager=eager, cache=Cache(None), compiler=compiler, defects=True)
    evaluator = Evaluator(program, World.captured(), engine=engine)

    def call(name: str, *args: Any) -> Any:
        return evaluator.call(program.key(program.main.own(name)[0], ()), args)

    return call, engine


LOOP = "int f(int n) { s = 0; for (i = 0; i < n; i++) { s += i; } return s; }  int main() { return 0; }"


def test_a_function_with_a_loop_is_compiled_and_called() -> None:
    compiler = FakeCompiler(f=lambda args: (args[0] + 1000,))
    call, engine = run(LOOP, compiler)
    assert call("f", 5) == (1005,)
    assert call("f", 6) == (1006,)
    assert compiler.made == [("f", ((),))]
    (site,) = engine.entered()
    assert [v.calls for v in site.versions.values()] == [2]


FIB = "int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }  int main() { return 0; }"


def test_each_call_of_a_recursion_counts_and_the_outermost_is_timed() -> None:
    call, engine = run(FIB, FakeCompiler(), target="auto", eager=False)
    assert call("fib", 9) == (34,)
    (site,) = engine.sites
    # of 109 calls, 55 are at the end of the recursion, which is seen before they are made
    assert site.calls == 54 and site.active == 0 and site.seconds > 0
    assert call("fib", 9) == (34,)
    assert site.calls == 2 * 54


def test_after_an_error_in_a_recursion_calls_are_counted_as_before() -> None:
    text = "int f(int n) { return n == 0 ? [1,2][n - 1] : f(n - 1); }  int main() { return 0; }"
    call, engine = run(text, FakeCompiler(), target="auto", eager=False)
    for _ in range(2):
        with pytest.raises(SacError):
            call("f", 9)
    (site,) = engine.sites
    assert site.calls == 20 and site.active == 0


def test_a_recursion_that_is_deep_is_compiled_while_it_goes_down() -> None:
    compiler = FakeCompiler(f=lambda args: (1000 + args[0],))
    text = "int f(int n) { return n == 0 ? 0 : 1 + f(n - 1); }  int main() { return 0; }"
    call, _ = run(text, compiler, target="auto", eager=False)
    (found,) = call("f", 12000)
    assert 12000 < found <= 13000 and len(compiler.made) == 1


def test_what_is_small_is_not_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    estimate = Engine.estimate

    def noted(self: Engine, site: Any, args: tuple[Any, ...]) -> float:
        asked.append(site.function.signature.name)
        return estimate(self, site, args)

    monkeypatch.setattr(Engine, "estimate", noted)
    text = """int[.] g(int[.] a) { return { [i] -> a[i] + 1 }; }
int f(int n) { s = 0; for (i = 0; i < n; i++) { s += i; } return s; }
int h() { s = 0; for (i = 0; i < 5000; i++) { s += i; } return s; }
int main() { return 0; }
"""
    call, _ = run(text, FakeCompiler(), target="auto", eager=False)
    call("g", np.arange(100, dtype=np.int32))
    call("f", 100)
    assert asked == []
    call("g", np.arange(10_000, dtype=np.int32))
    call("f", 10_000)
    call("h")
    assert asked == ["_MAIN::g", "_MAIN::f", "_MAIN::h"]


def expected_seconds(text: str, *args: Any) -> float:
    """What a call of f is expected to take, by its text and arguments alone."""
    call, engine = run(text + "\nint main() { return 0; }\n", FakeCompiler(), target="auto", eager=False)
    call("f", *args)
    (site,) = [s for s in engine.sites if s.function.signature.name == "_MAIN::f"]
    return engine.estimate(site, args) * STEP


def test_what_does_not_depend_on_the_index_of_a_with_loop_counts_once() -> None:
    v = np.arange(10_000, dtype=np.int32)
    bare = expected_seconds("int[n] f(int[n] v) { return { [i] -> v[i] - 3 | [i] < [n] }; }", v)
    once = expected_seconds("int[n] f(int[n] v) { return { [i] -> v[i] - _minval_A_(v) | [i] < [n] }; }", v)
    each = expected_seconds("int[n] f(int[n] v) { return { [i] -> v[i] - _minval_A_(v + i) | [i] < [n] }; }", v)
    assert once < 1.5 * bare and each > 100 * bare


def test_an_estimate_that_was_far_too_high_is_not_believed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "beside", lambda *args: None)  # nothing is begun on the chance that it is needed
    text = """int f(int n, int[.] v) {
  s = 0;
  i = 0;
  while (v[i] == 0) { for (k = 0; k < n; k++) { s += v[k % 3]; } i++; }
  return s;
}
int main() { return 0; }
"""
    compiler = FakeCompiler(f=lambda args: (-1,))
    call, engine = run(text, compiler, target="auto", eager=False)
    v = np.ones(5, dtype=np.int32)
    assert [call("f", n, v) for n in (5000, 20_000)] == [(0,), (0,)]  # the first one comes with others' first calls
    (site,) = engine.sites
    assert engine.expected(site, (10_000_000, v), 10_000_000) > 10 * engine.price(site, (10_000_000, v), 1.0)
    assert call("f", 10_000_000, v) == (0,)
    assert compiler.made == []


def test_who_has_kept_the_first_entry_is_sent_on() -> None:
    call, engine = run(LOOP, FakeCompiler(f=lambda args: (args[0] * 100,)))
    assert call("f", 3) == (300,)
    (site,) = engine.sites
    first, entry = site._first, site.entry
    assert first is not entry
    assert [first(n) for n in (4, 5)] == [400, 500]
    assert site.entry is entry


def test_a_straight_line_of_scalars_is_left_alone() -> None:
    compiler = FakeCompiler()
    call, engine = run("int f(int n) { return n * n + 1; }  int main() { return 0; }", compiler)
    assert call("f", 5) == (26,)
    assert compiler.made == [] and not engine.sites


def test_a_mere_update_is_left_to_the_interpreter_which_does_it_in_place() -> None:
    compiler = FakeCompiler()
    call, engine = run("int[.] f(int[.] v, int i) { v[i] = i * i; return v; }  int main() { return 0; }", compiler)
    assert call("f", np.zeros(20, "i4"), 3)[0][3] == 9
    assert compiler.made == [] and not engine.sites


@pytest.mark.parametrize(("n", "kept"), [(3, False), (100_000, True)])
def test_a_version_that_is_certainly_slower_than_the_interpreter_is_given_up(n: int, kept: bool) -> None:
    def slow(args: tuple[Any, ...]) -> tuple[Any, ...]:
        sum(range(5000))  # as if it copied a large array
        return (args[0],)

    text = "int[.] f(int[.] v, int n) { for (j = 0; j < n; j++) { v[j] = j; } return v; }  int main() { return 0; }"
    call, engine = run(text, FakeCompiler(f=slow), eager=False)
    call("f", np.zeros(100_000, "i4"), 3)
    engine.sites[0].own = 1.0  # it has been busy
    for _ in range(80):
        call("f", np.zeros(100_000, "i4"), n)
    assert bool(engine.sites[0].versions) is kept
    assert kept or "faster interpreted" in next(iter(engine.sites[0].refused.values())).reason


@pytest.mark.parametrize(
    ("trials", "kept"), [([0.5], True), ([0.5, 2.0, 0.5], True), ([0.5, 0.5], False), ([0.1], False)]
)
def test_a_version_is_not_given_up_for_a_trial_in_which_the_machine_was_busy(trials: list[float], kept: bool) -> None:
    """`trials`: how long a call took interpreted, the version's being 1."""
    call, engine = run(LOOP, FakeCompiler(f=lambda args: (-1,)))
    call("f", 10)
    versions = engine.sites[0]
    (version,) = versions.versions.values()
    version.calls, version.seconds = 100, 100.0
    for seconds in trials:
        version.trial, version.tried = TRIAL + 1, (versions.calls, versions.seconds)
        assert [versions.tried(version) for _ in range(TRIAL)] == [None] * TRIAL
        versions.calls, versions.seconds = versions.calls + TRIAL, versions.seconds + TRIAL * seconds
        versions.tried(version)
    assert bool(versions.versions) is kept


def test_what_cannot_be_compiled_is_interpreted_with_a_reason_and_not_tried_again() -> None:
    compiler = FakeCompiler()
    call, engine = run(LOOP, compiler)
    assert [call("f", 5), call("f", 5), call("f", 6)] == [(10,), (10,), (15,)]
    assert len(compiler.made) == 1
    assert [r.reason for r in engine.entered()[0].refused.values()] == ["f is not for me"]


def test_what_cannot_be_compiled_for_some_arguments_is_not_thought_about_at_each_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class OnlyLong(FakeCompiler):
        def __call__(self, program: Any, key: str, kind: Any, name: str, tools: Any) -> Compiled:
            if kind == ((1,),):
                raise Unsupported("so short a vector is not for me")
            return super().__call__(program, key, kind, name, tools)

    looks: list[int] = []
    look = Site.look

    def noted(self: Site, args: tuple[Any, ...]) -> bool:
        looks.append(args[0].size)
        return look(self, args)

    monkeypatch.setattr(Site, "look", noted)
    compiler = OnlyLong(f=lambda args: (-1.0,))
    call, _ = run(SUM, compiler)
    short = np.ones(1)
    for _ in range(1000):
        assert call("f", short) == (1.0,)
    assert 1 < len(looks) < 15
    assert call("f", np.ones(2)) == (-1.0,)  # larger ones are looked at
    assert call("f", short) == (1.0,)


def test_little_work_is_interpreted_until_it_has_taken_long_enough() -> None:
    compiler = FakeCompiler(f=lambda args: (-1,))
    call, engine = run(LOOP, compiler, eager=False)
    assert call("f", 10) == (45,)
    assert compiler.made == []
    engine.sites[0].own = 1.0
    assert call("f", 10) == (-1,)


@pytest.mark.parametrize(("seconds", "begun"), [(0.006, 0), (0.06, 1)])
def test_what_has_taken_as_long_as_loading_code_does_is_not_yet_compiled_beside_the_program(
    monkeypatch: pytest.MonkeyPatch, seconds: float, begun: int
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(Engine, "beside", lambda self, unit, kind, sure: asked.append(unit.key))
    monkeypatch.delitem(sys.modules, "sacpy.jit.host.native", raising=False)
    call, engine = run(LOOP, FakeCompiler(), target="auto", eager=False)
    call("f", 10)
    engine.sites[0].own = seconds
    call("f", 10)
    assert seconds > NATIVE * EARLY and len(asked) == begun


def test_much_work_is_compiled_at_the_first_call() -> None:
    compiler = FakeCompiler(f=lambda args: (-1,))
    call, _ = run(LOOP, compiler, eager=False)
    assert call("f", 3) == (3,)
    assert call("f", 1_000_000) == (-1,)


RECURSION = "int f(int n) { return n == 0 ? 0 : 1 + f(n - 1); }  int main() { return 0; }"


def test_a_deep_recursion_goes_native_on_its_way_down() -> None:
    compiler = FakeCompiler(f=lambda args: (args[0],))
    call, _ = run(RECURSION, compiler, eager=False)
    assert call("f", 5000) == (5000,)
    assert compiler.made == [("f", ((),))]


SUM = (
    "double f(double[.] v) { s = 0.0; for (i = 0; i < shape(v)[0]; i++) { s += v[i]; } return s; }  int main() { "
    "return 0; }"
)


def test_versions_know_small_extents_and_a_fifth_knows_ranks_only() -> None:
    compiler = FakeCompiler(f=lambda args: (float(args[0].sum()),))
    call, _ = run(SUM, compiler)
    for n in (1, 2, 3, 4, 5, 6, 0, 4, 50):
        assert call("f", np.ones(n)) == (float(n),)
    assert [kind for _, kind in compiler.made] == [((1,),), ((2,),), ((3,),), ((4,),), ((None,),)]


def test_short_int_vectors_are_known_by_length() -> None:
    compiler = FakeCompiler(f=lambda args: (int(args[0].sum()),))
    call, _ = run(SUM.replace("double", "int").replace("0.0", "0"), compiler)
    for n in (8, 9, 10):
        assert call("f", np.ones(n, "i4")) == (n,)
    assert [kind for _, kind in compiler.made] == [((8,),), ((None,),)]


def test_many_ranks_do_not_make_versions_without_end() -> None:
    compiler = FakeCompiler(f=lambda args: (args[0],))
    call, engine = run(
        "double[*] f(double[*] v) { for (i = 0; i < 3; i++) { v = v + 1.0; } return v; }  int main() { return 0; }",
        compiler,
    )
    for rank in range(1, 30):
        assert call("f", np.ones((9,) * min(rank, 1) + (1,) * (rank - 1)))[0].ndim == rank
    assert len(compiler.made) <= 12
    assert any("too many ranks" in r.reason for r in engine.entered()[0].refused.values())


def failing(*failures: Exception) -> Function:
    """A function that fails so many times, then gives -1."""
    waiting: Iterator[Exception] = iter(failures)

    def call(args: tuple[Any, ...]) -> tuple[Any, ...]:
        failure = next(waiting, None)
        if failure is not None:
            raise failure
        return (-1,)

    return call


def test_a_failed_check_means_that_the_interpreter_runs_the_call_again() -> None:
    call, engine = run(LOOP, FakeCompiler(f=failing(CheckFailed(3))))
    assert call("f", 5) == (10,)
    assert call("f", 5) == (-1,)
    (version,) = engine.entered()[0].versions.values()
    assert (version.failed, version.spurious, engine.reruns) == (1, 1, 0)


def test_the_error_behind_a_failed_check_is_the_interpreters() -> None:
    text = (
        "int f(int[.] v, int n) { s = 0; for (i = 0; i < n; i++) { s += v[i]; } return s; }  int main() { return 0; }"
    )
    call, engine = run(text, FakeCompiler(f=failing(CheckFailed(0))))
    with pytest.raises(SacError) as caught:
        call("f", np.zeros(3, "i4"), 5)
    plain, _ = run(text, FakeCompiler())
    with pytest.raises(SacError) as wanted:
        plain("f", np.zeros(3, "i4"), 5)
    assert render_text(caught.value.diagnostics) == render_text(wanted.value.diagnostics)
    assert engine.reruns == 0


def test_checks_that_fail_without_an_error_time_and_again_end_the_version() -> None:
    call, engine = run(LOOP, FakeCompiler(f=failing(*[CheckFailed(0)] * 100)))
    for _ in range(10):
        assert call("f", 5) == (10,)
    (site,) = engine.entered()
    assert not site.versions
    assert [r.reason for r in site.refused.values()] == [
        "conditions that it was compiled with do not hold in most calls"
    ]


def test_a_version_that_fails_at_every_depth_of_a_recursion_ends_once() -> None:
    text = (
        "int f(int n) { s = 0; for (i = 0; i < 3; i++) { s += i; } return n == 0 ? s : f(n - 1) + s; }  int main() "
        "{ return 0; }"
    )
    call, engine = run(text, FakeCompiler(f=failing(*[CheckFailed(0)] * 100)))
    for depth in (1, 20):
        assert call("f", depth) == (3 * (depth + 1),)
    (site,) = engine.entered()
    assert not site.versions


def test_failures_within_failures_do_not_multiply() -> None:
    calls = []

    def fails(args: tuple[Any, ...]) -> tuple[Any, ...]:
        calls.append(args)
        raise CheckFailed(0)

    call, engine = run(RECURSION, FakeCompiler(f=fails))
    assert call("f", 300) == (300,)
    assert len(calls) < 10 and engine.reruns == 0


def test_too_deep_a_recursion_is_the_interpreters_error() -> None:
    call, _ = run(RECURSION, FakeCompiler(f=failing(*[TooDeep()] * 100)))
    assert call("f", 50) == (50,)


def test_no_room_for_an_array_is_looked_for_by_the_interpreter_at_once_but_not_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    call, _ = run(LOOP, FakeCompiler(f=failing(OutOfMemory(3 << 30), OutOfMemory(3 << 30))))
    assert call("f", 5) == (10,)
    monkeypatch.setattr("sacpy.jit.run.engine.SOON", 0.0)
    with pytest.raises(SacError) as caught:
        call("f", 5)
    assert caught.value.diagnostics[0].code == "E0703"
    assert "3.0 GiB" in caught.value.diagnostics[0].message


def test_arguments_given_away_come_back_as_results_of_nobody_else() -> None:
    text = "int[.] f(int[.] v) { for (i = 0; i < 3; i++) { v[i] = i; } return v; }  int main() { return 0; }"
    program, _ = Workspace().load_text(PRELUDE + text)
    engine = Plain("cpu", eager=True, cache=Cache(None), compiler=FakeCompiler(f=lambda args: (args[0] + 1,)))
    evaluator = Evaluator(program, World.captured(), engine=engine)
    values, alone = evaluator.call_giving(program.key(program.main.own("f")[0], ()), (np.zeros(20, "i4"),), (False,))
    assert values[0].tolist() == [1] * 20 and alone == (True,)


def test_a_defect_of_the_compiler_never_reaches_the_program() -> None:
    def broken(*args: Any) -> Compiled:
        raise ZeroDivisionError("oh")

    program, _ = Workspace().load_text(PRELUDE + LOOP)
    engine = Plain("cpu", eager=True, cache=Cache(None), compiler=broken)
    evaluator = Evaluator(program, World.captured(), engine=engine)
    assert evaluator.call(program.key(program.main.own("f")[0], ()), (5,)) == (10,)
    assert "ZeroDivisionError" in next(iter(engine.entered()[0].refused.values())).reason


def test_without_an_engine_the_compiler_is_not_even_imported(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = (
        "import sys\nfrom sacpy.cli import main\nstatus = main(sys.argv[1:])\n"
        "assert not [m for m in sys.modules if m.startswith(('llvmlite', 'sacpy.jit.run.engine', "
        "'sacpy.jit.ir.graph'))], sys.modules"
    )
    program = tmp_path / "hello.sac"
    program.write_text('use StdIO: all;\nint main() { printf("hello\\n"); return 0; }')
    for flags in ([], ["--target", "interp"]):
        found = subprocess.run(
            [sys.executable, "-c", code, "run", *flags, str(program)], capture_output=True, text=True
        )
        assert (found.stdout, found.stderr) == ("hello\n", "")


def test_a_version_that_nobody_has_come_for_keeps_no_other_from_being_made(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def beside(engine: Engine, unit: Any, kind: Any, sure: bool) -> Any:
        asked.append(kind)
        return SimpleNamespace(over=False)

    monkeypatch.setattr(Engine, "beside", beside)
    call, engine = run(SUM, FakeCompiler(), target="auto", eager=False)
    call("f", np.ones(3))
    (site, *_) = engine.sites
    vector, matrix = (np.ones(3),), (np.ones((3, 3)),)
    for args in (vector, matrix):
        engine.price(site, args, 1.0)
    assert site.begin(vector, sure=True) and len(asked) == 1
    assert site.begin(matrix, sure=True) and len(asked) == 1  # one at a time
    (job,) = site.jobs.values()
    job.over = True
    assert site.begin(matrix, sure=True) and len(asked) == 2


def test_who_waits_for_a_version_pays_for_loading_the_compiler_though_a_process_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "llvmlite", raising=False)
    call, engine = run(LOOP, FakeCompiler(), target="auto", eager=False)
    call("f", 10)
    site = engine.sites[0]
    alone = engine.price(site, (10,), 1.0)
    monkeypatch.setattr(Makers, "has_process", True)
    assert engine.price(site, (10,), 1.0, waits=True) == alone
    assert engine.price(site, (10,), 1.0) == pytest.approx(alone - LIBRARIES)


@pytest.mark.parametrize(
    ("backlog", "is_loaded", "waits"),
    [
        (0.0, False, True),
        (0.0, True, True),
        (LIBRARIES, False, True),
        (1.5 * LIBRARIES, False, False),
        (0.01, True, False),
    ],
)
def test_a_version_is_made_here_where_that_is_sooner_than_by_a_process_that_is_busy(
    monkeypatch: pytest.MonkeyPatch, backlog: float, is_loaded: bool, waits: bool
) -> None:
    monkeypatch.delitem(sys.modules, "llvmlite", raising=False)
    if is_loaded:
        monkeypatch.setitem(sys.modules, "llvmlite", SimpleNamespace())
    asked: list[bool] = []
    monkeypatch.setattr(Makers, "backlog", backlog)
    monkeypatch.setattr(Makers, "ask", lambda self, unit, kind, is_awaited: asked.append(is_awaited))
    call, engine = run(LOOP, FakeCompiler(f=lambda args: (1,)), target="auto", eager=False)
    call("f", 10)
    site, engine._core = engine.sites[0], True
    engine.price(site, (10,), 1.0)
    assert site.forced((10,)) is not None
    assert asked == [True] * waits


def test_what_is_asked_for_is_expected_to_take_its_price_or_what_such_code_usually_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    jobs: list[Any] = []
    fork = SimpleNamespace(ask=lambda job, request: jobs.append(job))
    monkeypatch.setattr(Makers, "_fork_for", lambda self, room: fork)
    call, engine = run(LOOP, FakeCompiler(), target="auto", eager=False)
    call("f", 10)
    site = engine.sites[0]
    kind = site.kind((10,))
    assert kind is not None
    site.prices.clear()
    engine.makers.ask(site, kind, is_awaited=False)
    site.prices[kind] = 7.0
    engine.makers.ask(site, kind, is_awaited=False)
    assert [job.seconds for job in jobs] == [engine.usual_price(site), 7.0]
