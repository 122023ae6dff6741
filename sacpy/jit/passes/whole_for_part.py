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
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.graph import statements
from sacpy.jit.ir.names import Names
from sacpy.jit.passes.walker import Walker
from sacpy.nodes import replace

LONG = g.ScalarType("long")
T = TypeVar("T")


class _Stuck(Exception):
    """Somebody uses a part in another way than element by element."""


class Circuiter(Walker):
    """The work of `short_circuit` on a function that may need it."""

    def __init__(self, function: g.Function) -> None:
        super().__init__(function)
        self.ints = Ints(function)
        self.ends = _ends(function)

    def inside(self, b: g.Block, before: Callable[[], None] | None) -> g.Block:
        if self.ends:
            b = self.exact(b)
        if any(map(is_point, b.statements)):
            b = self.short(b)
        return super().inside(b, before)

    # ---- bounds

    def exact(self, b: g.Block) -> g.Block:
        """A block in which the ends of partitions that copy an array do not overflow: that is checked."""
        found: list[g.Stmt] = []
        for s in b.statements:
            op = s.rhs if isinstance(s, g.Let) else None
            if not isinstance(s, g.Let) or s.targets[0].name not in self.ends or not isinstance(op, g.Op):
                found.append(s)
                continue
            wide = [self.supply.var("long", LONG) for _ in range(4)]
            same, sum_ = self.supply.var("same", g.BOOL), self.supply.var("sum", g.INT)
            exact = replace(op, exact=True)
            self.ints.learn(s.targets[0].name, exact)
            found += [
                g.Let((wide[0],), g.Op("tol", op.args[:1]), s.span),
                g.Let((wide[1],), g.Op("tol", op.args[1:]), s.span),
                g.Let((wide[2],), g.Op("add", (wide[0], wide[1])), s.span),
                g.Let((sum_,), op, s.span),
                g.Let((wide[3],), g.Op("tol", (sum_,)), s.span),
                g.Let((same,), g.Op("eq", (wide[2], wide[3])), s.span),
                g.Check(same, "the sum is an int", s.span),
                g.Let(s.targets, exact, s.span),
            ]
        return replace(b, statements=tuple(found))

    # ---- circuits

    def short(self, b: g.Block) -> g.Block:
        """A block with what is spread made where it goes."""
        tried: set[str] = set()
        while True:
            owned = {name for s in b.statements for name in arrays_of(s)} - {
                t.name for s in b.statements if isinstance(s, g.Let) for t in s.targets
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


def _ends(function: g.Function) -> set[str]:
    """Where partitions end that copy an array which loops make: the sums that might overflow."""
    lets = [s for s in statements(function.body) if isinstance(s, g.Let)]
    made = {t.name for s in lets if g.is_nested(s.rhs) for t in s.targets if isinstance(t.type, g.ArrayType)}
    ends = {
        a.name
        for s in lets
        if isinstance(s.rhs, g.WithLoop) and is_point(s)
        for p in s.rhs.partitions
        if any(
            isinstance(i, g.Let) and isinstance(i.rhs, g.Load) and i.rhs.array.name in made for i in p.body.statements
        )
        for a in p.upper
        if isinstance(a, g.Var)
    }
    return {
        s.targets[0].name
        for s in lets
        if isinstance(s.rhs, g.Op) and s.rhs.code == "add" and not s.rhs.exact and s.targets[0].name in ends
    }


class _Mover:
    """Rewrites one circuit of a block. `now`: the array as it has become, by the names of what stands for it: versions
    of the part, and the array as it was."""

    def __init__(self, by: Circuiter, b: g.Block, point: int, opening: Opening) -> None:
        self.by, self.b, self.point, self.opening = by, b, point, opening
        self.supply: Names = by.supply
        self.c: Circuit = opening.circuits[0]
        assert self.c.onto is not None
        self.onto = self.c.onto
        makers = Makers(b, set(), arrays_of)
        self.old = Old(b, self.onto, self.c.part, self.c.at, by.ints, makers)
        self.first = makers.chain(self.c.part.name).first
        self.versions: dict[str, g.Var] = {}

    def moved(self) -> g.Block:
        statements, o = self.b.statements, self.opening
        found: list[g.Stmt] = [*statements[: self.first], *(statements[n] for n in o.ahead)]
        self.current = self.onto
        for n in range(self.first, self.point):
            if n not in o.ahead:
                found += self.start(statements[n]) if n == self.first else self.statement(statements[n])
        found += self.end(statements[self.point])
        found += statements[self.point + 1 :]
        return replace(self.b, statements=tuple(found))

    # ---- the part's beginning, and its end

    def start(self, s: g.Stmt) -> list[g.Stmt]:
        """What the part begins with."""
        assert isinstance(s, g.Let)
        if (
            not isinstance(s.rhs, g.WithLoop)
            or len(s.rhs.operators) != 1
            or not isinstance(s.rhs.operators[0], g.Genarray)
        ):
            raise _Stuck
        w = s.rhs
        if not w.complete or not w.disjoint or w.operators[0].cell:  # type: ignore[union-attr]
            raise _Stuck
        made: list[g.Stmt] = []
        parts = [self.partition(p, made) for p in w.partitions if not self.old.is_copy(p)]
        if not parts:
            self.versions[s.targets[0].name] = self.current
            return made
        new = g.WithLoop(
            g.extents_of(self.onto), tuple(parts), (g.Modarray(self.onto),), disjoint=True, pragmas=w.pragmas
        )
        for t in (*made, *(i for p in parts for i in statements(p.body))):
            if isinstance(t, g.Let) and isinstance(t.rhs, g.Op) and t.rhs.exact:
                self.by.ints.learn(t.targets[0].name, t.rhs)
        target = self.supply.var(self.onto.name, self.onto.type)
        whole = self.by.source.body
        ints = Ints(replace(self.by.source, body=g.Block((*whole.statements, *made, g.Let((target,), new)))))
        ints.sums = self.by.ints.sums  # some of which this pass has made so
        if may_share(new, self.onto, ints) != ALWAYS:
            raise _Stuck
        self.current = self.versions[s.targets[0].name] = target
        return [*made, g.Let((target,), new, s.span)]

    def partition(self, p: g.Partition, made: list[g.Stmt]) -> g.Partition:
        """A partition of the part as one of the whole."""
        lower, upper, index, before = [], [], [], list[g.Stmt]()
        for a in self.c.at:
            i = self.supply.var("i", g.INT)
            index.append(i)
            if isinstance(a, Shift):
                lower.append(self.sum(a.start, p.lower[a.axis], made))
                upper.append(self.sum(a.start, p.upper[a.axis], made))
                before.append(g.Let((p.index[a.axis],), g.Op("sub", (i, a.start), True), p.span))
            else:
                lower.append(a)
                upper.append(self.sum(a, g.integer(1), made))
        strides = [
            None if x is None else tuple(x[a.axis] if isinstance(a, Shift) else g.integer(1) for a in self.c.at)
            for x in (p.step, p.width)
        ]
        body = replace(p.body, statements=(*before, *self.within(p.body.statements)))
        return replace(
            p, lower=tuple(lower), upper=tuple(upper), step=strides[0], width=strides[1], index=tuple(index), body=body
        )

    def end(self, s: g.Stmt) -> list[g.Stmt]:
        """What was to copy the part: only what else it does is left."""
        assert isinstance(s, g.Let)
        now = self.versions[self.c.part.name]
        if isinstance(s.rhs, g.Update):
            return [g.Let(s.targets, now, s.span)]
        assert isinstance(s.rhs, g.WithLoop)
        left = tuple(p for k, p in enumerate(s.rhs.partitions) if k != self.c.partition)
        if not left:
            return [g.Let(s.targets, now, s.span)]
        self.current = now
        left = tuple(replace(p, body=self.block(p.body)) for p in left)
        return [g.Let(s.targets, replace(s.rhs, partitions=left, operators=(g.Modarray(now),)), s.span)]

    # ---- what is between

    def block(self, b: g.Block) -> g.Block:
        if any(isinstance(a, g.Var) and self.stands(a) for a in b.results):
            raise _Stuck
        return g.Block(tuple(self.within(b.statements)), b.results)

    def within(self, many: Sequence[g.Stmt]) -> list[g.Stmt]:
        """The statements of an inner block; what the array becomes there is forgotten behind it."""
        outer = self.current
        found = [new for s in many for new in self.statement(s)]
        self.current = outer
        return found

    def stands(self, a: g.Atom) -> bool:
        return isinstance(a, g.Var) and (a.name in self.versions or a.name in self.old.aliases)

    def statement(self, s: g.Stmt) -> list[g.Stmt]:
        """A statement, of the whole instead of the part."""
        if isinstance(s, g.Check):
            return [s]
        made: list[g.Stmt] = []
        match s.rhs:
            case g.Load(array=array, index=index) if array.name in self.versions:
                at = self.index(index, made)
                return [*made, g.Let(s.targets, g.Load(self.versions[array.name], at), s.span)]
            case g.Load(array=array, index=index) if array.name in self.old.aliases:
                whole = (*self.old.aliases[array.name], *index)
                return [g.Let(s.targets, g.Load(self.current, whole), s.span)]
            case g.View(array=array) if array.name in self.old.aliases:
                return [s]
            case g.Update(array=array, index=index, value=value) if array.name in self.versions:
                if isinstance(value.type, g.ArrayType):
                    raise _Stuck
                at = self.index(index, made)
                target = self.supply.var(self.onto.name, self.onto.type)
                made.append(g.Let((target,), g.Update(self.versions[array.name], at, value), s.span))
                self.current = self.versions[s.targets[0].name] = target
                return made
            case g.For() | g.Loop():
                return [self.loop(s, s.rhs)]
            case g.If():
                return [self.branches(s, s.rhs)]
        if any(self.stands(a) for a in g.operands(s.rhs)):
            raise _Stuck
        if not g.is_nested(s.rhs):
            return [s]
        if not isinstance(s.rhs, g.WithLoop):
            raise _Stuck
        if any(self.stands(a) for b in g.blocks(replace(s.rhs, partitions=())) for t in b.statements for a in _used(t)):
            raise _Stuck
        parts = tuple(replace(p, body=self.block(p.body)) for p in s.rhs.partitions)
        return [replace(s, rhs=replace(s.rhs, partitions=parts))]

    def loop(self, s: g.Let, r: g.For | g.Loop) -> g.Let:
        """A loop that carries the whole, if it carried the part."""
        mine = [k for k, a in enumerate(r.initial) if isinstance(a, g.Var) and self.stands(a)]
        if not mine:
            condition = self.block(r.condition) if isinstance(r, g.Loop) else g.Block(())
            new = replace(r, body=self.block(r.body))
            return replace(s, rhs=replace(new, condition=condition) if isinstance(new, g.Loop) else new)
        if len(mine) != 1 or r.initial[mine[0]].name not in self.versions:  # type: ignore[union-attr]
            raise _Stuck
        (k,) = mine
        outer, before = self.current, self.versions[r.initial[k].name]  # type: ignore[union-attr]
        param = self.supply.var(self.onto.name, self.onto.type)
        target = self.supply.var(self.onto.name, self.onto.type)
        self.current = self.versions[r.params[k].name] = param
        condition = self.block(r.condition) if isinstance(r, g.Loop) else g.Block(())
        body = [new for t in r.body.statements for new in self.statement(t)]
        result = r.body.results[k]
        if not isinstance(result, g.Var) or result.name not in self.versions:
            raise _Stuck
        results = _with(r.body.results, k, self.versions[result.name])
        initial: tuple[g.Atom, ...] = _with(r.initial, k, before)
        if any(self.stands(a) for n, a in enumerate(r.body.results) if n != k):
            raise _Stuck
        self.current = outer
        new = replace(
            r,
            params=_with(r.params, k, param),
            initial=initial,
            body=g.Block(tuple(body), results),
        )
        if isinstance(new, g.Loop):
            new = replace(new, condition=condition)
        self.current = self.versions[s.targets[k].name] = target
        return g.Let(_with(s.targets, k, target), new, s.span)

    def branches(self, s: g.Let, r: g.If) -> g.Let:
        """A conditional, both branches of which give the part, or none."""
        mine = [
            k
            for k, (a, b) in enumerate(zip(r.then.results, r.otherwise.results))
            if isinstance(s.targets[k].type, g.ArrayType) and (self.gives(r.then, a) or self.gives(r.otherwise, b))
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
            if not isinstance(result, g.Var) or result.name not in self.versions:
                raise _Stuck
            if any(self.stands(a) for n, a in enumerate(b.results) if n != k):
                raise _Stuck
            made.append(g.Block(tuple(body), _with(b.results, k, self.versions[result.name])))
        target = self.supply.var(self.onto.name, self.onto.type)
        self.current = self.versions[s.targets[k].name] = target
        return g.Let(_with(s.targets, k, target), replace(r, then=made[0], otherwise=made[1]), s.span)

    def gives(self, b: g.Block, a: g.Atom) -> bool:
        """Whether a result of a block is the part, or is made of it there."""
        return self.stands(a) or any(
            isinstance(s, g.Let) and a in s.targets and any(self.stands(x) for x in _used(s)) for s in b.statements
        )

    # ---- indices

    def index(self, index: tuple[g.Atom, ...], made: list[g.Stmt]) -> tuple[g.Atom, ...]:
        """An index of the part as one of the whole."""
        if len(index) != len(g.extents_of(self.c.part)):
            raise _Stuck
        return tuple(self.sum(a.start, index[a.axis], made) if isinstance(a, Shift) else a for a in self.c.at)

    def sum(self, a: g.Atom, b: g.Atom, made: list[g.Stmt]) -> g.Atom:
        """The sum of two indices, which is one."""
        if isinstance(a, g.Const) and isinstance(b, g.Const):
            return g.integer(int(a.value) + int(b.value))
        for x, y in ((a, b), (b, a)):
            if isinstance(x, g.Const) and x.value == 0:
                return y
        target = self.supply.var("i", g.INT)
        made.append(g.Let((target,), g.Op("add", (a, b), True)))
        self.by.ints.learn(target.name, g.Op("add", (a, b), True))
        return target


def _with(many: tuple[T, ...], k: int, new: T) -> tuple[T, ...]:
    return (*many[:k], new, *many[k + 1 :])


def _used(s: g.Stmt) -> list[g.Atom]:
    """The atoms that a statement uses, inner blocks included."""
    if isinstance(s, g.Check):
        return []
    found = list(g.operands(s.rhs))
    for b in g.blocks(s.rhs):
        found += b.results
        for inner in b.statements:
            found += _used(inner)
    return found
