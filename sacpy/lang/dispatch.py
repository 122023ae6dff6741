"""Overload dispatch by shape class: which instance of a function a call takes.

In: the signatures of the candidates (they differ in shape class only) and the arguments' shapes, partly known (the
checker, `resolve`) or actual (the interpreter, `choose`). Out: the instance, the instances left to test at run time, or
the reasons why none fits.

A parameter's pattern counts only with its shape class: AKS (all extents are numbers), AKD (the rank is known), AUD (a
minimum rank; 0 is `*`). Names and conditions are no part of it. The element's own axes (`cell`) are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from sacpy.lang.ast import FixedExtent
from sacpy.lang.core import Signature, Slot
from sacpy.lang.lattice import at_least, constant, disjoint, is_below, outer
from sacpy.lang.patterns import found_type, place, position
from sacpy.lang.plan import is_open, least
from sacpy.lang.types import SCALAR, Shape, known, of_rank
from sacpy.nodes import Node


class Fit(Enum):
    """Whether a shape fits a parameter."""

    YES = "yes"
    NO = "no"
    MAYBE = "maybe"


def shape_class(slot: Slot) -> Shape:
    """The shape class of a parameter's outer pattern: all extents known, the rank known, or a minimum rank."""
    pattern = slot.pattern
    if not pattern:  # most parameters are scalars
        return SCALAR
    rank = sum(map(least, pattern))
    if any(map(is_open, pattern)):
        return at_least(rank)
    extents = tuple(feature.value for feature in pattern if isinstance(feature, FixedExtent))
    return known(extents) if len(extents) == rank else of_rank(rank)


def fits(slot: Slot, shape: Shape) -> Fit:
    """Whether a whole core shape fits a parameter."""
    if shape.never:
        return Fit.MAYBE
    found = outer(shape, len(slot.cell)) if slot.cell else shape
    if not slot.pattern:  # as below, without asking: most parameters are scalars
        return Fit.YES if found.rank == 0 else Fit.NO if found.rank is not None or found.min_rank else Fit.MAYBE
    wanted = shape_class(slot)
    if is_below(found, wanted):
        return Fit.YES
    return Fit.NO if disjoint(found, wanted) else Fit.MAYBE


# ---------------------------------------------------------------- specificity


def at_least_as_specific(a: Signature, b: Signature) -> bool:
    """Whether every parameter of `a` takes no more than that of `b`."""
    return all(is_below(shape_class(x), shape_class(y)) for x, y in zip(a.params, b.params))


def most_specific(signatures: Sequence[Signature]) -> list[int]:
    """The positions of those that no other one is more specific than: one, or several tied ones. Of instances with the
    same shape classes throughout, only the last counts."""
    result = []
    for i, signature in enumerate(signatures):
        beaten = False
        for j, other in enumerate(signatures):
            if i != j and at_least_as_specific(other, signature):
                beaten = beaten or j > i or not at_least_as_specific(signature, other)
        if not beaten:
            result.append(i)
    return result


def in_order(signatures: Sequence[Signature]) -> list[int]:
    """The positions, ordered so that none stands before a more specific one."""
    left, result = list(range(len(signatures))), []
    while left:
        best = [left[i] for i in most_specific([signatures[i] for i in left])]
        result += best
        left = [i for i in left if i not in best]
    return result


# ---------------------------------------------------------------- calls


class Certain(Node):
    """The call takes this instance, always."""

    signature: Signature


class Possible(Node):
    """These instances are left, in the order in which to test them. `exact`: the first that fits is the right one, so
    testing in order is all there is to do; otherwise two of them may tie, and `choose` must decide."""

    signatures: tuple[Signature, ...]
    exact: bool


class Ambiguous(Node):
    """All of these certainly fit, and none is the most specific."""

    signatures: tuple[Signature, ...]


class NoneFits(Node):
    """No instance fits; the reason for each, in the order given."""

    reasons: tuple[str, ...]


