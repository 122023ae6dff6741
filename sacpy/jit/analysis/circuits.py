"""Array short-circuiting: arrays of a block that are made only to be copied into a larger one, and may be made there.

In: a block, which arrays are its own, and what is known of the integers. Out: `Plan`: which arrays are made in which
part of which other one, and why the others are not.

    r = for i from 1 to n step 1 with s := b               r   in the rows of w from m on
      ..                                                   q   in the first rows of w
    q = for ..                                             w   made before r is: t is computed before as well
    w = with [t] disjoint complete
        part [0] <= [i] < [m]: load q[i]                   goes
        part [m] <= [j] < [t]: k = sub! j, m; load r[k]    goes

    v = view a[i]                                          v   the row of a, without a reference of its own
    r = for j from 1 to m step 1 with s := v               r   in the same row: it begins with what is there
      ..
    b = update a[i] with r                                 goes

A part is made in the whole where it is needed nowhere behind the point where it is copied; where the memory of the
whole is known before the part is made: its extents, and where in it the part lies; and where nobody reads of the whole
what the part has overwritten by then. Of an array that is made at the point nobody reads before it. Of one that there
is, loads have to stay apart from the part, along some axis; or each round of the loops that make the part reads its own
element before it sets it, or elements that later rounds set.

Source: Munksgaard, *Static and Dynamic Analyses for Efficient GPU Execution* (PhD, Copenhagen, 2023), chapter 5. An
index function gives for each axis of the whole either an index or an axis of the part with where it begins."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from sacpy.jit.analysis.makers import Makers
from sacpy.jit.analysis.overwritten import Old
from sacpy.jit.analysis.projections import Projection, Shift, copied_part, is_contiguous
from sacpy.jit.ir.graph import (
    ArrayType,
    Atom,
    Block,
    Check,
    Genarray,
    Let,
    Modarray,
    Op,
    Stmt,
    Update,
    Var,
    WithLoop,
    extents_of,
    integer,
)
from sacpy.nodes import Node, Record, field

NOT_MADE_HERE = "it is not made in this block, bit by bit or at once"
NEEDED_LATER = "it is needed afterwards"
MEMORY_THERE = "it has the memory of an array that dies"
UNKNOWN_BEFORE = "where it goes is not known before it is made"
NOT_WHOLE = "it is not copied as a whole, in its order"
OTHERS_HOLD = "the array that it goes to is needed afterwards"
IS_READ = "what it would overwrite is read meanwhile"
SCATTERED = "its elements would not lie side by side"


class Circuit(Node):
    """`part` is made in `whole`, at the place that `at` says. `names`: all arrays that lie there, the latest first.
    `point`: the number of the statement that would copy it; `partition`: that of its partition which would, None where
    it is an update. `onto`: the array that there is and that becomes `whole`, None where `whole` is made at the point.
    `source`: the view of what is there, if the part begins with that."""

    part: Var
    whole: Var
    names: tuple[str, ...]
    at: Projection
    point: int
    partition: int | None
    onto: Var | None
    source: Var | None


class Refusal(Node):
    """`part` is made elsewhere, and copied into `whole`."""

    part: Var
    whole: Var
    reason: str


class Opening(Node):
    """The circuits of one point. `first`: the number of the statement before which the whole has to be there; `begins`:
    of that before which its parts have their places; `ahead`: the numbers of those that are needed for these, and come
    later; `lent`: views of the whole that are only read until the point, and so need no reference of their own."""

    circuits: tuple[Circuit, ...]
    first: int
    begins: int
    ahead: tuple[int, ...]
    lent: frozenset[str]


class Plan(Record):
    """By the number of the statement at the point."""

    openings: dict[int, Opening] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)


NOTHING = Plan()


def circuits(
    block: Block,
    owned: Collection[str],
    uses_of: Callable[[Stmt], frozenset[str]],
    sums: Mapping[str, Op],
    borrowed: Collection[str] = (),
) -> Plan:
    """The plan of a block. `owned`: arrays from outside that the block takes over; `borrowed`: those of them that its
    caller keeps, so that no memory is given up for a part that begins with one."""
    if not any(_is_point(s) for s in block.statements):
        return NOTHING
    makers = Makers(block, [name for name in owned if name not in borrowed], uses_of)
    return _Planner(block, frozenset(owned), makers, sums).plan()


def _is_point(s: Stmt) -> bool:
    """Whether a statement might copy an array into a part of another one."""
    if not isinstance(s, Let):
        return False
    if isinstance(s.rhs, Update):
        return isinstance(s.rhs.value.type, ArrayType)
    return isinstance(s.rhs, WithLoop) and _receives(s.rhs)


def _receives(w: WithLoop) -> bool:
    """Whether the partitions of a with-loop set elements of one array, in memory that may be there before."""
    if len(w.operators) != 1 or not w.disjoint:
        return False
    (o,) = w.operators
    if isinstance(o, Genarray):
        return w.complete and not o.cell
    return isinstance(o, Modarray) and len(extents_of(o.array)) == len(w.frame or ())


class _Planner:
    def __init__(self, block: Block, owned: frozenset[str], makers: Makers, sums: Mapping[str, Op]) -> None:
        self.block, self.statements, self.owned = block, block.statements, owned
        self.makers, self.sums = makers, sums
        self.found = Plan()
        self.opened: dict[str, int] = {}  # by arrays that are made at a point: before which statement they are there
        self.set_by = {
            t.name: number for number, s in enumerate(block.statements) if isinstance(s, Let) for t in s.targets
        }

    def plan(self) -> Plan:
        for number, s in enumerate(self.statements):
            if not isinstance(s, Let) or not _is_point(s):
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

    def candidates(self, number: int, s: Let) -> list[Circuit | Refusal]:
        """For each array that a statement copies into a part of another one what becomes of it."""
        whole = s.targets[0]
        if isinstance(s.rhs, Update):
            assert isinstance(s.rhs.value, Var)
            part = s.rhs.value
            at = (*s.rhs.index, *(Shift(k, integer(0)) for k in range(len(extents_of(part)))))
            return [self.judged(number, part, whole, at, None, s.rhs.array)]
        assert isinstance(s.rhs, WithLoop)
        (o,) = s.rhs.operators
        onto, found = o.array if isinstance(o, Modarray) else None, list[Circuit | Refusal]()
        for k, p in enumerate(s.rhs.partitions):
            copied = copied_part(p, self.sums)
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
        self, number: int, part: Var, whole: Var, at: Projection, partition: int | None, onto: Var | None
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
        if not is_contiguous(at, extents_of(whole), extents_of(part), self.sums):
            return Refusal(part, whole, SCATTERED)
        source = None
        if onto is not None:
            old = Old(self.block, onto, part, at, self.sums, self.makers)
            if not self.is_ours(onto.name, chain.first) or old.last > number:
                return Refusal(part, whole, OTHERS_HOLD)
            source = chain.source if chain.source is not None and old.is_there(chain.source) else None
            if not old.stays_readable(chain.first, number, starts_there=source is not None):
                return Refusal(part, whole, IS_READ)
        return Circuit(part, whole, (part.name, *chain.names), at, number, partition, onto, source)

    def is_ours(self, name: str, number: int) -> bool:
        """Whether an array is the block's own before a statement."""
        return name in self.owned or (name in self.set_by and self.set_by[name] < number)

    # ---- the memory of the whole

    def open(self, number: int, made: Sequence[Circuit]) -> None:
        """Notes circuits of a point, as far as what they need is known before their parts are made."""
        kept: list[Circuit] = list(made)
        while kept:
            begins = min(map(self.first, kept))
            whole = kept[0].whole
            needed = [a for c in kept for a in _needed(c)] + list(extents_of(whole))
            ahead = self.ahead(needed, begins, number)
            if ahead is not None:
                break
            early = min(kept, key=self.first)
            kept.remove(early)
            self.found.refusals.append(Refusal(early.part, early.whole, UNKNOWN_BEFORE))
        else:
            return
        first, lent = begins, frozenset[str]()
        if kept[0].onto is not None:
            lent = Old(self.block, kept[0].onto, kept[0].part, kept[0].at, self.sums, self.makers).views
            first = min([first, *(self.set_by[name] for name in lent)])
        self.opened[whole.name] = first
        self.found.openings[number] = Opening(tuple(kept), first, begins, ahead, lent)

    def first(self, c: Circuit) -> int:
        """The number of the statement before which the place of a part has to be known."""
        numbers = [self.makers.makers[name] for name in c.names]
        return min([*numbers, *(self.opened[name] for name in c.names if name in self.opened)])

    def ahead(self, needed: Sequence[Atom], first: int, point: int) -> tuple[int, ...] | None:
        """The statements from a certain one on that compute some scalars, and those that check them, in their order;
        None where a scalar is more than an operation on others."""
        found: set[int] = set()
        waiting = [a.name for a in needed if isinstance(a, Var)]
        while waiting:
            number = self.set_by.get(waiting.pop(), -1)
            if number < first or number in found:
                continue
            s = self.statements[number]
            assert isinstance(s, Let)
            if number > point or not isinstance(s.rhs, Op):
                return None
            found.add(number)
            waiting += [a.name for a in s.rhs.args if isinstance(a, Var)]
        return self.with_checks(found, first, point)

    def with_checks(self, found: set[int], first: int, point: int) -> tuple[int, ...] | None:
        """Statements, and the checks of what they compute."""
        computed = {t.name for n in found for t in self.statements[n].targets}  # type: ignore[union-attr]
        before = {name for name, n in self.set_by.items() if n < first}
        known = set(computed)  # what can be computed of it
        told: set[int] = set()
        for number in range(first, point):
            s = self.statements[number]
            if isinstance(s, Check):
                if isinstance(s.condition, Var) and s.condition.name in known and s.condition.name not in before:
                    told.add(number)
            elif isinstance(s.rhs, Op) and any(isinstance(a, Var) and a.name in known for a in s.rhs.args):
                known |= {t.name for t in s.targets}
        for number in tuple(told):
            s = self.statements[number]
            assert isinstance(s, Check) and isinstance(s.condition, Var)
            waiting = [s.condition.name]
            while waiting:
                n = self.set_by.get(waiting.pop(), -1)
                if n < first or n in found:
                    continue
                made = self.statements[n]
                assert isinstance(made, Let)
                if not isinstance(made.rhs, Op):
                    return None
                found.add(n)
                waiting += [a.name for a in made.rhs.args if isinstance(a, Var)]
        return tuple(sorted(found | told))


def _needed(c: Circuit) -> list[Atom]:
    """What has to be known for the place of a part."""
    return [*(a.start if isinstance(a, Shift) else a for a in c.at), *extents_of(c.part)]
