"""The preprocessor: directives, macros as C has them, included files, and texts meant to do harm."""

import random
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacpy.lang.diagnostics import render_text
from sacpy.lang.preprocessor import defined_operators, tokenize
from sacpy.lang.source import Source
from sacpy.lang.tokens import Tokens


def read(text: str, **options: object) -> Tokens:
    found = tokenize(Source("<test>", text), **options)  # type: ignore[arg-type]
    assert found.diagnostics == [], render_text(found.diagnostics)
    return found


def words(text: str, **options: object) -> str:
    return " ".join(token.text for token in read(text, **options).tokens[:-1])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#define N 3\nN N", "3 3"),
        ("#define EMPTY\na EMPTY b", "a b"),
        ("#define F(x, y) y x\nF(1, 2)", "2 1"),
        ("#define F(x) x\nF", "F"),
        ("#define F(x) x\nF (1)", "1"),
        ("#define F(x) x\nF\n(\n1\n)", "1"),
        ("#define F() 1\nF()", "1"),
        ("#define F (1)\nF", "( 1 )"),
        ("#define F(x) [x]\nF()", "[ ]"),
        ("#define F(x) [x]\nF((a, b))", "[ ( a , b ) ]"),
        ("#define N 1\n#undef N\nN", "N"),
        ("#undef NEVER\nx", "x"),
        ("#define N 1 /* one\n line */ + 2\nN", "1 + 2"),
        ("#define N 1 // one\nN", "1"),
        ("#define LONG 1 + \\\n 2 + \\\r\n 3\nLONG", "1 + 2 + 3"),
        ("#def\\\nine N 1\nN", "1"),
        ("  #  define N 1\nN", "1"),
        ("#define N 1\n#define N 1\nN", "1"),
        ('#\n# 12 "file.c" 1\n#line 7\nx', "x"),
        ("#!/usr/bin/env sacpy\nx", "x"),
        ("\ufeffx", "x"),
    ],
)
def test_macros_are_replaced(text: str, expected: str) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#define A A\nA", "A"),
        ("#define A B\n#define B A\nA B", "A B"),
        ("#define F(x) F(x + 1)\nF(F(0))", "F ( F ( 0 + 1 ) + 1 )"),
        # A name that was met inside its own expansion stays as it is, even where it is read again later.
        ("#define F(a) a*G\n#define G(a) F(a)\nF(2)(9)", "2 * 9 * G"),
        ("#define NIL(x) x\n#define G_0(arg) NIL(G_1)(arg)\n#define G_1(arg) NIL(arg)\nG_0(42)", "42"),
        ("#define B H ( B\n#define H(x) < x >\nB 1 )", "< B 1 >"),
        ("#define ID(x) x\nID(ID)(1)", "ID ( 1 )"),
        ("#define ID(x) x\nID(ID(ID(1)))", "1"),
        ("#define LP (\n#define F(x) <x>\nF LP 1)", "F ( 1 )"),
        ("#define CALL F\n#define F(x) <x>\nCALL(1)", "< 1 >"),
    ],
)
def test_expansions_end(text: str, expected: str) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#define S(x) #x\nS(a  +\n b)", '"a + b"'),
        ("#define S(x) #x\nS( a )", '"a"'),
        ('#define S(x) #x\nS("a\\n" \'"\')', '"\\"a\\\\n\\" \'\\"\'"'),
        ("#define S(x) #x\n#define N 3\nS(N)", '"N"'),
        ("#define S(x) #x\n#define T(x) S(x)\n#define N 3\nT(N)", '"3"'),
        ("#define S(x) #x\nS()", '""'),
        ("#define J(a, b) a ## b\nJ(x, 1) J(1, b) J(+, +) J(, y) J(z, ) J(,)", "x1 1b ++ y z"),
        ("#define J(a, b) a##b\n#define xy 7\nJ(x, y)", "7"),
        ("#define J(a, b) a##b\n#define x 9\nJ(x, 1)", "x1"),
        ("#define NAME(t) Print##t##Array\nNAME(Int)", "PrintIntArray"),
        ("#define HASH_HASH # ## #\nx", "x"),
        ("#define V(...) f(__VA_ARGS__)\nV() V(1) V(1, 2)", "f ( ) f ( 1 ) f ( 1 , 2 )"),
        ("#define V(a, ...) f(a, ## __VA_ARGS__)\nV(1) V(1, 2, 3)", "f ( 1 ) f ( 1 , 2 , 3 )"),
        ("#define V(rest...) f(rest)\nV(1, 2)", "f ( 1 , 2 )"),
        ("#define V(...) #__VA_ARGS__\nV(a,b , c)", '"a,b , c"'),
    ],
)
def test_strings_are_made_and_tokens_joined(text: str, expected: str) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("1", True), ("0", False), ("NOTHING", False), ("N == 3", True), ("defined N && defined(N)", True),
        ("!defined(M)", True), ("-1 < 0", True),
        ("1 ? 0 : 1", False), ("0 && 1 / 0", False), ("1 || 1 / 0", True), ("7 / -2 == -3 && -7 % 3 == -1", True),
        ("1 << 3 == 8", True), ("'A' == 65", True),
        ("0x10 == 16 && 010 == 8", True), ("2 + 3 * 4 == 14", True), ("10 - 3 - 2 == 5", True), ("~0 == -1", True),
        ("SQ(3) == 9", True), ("SQ", False),
        ("9223372036854775807 + 1 < 0", True), ("1 << 99999999999999", False), ("(1)", True),
        ("N > 2 && N < 4 ? 1 : 0", True), ("3000000000 > 0", True),
    ],
)  # fmt: skip
def test_conditions_are_decided(condition: str, holds: bool) -> None:
    assert words(f"#define N 3\n#define SQ(x) x*x\n#if {condition}\nyes\n#else\nno\n#endif") == (
        "yes" if holds else "no"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#ifdef A\na\n#else\nb\n#endif\nc", "b c"),
        ("#ifndef A\na\n#else\nb\n#endif", "a"),
        ("#if 0\na\n#elif 1\nb\n#elif 1\nc\n#else\nd\n#endif", "b"),
        ("#if 1\na\n#elif 1/0\nb\n#endif", "a"),
        ('#if 0\n#if 1\na\n#else\nb\n#endif\n#error no\n#include "no"\n#unknown\n#else\nc\n#endif', "c"),
        ("#if 1\n#if 0\na\n#else\nb\n#endif\n#else\nc\n#endif", "b"),
        ("#if 0\nit's \"fine\n#endif\nx", "x"),
        ("#if 0\n0189 1.5ul @ '' \n#endif\nx", "x"),
        ("#define F(x) <x>\nF(\n#if 1\n1\n#else\n2\n#endif\n)", "< 1 >"),
    ],
)
def test_parts_are_chosen(text: str, expected: str) -> None:
    assert words(text) == expected


