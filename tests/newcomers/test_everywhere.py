"""The checker, `sacpy eval`, sessions, the prompt and editors say the same of what other languages write."""

from pathlib import Path

import pytest

import sacpy
from sacpy.cli import main
from sacpy.interp.world import World
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lsp.analysis import Settings, analyse
from sacpy.repl.commands import obey
from sacpy.repl.engine import Engine
from sacpy.workspace import Workspace

USES = "use Structures: all; use StdIO: all; use Numerical: all;\n"
MISTAKES = {
    "len([1, 2])": "shape([1, 2])[0]",
    "[1, 2, 3][1:]": "drop([1], [1, 2, 3])",
    "2.0 ** 3.0": "pow(2.0, 3.0)",
    "np.zeros(3)": "genarray([3], 0.0)",
    "genarray(3, 1.5)": "genarray([3], 1.5)",
    "[1, 2.0]": "[1.0, 2.0]",
    "take(2, [1, 2, 3])": "take([2], [1, 2, 3])",
    "3000000000": "3000000000l",
    "true and false": "true && false",
    "shpae([1])": "shape([1])",
}


def told(found: Diagnostic) -> tuple[str, str, str | None]:
    """The code, the help and what the text becomes."""
    return found.code, found.help, None if found.edit is None else found.edit.applied(found.span.source.text)


@pytest.mark.parametrize("text", MISTAKES)
def test_all_say_the_same(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SacError) as session:
        sacpy.Session().eval(text)
    wanted = told(session.value.diagnostics[0])
    assert wanted[2] == MISTAKES[text]

    engine = Engine(Workspace(), World.captured())
    assert told(engine.enter(text).diagnostics[0]) == wanted
    code, help, line = told(obey(engine, f":type {text}")[1].diagnostics[0])
    assert (code, help, line) == (wanted[0], wanted[1], f":type {MISTAKES[text]}")

    assert main(["eval", text]) == 1
    assert f"help: {wanted[1]}" in capsys.readouterr().err

    program = f"{USES}int main()\n{{\n  x = {text};\n  return 0;\n}}\n"
    mended = program.replace(text, MISTAKES[text])
    path = tmp_path / "program.sac"
    path.write_text(program)
    try:
        (found,) = Workspace().check(path)[1]
    except SacError as error:
        (found,) = error.diagnostics
    assert told(found) == (wanted[0], wanted[1], mended)
    assert told(analyse(program, path, Settings()).diagnostics[0]) == (wanted[0], wanted[1], mended)
    with pytest.raises(SacError) as defined:
        sacpy.Session().define(f"int f() {{ x = {text}; return 0; }}")
    assert told(defined.value.diagnostics[0])[1] == wanted[1]


@pytest.mark.parametrize(
    "text, mended",
    [
        ("sort([3, 1, 2])", "Sort::sort([3, 1, 2])"),
        ("[0] + argmax([1.0, 2.0])", "[0] + Select::argmax([1.0, 2.0])"),
        ("sum([[1, 2], [3, 4]], 0)", "Statistics::sum(0, [[1, 2], [3, 4]])"),
        ("msort([2, 1]) + 1", "Sort::sort([2, 1]) + 1"),
    ],
)
def test_an_expression_has_no_place_for_a_use_line_and_is_told_the_whole_name(text: str, mended: str) -> None:
    with pytest.raises(SacError) as raised:
        sacpy.Session().eval(text)
    assert told(raised.value.diagnostics[0])[2] == mended


def test_names_of_a_session_and_of_the_prompt_are_known_when_a_change_is_tried() -> None:
    session = sacpy.Session()
    session["v"] = [1.0, 2.0]
    with pytest.raises(SacError) as raised:
        session.eval("v.sum()")
    assert told(raised.value.diagnostics[0])[2] == "sum(v)"
    engine = Engine(Workspace(), World.captured())
    engine.enter("v = [1.0, 2.0]; double twice(double x) { return 2.0 * x; }")
    assert told(engine.enter("v.twice()").diagnostics[0])[2] is None  # it takes no vector
    assert told(engine.enter("w = v[0].twice();").diagnostics[0])[2] == "w = twice(v[0]);"
    assert told(engine.enter("k = 3; u = numel(v) + k;").diagnostics[0])[2] == "k = 3; u = shape(v)[0] + k;"


def test_nothing_happens_while_a_change_is_tried() -> None:
    engine = Engine(Workspace(), World.captured())
    engine.enter("n = 1;")
    engine.enter("n = n + 1; m = len([n]);")
    assert int(engine.values_of("n", ":type")[0].values[0]) == 2
    assert engine.enter("m").failed
