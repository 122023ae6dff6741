"""The shape rule of every primitive, with constant folding.

In: an `Operation` (operands with base types and shapes, form, cell, attributes). Out: the result's shape, with its
value where all that is needed is known and small. Raises `Fails` where the operation cannot succeed. One row per
primitive in `RULES`.
"""

from __future__ import annotations

from collections.abc import Callable

from sacpy.lang import constants
from sacpy.lang.infer_operation import Operation, Rule, carries_cell
from sacpy.lang.infer_structure import STRUCTURE
from sacpy.lang.lattice import constant, disjoint, first_difference, full_extents, meet, scalar, size, without_value
from sacpy.lang.shape_problems import Fails
from sacpy.lang.types import ANY, BITS, BOTTOM, SCALAR, Scalar, Shape, of_rank


def apply(operation: Operation) -> Shape:
    """The result of a primitive."""
    if any(s.never for s in operation.shapes):
        return BOTTOM
    return RULES[operation.op](_check_form(operation))


def _check_form(operation: Operation) -> Operation:
    """Where the program wrote `_add_SxV_` itself: the ranks that its letters demand."""
    if not operation.form:
        return operation
    shapes = list(operation.shapes)
    for arg, (letter, shape) in enumerate(zip(operation.form, shapes)):
        cell = operation.cell if carries_cell(operation.op, arg) else 0
        wanted = {"S": of_rank(cell), "V": of_rank(1 + cell)}.get(letter, ANY)
        if disjoint(shape, wanted):
            name = f"_{operation.op}_{'x'.join(operation.form)}_"
            word = "scalar" if letter == "S" else "vector"
            raise Fails(
                "E0517",
                f"argument {arg + 1} of {name} must be a {word}, but it is {operation.show(arg)}",
                operands=(arg,),
                help="call the form of the primitive with the letter A, or the library's function",
            )
        shapes[arg] = meet(shape, wanted)
    return Operation(operation.op, operation.bases, tuple(shapes), "", operation.cell, operation.attrs)


# ---------------------------------------------------------------- element-wise


def _unary(o: Operation) -> Shape:
    (a,) = o.shapes
    if a.value is None or a.extents is None or not constants.is_exact(o.op, o.bases[0]):
        return without_value(a)
    return Shape(a.rank, a.extents, a.min_rank, tuple(constants.unary(o.op, o.bases[0], x) for x in a.value))


def elementwise(shapes: tuple[Shape, ...], failed: Callable[[int, int], Fails]) -> Shape:
    """The common shape of operands of which each is a scalar or has the shape of the others."""
    result, owner, may_be_scalar = SCALAR, -1, True
    for arg, shape in enumerate(shapes):
        shape = without_value(shape)
        if shape.rank == 0:
            continue
        certain = shape.rank is not None or shape.min_rank > 0
        if owner < 0:
            result, owner, may_be_scalar = shape, arg, not certain
        elif certain and not may_be_scalar:
            if disjoint(result, shape):
                raise failed(owner, arg)
            result = meet(result, shape)
        elif certain:
            result, owner, may_be_scalar = shape, arg, False
    return result


def _mismatch(o: Operation) -> Callable[[int, int], Fails]:
    def fails(a: int, b: int) -> Fails:
        if o.attrs:  # see elaborate.tensors.INDEX_BOUND
            names = (o.shapes[a].extents or (0,))[0]
            return Fails(
                "E0518",
                f"the index has {names} name{'s' * (names != 1)}, but its bound is {o.show(b)}",
                operands=(b,),
                help="write one number for each name, or a single number, which holds for all",
            )
        return Fails(
            "E0505",
            f"_{o.op}_ needs two arrays of the same shape, but here are {o.show(a)} and {o.show(b)}",
            notes=(first_difference(o.shapes[a], o.shapes[b]),),
            operands=(a, b),
            help="make the shapes agree, or use a scalar for one side",
        )

    return fails


def _binary(o: Operation) -> Shape:
    a, b = o.shapes
    result = elementwise(o.shapes, _mismatch(o))
    _check_defined(o, a, b)
    extents = full_extents(result)
    if a.value is None or b.value is None or extents is None or not constants.is_exact(o.op, o.bases[0]):
        return result
    count = max(len(a.value), len(b.value)) if result.rank == 0 else (size(result) or 0)
    left = a.value * count if a.rank == 0 else a.value
    right = b.value * count if b.rank == 0 else b.value
    return constant(extents, [constants.binary(o.op, o.bases[0], x, y) for x, y in zip(left, right)])


def _check_defined(o: Operation, a: Shape, b: Shape) -> None:
    """Division by a known zero, a shift by too much; an empty other side saves it."""
    base = o.bases[0]
    if b.value is None or base not in BITS or (a.rank != 0 and b.rank == 0 and not size(a)):
        return
    if o.op in ("div", "mod") and 0 in b.value:
        raise Fails(
            "E0508",
            f"{'division' if o.op == 'div' else 'remainder'} by zero",
            operands=(1,),
            help="test the divisor first",
        )
    if o.op in ("shl", "shr"):
        bad = [v for v in b.value if not 0 <= v < BITS[base]]
        if bad:
            raise Fails(
                "E0509",
                f"{base} has {BITS[base]} bits, so it cannot be shifted by {bad[0]}",
                operands=(1,),
                help=f"shift by 0 to {BITS[base] - 1}",
            )


def _mask(o: Operation) -> Shape:
    return elementwise(o.shapes, _mismatch(o))


# ---------------------------------------------------------------- constants of a base type


def _of_base(value: Callable[[str], Scalar]) -> Rule:
    def rule(o: Operation) -> Shape:
        return scalar(value(o.bases[0])) if o.bases[0] in (*BITS, "float", "double", "bool", "char") else SCALAR

    return rule


def _reduce_bools(function: Callable[[tuple[Scalar, ...]], bool]) -> Rule:
    def rule(o: Operation) -> Shape:
        value = o.shapes[0].value
        return SCALAR if value is None else scalar(function(value))

    return rule


RULES: dict[str, Rule] = {
    **STRUCTURE,
    **dict.fromkeys(sorted(constants.UNARY), _unary),
    **dict.fromkeys(sorted(constants.BINARY), _binary),
    "mask": _mask,
    "zero": _of_base(constants.zero),
    "one": _of_base(constants.one),
    "minval": _of_base(constants.smallest),
    "maxval": _of_base(constants.largest),
    "all": _reduce_bools(all),
    "any": _reduce_bools(any),
}

__all__ = ["RULES", "Operation", "apply", "elementwise"]