def test_names_can_be_defined_from_outside() -> None:
    assert words("N F(2) A", defines={"N": "1 + 2", "F(x)": "x*x", "A": ""}) == "1 + 2 2 * 2"


def test_predefined_macros_tell_the_place() -> None:
    tokens = read("#define HERE __LINE__ __FILE__\n\nHERE\n__LINE__ __DATE__").tokens
    assert [token.value for token in tokens[:3]] == [("int", 3), "<test>", ("int", 4)]
    assert len(str(tokens[3].value)) == len("Nov 21 2024")


def test_files_are_included(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "more").mkdir()
    (tmp_path / "a.h").write_text('#pragma once\n#include "inner/b.h"\n#define A 1\na\n')
    (tmp_path / "inner" / "b.h").write_text('#include "c.h"\nb\n')
    (tmp_path / "inner" / "c.h").write_text("c\n")
    (tmp_path / "more" / "d.h").write_text("#ifndef D\n#define D\nd A\n#endif\n")
    main = Source(
        str(tmp_path / "main.sac"),
        '#include "a.h"\n#include <d.h>\n#include "d.h"\n#define FILE "a.h"\n#include FILE\nmain',
    )
    found = tokenize(main, include_path=[tmp_path / "more"])
    assert found.diagnostics == []
    assert [token.text for token in found.tokens] == ["c", "b", "a", "d", "1", "main", ""]
    assert [path.name for path in found.included] == ["a.h", "b.h", "c.h", "d.h"]
    assert found.tokens[0].span.source.name == str(tmp_path / "inner" / "c.h")


