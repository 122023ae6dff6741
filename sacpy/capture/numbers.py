"""Arithmetic and comparisons with Python's and NumPy's meaning.

In: operators between values. Out: SaC's operators on operands of one base type. Whole numbers meet reals as in Python;
what stands as a literal takes the type of what it meets; reals of 32 and 64 bits do not mix by themselves. Arrays of
the same rank must have the same shape; those of fewer axes are repeated along the others, as are axes that are known to
have extent 1.
"""

from __future__ import annotations

import ast as py
import operator
from collections.abc import Callable

from sacpy.capture import build
from sacpy.capture.frame import NOTHING, Frame, Val, handles
from sacpy.capture.kinds import INTS, REALS, Num, array, whole
from sacpy.capture.places import DIFFER, RANGE
from sacpy.lang import ast
from sacpy.nodes import replace

ORDER = ("bool", "ubyte", "int", "long", "float", "double", "complex")
NARROW_LOW, NARROW_HIGH = -(1 << 31), (1 << 32) - 1
_CONVERT = {"int": "toi", "long": "tol", "double": "tod", "float": "tof", "ubyte": "toub"}
SYMBOLS: dict[type, str] = {
    py.Add: "+", py.Sub: "-", py.Mult: "*", py.Div: "/", py.FloorDiv: "//", py.Mod: "%", py.Pow: "**", py.MatMult: "@",
    py.BitAnd: "&", py.BitOr: "|", py.BitXor: "^", py.LShift: "<<", py.RShift: ">>",
}  # fmt: skip
FOLDS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
    "**": operator.pow, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<<": lambda a, b: a << min(b, 99), ">>": operator.rshift,
}  # fmt: skip


def converted(frame: Frame, found: Val, base: str) -> Val:
    """The same value with another base type; whole numbers become reals, and any number complex."""
    kind, span = found.kind, found.span
    if kind.base == base:
        return found
    if kind.is_int and base in ("int", "long"):
        return frame.coerced(found, base)
    if kind.literal and isinstance(found.expr, ast.Literal) and base in REALS:
        return Val(build.real(float(found.expr.value), span, base), Num(base, 0, literal=True))
    if base == "complex":
        inner = converted(frame, found, "double").expr
        if kind.rank == 0:
            expr = build.call("toc", [inner, build.real(0.0, span)], span)
        else:
            expr = frame.support("complex_array", [inner], span)
        return Val(expr, replace(kind, base=base, literal=False))
    expr = build.call(_CONVERT[base], [found.expr], span)
    if base in INTS and kind.rank == 0:
        return Val(expr, Num(base, 0, 0, 1) if kind.base == "bool" else replace(kind, base=base))
    return Val(expr, Num(base, kind.rank, ones=kind.ones))


def common(frame: Frame, node: py.AST, a: Val, b: Val) -> str:
    """The base type in which two values meet. Raises `SacError` for those that do not."""
    x, y = a.kind, b.kind
    for val in (a, b):
        if val.items is not None or val.kind == NOTHING:
            help = "work with its items one by one, or make an array of it: np.array(..)"
            raise frame.refused(node, f"{frame.shown(val)} is no operand here", help, DIFFER)
    if "complex" in (x.base, y.base):
        if "float" in (x.base, y.base):
            raise frame.refused(node, "a complex number and a Float do not mix", "convert: complex(x)", DIFFER)
        return "complex"
    if x.base == y.base:
        return x.base
    for one, other in ((x, y), (y, x)):
        if one.base == "float" and other.base == "double":
            if other.literal:
                return "float"
            help = "say which: np.float32(x) or np.float64(x)"
            raise frame.refused(node, f"{a.kind} and {b.kind} do not mix: 32 and 64 bits", help, DIFFER)
        if one.base == "float" and other.base in INTS and other.rank != 0:
            help = "say which: a.astype(np.float32) or a.astype(np.float64)"
            raise frame.refused(node, f"{a.kind} and {b.kind} do not mix by themselves", help, DIFFER)
    if x.base in INTS and y.base in INTS and (x.rank == 0) != (y.rank == 0):
        return x.base if x.rank != 0 else y.base
    return x.base if ORDER.index(x.base) > ORDER.index(y.base) else y.base


