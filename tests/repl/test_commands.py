"""The lines that begin with a colon, and `?name`."""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sacpy.interp import png
from sacpy.interp.world import World
from sacpy.lang.formatter import format_text
from sacpy.repl.commands import COMMANDS, obey
from sacpy.repl.engine import Engine
from sacpy.repl.outcomes import Outcome
from sacpy.repl.parts import is_command
from sacpy.workspace import Workspace
from tests.tools import run_file


@pytest.fixture
def engine() -> Engine:
    return Engine(Workspace(), World.captured())


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    before = Path.cwd()
    os.chdir(tmp_path)
    yield tmp_path
    os.chdir(before)


def done(engine: Engine, command: str) -> tuple[str, Outcome]:
    """What is shown, by the command itself or on standard output; nothing may be wrong."""
    before = len(engine.world.out())
    text, outcome = obey(engine, command)
    assert not outcome.diagnostics, outcome.diagnostics
    return engine.world.out()[before:].decode() + text, outcome


def text_of(engine: Engine, command: str) -> str:
    return done(engine, command)[0]


def code_of(engine: Engine, command: str) -> str:
    text, outcome = obey(engine, command)
    assert text == "" and outcome.failed
    return outcome.diagnostics[0].code


def test_what_is_a_command() -> None:
    assert is_command(":help") and is_command("  :q") and is_command("?iota")
    assert not is_command("x = 1") and not is_command("a ? b : c")


def test_the_table_says_of_each_command_what_stands_behind_it() -> None:
    for name, command in COMMANDS.items():
        assert name in (command.name, *command.aliases)
        assert command.arguments in ("", "file", "name", "expression", "setting", "word")
        assert command.summary and (" " in command.usage) == (command.arguments != "")


def test_vars(engine: Engine) -> None:
    assert text_of(engine, ":vars") == "no names yet"
    engine.enter("b = iota(3) * 1; alpha = 1.5;")
    assert text_of(engine, ":vars") == "alpha  double\nb      int[3]"


def test_type(engine: Engine) -> None:
    assert text_of(engine, ":type [1.0, 2.0]") == "double[2]"
    assert code_of(engine, ":type") == "E0730"
    assert code_of(engine, ":type x = 3") == "E0730"
    assert code_of(engine, ":type nothing") == "E0305"


def test_type_evaluates_nothing(engine: Engine) -> None:
    engine.enter("int f() { print(1); return 2; }")
    assert text_of(engine, ":type f()") == "int"
    assert engine.world.out() == b""


def test_help_lists_every_command(engine: Engine) -> None:
    text = text_of(engine, ":help")
    assert all(command.usage in text and command.summary in " ".join(text.split()) for command in COMMANDS.values())


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_lists_keep_to_the_page(engine: Engine, columns: int) -> None:
    engine.settings.values["width"] = str(columns)
    engine.enter("x = 1;")
    for command in (":help", ":help :img", ":set", ":strategy", ":vars", ":info +"):
        assert max(map(len, text_of(engine, command).split("\n"))) <= columns, command


@pytest.mark.parametrize("ask", [":help ", "?"])
def test_help_on_a_name(engine: Engine, ask: str) -> None:
    engine.enter("// Two times a.\nint twice(int a) { return 2 * a; } struct P { int x; }; v = 3;")
    assert text_of(engine, f"{ask}twice").startswith("// Two times a.\nint twice(int a)\n{")
    assert text_of(engine, f"{ask}P").startswith("struct P")
    assert text_of(engine, f"{ask}v") == "v is a variable: int"
    assert "in ArrayBasics" in text_of(engine, f"{ask}iota")
    assert code_of(engine, f"{ask}nothing_of_that_name") == "E0734"


def test_help_suggests(engine: Engine) -> None:
    engine.enter("temperature = 3;")
    assert "temperature" in obey(engine, ":help temperatrue")[1].diagnostics[0].help
    assert "iota" in obey(engine, "?iotta")[1].diagnostics[0].help


