"""A process that compiles, begun before a program runs that nobody knows."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import sacpy
from sacpy.base import processors
from sacpy.interp.limits import Limits
from sacpy.interp.world import World
from sacpy.jit.cache import Cache
from sacpy.jit.fingerprint import Fingerprints
from sacpy.jit.run import compiler, on_demand
from sacpy.jit.run import engine as engines
from sacpy.jit.run import fork as forks
from sacpy.jit.run.contract import compile_context
from sacpy.jit.run.fork import Fork
from sacpy.jit.run.making import Making
from sacpy.jit.run.on_demand import OnDemand
from sacpy.jit.run.regions import Regions
from sacpy.workspace import Workspace
from tests.tools import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")

WORK = """
use StdIO: all; use Array: all;
int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main() { printf("%d\\n", fib(29)); return 0; }
"""
IDLE = 'use StdIO: all; int main() { printf("hello\\n"); return 0; }'


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Fork]]:
    """The processes that are begun, where there are two cores, one of them free."""
    found: list[Fork] = []
    begin = Fork.__init__
    monkeypatch.setattr(Fork, "__init__", lambda self, *args: (begin(self, *args), found.append(self))[0])
    monkeypatch.setattr(forks, "may_fork", lambda: True)
    for module in (engines, on_demand):
        monkeypatch.setattr(module, "cores", lambda: 2)
        monkeypatch.setattr(module, "is_processor_free", lambda: True)
    yield found
    for fork in found:
        fork.end()


def workspace(target: str = "auto", limits: Limits | None = None) -> Workspace:
    found = Workspace(target=target, limits=limits or Limits(depth=1000))
    if target != "interp":
        found.use(OnDemand(target, cache=Cache(None), threads=1))
    return found


def test_a_program_is_compiled_by_the_process_that_was_begun_before_it_ran(
    begun: list[Fork], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "is_processor_free", lambda: pytest.fail("it has been found free already"))
    w = workspace()
    program, _ = w.load_text(WORK)
    w.foresee(program)
    assert len(begun) == 1
    world = World.captured()
    assert w.run(program, world) == 0 and world.out() == b"514229\n"
    assert w.engine is not None and w.engine.started is not None
    (site,) = [s for s in w.engine.started.sites if s.versions]
    (version,) = site.versions.values()
    assert site.key == "_MAIN::fib/0" and "compile" in dict(version.report.stages)
    assert len(begun) == 1 and not begun[0].ended


def test_what_it_cannot_make_is_made_here(begun: list[Fork], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Making, "answer", lambda self, request: os._exit(1))
    w = workspace()
    program, _ = w.load_text(WORK)
    w.foresee(program)
    world = World.captured()
    assert w.run(program, world) == 0 and world.out() == b"514229\n"
    assert len(begun) == 1 and begun[0].ended


@pytest.mark.parametrize(
    ("why", "text", "target", "limits"),
    [
        ("there is no work in it", IDLE, "auto", None),
        ("it is interpreted", WORK, "interp", None),
        ("everything is compiled at once", WORK, "cpu", None),
        ("somebody watches how much memory it takes", WORK, "auto", Limits(memory=1 << 30, depth=1000)),
    ],
)
def test_there_is_none_where(begun: list[Fork], why: str, text: str, target: str, limits: Limits | None) -> None:
    w = workspace(target, limits)
    w.foresee(w.load_text(text)[0])
    assert not begun, why


@pytest.mark.parametrize("name", ["cores", "is_processor_free"])
def test_there_is_none_where_no_processor_is_free(
    begun: list[Fork], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(on_demand, name, lambda: name == "cores")
    w = workspace()
    w.foresee(w.load_text(WORK)[0])
    assert not begun


def test_a_program_that_an_earlier_run_has_left_needs_none(tmp_path: Path) -> None:
    """With what that has found out: whether there is code is seen when something is hot."""
    program = tmp_path / "program.sac"
    program.write_text(WORK)
    script = (
        "import sys\nfrom sacpy.jit.run import fork, on_demand\n"
        "on_demand.cores, on_demand.is_processor_free = lambda: 2, lambda: True\n"
        "begin = fork.Fork.__init__\n"
        "fork.Fork.__init__ = lambda *args: (sys.stderr.write('begun '), begin(*args))[1]\n"
        "from sacpy.cli import main\nmain(['run', sys.argv[1]])"
    )
    environment = {**os.environ, "SACPY_CACHE_DIR": str(tmp_path)}
    told = [
        subprocess.run(
            [sys.executable, "-c", script, str(program)], cwd=ROOT, env=environment, capture_output=True, text=True
        )
        for _ in range(2)
    ]
    assert [(t.stdout, t.stderr) for t in told] == [("514229\n", "begun "), ("514229\n", "")]


RECURSIONS = """
use Array: all;
int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int once(int n) { return n < 2 ? n : 1 + once(n - 1); }
int[.] halves(int[.] v)
{
  n = shape(v)[0];
  return n < 2 ? v : halves(take([n / 2], v)) ++ halves(drop([n / 2], v));
}
int main() { return fib(5) + once(3) + sum(halves(iota(5))); }
"""


def test_what_can_be_asked_for_in_one_way_only_is_made_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it grows hot soon: a recursion on scalars with several branches."""
    program, _ = Workspace().load_text(RECURSIONS)
    regions, tools = Regions(program), compile_context(cache=Cache(None))
    making = Making(tools, lambda number: regions)
    steps = making.likely(regions, program.elaborated())
    next(steps)
    key, kind = "_MAIN::fib/0", ((),)
    name = Fingerprints(Regions(program)).digest(key, kind, tools.options)
    assert set(making._ahead) == {name}
    next(steps)  # nothing but what is loaded
    assert set(making._ahead) == {name}
    monkeypatch.setattr(compiler, "made_apart", lambda *args: pytest.fail("it is there"))
    assert making.answer((0, key, kind, name, b"", False))


