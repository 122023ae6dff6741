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

from sacpy.jit.ir.graph import (
    ArrayType,
    Atom,
    Block,
    Call,
    Const,
    For,
    Function,
    Genarray,
    If,
    Let,
    Load,
    Loop,
    Modarray,
    Partition,
    Rhs,
    ScalarType,
    Stmt,
    Unit,
    Update,
    Var,
    View,
    WithLoop,
    blocks,
    integer,
    is_nested,
    operands,
    statements,
)
from sacpy.jit.ir.rewrite import free
from sacpy.jit.passes.ranges import Ranges
from sacpy.jit.passes.simplify import Simplifier
from sacpy.jit.passes.units import per_function
from sacpy.lang.constants import zero
from sacpy.lang.source import NOWHERE, Span
from sacpy.nodes import replace


class _Detacher:
    """`superseded`: by the name of an array, where it has been updated, and what it has become; `carried`: arrays that
    loops around here carry on from, which could not do so in place if they were read inside."""

    def __init__(self, function: Function) -> None:
        self.known = Ranges(Simplifier(function))
        self.walk = self.known.walk
        self.walk.take_over(rhs=self.rhs, define=self.define, past_update=self.past_update, inside=self.inside)
        self.superseded: dict[str, tuple[tuple[Atom, ...], Var]] = {}
        self.carried: frozenset[str] = frozenset()

    def rhs(self, r: Rhs) -> Rhs:
        if not is_nested(r) or not isinstance(r, For | Loop):
            return self.known.rhs(r)
        outer = self.carried
        self.carried |= {a.name for a in self.walk.atoms(r.initial) if isinstance(a, Var)}
        found = self.known.rhs(r)
        self.carried = outer
        return found

    def define(self, targets: tuple[Var, ...], rhs: Rhs, span: Span = NOWHERE) -> None:
        Simplifier.define(self.walk, targets, self.latest(rhs), span)
        if isinstance(rhs, Update):
            self.walk.note(self.superseded, rhs.array.name, (rhs.index, self.walk.var(targets[0])))

    def latest(self, rhs: Rhs) -> Rhs:
        """The same element or part of the array that is not updated any more."""
        while isinstance(rhs, Load | View) and rhs.array.name in self.superseded:
            index, now = self.superseded[rhs.array.name]
            if now.name in self.carried or not any(self.walk.differ(a, b) for a, b in zip(rhs.index, index)):
                break
            rhs = replace(rhs, array=now)
        return rhs

    def past_update(self, rhs: Load | View, update: Update) -> Atom | Load | View | None:
        return update.value if rhs.index == update.index else None

    def inside(self, b: Block, before: Callable[[], None] | None) -> Block:
        """A block; of its views, those that outlive their array are copied."""
        parted = {
            s.targets[0].name
            for k, s in enumerate(b.statements)
            if isinstance(s, Let)
            and isinstance(s.rhs, View)
            and _outlives(s.targets[0].name, s.rhs.array.name, b.statements[k + 1 :], b.results)
        }
        if parted:
            b = Block(
                tuple(
                    self.copied(s) if isinstance(s, Let) and s.targets and s.targets[0].name in parted else s
                    for s in b.statements
                ),
                b.results,
            )
        return Simplifier.inside(self.walk, b, before)

    def copied(self, s: Let) -> Let:
        """What sets a view as what makes an array with the same elements."""
        view, (target,) = s.rhs, s.targets
        assert isinstance(view, View) and isinstance(target.type, ArrayType)
        index = tuple(self.walk.supply.var("i", integer(0).type) for _ in target.type.extents)
        element = self.walk.supply.var("x", ScalarType(target.type.base))
        body = Block((Let((element,), Load(view.array, (*view.index, *index)), s.span),), (element,))
        part = Partition(tuple(integer(0) for _ in index), target.type.extents, None, None, index, body, (), s.span)
        operator = Genarray(target.type.base, (), Const(target.type.base, zero(target.type.base)))
        return Let(s.targets, WithLoop(target.type.extents, (part,), (operator,), disjoint=True, complete=True), s.span)


def _outlives(view: str, array: str, later: Sequence[Stmt], results: Sequence[Atom]) -> bool:
    """Whether a view is used when its array is updated, or after that, and the array is not."""
    for k, s in enumerate(later):
        if isinstance(s, Let) and _updates(s, array):
            after = later[k + 1 :]
            return (_uses(view, (s,), ()) or _uses(view, after, results)) and not _uses(array, after, results)
    return False


def _updates(s: Let, array: str) -> bool:
    """Whether a statement may write into an array's memory, if nobody else holds it."""

    def is_array(a: Atom) -> bool:
        return isinstance(a, Var) and a.name == array

    match s.rhs:
        case Update():
            return is_array(s.rhs.array)
        case WithLoop():
            return any(isinstance(o, Modarray) and is_array(o.array) for o in s.rhs.operators)
        case For() | Loop():
            return any(map(is_array, s.rhs.initial))
        case Call():
            return any(map(is_array, s.rhs.args))
        case If():
            return any(
                isinstance(inner, Let) and _updates(inner, array) for b in blocks(s.rhs) for inner in b.statements
            )
    return False


def _uses(name: str, some: Sequence[Stmt], results: Sequence[Atom]) -> bool:
    if any(isinstance(a, Var) and a.name == name for a in results):
        return True
    return any(
        isinstance(s, Let)
        and (
            any(isinstance(a, Var) and a.name == name for a in operands(s.rhs))
            or any(name in free(b) for b in blocks(s.rhs))
        )
        for s in some
    )


def _lingers(b: Block) -> bool:
    """Whether an array is used behind its update."""
    updated: set[str] = set()
    for s in b.statements:
        if isinstance(s, Let):
            if any(isinstance(a, Var) and a.name in updated for a in operands(s.rhs)) or any(
                _lingers(inner) or (updated and not updated.isdisjoint(free(inner))) for inner in blocks(s.rhs)
            ):
                return True
            if isinstance(s.rhs, Update):
                updated.add(s.rhs.array.name)
    return False


def detach(function: Function) -> Function:
    """A function in which nothing outlives its array's update that need not; itself if there is nothing."""
    if not any(isinstance(s, Let) and isinstance(s.rhs, View) for s in statements(function.body)) and not _lingers(
        function.body
    ):
        return function
    return _Detacher(function).walk.function(function)


def run(unit: Unit) -> Unit:
    """A unit in which nothing outlives its array's update that need not."""
    return per_function(unit, detach)