def test_help_on_a_command(engine: Engine) -> None:
    assert text_of(engine, ":help :time").startswith(":time [-n N] EXPR")
    assert text_of(engine, ":help vars").startswith(":vars")
    engine.enter("vars = 3;")
    assert text_of(engine, ":help vars") == "vars is a variable: int"


def test_doc(engine: Engine) -> None:
    assert "ArrayBasics " in text_of(engine, ":doc")
    assert "in ArrayBasics" in text_of(engine, ":doc iota")
    assert code_of(engine, ":doc iotta") == "E0718"


def test_info(engine: Engine) -> None:
    engine.enter(
        "int f(int a) { return a; }\n inline int f(int[.] a) { return a[0]; } typedef int[2] pair; x = [1.0, 3.0, 0.0 "
        "/ 0.0]; e = [:int]; t = [true, false]; struct S { int[2] a; bool b; }; s = S{[1,2], true};"
    )
    assert (
        text_of(engine, ":info f")
        == "f: 2 instances\n  int f(int a)     input 1, line 1\n  int f(int[.] a)  inline, input 1, line 2"
    )
    assert "in ArrayArith" in text_of(engine, ":info +")
    assert text_of(engine, ":info pair") == "typedef int[2] pair;"
    assert text_of(engine, ":info x") == "double[3]: 3 elements, 24 bytes, least 1, greatest 3, mean 2, 1 not finite"
    assert text_of(engine, ":info e") == "int[0]: 0 elements, 0 bytes"
    assert text_of(engine, ":info t") == "bool[2]: 2 elements, 2 bytes, 1 true"
    assert (
        text_of(engine, ":info iota(1000) * 2")
        == "int[1000]: 1000 elements, 3.91 KiB, least 0, greatest 1998, mean 999"
    )
    assert text_of(engine, ":info 3") == "int: a scalar"
    assert text_of(engine, ":info s").startswith("struct S\n  .a: 2 elements")
    assert code_of(engine, ":info nothing") == "E0305"


def test_clear(engine: Engine) -> None:
    engine.enter("x = 1; y = 2; z = 3;")
    assert text_of(engine, ":clear x, y") == "forgotten: x, y"
    assert list(engine.variables) == ["z"]
    assert code_of(engine, ":clear z q") == "E0734" and "z" in engine.variables
    text_of(engine, ":clear")
    assert not engine.variables


def test_print(engine: Engine) -> None:
    assert text_of(engine, ":print [1, 2]") == "Dimension:  1\nShape    : <  2>\n< 1  2 > \n"
    assert code_of(engine, ":print") == "E0730"
    assert code_of(engine, ":print nothing") == "E0305"


# ---------------------------------------------------------------- pictures and diagrams


def test_img_without_a_terminal_writes_a_file(engine: Engine, folder: Path) -> None:
    engine.enter("m = [[0, 255], [128, 0], [0, 0]];")
    assert text_of(engine, ":img m") == "int[3,2], 2 x 3: written to picture-1.png"
    assert text_of(engine, ":img [[0.5]]") == "double[1,1], 1 x 1: written to picture-2.png"
    assert text_of(engine, ":img m to grey.png").endswith("written to grey.png")
    pixels = png.decode((folder / "grey.png").read_bytes())
    step = pixels.shape[1] // 2
    assert pixels[::step, ::step, 0].tolist() == [[0, 255], [128, 0], [0, 0]]
    assert code_of(engine, ":img m to nowhere/grey.png") == "E0743"


def test_img_refuses_what_is_no_picture(engine: Engine, folder: Path) -> None:
    assert [
        code_of(engine, f":img {e}") for e in ("3", "[1, 2]", "reshape([0, 3], [:int])", "print(1)", "nothing", "")
    ] == ["E0761", "E0761", "E0761", "E0762", "E0305", "E0730"]
    assert not list(folder.iterdir())