def test_what_compiles_loads_no_numpy() -> None:
    script = (
        "import sys\nfrom sacpy.jit.fingerprint import platform_digest\n"
        "from sacpy.jit.run.making import load, rehearsal\nload()\nplatform_digest()\nfor _ in rehearsal(): pass\n"
        "assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)


def test_a_program_with_a_mistake_is_refused_before_numpy_is_loaded(tmp_path: Path) -> None:
    program = tmp_path / "program.sac"
    program.write_text("int main() { return wrong; }")
    script = "import sys\nimport sac_lang\nassert sac_lang.main() == 1\nassert 'numpy' not in sys.modules"
    done = subprocess.run(
        [sys.executable, "-c", script, str(program)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "wrong" in done.stderr


@pytest.fixture
def anywhere() -> Iterator[set[int]]:
    """The processors that this process may use, again afterwards."""
    before = os.sched_getaffinity(0)
    if len(before) == 1:
        pytest.skip("there is one processor")
    yield before
    os.sched_setaffinity(0, before)


def test_who_begins_another_stays_where_it_is_until_the_program_runs(begun: list[Fork], anywhere: set[int]) -> None:
    w = workspace()
    program, _ = w.load_text(WORK)
    w.foresee(program)
    assert len(os.sched_getaffinity(0)) == 1
    assert w.run(program, World.captured()) == 0
    assert os.sched_getaffinity(0) == anywhere


def test_the_other_one_keeps_off_that_processor(anywhere: set[int]) -> None:
    for move_again in (processors.stay(), lambda: None):
        here = os.sched_getaffinity(0)
        fork = Fork(lambda request: repr(os.sched_getaffinity(0)).encode())
        found: set[int] = forks.Asked(fork, 0, lambda data: eval(data)).start().result()
        assert found and found < anywhere and (here == anywhere or found == anywhere - here)
        move_again()
        assert os.sched_getaffinity(0) == anywhere


def test_where_there_can_be_no_other_one_this_one_does_not_stay(
    begun: list[Fork], monkeypatch: pytest.MonkeyPatch, anywhere: set[int]
) -> None:
    def fails() -> int:
        raise OSError

    monkeypatch.setattr(forks, "_forked", fails)
    w = workspace()
    w.foresee(w.load_text(WORK)[0])
    assert not begun and os.sched_getaffinity(0) == anywhere


def test_it_uses_that_processor_too_while_somebody_waits(anywhere: set[int]) -> None:
    def answer(request: object) -> bytes:
        told = [(os.sched_getaffinity(0), processors.free())]
        with processors.everywhere():
            told.append((os.sched_getaffinity(0), processors.free()))
        return repr([*told, (os.sched_getaffinity(0), processors.free())]).encode()

    move_again = processors.stay()
    others = anywhere - os.sched_getaffinity(0)
    fork = Fork(answer)
    found = forks.Asked(fork, 0, lambda data: eval(data)).start().result()
    assert found == [(others, len(others)), (anywhere, len(anywhere)), (others, len(others))]
    move_again()
    assert processors.free() == max(1, len(anywhere) - 1)  # of this process nobody knows which one it would keep off


@pytest.mark.parametrize("error", [OSError, ValueError])
def test_where_nobody_tells_which_processor_that_is_nothing_changes(
    monkeypatch: pytest.MonkeyPatch, anywhere: set[int], error: type[Exception]
) -> None:
    def fails(process: object) -> int:
        raise error

    monkeypatch.setattr(processors, "_processor", fails)
    steps: list[Callable[[], object]] = [processors.stay(), lambda: processors.leave(os.getppid())]
    for step in steps:
        step()
        assert os.sched_getaffinity(0) == anywhere


def test_of_modules_the_cache_remembers_that_they_have_been_loaded(
    begun: list[Fork], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SACPY_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "module.sac"
    before = os.sched_getaffinity(0)
    for text, expected in ((WORK, 1), (WORK, 1), (WORK.replace("29", "5"), 2), (IDLE, 2)):
        path.write_text(text)
        module = sacpy.Session().load(path)
        assert len(begun) == expected
        assert os.sched_getaffinity(0) == before  # threads may begin now that would stay where this one does
        assert text == IDLE or module.fib(10) == 55
    sacpy.Session().compile(WORK.replace("29", "6"))
    assert len(begun) == 3
