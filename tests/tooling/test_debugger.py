"""The debugger at the prompt: frames behind an error, steps, breakpoints, and where a value came from."""

from __future__ import annotations

from pathlib import Path

import pytest

from sacpy import cli
from sacpy.interp.evaluator import Evaluator
from sacpy.interp.world import World
from sacpy.repl.commands import obey
from sacpy.repl.engine import Engine
from sacpy.workspace import Workspace

TEXT = """int[n] g(int[n] v, int k) {
  y = v + k;
  c = 3;
  z = y[k];
  return { [i] -> y[i] * z + c | [i] < [n] };
}
int[*] f(int[*] v) {
  w = g(v, 2);
  w[0] = 100;
  return w;
}
int s(int[n] v) {
  t = 0;
  for (i = 0; i < n; i++) {
    t += v[i];
  }
  return t;
}"""


@pytest.fixture
def engine() -> Engine:
    made = Engine(Workspace(), World.captured())
    assert not made.enter(TEXT).failed
    return made


def said(engine: Engine, *inputs: str) -> list[str]:
    """What the last of some inputs shows, line by line; commands that are refused give their messages."""
    lines: list[str] = []
    for text in inputs:
        before = len(engine.world.out())
        shown, outcome = obey(engine, text) if text.startswith(":") else ("", engine.enter(text))
        printed = engine.world.out()[before:].decode()
        lines = [*printed.splitlines(), *shown.splitlines(), *(x for r in outcome.remarks for x in r.splitlines())]
        lines += [f"{d.code}: {d.message}" for d in outcome.diagnostics]
    return lines


def test_behind_an_error_each_frame_has_its_values(engine: Engine) -> None:
    assert said(engine, "f(iota(2))") == ["E0601: index [2] is out of range for the shape [2]"]
    assert said(engine, ":locals") == ["v  int[2] [0, 1]", "k  int 2", "n  int 2", "y  int[2] [2, 3]", "c  int 3"]
    assert said(engine, ":where") == ["> g at input 1:4", "  f at input 1:8", "  the input at input 2:1"]
    assert said(engine, ":up", ":locals") == ["v  int[2] [0, 1]"]
    assert said(engine, ":up")[0] == "the input at input 2:1"
    assert said(engine, ":up") == ["E0738: this is the outermost frame"]
    assert said(engine, ":down", ":down")[0] == "g at input 1:4"
    assert said(engine, ":down") == ["E0738: this is the innermost frame"]
    said(engine, "1 + 1")
    assert said(engine, ":locals") == ["E0736: no run stands still, and there has been no error"]


def test_what_prints_does_not_print_again(engine: Engine) -> None:
    said(engine, 'int h(int k) { printf("once\\n"); v = [1, 2]; return v[k]; }')
    assert said(engine, "h(7)")[0] == "once"
    assert said(engine, ":locals") == ["k  int 7", "v  int[2] [1, 2]"]


def test_a_run_that_depends_on_the_world_may_not_come_to_its_error_again(engine: Engine) -> None:
    said(engine, "use FileSystem: all;", "int h(int[*] v) { return v[strlen(getcwd())]; }")
    assert said(engine, "h([1])")[0].startswith("E0601")
    message = (
        "run again, the input comes to this error: this session has no access to files, so the program cannot look"
    )
    assert said(engine, ":locals") == [f"E0737: {message} at its directory"]


def test_steps_show_what_changes(engine: Engine) -> None:
    assert said(engine, ":step s([4, 5])")[0] == "the input at input:1"
    lines = said(engine, ":into")
    assert lines[:2] == ["s at input 1:13", "   13 |   t = 0;"]
    assert lines[2:] == ["    v  int[2] [4, 5]", "    n  int 2"]
    assert said(engine, ":next")[-1] == "    t  int 0"
    said(engine, ":next", ":next", ":next")
    assert said(engine, ":continue") == ["int 9"]
    assert said(engine, "ans") == ["int 9"]
    assert said(engine, ":next") == ["E0736: no run stands still"]


