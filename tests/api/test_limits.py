"""A program that means harm ends in a diagnostic, within its limits, and the next call works."""

import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sacpy
from sacpy.commands.options import parse
from sacpy.interp import evaluator, faults, limits
from sacpy.interp.errors import MemoryUp
from sacpy.interp.limits import Watchdog
from sacpy.nodes import replace
from sacpy.workspace import Workspace
from tests.tools import run_text

SOURCE = """
use Structures: all; use StdIO: all; use Process: all; use Environment: all; use RuntimeError: all;
use Clock: all; use Dir: all; use FileSystem: all;
int[*] with_loop(int n) { return with { (. <= iv <= .) : 1; } : genarray([n,n,n]); }
int[*] filled(int n) { return genarray([n,n,n], 1); }
int[*] indices(int n) { return iota([n,n,n]); }
int[.] doubling(int n) { a = [n]; while (true) { a = a ++ a; } return a; }
int pieces(int n, int[.] a) { s = 0; if (n > 0) { s = pieces(n - 1, a + 1); } return s + a[abs(s) % 2]; }
int recursion(int n) { return 1 + recursion(n + 1); }
int loop(int n) { while (true) { n = n + 1; } return n; }
int fold_loop(int n) { return with { ([0,0,0] <= iv < [n,n,n]) : n % (iv[0] + iv[1] + iv[2] + 1); } : fold(+, 0); }
void sleeping(int n) { sleep(1000); }
void output(int n) { while (true) { printf("hello world\\n"); } }
void errors(int n) { while (true) { fprintf(stderr, "hello world\\n"); } }
void wide(int n) { printf("%2000000000d", n); }
void file(int n) { e, f = fopen("/etc/passwd", "r"); }
void removing(int n) { e = remove("/tmp/nothing-of-that-name"); }
int process(int n) { return system("true"); }
void environment(int n) { printf("%s", GetEnv("HOME")); }
void exiting(int n) { error(3, "bye"); }
int fine(int n) { return n + 1; }
"""
LIMITS = sacpy.Limits(memory=200 << 20, seconds=1.0, depth=5000, output=1 << 16)


@pytest.fixture(scope="module")
def session() -> sacpy.Session:
    session = sacpy.Session(limits=LIMITS)
    session["kept"] = [1, 2, 3]
    return session


@pytest.fixture(scope="module")
def module(session: sacpy.Session) -> sacpy.Module:
    return session.compile(SOURCE)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("with_loop", "E0703"), ("filled", "E0703"), ("indices", "E0703"), ("wide", "E0703"), ("recursion", "E0701"),
        ("loop", "E0704"), ("fold_loop", "E0704"), ("sleeping", "E0704"), ("output", "E0705"),
        ("errors", "E0705"), ("file", "E0750"), ("removing", "E0750"), ("process", "E0751"), ("environment", "E0752"),
        ("exiting", "E0706"),
    ],
)  # fmt: skip
def test_a_hostile_function(session: sacpy.Session, module: sacpy.Module, name: str, code: str) -> None:
    if code != "E0704":  # on a busy machine too, something else than the time is to end it
        session = sacpy.Session(limits=replace(LIMITS, seconds=60.0))
        session["kept"] = [1, 2, 3]
        module = session.compile(SOURCE)
    begin = time.perf_counter()
    with pytest.raises(sacpy.SacError) as caught:
        module[name](10_000)
    assert [d.code for d in caught.value.diagnostics] == [code]
    assert time.perf_counter() - begin < (5.0 if code == "E0704" else 30.0)
    assert module.fine(1) == 2
    assert session.eval("sum(kept)") == 6


@pytest.mark.parametrize(("name", "args"), [("pieces", (2000, np.zeros(1 << 20, np.int32))), ("doubling", (10_000,))])
def test_memory_taken_in_pieces(name: str, args: tuple[Any, ...]) -> None:
    # the memory is to end it, on a busy machine too
    module = sacpy.Session(limits=replace(LIMITS, seconds=60.0)).compile(SOURCE)
    with pytest.raises(sacpy.SacError) as caught:
        module[name](*args)
    assert caught.value.diagnostics[0].code == "E0703"
    assert module.fine(1) == 2


@pytest.mark.parametrize("name", ["with_loop", "filled", "indices"])
def test_no_limit_does_not_mean_more_than_the_machine_has(name: str) -> None:
    with pytest.raises(sacpy.SacError, match="this machine has"):
        sacpy.Session().compile(SOURCE)[name](10_000)


