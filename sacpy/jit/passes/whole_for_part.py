"""Loops that make a part of an array as loops over that array: the work of `short_circuit`, which is loaded where there
is something to do.

In: a function with blocks that write parts back. Out: the same with the index functions of parts put into indices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from sacpy.jit.analysis.circuits import Circuit, Opening, Outside, circuits, is_point
from sacpy.jit.analysis.depends import ALWAYS, may_share
from sacpy.jit.analysis.ints import Ints
from sacpy.jit.analysis.makers import Makers, arrays_of
from sacpy.jit.analysis.overwritten import Old
from sacpy.jit.analysis.projections import Shift
from sacpy.jit.ir.graph import (
    BOOL,
    INT,
    ArrayType,
    Atom,
    Block,
    Check,
    Const,
    For,
    Function,
    Genarray,
    If,
    Let,
    Load,
    Loop,
    Modarray,
    Op,
    Partition,
    ScalarType,
    Stmt,
    Update,
    Var,
    View,
    WithLoop,
    blocks,
    extents_of,
    integer,
    is_nested,
    operands,
    statements,
)
from sacpy.jit.ir.names import Names
from sacpy.jit.passes.walker import Walker
from sacpy.nodes import replace

LONG = ScalarType("long")
T = TypeVar("T")


class _Stuck(Exception):
    """Somebody uses a part in another way than element by element."""


class Circuiter(Walker):
    """The work of `short_circuit` on a function that may need it."""

    def __init__(self, function: Function) -> None:
        super().__init__(function)
        self.ints = Ints(function)
        self.ends = _ends(function)

    def inside(self, b: Block, before: Callable[[], None] | None) -> Block:
        if self.ends:
            b = self.exact(b)
        if any(map(is_point, b.statements)):
            b = self.short(b)
        return super().inside(b, before)

    # ---- bounds

    def exact(self, b: Block) -> Block:
        """A block in which the ends of partitions that copy an array do not overflow: that is checked."""
        found: list[Stmt] = []
        for s in b.statements:
            op = s.rhs if isinstance(s, Let) else None
            if not isinstance(s, Let) or s.targets[0].name not in self.ends or not isinstance(op, Op):
                found.append(s)
                continue
            wide = [self.supply.var("long", LONG) for _ in range(4)]
            same, sum_ = self.supply.var("same", BOOL), self.supply.var("sum", INT)
            exact = replace(op, exact=True)
            self.ints.learn(s.targets[0].name, exact)
            found += [
                Let((wide[0],), Op("tol", op.args[:1]), s.span),
                Let((wide[1],), Op("tol", op.args[1:]), s.span),
                Let((wide[2],), Op("add", (wide[0], wide[1])), s.span),
                Let((sum_,), op, s.span),
                Let((wide[3],), Op("tol", (sum_,)), s.span),
                Let((same,), Op("eq", (wide[2], wide[3])), s.span),
                Check(same, "the sum is an int", s.span),
                Let(s.targets, exact, s.span),
            ]
        return replace(b, statements=tuple(found))

    # ---- circuits

    def short(self, b: Block) -> Block:
        """A block with what is spread made where it goes."""
        tried: set[str] = set()
        while True:
            owned = {name for s in b.statements for name in arrays_of(s)} - {
                t.name for s in b.statements if isinstance(s, Let) for t in s.targets
            }
            plan = circuits(b, owned, arrays_of, self.ints, Outside(), scattered=True)
            point, opening = next(
                (
                    (n, o)
                    for n, o in sorted(plan.openings.items())
                    if o.circuits[0].onto is not None and o.circuits[0].part.name not in tried
                ),
                (0, None),
            )
            if opening is None:
                return b
            tried.add(opening.circuits[0].part.name)
            try:
                b = _Mover(self, b, point, opening).moved()
            except _Stuck:
                continue


def _ends(function: Function) -> set[str]:
    """Where partitions end that copy an array which loops make: the sums that might overflow."""
    lets = [s for s in statements(function.body) if isinstance(s, Let)]
    made = {t.name for s in lets if is_nested(s.rhs) for t in s.targets if isinstance(t.type, ArrayType)}
    ends = {
        a.name
        for s in lets
        if isinstance(s.rhs, WithLoop) and is_point(s)
        for p in s.rhs.partitions
        if any(isinstance(i, Let) and isinstance(i.rhs, Load) and i.rhs.array.name in made for i in p.body.statements)
        for a in p.upper
        if isinstance(a, Var)
    }
    return {
        s.targets[0].name
        for s in lets
        if isinstance(s.rhs, Op) and s.rhs.code == "add" and not s.rhs.exact and s.targets[0].name in ends
    }


class _Mover:
    """Rewrites one circuit of a block. `now`: the array as it has become, by the names of what stands for it: versions
    of the part, and the array as it was."""

    def __init__(self, by: Circuiter, b: Block, point: int, opening: Opening) -> None:
        self.by, self.b, self.point, self.opening = by, b, point, opening
        self.supply: Names = by.supply
        self.c: Circuit = opening.circuits[0]
        assert self.c.onto is not None
        self.onto = self.c.onto
        makers = Makers(b, set(), arrays_of)
        self.old = Old(b, self.onto, self.c.part, self.c.at, by.ints, makers)
        self.first = makers.chain(self.c.part.name).first
        self.versions: dict[str, Var] = {}

    def moved(self) -> Block:
        statements, o = self.b.statements, self.opening
        found: list[Stmt] = [*statements[: self.first], *(statements[n] for n in o.ahead)]
        self.current = self.onto
        for n in range(self.first, self.point):
            if n not in o.ahead:
                found += self.start(statements[n]) if n == self.first else self.statement(statements[n])
        found += self.end(statements[self.point])
        found += statements[self.point + 1 :]
        return replace(self.b, statements=tuple(found))

    # ---- the part's beginning, and its end

    def start(self, s: Stmt) -> list[Stmt]:
        """What the part begins with."""
        assert isinstance(s, Let)
        if not isinstance(s.rhs, WithLoop) or len(s.rhs.operators) != 1 or not isinstance(s.rhs.operators[0], Genarray):
            raise _Stuck
        w = s.rhs
        if not w.complete or not w.disjoint or w.operators[0].cell:  # type: ignore[union-attr]
            raise _Stuck
        made: list[Stmt] = []
        parts = [self.partition(p, made) for p in w.partitions if not self.old.is_copy(p)]
        if not parts:
            self.versions[s.targets[0].name] = self.current
            return made
        new = WithLoop(extents_of(self.onto), tuple(parts), (Modarray(self.onto),), disjoint=True, pragmas=w.pragmas)
        for t in (*made, *(i for p in parts for i in statements(p.body))):
            if isinstance(t, Let) and isinstance(t.rhs, Op) and t.rhs.exact:
                self.by.ints.learn(t.targets[0].name, t.rhs)
        target = self.supply.var(self.onto.name, self.onto.type)
        whole = self.by.source.body
        ints = Ints(replace(self.by.source, body=Block((*whole.statements, *made, Let((target,), new)))))
        ints.sums = self.by.ints.sums  # some of which this pass has made so
        if may_share(new, self.onto, ints) != ALWAYS:
            raise _Stuck
        self.current = self.versions[s.targets[0].name] = target
        return [*made, Let((target,), new, s.span)]

    def partition(self, p: Partition, made: list[Stmt]) -> Partition:
        """A partition of the part as one of the whole."""
        lower, upper, index, before = [], [], [], list[Stmt]()
        for a in self.c.at:
            i = self.supply.var("i", INT)
            index.append(i)
            if isinstance(a, Shift):
                lower.append(self.sum(a.start, p.lower[a.axis], made))
                upper.append(self.sum(a.start, p.upper[a.axis], made))
                before.append(Let((p.index[a.axis],), Op("sub", (i, a.start), True), p.span))
            else:
                lower.append(a)
                upper.append(self.sum(a, integer(1), made))
        strides = [
            None if x is None else tuple(x[a.axis] if isinstance(a, Shift) else integer(1) for a in self.c.at)
            for x in (p.step, p.width)
        ]
        body = replace(p.body, statements=(*before, *self.within(p.body.statements)))
        return replace(
            p, lower=tuple(lower), upper=tuple(upper), step=strides[0], width=strides[1], index=tuple(index), body=body
        )

    def end(self, s: Stmt) -> list[Stmt]:
        """What was to copy the part: only what else it does is left."""
        assert isinstance(s, Let)
        now = self.versions[self.c.part.name]
        if isinstance(s.rhs, Update):
            return [Let(s.targets, now, s.span)]
        assert isinstance(s.rhs, WithLoop)
        left = tuple(p for k, p in enumerate(s.rhs.partitions) if k != self.c.partition)
        if not left:
            return [Let(s.targets, now, s.span)]
        self.current = now
        left = tuple(replace(p, body=self.block(p.body)) for p in left)
        return [Let(s.targets, replace(s.rhs, partitions=left, operators=(Modarray(now),)), s.span)]

    # ---- what is between

    def block(self, b: Block) -> Block:
        if any(isinstance(a, Var) and self.stands(a) for a in b.results):
            raise _Stuck
        return Block(tuple(self.within(b.statements)), b.results)

    def within(self, many: Sequence[Stmt]) -> list[Stmt]:
        """The statements of an inner block; what the array becomes there is forgotten behind it."""
        outer = self.current
        found = [new for s in many for new in self.statement(s)]
        self.current = outer
        return found

    def stands(self, a: Atom) -> bool:
        return isinstance(a, Var) and (a.name in self.versions or a.name in self.old.aliases)

    def statement(self, s: Stmt) -> list[Stmt]:
        """A statement, of the whole instead of the part."""
        if isinstance(s, Check):
            return [s]
        made: list[Stmt] = []
        match s.rhs:
            case Load(array=array, index=index) if array.name in self.versions:
                at = self.index(index, made)
                return [*made, Let(s.targets, Load(self.versions[array.name], at), s.span)]
            case Load(array=array, index=index) if array.name in self.old.aliases:
                whole = (*self.old.aliases[array.name], *index)
                return [Let(s.targets, Load(self.current, whole), s.span)]
            case View(array=array) if array.name in self.old.aliases:
                return [s]
            case Update(array=array, index=index, value=value) if array.name in self.versions:
                if isinstance(value.type, ArrayType):
                    raise _Stuck
                at = self.index(index, made)
                target = self.supply.var(self.onto.name, self.onto.type)
                made.append(Let((target,), Update(self.versions[array.name], at, value), s.span))
                self.current = self.versions[s.targets[0].name] = target
                return made
            case For() | Loop():
                return [self.loop(s, s.rhs)]
            case If():
                return [self.branches(s, s.rhs)]
        if any(self.stands(a) for a in operands(s.rhs)):
            raise _Stuck
        if not is_nested(s.rhs):
            return [s]
        if not isinstance(s.rhs, WithLoop):
            raise _Stuck
        if any(self.stands(a) for b in blocks(replace(s.rhs, partitions=())) for t in b.statements for a in _used(t)):
            raise _Stuck
        parts = tuple(replace(p, body=self.block(p.body)) for p in s.rhs.partitions)
        return [replace(s, rhs=replace(s.rhs, partitions=parts))]

    def loop(self, s: Let, r: For | Loop) -> Let:
        """A loop that carries the whole, if it carried the part."""
        mine = [k for k, a in enumerate(r.initial) if isinstance(a, Var) and self.stands(a)]
        if not mine:
            condition = self.block(r.condition) if isinstance(r, Loop) else Block(())
            new = replace(r, body=self.block(r.body))
            return replace(s, rhs=replace(new, condition=condition) if isinstance(new, Loop) else new)
        if len(mine) != 1 or r.initial[mine[0]].name not in self.versions:  # type: ignore[union-attr]
            raise _Stuck
        (k,) = mine
        outer, before = self.current, self.versions[r.initial[k].name]  # type: ignore[union-attr]
        param = self.supply.var(self.onto.name, self.onto.type)
        target = self.supply.var(self.onto.name, self.onto.type)
        self.current = self.versions[r.params[k].name] = param
        condition = self.block(r.condition) if isinstance(r, Loop) else Block(())
        body = [new for t in r.body.statements for new in self.statement(t)]
        result = r.body.results[k]
        if not isinstance(result, Var) or result.name not in self.versions:
            raise _Stuck
        results = _with(r.body.results, k, self.versions[result.name])
        initial: tuple[Atom, ...] = _with(r.initial, k, before)
        if any(self.stands(a) for n, a in enumerate(r.body.results) if n != k):
            raise _Stuck
        self.current = outer
        new = replace(
            r,
            params=_with(r.params, k, param),
            initial=initial,
            body=Block(tuple(body), results),
        )
        if isinstance(new, Loop):
            new = replace(new, condition=condition)
        self.current = self.versions[s.targets[k].name] = target
        return Let(_with(s.targets, k, target), new, s.span)

    def branches(self, s: Let, r: If) -> Let:
        """A conditional, both branches of which give the part, or none."""
        mine = [
            k
            for k, (a, b) in enumerate(zip(r.then.results, r.otherwise.results))
            if isinstance(s.targets[k].type, ArrayType) and (self.gives(r.then, a) or self.gives(r.otherwise, b))
        ]
        if not mine:
            return replace(s, rhs=replace(r, then=self.block(r.then), otherwise=self.block(r.otherwise)))
        if len(mine) != 1:
            raise _Stuck
        (k,) = mine
        made = []
        outer = self.current
        for b in (r.then, r.otherwise):
            self.current = outer
            body = [new for t in b.statements for new in self.statement(t)]
            result = b.results[k]
            if not isinstance(result, Var) or result.name not in self.versions:
                raise _Stuck
            if any(self.stands(a) for n, a in enumerate(b.results) if n != k):
                raise _Stuck
            made.append(Block(tuple(body), _with(b.results, k, self.versions[result.name])))
        target = self.supply.var(self.onto.name, self.onto.type)
        self.current = self.versions[s.targets[k].name] = target
        return Let(_with(s.targets, k, target), replace(r, then=made[0], otherwise=made[1]), s.span)

    def gives(self, b: Block, a: Atom) -> bool:
        """Whether a result of a block is the part, or is made of it there."""
        return self.stands(a) or any(
            isinstance(s, Let) and a in s.targets and any(self.stands(x) for x in _used(s)) for s in b.statements
        )

    # ---- indices

    def index(self, index: tuple[Atom, ...], made: list[Stmt]) -> tuple[Atom, ...]:
        """An index of the part as one of the whole."""
        if len(index) != len(extents_of(self.c.part)):
            raise _Stuck
        return tuple(self.sum(a.start, index[a.axis], made) if isinstance(a, Shift) else a for a in self.c.at)

    def sum(self, a: Atom, b: Atom, made: list[Stmt]) -> Atom:
        """The sum of two indices, which is one."""
        if isinstance(a, Const) and isinstance(b, Const):
            return integer(int(a.value) + int(b.value))
        for x, y in ((a, b), (b, a)):
            if isinstance(x, Const) and x.value == 0:
                return y
        target = self.supply.var("i", INT)
        made.append(Let((target,), Op("add", (a, b), True)))
        self.by.ints.learn(target.name, Op("add", (a, b), True))
        return target


def _with(many: tuple[T, ...], k: int, new: T) -> tuple[T, ...]:
    return (*many[:k], new, *many[k + 1 :])


def _used(s: Stmt) -> list[Atom]:
    """The atoms that a statement uses, inner blocks included."""
    if isinstance(s, Check):
        return []
    found = list(operands(s.rhs))
    for b in blocks(s.rhs):
        found += b.results
        for inner in b.statements:
            found += _used(inner)
    return found
