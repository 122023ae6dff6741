"""What is printed parses to the same tree: for every program of the repository, and for trees made at random."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacpy.lang import ast
from sacpy.lang.ast_tools import plain, same
from sacpy.lang.parser import parse_expression, parse_module
from sacpy.lang.printer import print_expr, print_module, print_type
from sacpy.lang.source import NOWHERE, Source
from tests.tools import ROOT

PROGRAMS = sorted(
    path for folder in ("sacpy/stdlib", "programs", "tests/corpus") for path in (ROOT / folder).rglob("*.sac")
)
OPERATORS = ["+", "-", "*", "/", "%", "++", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&", "^", "|", "<+>", "++^"]
VARIABLES = ("a", "b", "v")


def test_there_are_programs() -> None:
    assert len(PROGRAMS) > 20


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_a_printed_program_parses_to_the_same_tree(path: object) -> None:
    parsed = parse_module(Source(str(path)))
    if parsed.diagnostics:
        pytest.skip("does not parse by itself")
    text = print_module(parsed.module)
    again = parse_module(Source("printed", text))
    assert not again.diagnostics, (again.diagnostics, text)
    assert plain(again.module) == plain(parsed.module)
    assert print_module(again.module) == text


# ---------------------------------------------------------------- random trees

N = NOWHERE


def name(word: str) -> ast.QName:
    return ast.QName("M" if word.startswith("M::") else None, word.removeprefix("M::"), N)


def literal(value: int | float) -> ast.Expr:
    return ast.Literal("int" if isinstance(value, int) else "double", value, str(value), N)


def type_expr(base: str, pattern: tuple[ast.Feature, ...] | None) -> ast.TypeExpr:
    return ast.TypeExpr(name(base), pattern, False, N)


features = st.one_of(
    st.just(ast.AnyExtent(N)), st.integers(0, 9).map(lambda n: ast.FixedExtent(n, N)), st.just(ast.NamedExtent("n", N)),
    st.just(ast.RankSlice(2, "shp", None, N)), st.just(ast.RankSlice("d", "shp", 0, N)),
    st.just(ast.RankSlice("d", "shp", None, N)),
)  # fmt: skip
patterns = st.one_of(
    st.none(), st.lists(features, max_size=3).map(tuple), st.just((ast.AnyShape(N),)), st.just((ast.SomeShape(N),))
)
types = st.builds(type_expr, st.sampled_from(["int", "double", "bool"]), patterns)
leaves = st.one_of(
    st.integers(0, 2**31 - 1).map(literal), st.floats(0, 1e6, allow_nan=False).map(literal),
    st.just(ast.Literal("int", -(2**31), "-2147483648", N)),
    st.sampled_from(["a", "b", "v"]).map(lambda w: ast.Name(name(w), N)),
    st.just(ast.Literal("bool", True, "true", N)), st.just(ast.Literal("char", 39, "'\\''", N)),
    st.just(ast.StringLiteral('q"\n', '"q\\"\\n"', N)), types.map(lambda t: ast.EmptyArray(t, N)),
)  # fmt: skip


def indices(inner: st.SearchStrategy[ast.Expr]) -> st.SearchStrategy[tuple[ast.Expr, ...]]:
    return st.lists(st.one_of(inner, st.just(ast.Dot(N))), max_size=3).map(tuple)


def generator(lower: ast.Expr | None, inclusive: bool, upper: ast.Expr | None, step: ast.Expr | None) -> ast.Generator:
    return ast.Generator(lower, inclusive, "iv", ("i", "j"), not inclusive, upper, step, step, N, N)


def loop(made: ast.Generator, result: ast.Expr, shape: ast.Expr, default: ast.Expr | None) -> ast.Expr:
    body = (
        ast.Assign(
            (ast.Target("x", (ast.IndexStep((result,), N), ast.FieldStep("f", N)), N, N),), name("+"), result, N
        ),
    )
    return ast.With(
        (),
        (ast.Part(made, (), body, (result, shape), N), ast.Part(made, (), (), (result,), N)),
        (
            ast.GenarrayOp(shape, default, N),
            ast.FoldOp(name("M::+"), (), result, None, N),
            ast.ScanOp(name("f"), (shape,), result, default is None, N),
            ast.IntoOp(shape, name("max"), (result,) if default is None else (), N),
        ),
        N,
    )


def comprehension(value: ast.Expr, lower: ast.Expr | None, inclusive: bool, upper: ast.Expr | None) -> ast.Expr:
    range = (
        None
        if lower is None and upper is None
        else ast.TensorRange(lower, inclusive or lower is None, upper, inclusive and upper is not None, None, None, N)
    )
    return ast.Tensor(
        (
            ast.TensorPart(None, (ast.Dot(N), "i", ast.Dots(N)), value, range, N, N),
            ast.TensorPart("iv", (), value, None, N, N),
        ),
        N,
    )


def compound(inner: st.SearchStrategy[ast.Expr]) -> st.SearchStrategy[ast.Expr]:
    several = st.lists(inner, max_size=3).map(tuple)
    maybe = st.one_of(st.none(), inner)
    return st.one_of(
        st.builds(
            lambda o, left, right: ast.Binary(name(o), left, right, N),
            st.sampled_from([*OPERATORS, "M::+", "M::<+>"]),
            inner,
            inner,
        ),
        st.builds(lambda o, left, right: ast.Logical(o, left, right, N), st.sampled_from(["&&", "||"]), inner, inner),
        st.builds(lambda o, e: ast.Unary(name(o), e, N), st.sampled_from(["-", "!", "~", "++", "*", "M::-"]), inner),
        st.builds(lambda c, a, b: ast.Conditional(c, a, b, N), inner, inner, inner),
        st.builds(lambda t, e: ast.Cast(t, e, N), types, inner),
        st.builds(lambda e: ast.Paren(e, N), inner),
        st.builds(
            lambda f, args: ast.Call(name(f), args, N), st.sampled_from(["f", "M::f", "genarray", "_add_SxS_"]), several
        ),
        st.builds(lambda a, i: ast.Select(a, i, N), inner, indices(inner)),
        st.builds(lambda a, i: ast.Select(a, (ast.ArrayLiteral(i, N),), N), inner, indices(inner)),
        st.builds(lambda e: ast.Field(e, "f", N, N), inner),
        st.builds(lambda e: ast.ArrayLiteral(e, N), several),
        st.builds(lambda e: ast.StructLiteral(name("S"), e, (), N), several),
        st.builds(lambda e: ast.StructLiteral(name("M::S"), (), (("x", e), ("y", e)), N), inner),
        st.builds(loop, st.builds(generator, maybe, st.booleans(), maybe, maybe), inner, inner, maybe),
        st.builds(comprehension, inner, maybe, st.booleans(), maybe),
    )


@settings(max_examples=400, deadline=None)
@given(st.recursive(leaves, compound, max_leaves=12))
def test_a_random_tree_survives_printing_and_parsing(expr: ast.Expr) -> None:
    text = print_expr(expr)
    parsed = parse_expression(Source("printed", text), operators=("<+>", "++^"), variables=(*VARIABLES, "i", "j", "iv"))
    assert not parsed.diagnostics, (text, parsed.diagnostics)
    assert same(parsed.expr, expr, parentheses=False), text


@given(types)
def test_types_survive_printing_and_parsing(type: ast.TypeExpr) -> None:
    parsed = parse_module(Source("printed", f"void f({print_type(type)} a) {{ }}"))
    (function,) = parsed.module.definitions
    assert isinstance(function, ast.FunDef) and same(function.params[0].type, type)


@pytest.mark.parametrize(
    "text",
    ["a + b * c", "(a + b) * c", "-a", "- -a", "-(a + b)", "!f(a)", "a[i, .]", "a[[i, ...]]", "(int[3]) a", "f(a, b)",
        "a M::+ b", "M::o + 1", "S{.x = 1}", "{ [i,.] -> a[i] | [i] < [3]; iv -> 2 }", "a ? b : c", "[:int[0,3]]",
        '"x" + \'y\''],
)  # fmt: skip
def test_the_usual_spelling_is_printed_as_it_was_written(text: str) -> None:
    parsed = parse_expression(Source("test", text), variables=VARIABLES)
    assert parsed.expr is not None
    assert print_expr(parsed.expr) == text


def test_a_program_is_laid_out() -> None:
    text = """class C deprecated "old";
classtype int;
#pragma freefun "f"

use Array: all except {sum, ++};
import M: {f};

typedef double[2] complex;

struct S {
    int a;
    double[3] b;
};

objdef C c = create(1);

external int, ... f(string s, ...);
#pragma linkname "g"

inline int, bool[*] g(int[n,.] a, File &b)
    | n > 0, n < 9
{
    int x, y;
    if (a == b) {
        x = 1;
    } else if (true) {
        y += 2;
    } else {
        x++;
    }
    for (i = 0, j = 1; i < 3; i++) {
        a[i, j].f = { iv -> 1 | iv < [2] };
    }
    do {
        print(x);
    } while (x < 3);
    while (true) { }
    z, w = with {
        #pragma wlcomp All()
        (. <= iv=[i,j] < n step 2 width 1) {
            k = iv;
        } : (k, 1);
        ([0] < [i] <= n);
    } : (genarray(n, 0), foldfix(f(a), 0, 1));
    return (x, y);
}
"""
    parsed = parse_module(Source("test", text))
    assert not parsed.diagnostics
    assert print_module(parsed.module) == text
