"""Calls: which instance, and whether its body is put in place or becomes a function of the unit.

In: a call of core and its arguments' values. Out: its results' values. Instances that only extents tell apart become
branches. A function is inlined unless it calls itself, or the caller has grown large.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sacpy.jit.failures import Unsupported
from sacpy.jit.ir.graph import TRUE, Atom
from sacpy.jit.specialise import control, primitives
from sacpy.jit.specialise.values import Fails, Kind, Value, extents_of, integer
from sacpy.lang import core
from sacpy.lang.arithmetic import arithmetic
from sacpy.lang.ast import FixedExtent
from sacpy.lang.dispatch import Ambiguous, Certain, NoneFits, Possible
from sacpy.nodes import Node

if TYPE_CHECKING:
    from sacpy.jit.specialise.walk import Rest, Values, Walk


class Frame(Node):
    """A call in progress that is being inlined: the function, and the kinds of its arguments."""

    key: str
    kinds: tuple[Kind, ...]


def call(walk: Walk, c: core.Call, rest: Rest | None = None) -> Values:
    """The results of a call; or what comes of them. Raises `Branches`."""
    args = [walk.value(a) for a in c.args]
    match walk.maker.resolution(c.candidates, args):
        case Certain(signature=signature):
            return instance(walk, signature, args, c.name, rest)
        case Possible(signatures=signatures, exact=True):
            return _first_that_fits(walk, signatures, args, c.name, rest)
        case Possible():
            raise Unsupported(
                f"which instance of {c.name} is called depends on more than one argument's extents", walk.b.span
            )
        case NoneFits() | Ambiguous():
            raise Fails("an instance fits")


def _first_that_fits(
    walk: Walk, signatures: Sequence[core.Signature], args: list[Value], name: str, then: Rest | None
) -> Values:
    """Instances that differ in the extents they take, tried in order."""
    first, *rest = signatures
    condition = _fits(walk, first, args)
    if not rest:
        walk.b.check(condition, f"an instance of {name} fits")
        return instance(walk, first, args, name, then)
    return control.choose(
        walk,
        condition,
        lambda: instance(walk, first, args, name, then),
        lambda: _first_that_fits(walk, rest, args, name, then),
    )


def _fits(walk: Walk, signature: core.Signature, args: Sequence[Value]) -> Atom:
    """Whether the extents are those that the parameters fix."""
    result: Atom = TRUE
    for slot, arg in zip(signature.params, args):
        for feature, extent in zip(slot.pattern or (), extents_of(arg)):
            if isinstance(feature, FixedExtent):
                result = walk.b.op("and", result, walk.b.op("eq", extent, integer(feature.value)))
    return result


def instance(walk: Walk, signature: core.Signature, args: list[Value], name: str, rest: Rest | None = None) -> Values:
    """The results of a call of this instance; or what comes of them. Raises `Branches`."""
    if signature.native is not None:
        raise Unsupported(f"it calls {name}, which is not written in SaC", walk.b.span)
    op = arithmetic(signature, len(args))
    if op is not None:
        found: Values = [primitives.apply(walk.b, core.Prim(op, ()), args)]
        return found if rest is None else rest(found)
    return walk.maker.invoke(walk, signature, args, rest)
