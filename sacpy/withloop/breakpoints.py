"""Rows whose length is defined by cases: the stretches of them along which it grows by one number from row to row.

In: `Extents`. Out: the places on the first axis at which lengths begin to grow otherwise: those of a band are the ends
of its growing head and of its middle. Between them a row is found by a root or a quotient, where over all of them it
would be searched for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sacpy.nodes import Node
from sacpy.withloop.piecewise import (
    ONE,
    ZERO,
    Factor,
    Poly,
    Step,
    coefficient_of,
    names,
    replaced,
)
from sacpy.withloop.sums import Extents, position

MOST = 2  # places at which a length changes otherwise; of more it is not known in which order they come


class Cases(Node):
    """`places`: the rows at which lengths grow otherwise than before, functions of sizes, in any order and perhaps
    beyond the ends. `growths`: how many elements a row has more than the one before it: in front of all places; between
    two, where the first of them comes first, and where the second one does, if that is not the same; and behind them
    all."""

    places: tuple[Poly, ...]
    growths: tuple[int, ...]


def cases(extents: Extents) -> Cases | None:
    """None where the length of a row has no cases, or other ones."""
    length, row = extents.sizes()[1], position(0)
    if length is None:
        return None
    moving = {f for m, _ in length.terms for f, _ in m if isinstance(f, Step) and row in names(f.of)}
    steps = {f: place for f in moving if (place := _place(f, row)) is not None}
    places = sorted({place for place, _ in steps.values()}, key=str)
    if len(moving) != len(steps) or not 1 <= len(places) <= MOST:
        return None
    growths: list[int] = []
    for behind in ([], *([p] for p in places if len(places) == MOST), places):
        slope = coefficient_of(replaced(length, _decided(steps, behind)), row)
        growth = None if slope is None else slope[0].constant
        if growth is None or growth.denominator != 1:
            return None
        growths.append(int(growth))
    if len(places) == MOST and growths[1] == growths[2]:
        del growths[1]
    return Cases(tuple(places), tuple(growths))


def _place(of: Step, row: str) -> tuple[Poly, bool] | None:
    """The first row behind which a step has changed, and whether it goes up there; None where it depends on the row in
    another way."""
    slope = coefficient_of(of.of, row)
    if slope is None or slope[0] not in (ONE, -ONE):
        return None
    if any(isinstance(f, Step) for m, _ in slope[1].terms for f, _ in m):
        return None
    rises = slope[0] == ONE
    return (-slope[1] if rises else slope[1] + ONE), rises


def _decided(steps: Mapping[Step, tuple[Poly, bool]], behind: Sequence[Poly]) -> dict[Factor, Poly]:
    """The value of each step in the rows behind some places, and before the others."""
    return {s: ONE if (place in behind) == rises else ZERO for s, (place, rises) in steps.items()}


__all__ = ["Cases", "cases"]
