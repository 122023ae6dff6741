"""`--emit`, `--explain` and `--stats`: what they show of programs, on the command line and in sessions."""

from pathlib import Path

import numpy as np
import pytest

import sacpy
from sacpy.cli import main

PROGRAM = """use StdIO: all;
use Array: all;

double total(double[.] a, double[.] b)
{
  return sum(a * b + 1.0);
}

int main()
{
  a = tod(iota(100000));
  printf("%g\\n", total(a, a));
  x = sum(a - 1.0);
  printf("%g\\n", x);
  return 0;
}
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.sac"
    path.write_text(PROGRAM)
    return path


@pytest.mark.parametrize(
    ("stage", "shown"),
    [("core", "ArrayArith::*"), ("graph", "function total"), ("llvm", "define"), ("asm", "sacpy_entry:")],
)
def test_a_function_is_shown_by_name(program: Path, stage: str, shown: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--emit", stage, "--function", "total", str(program)]) == 0
    out = capfd.readouterr().out
    assert "total(double[.], double[.])" in out.splitlines()[0]
    assert shown in out and "main" not in out


def test_a_line_brings_the_region_around_it(program: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--emit", "graph", "--function", "13", str(program)]) == 0
    out = capfd.readouterr().out
    assert out.startswith("// main(") and "with" in out


def test_what_cannot_be_compiled_whole_says_why_and_brings_its_regions(
    program: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--emit", "graph", str(program)]) == 0
    out = capfd.readouterr().out
    assert "// stays interpreted: " in out
    assert ", line" in out


def test_a_function_that_is_not_there_is_an_error(program: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--emit", "graph", "--function", "totl", str(program)]) == 1
    assert "E0781" in capfd.readouterr().err


def test_stats_and_explain_stand_behind_the_output(program: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--target", "cpu", "--stats", "--explain", str(program)]) == 0
    captured = capfd.readouterr()
    assert captured.out == "3.33328e+14\n4.99985e+09\n"
    assert "native" in captured.err and "with-loops" in captured.err
    assert "interpreted" in captured.err  # main, since it prints


def test_sums_of_products_are_one_loop_without_a_temporary() -> None:
    session = sacpy.Session(target="cpu")
    module = session.compile(PROGRAM)
    assert module.total(np.ones(100_000), np.ones(100_000)) == 200_000.0
    (row,) = [r for r in session.stats().rows if r.function == "total"]
    assert row.where == "native" and row.calls == 1 and row.report is not None
    assert (row.report.after.with_loops, row.report.after.arrays) == (1, 0)
    assert session.explain("total").startswith("total(double[.], double[.])\n  native")
    assert session.explain("nothing") == "no function nothing has been called that could be compiled\n"


def test_a_session_emits_for_the_arguments_that_it_has_seen() -> None:
    session = sacpy.Session(target="cpu")
    module = session.define("double[*] twice(double[*] a) { for (i = 0; i < 2; i++) { a = a + a; } return a; }")
    assert "twice(double[.])" in session.emit("graph", "twice")
    module.twice(np.ones((100, 200)))
    assert "twice(double[.,.])" in session.emit("graph", "twice")
    with pytest.raises(ValueError, match="there is no stage"):
        session.emit("graf")


def test_a_session_that_only_interprets_has_nothing_to_tell() -> None:
    session = sacpy.Session(target="interp")
    assert session.eval("sum(iota(100))") == 4950
    assert session.stats().rows == ()
    assert "nothing" in session.explain()


@pytest.mark.parametrize("threads", [0, -1, 1.5, True])
def test_threads_must_be_a_number_of_them(threads: object) -> None:
    with pytest.raises(ValueError, match="threads must be"):
        sacpy.Session(threads=threads)  # type: ignore[arg-type]


def test_the_cache_can_be_looked_at_and_cleared(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SACPY_CACHE_DIR", str(tmp_path / "cache"))
    assert main(["run", "--target", "cpu", str(program)]) == 0
    assert main(["cache", "info"]) == 0
    assert " files of programs and compiled functions, " in capfd.readouterr().out
    assert main(["cache", "clear"]) == 0
    assert main(["cache", "info"]) == 0
    assert ": 0 files of programs and compiled functions" in capfd.readouterr().out
    monkeypatch.setenv("SACPY_CACHE_DIR", "")
    assert main(["cache", "info"]) == 0
    assert "not kept" in capfd.readouterr().out
