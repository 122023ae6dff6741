"""Expressions: precedence, prefix operators, casts, selections, literals.

`shown` writes the tree with every operand in braces, so that a test reads as the grouping it expects.
"""

import pytest

from sacpy.lang import ast
from sacpy.lang.parser import parse_expression
from sacpy.lang.printer import print_type
from sacpy.lang.source import Source


def parse(text: str, variables: tuple[str, ...] = (), operators: tuple[str, ...] = ()) -> ast.Expr:
    parsed = parse_expression(Source("test", text), variables=variables, operators=operators)
    assert not parsed.diagnostics, parsed.diagnostics
    assert parsed.expr is not None
    return parsed.expr


def shown(expr: ast.Expr) -> str:
    """The tree in full parentheses."""
    match expr:
        case ast.Literal() | ast.StringLiteral():
            return expr.text
        case ast.Name(name):
            return str(name)
        case ast.Binary(operator, left, right):
            return f"({shown(left)} {operator} {shown(right)})"
        case ast.Logical(word, left, right):
            return f"({shown(left)} {word} {shown(right)})"
        case ast.Unary(operator, operand):
            return f"({operator} {shown(operand)})"
        case ast.Conditional(c, a, b):
            return f"({shown(c)} ? {shown(a)} : {shown(b)})"
        case ast.Cast(type, operand):
            return f"<{print_type(type)} {shown(operand)}>"
        case ast.Paren(inner):
            return f"'{shown(inner)}'"
        case ast.Call(function, args):
            return f"{function}({', '.join(map(shown, args))})"
        case ast.Select(array, indices):
            return f"{shown(array)}@[{', '.join(map(shown, indices))}]"
        case ast.Field(value, name):
            return f"{shown(value)}.{name}"
        case ast.ArrayLiteral(elements):
            return f"[{', '.join(map(shown, elements))}]"
        case ast.EmptyArray(type):
            return f"[:{print_type(type)}]"
        case ast.Dot():
            return "."
        case ast.Dots():
            return "..."
        case ast.StructLiteral(name, positional, named):
            return f"{name}{{{', '.join([*map(shown, positional), *(f'.{n}={shown(e)}' for n, e in named)])}}}"
        case _:
            return type(expr).__name__


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a + b * c", "(a + (b * c))"),
        ("a - b - c", "((a - b) - c)"),
        ("a << b + c", "(a << (b + c))"),
        ("a ++ b << c", "(a ++ (b << c))"),
        ("a < b ++ c", "(a < (b ++ c))"),
        ("a == b < c", "(a == (b < c))"),
        ("a & b == c", "(a & (b == c))"),
        ("a ^ b & c", "(a ^ (b & c))"),
        ("a | b ^ c", "(a | (b ^ c))"),
        ("a && b | c", "(a && (b | c))"),
        ("a || b && c", "(a || (b && c))"),
        ("a ? b : c ? d : e", "(a ? b : (c ? d : e))"),
        ("a ? b ? c : d : e", "(a ? (b ? c : d) : e)"),
        ("a || b ? c : d", "((a || b) ? c : d)"),
        ("a % b / c * d", "(((a % b) / c) * d)"),
        ("a ++ b ++ c", "((a ++ b) ++ c)"),
        ("a ++ -b", "(a ++ (- b))"),
        ("a >= b != c <= d", "((a >= b) != (c <= d))"),
    ],
)
def test_precedence(text: str, tree: str) -> None:
    assert shown(parse(text)) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a <+> b * c", "((a <+> b) * c)"),
        ("a * b <+> c", "(a * (b <+> c))"),
        ("a <+> b <+> c", "((a <+> b) <+> c)"),
        ("a ++^ b + c", "((a ++^ b) + c)"),
        ("-a <+> b", "((- a) <+> b)"),
        ("a Array::+ b Array::* c", "(a Array::+ (b Array::* c))"),
        ("a String::== b", "(a String::== b)"),
        ("a M::&& b", "(a M::&& b)"),
    ],
)
def test_user_operators_bind_tighter_than_multiplication(text: str, tree: str) -> None:
    assert shown(parse(text, operators=("<+>", "++^"))) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("-a[0]", "(- a@[0])"),
        ("- -a", "(- (- a))"),
        ("!a & b", "((! a) & b)"),
        ("~a.f", "(~ a.f)"),
        ("++ v[0]", "(++ v@[0])"),
        ("* x", "(* x)"),
        ("-(a)", "(- 'a')"),
        ("-(a)[0]", "-(a)@[0]"),
        ("-(a).f", "-(a).f"),
        ("-(int[3]) a", "(- <int[3] a>)"),
        ("+(a, b)", "+(a, b)"),
        ("+(a, b) * c", "(+(a, b) * c)"),
        ("Array::+(a, b)", "Array::+(a, b)"),
        ("Array::-a", "(Array::- a)"),
        ("&&(a, b)", "&&(a, b)"),
        ("(int[2]) -a + b", "(<int[2] (- a)> + b)"),
    ],
)
def test_prefix_operators(text: str, tree: str) -> None:
    assert shown(parse(text, variables=("a",))) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("(complex)[r, i]", "<complex [r, i]>"),
        ("(v)[r, i]", "'v'@[r, i]"),
        ("(double[2]) c", "<double[2] c>"),
        ("(int[3,2]) e", "<int[3,2] e>"),
        ("(:int[3,2]) e", "<int[3,2] e>"),
        ("(complex) x", "<complex x>"),
        ("(complex) 1", "<complex 1>"),
        ("(complex) f(x)", "<complex f(x)>"),
        ("(complex)(x)", "<complex 'x'>"),
        ("(complex) (double[2]) x", "<complex <double[2] x>>"),
        ("(v) - x", "('v' - x)"),
        ("(other) - x", "('other' - x)"),
        ("(v[1])[0]", "'v@[1]'@[0]"),
        ("(complex[3])[0]", "<complex[3] [0]>"),
        ("(M::t[.,.]) x", "<M::t[.,.] x>"),
        ("(M::t) x", "<M::t x>"),
        ("(M::t) -x", "<M::t (- x)>"),
        ("(struct S[3]) x", "<struct S[3] x>"),
        ("(v) Array::+ x", "('v' Array::+ x)"),
        ("(v).f", "'v'.f"),
        ("(complex) !x", "<complex (! x)>"),
        ("(double[.]) x[0]", "<double[.] x@[0]>"),
        ("(double[d:shp]) x * 2", "(<double[d:shp] x> * 2)"),
    ],
)
def test_a_parenthesis_is_a_cast_or_not(text: str, tree: str) -> None:
    assert shown(parse(text, variables=("v",))) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a[]", "a@[]"),
        ("a[[]]", "a@[[]]"),
        ("a[i][j]", "a@[i]@[j]"),
        ("a[., 1]", "a@[., 1]"),
        ("a[[., 1]]", "a@[[., 1]]"),
        ("a[x, ., y, ..., z, .]", "a@[x, ., y, ..., z, .]"),
        ("a[...]", "a@[...]"),
        ("bodies[i].pos.x", "bodies@[i].pos.x"),
        ("f(x)[1].y", "f(x)@[1].y"),
        ("[1, 2][0]", "[1, 2]@[0]"),
        ('"text"[0]', '"text"@[0]'),
        ("[]", "[]"),
        ("[[1, 2], [3, 4]]", "[[1, 2], [3, 4]]"),
        ("[:int]", "[:int]"),
        ("[:double[0,3]]", "[:double[0,3]]"),
        ("[int]", "[:int]"),
        ("Body{p, v, 1d}", "Body{p, v, 1d}"),
        ("Body{.pos = p, .mass = 1d}", "Body{.pos=p, .mass=1d}"),
        ("Body{}", "Body{}"),
        ("M::Body{}.pos", "M::Body{}.pos"),
        (
            "genarray(shp, 0) + all(v) + fold(v) + step(1) + width(2)",
            "((((genarray(shp, 0) + all(v)) + fold(v)) + step(1)) + width(2))",
        ),
        ("_add_SxS_(a, b)", "_add_SxS_(a, b)"),
    ],
)
def test_postfix_and_primary(text: str, tree: str) -> None:
    assert shown(parse(text)) == tree