# ---------------------------------------------------------------- element by element


def elementwise(
    frame: Frame, node: py.AST, vals: list[Val], make: Callable[[list[ast.Expr]], ast.Expr], base: str,
    direct: bool = True,
) -> Val:  # fmt: skip
    """An operation on numbers or, element by element, on arrays. `direct`: `make` takes whole arrays of one shape."""
    arrays = [v for v in vals if v.kind.rank != 0]
    span = frame.span(node)
    if not arrays:
        return Val(make([v.expr for v in vals]), array(base, 0))
    ranks = {v.kind.rank for v in arrays}
    alike = len(ranks) == 1 and len({v.kind.ones for v in arrays}) == 1
    rank = max((r for r in ranks if r is not None), default=None)
    if direct and (alike or None in ranks):
        return Val(make([v.expr for v in vals]), array(base, rank, arrays[0].kind.ones if alike else frozenset()))
    if None in ranks:
        if len(arrays) > 1:
            help = 'say how many axes they have, as in Double["n", "m"]'
            raise frame.refused(node, "this is not taken on several arrays of unknown rank", help)
        (only,) = [frame.kept(v, node) for v in arrays]
        index = frame.fresh("iv")
        exprs = [_at(only, [build.var(index, span)]) if v is arrays[0] else v.expr for v in vals]
        shape = build.call("shape", [only.expr], span)
        whole_range = ast.TensorRange(None, True, shape, False, None, None, span)
        part = ast.TensorPart(index, (), make(exprs), whole_range, span, span)
        return Val(ast.Tensor((part,), span), array(base, None))
    assert rank is not None
    return broadcast(frame, node, vals, make, base, rank)


def _at(found: Val, indices: list[ast.Expr]) -> ast.Expr:
    return ast.Select(found.expr, tuple(indices), found.span)


def broadcast(
    frame: Frame, node: py.AST, vals: list[Val], make: Callable[[list[ast.Expr]], ast.Expr], base: str, rank: int
) -> Val:
    """The operation at every index; an array with fewer axes, or with one of extent 1, is repeated."""
    span = frame.span(node)
    vals = [frame.kept(v, node) if v.kind.rank != 0 else v for v in vals]
    names = [frame.fresh("k") for _ in range(rank)]
    upper: list[ast.Expr] = []
    ones: set[int] = set()
    for axis in range(rank):
        extents = [
            build.extent(v.expr, own, span)
            for v in vals
            if v.kind.rank and (own := axis - rank + v.kind.rank) >= 0 and own not in v.kind.ones
        ]
        if not extents:
            ones.add(axis)
            upper.append(build.integer(1, span))
            continue
        bound = extents[0]
        for other in extents[1:]:
            if other != bound:
                bound = frame.support("same_extent", [bound, other], span)
        upper.append(bound)
    exprs = []
    for v in vals:
        if not v.kind.rank:
            exprs.append(v.expr)
            continue
        own_names = names[rank - v.kind.rank :]
        at = [build.integer(0, span) if i in v.kind.ones else build.var(n, span) for i, n in enumerate(own_names)]
        exprs.append(_at(v, at))
    return Val(build.comprehension(names, make(exprs), upper, span), array(base, rank, frozenset(ones)))


# ---------------------------------------------------------------- operators


@handles(py.BinOp)
def _binop(frame: Frame, node: py.BinOp) -> Val:
    return combined(frame, node, SYMBOLS[type(node.op)], frame.value(node.left), frame.value(node.right))


