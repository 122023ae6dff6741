"""What ends native code before its time: Ctrl-C, limits on time and memory, recursion without end; and that everything
goes on working behind it."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import sacpy
from sacpy.interp import memory
from sacpy.interp.evaluator import Evaluator
from sacpy.interp.limits import Limits, Watchdog
from sacpy.interp.world import World
from sacpy.jit.cache import Cache
from sacpy.jit.host import native
from sacpy.jit.run.engine import Engine
from sacpy.workspace import Workspace
from tests.tools import ROOT

ENDLESS = """use StdIO: all; use TermFile: all; use Array: all;
int spin(int n) { s = 0; for (i = 0; i < n; i++) { for (j = 0; j < n; j++) { s = (s * 31 + i + j) % 1000003;
  } } return s; }
int main() { n = spin(100); fprintf(stderr, "started %d\\n", n); n = spin(_hideValue_SxA_(0, 100000000));
  printf("%d\\n", n); return 0; }
"""
STRAIGHT = """use StdIO: all; use TermFile: all; use Array: all; use Math: all;
double creep(int n) { x = 1.0; for (i = 0; i < n; i++) { x = sin(x) / 1.1 + tod(i % 7); } return x; }
int main() { x = creep(100); fprintf(stderr, "started %g\\n", x); x = creep(_hideValue_SxA_(0, 2000000000));
  printf("%g\\n", x); return 0; }
"""
WITH_LOOP = """use StdIO: all; use TermFile: all; use Array: all;
double much(int n) { return with { ([0, 0] <= [i, j] < [n, n]) : tod(i) / (tod(j) + 1.5); } : fold(+, 0.0); }
int main() { x = much(10); fprintf(stderr, "started %g\\n", x); x = much(_hideValue_SxA_(0, 2000000000));
  printf("%g\\n", x); return 0; }
