"""The TextMate grammar gives every kind of token its scope, in samples and in all programs, and the extension's files
agree with one another."""

import json
import re
from pathlib import Path

import pytest

from sacpy.lang.pragmas import MAPPING
from sacpy.lang.scanner import scan
from sacpy.lang.source import Source
from sacpy.lang.vocabulary import BASE_TYPES, RESERVED
from sacpy.withloop.combinators import COMBINATORS
from sacpy.withloop.devices import DEVICES
from sacpy.withloop.strategies import STRATEGIES
from tests.editors.textmate import Grammar
from tests.tools import ROOT

EXTENSION = ROOT / "editors/vscode"
PACKAGE = json.loads((EXTENSION / "package.json").read_text())
TEXT = (EXTENSION / "syntaxes/sac.tmLanguage.json").read_text()
GRAMMAR = Grammar(json.loads(TEXT))
PROGRAMS = sorted((ROOT / "programs").rglob("*.sac")) + sorted((ROOT / "sacpy/stdlib").glob("*.sac"))


def scope(text: str, word: str) -> str:
    """The innermost scope of a word's first character, without the language's name."""
    found = GRAMMAR.scopes(text)[text.index(word)]
    return found[-1].removesuffix(".sac") if found else ""


SAMPLES = {
    ("#!/usr/bin/env sacpy", "#!"): "comment.line.shebang",
    ("x = 1; // why", "why"): "comment.line.double-slash",
    ("/* a\n >>> f(1)\n b */ x", "b"): "comment.block",
    ("/* a\n >>> f(1)\n b */ x", ">>>"): "markup.inline.raw.example",
    ("/* a */ x", "x"): "variable.other",
    ("#define A(x) ((x) + 1)", "#"): "keyword.control.directive",
    ("#define A(x) ((x) + 1)", "A"): "entity.name.function.preprocessor",
    ("#define A(x) ((x) + 1)", "1"): "constant.numeric.integer",
    ("#define A \\\n  12\nx", "12"): "constant.numeric.integer",
    ("#define A 3\nx = 1;", "x"): "variable.other",
    ('#include "a.h"', '"'): "string.quoted.other.include",
    ("#if defined(A)", "#if"): "keyword.control.directive.conditional",
    ("#pragma gpukernel GridBlock(1, Gen)", "gpukernel"): "keyword.other.pragma",
    ("(. <= iv <= .) #pragma gpukernel GridBlock(1, Gen)", "GridBlock"): "support.function.combinator",
    ('#pragma linkname "sin"', '"'): "string.quoted.double",
    ('printf("%5.2f\\n", x);', "%"): "constant.other.placeholder",
    ('printf("%5.2f\\n", x);', "\\n"): "constant.character.escape",
    ("c = '\\0';", "'"): "string.quoted.single",
    ("x = 0x1fp-3;", "0x"): "constant.numeric.hex",
    ("x = 1.5e-3f;", "1.5"): "constant.numeric.float",
    ("x = .5;", ".5"): "constant.numeric.float",
    ("x = 12ul;", "12"): "constant.numeric.integer",
    ("x = true;", "true"): "constant.language.boolean",
    ("use Array: all except { f };", "use"): "keyword.control.import",
    ("use Array: all except { f };", "Array"): "entity.name.namespace",
    ("use Array: all except { f };", "all"): "keyword.other.interface",
    ("use Array: all except { f };", "except"): "keyword.other.interface",
    ("x = all(b);", "all"): "entity.name.function.call",
    ("export all;", "export"): "keyword.control.export",
    ("module M;", "M"): "entity.name.namespace",
    ("x = Array::sum(y);", "Array"): "entity.name.namespace",
    ("x = Array::sum(y);", "sum"): "entity.name.function.call",
    ("struct Rod { int age; };", "Rod"): "entity.name.type.struct",
    ("typedef double[2] complex;", "typedef"): "storage.type.definition",
    ("inline double[n] blur(double[n] v)", "inline"): "storage.modifier",
    ("inline double[n] blur(double[n] v)", "double"): "storage.type",
    ("inline double[n] blur(double[n] v)", "blur"): "entity.name.function",
    ("int main()", "main"): "entity.name.function",
    ("  return f(x);", "f("): "entity.name.function.call",
    ("  return f(x);", "return"): "keyword.control",
    ("w = with { (. <= iv < [n] step [2]) : 1; } : genarray([n]);", "with"): "keyword.control.with",
    ("w = with { (. <= iv < [n] step [2]) : 1; } : genarray([n]);", "step"): "keyword.operator.word",
    ("w = with { (. <= iv < [n] step [2]) : 1; } : genarray([n]);", "genarray"): "support.function.with",
    ("w = with { (. <= iv < [n] step [2]) : 1; } : genarray([n]);", "<="): "keyword.operator",
    ("width = 3;", "width"): "variable.other",
    ("x = _add_SxS_(1, 2);", "_add"): "support.function.primitive",
    ("x = MAX + y;", "MAX"): "constant.other.macro",
    ("x = rod.heat[0];", "heat"): "variable.other.member",
    ("x += a ++ b;", "+="): "keyword.operator.assignment",
    ("x += a ++ b;", "++"): "keyword.operator",
    ("{ [i] -> 1 }", "->"): "keyword.operator.arrow",
    ("a[1, ...]", "..."): "keyword.operator.dots",
    ("f(a, b);", ","): "punctuation.separator",
    ("f(a, b);", "("): "punctuation.section.brackets",
}


