"""The forms of values where several meet: what branches give, what loops carry, what functions take and give.

In: values in a builder. Out: `Kind`s, their join, and the atoms that a value of a kind comes apart into.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.ir import graph as g
from sacpy.jit.specialise.elementwise import elements
from sacpy.jit.specialise.emit import Builder
from sacpy.jit.specialise.values import Kind, Ranks, Small, Value, extents_of, integer, is_scalar, zero


def kind_of(b: Builder, value: Value | None, depth: int) -> Kind:
    """The form of a value for someone at this depth (-1: outside of the function): extents that are set deeper are not
    known there. None: a value that nobody sees."""
    if value is None:
        return Kind("none", "")
    if is_scalar(value):
        return Kind("scalar", value.base)
    if isinstance(value, Small):
        return Kind("small", value.base, tuple(map(integer, value.extents)))
    return Kind("array", value.base, tuple(_visible(b, e, depth) for e in extents_of(value)))


def _visible(b: Builder, e: g.Atom, depth: int) -> g.Atom | None:
    e = b.same(e)
    return e if isinstance(e, g.Const) or b.depth_of(e) <= depth else None


def join(a: Kind, c: Kind) -> Kind:
    """The form that holds both. Raises `Ranks`."""
    if a.form == "none" or c.form == "none":
        return loosened(c) if a.form == "none" else loosened(a)
    if a == c:
        return a
    if len(a.extents) != len(c.extents):
        raise Ranks
    return Kind("array", a.base, tuple(x if x == y else None for x, y in zip(a.extents, c.extents)))


def loosened(kind: Kind) -> Kind:
    """The form of a value that is not there at first: an array of any extents."""
    return Kind("array", kind.base, (None,) * len(kind.extents)) if kind.form == "array" else kind


def apart(b: Builder, kind: Kind, value: Value | None) -> tuple[g.Atom, ...]:
    """The atoms that a value comes apart into as one of this kind. Asserts the extents that the kind fixes."""
    if value is None:
        return _nothing(b, kind)
    if kind.form == "scalar":
        assert is_scalar(value) and not isinstance(value, Small)
        return (b.same(value),)
    b.need_equal(
        list(extents_of(value)),
        [e if e is not None else x for e, x in zip(kind.extents, extents_of(value))],
        "the shapes agree",
    )
    if kind.form == "small":
        return tuple(
            b.same(e)
            for e in elements(
                b, value, tuple(int(e.value) for e in kind.extents if e is not None and not isinstance(e, g.Var))
            )
        )
    return (*(b.same(e) for e, k in zip(extents_of(value), kind.extents) if k is None), b.array(value))


def _nothing(b: Builder, kind: Kind) -> tuple[g.Atom, ...]:
    """Atoms for a value that nobody sees."""
    if kind.form != "array":
        return (zero(kind.base),) * kind.width
    extents = tuple(e if e is not None else integer(0) for e in kind.extents)
    (array,) = b.emit(
        g.Cons(kind.base, (0,) * len(extents), ()), [g.ArrayType(kind.base, (integer(0),) * len(extents))]
    )
    return (*(integer(0) for e in kind.extents if e is None), array)


def targets(b: Builder, kinds: Sequence[Kind], stems: Sequence[str]) -> tuple[tuple[g.Var, ...], list[Value]]:
    """New variables for values of these kinds, all in a row, and the values."""
    variables: list[g.Var] = []
    values: list[Value] = []
    for kind, stem in zip(kinds, stems):
        found, value = kind.fresh(b.names, stem)
        variables += found
        values.append(value)
    return tuple(variables), values


def types_of(variables: Sequence[g.Var]) -> list[g.Type]:
    """Their types."""
    return [v.type for v in variables]
