"""The Pygments lexer: every text comes out whole, and what matters is told apart."""

import tomllib
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, _TokenType

from sacpy.lang.source import STDLIB
from sacpy.repl.highlighting import SacLexer
from tests.tools import ROOT

FRAGMENTS = st.sampled_from(
    [
        "/*",
        "*/",
        "//",
        '"',
        "'",
        "\\",
        "\n",
        "#",
        "#pragma ",
        "gpukernel ",
        "use ",
        "Array",
        ": all;",
        "::",
        ".",
        "1..2",
        "0x",
        "1e",
        "é",
        "\x00",
        " ",
        "with {",
        "}",
        "struct ",
    ]
)


def tokens(text: str) -> list[tuple[_TokenType, str]]:
    return list(SacLexer(stripnl=False, ensurenl=False).get_tokens(text))


def kind(text: str, part: str) -> _TokenType:
    return next(kind for kind, found in tokens(text) if found == part)


@given(st.one_of(st.text(), st.lists(FRAGMENTS).map("".join)))
def test_nothing_is_lost_whatever_the_text(text: str) -> None:
    text = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    assert "".join(found for _, found in tokens(text)) == text


@pytest.mark.parametrize(
    "path", [*sorted((ROOT / "programs").glob("*.sac")), *sorted(STDLIB.glob("*.sac"))], ids=lambda path: path.name
)
def test_nothing_in_a_correct_program_is_an_error(path: object) -> None:
    text = path.read_text(encoding="utf-8", errors="replace")  # type: ignore[attr-defined]
    found = tokens(text)
    assert "".join(part for _, part in found) == text
    assert not [part for kind, part in found if kind in Error]


@pytest.mark.parametrize(
    ("text", "part", "expected"),
    [
        ("use Array: all except {sum};", "use", Keyword.Namespace),
        ("use Array: all except {sum};", "Array", Name.Namespace),
        ("use Array: all except {sum};", "except", Keyword.Pseudo),
        ("export all; all = 1;", "all", Keyword.Pseudo),
        ("double[n] blur(double[n] v)", "double", Keyword.Type),
        ("double[n] blur(double[n] v)", "blur", Name.Function),
        ("double[n] blur(double[n] v)", "v", Name),
        ("struct Rod r;", "Rod", Name.Class),
        ("r.heat[0].x", "heat", Name.Attribute),
        ("r.heat[0].x", "x", Name.Attribute),
        ("Math::sin(x)", "Math", Name.Namespace),
        ("Math::sin(x)", "sin", Name.Function),
        ("true", "true", Keyword.Constant),
        ("with { } : genarray([3], 0)", "genarray", Keyword),
        ("genarray = 1;", "genarray", Name),
        ("(. <= iv < n step [2])", "step", Keyword),
        ("step(rod)", "step", Name.Function),
        ("step = 1", "step", Name),
        ("0x1Ful", "0x1Ful", Number.Hex),
        ("1e-3f", "1e-3f", Number.Float),
        ("3f", "3f", Number.Float),
        (".5", ".5", Number.Float),
        ("42ul", "42ul", Number.Integer),
        ("[1..3]", "..", Operator),
        ("a[3]", "[", Punctuation),
        (r'"a\"b"', r'"a\"b"', String),
        (r"'\n'", r"'\n'", String.Char),
        ('x = "open', '"open', Error),
        ("/* a * b */ 1", "/* a * b */", Comment.Multiline),
        ("/* never closed", " never closed", Comment.Multiline),
        ("1 // it\n", "// it", Comment.Single),
        ("#!/usr/bin/env sacpy\n", "#!/usr/bin/env sacpy", Comment.Hashbang),
        ("#include <math.h>\n", "<math.h>", Comment.PreprocFile),
        ("#define HALF(x) ((x) / 2)\n", "HALF", Name.Constant),
        ("#pragma gpukernel GridBlock(1, SplitLast(32, Gen))\nGen", "gpukernel", Keyword.Pseudo),
        ("#pragma gpukernel GridBlock(1, SplitLast(32, Gen))\nGen", "SplitLast", Name.Builtin),
    ],
)
def test_what_is_what(text: str, part: str, expected: _TokenType) -> None:
    assert kind(text, part) is expected


def test_a_pragma_ends_with_its_line() -> None:
    assert tokens("#pragma gpumem global\nGen")[-1] == (Name, "Gen")


def test_pygments_finds_it_by_its_entry_point() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, _, name = project["entry-points"]["pygments.lexers"]["sac"].partition(":")
    assert getattr(import_module(module), name) is SacLexer
    assert "sac" in SacLexer.aliases and "*.sac" in SacLexer.filenames