@pytest.mark.parametrize(
    ("text", "base", "value"),
    [
        ("3", "int", 3), ("0x10", "int", 16), ("017", "int", 15), ("3ub", "ubyte", 3), ("3l", "long", 3),
        ("1.5", "double", 1.5), ("1.5f", "float", 1.5), ("0d", "double", 0.0),
        ("true", "bool", True), ("false", "bool", False), ("'a'", "char", 97), ("'\\n'", "char", 10),
        ("-2147483648", "int", -2147483648), ("-128b", "byte", -128),
        ("-9223372036854775808l", "long", -9223372036854775808),
    ],
)  # fmt: skip
def test_literals(text: str, base: str, value: object) -> None:
    literal = parse(text)
    assert isinstance(literal, ast.Literal)
    assert (literal.base, literal.value, type(literal.value)) == (base, value, type(value))


def test_the_smallest_int_is_one_literal_and_smaller_ones_are_not() -> None:
    assert shown(parse("-2147483648 + 1")) == "(-2147483648 + 1)"
    assert shown(parse("-2147483647")) == "(- 2147483647)"
    parsed = parse_expression(Source("test", "2 - 2147483648"))
    assert [d.code for d in parsed.diagnostics] == ["E0224"]
    parsed = parse_expression(Source("test", "-(2147483648)"))
    assert [d.code for d in parsed.diagnostics] == ["E0224"]


