"""Looking at mappings: `sacpy explain`, `sacpy picture`, `--emit`, and the same of a session."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import sacpy
from sacpy import cli
from sacpy.interp import png

PROGRAM = """use StdIO: all;
use Array: all;

double[.,.] blur(double[.,.] a)
{
  b = with { ([0,0] <= iv < shape(a)) : a[iv] * 2.0; } : genarray(shape(a), 0.0);
  return with {
    #pragma gpukernel GridBlock(1, SplitLast(32, ShiftLB(Gen)))
    ([1,1] <= iv < shape(a) - 1) : b[iv - [1,0]] + b[iv + [1,0]];
  } : modarray(a);
}

int last(int[.] a)
{
  return with { ([0] <= iv < shape(a)) : a[iv]; } : foldfix(max, 0, 50);
}

int main()
{
  a = with { ([0,0] <= iv < [40,50] step [2,1]) : tod(iv[1]); } : genarray([40,50], 1.0);
  for (i = 0; i < 30; i++) {
    a = blur(a);
  }
  printf("%g %d", a[20,30], last(iota(60)));
  return 0;
}
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "blur.sac"
    path.write_text(PROGRAM)
    return str(path)


def said(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    assert cli.main(arguments) == status
    shown = capsys.readouterr()
    return shown.out if status == 0 else shown.err


def test_explain(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "explain", file)
    assert "on the emulated sm_90, laid out by auto:" in text
    assert "with-loop in blur, line 9: modarray of 1 partition" in text
    assert "30 runs on the device" in text
    assert "partition 1: [1, 1] <= iv < [39, 49], 1824 indices" in text
    assert "grid 1 x 38 x 2, block 1 x 1 x 32: 2432 threads, 608 of them idle (25%); 32-bit indices" in text
    assert "the pragma says so" in text
    assert re.search(r"with-loop in ArrayBasics::iota, line \d+: genarray of 1 partition\n    no longer there", text)
    assert "with-loop in last, line 15\n    stays on the CPU: foldfix" in text
    assert "back: " in text


LAID = """use Array: all;
double total(double[n] v) { return with { ([0] <= [i] < [n]) : v[i]; } : fold(+, 0.0); }
double[n,m] turned(double[m,n] a) { return { [j,i] -> a[i,j] | [j,i] < [n,m] }; }
"""


def test_the_threads_are_those_of_the_launch() -> None:
    """Where a thread has several indices, or several cells, that is said, and no mapping is drawn that is none."""
    session = sacpy.Session(target="emulator")
    module = session.define(LAID)
    module.total(np.ones(100_003))
    module.turned(np.ones((600, 500)))
    text = str(session.explain("total"))
    assert "100003 indices by 49 x 256 threads, up to 8 each" in text
    assert "the block that is done last puts together what all have" in text
    assert "grid 1 x 1 x 49, block 1 x 1 x 256: 12544 threads; 32-bit indices" in text
    drawn = session.picture("total").text(200)
    assert drawn.startswith("total, line 2, fold 1: [0] <= iv < [100003]: the indices in their own order; 100003 ind")
    assert "idle" not in drawn
    drawn = session.picture("turned").text(200)
    assert "grid (1, 16, 19), block (1, 4, 32): 38912 threads with 8 cells each, 11296 cells idle" in drawn


@pytest.mark.parametrize(
    ("loop", "reason"),
    [
        ("for (i = 1; i < n; i++) { v[i] = v[i] + v[i - 1] * v[i - 1] % 7; }", "reads elements of `v` that an earlier"),
        ("for (i = 0; i < n; i++) { v[i * 7 % n] = v[i * 7 % n] * 3 + i; }", "sets elements of `v` wherever the data"),
        ("c = 1; for (i = 0; i < n; i++) { v[i] = c; c = c * c % 11 + i; }", "needs `c` as the one before leaves it"),
        (
            "c = n; while (c > 1) { c = c % 2 == 0 ? c / 2 : 3 * c + 1; v[c % n] = 1; }",
            "known when the last one is done",
        ),
        ("c = 0; for (i = 0; i < n; i++) { c = c + v[i]; v[i] = c; }", ""),
    ],
)
def test_explain_says_why_loops_stay(loop: str, reason: str) -> None:
    session = sacpy.Session(target="emulator")
    module = session.define(
        f"use Array: all; int[*] f(int n) {{ v = {{ [i] -> i % 5 | [i] < [n] }}; {loop} return v + 1; }}"
    )
    interpreted = sacpy.Session(target="interp").define(
        f"use Array: all; int[*] f(int n) {{ v = {{ [i] -> i % 5 | [i] < [n] }}; {loop} return v + 1; }}"
    )
    assert (module.f(30000) == interpreted.f(30000)).all()
    found = re.findall(r"\n  loop in f, line 1\n    stays on the CPU: (.*)", str(session.explain("f")))
    assert [reason in line for line in found] == [True] * bool(reason)


HANDING_ON = """use Array: all;
int last(int w, int sofar, int value) { return value % w == 0 ? sofar : value; }
int gcd(int a, int b) { while (b != 0) { t = a % b; a = b; b = t; } return a; }
double mix(double a, double b) { return a * 0.5 + b; }
"""
ALL = "([0] <= [i] < [n])"


@pytest.mark.parametrize(
    ("body", "strict", "cpu", "device"),
    [
        (f"with {{ {ALL} : v[i]; }} : scan(last(n), 0)", False, "takes something from around", "takes something from"),
        (f"with {{ {ALL} : v[i]; }} : scan(gcd, 0)", False, "have loops or calls in them", "have loops or calls"),
        pytest.param(
            "with { ([0] <= [i] < [n] step [2]) : v[i]; } : scan(+, 0)",
            False,
            "",
            "one without a step need not",
            marks=pytest.mark.long,
        ),
        ("with { ([0,0] <= [i,j] < [n,2]) : v[i]; } : scan(+, 0)", False, "", "reshape what is scanned"),
        pytest.param(
            f"with {{ {ALL} : [v[i], 1]; }} : scan(+, [0, 0])", False, "", "which are arrays", marks=pytest.mark.long
        ),
        (
            f"with {{ {ALL} : tod(v[i]); }} : scan(+, 0.0)",
            True,
            "(one of reals, and their order",
            "a scan, but one of r",
        ),
        pytest.param(f"with {{ {ALL} : tod(v[i]); }} : scan(+, 0.0)", False, "", "", marks=pytest.mark.long),
        (f"with {{ {ALL} : (v[i], tod(i)); }} : into(tod(v), mix)", False, "", "a function that is none of `+`"),
        (f"with {{ {ALL} : (v[i], tod(i)); }} : into(tod(v), +)", True, "", "--strict-fp"),
        pytest.param(f"with {{ {ALL} : (v[i], tod(i)); }} : into(tod(v), +)", False, "", "", marks=pytest.mark.long),
    ],
)
def test_explain_says_why_scans_and_reductions_by_index_go_in_order(
    body: str, strict: bool, cpu: str, device: str
) -> None:
    for target, reason, pattern in (
        ("cpu", cpu, r"one after the other, though it is a scan (\(.*)"),
        ("emulator", device, r"\n  (?:with-)?loop in f, line 5[^\n]*\n    stays on the CPU: (?!too small)(.*)"),
    ):
        session = sacpy.Session(target=target, strict_fp=strict)
        base, first = ("double", "tod(v)[0]") if "tod" in body else ("int", "v[0]")
        module = session.define(
            f"{HANDING_ON}{base}[*] f(int n) {{ v = {{ [i] -> i % 5 | [i] < [n] }}; return {body} + {first}; }}"
        )
        module.f(30000)
        found = re.findall(pattern, str(session.explain("f")))
        assert [reason in line for line in found] == [True] * bool(reason), (target, found)


def test_explain_of_one_function_on_another_device_by_another_strategy(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = said(capsys, "explain", "--device", "sm_75", "--strategy", "jing", "--function", "20", file)
    assert "on the emulated sm_75, laid out by jing:" in text
    assert "Permute([2, 0, 3, 1]" in text and "rank 2: blocks of 32 x 32, the inner axis in x" in text
    assert "in blur" not in text


def test_a_session_explains(tmp_path: Path) -> None:
    session = sacpy.Session(target="emulator", strategy="foldall")
    module = session.define(
        "int[*] f(int n) { return with { ([0,0] <= iv < [n,n]) : iv[0] * iv[1]; } : genarray([n,n], 0); }"
    )
    assert module.f(700)[3, 5] == 15
    text = session.explain("f")
    assert (
        "laid out by foldall" in text
        and "split into blocks of 1024, as sm_90 has 2048 threads on a multiprocessor" in text
    )
    picture = session.picture("f")
    assert "490000" in str(picture) or "700 x 700" in str(picture)
    picture.save(tmp_path / "f.png")
    assert png.decode((tmp_path / "f.png").read_bytes()).shape[2] == 3


def test_an_unknown_strategy_is_refused() -> None:
    with pytest.raises(
        ValueError, match="there is no strategy 'jin'; there is auto, jing, jing_ext, jing_printed, foldall"
    ):
        sacpy.Session(strategy="jin")


def test_picture_without_a_run(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "picture", file)
    assert "main, line 20: [0, 0] <= iv < [40, 50] step [2, 1] width [1, 1]" in text
    assert "blur, line 9: its bounds are known only when it runs: draw it with --run" in text
    assert "ArrayArith" not in text


def test_picture_behind_a_run(file: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = said(capsys, "picture", "--run", "--function", "blur", file)
    assert "blur, line 9, partition 1: [1, 1] <= iv < [39, 49]" in text and "main" not in text
    out = tmp_path / "blur.svg"
    assert said(capsys, "picture", "--run", "-o", str(out), "--step", "2", file) == ""
    assert "SplitLast(32), GridBlock(1)" in out.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--step", "7"), "error[E0783]: no mapping here has a step 7"),
        (("-o", "blur.gif"), "error[E0783]: blur.gif does not say what kind of picture it is to be"),
        (("-o", "nowhere/blur.svg"), "error[E0743]: cannot write nowhere/blur.svg: No such file or directory"),
        (("--function", "blurr"), "error[E0781]: there is no function blurr in this program"),
        (("--function", "2"), "error[E0781]: there is no with-loop on line 2 in this program"),
    ],
)
def test_what_cannot_be_drawn(
    arguments: tuple[str, ...],
    message: str,
    file: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in said(capsys, "picture", *arguments, file, status=1)


def test_kernels_as_text(file: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert cli.main(["run", "--emit", "kernel", "--function", "blur", file]) == 0
    text = capfdbinary.readouterr().out.decode()
    assert "// with-loop, line 9: partition 1, GridBlock(1, SplitLast(32, ShiftLB(Gen)))" in text
    assert "forall [thread] < [32]" in text
    assert cli.main(["run", "--emit", "nvvm", "--function", "blur", file]) == 0
    assert b'target triple = "nvptx64-nvidia-cuda"' in capfdbinary.readouterr().out
    assert cli.main(["run", "--emit", "ptx", "--device", "sm_80", "--function", "blur", file]) == 0
    assert b".target sm_80" in capfdbinary.readouterr().out


def test_checking_for_a_device(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(file)
    path.write_text(PROGRAM.replace("SplitLast(32,", "SplitLast(2048,"))
    assert said(capsys, "check", file) == ""
    assert "error[E0811]: axis x of the block has extent 2048, and sm_90 allows 1024" in said(
        capsys, "check", "--device", "sm_90", file, status=1
    )


def test_the_prompts_strategy_holds_for_runs_too() -> None:
    from sacpy.interp.world import World
    from sacpy.repl.commands import obey
    from sacpy.repl.engine import Engine
    from sacpy.workspace import Workspace

    engine = Engine(Workspace(strategy="jing"), World.captured())
    assert engine.settings["strategy"] == "jing"
    for typed, strategy in ((":strategy foldall", "foldall"), (":set strategy auto", "auto")):
        assert not obey(engine, typed)[1].diagnostics
        assert engine.workspace.strategy == strategy == engine.settings["strategy"]


def test_the_prompt_explains_what_another_prompt_compiled() -> None:
    from sacpy.interp.world import World
    from sacpy.repl.commands import obey
    from sacpy.repl.engine import Engine
    from sacpy.workspace import Workspace

    expression = "with { ([0,0] <= iv < [300,410]) : iv[0] - iv[1]; } : genarray([300,410], 0)"
    for before in ("", "1 + 1"):  # the expression gets another name
        world = World.captured()
        engine = Engine(Workspace(target="emulator"), world)
        if before:
            engine.enter(before)
        assert not obey(engine, f":explain {expression}")[1].diagnostics
        assert b"123000 indices" in world.out() or "123000 indices" in str(obey(engine, f":explain {expression}"))


def test_a_function_without_anything_to_draw_says_where_there_is_something(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "counts.sac"
    path.write_text(
        "use Array: all; use Histogram: all; use StdIO: all;\n"
        "int[.] counts(int[n] v) { return bincount(9, v); }\n"
        "int main() { print(counts(iota(9))); return 0; }\n"
    )
    for options in ((), ("--run", "--target", "emulator")):
        told = said(capsys, "picture", *options, "--function", "counts", str(path))
        assert told.endswith(
            "counts: no with-loop of its own is laid out; without --function those of what it calls are\n"
        )