def test_output_counts_from_each_call(module: sacpy.Module, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(sacpy.SacError):
        module.output(1)
    printed = capsys.readouterr().out
    assert 0 < len(printed) <= 1 << 16
    assert printed.startswith("hello world\nhello world\n")


def test_the_time_limit_says_where(module: sacpy.Module) -> None:
    with pytest.raises(sacpy.SacError) as caught:
        module.loop(1)
    assert [f.function for f in caught.value.diagnostics[0].stack] == ["loop"]


@pytest.mark.parametrize("text", ["while (true) { } return n;", "return n < 0 ? 0 : 1 + loop(n + 1);"])
def test_what_a_run_that_ended_has_to_say_is_said_whatever_the_limits(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[float] = []

    def explained(*args: Any) -> sacpy.SacError:
        begun.append(time.monotonic())
        while time.monotonic() < begun[-1] + 0.5 and len(begun) < 5:  # a strike would end it
            pass
        return faults.to_sac_error(*args)

    monkeypatch.setattr(limits, "AGAIN", 0.0)
    monkeypatch.setattr(evaluator, "to_sac_error", explained)
    session = sacpy.Session(target="interp")
    module = session.compile(f"use ScalarArith: all; int loop(int n) {{ {text} }}")
    session._workspace.limits = sacpy.Limits(seconds=0.4)  # for the run alone
    with pytest.raises(sacpy.SacError) as caught:
        module.loop(1)
    assert caught.value.diagnostics[0].code in ("E0701", "E0704")
    assert caught.value.diagnostics[0].stack[0].function == "loop"
    assert len(begun) <= 2, "it is done again only where a strike had been ordered already"


def test_a_limit_that_strikes_outside_of_the_program_is_told_too() -> None:
    def struck() -> None:
        raise MemoryUp

    with pytest.raises(sacpy.SacError) as caught:
        Workspace().guard(Watchdog(), struck)
    assert caught.value.diagnostics[0].code == "E0703"


def test_time_up_never_strikes_afterwards() -> None:
    session = sacpy.Session()
    module = session.compile("int loop(int n) { while (true) { } return n; }")
    # for the run alone: reading may take longer on a busy machine
    session._workspace.limits = sacpy.Limits(seconds=0.15)
    for _ in range(3):
        try:
            module.loop(1)
        except sacpy.SacError as error:
            assert error.diagnostics[0].code == "E0704"
        assert sum(i for i in range(400_000)) == 79_999_800_000


def test_a_program_file_has_the_limits_too(tmp_path: Path) -> None:
    path = tmp_path / "p.sac"
    path.write_text("int main() { while (true) { } return 0; }")
    session = sacpy.Session(limits=LIMITS)
    with pytest.raises(sacpy.SacError) as caught:
        session.run(path)
    assert caught.value.diagnostics[0].code == "E0704"


def test_ctrl_c() -> None:
    session = sacpy.Session()
    module = session.compile(SOURCE)
    session["kept"] = 5
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a test run in the background ignores it
    try:
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            module.loop(1)
        timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert module.fine(1) == 2
    assert session.eval("kept") == 5


@pytest.mark.parametrize("target", ["interp", "cpu"])
@pytest.mark.parametrize("limits", [sacpy.Limits(), sacpy.Limits(seconds=30.0)], ids=["without limits", "with limits"])
def test_ctrl_c_that_strikes_where_python_loses_it_comes_again(
    target: str, limits: sacpy.Limits, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", printed.append)
    strikes = [1]

    class Thing:
        pass

    def gone(_: object) -> None:
        strikes[0] -= 1
        signal.raise_signal(signal.SIGINT)
        for _ in range(1000):
            pass

    def lose(x: int) -> int:
        if strikes[0] > 0:
            thing = Thing()
            held.append(weakref.ref(thing, gone))
            del thing
        return x

    held: list[object] = []
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        session = sacpy.Session(target=target, limits=limits)
        session.bind("lose", lose)
        module = session.compile(
            "use Array: all; external int lose(int x); int f(int n) { x = 0; while (x < n) { x = lose(x); } return x; }"
        )
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            module.f(1)
        assert time.monotonic() - start < 10.0
    finally:
        signal.signal(signal.SIGINT, before)
    assert (strikes, printed) == ([0], [])


@pytest.mark.parametrize("bad", [{"memory": 0}, {"seconds": -1.0}, {"depth": None}, {"output": "1"}, {"depth": True}])
def test_limits_that_are_none(bad: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        sacpy.Limits(**bad)  # type: ignore[arg-type]


def test_what_is_granted_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "text"
    path.write_text("from a file")
    world = sacpy.World(files=True, processes=True, environment={"HOME": "nowhere"}, stdin="12 13")
    session = sacpy.Session(world=world)
    session.define("use Process: all; use Environment: all;")
    session.define('string first(string name) { e, f = fopen(name, "r"); e2, s = fgets(100, f); fclose(f); return s; }')
    assert session.eval("first(name)", name=str(path)) == "from a file"
    assert session.eval('system("exit 3")') == 3 * 256
    assert session.eval('GetEnv("HOME")') == "nowhere"
    assert session.eval("scanint()") == (True, 12)
    assert session.eval("scanint()") == (True, 13)
    assert capsys.readouterr().out == ""


def test_where_output_goes(tmp_path: Path) -> None:
    import io

    text, binary = io.StringIO(), io.BytesIO()
    session = sacpy.Session(world=sacpy.World(stdout=text, stderr=binary))
    session.eval('printf("grün\\n")')
    session.eval('fprintf(stderr, "grün\\n")')
    assert text.getvalue() == "grün\n"
    assert binary.getvalue() == "grün\n".encode()


def test_reading_a_source_has_the_limits_too() -> None:
    bomb = (
        "#define A0 1 + 1\n"
        + "".join(f"#define A{i} A{i - 1} + A{i - 1}\n" for i in range(1, 24))
        + "int f() { return A23; }"
    )
    begin = time.perf_counter()
    with pytest.raises(sacpy.SacError):
        sacpy.Session(limits=LIMITS).compile(bomb)
    assert time.perf_counter() - begin < 5.0


@pytest.mark.parametrize("name", ["/etc/passwd", "../../../../../../etc/passwd", "secret.h"])
def test_a_source_includes_no_file_that_it_may_not(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secret.h").write_text("a secret")
    (tmp_path / "Secret.sac").write_text("a secret")
    monkeypatch.chdir(tmp_path)
    session = sacpy.Session()
    for text in (f'#include "{name}"\nint f() {{ return 1; }}', "use Secret: all; int f() { return 1; }"):
        with pytest.raises(sacpy.SacError) as caught:
            session.compile(text)
        assert caught.value.diagnostics[0].code in ("E0750", "E0113", "E0301")
        assert "a secret" not in str(caught.value)


def test_a_bound_function_may_end_python() -> None:
    session = sacpy.Session()
    module = session.compile("external int stop(int x); int f() { return stop(1); }")
    session.bind("stop", lambda x: exec("raise SystemExit(3)"))
    with pytest.raises(SystemExit):
        module.f()
    session.bind("stop", lambda x: x)
    assert module.f() == 1


@pytest.mark.parametrize(
    ("flag", "value", "code"),
    [("--seconds", "0.3", "E0704"), ("--memory", "100M", "E0703"), ("--depth", "2000", "E0701")],
)
def test_the_command_line_has_the_limits_too(flag: str, value: str, code: str) -> None:
    text = (
        "use Array: all; int deep(int n) { return 1 + deep(n + 1); } int main() { "
        + {
            "E0704": "while (true) { } return 0;",
            "E0703": "a = [1]; while (true) { a = a ++ a; } return a[0];",
            "E0701": "return deep(0);",
        }[code]
        + " }"
    )
    result = run_text(text, flags=[flag, value])
    assert [d.code for d in result.diagnostics] == [code]


def test_sizes_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert [parse(["run", "--memory", size, "p.sac"]).memory for size in ("1000", "64K", "1.5G")] == [
        1000,
        65536,
        3 << 29,
    ]
    for bad in ("0", "many", "-1M", ""):
        with pytest.raises(SystemExit):
            parse(["run", "--memory", bad, "p.sac"])


TRACED = """
import faulthandler, sys, sacpy

faulthandler.dump_traceback_later(60, exit=True)
session = sacpy.Session()
module = session.compile("use Array: all; int f(int n) { while (true) { n = n + 1; } return n; }")
session._workspace.limits = sacpy.Limits(seconds=0.05)
try:
    module.f(1)
except sacpy.SacError as error:
    print(error.diagnostics[0].code)
sys.settrace(lambda *event: None)
(lambda: None)()
"""


def test_a_debugger_works_after_a_limit_has_struck() -> None:
    """Python under a tracer comes to nothing where an exception was ordered for a thread, and never raised."""
    done = subprocess.run([sys.executable, "-c", TRACED], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "E0704\n", "")
