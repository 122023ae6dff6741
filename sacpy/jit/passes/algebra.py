"""Rules for single operations: constants fold, neutral operands go, comparisons and sums take one form each.

In: an operation whose operands are in final form, and a way to look up what an operand was set to. Out: an atom that
has its value, a simpler operation, or None. Integers wrap, so their sums may be regrouped; floating point keeps every
bit: `x + 0.0` stays (x may be -0.0), `x - 0.0`, `x * 1.0` and a division by a power of two do not; one NaN is as good
as another. Nothing is said of operands that the language refuses (a division by 0).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.operations import PLACES, known_place
from sacpy.lang import constants
from sacpy.lang.primitives import CONVERSIONS
from sacpy.lang.types import BITS, REAL, SIGNED

Lookup = Callable[[g.Atom], g.Rhs | None]
Found = g.Atom | g.Op | None

COMMUTATIVE = frozenset({"add", "mul", "bitand", "bitor", "bitxor", "and", "or", "eq", "neq"})
_SWAPPED = {"gt": "lt", "ge": "le"}
_NEGATED = {"eq": "neq", "neq": "eq"}
_NEGATED_EXACT = {"lt": "le", "le": "lt"}


def is_integer(base: str) -> bool:
    """Whether values of a base type are integers (char included)."""
    return base in BITS or base == "char"


def simplified(op: g.Op, lookup: Lookup) -> Found:
    """What may stand for an operation, or None."""
    args = op.args
    if op.code == "select":
        return _select(args, lookup)
    if op.code in PLACES:
        return known_place(op)
    if all(isinstance(a, g.Const) for a in args):
        return _constant(op)
    if len(args) == 1:
        return _unary(op, args[0], lookup)
    a, b = args
    if op.code in _SWAPPED:
        return g.Op(_SWAPPED[op.code], (b, a))
    if op.code in COMMUTATIVE and isinstance(a, g.Const):
        return simplified(g.Op(op.code, (b, a), op.exact), lookup) or g.Op(op.code, (b, a), op.exact)
    if a.base == "bool":
        return _boolean(op.code, a, b, lookup)
    if is_integer(a.base):
        return _integer(op, a, b, lookup)
    return _real(op.code, a, b)


def _constant(op: g.Op) -> g.Atom | None:
    values = [a.value for a in op.args if isinstance(a, g.Const)]
    base = op.args[0].base
    if not constants.is_exact(op.code, base):
        return None
    if len(values) == 1:
        result = constants.unary(op.code, base, values[0])
    else:
        try:
            result = constants.binary(op.code, base, values[0], values[1])
        except constants.Undefined:
            return None
    if isinstance(result, bool):
        return g.TRUE if result else g.FALSE
    return g.Const(constants.type_of(op.code, base), result)


def _select(args: tuple[g.Atom, ...], lookup: Lookup) -> Found:
    condition, then, otherwise = args
    if isinstance(condition, g.Const):
        return then if condition.value else otherwise
    if then == otherwise:
        return then
    inner = lookup(condition)
    if isinstance(inner, g.Op) and inner.code == "not":
        return g.Op("select", (inner.args[0], otherwise, then))
    if then.base != "bool":
        return None
    if then == g.TRUE:
        return condition if otherwise == g.FALSE else g.Op("or", (condition, otherwise))
    if otherwise == g.FALSE:
        return g.Op("and", (condition, then))
    if then == g.FALSE and otherwise == g.TRUE:
        return g.Op("not", (condition,))
    return None


def _unary(op: g.Op, a: g.Atom, lookup: Lookup) -> Found:
    if CONVERSIONS.get(op.code) == a.base:
        return a
    inner = lookup(a)
    if not isinstance(inner, g.Op):
        return None
    if op.code in ("neg", "not", "bitnot") and inner.code == op.code:
        return inner.args[0]
    if op.code == "not":
        x = inner.args[0]
        if inner.code in _NEGATED:
            return g.Op(_NEGATED[inner.code], inner.args)
        if inner.code in _NEGATED_EXACT and x.base not in REAL:
            return g.Op(_NEGATED_EXACT[inner.code], (inner.args[1], x))
    return None


def _boolean(code: str, a: g.Atom, b: g.Atom, lookup: Lookup) -> Found:
    if a == b:
        return {"and": a, "or": a, "eq": g.TRUE, "neq": g.FALSE, "le": g.TRUE, "lt": g.FALSE, "min": a, "max": a}.get(
            code
        )
    if b == g.TRUE:
        return {"and": a, "or": g.TRUE, "eq": a, "neq": g.Op("not", (a,))}.get(code)
    if b == g.FALSE:
        return {"and": g.FALSE, "or": a, "eq": g.Op("not", (a,)), "neq": a}.get(code)
    if code in ("and", "or"):
        return _opposites(code, a, b, lookup)
    return None


def _opposites(code: str, a: g.Atom, b: g.Atom, lookup: Lookup) -> Found:
    """`a and not a`; `a and (a and b)`."""
    for x, y in ((a, b), (b, a)):
        inner = lookup(y)
        if isinstance(inner, g.Op):
            if inner.code == "not" and inner.args[0] == x:
                return g.FALSE if code == "and" else g.TRUE
            if inner.code == code and x in inner.args:
                return y
    return None


_SAME: dict[str, g.Atom | None] = {"eq": g.TRUE, "le": g.TRUE, "neq": g.FALSE, "lt": g.FALSE}


def _integer(op: g.Op, a: g.Atom, b: g.Atom, lookup: Lookup) -> Found:
    code, base = op.code, a.base
    if a == b:
        if code in ("min", "max", "bitand", "bitor"):
            return a
        if code in ("sub", "bitxor"):
            return g.Const(base, 0)
        if code in _SAME:
            return _SAME[code]
    if code in ("add", "sub"):
        return _sum(op, a, b, lookup)
    if isinstance(b, g.Const):
        found = _integer_by_constant(op, a, int(b.value), lookup)
        if found is not None:
            return found
    if code in ("div", "mod", "aplmod") and isinstance(a, g.Const) and a.value == 0:
        return a
    return None


def _integer_by_constant(op: g.Op, a: g.Atom, c: int, lookup: Lookup) -> Found:
    code, base = op.code, a.base
    match code, c:
        case "mul", 0:
            return g.Const(base, 0)
        case "mul" | "div", 1:
            return a
        case "mul", -1:
            return g.Op("neg", (a,), op.exact)
        case "mod" | "aplmod", 1:
            return g.Const(base, 0)
        case "aplmod", 0:
            return a
        case "bitand", 0:
            return g.Const(base, 0)
        case "bitor" | "bitxor" | "shl" | "shr", 0:
            return a
    inner = lookup(a)
    if not (isinstance(inner, g.Op) and len(inner.args) == 2 and isinstance(inner.args[1], g.Const)):
        return None
    d = int(inner.args[1].value)
    if code == "mul" and inner.code == "mul":
        product = c * d
        return g.Op(
            "mul",
            (inner.args[0], g.Const(base, constants.wrap(base, product))),
            op.exact and inner.exact and _fits(base, product),
        )
    if code in ("min", "max") and inner.code == code:
        return g.Op(code, (inner.args[0], g.Const(base, min(c, d) if code == "min" else max(c, d))))
    if code in ("eq", "neq") and inner.code == "add":
        return g.Op(code, (inner.args[0], g.Const(base, constants.wrap(base, c - d))))
    if code in ("lt", "le") and inner.code == "add" and inner.exact and _fits(base, c - d):
        return g.Op(code, (inner.args[0], g.Const(base, c - d)))
    return None


def _fits(base: str, value: int) -> bool:
    return constants.wrap(base, value) == value


def _sum(op: g.Op, a: g.Atom, b: g.Atom, lookup: Lookup) -> Found:
    """Sums of integers: constants go to the right end and melt together, what cancels out goes."""
    base = a.base
    if isinstance(b, g.Const):
        value = int(b.value) if op.code == "add" else -int(b.value)
        c = constants.wrap(base, value)
        if c == 0:
            return a
        inner = lookup(a)
        if isinstance(inner, g.Op) and inner.code == "add" and isinstance(inner.args[1], g.Const):
            total = int(inner.args[1].value) + c
            exact = op.exact and inner.exact and _fits(base, total) and _fits(base, value)
            return g.Op("add", (inner.args[0], g.Const(base, constants.wrap(base, total))), exact)
        return g.Op("add", (a, g.Const(base, c)), op.exact and _fits(base, value)) if op.code == "sub" else None
    if op.code == "sub" and isinstance(a, g.Const) and a.value == 0 and base in SIGNED:
        return g.Op("neg", (b,), op.exact)
    return _cancelled(op.code, a, b, lookup)


def _cancelled(code: str, a: g.Atom, b: g.Atom, lookup: Lookup) -> Found:
    left, right = lookup(a), lookup(b)
    if code == "sub":
        if isinstance(left, g.Op) and left.code == "add" and b in left.args:  # (x + b) - b
            return left.args[0] if left.args[1] == b else left.args[1]
        if isinstance(right, g.Op) and right.code == "add" and a in right.args:  # a - (a + x)
            other = right.args[0] if right.args[1] == a else right.args[1]
            return (
                g.Op("neg", (other,))
                if not isinstance(other, g.Const)
                else g.Const(a.base, constants.wrap(a.base, -int(other.value)))
            )
        if isinstance(right, g.Op) and right.code == "sub" and right.args[0] == a:  # a - (a - x)
            return right.args[1]
    elif isinstance(left, g.Op) and left.code == "sub" and left.args[1] == b:  # (x - b) + b
        return left.args[0]
    elif isinstance(right, g.Op) and right.code == "sub" and right.args[1] == a:  # a + (x - a)
        return right.args[0]
    return None


def _real(code: str, a: g.Atom, b: g.Atom) -> Found:
    if a == b:
        return {"min": a, "max": a, "lt": g.FALSE}.get(code)
    for x in (a, b):
        if code in ("add", "sub", "mul", "div") and isinstance(x, g.Const) and x.value != x.value:
            return x
        if code in ("min", "max") and isinstance(x, g.Const) and x.value != x.value:
            return b  # NaN is neither less nor greater
    if not isinstance(b, g.Const):
        return None
    value = float(b.value)
    if code in ("mul", "div") and value == 1.0:
        return a
    if value == 0.0 and (
        (code == "sub" and math.copysign(1, value) > 0) or (code == "add" and math.copysign(1, value) < 0)
    ):
        return a
    if code == "div" and _has_exact_reciprocal(a.base, value):
        return g.Op("mul", (a, g.Const(a.base, 1.0 / value)))
    return None


def _has_exact_reciprocal(base: str, value: float) -> bool:
    """Whether dividing by a number is multiplying by its reciprocal, bit by bit: a power of two, neither it nor its
    reciprocal subnormal."""
    limit = 126 if base == "float" else 1022
    mantissa, exponent = math.frexp(value) if math.isfinite(value) else (0.0, 0)
    return abs(mantissa) == 0.5 and abs(exponent - 1) < limit