def test_next_steps_over_calls_and_out_leaves_them(engine: Engine) -> None:
    said(engine, ":step f(iota(3))", ":into")
    assert said(engine, ":next")[0] == "f at input 1:9"
    said(engine, ":continue")
    said(engine, ":step f(iota(3))", ":into", ":into")
    assert said(engine, ":where")[0] == "> g at input 1:2"
    assert said(engine, ":out")[0] == "f at input 1:9"
    assert said(engine, ":out")[:1] in (["int[3] [100, 15, 19]"], ["the input at input:1"])


def test_cells_of_with_loops_are_stepped_into(engine: Engine) -> None:
    said(engine, ":step g(iota(3), 1)", ":into", ":next", ":next", ":next")
    assert said(engine, ":where")[0] == "> g at input 1:5"
    assert "    i  int 0" in said(engine, ":into")
    assert "    i  int 1" in said(engine, ":next")
    assert said(engine, ":out") == ["int[3] [5, 7, 9]"]


def test_breakpoints(engine: Engine) -> None:
    assert said(engine, ":break g", ":break") == ["g"]
    lines = said(engine, "a = f(iota(4))")
    assert lines[0] == "breakpoint: g at input 1:2"
    assert said(engine, ":continue") == []
    assert said(engine, ":break g", "a") == ["int[4] [100, 15, 19, 23]"]
    assert said(engine, ":break input 1:15") == ["inputs stop at input 1:15"]
    assert said(engine, "s([7, 8])")[0] == "breakpoint: s at input 1:15"
    assert "    t  int 7" in said(engine, ":continue")
    assert said(engine, ":continue") == ["int 15"]
    assert said(engine, ":break input 1:15", ":break nowhere") == [
        "E0749: nowhere is no function that was defined here"
    ]


def test_an_error_in_a_run_that_stood_still(engine: Engine) -> None:
    said(engine, ":break g", "f(iota(2))")
    assert said(engine, ":continue") == ["E0601: index [2] is out of range for the shape [2]"]
    assert said(engine, ":where")[0] == "> g at input 1:4"


@pytest.mark.parametrize(
    ("inputs", "wanted", "first", "line"),
    [
        (["a = f(iota(4))"], "a[0]", "a[0] was set in f at input 1:9", "    9 |   w[0] = 100;"),
        (["a = f(iota(4))"], "a[2]", "a[2] was made by a cell of a with-loop, in g at input 1:5", None),
        (
            ["a = f(iota(4))", "b = a", "c = b + 1"],
            "c[1]",
            "c[1] was made by a statement, in the input at input 4:1",
            None,
        ),
        (["a = f(iota(4))", "b = a"], "b[3]", "a[3] was made by a cell of a with-loop, in g at input 1:5", None),
        (["n = s(iota(4))"], "n", "n was made by a statement, in s at input 1:15", "   15 |     t += v[i];"),
        (
            ["m = with { ([1] <= iv < [3]) : 7; } : genarray([4], 9)"],
            "m[3]",
            "m[3] is in no partition of a with-loop: it has the default there, in the input at input 2:1",
            None,
        ),
        (
            ["a = iota(4)", "m = with { ([1] <= iv < [3]) : 7; } : modarray(a)"],
            "m[3]",
            "a[3] was made by a statement, in the input at input 2:1",
            None,
        ),
        (["v = iota(3)", "v[1] = 9"], "v[1]", "v[1] was set in the input at input 3:1", None),
    ],
)
def test_where_a_value_came_from(engine: Engine, inputs: list[str], wanted: str, first: str, line: str | None) -> None:
    lines = said(engine, *inputs, f":why {wanted}")
    assert lines[0] == first
    if line is not None:
        assert lines[1] == line


def test_what_has_no_origin_to_tell(engine: Engine) -> None:
    said(engine, "a = iota(4)")
    assert said(engine, ":why a[9]") == ["E0739: a has the shape [4], and an element the index of one"]
    assert said(engine, ":why a + 1") == ["E0739: :why wants a named value, or an element of one"]


