"""Small local simplifications, made while operations are emitted: constants, neutral elements, sums with constants.

In: the code of an operation and its operands. Out: the atom that it is, a simpler operation, or None for as it stands.
`definition` tells the operation behind a variable. All rules hold for every operand that may occur, NaN, infinities and
wrap-around included; what needs ranges or more than a step is left to the passes.
"""

from __future__ import annotations

from collections.abc import Callable

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.operations import PLACES, known_place
from sacpy.lang import constants
from sacpy.lang.primitives import CONVERSIONS
from sacpy.lang.types import BITS

Definition = Callable[[g.Atom], "g.Op | None"]
COMMUTATIVE = frozenset({"add", "mul", "min", "max", "bitand", "bitor", "bitxor", "eq", "neq", "and", "or"})
SWAPPED = {"gt": "lt", "ge": "le"}


def simplify(op: g.Op, definition: Definition) -> g.Atom | g.Op | None:
    """A simpler form of an operation."""
    args = op.args
    if op.code == "select":
        return _select(args)
    if op.code in PLACES:
        return known_place(op)
    base = args[0].base
    if all(isinstance(a, g.Const) for a in args):
        folded = _constant(op.code, base, args)
        if folded is not None:
            return folded
    if op.code in SWAPPED:
        return g.Op(SWAPPED[op.code], (args[1], args[0]), op.exact)
    if len(args) == 1:
        return _unary(op.code, args[0], definition)
    if op.code in ("and", "or"):
        return _logic(op.code, args[0], args[1])
    if base in BITS:
        return _integers(op, args[0], args[1], definition)
    return _comparison(op.code, args[0], args[1], base) if base == "bool" else None


def _constant(code: str, base: str, args: tuple[g.Atom, ...]) -> g.Const | None:
    values = [a.value for a in args if isinstance(a, g.Const)]
    if not constants.is_exact(code, base):
        return None
    try:
        value = (
            constants.unary(code, base, values[0])
            if len(values) == 1
            else constants.binary(code, base, values[0], values[1])
        )
    except constants.Undefined:
        return None
    result = "bool" if isinstance(value, bool) else constants.type_of(code, base)
    return g.Const(result, value)


def _select(args: tuple[g.Atom, ...]) -> g.Atom | g.Op | None:
    condition, then, otherwise = args
    if isinstance(condition, g.Const):
        return then if condition.value else otherwise
    if then == otherwise:
        return then
    if then == g.TRUE and otherwise == g.FALSE:
        return condition
    if then == g.FALSE and otherwise == g.TRUE:
        return g.Op("not", (condition,))
    return None


def _unary(code: str, a: g.Atom, definition: Definition) -> g.Atom | None:
    if CONVERSIONS.get(code) == a.base:
        return a
    if code == "not" and (inner := definition(a)) is not None and inner.code == "not":
        return inner.args[0]
    return None


def _logic(code: str, a: g.Atom, b: g.Atom) -> g.Atom | None:
    if a == b:
        return a
    for x, other in ((a, b), (b, a)):
        if isinstance(x, g.Const):
            return other if bool(x.value) == (code == "and") else x
    return None


def _comparison(code: str, a: g.Atom, b: g.Atom, base: str) -> g.Atom | None:
    if a == b and code in ("eq", "neq", "lt", "le"):
        return g.TRUE if code in ("eq", "le") else g.FALSE
    if base == "bool" and code in ("eq", "neq"):
        for x, other in ((a, b), (b, a)):
            if isinstance(x, g.Const) and bool(x.value) == (code == "eq"):
                return other
    return None


def _integers(op: g.Op, a: g.Atom, b: g.Atom, definition: Definition) -> g.Atom | g.Op | None:
    code, base = op.code, a.base
    if isinstance(a, g.Const) and code in ("add", "mul", "min", "max", "bitand", "bitor", "bitxor", "eq", "neq"):
        return g.Op(code, (b, a), op.exact)
    if a == b:
        if code == "sub" or code == "bitxor":
            return g.Const(base, 0)
        if code in ("min", "max", "bitand", "bitor"):
            return a
        found = _comparison(code, a, b, base)
        if found is not None:
            return found
    if isinstance(b, g.Const):
        return _with_constant(op, a, int(b.value), definition)
    if code == "sub":
        return _difference(a, b, definition)
    return None


def _with_constant(op: g.Op, a: g.Atom, c: int, definition: Definition) -> g.Atom | g.Op | None:
    code, base = op.code, a.base
    if (c == 0 and code in ("add", "sub", "shl", "shr", "bitor", "bitxor", "aplmod")) or (
        c == 1 and code in ("mul", "div")
    ):
        return a
    if c == 0 and code in ("mul", "bitand"):
        return g.Const(base, 0)
    if c == 1 and code in ("mod", "aplmod"):
        return g.Const(base, 0)
    inner = definition(a)
    if code == "sub":
        return g.Op("add", (a, g.Const(base, constants.wrap(base, -c))))
    if code == "add" and inner is not None and inner.code == "add" and isinstance(inner.args[1], g.Const):
        return g.Op("add", (inner.args[0], g.Const(base, constants.wrap(base, int(inner.args[1].value) + c))))
    if code == "add" and inner is not None and inner.code == "sub" and isinstance(inner.args[0], g.Const):
        return g.Op("sub", (g.Const(base, constants.wrap(base, int(inner.args[0].value) + c)), inner.args[1]))
    if code in ("eq", "neq") and inner is not None and inner.code == "add" and isinstance(inner.args[1], g.Const):
        return g.Op(code, (inner.args[0], g.Const(base, constants.wrap(base, c - int(inner.args[1].value)))))
    return None


def _difference(a: g.Atom, b: g.Atom, definition: Definition) -> g.Atom | g.Op | None:
    """a - b where one holds the other: (x + y) - x is y."""
    left, right = definition(a), definition(b)
    if left is not None and left.code == "add":
        if left.args[0] == b:
            return left.args[1]
        if left.args[1] == b:
            return left.args[0]
    if right is not None and right.code == "add" and isinstance(right.args[1], g.Const):
        if right.args[0] == a:
            return g.Const(a.base, constants.wrap(a.base, -int(right.args[1].value)))
        if (
            left is not None
            and left.code == "add"
            and left.args[0] == right.args[0]
            and isinstance(left.args[1], g.Const)
        ):
            return g.Const(a.base, constants.wrap(a.base, int(left.args[1].value) - int(right.args[1].value)))
    if right is not None and right.code == "sub" and right.args[0] == a:
        return right.args[1]
    if isinstance(a, g.Var) and left is not None and left.code == "sub" and left.args[0] == b:
        return g.Op("neg", (left.args[1],))
    return None


__all__ = ["COMMUTATIVE", "simplify"]
