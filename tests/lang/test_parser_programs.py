"""Statements, definitions and whole files."""

import pytest

from sacpy.lang import ast
from sacpy.lang.parser import parse_module
from sacpy.lang.printer import print_definition, print_stmt, print_type
from sacpy.lang.source import Source


def module(text: str) -> ast.Module:
    parsed = parse_module(Source("test", text))
    assert not parsed.diagnostics, parsed.diagnostics
    return parsed.module


def only(text: str) -> ast.Definition:
    (definition,) = module(text).definitions
    return definition


def function(text: str) -> ast.FunDef:
    definition = only(text)
    assert isinstance(definition, ast.FunDef)
    return definition


def body(text: str) -> tuple[ast.Stmt, ...]:
    statements = function(f"void f() {{ {text} }}").body
    assert statements is not None
    return statements


# ---------------------------------------------------------------- files


def test_headers() -> None:
    assert (module("module M;").kind, module("module M;").name) == ("module", "M")
    assert module('module M deprecated "use \\"N\\"";').deprecated == 'use "N"'
    internal = module("class C; classtype double[.];")
    assert internal.kind == "class" and internal.classtype is not None and print_type(internal.classtype) == "double[.]"
    external = module('#pragma safe\nclass C;\nexternal classtype;\n#pragma freefun "f"\nint g();')
    assert external.classtype is None and [p.text for p in external.pragmas] == ["safe", 'freefun "f"']


@pytest.mark.parametrize(
    ("text", "kind", "name", "every", "symbols"),
    [
        ("use A: all;", "use", "A", True, []),
        ("import A:all except {f, +, ++};", "import", "A", True, ["f", "+", "++"]),
        ("use A: {f};", "use", "A", False, ["f"]),
        ("use A: {};", "use", "A", False, []),
        ("export all;", "export", "", True, []),
        (
            "export {+, <*>, genarray, fold, all, except, step};",
            "export",
            "",
            False,
            ["+", "<*>", "genarray", "fold", "all", "except", "step"],
        ),
        ("provide all except {g};", "provide", "", True, ["g"]),
    ],
)
def test_interfaces(text: str, kind: str, name: str, every: bool, symbols: list[str]) -> None:
    found = only(text)
    assert isinstance(found, ast.Interface)
    assert (found.kind, found.module, found.all, [s for s, _ in found.symbols]) == (kind, name, every, symbols)


def test_types_and_objects() -> None:
    found = module(
        'typedef double[2] complex; external typedef string;\n#pragma copyfun "c"\n'
        "struct Body { double[3] pos, vel; complex z; struct Body b; }; struct E { } objdef Counter c = create(3);"
    ).definitions
    complex, string, struct, empty, object = found
    assert isinstance(complex, ast.TypeDef) and complex.type is not None
    assert isinstance(string, ast.TypeDef) and string.type is None and len(string.pragmas) == 1
    assert isinstance(struct, ast.StructDef) and [(print_type(t), n) for t, n, _ in struct.fields] == [
        ("double[3]", "pos"),
        ("double[3]", "vel"),
        ("complex", "z"),
        ("struct Body", "b"),
    ]
    assert isinstance(empty, ast.StructDef) and empty.fields == ()
    assert isinstance(object, ast.ObjDef) and object.name == "c"


# ---------------------------------------------------------------- functions


@pytest.mark.parametrize(
    "head",
    [
        "int f(int a)", "void f()", "int, double[.] f(int a, double[*] &b)", "inline int f(int a)",
        "noinline int f(int a)", "int +(int a, int b)", "bool[*] ==(int[*] a, int[*] b)", "int &&(int a, int b)",
        "int ++^(int a)", "Color8::color[.,.] f(Color8::color[.,.] a)", "struct M::S f(struct S[n] a)",
        "int genarray(int[.] shp)", "int fold(int all, int except)", "inline <T: num> T[*] +(T[*] a, T[*] b)",
        "<T: num, U: any> U f(T a, U b)", "int[n,m:shp] f(int[n] a, int[2:o,d>0:shp] b, int[_,.,*] c)",
        "double[n,n2] f(double[n,n] x)\n    | (n2 == n / 2), (n % 2 == 0)", "int f(int n)\n    | n > 0",
    ],
)  # fmt: skip
def test_heads_are_read_as_they_are_printed(head: str) -> None:
    assert print_definition(function(head + " { }")) == head + "\n{ }"
    assert print_definition(function(head + ";")) == head + ";"


def test_a_condition_before_a_body_is_no_struct_literal() -> None:
    found = function("int f(int n, int m) | n == m { return n; }")
    assert len(found.conditions) == 1 and found.body is not None and len(found.body) == 1


def test_external_declarations() -> None:
    found = function(
        'external int, ... sscanf(string s, string fmt, ...);\n#pragma linkname "x"\n#pragma refcounting [0]'
    )
    assert (found.linkage, found.varresults, found.varargs, len(found.results), len(found.pragmas)) == (
        "external",
        True,
        True,
        1,
        2,
    )
    found = function("external ... f(...);")
    assert (found.varresults, found.varargs, found.results, found.params) == (True, True, (), ())
    assert function("specialize double[2,2] f(double[2,2] a);").linkage == "specialize"


