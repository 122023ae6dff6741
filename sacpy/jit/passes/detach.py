"""Detaching: nothing holds an array any more when it is updated, where that can be avoided, so that the update happens
in place.

    b = update a[i,2] with x               b = update a[i,2] with x
    y = load a[i,3]              ->        y = load b[i,3]

What is read of the old array after an update, and differs from what the update has set, is read of the new one.
(Simplifying goes the other way: it sees more of what an element is.)

    r = view a[k]                          r = with [m]
    b = update a[k] with s                         part [0] <= [i] < [m]
    c = update b[l] with r       ->                    x = load a[k,i]
                                                       yield x
                                           b = update a[k] with s
                                           c = update b[l] with r

A view shares the memory of its array, which could not be updated in place as long as somebody holds the view: two rows
that change places would copy the whole matrix. A row is less.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import free, new_arrays, rights
from sacpy.jit.passes.ranges import Ranges
from sacpy.jit.passes.simplify import Simplifier
from sacpy.jit.passes.units import on_functions
from sacpy.lang.source import NOWHERE, Span
from sacpy.nodes import replace


class _Detacher:
    """`superseded`: by the name of an array, where it has been updated, and what it has become; `carried`: arrays that
    loops around here carry on from, which could not do so in place if they were read inside."""

    def __init__(self, function: g.Function) -> None:
        self.known = Ranges(Simplifier(function))
        self.walk = self.known.walk
        self.walk.take_over(rhs=self.rhs, define=self.define, past_update=self.past_update, inside=self.inside)
        self.superseded: dict[str, tuple[tuple[g.Atom, ...], g.Var]] = {}
        self.carried: frozenset[str] = frozenset()

    def rhs(self, r: g.Rhs) -> g.Rhs:
        if not g.is_nested(r) or not isinstance(r, g.For | g.Loop):
            return self.known.rhs(r)
        outer = self.carried
        self.carried |= {a.name for a in self.walk.atoms(r.initial) if isinstance(a, g.Var)}
        found = self.known.rhs(r)
        self.carried = outer
        return found

    def define(self, targets: tuple[g.Var, ...], rhs: g.Rhs, span: Span = NOWHERE) -> None:
        Simplifier.define(self.walk, targets, self.latest(rhs), span)
        if isinstance(rhs, g.Update):
            self.walk.note(self.superseded, rhs.array.name, (rhs.index, self.walk.var(targets[0])))

    def latest(self, rhs: g.Rhs) -> g.Rhs:
        """The same element or part of the array that is not updated any more."""
        while isinstance(rhs, g.Load | g.View) and rhs.array.name in self.superseded:
            index, now = self.superseded[rhs.array.name]
            if now.name in self.carried or not any(self.walk.differ(a, b) for a, b in zip(rhs.index, index)):
                break
            rhs = replace(rhs, array=now)
        return rhs

    def past_update(self, rhs: g.Load | g.View, update: g.Update) -> g.Atom | g.Load | g.View | None:
        return update.value if rhs.index == update.index else None

    def inside(self, b: g.Block, before: Callable[[], None] | None) -> g.Block:
        """A block; of its views, those that outlive their array are copied."""
        parted = {
            s.targets[0].name
            for k, s in enumerate(b.statements)
            if isinstance(s, g.Let)
            and isinstance(s.rhs, g.View)
            and _outlives(s.targets[0].name, s.rhs.array.name, b.statements[k + 1 :], b.results)
        }
        if parted:
            b = g.Block(
                tuple(
                    self.copied(s) if isinstance(s, g.Let) and s.targets and s.targets[0].name in parted else s
                    for s in b.statements
                ),
                b.results,
            )
        return Simplifier.inside(self.walk, b, before)

    def copied(self, s: g.Let) -> g.Let:
        """What sets a view as what makes an array with the same elements."""
        view, (target,) = s.rhs, s.targets
        assert isinstance(view, g.View) and isinstance(target.type, g.ArrayType)
        index = tuple(self.walk.supply.var("i", g.integer(0).type) for _ in target.type.extents)
        element = self.walk.supply.var("x", g.ScalarType(target.type.base))
        body = g.Block((g.Let((element,), g.Load(view.array, (*view.index, *index)), s.span),), (element,))
        return new_arrays(s.targets, index, body, s.span)


def _outlives(view: str, array: str, later: Sequence[g.Stmt], results: Sequence[g.Atom]) -> bool:
    """Whether a view is used when its array is updated, or after that, and the array is not."""
    for k, s in enumerate(later):
        if isinstance(s, g.Let) and _updates(s, array):
            after = later[k + 1 :]
            return (_uses(view, (s,), ()) or _uses(view, after, results)) and not _uses(array, after, results)
    return False


def _updates(s: g.Let, array: str) -> bool:
    """Whether a statement may write into an array's memory, if nobody else holds it."""

    def is_array(a: g.Atom) -> bool:
        return isinstance(a, g.Var) and a.name == array

    match s.rhs:
        case g.Update():
            return is_array(s.rhs.array)
        case g.WithLoop():
            return any(isinstance(o, g.Modarray) and is_array(o.array) for o in s.rhs.operators)
        case g.For() | g.Loop():
            return any(map(is_array, s.rhs.initial))
        case g.Call():
            return any(map(is_array, s.rhs.args))
        case g.If():
            return any(
                isinstance(inner, g.Let) and _updates(inner, array) for b in g.blocks(s.rhs) for inner in b.statements
            )
    return False


def _uses(name: str, some: Sequence[g.Stmt], results: Sequence[g.Atom]) -> bool:
    if any(isinstance(a, g.Var) and a.name == name for a in results):
        return True
    return any(
        isinstance(s, g.Let)
        and (
            any(isinstance(a, g.Var) and a.name == name for a in g.operands(s.rhs))
            or any(name in free(b) for b in g.blocks(s.rhs))
        )
        for s in some
    )


def _lingers(b: g.Block) -> bool:
    """Whether an array is used behind its update."""
    updated: set[str] = set()
    for s in b.statements:
        if isinstance(s, g.Let):
            if any(isinstance(a, g.Var) and a.name in updated for a in g.operands(s.rhs)) or any(
                _lingers(inner) or (updated and not updated.isdisjoint(free(inner))) for inner in g.blocks(s.rhs)
            ):
                return True
            if isinstance(s.rhs, g.Update):
                updated.add(s.rhs.array.name)
    return False


@on_functions
def run(function: g.Function) -> g.Function:
    """A unit in which nothing outlives its array's update that need not."""
    concerned = any(rights(function.body, g.View)) or _lingers(function.body)
    return _Detacher(function).walk.function(function) if concerned else function
