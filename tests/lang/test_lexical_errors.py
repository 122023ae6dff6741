"""Each program in `lexical/` has one lexical mistake: its file name begins with the code, the file beside it is the
whole text of the diagnostic."""

import re
from pathlib import Path

import pytest

from sacpy.lang.diagnostics import Edit, render_text
from sacpy.lang.includes import LIBRARY
from sacpy.lang.preprocessor import tokenize
from sacpy.lang.source import Source

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PROGRAMS = sorted((HERE / "lexical").glob("*.sac"))


def rendered(program: Path) -> str:
    text = render_text(tokenize(Source(str(program))).diagnostics)
    return (
        text.replace(str(LIBRARY), "LIBRARY")
        .replace(str(program.parent) + "/", "")
        .replace(str(program.parent), "FOLDER")
        + "\n"
    )


def edit_of(program: Path) -> Edit | None:
    return tokenize(Source(str(program))).diagnostics[0].edit


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_mistake_gives_its_diagnostic(program: Path) -> None:
    assert rendered(program) == program.with_suffix(".txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_mistake_gives_one_diagnostic_of_its_code(program: Path) -> None:
    assert [d.code for d in tokenize(Source(str(program))).diagnostics] == [program.stem[:5]]


def test_every_code_has_a_program_and_an_explanation() -> None:
    folder = ROOT / "sacpy" / "lang"
    names = [
        "lexer",
        "literals",
        "macros",
        "macro_definitions",
        "includes",
        "conditionals",
        "preprocessor",
        "pragmas",
        "operators",
    ]
    codes = {
        code
        for name in names
        for code in re.findall(r'"([EW]01\d\d)"', (folder / f"{name}.py").read_text(encoding="utf-8"))
    }
    explained = set(
        re.findall(r"^## ([EW]01\d\d):", (ROOT / "docs" / "errors.md").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert codes == explained == {program.stem[:5] for program in PROGRAMS}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("x /* a", "E0101"),
        ("#if 1\nx\n", "E0114"),
        ("#define F(x) x\nF(1,", "E0120"),
        ("#define F(x) x\n#if 1\nF(1)\n#else\n", "E0114"),
    ],
)
def test_what_more_input_could_mend_is_incomplete(text: str, code: str) -> None:
    (found,) = tokenize(Source("<input>", text)).diagnostics
    assert (found.code, found.incomplete) == (code, True)


@pytest.mark.parametrize("text", ['x = "abc', "c = 'a", "#endif", "#define F(x) x\n#if F(1\n#endif", "x = 08"])
def test_what_more_input_cannot_mend_is_complete(text: str) -> None:
    found = tokenize(Source("<input>", text)).diagnostics
    assert found and not any(d.incomplete for d in found)


@pytest.mark.parametrize(
    "program", [path for path in PROGRAMS if edit_of(path) is not None], ids=lambda path: path.stem
)
def test_suggested_edit_mends_the_text(program: Path) -> None:
    edit = edit_of(program)
    assert edit is not None
    text = edit.span.source.text
    mended = text[: edit.span.start] + edit.text + text[edit.span.end :]
    # the corrected `#include` names no file
    assert [d.code for d in tokenize(Source(str(program), mended)).diagnostics] in ([], ["E0113"])


def test_edits_are_suggested_where_they_are_certain() -> None:
    assert {program.stem[:5] for program in PROGRAMS if edit_of(program) is not None} == {
        "E0103",
        "E0104",
        "E0105",
        "E0108",
        "E0110",
        "E0114",
    }