Resolution = Certain | Possible | Ambiguous | NoneFits


def resolve(signatures: Sequence[Signature], shapes: Sequence[Shape]) -> Resolution:
    """What is known of a call's instance from what is known of its arguments' shapes."""
    fit = [_fit(signature, shapes) for signature in signatures]
    if len(signatures) == 1 and fit[0] is not Fit.NO:
        (only,) = signatures
        return Certain(only) if fit[0] is Fit.YES else Possible((only,), True)
    left = [s for s, f in zip(signatures, fit) if f is not Fit.NO]
    if not left:
        return NoneFits(tuple(reason(s, shapes) for s in signatures))
    certain = [s for s, f in zip(signatures, fit) if f is Fit.YES]
    left = [
        s
        for s in left
        if not any(_beats(signatures, c, s) for c in certain) and not any(_replaces(signatures, t, s) for t in left)
    ]
    best = [left[i] for i in most_specific(left)]
    if all(any(s is c for c in certain) for s in left):
        return Certain(best[0]) if len(best) == 1 else Ambiguous(tuple(best))
    ordered = tuple(left[i] for i in in_order(left))
    exact = not any(_may_tie(a, b) for i, a in enumerate(ordered) for b in ordered[i + 1 :])
    return Possible(ordered, exact)


def choose(signatures: Sequence[Signature], extents: Sequence[tuple[int, ...]]) -> int | list[int] | tuple[str, ...]:
    """The run-time decision: the position of the instance that takes arguments with these whole extents; a list of
    positions where several tie; the reasons (one text each) where none fits."""
    shapes = [constant(e, None) for e in extents]
    fitting = [i for i, s in enumerate(signatures) if _fit(s, shapes) is Fit.YES]
    if not fitting:
        return tuple(reason(s, shapes) for s in signatures)
    best = [fitting[i] for i in most_specific([signatures[i] for i in fitting])]
    return best[0] if len(best) == 1 else best


def reason(signature: Signature, shapes: Sequence[Shape]) -> str:
    """Why an instance does not take these arguments: "argument 2 (b) is int[3] but takes int[.,.]"."""
    texts: dict[int, str] = {}
    for arg, (slot, shape) in enumerate(zip(signature.params, shapes)):
        if fits(slot, shape) is Fit.NO:
            texts.setdefault(
                position(signature.params, arg),
                f"{place(signature.params, arg)} is {found_type(slot, shape)} but takes {slot.text}",
            )
    return "; ".join(texts.values())


def _fit(signature: Signature, shapes: Sequence[Shape]) -> Fit:
    found = Fit.YES
    for slot, shape in zip(signature.params, shapes):
        answer = fits(slot, shape)
        if answer is Fit.NO:
            return answer
        if answer is Fit.MAYBE:
            found = answer
    return found


def _beats(signatures: Sequence[Signature], a: Signature, b: Signature) -> bool:
    """Whether `b` is never taken where `a` fits: `a` is more specific, or the same and defined later."""
    if a is b or not at_least_as_specific(a, b):
        return False
    return not at_least_as_specific(b, a) or _index(signatures, a) > _index(signatures, b)


def _replaces(signatures: Sequence[Signature], a: Signature, b: Signature) -> bool:
    """Whether `a` has the shape classes of `b` and is defined later."""
    return a is not b and at_least_as_specific(a, b) and _beats(signatures, a, b) and at_least_as_specific(b, a)


def _index(signatures: Sequence[Signature], wanted: Signature) -> int:
    return next(i for i, s in enumerate(signatures) if s is wanted)


def _may_tie(a: Signature, b: Signature) -> bool:
    """Whether some arguments fit both and neither is the more specific."""
    if at_least_as_specific(a, b) or at_least_as_specific(b, a):
        return False
    return not any(disjoint(shape_class(x), shape_class(y)) for x, y in zip(a.params, b.params))