def test_expressions_where_a_run_stands(engine: Engine) -> None:
    said(engine, "f(iota(2))")
    assert said(engine, ":here y[1] * k") == ["int 6"]
    assert said(engine, ":here s(y + c) + n") == ["int 13"]
    assert said(engine, ":up", ":here v") == ["int[2] [0, 1]"]
    assert said(engine, ":here y") == ["E0305: y is not defined"]
    assert said(engine, ":down", ":here y[9]")[0].startswith("E0506: the index [9] is outside of int[2]")
    assert said(engine, ":here y") == ["int[2] [2, 3]"]


def test_inputs_leave_a_run_that_stands_still_alone(engine: Engine) -> None:
    said(engine, ":break g", "q = 5", "f(iota(q))", ":next")
    assert said(engine, "q = 7", "q + 1") == ["int 8"]
    assert said(engine, "f(iota(3))[0]") == ["int 100"]  # breakpoints wait until the run has gone on
    assert said(engine, ":here n") == ["int 5"]
    assert said(engine, ":continue") == ["int[5] [100, 15, 19, 23, 27]"]


def test_conditions_of_breakpoints(engine: Engine) -> None:
    assert said(engine, ":break g if n == 3", ":break") == ["g if n == 3"]
    assert said(engine, "f(iota(4))") == ["int[4] [100, 15, 19, 23]"]
    assert said(engine, "f(iota(3))")[0] == "breakpoint: g at input 1:2"
    said(engine, ":continue", ":break g", ":break input 1:15 if t > 0 && i == 3", "s(iota(5))")
    assert said(engine, ":locals") == ["v  int[5] [0, 1, 2, 3, 4]", "n  int 5", "t  int 3", "i  int 3"]
    said(engine, ":continue", ":break input 1:15 if v")
    assert said(engine, "s(iota(2))")[0] == "breakpoint: the condition v: v is no condition: it is not one bool"
    said(engine, ":continue", ":continue", ":continue", ":break input 1:15")
    assert said(engine, ":break") == ["no breakpoints"]


def test_where_a_variable_of_a_frame_came_from(engine: Engine) -> None:
    said(engine, "a = iota(2) + 1", "f(a)")
    assert said(engine, ":locals", ":why y[1]")[:2] == [
        "y[1] was made by a statement, in g at input 1:2", "    2 |   y = v + k;"
    ]  # fmt: skip
    assert said(engine, ":why v[0]")[0] == "a[0] was made by a statement, in the input at input 2:1"
    said(engine, ":break input 1:10", "f(iota(4))")
    assert said(engine, ":why w[0]")[0] == "w[0] was set in f at input 1:9"
    assert said(engine, ":why w[3]")[0] == "w[3] was made by a cell of a with-loop, in g at input 1:5"
    assert said(engine, ":why w[4]") == ["E0739: w has the shape [4], and an element the index of one"]
    assert said(engine, ":why a[1]")[0] == "a[1] was made by a statement, in the input at input 2:1"
    said(engine, ":continue", ":break input 1:15 if i == 3", "s(a * 2 + iota(2))", "s(iota(5))")
    assert said(engine, ":why t")[:2] == ["t was made by a statement, in s at input 1:15", "   15 |     t += v[i];"]


def test_nothing_of_it_is_in_code_that_nobody_traces() -> None:
    program, _ = Workspace().load_text(f"use Array: all; {TEXT} int main() {{ return 0; }}")
    text = Evaluator(program).source("_MAIN::g/0")
    assert "_at(" not in text and "_site" not in text and "_enter" not in text


def test_a_run_on_a_terminal_says_how_to_look_behind_its_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.sac"
    path.write_text("use Array: all; int f(int[.] v, int i) { return v[i]; } int main() { return f([1, 2], 7); }")
    assert cli.main(["run", str(path)]) == 1
    hint = f"sacpy -i {path}, then main() and :locals\n"
    assert hint not in capfd.readouterr().err
    monkeypatch.setattr("sacpy.base.terminal.is_terminal", lambda stream: True)
    assert cli.main(["run", str(path)]) == 1
    assert capfd.readouterr().err.endswith(hint)
