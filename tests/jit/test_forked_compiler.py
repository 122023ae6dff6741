"""A forked process that compiles beside the program."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

import sacpy.jit.run.engine as engines
from sacpy.base import processors
from sacpy.interp.evaluator import Evaluator
from sacpy.interp.world import World
from sacpy.jit.beside import is_beside
from sacpy.jit.cache import Cache
from sacpy.jit.run import compiler
from sacpy.jit.run import fork as forks
from sacpy.jit.run.engine import Engine
from sacpy.jit.run.fork import Asked, Fork
from sacpy.jit.run.making import Making
from sacpy.workspace import Workspace
from tests.tools import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")

TEXT = (
    "use Array: all; int spun(double end) { s = 0; x = 0.0; while (x < end) { x = x + 0.5; s = (s * 31 + 7) % "
    "1000003; } return s; }"
)


def asked(fork: Fork, request: Any) -> Asked[bytes]:
    return Asked(fork, request, lambda data: data).start()


def over(job: Asked[Any]) -> bool:
    """Whether it is, after a while."""
    end = monotonic() + 20
    while not job.over and monotonic() < end:
        sleep(0.001)
    return job.over


def test_requests_are_answered_in_order_by_another_process() -> None:
    here = os.getpid()
    fork = Fork(lambda request: repr((request, os.getpid() != here)).encode())
    jobs = [asked(fork, (k, ((), (3, None)))) for k in range(20)]
    assert [job.result() for job in jobs] == [repr(((k, ((), (3, None))), True)).encode() for k in range(20)]
    assert not fork.is_busy


def test_long_answers_come_as_they_are() -> None:
    fork = Fork(lambda size: bytes(k % 251 for k in range(size)))
    jobs = [asked(fork, size) for size in (0, 3_000_000, 1)]
    assert [len(job.result()) for job in jobs] == [0, 3_000_000, 1]


def test_what_fails_there_is_left_to_this_process() -> None:
    fork = Fork(lambda request: str(1 // request).encode())
    assert [asked(fork, k).result() for k in (1, 0, 1)] == [b"1", b"", b"1"]


def test_who_waits_for_a_process_that_has_ended_gets_nothing() -> None:
    fork = Fork(lambda request: sleep(60) or b"")
    jobs = [asked(fork, k) for k in range(3)]
    assert not jobs[0].over
    os.kill(fork._process, signal.SIGKILL)
    assert all(over(job) for job in jobs) and fork.ended
    assert [job.result() for job in jobs] == [b""] * 3
    assert asked(fork, 1).result() == b""


def test_while_an_answer_takes_long_something_else_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[int] = []
    monkeypatch.setattr(forks, "LONG", 60.0)
    fork = Fork(lambda seconds: sleep(seconds) or b"")
    quick = Asked(fork, 0.0, len, lambda: done.append(1)).start()
    assert over(quick) and not done
    monkeypatch.setattr(forks, "LONG", 0.01)
    slow = Asked(fork, 0.2, len, lambda: done.append(2)).start()
    assert over(slow) and done == [2]


def test_how_long_it_will_take_is_what_was_expected_of_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(forks, "monotonic", lambda: now)
    fork = Fork(lambda request: sleep(60) or b"" if request else b"")
    assert fork.backlog == 0.0
    assert Asked(fork, 0, len, seconds=5.0).start().result() == 0 and fork.backlog == 0.0
    now += 1.0
    for seconds in (0.5, 0.25):
        Asked(fork, 1, len, seconds=seconds).start()
    assert fork.backlog == pytest.approx(0.75)
    now += 0.25
    assert fork.backlog == pytest.approx(0.5)
    now += 1.75
    assert fork.backlog == pytest.approx(1.0 + 0.25), "who takes longer than expected may take much longer"


def test_an_answer_that_is_read_in_part_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    fork = Fork(lambda request: bytes(100))
    first, second = asked(fork, 1), asked(fork, 2)
    read = os.read

    def interrupted(file: int, size: int) -> bytes:
        read(file, 7)
        raise KeyboardInterrupt

    end = monotonic() + 20
    with pytest.raises(KeyboardInterrupt):
        while monotonic() < end:
            with monkeypatch.context() as patched:
                patched.setattr(os, "read", interrupted)
                assert not first.over
    assert fork.ended and (first.result(), second.result()) == (b"", b"")


def test_it_holds_no_file_of_the_program() -> None:
    read, write = os.pipe()
    fork = Fork(
        lambda request: repr(
            [os.readlink(f"/proc/self/fd/{k}") for k in range(3)] + [len(os.listdir("/proc/self/fd"))]
        ).encode()
    )
    files = eval(asked(fork, 1).result())
    assert files[:3] == [os.devnull] * 3 and files[3] <= 7
    os.close(write)
    assert os.read(read, 1) == b""  # nobody else has its other end
    os.close(read)


def test_an_interruption_of_the_terminal_is_not_for_it() -> None:
    fork = Fork(lambda request: b"here")
    os.kill(fork._process, signal.SIGINT)
    assert asked(fork, 1).result() == b"here"


def test_processes_that_nobody_has_any_more_end() -> None:
    fork = Fork(lambda request: b"")
    process = fork._process
    del fork
    end = monotonic() + 20
    while os.waitpid(process, os.WNOHANG) == (0, 0):
        assert monotonic() < end
        sleep(0.01)


DETACHED = """
import os, sys, time
from pathlib import Path
from sacpy.jit.run import fork

def later():
    told, go = map(Path, sys.argv[1:3])
    for _ in range(1000):  # not for ever, should somebody wait for this all the same
        if go.exists():
            break
        time.sleep(0.01)
    told.with_suffix(".new").write_text(f"{os.getpid()}")
    told.with_suffix(".new").rename(told)