def test_img_as_set(engine: Engine) -> None:
    text_of(engine, ":set images blocks")
    shown = text_of(engine, ":img [[[255, 0, 0], [0, 0, 255]]]")
    assert "\x1b[38;2;255;0;0" in shown and "▀" in shown
    text_of(engine, ":set images kitty")
    assert text_of(engine, ":img [[1, 2]]").startswith("\x1b_G")


def test_plot(engine: Engine) -> None:
    assert text_of(engine, ":plot iota(11)").startswith("10 ┤")
    assert text_of(engine, ":plot hist [1, 1, 2]").split("\n")[0].startswith("1 │█")
    assert text_of(engine, ":plot hist [1, 1, 2]").split("\n")[0].endswith("█ 2")
    assert "63" in text_of(engine, ":plot reshape([8, 8], iota(64))").split("\n")[-1]
    assert text_of(engine, ":plot lines reshape([12, 8], iota(96))").endswith("the first 10 of 12 rows")
    engine.enter("hist = [3, 5];")
    assert text_of(engine, ":plot hist + 1").startswith("  6 ┤")


def test_plots_of_several_values_over_others(engine: Engine) -> None:
    engine.enter("t = tod(iota(5)) / 4.0;")
    text = text_of(engine, ":plot t * t, [0.0, 0.0, 1.0, 0.0, 0.0] over t")
    assert text.split("\n")[-1] == " a t * t   b [0.0, 0.0, 1.0, 0.0, 0.0]"
    assert text.split("\n")[-2].split() == ["0", "0.2", "0.4", "0.6", "0.8", "1"]
    assert text_of(engine, ":plot scatter { [i] -> [t[i], t[4 - i]] }").count("\n") == 19
    assert text_of(engine, ":plot points { [i] -> toc(t[i], 0.0) }").split("\n")[-1].split()[-1] == "1"
    assert text_of(engine, ":plot loglog t + 1.0 over t + 1.0;").split("\n")[-1].split() == ["1", "2"]
    engine.enter("over = 3;")  # then it is a value
    assert text_of(engine, ":plot [over, 5]").startswith("  5 ┤")
    assert text_of(engine, ":plot [1,\n 3],\n [2, 4]").split("\n")[-1] == " a [1, 3]   b [2, 4]"


def test_plots_go_into_files(engine: Engine, folder: Path) -> None:
    assert text_of(engine, ":plot iota(5) to p.svg") == "int[5]: written to p.svg"
    assert (folder / "p.svg").read_text().startswith("<svg ")
    text_of(engine, ':plot heat reshape([2, 3], iota(6)) to "with blank.txt"')
    assert "┤" in (folder / "with blank.txt").read_text()
    for kind, begin in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
        shown = "logy iota(9), iota(9) over iota(9)", "scatter iota(4)", "hist iota(9)", "reshape([4, 4], iota(16))"
        for diagram in shown:
            text_of(engine, f":plot {diagram} to p.{kind}")
            assert (folder / f"p.{kind}").read_bytes().startswith(begin)
    assert code_of(engine, ":plot iota(3) to p.xyz") == "E0783"
    assert code_of(engine, ":plot iota(3) to nowhere/p.svg") == "E0743"
    assert code_of(engine, ":img reshape([1, 1], [1]) to p.svg") == "E0783"
    assert code_of(engine, ":plot hist iota(3), iota(4) to p.svg") == "E0762"


