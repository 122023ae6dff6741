"""What is typed at a prompt, and input that ends too early."""

import pytest

from sacpy.lang.parser import parse_input
from sacpy.lang.source import Source


def kinds(text: str, variables: tuple[str, ...] = ()) -> list[str]:
    parsed = parse_input(Source("<input>", text), variables=variables)
    assert not parsed.diagnostics, parsed.diagnostics
    return [type(node).__name__ for node in parsed.nodes]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("1 + 2", ["Binary"]),
        ("1 + 2;", ["CallStmt"]),
        ("x", ["Name"]),
        ("f(3)", ["Call"]),
        ("f(3);", ["CallStmt"]),
        ("x = 3", ["Assign"]),
        ("x = 3; y = 4; x + y", ["Assign", "Assign", "Binary"]),
        ("use Array: all", ["Interface"]),
        ("use Array: all; import Math: {sin}; sin(1.0)", ["Interface", "Interface", "Call"]),
        ("int f(int x) { return x; } f(3)", ["FunDef", "Call"]),
        ("inline int +(int a, int b) { return a; }", ["FunDef"]),
        ("complex +(complex a, complex b) { return a; }", ["FunDef"]),
        ("x +(a)", ["Binary"]),
        ("x -(a, b)", []),
        ("for (i = 0; i < 3; i++) { x = i; }", ["For"]),
        ("if (a) { x = 1; } else { x = 2; }", ["If"]),
        ("struct S { int a; }; typedef double[2] complex; S{1}", ["StructDef", "TypeDef", "StructLiteral"]),
        ("{ iv -> 1 | iv < [2] }", ["Tensor"]),
        ("with { } : genarray([2], 0)", ["With"]),
        ("int a; a = 1;", ["VarDecl", "Assign"]),
        ("a[0] = 1; a[0]", ["Assign", "Select"]),
        ("x++", ["Step"]),
        ("v = [1,2]; (v)[0]", ["Assign", "Select"]),
    ],
)
def test_input_is_a_sequence_of_anything(text: str, expected: list[str]) -> None:
    if text == "x -(a, b)":
        assert parse_input(Source("<input>", text)).diagnostics
        return
    assert kinds(text) == expected


def test_variables_known_before_are_no_types() -> None:
    assert kinds("(v)[0]", ("v",)) == ["Select"]
    assert kinds("(v)[0]") == ["Cast"]


@pytest.mark.parametrize(
    "text",
    [
        "int f(int x) {", "int f(int x)", "int f(", "x = (1 +", "x = [1, 2", "f(", "if (a", "if (a) {", "if (a)",
        "while (", "for (i = 0; i < 3", "a +", "x =", "{ iv -> a", "{ [i,j] ->", "with {", "with { (. <= iv <= .)",
        "with { } :", "use Array", "use Array: {", "struct S {", "struct S { int a;", "do { } ", "-", "a ? b",
        "a ? b :", "x = Body{", "typedef int", "(int[3]", "a[", "s.f = ", "use", "inline", "external",
    ],
)  # fmt: skip
def test_input_that_ends_too_early_is_incomplete(text: str) -> None:
    parsed = parse_input(Source("<input>", text))
    assert parsed.diagnostics and parsed.incomplete, parsed.diagnostics


@pytest.mark.parametrize(
    "text", ["x = )", "1 2", "a b c d", "x = 3 +;", "f(]", "if a", "use 3", "int f(3) {", "}", "with (", "x = y = 3"]
)
def test_wrong_input_is_not_incomplete(text: str) -> None:
    parsed = parse_input(Source("<input>", text))
    assert parsed.diagnostics and not parsed.incomplete, parsed.diagnostics


def test_what_is_complete_is_not_incomplete() -> None:
    assert not parse_input(Source("<input>", "x = 1;")).incomplete