"""


@pytest.mark.parametrize("text", [ENDLESS, STRAIGHT, WITH_LOOP], ids=["loop", "innermost loop", "with-loop"])
def test_ctrl_c_ends_a_program_that_runs_natively(text: str, tmp_path: Path) -> None:
    path = tmp_path / "program.sac"
    path.write_text(text)
    process = subprocess.Popen(
        [sys.executable, "-m", "sacpy", "run", "--target", "cpu", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith("started")
    time.sleep(0.5)  # it is in the second call by now
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert time.monotonic() - start < 10  # a row of 2 000 000 000 points is not left before its end
    assert out == ""
    assert "E0702" in err and "Traceback" not in err
    assert process.returncode in (1, 130)


@pytest.mark.parametrize(
    ("text", "name"),
    [(ENDLESS, "spin"), (STRAIGHT, "creep"), (WITH_LOOP, "much")],
    ids=["loop", "innermost loop", "with-loop"],
)
def test_the_time_limit_ends_native_code_and_the_session_goes_on(text: str, name: str) -> None:
    session = sacpy.Session(target="cpu", limits=sacpy.Limits(seconds=1.0))
    module = session.compile(text)
    start = time.monotonic()
    with pytest.raises(sacpy.SacError) as caught:
        module.main()
    assert caught.value.diagnostics[0].code == "E0704"
    assert time.monotonic() - start < 10
    assert module[name](1000) == module[name](1000)


ROWS = """use Array: all; use Math: all;
double row(int n) { return with { ([0] <= [i] < [n]) : sin(tod(i)); } : fold(+, 0.0); }
double several(int n) { return with { ([0, 0] <= [i, j] < [3, n]) : sin(tod(i + j)); } : fold(+, 0.0); }
double[.] cells(int n) { return { [k] -> with { ([0] <= [i] < [n]) : sin(tod(i + k)); } : fold(+, 0.0) | [k] < [3] }; }
double strides(int n) { return with { ([0] <= [i] < [n] step [5] width [3]) : sin(tod(i)); } : fold(+, 0.0); }
double threaded(int n) {
  s = 0.5;
  s = with { ([0] <= [i] < [n]) : sin(s + tod(i)); } : propagate(s);
  return s;
}
double checked(double[.] a, int n) { return with { ([0] <= [i] < [n]) : sin(a[i / 1000000]); } : fold(+, 0.0); }
"""


@pytest.mark.sample(2)
@pytest.mark.parametrize(("target", "strict"), [("cpu", True), ("emulator", False)])
@pytest.mark.parametrize("name", ["row", "several", "cells", "strides", "threaded", "checked"])
def test_a_row_of_two_thousand_million_points_is_left_before_its_end(name: str, target: str, strict: bool) -> None:
    """It takes a minute or two."""
    session = sacpy.Session(target=target, strict_fp=strict, threads=1, limits=sacpy.Limits(seconds=0.7))
    f = session.compile(ROWS)[name]
    before = [np.linspace(0.0, 1.0, 2000)] if name == "checked" else []
    f(*before, 1000)
    start = time.monotonic()
    with pytest.raises(sacpy.SacError) as caught:
        f(*before, 2_000_000_000)
    assert caught.value.diagnostics[0].code == "E0704"
    assert time.monotonic() - start < 20
    assert session.stats().units >= 1


@pytest.mark.parametrize("strict", [True, False])
def test_rows_longer_than_a_stretch_are_whole(strict: bool) -> None:
    """Of lengths around those at which the stop flag is looked at."""
    from sacpy.jit.schedule.nests import STRETCH

    text = """use Array: all;
    int row(int a, int n) { return with { ([a] <= [i] < [n]) : i % 7; } : fold(+, 0); }
    int[.] cells(int a, int n) { return { [k] -> with { ([a] <= [i] < [n]) : i % 7 + k; } : fold(+, 0) | [k] < [2] }; }
    int strides(int a, int n) { return with { ([a] <= [i] < [n] step [5] width [3]) : i % 7; } : fold(+, 0); }
    int single(int a, int n) { return with { ([a] <= [i] < [n] step [3]) : i % 7; } : fold(+, 0); }
    int last(int a, int n) { return with { ([a] <= [i] < [n]) : i; } : fold(later, -1); }
    int later(int a, int b) { return b; }
    """
    module = sacpy.Session(target="cpu", strict_fp=strict, threads=1).compile(text)
    for a, n in (
        (0, 0),
        (5, 3),
        (0, 1),
        (3, STRETCH + 2),
        (3, STRETCH + 3),
        (3, STRETCH + 4),
        (1, 3 * STRETCH + 1),
        (7, 16 * STRETCH),
    ):
        i = np.arange(a, max(a, n))
        assert module.row(a, n) == (i % 7).sum()
        assert module.cells(a, n).tolist() == [(i % 7).sum(), (i % 7 + 1).sum()]
        assert module.strides(a, n) == (i % 7)[(i - a) % 5 < 3].sum()
        assert module.single(a, n) == (i % 7)[(i - a) % 3 == 0].sum()
        assert module.last(a, n) == (n - 1 if n > a else -1)


def test_an_array_that_is_too_large_is_refused() -> None:
    session = sacpy.Session(target="cpu", limits=sacpy.Limits(memory=100_000_000))
    module = session.compile(
        "use Array: all; double f(int n) { a = { [i] -> tod(i) | [i] < [n] }; for (k = 0; k < 3; k++) { a = "
        "modarray(a, [k], 1.0); } return sum(a); } int main() { return 0; }"
    )
    assert module.f(1000) == sum(range(1000)) - 3 + 3
    with pytest.raises(sacpy.SacError) as caught:
        module.f(50_000_000)
    assert caught.value.diagnostics[0].code == "E0703"
    assert module.f(1000) == sum(range(1000))


@pytest.mark.parametrize(
    "text",
    [
        "int f(int n) { return n < 0 ? 0 : 1 + f(n + 1); }",
        "int f(int n) { return 1 + g(n, 2); } int g(int n, int d) { return n < 0 ? d : f(n + d) + 1; }",
    ],
)
def test_a_recursion_without_end_is_the_same_error_as_interpreted_and_tried_once(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []
    call = native._on_large_stack
    monkeypatch.setattr(native, "_on_large_stack", lambda *args: (tries.append(args), call(*args))[1])
    monkeypatch.setattr(native, "LARGE_STACK", 16 << 20)
    errors = []
    for target in ("interp", "cpu"):
        with pytest.raises(sacpy.SacError) as caught:
            sacpy.Session(target=target, limits=sacpy.Limits(depth=2000)).compile(
                f"use Array: all; {text} int main() {{ return 0; }}"
            ).f(0)
        errors.append([(d.code, d.message, d.span.line) for d in caught.value.diagnostics])
    assert errors[0] == errors[1]
    assert len(tries) <= text.count("return"), "an inner call goes as deep again, but for one"


def test_a_recursion_that_the_interpreter_has_no_room_for_runs_natively() -> None:
    text = "use Array: all; int f(int n) { return n == 0 ? 0 : 1 + f(n - 1); } int main() { return 0; }"
    assert sacpy.Session(target="cpu").compile(text).f(300_000) == 300_000


def test_sessions_in_several_threads_run_natively_at_the_same_time() -> None:
    text = (
        "use Array: all; double f(double[.] v, int n) { for (k = 0; k < n; k++) { v = v * 0.5 + 1.0; } return "
        "sum(v); } int main() { return 0; }"
    )
    shared = sacpy.Session(target="cpu").compile(text)
    wanted = sacpy.Session(target="interp").compile(text).f(np.ones(1000), 50)
    found: list[float] = []

    def work(own: bool) -> None:
        module = sacpy.Session(target="cpu").compile(text) if own else shared
        found.extend(module.f(np.ones(1000), 50) for _ in range(20))

    threads = [threading.Thread(target=work, args=(k % 2 == 0,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found) == 120
    assert np.allclose(found, wanted)


def test_embedding_leaves_signals_alone() -> None:
    before = signal.getsignal(signal.SIGINT), signal.set_wakeup_fd(-1)
    module = sacpy.Session(target="cpu").compile(ENDLESS)
    module.spin(1000)
    assert (signal.getsignal(signal.SIGINT), signal.set_wakeup_fd(-1)) == before


def test_many_processes_share_the_cache(tmp_path: Path) -> None:
    path = tmp_path / "program.sac"
    path.write_text(
        "use StdIO: all; use Array: all; int f(int n) { s = 0; for (i = 0; i < n; i++) { s += i % 3; } return s; } "
        'int main() { printf("%d\\n", f(100000)); return 0; }'
    )
    environment = {**os.environ, "SACPY_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "sacpy", "run", "--target", "cpu", "--stats", str(path)]
    together = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment)
        for _ in range(3)
    ]
    for process in together:
        out, err = process.communicate(timeout=100)
        assert out == "99999\n", err
    again = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    assert "(cache)" in again.stderr
    for file in (tmp_path / "cache" / "native").iterdir():
        file.write_bytes(file.read_bytes()[:-7])
    damaged = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    assert (damaged.returncode, damaged.stdout) == (0, "99999\n")
    assert "(cache)" not in damaged.stderr


@pytest.mark.parametrize("rounds", [0, 1, 65535, 65536, 65537, 131072, 200001])
def test_loops_that_look_at_the_stop_flag_now_and_then_run_each_round_once(rounds: int) -> None:
    text = """use Array: all;
