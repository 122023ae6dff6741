"""Parameters that are functions: what calls give is known when a program is checked, and instances are made for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import sacpy
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.formatter import format_text
from sacpy.lang.parser import parse_module
from sacpy.lang.printer import print_module
from sacpy.lang.source import Source
from sacpy.workspace import Workspace

HEAD = """use Array: all; use Structures: all;
int twice(int x) { return 2 * x; }
int plus(int a, int b) { return a + b; }
bool nearer(double a, double b) { return abs(a) < abs(b); }
bool nearer(int a, int b) { return abs(a) < abs(b); }
int first(double a, bool f(double, double), bool g(double, double)) { return f(a, 2.0) ? 1 : (g(a, 2.0) ? 2 : 3); }
int[*] applied(int f(int), int[*] a) { return { iv -> f(a[iv]) | iv < shape(a) }; }
bool[*] flags(bool f(bool), bool[*] a) { return { iv -> f(a[iv]) | iv < shape(a) }; }
int many(int n, int f(int x)) { return n == 0 ? 0 : f(n) + many(n - 1, f); }
int[.] through(int[.] v, int f(int)) { return applied(f, v); }
int folded(int[.] v, int f(int, int)) { return with { ([0] <= [i] < shape(v)) : v[i]; } : fold(f, 0); }
int[2] pair(int x) { return [x, -x]; }
int norm(int x, int[2] f(int)) { return sum(f(x) * f(x)); }
inline int again(int x, int f(int)) { for (i = 0; i < 3; i++) { x = f(x); } return x; }
struct P { double x; int y; };
bool below(struct P a, struct P b) { return a.y < b.y; }
"""

CALLS = [
    ("applied(twice, [[1, 2], [3, 4]])", [[2, 4], [6, 8]]),
    ("applied(abs, [1, -2])", [1, 2]),
    ("applied(-, [1, -2])", [-1, 2]),
    ("flags(!, [true, false])", [False, True]),
    ("many(4, twice)", 20),
    ("through([1, 2], twice)", [2, 4]),
    ("folded([1, 2, 3], plus)", 6),
    ("folded([1, 2, 3], +)", 6),
    ("folded([1, 2, 3], ScalarArith::+)", 6),
    ("norm(3, pair)", 18),
    ("again(1, twice)", 8),
    ("first(1.0, nearer, <)", 1),
    ("first(3.0, nearer, <)", 3),
    ("first(-3.0, nearer, <)", 2),
    ("[many(2, twice), many(2, abs)]", [6, 3]),
    ("sort_by([3.0, -1.0, 2.0], nearer)", [-1.0, 2.0, 3.0]),
    ("argsort_by([3, -1, 2], nearer)", [1, 2, 0]),
    ("argsort_by([P{0.5, 3}, P{1.5, 1}, P{2.5, 3}, P{3.5, 1}], below)", [1, 3, 0, 2]),
]


@pytest.mark.parametrize("target", ["interp", "cpu", "emulator"])
def test_calls_give_what_the_functions_do(target: str) -> None:
    session = sacpy.Session(target=target)
    session.define("use Sort: all;\n" + HEAD)
    for call, wanted in CALLS:
        assert np.array_equal(session.eval(call), wanted), call


def said(text: str) -> Sequence[Diagnostic]:
    """What is said of a program."""
    try:
        return Workspace().load_text(text)[1]
    except SacError as error:
        return error.diagnostics


USED = """double[.] ordered(double[.] v, bool before(double, double)) { return before(v[0], v[1]) ? v : reverse(v); }
bool less(double a, double b) { return a < b; }
bool whole(int a, int b) { return a < b; }
double, double several(double a, double b) { return (a, b); }
void nothing(double a, double b) { }
bool changes(double &a, double b) { a = b; return true; }
double[3] three(double x) { return [x, x, x]; }
double total(double x, double[2] g(double)) { return sum(g(x)); }
"""
WRONG = [
    (
        "ordered([1.0, 2.0], whole)",
        "E0403",
        "a function like `bool before(double, double)`; there is bool whole",
    ),
    ("ordered([1.0, 2.0], true)", "E0403", "before is a function: give the name of one like `bool before("),
    ("ordered([1.0, 2.0], lesser)", "E0307", "did you mean less?"),
    ("ordered([1.0, 2.0], Array::lesser)", "E0307", "define lesser"),
    ("total(1.0, three)", "E0403", "must be a function like `double[2] g(double)`; there is double[3] three"),
    ("ordered([1.0, 2.0], several)", "E0403", "there is double, double several(double a, double b)"),
    ("ordered([1.0, 2.0], nothing)", "E0403", "there is void nothing(double a, double b)"),
    ("ordered([1.0, 2.0], changes)", "E0403", "there is bool changes(double &a, double b)"),
    ("ordered([1.0, 2.0], StdIO::printf)", "E0403", "must be a function like"),
    ("sum(reverse(less))", "E0305", "less is a function: call it as less(..)"),
    ("{ f = less; return 1.0; }", "E0305", "less is a function"),
    ("abs(-)", "E0305", "- is a function"),
]


@pytest.mark.parametrize(("call", "code", "help"), WRONG)
def test_what_is_wrong_with_a_call_is_said(call: str, code: str, help: str) -> None:
    body = call if call.startswith("{") else f"{{ return {call}; }}"
    found = said(f"use Array: all;\n{USED}double[*] f() {body}")[0]
    assert found.code == code and help in found.help, (found.code, found.help)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("double f(double g(double)) { return g(1); }", "E0403"),  # nobody calls it
        ("double f(double g(double)) { return g(1.0, 2.0); }", "E0415"),
        ("int f(double g(double)) { return g(1.0); }", "E0437"),
        ("double f(double g(double)) { h = g; return 1.0; }", "E0305"),
        ("double f(double g(double), double g(int)) { return 1.0; }", "E0434"),
        ('use StdIO: all; int f(int g(int)) { printf("%d", g); return 1; }', "E0429"),
        ("use Array: all; int f(int g(int)) { return reshape([1], g)[0]; }", "E0403"),
        ("double f(double &g(double)) { return 1.0; }", "E0243"),
        ("double f(double g(nothing)) { return 1.0; }", "E0310"),
        ("double f(double g(double x y)) { return 1.0; }", "E0203"),
    ],
)
def test_what_is_wrong_with_a_definition_is_said(text: str, code: str) -> None:
    assert [d.code for d in said(text)] == [code]


def test_main_takes_no_function() -> None:
    program, _ = Workspace().load_text("int main(int f(int)) { return f(1); }")
    with pytest.raises(SacError) as caught:
        program.main_key()
    assert caught.value.diagnostics[0].code == "E0309"


def test_a_function_is_looked_for_where_it_was_named(tmp_path: Path) -> None:
    (tmp_path / "Own.sac").write_text(
        "module Own;\nuse Array: all;\nexport { shown };\nint secret(int x) { return 10 * x; }\n"
        "int[*] each(int[*] a, int f(int)) { return { iv -> f(a[iv]) | iv < shape(a) }; }\n"
        "int[*] shown(int[*] a) { return each(a, secret); }\n"
    )
    (tmp_path / "main.sac").write_text(
        "use Own: all;\nint secret(int x) { return 0; }\nint[*] f(int[*] a) { return shown(a); }\n"
    )
    assert sacpy.Session().load(tmp_path / "main.sac").f([1, 2]).tolist() == [10, 20]


def test_python_gives_no_functions_and_is_told_what_does() -> None:
    module = sacpy.Session().compile("int f(int g(int)) { return g(1); } int h(int x) { return x; }")
    with pytest.raises(sacpy.SacError) as caught:
        module.f(3)
    assert "define one that calls it" in caught.value.diagnostics[0].help


def test_they_are_printed_and_laid_out_as_they_are_written() -> None:
    text = "int f(int x, bool g(double, int[.]), int h()) { return h(); }\n"
    again = print_module(parse_module(Source("text", text)).module)
    assert "int f(int x, bool g(double, int[.]), int h())" in again
    assert format_text(text) == text