def test_a_plot_that_needs_matplotlib_says_so(engine: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    outcome = obey(engine, ":plot iota(3) to p.png")[1]
    assert [d.code for d in outcome.diagnostics] == ["E0735"]
    assert "pip install 'sac-lang[plot]'" in outcome.diagnostics[0].help
    assert not (folder / "p.png").exists()


def test_plot_refuses(engine: Engine) -> None:
    wrong = (
        "3", '"abc"', "[:int]", "heat [1, 2]", "lines reshape([1, 1, 1], [1])", "toc(1.0, 2.0)", "print(1)",
        "iota(3) over iota(4)", "iota(3) over reshape([1, 3], iota(3))", "hist iota(3) over iota(3)",
        "logy hist iota(3)",
    )  # fmt: skip
    assert [code_of(engine, f":plot {e}") for e in wrong] == ["E0762"] * len(wrong)
    assert code_of(engine, ":plot") == "E0730"


# ---------------------------------------------------------------- files


def test_load_and_reload(engine: Engine, folder: Path) -> None:
    (folder / "p.sac").write_text("int f() { return 1; }\n")
    assert done(engine, ":load p.sac")[1].remarks == ("loaded p.sac",)
    (folder / "p.sac").write_text("int f() { return 2; }\n")
    assert done(engine, ":reload")[1].remarks == ("read again: p.sac",)
    engine.enter("f()")
    assert engine.world.out() == b"int 2\n"
    assert code_of(engine, ":load") == "E0741"
    assert code_of(engine, ":load q.sac") == "E0303"


def test_modules_beside_a_loaded_file_are_documented(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "Own.sac").write_text("module Own; export all; // Five, always.\nint own() { return 5; }")
    (tmp_path / "p.sac").write_text("use Own: all;")
    text_of(engine, f":load {tmp_path / 'p.sac'}")
    assert "in Own" in text_of(engine, "?own") and "int own()" in text_of(engine, ":doc Own::own")


def test_save_gives_a_program_that_does_the_same(engine: Engine, folder: Path) -> None:
    for text in (
        "#define N 3\n",
        "use Constants: all;",
        "struct P { int[2] x; };",
        "int f(int a) { return a + N; }",
        "int f(int a) { return a * N; }",
        "x = f(4); if (x > 3) { y = 1; } else { y = 2; } for (i = 0; i < 3; i++) { y += i; }",
        "wrong + 1",
        "p = P{[x, y]};",
        "p.x",
        "maxint() - x",
    ):
        engine.enter(text)
    assert text_of(engine, ":save s.sac") == "s.sac is written; sacpy s.sac runs it"
    result = run_file(folder / "s.sac")
    assert (
        result.status == 0
        and result.stdout == b"Dimension:  1\nShape    : <  2>\n<12  4 > \nDimension:  0\nShape    : < >\n 2147483635\n"
    )
    engine.enter("ans + 1")
    text_of(engine, ":save s.sac")
    assert run_file(folder / "s.sac").stdout.endswith(b" 2147483636\n")


def test_save_keeps_what_was_written(engine: Engine, folder: Path) -> None:
    for text in (
        "// how many\nn=5 // rods",
        "#define HALF(x) ((x) / 2.0)\n#define UNUSED 1",
        "/* The mean\n   of two. */\ndouble mid(double a, double b) // of numbers\n{\nreturn HALF(a+b); // half\n}",
        "struct P { double x; /* across */ double y; }; // a point",
        "mid(1.0, 2.0) // shown",
        "for (i = 0; i < 3; i++) { n += i; /* grows */ }",
        "// the end",
    ):
        assert not engine.enter(text).failed
    assert text_of(engine, ":save s.sac") == "s.sac is written; sacpy s.sac runs it"
    text = (folder / "s.sac").read_text()
    assert format_text(text) == text
    assert (
        text.partition("CommandLine: all;\n\n")[2]
        == """\
#define HALF(x) ((x) / 2.0)

struct P { double x; /* across */ double y; }; // a point

/* The mean
   of two. */
double mid(double a, double b) // of numbers
{
  return HALF(a + b); // half
}

int main()
{
  // how many
  n = 5;                // rods
  print(mid(1.0, 2.0)); // shown
  for (i = 0; i < 3; i++) {
    n += i; /* grows */
  }
  // the end
  return 0;
}
"""
    )


def test_save_writes_what_a_macro_stood_for_where_it_has_been_redefined(engine: Engine, folder: Path) -> None:
    for text in ("#define N 3", "x = N // three", "#define N 4", "y = N", "x + y"):
        engine.enter(text)
    text_of(engine, ":save s.sac")
    text = (folder / "s.sac").read_text()
    assert "#define N 4\n" in text and "x = 3; // three\n  y = N;\n" in text
    assert run_file(folder / "s.sac").stdout.endswith(b" 7\n")


def test_source_shows_what_was_written(engine: Engine) -> None:
    engine.enter("// Once more.\nint again(int a) { return a + 1; /* one */ }")
    for command in (":source again", "??again", "again??"):
        assert text_of(engine, command) == "// Once more.\nint again(int a) { return a + 1; /* one */ }"
    assert "inline <T: any>" in text_of(engine, "??transpose")
    assert code_of(engine, ":source") == "E0734" and code_of(engine, "nothing_of_that_name??") == "E0734"


def test_save_overwrites_nothing_of_others(engine: Engine, folder: Path) -> None:
    (folder / "mine.sac").write_text("precious")
    assert code_of(engine, ":save mine.sac") == "E0742"
    assert code_of(engine, ":save") == "E0741"
    assert code_of(engine, ":save nowhere/s.sac") == "E0743"
    assert (folder / "mine.sac").read_text() == "precious"


def test_edit(engine: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    engine.enter("int f() { return 1; }")
    assert code_of(engine, ":edit f") == "E0744"
    monkeypatch.setenv("EDITOR", "sed -i s/1/41/")
    assert done(engine, ":edit f")[1].remarks == ("int f() replaces int f() of input 1, line 1",)
    engine.enter("f() + 1")
    assert engine.world.out() == b"int 42\n"
    assert text_of(engine, ":edit") == "int 82\n"
    (folder / "p.sac").write_text("int g() { return 1; }")
    text_of(engine, ":edit p.sac")
    assert (folder / "p.sac").read_text() == "int g() { return 41; }" and "g" in engine.definitions.functions
    monkeypatch.setenv("EDITOR", "true")
    assert done(engine, ":edit f")[1].remarks == ("nothing has changed",)
    monkeypatch.setenv("EDITOR", "false")
    assert code_of(engine, ":edit f") == "E0744"
    monkeypatch.setenv("EDITOR", "no-such-editor-anywhere")
    assert code_of(engine, ":edit f") == "E0744"
    assert code_of(engine, ":edit nothing") == "E0734"


# ---------------------------------------------------------------- time and settings


def test_time(engine: Engine) -> None:
    number = r"[\d.]+(e[-+]\d+)? (s|ms|us|ns)"
    assert re.fullmatch(
        rf"int 6\nparse {number}, check {number}, compile {number}, run {number}",
        text_of(engine, ":time sum([1, 2, 3])"),
    )
    assert re.fullmatch(
        rf"parse {number}, check {number}, compile {number}\n5 runs: least {number}, median {number}, greatest "
        rf"{number}",
        text_of(engine, ":time -n 5 sum([1, 2, 3])"),
    )
    assert [code_of(engine, f":time {e}") for e in ("-n 0 1", "-n x 1", "-n", "-n 3", "")] == [
        "E0745",
        "E0745",
        "E0745",
        "E0730",
        "E0730",
    ]


def test_time_runs_as_often_as_it_says(engine: Engine) -> None:
    assert text_of(engine, ':time -n 3 printf("x")').startswith("xxx")


def test_set(engine: Engine) -> None:
    assert text_of(engine, ":set").split("\n")[0].split()[:2] == ["digits", "8"]
    assert text_of(engine, ":set digits 3") == "digits is 3"
    assert text_of(engine, ":set width=40") == "width is 40"
    assert text_of(engine, ":set digits").startswith("digits is 3: ")
    engine.enter("[1.23456]")
    assert engine.world.out() == b"double[1] [1.23]\n"
    assert [
        code_of(engine, f":set {e}") for e in ("digit 3", "digits 0", "digits 18", "digits x", "width 3", "images gif")
    ] == ["E0746", *["E0747"] * 5]
    assert engine.settings["digits"] == "3"


def test_a_message_points_into_the_line_that_was_typed(engine: Engine) -> None:
    for line, column in (
        (":set digits  99", 14),
        (":type  1 + nothing", 12),
        (":time -n 3 nothing", 12),
        ("?nothing", 2),
        (":type", 1),
        (":save", 1),
        (":img 3", 6),
        (":plot hist 3", 7),
        (":load /no/such.sac", 7),
    ):
        (found,) = obey(engine, line)[1].diagnostics
        assert (found.span.source.text, found.span.column) == (line, column)


# ---------------------------------------------------------------- leaving, and mistakes


@pytest.mark.parametrize("word", [":quit", ":q", ":exit"])
def test_quit(engine: Engine, word: str) -> None:
    assert obey(engine, word)[1].status == 0


def test_a_program_that_ends_the_process_within_a_command(engine: Engine) -> None:
    engine.enter('use RuntimeError: all; int f() { error(3, "enough\\n"); return 1; }')
    assert obey(engine, ":time f()")[1].status == 3


@pytest.mark.parametrize(
    ("typed", "meant"), [(":tpye x", ":type"), (":hlep", ":help"), (":Vars", ":vars"), (":relaod", ":reload")]
)
def test_unknown_commands_suggest_near_ones(engine: Engine, typed: str, meant: str) -> None:
    (found,) = obey(engine, typed)[1].diagnostics
    assert found.code == "E0733" and meant in found.help


def test_what_a_module_hands_on_is_explained(engine: Engine) -> None:
    assert text_of(engine, "?Array::reshape") == text_of(engine, "?ArrayBasics::reshape")
    assert "reshape   in ArrayBasics" in text_of(engine, ":doc Array::reshape")
    _, outcome = obey(engine, "?Array::rehsape")
    assert "Array::reshape" in outcome.diagnostics[0].help
    assert code_of(engine, "?Nowhere::reshape") == "E0734"


@pytest.mark.parametrize("columns", [40, 80])
def test_documentation_fits_the_page(engine: Engine, columns: int) -> None:
    engine.enter("struct P { double[3] at; };")
    done(engine, f":set width {columns}")
    for command in (":doc", ":doc Array", "?reshape", ":info P{[1.25, 2.5, 1000.3333333333]}", ":help"):
        lines = text_of(engine, command).split("\n")
        assert max(map(len, lines)) <= columns, (command, max(lines, key=len))


def test_lists_hang_below_their_second_column(engine: Engine) -> None:
    done(engine, ":set width 70")
    lines = text_of(engine, ":doc").split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("ArrayArith "))
    assert lines[at + 1].startswith(" " * lines[at].index("The "))


def test_floating_point_is_strict_once_set(engine: Engine) -> None:
    engine.enter("x = 3;")
    assert engine.settings["strict-fp"] == "off" and not engine.workspace.strict_fp
    assert text_of(engine, ":set strict-fp on") == "strict-fp is on"
    assert engine.workspace.strict_fp and engine.evaluator.strict_fp and "x" in engine.variables
    done(engine, ":set strict-fp off")
    assert not engine.workspace.strict_fp
    assert code_of(engine, ":set strict-fp perhaps") == "E0747"
    assert Engine(Workspace(strict_fp=True), World.captured()).settings["strict-fp"] == "on"


def test_call_stacks_of_commands_name_the_input(engine: Engine) -> None:
    engine.enter("int f(int n) { return iota(n)[n]; }")
    _, outcome = obey(engine, ":time f(3)")
    assert [frame.function for frame in outcome.diagnostics[0].stack] == ["f", "the input"]
