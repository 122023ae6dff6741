"""Vectors of a scan's elements (`host/monoids`), combined lane by lane.

In: the texts of vectors, one for each component of elements. Out: those of what their lanes combine to.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.host.monoids import Monoid
from sacpy.jit.llvm.legal import Code

GROUP = 4  # vectors that are scanned together
_FOUR = "<4 x i32> <i32 0, i32 1, i32 2, i32 3>"


class Lanes:
    """What is done with the lanes of vectors whose elements are combined by `monoid`."""

    def __init__(self, code: Code, monoid: Monoid) -> None:
        self.code, self.monoid = code, monoid

    def prefixes(self, v: Sequence[str], lanes: int) -> list[str]:
        """A vector whose lanes are combined with all before them: with one before, with two, with four, .."""
        found, distance = list(v), 1
        while distance < lanes:
            found = self.monoid.combined(self.code, self.shifted(found, distance, lanes), found, lanes)
            distance *= 2
        return found

    def ends(self, v: Sequence[Sequence[str]]) -> list[str]:
        """The last lanes of the vectors of a group, as one vector."""
        code, lanes, found = self.code, self.monoid.lanes, list[str]()
        for c, t in enumerate(self.monoid.types(lanes)):
            pair, base = f"<2 x i32> <i32 {lanes - 1}, i32 {2 * lanes - 1}>", t.partition(" x ")[2]
            low, high = (code.op(f"shufflevector {t} {v[g][c]}, {t} {v[g + 1][c]}, {pair}") for g in range(0, GROUP, 2))
            two = f"<2 x {base}"
            found.append(code.op(f"shufflevector {two} {low}, {two} {high}, {_FOUR}"))
        return found

    def begun(self, start: str, v: Sequence[str], lanes: int) -> str:
        """The results that come of one before, and of vectors of elements."""
        types = self.monoid.types(lanes)
        begun = [self.splat(s, t, lanes) for s, t in zip(self.monoid.started(start), types)]
        return self.monoid.combined(self.code, begun, v, lanes)[-1]

    def halved(self, v: Sequence[Sequence[str]]) -> list[str]:
        """What the elements of vectors combine to: pairs of neighbours, pairs of these, and so on, which is how the
        last lane of scanned vectors comes about."""
        monoid, lanes, found = self.monoid, self.monoid.lanes, list(v)
        while len(found) > 1:
            pairs = zip(found[::2], found[1::2])
            found = [
                monoid.combined(self.code, self.every_second(a, b, lanes, 0), self.every_second(a, b, lanes, 1), lanes)
                for a, b in pairs
            ]
        (one,) = found
        while lanes > 1:
            lanes //= 2
            left, right = (self.every_second(one, None, lanes, odd) for odd in (0, 1))
            one = monoid.combined(self.code, left, right, lanes)
        return list(one)

    def every_second(self, v: Sequence[str], more: Sequence[str] | None, lanes: int, first: int) -> list[str]:
        """So many lanes of vectors of twice as many, or of two vectors that follow one another: every second one."""
        code, types = self.code, self.monoid.types(lanes if more is not None else 2 * lanes)
        if lanes == 1:
            return [code.op(f"extractelement {t} {x}, i64 {first}") for t, x in zip(types, v)]
        mask = f"<{lanes} x i32> <{', '.join(f'i32 {2 * k + first}' for k in range(lanes))}>"
        others = more or ["poison"] * len(v)
        return [code.op(f"shufflevector {t} {x}, {t} {y}, {mask}") for t, x, y in zip(types, v, others)]

    def shifted(self, v: Sequence[str], distance: int, lanes: int) -> list[str]:
        """Vectors moved up by some lanes, identities below."""
        mask = ", ".join(f"i32 {k if k < distance else lanes + k - distance}" for k in range(lanes))
        return [
            self.code.op(f"shufflevector {t} {self.splat(one, t, lanes)}, {t} {x}, <{lanes} x i32> <{mask}>")
            for one, t, x in zip(self.monoid.identities, self.monoid.types(lanes), v)
        ]

    def splat(self, text: str, vector: str, lanes: int) -> str:
        """A vector of one value."""
        scalar = vector.rpartition(" ")[2].removesuffix(">")
        one = self.code.op(f"insertelement {vector} poison, {scalar} {text}, i64 0")
        return self.code.op(f"shufflevector {vector} {one}, {vector} poison, <{lanes} x i32> zeroinitializer")