fork.cores = lambda: int(sys.argv[3])
fork.detach(later)
print(os.getpid())
"""


def test_nobody_waits_for_what_a_detached_process_does(tmp_path: Path) -> None:
    told, go = tmp_path / "told", tmp_path / "go"
    done = subprocess.run(
        [sys.executable, "-c", DETACHED, str(told), str(go), "2"], cwd=ROOT, capture_output=True, text=True, check=True
    )  # which waits until nobody holds the ends of its output
    assert not told.exists()
    go.touch()
    end = monotonic() + 20
    while not told.exists():
        assert monotonic() < end
        sleep(0.01)
    assert not told.read_text().startswith(done.stdout.strip() + " ")


def test_with_one_processor_nothing_is_done_behind(tmp_path: Path) -> None:
    told, go = tmp_path / "told", tmp_path / "go"
    go.touch()
    subprocess.run([sys.executable, "-c", DETACHED, str(told), str(go), "1"], cwd=ROOT, capture_output=True, check=True)
    sleep(0.3)
    assert not told.exists()


def spun(engine: Engine, end: float) -> int:
    program, _ = Workspace().load_text(TEXT)
    (found,) = Evaluator(program, World.captured(), engine=engine).call(
        program.key(program.main.own("spun")[0], ()), (end,)
    )
    return int(found)


@pytest.fixture
def forking(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process with one thread and two cores."""
    monkeypatch.setattr(forks, "may_fork", lambda: True)
    monkeypatch.setattr(engines, "cores", lambda: 2)
    monkeypatch.setattr(engines, "is_processor_free", lambda: True)


@pytest.mark.usefixtures("forking")
def test_a_loop_goes_on_in_code_that_another_process_has_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    compile_one = Engine._compile
    monkeypatch.setattr(
        Engine,
        "_compile",
        lambda self, unit, kind, border: (
            made.append((bool(self.tools.delivered), is_beside())),
            compile_one(self, unit, kind, border),
        )[1],
    )
    engine = Engine("auto", cache=Cache(None), defects=True, threads=1)
    assert spun(engine, 3.0e7) == spun(Engine("cpu", cache=Cache(None), eager=True), 3.0e7)
    assert made[0] == (True, False)  # what has been delivered, by the thread of the program
    versions = [v for u in engine.units for v in u.versions.values() if v.calls]
    assert versions and not any(v.report.cached for v in versions)
    assert {"specialise", "compile", "load"} <= {stage for v in versions for stage, _ in v.report.stages}


@pytest.mark.usefixtures("forking")
def test_one_process_makes_loops_that_it_has_never_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Fork] = []
    begun = Fork.__init__
    monkeypatch.setattr(Fork, "__init__", lambda self, *args: (made.append(self), begun(self, *args))[1])
    engine = Engine("auto", cache=Cache(None), defects=True, threads=1)
    others = " ".join(TEXT.partition("; ")[2].replace("spun", f"more{k}").replace("31", str(k)) for k in (5, 6))
    text = f"{TEXT} {others} int all(double end) {{ return spun(end) + more5(end) + more6(end); }}"
    program, _ = Workspace().load_text(text)
    key = program.key(program.main.own("all")[0], ())
    found = Evaluator(program, World.captured(), engine=engine).call(key, (3.0e7,))
    assert found == Evaluator(program, World.captured(), engine=Engine("cpu", cache=Cache(None), eager=True)).call(
        key, (3.0e7,)
    )
    versions = [v for u in engine.units for v in u.versions.values() if v.calls]
    assert len(versions) == 3 and len(made) == 1


@pytest.mark.usefixtures("forking")
def test_who_waits_for_code_does_not_make_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told, make = tmp_path / "told", compiler.made_apart

    def made(*about: Any) -> bytes:
        with told.open("a") as file:
            print(processors._waited, file=file)
        return make(*about)

    monkeypatch.setattr(compiler, "made_apart", made)
    engine = Engine("auto", cache=Cache(None), defects=True, threads=1)
    program, _ = Workspace().load_text(
        "use Array: all; int f(int n) { return sum(with { ([0] <= [i] < [n]) : i % 7; } : genarray([n], 0)); }"
    )
    evaluator = Evaluator(program, World.captured(), engine=engine)
    key = program.key(program.main.own("f")[0], ())
    assert evaluator.call(key, (20_000_000,)) == (59999997,)
    (site,) = [s for s in engine.sites if s.key == key]
    (version,) = site.versions.values()
    assert version.calls == 1 and site.calls == 0
    assert not engine.tools.delivered and "compile" in dict(version.report.stages)
    assert told.read_text() == "True\n"  # it knows that somebody waits
    spun(Engine("auto", cache=Cache(None), defects=True, threads=1), 3.0e7)
    assert told.read_text().split()[1:] == ["False"]


@pytest.mark.usefixtures("forking")
def test_what_the_other_process_cannot_make_is_made_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Making, "answer", lambda self, request: os._exit(1))
    engine = Engine("auto", cache=Cache(None), defects=True, threads=1)
    assert spun(engine, 3.0e7) == spun(Engine("cpu", cache=Cache(None), eager=True), 3.0e7)
    assert any(v.calls for u in engine.units for v in u.versions.values())


@pytest.mark.usefixtures("forking")
def test_under_a_limit_on_memory_there_is_no_other_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forks, "Fork", lambda *_: pytest.fail("there is one"))
    engine = Engine("auto", cache=Cache(None), threads=1)
    engine.begin(1 << 30, limited=True)
    assert spun(engine, 1.0e6) > 0
