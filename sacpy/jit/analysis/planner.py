"""Which arrays of a block are made inside others: the judge of `circuits`, which is loaded where there may be such.

In: a block and what is known around it. Out: its `Plan`: circuits with what has to be there before they begin, and for
each array that is made elsewhere and copied the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from sacpy.jit.analysis.ahead import Ahead
from sacpy.jit.analysis.aliases import Aliases
from sacpy.jit.analysis.circuits import Circuit, Opening, Outside, Plan, Refusal, is_point
from sacpy.jit.analysis.ints import Ints
from sacpy.jit.analysis.makers import Makers, may_fail
from sacpy.jit.analysis.overwritten import Old
from sacpy.jit.analysis.projections import Projection, Shift, copied_part, is_contiguous
from sacpy.jit.ir import graph as g

NOT_MADE_HERE = "it is not made in this block, bit by bit or at once"
NEEDED_LATER = "it is needed afterwards"
MEMORY_THERE = "it has the memory of an array that dies"
UNKNOWN_BEFORE = "where it goes is not known before it is made"
NOT_WHOLE = "it is not copied as a whole, in its order"
OTHERS_HOLD = "the array that it goes to is needed afterwards"
IS_READ = "what it would overwrite is read meanwhile"
MUST_STAY = "the array that it goes to must be as it was if a check fails"
LEFT = "that is decided where its memory is given out"
SCATTERED = "its elements would not lie side by side"


class Planner:
    """The plan of a block; see `circuits`."""

    def __init__(
        self,
        block: g.Block,
        owned: frozenset[str],
        makers: Makers,
        ints: Ints,
        outside: Outside,
        scattered: bool,
    ) -> None:
        self.block, self.statements, self.owned = block, block.statements, owned
        self.given = outside.given
        self.makers, self.ints, self.scattered = makers, ints, scattered
        self.found = Plan()
        self.opened: dict[str, int] = {}  # by arrays that are made at a point: before which statement they are there
        self.ahead = Ahead(block)
        self.set_by = self.ahead.set_by

    def plan(self) -> Plan:
        for number, s in enumerate(self.statements):
            if not isinstance(s, g.Let) or not is_point(s):
                continue
            made = []
            for candidate in self.candidates(number, s):
                if isinstance(candidate, Refusal):
                    self.found.refusals.append(candidate)
                else:
                    made.append(candidate)
            if made:
                self.open(number, made)
        return self.found

    def candidates(self, number: int, s: g.Let) -> list[Circuit | Refusal]:
        """For each array that a statement copies into a part of another one what becomes of it."""
        whole = s.targets[0]
        if isinstance(s.rhs, g.Update):
            assert isinstance(s.rhs.value, g.Var)
            part = s.rhs.value
            at = (*s.rhs.index, *(Shift(k, g.integer(0)) for k in range(len(g.extents_of(part)))))
            return [self.judged(number, part, whole, at, None, s.rhs.array)]
        assert isinstance(s.rhs, g.WithLoop)
        (o,) = s.rhs.operators
        onto, found = o.array if isinstance(o, g.Modarray) else None, list[Circuit | Refusal]()
        for k, p in enumerate(s.rhs.partitions):
            copied = copied_part(p, self.ints.forms)
            if copied is None:
                continue
            part, place = copied
            if onto is not None and part.name == onto.name:
                continue
            if part.name in self.makers.makers and not any(c.part.name == part.name for c in found):
                found.append(
                    Refusal(part, whole, NOT_WHOLE)
                    if place is None
                    else self.judged(number, part, whole, place, k, onto)
                )
        return found

    def judged(
        self, number: int, part: g.Var, whole: g.Var, at: Projection, partition: int | None, onto: g.Var | None
    ) -> Circuit | Refusal:
        """Whether an array is made where it is copied to."""
        if part.name not in self.makers.makers:
            return Refusal(part, whole, NOT_MADE_HERE)
        if part.base != whole.base or any(k > number for k in self.makers.users.get(part.name, ())):
            return Refusal(part, whole, NEEDED_LATER)
        chain = self.makers.chain(part.name)
        if not self.makers.can_place(part.name):
            return Refusal(part, whole, NOT_MADE_HERE)
        if not chain.own and chain.source is not None and chain.source.name not in self.makers.makers:
            return Refusal(part, whole, MEMORY_THERE)
        if self.makers.keeps_memory(chain.names[-1] if chain.names else part.name):
            return Refusal(part, whole, MEMORY_THERE)
        side_by_side = is_contiguous(at, g.extents_of(whole), g.extents_of(part), self.ints.forms)
        if not side_by_side and not (self.scattered and onto is not None):
            return Refusal(part, whole, SCATTERED)
        source = None
        if onto is not None:
            first = self.first((part.name, *chain.names))
            old = Old(self.block, onto, part, at, self.ints, self.makers)
            if not self.is_ours(onto.name, first) or old.last > number:
                return Refusal(part, whole, OTHERS_HOLD)
            if onto.name in self.given and any(map(may_fail, self.statements[first:number])):
                return Refusal(part, whole, MUST_STAY)
            begins = chain.source or self.argument(chain.names[-1] if chain.names else part.name)
            source = begins if begins is not None and old.is_there(begins) else None
            starts_there = source is not None
            if self.scattered:
                starts_there = old.copies(self.statements[chain.first])
                if not starts_there and side_by_side:
                    return Refusal(part, whole, LEFT)
            if not old.stays_readable(first, number, starts_there=starts_there):
                return Refusal(part, whole, IS_READ)
        names = {part.name, *chain.names}
        if any(k > number for name in self.aliases.of(names) - names for k in self.makers.users.get(name, ())):
            return Refusal(part, whole, NEEDED_LATER)
        return Circuit(part, whole, (part.name, *chain.names), at, number, partition, onto, source)

    def argument(self, name: str) -> g.Var | None:
        """What a call may make into an array where it lies."""
        s = self.makers.let(name)
        at = [t.name for t in s.targets].index(name)
        return self.makers.may_become(s.rhs, at) if isinstance(s.rhs, g.Call) else None

    @cached_property
    def aliases(self) -> Aliases:
        return Aliases(self.block)

    def is_ours(self, name: str, number: int) -> bool:
        """Whether an array is the block's own before a statement."""
        return name in self.owned or (name in self.set_by and self.set_by[name] < number)

    # ---- the memory of the whole

    def open(self, number: int, made: Sequence[Circuit]) -> None:
        """Notes circuits of a point, as far as what they need is known before their parts are made."""
        kept: list[Circuit] = list(made)
        while kept:
            begins = min(self.first(c.names) for c in kept)
            whole = kept[0].whole
            needed = [a for c in kept for a in _needed(c)] + list(g.extents_of(whole))
            ahead = self.ahead.of(needed, begins, number)
            if ahead is not None:
                break
            early = min(kept, key=lambda c: self.first(c.names))
            kept.remove(early)
            self.found.refusals.append(Refusal(early.part, early.whole, UNKNOWN_BEFORE))
        else:
            return
        first, lent = begins, frozenset[str]()
        if kept[0].onto is not None:
            lent = Old(self.block, kept[0].onto, kept[0].part, kept[0].at, self.ints, self.makers).views
            first = min([first, *(self.set_by[name] for name in lent)])
        self.opened[whole.name] = first
        self.found.openings[number] = Opening(tuple(kept), first, begins, ahead, lent)

    def first(self, names: Sequence[str]) -> int:
        """The number of the first statement that writes to what becomes an array; others may have been made in that."""
        numbers = [self.makers.makers[name] for name in names]
        return min([*numbers, *(self.opened[name] for name in names if name in self.opened)])


def _needed(c: Circuit) -> list[g.Atom]:
    """What has to be known for the place of a part."""
    return [*(a.start if isinstance(a, Shift) else a for a in c.at), *g.extents_of(c.part)]