def test_references_and_old_spellings() -> None:
    assert [p.by_reference for p in function("void f(File &a, File& b, int c) { }").params] == [True, True, False]
    assert function("int (+)(int a, int b) { return a; }").name == "+"


def test_the_comment_above_is_the_documentation() -> None:
    assert "Adds" in function("/* Adds. */\nint f(int a) { return a; }").doc


# ---------------------------------------------------------------- statements


@pytest.mark.parametrize(
    "text",
    [
        "x = 1;", "a, b = f(x);", "x += 1;", "x <<= 2;", "x ^= y;", "x++;", "x--;", "a[i, j] = 1;",
        "a[i].f[j, ...] = 1;", "s.f.g = 1;", "a[iv] += 1;", "a[0], s.f, _ = f();", "a[i]++;", "s.n--;", "f(x);",
        "M::f(x);",
        "return;", "return a;", "return (a, b);", "return (a) + b;", "x = y ++ z;", "x = -2147483648;",
        "x = a ? b : c;",
    ],
)  # fmt: skip
def test_simple_statements_are_read_as_they_are_printed(text: str) -> None:
    (statement,) = body(text)
    assert print_stmt(statement) == text


def test_other_spellings() -> None:
    assert [print_stmt(s) for s in body("++x; -- a[0];;; ; x = 1; return();")] == [
        "x++;",
        "a[0]--;",
        "x = 1;",
        "return;",
    ]


def test_declarations_at_the_head() -> None:
    found = body("int a, b; double[.] c; complex z; M::t u; struct S[3] s; x = 1;")
    assert [type(s).__name__ for s in found] == ["VarDecl"] * 5 + ["Assign"]


def test_control_flow() -> None:
    if_, while_, do, for_, empty = body(
        "if (a) x = 1; else if (b) { } else y = 2; while (a) { x = 1; } do x++; while (x < 3); for (i = 0, j = 1; i < "
        "3; i++, j += 2) ; for (; a; ) x = 1;"
    )
    assert isinstance(if_, ast.If) and isinstance(if_.otherwise[0], ast.If) and len(if_.otherwise[0].otherwise) == 1
    assert isinstance(while_, ast.While) and isinstance(do, ast.DoWhile)
    assert isinstance(for_, ast.For) and (len(for_.init), len(for_.update), for_.body) == (2, 2, ())
    assert isinstance(empty, ast.For) and (empty.init, empty.update) == ((), ())


@pytest.mark.parametrize(
    "text",
    [
        "for (i = 0; i < 3; a, b = f(a, b)) { i++; }",
        "for (i, c = f(5); i < 3; i++, a, b = f(a)) i++;",
        "for (i = 0;\n i < n;\n i++,\n a, b = f(a)) {\n i++; }",
        "while (sum(with {\n ([0] <= [i] < [3]) : i; } : fold(+, 0)) > x) {\n x++; }",
        "if (all({ [i] ->\n a[i] | [i] < [3] })) {\n x++; }",
        "if (x == Body{1,\n 2}) {\n y = 1; }",
        "y = a ++\n b;",
        "a,\n b = f(a,\n b);",
    ],
)
def test_what_looks_like_a_slip_and_is_none(text: str) -> None:
    (statement,) = body(text)
    assert not isinstance(statement, ast.CallStmt)


def test_a_struct_literal_and_a_block_are_told_apart() -> None:
    (statement,) = body("if (x == Body{1}) { y = { iv -> 1 | iv < [2] }; }")
    assert (
        isinstance(statement, ast.If)
        and isinstance(statement.condition, ast.Binary)
        and isinstance(statement.condition.right, ast.StructLiteral)
    )


def test_a_variable_in_parentheses_is_no_type_once_it_is_assigned() -> None:
    cast, _, select, index = body(
        "x = (v)[0]; v = [1]; x = (v)[0]; y = with { (. <= iv <= .) : (iv)[0]; } : genarray([2]);"
    )
    assert isinstance(cast, ast.Assign) and isinstance(cast.value, ast.Cast)
    assert isinstance(select, ast.Assign) and isinstance(select.value, ast.Select)
    assert isinstance(index, ast.Assign) and isinstance(index.value, ast.With)
    results = index.value.parts[0].results
    assert results is not None and isinstance(results[0], ast.Select)


def test_a_typedef_anywhere_in_the_file_makes_a_cast() -> None:
    found = module("double f(double t) { t = t; return (t)[0]; } typedef double[2] t;").definitions[0]
    assert isinstance(found, ast.FunDef) and found.body is not None
    last = found.body[-1]
    assert isinstance(last, ast.Return) and isinstance(last.values[0], ast.Cast)


def test_macros_keep_the_place_of_their_use() -> None:
    found = function("#define INC(x) x + 1\nint f(int a) { return INC(a); }").body
    assert found is not None and isinstance(found[0], ast.Return)
    assert found[0].values[0].span.line == 2