@pytest.mark.parametrize(("text", "word"), SAMPLES, ids=str)
def test_samples(text: str, word: str) -> None:
    assert scope(text, word) == SAMPLES[text, word]


@pytest.mark.parametrize("word", sorted(RESERVED))
def test_reserved_words_are_words_of_the_language(word: str) -> None:
    found = scope(f" {word} X", word)
    assert found.startswith(("keyword.", "storage.", "constant.language"))
    assert (found == "storage.type") == (word in BASE_TYPES or word == "void")


@pytest.mark.sample(2)
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_programs_are_cut_as_sacpy_cuts_them(path: Path) -> None:
    source = Source(str(path))
    scopes = GRAMMAR.scopes(source.text)
    scanned = scan(source)
    for start, comment in scanned.trivia:
        assert scopes[start][0].startswith("comment."), comment
        assert scopes[start + len(comment) - 1][0].startswith("comment."), comment
    kinds = {"string": "string.quoted.double", "char": "string.quoted.single", "number": "constant.numeric"}
    for token in scanned.tokens:
        start, end = token.span.start, token.span.end
        if token.kind in kinds:
            assert all(any(s.startswith(kinds[token.kind]) for s in scopes[i]) for i in range(start, end)), token
        elif token.kind != "directive":
            assert not any(
                s.startswith(("comment", "string", "constant.numeric")) for i in range(start, end) for s in scopes[i]
            ), token


def test_every_word_of_pragmas_is_known() -> None:
    for word in (*MAPPING, *COMBINATORS, "Gen", "GridBlock"):
        assert scope(f"#pragma {word}", word).startswith(("keyword.other", "support.function")), word


def test_patterns_are_those_of_oniguruma_too() -> None:
    patterns = re.findall(r'"(?:match|begin|end)": "((?:[^"\\]|\\.)*)"', TEXT)
    assert len(patterns) > 40
    for pattern in patterns:
        compiled = re.compile(json.loads(f'"{pattern}"'))
        assert "(?P<" not in compiled.pattern and "(?#" not in compiled.pattern


def test_the_files_that_the_extension_names_are_there() -> None:
    contributes = PACKAGE["contributes"]
    named = [
        PACKAGE["main"],
        *(x["configuration"] for x in contributes["languages"]),
        *(x["path"] for x in contributes["grammars"]),
    ]
    assert all((EXTENSION / name).is_file() for name in named)
    assert contributes["grammars"][0]["scopeName"] == GRAMMAR.grammar["scopeName"]
    json.loads((EXTENSION / "language-configuration.json").read_text())


def test_settings_offer_what_there_is() -> None:
    properties = PACKAGE["contributes"]["configuration"]["properties"]
    assert set(properties["sacpy.strategy"]["enum"]) == set(STRATEGIES)
    assert set(properties["sacpy.device"]["enum"]) == set(DEVICES)
    script = (EXTENSION / "extension.js").read_text()
    assert all(f'"{name.removeprefix("sacpy.")}"' in script for name in properties)
    assert all(f'"{command["command"]}"' in script for command in PACKAGE["contributes"]["commands"])
