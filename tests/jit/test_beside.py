"""Compiling beside the program: when it is done there, what becomes of it when nobody waits any more."""

from __future__ import annotations

import io
import os
import threading
from pathlib import Path
from time import monotonic, sleep

import pytest

import sacpy
from sacpy.base import clocks
from sacpy.interp.evaluator import Evaluator
from sacpy.interp.world import World
from sacpy.jit.beside import Abandoned, Job, checkpoint
from sacpy.jit.cache import Cache
from sacpy.jit.run import engine as engines
from sacpy.jit.run import fork, makers
from sacpy.jit.run.engine import Engine
from sacpy.workspace import Workspace

TEXT = (
    "use Array: all; int spun(double end) { s = 0; x = 0.0; while (x < end) { x = x + 0.5; s = (s * 31 + 7) % "
    "1000003; } return s; }"
)


def test_a_job_gives_what_it_has_made_or_raises() -> None:
    assert Job(lambda: 7).start().result() == 7
    with pytest.raises(ValueError, match="no"):
        Job(lambda: int("no")).start().result()


def test_a_job_that_nobody_wants_ends_at_its_next_step() -> None:
    begun = threading.Event()

    def work() -> int:
        begun.set()
        while True:
            sleep(0.001)
            checkpoint()

    job = Job(work).start()
    begun.wait()
    job.settle()
    assert job.done
    with pytest.raises(Abandoned):
        job.result()


def test_a_job_that_does_not_need_the_program_goes_on() -> None:
    free, away = threading.Event(), threading.Event()

    def work() -> int:
        checkpoint("compile")
        away.set()
        free.wait()
        checkpoint("load")
        return 3

    job = Job(work).start()
    away.wait()
    job.settle()
    assert not job.done
    free.set()
    assert job.result() == 3


def test_outside_of_jobs_there_are_no_checkpoints() -> None:
    checkpoint()
    checkpoint("specialise")


def spun(engine: Engine, end: float) -> int:
    program, _ = Workspace().load_text(TEXT)
    (found,) = Evaluator(program, World.captured(), engine=engine).call(
        program.key(program.main.own("spun")[0], ()), (end,)
    )
    return int(found)


def test_a_loop_without_a_known_end_is_compiled_beside_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[str] = []
    compile_one = Engine._compile
    monkeypatch.setattr(
        Engine,
        "_compile",
        lambda self, unit, kind, border: (
            threads.append(threading.current_thread().name),
            compile_one(self, unit, kind, border),
        )[1],
    )
    monkeypatch.setattr(engines, "cores", lambda: 2)
    monkeypatch.setattr(engines, "is_processor_free", lambda: True)
    monkeypatch.setattr(fork, "may_fork", lambda: False)
    engine = Engine("auto", cache=Cache(None), defects=True, threads=1)
    assert spun(engine, 3.0e7) == spun(Engine("cpu", cache=Cache(None), eager=True), 3.0e7)
    assert threads[0] == "sacpy compiling"
    assert any(v.calls for u in engine.units for v in u.versions.values())


def test_what_the_cache_has_is_not_made_beside_the_program_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[object] = []
    beside = Engine.beside
    monkeypatch.setattr(Engine, "beside", lambda self, *of: (begun.append(of), beside(self, *of))[1])
    monkeypatch.setattr(engines, "cores", lambda: 2)
    monkeypatch.setattr(engines, "is_processor_free", lambda: True)
    monkeypatch.setattr(fork, "may_fork", lambda: False)
    for many in (True, False):
        engine = Engine("auto", cache=Cache(tmp_path), defects=True, threads=1)
        assert spun(engine, 3.0e7) > 0
        assert any(v.calls for u in engine.units for v in u.versions.values())
        assert bool(begun) == many
        begun.clear()


def test_without_a_free_core_or_with_a_limit_on_memory_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []
    monkeypatch.setattr(makers, "Job", lambda work: started.append(work) or Job(work))
    monkeypatch.setattr(fork, "may_fork", lambda: False)
    monkeypatch.setattr(engines, "is_processor_free", lambda: False)
    assert spun(Engine("auto", cache=Cache(None), threads=1), 3.0e7) > 0
    monkeypatch.setattr(engines, "cores", lambda: 2)
    monkeypatch.setattr(engines, "is_processor_free", lambda: True)
    limited = Engine("auto", cache=Cache(None), threads=1)
    limited.begin(1 << 30, limited=True)
    assert spun(limited, 3.0e7) > 0
    assert started == []


@pytest.mark.parametrize(
    ("processors", "passed", "idle", "own", "free"),
    [
        (2, 20, 10, 10, True),  # nobody else
        (2, 20, 0, 10, False),  # somebody else, all the time
        (2, 20, 6, 10, True),  # now and then
        (2, 20, 0, 20, True),  # threads of this process
        (2, 7, 0, 3, True),  # too soon to say
        (8, 80, 0, 10, False),
        (8, 80, 10, 10, True),
    ],
)
def test_a_processor_is_free_that_others_leave(
    processors: int, passed: int, idle: int, own: float, free: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clocks.os, "cpu_count", lambda: processors)
    monkeypatch.setattr(clocks, "_before", clocks.Usage(1000, 600, 50.0))
    monkeypatch.setattr(clocks, "usage", lambda: clocks.Usage(1000 + passed, 600 + idle, 50.0 + own))
    assert clocks.is_processor_free() is free


def test_what_linux_tells_of_its_processors_is_read_and_elsewhere_one_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"cpu  437724 737436 94504 209172 390 0 170 4186 0 0\ncpu0 1 2 3 4\n"
    monkeypatch.setattr(clocks, "open", lambda *_: io.BytesIO(text), raising=False)
    read = clocks.usage()
    assert read is not None and read[:2] == (437724 + 737436 + 94504 + 209172 + 390 + 170 + 4186, 209172 + 390)

    def missing(*_: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(clocks, "open", missing, raising=False)
    assert clocks.usage() is None and clocks.is_processor_free()


def test_a_session_may_be_changed_while_a_job_is_at_work() -> None:
    session = sacpy.Session(target="auto")
    for k in range(12):
        module = session.define(
            f"use Array: all; int g{k}(double end) {{ s = {k}; x = 0.0; while (x < end) {{ x = x + 0.5; s = (s * 31 + "
            f"7) % 1000003; }} return s; }}"
        )
        found = module[f"g{k}"](30_000.0 + 20_000.0 * k)
        s = k
        for _ in range(60_000 + 40_000 * k):
            s = (s * 31 + 7) % 1000003
        assert found == s


def test_a_job_that_an_exception_has_struck_before_it_began_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Job, "_run", lambda job: None)
    job: Job[int] = Job(lambda: 1).start()
    job.settle()
    with pytest.raises(Abandoned):
        job.result()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes that can fork")
def test_a_child_compiles_for_itself() -> None:
    session = sacpy.Session(target="auto")
    module = session.compile(TEXT)
    module.spun(200_000.0)  # something may be at work now
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, str(module.spun(1.0e6)).encode())
        finally:
            os._exit(0)
    end = monotonic() + 30
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        assert monotonic() < end, "the child does not come to an end"
        sleep(0.01)
    assert int(os.read(read, 20)) == module.spun(1.0e6)
