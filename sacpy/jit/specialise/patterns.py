"""Type patterns while a function is specialised: names become atoms, and what the patterns compare becomes checks.

In: the steps of a signature's plan (`lang/plan`) and the values of its parameters or results. Out: what the names stand
for. Ranks are known, so steps about them are decided here; a rank that depends on the value of an argument has to be a
constant.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.failures import Unsupported
from sacpy.jit.ir.graph import Atom, Const
from sacpy.jit.specialise.elementwise import need_scalar
from sacpy.jit.specialise.emit import Builder
from sacpy.jit.specialise.structure import vector
from sacpy.jit.specialise.values import Fails, Value, extents_of, integer, small_vector
from sacpy.lang.plan import (
    AtLeast,
    BindExtent,
    BindLength,
    BindRank,
    BindShape,
    CheckExtent,
    CheckShape,
    ExtentIs,
    Length,
    Place,
    RankAtLeast,
    RankIs,
    Step,
    TakeParameter,
)

WHAT = "the type patterns match"


class Names:
    """What the names of a signature's patterns stand for."""

    def __init__(self, b: Builder) -> None:
        self.b = b
        self.ints: dict[str, Atom] = {}
        self.shapes: dict[str, tuple[Atom, ...]] = {}

    def value(self, name: str) -> Value | None:
        """The name as a value of core; None if it is not bound."""
        if name in self.ints:
            return self.ints[name]
        return small_vector(self.shapes[name]) if name in self.shapes else None

    def run(self, steps: Sequence[Step], values: Sequence[Value]) -> None:
        """Binds and checks. Raises `Fails` where the patterns certainly do not match."""
        for step in steps:
            self._step(step, values)

    def _length(self, length: Length) -> int:
        total = length.fixed
        for name in length.names:
            found = self.b.same(self.ints[name])
            if not isinstance(found, Const):
                raise Unsupported(f"a rank depends on the value of {name}", self.b.span)
            total += int(found.value)
        return total

    def _axis(self, place: Place, rank: int) -> int:
        at = self._length(place.length)
        return rank - at if place.from_back else at

    def _need(self, holds: bool) -> None:
        if not holds:
            raise Fails(WHAT)

    def _step(self, step: Step, values: Sequence[Value]) -> None:
        b = self.b
        match step:
            case BindLength(name=name, shape=shape):
                self.ints[name] = integer(len(self.shapes[shape]))
                return
            case AtLeast(name=name, minimum=minimum):
                b.check(b.op("le", integer(minimum), self.ints[name]), WHAT)
                return
        value = values[step.arg]
        extents = extents_of(value)
        match step:
            case TakeParameter(name=name):
                if extents:
                    self.shapes[name] = vector(b, value, name)
                else:
                    self.ints[name] = need_scalar(value, WHAT)
            case RankIs(rank=rank):
                self._need(len(extents) == self._length(rank))
            case RankAtLeast(rank=rank):
                self._need(len(extents) >= self._length(rank))
            case ExtentIs(axis=axis, value=wanted):
                b.check(b.op("eq", extents[self._axis(axis, len(extents))], integer(wanted)), WHAT)
            case BindExtent(name=name, axis=axis):
                self.ints[name] = b.same(extents[self._axis(axis, len(extents))])
            case CheckExtent(name=name, axis=axis):
                b.check(b.op("eq", extents[self._axis(axis, len(extents))], self.ints[name]), WHAT)
            case BindRank(name=name, rest=rest, times=times):
                left, odd = divmod(len(extents) - self._length(rest), times)
                self._need(left >= 0 and not odd)
                self.ints[name] = integer(left)
            case BindShape(name=name, start=start, stop=stop):
                self.shapes[name] = tuple(
                    map(b.same, extents[self._axis(start, len(extents)) : self._axis(stop, len(extents))])
                )
            case CheckShape(name=name, start=start, stop=stop):
                b.need_equal(
                    extents[self._axis(start, len(extents)) : self._axis(stop, len(extents))], self.shapes[name], WHAT
                )