def test_file_that_is_a_folder_or_unreadable_is_reported(tmp_path: Path) -> None:
    for name in (".", "\0", "x" * 5000):
        (found,) = tokenize(Source(str(tmp_path / "main.sac"), f'#include "{name}"')).diagnostics
        assert found.code == "E0113"


@pytest.mark.parametrize(
    ("text", "pragmas", "rest"),
    [
        ('#pragma linkname "f"\nx', ['linkname "f"'], "x"),
        ("#pragma linksign [0, \\\n 1]\nx", ["linksign [0, 1]"], "x"),
        ("#define N 1\n#pragma effect N\nx", ["effect N"], "x"),
        ("#pragma anything at all + 1\nx", ["anything at all + 1"], "x"),
        ("#pragma safe\nx", ["safe"], "x"),
        (
            "#pragma effect World::TheWorld, File::TheFileSystem\nx",
            ["effect World::TheWorld, File::TheFileSystem"],
            "x",
        ),
        ("(x) #pragma gpukernel GridBlock(1, ShiftLB(Gen)) { y", ["gpukernel GridBlock(1, ShiftLB(Gen))"], "( x ) { y"),
        ("#pragma gpukernel GridBlock(1, Gen) (. <= iv", ["gpukernel GridBlock(1, Gen)"], "( . <= iv"),
        # The library's way to have pragmas out of macros.
        (
            "#define HASH #\n#define ME(x) x\n#define Q(x) #x\n#define E(t) external t f(); ME(HASH)pragma linkname "
            "Q(F##t) \\\n ME(HASH)pragma linksign [0,1]\nE(int)\nE(bool)",
            ['linkname "Fint"', "linksign [0,1]", 'linkname "Fbool"', "linksign [0,1]"],
            "external int f ( ) ; external bool f ( ) ;",
        ),
    ],
)
def test_pragmas_become_tokens(text: str, pragmas: list[str], rest: str) -> None:
    tokens = read(text).tokens[:-1]
    assert [str(token.value) for token in tokens if token.kind == "pragma"] == pragmas
    assert " ".join(token.text for token in tokens if token.kind != "pragma") == rest


def test_token_of_a_macro_names_use_and_definition() -> None:
    text = "#define INNER(y) y + here\n#define OUTER(x) INNER(x)\nz = OUTER(1);"
    tokens = {token.text: token for token in read(text).tokens}
    here, argument = tokens["here"].span, tokens["1"].span
    assert here.text == "OUTER(1)" and here.macro is not None and here.macro.text == "here"
    assert (argument.text, argument.column, argument.macro) == ("1", 11, None)


def test_spans_survive_joined_lines() -> None:
    tokens = read("a \\\n  b\\\nc \\\nd").tokens
    assert [(token.text, token.span.line, token.span.column) for token in tokens[:-1]] == [
        ("a", 1, 1),
        ("bc", 2, 3),
        ("d", 4, 1),
    ]
    assert tokens[1].span.text == "b\\\nc"


def test_operators_of_included_and_expanded_text_are_found(tmp_path: Path) -> None:
    (tmp_path / "ops.h").write_text(
        "#define DEF(o) int o(int a, int b) { return a; }\nDEF(<+>)\nint[*] +++^(int[*] a);\n"
    )
    main = Source(str(tmp_path / "m.sac"), '#include "ops.h"\nx = a<+>b+++^-c;')
    assert " ".join(token.text for token in tokenize(main).tokens[-10:-1]) == "x = a <+> b +++^ - c ;"
    assert defined_operators(main) == {"<+>", "+++^"}


