"""What a version of a function knows of its arguments: their ranks, and the extents that are small.

In: the arguments' shapes. Out: a `Kind`, one entry per argument: () for a scalar, for an array its extents, None where
the version takes any. One more, `WIDE`, says that extents may be larger than usual, in the arguments or in what is made
of them: code for these can rule out less. Extents of up to 4 and the lengths of int vectors of up to 8 are known by
value, since such vectors are mostly shapes and indices, and such axes mostly cells. A function that is called with many
different ones gets versions that know less.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from sacpy.lang.core import Signature

SMALL = 4  # the largest extent that a version knows
SHORT = 8  # the length of the longest int vector that a version knows
# of the extents that graphs have, and that wide ones have (`ir.graph.LARGEST_EXTENT`, `WIDEST_EXTENT`)
LARGEST, WIDEST = 2**30 - 1, 2**31 - 2**16

Extents = tuple[int | None, ...]
Kind = tuple[Extents, ...]
WIDE: Extents = (-1,)


class Detail(IntEnum):
    """How much a version knows beyond ranks."""

    EXTENTS = 0  # small extents, lengths of short int vectors
    LENGTHS = 1  # lengths of short int vectors
    RANKS = 2


def kind_of(shapes: Sequence[tuple[int, ...]], bases: Sequence[str], detail: Detail, wide: bool = False) -> Kind:
    """The kind of arguments of these shapes."""
    kind = tuple(_extents(shape, base, detail) for shape, base in zip(shapes, bases))
    return (*kind, WIDE) if wide else kind


def coarser(kind: Kind, bases: Sequence[str], detail: Detail) -> Kind:
    """What is left of a kind with less detail."""
    shapes = [tuple(SHORT + 1 if e is None else e for e in extents) for extents in kind if extents != WIDE]
    return kind_of(shapes, bases, detail, is_wide(kind))


def is_wide(kind: Kind) -> bool:
    """Whether extents may be larger than usual."""
    return kind[-1:] == (WIDE,)


def _extents(shape: tuple[int, ...], base: str, detail: Detail) -> Extents:
    if base == "int" and len(shape) == 1 and shape[0] <= SHORT and detail <= Detail.LENGTHS:
        return shape
    return tuple(e if e <= SMALL and detail == Detail.EXTENTS else None for e in shape)


def kind_text(kind: Kind, signature: Signature) -> str:
    """A kind as the programmer would write the arguments' types: "double[.,3], int"."""
    text = ", ".join(
        slot.base + (f"[{','.join('.' if e is None else str(e) for e in extents)}]" if extents else "")
        for slot, extents in zip(signature.params, kind)
    )
    return f"{text} (huge extents)".lstrip() if is_wide(kind) else text