def combined(frame: Frame, node: py.AST, symbol: str, left: Val, right: Val) -> Val:
    """What an operator of Python gives."""
    if symbol == "@":
        from sacpy.capture.linear import product

        return product(frame, node, left, right)
    span = frame.span(node)
    base = common(frame, node, left, right)
    if symbol in ("&", "|", "^", "<<", ">>"):
        return _bits(frame, node, symbol, left, right, base)
    if base == "bool":
        if left.kind.rank != 0 or right.kind.rank != 0:
            help = "combine them with &, | or ^; count with np.sum"
            raise frame.refused(node, f"arrays of bool have no {symbol}", help, DIFFER)
        base = "int"
    if symbol in ("/", "**") and base in INTS and (symbol == "/" or not _whole_power(right)):
        base = "double"
    if base in INTS and left.kind.rank == 0 and right.kind.rank == 0:
        return _whole(
            frame, node, symbol, converted(frame, left, _int_base(left)), converted(frame, right, _int_base(right))
        )
    left, right = converted(frame, left, base), converted(frame, right, base)
    if symbol == "**":
        return _power(frame, node, left, right, base)
    if symbol in ("//", "%"):
        if base == "complex":
            raise frame.refused(node, f"complex numbers have no {symbol}", "", DIFFER)
        name = "floor_div" if symbol == "//" else "floor_mod"
        return elementwise(frame, node, [left, right], lambda e: frame.support(name, e, span), base, direct=False)
    literal = left.kind.literal and right.kind.literal
    found = elementwise(frame, node, [left, right], lambda e: build.binary(symbol, e[0], e[1], span), base)
    return replace(found, kind=replace(found.kind, literal=True)) if literal else found


def _int_base(found: Val) -> str:
    return found.kind.base if found.kind.base in ("int", "long") else "int"


def _whole_power(right: Val) -> bool:
    """Whether a whole number to this power is whole for certain."""
    return (right.kind.is_int and right.kind.low >= 0) or (right.kind.rank == 0 and right.kind.base == "bool")


def _whole(frame: Frame, node: py.AST, symbol: str, left: Val, right: Val) -> Val:
    """Whole numbers: in SaC's `int` where the result is certain to fit, else in `long`."""
    a, b, span = left.kind, right.kind, frame.span(node)
    if isinstance(left.expr, ast.Literal) and isinstance(right.expr, ast.Literal):
        return _folded(frame, node, symbol, int(left.expr.value), int(right.expr.value))
    if symbol == "**":
        if right.kind.low == right.kind.high == 2:
            left = right = frame.kept(left, node) if frame.pre is not None or build.is_simple(left.expr) else left
            if build.is_simple(left.expr):
                return _whole(frame, node, "*", left, left)
        args = [frame.coerced(v, "long").expr for v in (left, right)]
        return Val(frame.support("int_power", args, span), whole())
    low, high = _range(symbol, a, b)
    base = "int" if a.is_small and b.is_small and whole(low, high).is_small else "long"
    operands = [frame.coerced(v, base) for v in (left, right)]
    if symbol in ("//", "%"):
        expr = _floored(frame, node, symbol, operands, a.low >= 0 and b.low >= 0)
    else:
        expr = build.binary(symbol, operands[0].expr, operands[1].expr, span)
    narrow = None
    if base == "long" and symbol in ("+", "-", "*") and low >= NARROW_LOW and high <= NARROW_HIGH:
        parts = [_narrow(frame, v) for v in (left, right)]
        if parts[0] is not None and parts[1] is not None:
            narrow = build.binary(symbol, parts[0], parts[1], span)
    return Val(expr, replace(whole(low, high), base=base), narrow=narrow)


def _floored(frame: Frame, node: py.AST, symbol: str, operands: list[Val], plain: bool) -> ast.Expr:
    """A division that rounds down, or its rest; `plain`: of numbers from 0 on. The division itself stands where Python
    has it, so that one by zero is an error there."""
    span = frame.span(node)
    if frame.pre is not None and not plain:
        operands = [frame.kept(v, node) for v in operands]
    a, b = (v.expr for v in operands)
    rest = build.binary("%", a, b, span)
    if plain:
        return rest if symbol == "%" else build.binary("/", a, b, span)
    if not (build.is_simple(a) and build.is_simple(b)):
        return frame.support("floor_div" if symbol == "//" else "floor_mod", [a, b], span)
    if symbol == "%":
        return frame.support("floor_rest", [rest, b], span)
    return frame.support("floor_quotient", [build.binary("/", a, b, span), rest, b], span)


def _narrow(frame: Frame, found: Val) -> ast.Expr | None:
    if found.narrow is not None:
        return found.narrow
    return frame.coerced(found, "int").expr if found.kind.is_small else None


