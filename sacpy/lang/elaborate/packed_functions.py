"""Functions of positions and sizes as statements of core, in 64 bits; and what is required of their values.

In: a `Poly` and atoms for its variables. Out: an atom. An array of sacpy has at most 2^31 - 1 elements, so 64 bits hold
every offset of one; whether they held its size is asked in floating point (`MagnitudeMachine`).
"""

from __future__ import annotations

from sacpy.lang import core
from sacpy.lang.elaborate.context import Context, Value
from sacpy.lang.elaborate.usertypes import BaseType
from sacpy.lang.source import Span
from sacpy.withloop import piecewise as pw
from sacpy.withloop.piecewise import Poly
from sacpy.withloop.sums import Extents

LARGEST = 2**31 - 1  # of ints


class LongMachine:
    """Functions computed in core, in 64 bits."""

    def __init__(self, cx: Context, span: Span) -> None:
        self.cx = cx
        self.span = span

    def _op(self, op: str, *args: core.Atom, base: str = "long") -> core.Atom:
        return self.cx.prim(base, op, *args, span=self.span)

    def whole(self, value: int) -> core.Atom:
        return core.Const("long", (), (value,), self.span)

    def add(self, a: core.Atom, b: core.Atom) -> core.Atom:
        return self._op("add", a, b)

    def multiply(self, a: core.Atom, b: core.Atom) -> core.Atom:
        return self._op("mul", a, b)

    def exact(self, a: core.Atom, by: int) -> core.Atom:
        return self._op("div", a, self.whole(by))

    def quotient(self, op: str, a: core.Atom, b: core.Atom) -> core.Atom:
        return self._op(op, a, b)

    def step(self, a: core.Atom) -> core.Atom:
        return self._op("tol", self._op("ge", a, self.whole(0), base="bool"))

    def power(self, base: int, a: core.Atom) -> core.Atom:
        assert base == 2, "powers are written as shifts"
        return self._op("shl", self.whole(1), self._op("max", self._op("min", a, self.whole(62)), self.whole(0)))


class MagnitudeMachine(LongMachine):
    """The sum of the sizes of all terms, in floating point: where it is small, 64 bits sufficed."""

    def _op(self, op: str, *args: core.Atom, base: str = "double") -> core.Atom:
        return super()._op(op, *args, base=base)

    def whole(self, value: int) -> core.Atom:
        return core.Const("double", (), (float(abs(value)),), self.span)

    def exact(self, a: core.Atom, by: int) -> core.Atom:
        return a

    def quotient(self, op: str, a: core.Atom, b: core.Atom) -> core.Atom:
        return a

    def step(self, a: core.Atom) -> core.Atom:
        return self.whole(1)

    def power(self, base: int, a: core.Atom) -> core.Atom:
        return self._op("exp2", self._op("min", a, self.whole(64)))


def long_of(cx: Context, atom: core.Atom, span: Span) -> core.Atom:
    """An int in 64 bits."""
    if isinstance(atom, core.Const):
        return core.Const("long", (), atom.value, span)
    wide = cx.prim("long", "tol", atom, span=span)
    cx.widened[wide.name] = atom
    return wide


def int_of(cx: Context, of: Poly, values: dict[str, core.Atom], span: Span) -> core.Atom:
    """A function as an int; `values` are its variables in 64 bits."""
    constant = of.constant
    if constant is not None:
        return core.Const("int", (), (int(constant),), span)
    short = _short(cx, of, values, span)
    if short is not None:
        return short
    return cx.prim("int", "toi", pw.computed(of, LongMachine(cx, span), values), span=span)


def _short(cx: Context, of: Poly, values: dict[str, core.Atom], span: Span) -> core.Atom | None:
    """The same without leaving 32 bits, where no step on the way can leave them: a variable; a position and at most 1;
    the first extent less a position. Every analysis reads these."""
    plus = [n for n in pw.names(of) if n in values]
    parts = None if not plus else pw.coefficient_of(of, plus[0])
    if parts is None or not all(isinstance(a := values.get(n), core.Var) and a.name in cx.widened for n in plus):
        return None
    ints = [cx.widened[a.name] for n in plus if isinstance(a := values[n], core.Var)]
    constant = next((c for m, c in of.terms if not m), 0)
    one = pw.name(plus[0])
    if of == one:
        return ints[0]
    if of == one + pw.number(constant) and plus[0][0] == "x" and -LARGEST <= constant <= 1:
        return _plus(cx, ints[0], int(constant), span)
    if "p0" in plus and len(plus) == 2 and constant in (0, -1):
        k = 1 - plus.index("p0")
        if plus[k][0] == "x" and of == pw.name("p0") - pw.name(plus[k]) + pw.number(constant):
            return _plus(cx, cx.prim("int", "sub", ints[1 - k], ints[k], span=span), int(constant), span)
    return None


def _plus(cx: Context, a: core.Atom, constant: int, span: Span) -> core.Atom:
    if not constant:
        return a
    return cx.prim("int", "add", a, core.Const("int", (), (constant,), span), span=span)


def require(
    cx: Context,
    value: core.Atom,
    limit: core.Atom,
    holds: core.Atom,
    span: Span,
    code: str,
    message: str,
    help: str,
) -> core.Atom:
    """The value, where it may be used."""
    return cx.prim("int", "require", value, limit, holds, span=span, attrs=(code, message, help))


def sizes_of(cx: Context, array: Value, span: Span) -> dict[str, core.Atom]:
    """The sizes of a packed array, in 64 bits, by name."""
    return {
        c.path: long_of(cx, a, span)
        for c, a in zip(array.type.components, array.atoms, strict=True)
        if c.path[0] == "p"
    }


def extents_of(type: BaseType) -> Extents:
    """The extents of a packed type."""
    assert type.extents is not None, "a packed type has extents"
    return type.extents


def element_of(type: BaseType) -> BaseType:
    """The element type of a packed type."""
    assert type.element is not None, "a packed type has elements"
    return type.element