def _doubling(count: int) -> str:
    lines = ["#define A0 x x"] + [f"#define A{i} A{i - 1} A{i - 1}" for i in range(1, count)]
    return "\n".join([*lines, f"A{count - 1}"])


def _doubling_calls(body: str) -> str:
    lines = [f"#define F0(x) {body}"] + [f"#define F{i}(x) F{i - 1}(x) F{i - 1}(x)" for i in range(1, 40)]
    return "\n".join([*lines, "F39(y)"])


HOSTILE = {
    "garbage": bytes(random.Random(1).randrange(256) for _ in range(200_000)).decode("utf-8", "surrogateescape"),
    "doubling": _doubling(60),
    "doubling-calls": _doubling_calls("x"),
    "doubling-nothing": _doubling_calls(""),
    "doubling-strings": '#define S(x) #x\n#define Q(x) S(x)\n#define T0 "\\\\"\n'
    + "".join(f"#define T{i} Q(T{i - 1})\n" for i in range(1, 60))
    + "T59",
    "doubling-names": "#define C(a,b) a##b\n#define D(a,b) C(a,b)\n#define P0 x\n"
    + "".join(f"#define P{i} D(P{i - 1},P{i - 1})\n" for i in range(1, 60))
    + "P59",
    "nested-open-calls": "#define F(x) x\n" + "F(" * 50_000,
    "nested-calls": "#define F(x) x\n" + "F(" * 50_000 + ")" * 50_000,
    "nested-conditions": "#if 1\n" * 20_000,
    "nested-parentheses": "#if " + "(" * 100_000,
    "long-condition": "#if " + "1+" * 100_000 + "1\n#endif",
    "open-comments": "/*" * 200_000,
    "directives-with-open-comments": "#define /*\n" * 50_000,
    "quotes": "#define \"'\n" * 30_000,
    "one-line": "'" * 300_001,
    "open-string": '"\\' * 200_000,
    "backslashes": "\\" * 500_000,
    "long-number": "1" * 500_000,
    "nul": "a\0" * 100_000,
    "many-unknown": "#foo\n" * 100_000,
    "chain": "".join(f"#define A{i} A{i + 1}\n" for i in range(10_000)) + "A0",
    "many-comments": "// a\n" * 100_000 + "x",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_ends_soon(name: str) -> None:
    started = time.process_time()
    found = tokenize(Source("<test>", HOSTILE[name]))
    render_text(found.diagnostics).encode()
    assert found.tokens[-1].kind == "end"
    assert time.process_time() - started < 2.5  # aimed at is one second; the machine may be busy


def test_recursive_include_ends(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text('#include "b.h"\n#include "b.h"\n')
    (tmp_path / "b.h").write_text('#include "a.h"\n#include "a.h"\n')
    (found,) = tokenize(Source(str(tmp_path / "a.h"))).diagnostics
    assert found.code == "E0124"


PIECES = st.sampled_from(
    ["#define ", "#if ", "#ifdef A\n", "#else\n", "#endif\n", "#undef A\n", "#elif 1\n", "\n", "A", "B", "F", "F(", "(",
        ")", ",", "#", "##", "x", "1", "0x", "1e", "'", '"', "/*", "*/", "//", "\\\n", "\\",
     " ", "+", "...", "defined", "__VA_ARGS__", "#include ", "#pragma effect ", "[", "]", "{", "}", "é", "\0",
     "#define A B\n", "#define B F(A)\n", "#define F(x) x A #x x##A\n"]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_any_text_gives_tokens_and_diagnostics(text: str) -> None:
    found = tokenize(Source("<test>", text))
    assert found.tokens[-1].kind == "end"
    assert {token.kind for token in found.tokens} <= {"name", "number", "char", "string", "op", "pragma", "end"}
    for diagnostic in found.diagnostics:
        assert 0 <= diagnostic.span.start <= diagnostic.span.end <= len(diagnostic.span.source.text)
    render_text(found.diagnostics)