def _range(symbol: str, a: Num, b: Num) -> tuple[int, int]:
    """The smallest and largest value of a result; what leaves 64 bits has every value."""
    if symbol == "+":
        ends = [a.low + b.low, a.high + b.high]
    elif symbol == "-":
        ends = [a.low - b.high, a.high - b.low]
    elif symbol == "*":
        ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    elif symbol == "//":
        divisors = [d for d in (b.low, b.high, *([1] if b.low <= 1 <= b.high else []),
                                *([-1] if b.low <= -1 <= b.high else [])) if d]  # fmt: skip
        ends = [x // d for x in (a.low, a.high) for d in divisors] or [0]
        if b.low < 0 or a.low < 0:
            ends += [-1]
    else:
        if a.low >= 0 and b.low > 0:
            return 0, min(a.high, b.high - 1)
        ends = [min(b.low + 1, 0), max(b.high - 1, 0)]
    low, high = min(ends), max(ends)
    full = whole()
    return (low, high) if full.low <= low and high <= full.high else (full.low, full.high)


def _folded(frame: Frame, node: py.AST, symbol: str, a: int, b: int) -> Val:
    """An operation on two literals."""
    if symbol in ("//", "%") and b == 0:
        raise frame.refused(node, "division by zero", "", RANGE)
    if symbol == "**" and b > 4096:
        raise frame.refused(node, "this power is too large", "", RANGE)
    value = FOLDS[symbol](a, b)
    return literal_int(frame, node, value)


def literal_int(frame: Frame, node: py.AST, value: int) -> Val:
    """A whole number of the text, or of a constant."""
    kind = whole(value, value, literal=True)
    if not kind.low == value == kind.high:
        help = "int is 64 bits here: compute with float, or in parts"
        raise frame.refused(node, f"{value} does not fit 64 bits", help, RANGE)
    return Val(build.integer(value, frame.span(node), kind.base), kind)


def _power(frame: Frame, node: py.AST, left: Val, right: Val, base: str) -> Val:
    span = frame.span(node)
    literal = right.expr
    square = isinstance(literal, ast.Literal) and literal.value == 2 and base != "complex"
    if square and (build.is_simple(left.expr) or frame.pre is not None):
        left = frame.kept(left, node)
        return elementwise(frame, node, [left, left], lambda e: build.binary("*", e[0], e[1], span), base)
    if base in INTS:

        def power(e: list[ast.Expr]) -> ast.Expr:
            args = [build.call("tol", [x], span) for x in e]
            made = frame.support("int_power", args, span)
            return made if base == "long" else build.call(_CONVERT[base], [made], span)

        return elementwise(frame, node, [left, right], power, base, direct=False)
    return elementwise(frame, node, [left, right], lambda e: build.call("pow", e, span), base)


def _bits(frame: Frame, node: py.AST, symbol: str, left: Val, right: Val, base: str) -> Val:
    span = frame.span(node)
    if base not in (*INTS, "bool"):
        raise frame.refused(node, f"{left.kind} and {right.kind} have no {symbol}", "", DIFFER)
    if base == "bool":
        if symbol in ("<<", ">>"):
            raise frame.refused(node, f"bool has no {symbol}", "convert: int(x)", DIFFER)
        mark = {"&": "&", "|": "|", "^": "!="}[symbol]
        return elementwise(frame, node, [left, right], lambda e: build.binary(mark, e[0], e[1], span), base)
    scalar = left.kind.rank == 0 and right.kind.rank == 0
    if scalar:
        if isinstance(left.expr, ast.Literal) and isinstance(right.expr, ast.Literal):
            return _folded(frame, node, symbol, int(left.expr.value), int(right.expr.value))
        base = "long"
    left, right = converted(frame, left, base), converted(frame, right, base)
    a, b = left.kind, right.kind
    found = elementwise(frame, node, [left, right], lambda e: build.binary(symbol, e[0], e[1], span), base)
    if not scalar:
        return found
    kind = whole()
    if symbol == "&" and (a.low >= 0 or b.low >= 0):
        kind = whole(0, min(v.high for v in (a, b) if v.low >= 0))
    elif symbol == ">>" and a.low >= 0:
        kind = whole(0, a.high)
    return Val(found.expr, replace(kind, base="long"))
