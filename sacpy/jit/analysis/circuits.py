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

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from sacpy.jit.analysis.ints import Ints
from sacpy.jit.analysis.makers import Destinations, Makers
from sacpy.jit.ir import graph as g
from sacpy.nodes import Node, Record, field

if TYPE_CHECKING:
    from sacpy.jit.analysis.projections import Projection


class Circuit(Node):
    """`part` is made in `whole`, at the place that `at` says. `names`: all arrays that lie there, the latest first.
    `point`: the number of the statement that would copy it; `partition`: that of its partition which would, None where
    it is an update. `onto`: the array that there is and that becomes `whole`, None where `whole` is made at the point.
    `source`: the view of what is there, if the part begins with that."""

    part: g.Var
    whole: g.Var
    names: tuple[str, ...]
    at: Projection
    point: int
    partition: int | None
    onto: g.Var | None
    source: g.Var | None


class Refusal(Node):
    """`part` is made elsewhere, and copied into `whole`."""

    part: g.Var
    whole: g.Var
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


class Outside(Node):
    """What is known of a function's arrays: `borrowed`: parameters that its caller keeps, so that no memory is given up
    for what begins with one; `given`: those that must be as they were if a check fails; `known`: which functions of the
    unit make results where they are told, None where calls and branches make nothing that is moved."""

    borrowed: frozenset[str] = frozenset()
    given: frozenset[str] = frozenset()
    known: Destinations | None = None

    @staticmethod
    def of(function: g.Function, taken: Collection[int] | None, known: Destinations | None = None) -> Outside:
        """`taken`: which of its parameters a function may take over, if it is the root of a unit."""
        if taken is None:
            return Outside(known=known)
        names = {p.name: number in taken for number, p in enumerate(function.params)}
        return Outside(
            frozenset(n for n, given in names.items() if not given), frozenset(n for n in names if names[n]), known
        )


class Plan(Record):
    """By the number of the statement at the point."""

    openings: dict[int, Opening] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)

    @property
    def placed(self) -> set[str]:
        """The arrays that are made in others."""
        return {name for o in self.openings.values() for c in o.circuits for name in c.names}


NOTHING = Plan()


def circuits(
    block: g.Block,
    owned: Collection[str],
    uses_of: Callable[[g.Stmt], frozenset[str]],
    ints: Ints,
    outside: Outside,
    *,
    scattered: bool = False,
) -> Plan:
    """The plan of a block. `owned`: arrays from outside that the block takes over; `outside`: what else is known
    of what is around it. `scattered`: those parts are looked for whose elements do not lie side by side in the whole,
    or that begin with a copy of what is there; otherwise the others."""
    if not any(is_point(s) for s in block.statements):
        return NOTHING
    from sacpy.jit.analysis.planner import Planner

    makers = Makers(block, [name for name in owned if name not in outside.borrowed], uses_of, outside.known)
    return Planner(block, frozenset(owned), makers, ints, outside, scattered).plan()


def is_point(s: g.Stmt) -> bool:
    """Whether a statement might copy an array into a part of another one."""
    if not isinstance(s, g.Let):
        return False
    if isinstance(s.rhs, g.Update):
        return isinstance(s.rhs.value.type, g.ArrayType)
    return isinstance(s.rhs, g.WithLoop) and _receives(s.rhs)


def _receives(w: g.WithLoop) -> bool:
    """Whether the partitions of a with-loop set elements of one array, in memory that may be there before."""
    if len(w.operators) != 1 or not w.disjoint:
        return False
    (o,) = w.operators
    if isinstance(o, g.Genarray):
        return w.complete and not o.cell
    return isinstance(o, g.Modarray) and len(g.extents_of(o.array)) == len(w.frame or ())
