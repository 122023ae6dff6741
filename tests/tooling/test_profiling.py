"""`sacpy profile`: where the time went."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sacpy import cli
from sacpy.interp.evaluator import Evaluator
from sacpy.interp.world import World
from sacpy.profiling.profiler import Profile, Profiler
from sacpy.profiling.reports import page
from sacpy.workspace import Workspace
from tests.tools import ROOT

HOT = {
    # what a sampler of the untraced interpreter finds too
    "convnet": "return { iv -> sum(tile(wshp, iv, picture) * window)",
    "heat": "(. < [i,j] < .) : (t[i-1,j] + t[i+1,j]",
}
SLOWER = {
    "sparse": "([rows[i]] <= [e] < [rows[i+1]]) : values[e] * x[columns[e]]",
    "conjugate_gradient": "around = shift([1,0], u) + shift([-1,0], u)",
    "matmul": "return { [i,j] -> sum(a[i,.] * b[.,j]) | [i,j] < [m,n] };",
    "mandelbrot": "return { iv -> escape(from + (tod(iv) + 0.5) * pixel)",
    "nbody": "([0] <= [j] < [n]) : i == j ? [0.0, 0.0] : pull(bodies[i]",
    "sudoku": "return { [d] -> !any(board[i] == d + 1) && !any(board[.,j] ==",
    "reaction_diffusion": "return rotate([1,0], a) + rotate([-1,0], a)",
    "shallow_water": "(. < [i,j] < .) : (q[i-1,j] + q[i+1,j] + q[i,j-1] + q[i,j+1]",
}

TEXT = """use StdIO: all; use Array: all;
int slow(int n)
{
  s = 0;
  for (i = 0; i < n; i++) {
    s += i * i % 7;
  }
  return s;
}
int[.] table(int n)
{
  v = { [i] -> i * i | [i] < [n] };
  v[0] = 7;
  return v;
}
int main()
{
  a = slow(3000);
  b = table(50);
  printf("%d\\n", a + sum(b));
  return 3;
}
"""


def profiled(path: Path) -> Profile:
    program, _ = Workspace().load(path)
    stdin = path.with_suffix(".stdin")
    profiler = Profiler()
    world = World.captured(stdin.read_bytes() if stdin.exists() else b"", (b"p",))
    profiler.evaluator = Evaluator(program, world, tracer=profiler)
    profiler.evaluator.call(program.main_key(), ())
    return profiler.profile()


@pytest.mark.parametrize("name", [*HOT, *(pytest.param(name, marks=pytest.mark.long) for name in SLOWER)])
def test_the_hot_line_of_a_program_is_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # where a machine has other things to do, they fall on some line: so one of three times is enough
    named = (profiled(ROOT / "programs" / f"{name}.sac").lines[0].text for _ in range(3))
    assert any(text.startswith((HOT | SLOWER)[name]) for text in named)


def test_counts_and_arrays_are_exact(tmp_path: Path) -> None:
    path = tmp_path / "p.sac"
    path.write_text(TEXT)
    profile = profiled(path)
    spent = {line.number: line.spent for line in profile.lines}
    assert profile.lines[0].number == 6
    assert spent[6].count == 3000
    assert (spent[12].count, spent[12].arrays, spent[12].bytes) == (51, 1, 200)  # the statement, and 50 cells
    assert spent[13].arrays == 0  # in place
    functions = {part.name: part.spent for part in profile.functions}
    assert {name: s.count for name, s in functions.items()} == {"main": 1, "slow": 1, "table": 1}
    assert functions["slow"].seconds > functions["table"].seconds
    (loop,) = profile.loops
    assert (loop.name, loop.place, loop.spent.count) == ("table", "p.sac:12:9", 50)
    inside = sum(line.spent.seconds for line in profile.lines)
    assert 0 < inside <= profile.seconds and 0 < profile.preparing < profile.seconds


class Checked(HTMLParser):
    """Collects what a page says, and sees to it that elements are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.said = ""

    def handle_data(self, data: str) -> None:
        self.said += data


def test_the_command_prints_tables_and_writes_a_page(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p<q.sac"
    path.write_text(TEXT)
    words = ["profile", "--target", "interp", "--html", str(tmp_path / "p.html"), "--rows", "2", str(path), "word"]
    assert cli.main(words) == 3
    out, err = capfd.readouterr()
    assert out == "46431\n"
    assert re.search(r"p<q.sac:6 +0\.\d{4} s +[\d.]+ % +3000 +interpreted  s \+= i \* i % 7;", err)
    assert "functions, without those that they call\n" in err and "cells of with-loops\n" in err
    checked = Checked()
    checked.feed((tmp_path / "p.html").read_text())
    assert "p<q.sac" in checked.said and "s += i * i % 7;" in checked.said
    assert page(profiled(path), "t").count('<tr class="line"') == TEXT.count("\n") + 1


def test_compiled_code_counts_as_native_where_it_is_called(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.sac"
    path.write_text(TEXT.replace("slow(3000)", "slow(30000000)").replace("i * i % 7", "(s * 3 + i) % 7"))
    assert cli.main(["profile", "--target", "cpu", str(path)]) == 3
    (line,) = [x for x in capfd.readouterr().err.splitlines() if "a = slow(30000000);" in x]
    assert "native" in line


def test_errors_are_told_with_what_was_measured(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.sac"
    path.write_text("use Array: all; use CommandLine: all;\nint main() { v = iota(argc());\n return v[5]; }")
    assert cli.main(["profile", "--target", "interp", str(path)]) == 1
    err = capfd.readouterr().err
    assert "error[E0601]" in err and "p.sac:2" in err
