"""The table of primitives: what each becomes.

In: a primitive of core and its operands' values. Out: its value. One row per primitive that is not element-wise; a test
checks that no primitive is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sacpy.jit.ir import graph as g
from sacpy.jit.specialise import elementwise, structure
from sacpy.jit.specialise.emit import Builder
from sacpy.jit.specialise.values import Fails, Value, extents_of, integer, is_scalar, small_vector
from sacpy.lang.core import Prim
from sacpy.lang.infer_operation import carries_cell
from sacpy.lang.primitives import PRIMITIVES

Rule = Callable[[Builder, Prim, Sequence[Value]], Value]


def apply(b: Builder, prim: Prim, args: Sequence[Value]) -> Value:
    """The value of a primitive. Raises `Fails` where it is certainly refused."""
    if prim.form:
        _check_form(prim, args)
    rule = RULES.get(prim.op)
    return rule(b, prim, args) if rule is not None else elementwise.apply(b, prim.op, args)


def _check_form(prim: Prim, args: Sequence[Value]) -> None:
    """The ranks that the letters of a form demand."""
    for at, (letter, arg) in enumerate(zip(prim.form, args)):
        cell = prim.cell if carries_cell(prim.op, at) else 0
        wanted = {"S": cell, "V": 1 + cell}.get(letter)
        if wanted is not None and len(extents_of(arg)) != wanted:
            raise Fails("the operands have the ranks that the primitive's form demands")


def _ravel(b: Builder, prim: Prim, args: Sequence[Value]) -> Value:
    (value,) = args
    if is_scalar(value):
        return small_vector([elementwise.need_scalar(value, "")])
    if len(extents_of(value)) != 1:
        raise Fails("an index is a scalar or a vector")
    return value


def _like(b: Builder, prim: Prim, args: Sequence[Value]) -> Value:
    b.need_equal(extents_of(args[0]), extents_of(args[1]), "a field keeps its shape")
    return args[0]


def _require(b: Builder, prim: Prim, args: Sequence[Value]) -> Value:
    value = elementwise.need_scalar(args[0], "one number for each axis")
    b.check(elementwise.need_scalar(args[2], "one number for each axis"), "an array's extents allow this")
    return value


def _in_rows(b: Builder, prim: Prim, args: Sequence[Value]) -> Value:
    return b.op(prim.op, *(elementwise.need_scalar(a, "a position is one number") for a in args))


def _of_base(b: Builder, prim: Prim, args: Sequence[Value]) -> Value:
    return elementwise.constant_of(prim.op, args[0].base)


RULES: dict[str, Rule] = {
    "device": lambda b, p, a: g.Const("bool", b.sharing.device),
    "dim": lambda b, p, a: integer(len(extents_of(a[0])) - p.cell),
    "shape": lambda b, p, a: structure.shape(a[0], p.cell),
    "sel": lambda b, p, a: structure.sel(b, a[0], a[1], p.cell),
    "modarray": lambda b, p, a: structure.modarray(b, a[0], a[1], a[2], p.cell),
    "reshape": lambda b, p, a: structure.reshape(b, a[0], a[1], p.cell),
    "cat": lambda b, p, a: structure.cat(b, a[0], a[1]),
    "take": lambda b, p, a: structure.take(b, a[0], a[1], drop=False),
    "drop": lambda b, p, a: structure.take(b, a[0], a[1], drop=True),
    "all": lambda b, p, a: elementwise.reduce_bools(b, "and", a[0]),
    "any": lambda b, p, a: elementwise.reduce_bools(b, "or", a[0]),
    "zero": _of_base,
    "one": _of_base,
    "minval": _of_base,
    "maxval": _of_base,
    "hideValue": lambda b, p, a: a[1],
    "hideShape": lambda b, p, a: a[1],
    "hideDim": lambda b, p, a: a[1],
    "ravel": _ravel,
    "like": _like,
    "require": _require,
    "slice": lambda b, p, a: structure.cut(b, str(p.attrs[0]), p.cell, a[0], a[1:]),
    "place": lambda b, p, a: structure.place(b, str(p.attrs[0]), p.cell, a[0]),
    "row": _in_rows,
    "column": _in_rows,
}

__all__ = ["PRIMITIVES", "RULES", "apply"]