int up(int n) { c = 0; for (i = 0; i < n; i++) { c = c * 3 + i; } return c; }
int down(int n) { c = 0; for (i = n; i > 0; i--) { c = c * 3 + i; } return c; }
int by(int n, int from) { c = 0; for (i = from; i < n; i += 7) { c = c * 3 + i; } return c; }
"""
    native, interpreted = (sacpy.Session(target=target) for target in ("cpu", "interp"))
    for call in (
        f"up({rounds})",
        f"down({rounds})",
        f"by({7 * rounds}, 0)",
        f"by({7 * rounds + 3}, 5)",
        f"up({-rounds})",
    ):
        values = []
        for session in (native, interpreted):
            session.define(text)
            values.append(session.eval(call))
        assert values[0] == values[1], call


def test_what_is_set_apart_is_never_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even by who looks while it is being set apart, in another thread."""
    size = [1000]
    monkeypatch.setattr(memory, "occupied", lambda: size[0])
    with memory.budget(100) as run:
        assert run is not None
        with memory.apart():
            size[0] += 5000
            assert run.apart == 1  # nobody looks now
        assert (run.apart, run.used) == (0, 0)
        size[0] += 60
        assert (run.used, run.left) == (60, 40)


def test_what_a_program_takes_while_another_thread_compiles_is_its_own_beyond_a_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    size = [1000]
    monkeypatch.setattr(memory, "occupied", lambda: size[0])
    compiling, enough = threading.Event(), threading.Event()

    def compile_something() -> None:
        with memory.apart():
            compiling.set()
            assert enough.wait(20)

    with memory.budget(10 * memory.FOREIGN) as run:
        assert run is not None
        for used in (2, 4, 6):  # again and again does not help
            compiling.clear()
            enough.clear()
            thread = threading.Thread(target=compile_something)
            thread.start()
            assert compiling.wait(20)
            size[0] += 2 * memory.FOREIGN
            assert run.used == (used - 1) * memory.FOREIGN
            enough.set()
            thread.join(20)
            assert run.used == (used - 1) * memory.FOREIGN