def test_adjacent_strings_are_joined() -> None:
    literal = parse('"ab\\n" "cd"')
    assert isinstance(literal, ast.StringLiteral)
    assert literal.value == "ab\ncd"


def test_a_bar_ends_a_comprehension_s_value_but_not_inside_brackets() -> None:
    tensor = parse("{ [i] -> a[i | 1] + (b | c) | [i] < [3] }")
    assert isinstance(tensor, ast.Tensor)
    (part,) = tensor.parts
    assert shown(part.value) == "(a@[(i | 1)] + '(b | c)')"
    assert part.range is not None and part.range.upper is not None
    assert shown(part.range.upper) == "[3]"


@pytest.mark.parametrize(
    ("text", "lower", "first", "last", "upper"),
    [
        ("iv < [3]", None, True, False, "[3]"),
        ("iv <= [3]", None, True, True, "[3]"),
        ("[0] <= iv", "[0]", True, False, None),
        ("[0] < iv < [3]", "[0]", False, False, "[3]"),
        ("[0] <= iv <= n < 3 ? a : b", "[0]", True, True, "((n < 3) ? a : b)"),
        (". <= iv < s", None, True, False, "s"),
        ("a + 1 <= iv < s * 2", "(a + 1)", True, False, "(s * 2)"),
    ],
)
def test_ranges(text: str, lower: str | None, first: bool, last: bool, upper: str | None) -> None:
    tensor = parse(f"{{ iv -> 1 | {text} step [2] width [1] }}")
    assert isinstance(tensor, ast.Tensor)
    range = tensor.parts[0].range
    assert range is not None and range.step is not None and range.width is not None
    found = (
        range.lower and shown(range.lower),
        range.lower_inclusive,
        range.upper_inclusive,
        range.upper and shown(range.upper),
    )
    assert found == (lower, first, last, upper)


def test_comprehension_with_parts_dots_and_scalars() -> None:
    tensor = parse("{ [., i, ...] -> v[i] | [i] < [3]; [i] -> 2; iv -> { jv -> iv[0] } }")
    assert isinstance(tensor, ast.Tensor)
    first, second, third = tensor.parts
    assert [i if isinstance(i, str) else type(i).__name__ for i in first.items] == ["Dot", "i", "Dots"]
    assert (second.items, second.range, third.vector) == (("i",), None, "iv")
    assert isinstance(third.value, ast.Tensor)


