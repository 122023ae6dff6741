"""Element-wise primitives: on scalars one operation, on small arrays one per element, on arrays a with-loop.

In: the name of a primitive and its operands' values. Out: a value. Divisors that are 0, shift counts out of range and
shapes that differ become checks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sacpy.jit.ir import graph as g
from sacpy.jit.specialise.emit import Builder
from sacpy.jit.specialise.values import Fails, Small, Value, extents_of, integer, is_array, is_scalar, zero
from sacpy.lang import constants
from sacpy.lang.types import BITS

SAME = "the shapes agree"
Scalars = Callable[[Sequence[g.Atom]], g.Atom]


def scalar(b: Builder, op: str, args: Sequence[g.Atom]) -> g.Atom:
    """An element-wise primitive on scalars, with the checks it needs."""
    if op == "mask":
        return b.op("select", *args)
    base = args[0].base
    if op in ("div", "mod") and base in BITS:
        b.check(b.op("neq", args[1], zero(base)), "the divisor is not 0")
    elif op in ("shl", "shr"):
        _check_shift(b, args[1])
    return b.op(op, *args)


def _check_shift(b: Builder, count: g.Atom) -> None:
    bits = BITS[count.base]
    what = "the shift count is below the number of bits"
    b.check(b.op("le", zero(count.base), count), what)
    b.check(b.op("lt", count, g.Const(count.base, bits)), what)


def apply(b: Builder, op: str, args: Sequence[Value]) -> Value:
    """An element-wise primitive on values of any rank: scalars, and arrays of one shape."""
    if all(map(is_scalar, args)):
        return scalar(b, op, [a for a in args if not isinstance(a, Small)])
    return spread(b, args, result_base(op, args), lambda atoms: scalar(b, op, atoms))


def result_base(op: str, args: Sequence[Value]) -> str:
    """The base type of an element-wise primitive's result."""
    from sacpy.lang.primitives import PRIMITIVES

    row = PRIMITIVES[op]
    return row.result if row.result != "T" else args[row.args.index("T")].base


def spread(b: Builder, args: Sequence[Value], base: str, function: Scalars) -> Value:
    """Applies a function of scalars to elements of arrays of one shape; scalars go to every element."""
    shaped = [a for a in args if not is_scalar(a)]
    first = next((a for a in shaped if isinstance(a, Small)), shaped[0])
    for other in shaped:
        if other is not first:
            b.need_equal(extents_of(first), extents_of(other), SAME)
    if isinstance(first, Small):
        rows = [elements(b, a, first.extents) if not is_scalar(a) else [a] * len(first.elements) for a in args]
        return Small(
            base, first.extents, tuple(function([x for x in row if not isinstance(x, Small)]) for row in zip(*rows))
        )
    return mapped(b, extents_of(first), base, lambda index: function([_element(b, a, index) for a in args]))


def _element(b: Builder, a: Value, index: Sequence[g.Atom]) -> g.Atom:
    return b.load(b.array(a), index) if is_array(a) or isinstance(a, Small) else a


def elements(b: Builder, value: Value, extents: tuple[int, ...]) -> list[g.Atom]:
    """The elements of an array of known small shape."""
    if isinstance(value, Small):
        return list(value.elements)
    if is_scalar(value):
        return [value]
    return [b.load(b.array(value), tuple(map(integer, index))) for index in indices(extents)]


def indices(extents: Sequence[int]) -> list[tuple[int, ...]]:
    """All indices into an array, in row-major order."""
    if 0 in extents:
        return []  # however long the other axes are
    result: list[tuple[int, ...]] = [()]
    for extent in extents:
        result = [(*at, i) for at in result for i in range(extent)]
    return result


def mapped(b: Builder, extents: Sequence[g.Atom], base: str, body: Callable[[Sequence[g.Var]], g.Atom]) -> g.Var:
    """A new array, each element computed from its index."""
    return partitioned(b, extents, base, [((integer(0),) * len(extents), tuple(extents), body)])


Part = tuple[tuple[g.Atom, ...], tuple[g.Atom, ...], Callable[[Sequence[g.Var]], g.Atom]]


def partitioned(b: Builder, extents: Sequence[g.Atom], base: str, parts: Sequence[Part]) -> g.Var:
    """A new array of scalars from boxes that do not overlap and together cover it."""
    partitions = []
    for lower, upper, body in parts:
        index = tuple(b.index_var("i", lo, up) for lo, up in zip(lower, upper))
        with b.inside(closed=False) as scope:
            b.declare(index)
            result = b.same(body(index))
        partitions.append(g.Partition(lower, upper, None, None, index, scope.block((result,)), (), b.span))
    loop = g.WithLoop(
        tuple(extents), tuple(partitions), (g.Genarray(base, (), zero(base)),), disjoint=True, complete=True
    )
    return new_array(b, loop, base, extents)


def new_array(b: Builder, loop: g.WithLoop, base: str, extents: Sequence[g.Atom]) -> g.Var:
    """The result of a with-loop with one operator that makes an array."""
    from sacpy.jit.ir.graph import ArrayType

    return b.emit(loop, [ArrayType(base, tuple(extents))], "a")[0]


def reduce_bools(b: Builder, op: str, value: Value) -> g.Atom:
    """`all` (op "and") or `any` (op "or") of all elements."""
    if isinstance(value, Small):
        result: g.Atom = g.TRUE if op == "and" else g.FALSE
        for e in value.elements:
            result = b.op(op, result, e)
        return result
    if not is_array(value) or not isinstance(value, g.Var):
        return value
    extents = extents_of(value)
    lower = (integer(0),) * len(extents)
    index = tuple(b.index_var("i", lo, up) for lo, up in zip(lower, extents))
    with b.inside(closed=False) as scope:
        b.declare(index)
        element = b.load(value, index)
    accumulator, new = (b.names.var(stem, g.ScalarType("bool")) for stem in ("acc", "val"))
    with b.inside(closed=False) as combining:
        b.declare((accumulator, new))
        combined = b.op(op, accumulator, new)
    neutral = g.TRUE if op == "and" else g.FALSE
    stop = g.FALSE if op == "and" else g.TRUE
    fold = g.Fold((neutral,), (accumulator,), (new,), combining.block((combined,)), (stop,))
    partition = g.Partition(lower, extents, None, None, index, scope.block((element,)), (), b.span)
    return b.emit(g.WithLoop(None, (partition,), (fold,)), [g.ScalarType("bool")], "all" if op == "and" else "any")[0]


def constant_of(op: str, base: str) -> g.Const:
    """`zero`, `one`, `minval`, `maxval` of a base type."""
    made = {"zero": constants.zero, "one": constants.one, "minval": constants.smallest, "maxval": constants.largest}[
        op
    ](base)
    return g.Const(base, made)


def need_scalar(value: Value, what: str) -> g.Atom:
    """A value that must be a scalar. Raises `Fails`."""
    if isinstance(value, Small) or is_array(value):
        raise Fails(what)
    return value