def test_the_compilers_own_memory_is_not_the_programs() -> None:
    text = (
        "use Array: all; double f(int n) { a = { [i,j] -> 1.0 / tod(1 + i + j) | [i,j] < [n,n] }; return sum(a) + "
        "maxval(a); }"
    )
    code = (
        "import sacpy; s = sacpy.Session(target='cpu', limits=sacpy.Limits(memory=8_000_000)); m = "
        f"s.compile({text!r}); print(m.f(300) > 0, [r.where for r in s.stats().rows])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "SACPY_CACHE_DIR": ""},
        check=False,
    )
    assert done.stdout == "True ['native']\n", done.stderr


def test_memory_that_is_kept_for_later_gives_way_to_what_is_needed() -> None:
    """Arrays of ever new sizes, which no kept block fits."""
    text = """use Array: all;
double f(int n)
{
  s = 0.0;
  for (k = 1; k < 60; k++) {
    a = { [i] -> tod(i * k) | [i] < [n + k * n / 2] };
    a[5] = s;
    for (q = 0; q < 3; q++) { a = { [i] -> a[shape(a)[0] - 1 - i] + 1.0 | [i] < [shape(a)[0]] }; }
    s = s + a[3];
  }
  return s;
}"""
    code = (
        "import sacpy; s = sacpy.Session(target='cpu', limits=sacpy.Limits(memory=100_000_000)); m = "
        f"s.compile({text!r}); print(m.f(80000) > 0, [r.where for r in s.stats().rows])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stdout == "True ['native']\n", done.stderr


SEEKS = "x = 1; while (x != 0) { x = (x + 2 + i) % 10 * 2 + 1; }"  # for ever: x stays odd
WITHOUT_END = {
    "nothing in it": "int f(int i) { while (true) {} return i; }",
    "body first": "int f(int i) { do { i = i + 1; } while (i == i); return 1; }",
    "an array that grows": "int f(int i) { a = genarray([i], 1); while (shape(a)[0] > 0) { a = a ++ [1]; } return i; }",
    "nobody uses what it gives": f"int f(int i) {{ {SEEKS} return i; }}",
    "in a function": f"int g(int i) {{ {SEEKS} return x; }} int f(int i) {{ y = g(i); return i; }}",
    "in a branch": f"int f(int i) {{ if (i > 3) {{ {SEEKS} }} return i; }}",
    "in rounds": f"int f(int i) {{ for (k = 0; k < i; k++) {{ {SEEKS} }} return i; }}",
    "in cells": f"int f(int n) {{ a = with {{ ([0] <= [i] < [n]) {{ {SEEKS} }} : x; }} : genarray([n], 0); return n; "
    f"}}",
    "in terms": f"int f(int n) {{ a = with {{ ([0] <= [i] < [n]) {{ {SEEKS} }} : x; }} : fold(+, 0); return n; }}",
    "in a cell that nobody asks for": "int f(int n) { a = with { ([0] <= [i] < [n]) { x = i; while (x > 5) { x = (x + "
    "2) % 10 + 10; } } : x; } : genarray([n], 0); return a[0]; }",
    "in a fold's function": f"int add(int i, int b) {{ {SEEKS} return b; }} int f(int n) {{ a = with {{ ([0] <= [i] < "
    f"[n]) : i; }} : fold(add, 0); return n; }}",
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("target", ["interp", "auto", "cpu", "emulator"])
@pytest.mark.parametrize("text", WITHOUT_END.values(), ids=WITHOUT_END)
def test_a_loop_without_end_does_not_end(text: str, target: str) -> None:
    session = sacpy.Session(target=target)
    module = session.compile("use Array: all; " + text)
    session._workspace.limits = Limits(seconds=0.15)  # for the run alone: reading may take longer on a busy machine
    with pytest.raises(sacpy.SacError) as caught:
        module.f(100)
    assert caught.value.diagnostics[0].code == "E0704"


@pytest.mark.parametrize("text", WITHOUT_END.values(), ids=WITHOUT_END)
def test_a_loop_without_end_is_in_native_code_too(text: str) -> None:
    program, _ = Workspace().load_text("use Array: all; " + text + " int main() { return f(100); }")
    engine = Engine("cpu", eager=True, defects=True, cache=Cache(None))
    evaluator = Evaluator(program, World.captured(), engine=engine)
    key = program.key(program.main.own("f")[0], ())
    with pytest.raises(sacpy.SacError) as caught:
        Watchdog().guard(Limits(seconds=0.5), lambda: evaluator.call(key, (100,)), engine.stop)
    assert caught.value.diagnostics[0].code == "E0704"
    assert any(site.versions for site in engine.entered())


STARTING = """
import faulthandler, os, sys, threading, time
from sacpy.interp.errors import Stopped
from sacpy.interp.limits import Limits, Watchdog
from sacpy.jit.beside import Job
from sacpy.jit.host.waiting import Waiting
sys.setswitchinterval(1e-5)
faulthandler.dump_traceback_later(60, exit=True)

def start(way):
    if way == "thread":
        threading.Thread(target=int, daemon=True).start()
    elif way == "job":
        Job(lambda: 1).start().result()
    else:
        Waiting(lambda: 1).result()

def endless(way):
    while True:
        start(way)

struck = 0
while struck < 10:
    try:
        Watchdog().guard(Limits(seconds=0.003), lambda: endless(sys.argv[1]))
    except Stopped:
        struck += 1
print("struck", flush=True)
os._exit(0)
"""


@pytest.mark.parametrize("way", ["thread", "job", "waiting"])
def test_a_limit_may_strike_while_a_thread_is_being_started(way: str) -> None:
    """Python 3.11 gives what is ordered for a thread to one that it has just started, and waits for that."""
    done = subprocess.run([sys.executable, "-c", STARTING, way], capture_output=True, text=True, cwd=ROOT)
    assert (done.stdout, done.stderr) == ("struck\n", "")