def test_with_loop_operators_and_generators() -> None:
    loop = parse(
        "with { (. <= iv=[i,j] < .) : a; ([0,0] < [i,j] <= n step [2,2] width [1,1]) { x = 1; } : (x, y, z); (l <= iv "
        "< u); (l <= iv < u) : void; }"
        " : (genarray(shp, 0), modarray(a), fold(+, 0), fold(f(a, b), n), fold(M::max, 0), foldfix(&, true, false), "
        "propagate(o))"
    )
    assert isinstance(loop, ast.With)
    first, second, third, fourth = loop.parts
    assert (first.generator.lower, first.generator.vector, first.generator.scalars, first.generator.upper) == (
        None,
        "iv",
        ("i", "j"),
        None,
    )
    assert (second.generator.lower_inclusive, second.generator.upper_inclusive, second.generator.vector) == (
        False,
        True,
        None,
    )
    assert second.generator.step is not None and second.generator.width is not None and len(second.body) == 1
    assert second.results is not None and len(second.results) == 3
    assert third.results is None and fourth.results is None
    folds = [
        (str(op.function), len(op.args), op.stop is not None) for op in loop.operators if isinstance(op, ast.FoldOp)
    ]
    assert folds == [("+", 0, False), ("f", 2, False), ("M::max", 0, False), ("&", 0, True)]
    assert [type(op).__name__ for op in loop.operators] == [
        "GenarrayOp",
        "ModarrayOp",
        "FoldOp",
        "FoldOp",
        "FoldOp",
        "FoldOp",
        "PropagateOp",
    ]


def test_scans_and_reductions_by_index() -> None:
    loop = parse(
        "with { ([0] <= [i] < n) : (x, y, z, k, w); }"
        " : (scan(+, 0), exscan(M::f(a, b), [0, 0]), scan(max(a), n), into(array, +), into(f(a), M::f(b)))"
    )
    assert isinstance(loop, ast.With)
    scans = [op for op in loop.operators if isinstance(op, ast.ScanOp)]
    assert [(str(op.function), len(op.args), op.exclusive) for op in scans] == [
        ("+", 0, False),
        ("M::f", 2, True),
        ("max", 1, False),
    ]
    found = [op for op in loop.operators if isinstance(op, ast.IntoOp)]
    assert [(type(op.array).__name__, str(op.function), len(op.args)) for op in found] == [
        ("Name", "+", 0),
        ("Call", "M::f", 1),
    ]


def test_words_of_scans_may_name_functions_and_variables() -> None:
    call = parse("scan(into, exscan(1))")
    assert isinstance(call, ast.Call) and str(call.function) == "scan" and isinstance(call.args[0], ast.Name)


def test_a_bound_in_parentheses_before_step_is_no_cast() -> None:
    loop = parse("with { (0 <= iv < (n) step (s) width w) : (a) + b; } : void")
    assert isinstance(loop, ast.With)
    generator = loop.parts[0].generator
    assert isinstance(generator.upper, ast.Paren) and isinstance(generator.step, ast.Paren)
    assert loop.parts[0].results is not None and len(loop.parts[0].results) == 1
    assert loop.operators == ()


def test_with_loop_pragmas_stand_in_every_old_and_new_place() -> None:
    text = (
        "with {\n#pragma wlcomp All()\n(. <= iv <= .)\n#pragma gpukernel GridBlock(1, Gen)\n : 1;\n"
        "#pragma gpukernel Gen\n(. <= iv <= .) : 2; } : genarray([3])"
    )
    loop = parse(text)
    assert isinstance(loop, ast.With)
    assert [p.text for p in loop.pragmas] == ["wlcomp All()"]
    assert [[p.text for p in part.pragmas] for part in loop.parts] == [
        ["gpukernel GridBlock(1, Gen)"],
        ["gpukernel Gen"],
    ]


def test_every_node_s_span_covers_its_text() -> None:
    expr = parse("  f(a + b[1], -c) ")
    assert expr.span.text == "f(a + b[1], -c)"
    assert isinstance(expr, ast.Call)
    assert [e.span.text for e in expr.args] == ["a + b[1]", "-c"]
    binary = expr.args[0]
    assert isinstance(binary, ast.Binary)
    assert [binary.left.span.text, binary.operator.span.text, binary.right.span.text] == ["a", "+", "b[1]"]
