"""Assigned parts: a with-loop whose result becomes a part of a larger array is computed in that array, element by
element, where it reads nothing that it has overwritten by then.

    w = with [n] disjoint complete                    c = for j from m to n step 1 with b := a
            genarray double default 0.0                   x = load b[k,j]
            part [0] <= [j] < [m]                         y = load b[i,j]
                y = load a[i,j]                           z = sub y, x
                yield y                                   u = update b[i,j] with z
            part [m] <= [j] < [n]            ->           next u
                x = load a[k,j]
                y = load a[i,j]
                z = sub y, x
                yield z
    c = update a[i] with w

Whatever is read of the array is what the element itself replaces, or nobody does (`depends.may_assign`). A part that
gives elements that are there already goes. So neither is memory
asked for, nor are elements copied; and loops around it are seen to change rows of their own (`analysis/depends`).

For a device it becomes a with-loop that changes the larger array, in the part alone: its cells are threads', as before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sacpy.jit.analysis.combine import in_order
from sacpy.jit.analysis.ints import Ints
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.names import Names
from sacpy.jit.ir.rewrite import copied, has_only, setters, uses
from sacpy.jit.passes.units import wherever
from sacpy.jit.passes.walker import Walker
from sacpy.nodes import replace


class _Assigner(Walker):
    """`putting`: with-loops that are left out until the update that puts their result into an array, by the name of
    that; `in_order`: their cells may be computed by loops."""

    def __init__(self, function: g.Function, in_order: bool) -> None:
        super().__init__(function)
        self.ints, self.in_order = Ints(function), in_order
        self.putting: dict[str, g.WithLoop] = {}

    def inside(self, b: g.Block, before: object) -> g.Block:
        found = _assigned(b, self.ints, self.in_order)
        outer, self.putting = self.putting, self.putting | found
        new = super().inside(b, before)  # type: ignore[arg-type]
        self.putting = outer
        return new

    def let(self, s: g.Let) -> None:
        if any(t.name in self.putting for t in s.targets):
            return
        if isinstance(s.rhs, g.Update) and isinstance(s.rhs.value, g.Var) and s.rhs.value.name in self.putting:
            self.assign(s, s.rhs, self.putting[s.rhs.value.name])
        else:
            super().let(s)

    def assign(self, s: g.Let, update: g.Update, w: g.WithLoop) -> None:
        """Emits a loop for each partition, or a with-loop."""
        if not self.in_order:
            self.cells(s, update, w)
            return
        array = update.array
        for p in w.partitions:
            if not _is_there(p, update):
                target = self.supply.var(array.name, array.type)
                super().let(g.Let((target,), self.loop(p, update.index, array, update.array), s.span))
                array = target
        self.alias(s.targets[0], self.atom(array))

    def cells(self, s: g.Let, update: g.Update, w: g.WithLoop) -> None:
        """Emits a with-loop that changes the part in the larger array."""
        index = self.atoms(update.index)
        ends = tuple(self.emit("end", g.Op("add", (a, g.integer(1)), True), s.span) for a in index)
        parts = tuple(
            replace(
                p,
                lower=(*index, *p.lower),
                upper=(*ends, *p.upper),
                index=(*(self.supply.var("row", g.INT) for _ in index), *p.index),
            )
            for p in w.partitions
            if not _is_there(p, update)
        )
        made = g.WithLoop(g.extents_of(update.array), parts, (g.Modarray(update.array),), disjoint=True)
        super().let(g.Let(s.targets, made, s.span))

    def loop(self, p: g.Partition, at: tuple[g.Atom, ...], array: g.Var, read: g.Var) -> g.For:
        """The loop nest of a partition over `array`; what its body reads of `read` comes from there."""
        here, new = (self.supply.var(array.name, array.type) for _ in range(2))
        (value,) = p.body.results
        update = g.Let((new,), g.Update(here, (*at, *p.index), value), p.span)
        body = copied(g.Block((*p.body.statements, update), (new,)), {read.name: here}, self.supply)
        return in_order(p, (here,), (array,), body, self.supply)


def _is_there(p: g.Partition, update: g.Update) -> bool:
    """Whether a partition gives the elements that the array has."""
    (value,) = p.body.results
    made = setters(p.body.statements).get(value.name) if isinstance(value, g.Var) else None
    return made is not None and made.rhs == g.Load(update.array, (*update.index, *p.index))


def _assigned(b: g.Block, ints: Ints, in_order: bool) -> dict[str, g.WithLoop]:
    """The with-loops of a block that may be computed in the array that their result is put into."""
    count = uses(b)
    made: dict[str, tuple[int, g.WithLoop]] = {}
    views: dict[str, g.View] = {}
    found: dict[str, g.WithLoop] = {}
    for k, s in enumerate(b.statements):
        if not isinstance(s, g.Let):
            continue
        if isinstance(s.rhs, g.WithLoop) and len(s.targets) == 1 and count[s.targets[0].name] == 1:
            made[s.targets[0].name] = k, s.rhs
        elif isinstance(s.rhs, g.View):
            views[s.targets[0].name] = s.rhs
        elif isinstance(s.rhs, g.Update) and isinstance(s.rhs.value, g.Var) and s.rhs.value.name in made:
            at, w = made[s.rhs.value.name]
            if _copies_loops(w, b.statements[:at], s.rhs.array):
                continue  # what they make is made in the array itself
            if not in_order and (w.pragmas or any(p.pragmas for p in w.partitions)):
                continue  # how it is laid out is said of its own axes
            if _fits(w, s.rhs, views, ints) and not _updated(s.rhs.array, b.statements[at:k]):
                found[s.rhs.value.name] = w
    return found


def _copies_loops(w: g.WithLoop, before: Sequence[g.Stmt], array: g.Var) -> bool:
    """Whether partitions copy what loops have made, all of which do not look at the array (`analysis/circuits`)."""
    copied = {
        s.rhs.array
        for p in w.partitions
        for s in p.body.statements
        if isinstance(s, g.Let) and isinstance(s.rhs, g.Load)
    }
    loops = [s for s in before if isinstance(s, g.Let) and isinstance(s.rhs, g.For) and copied & set(s.targets)]
    return bool(loops) and not any(array.name in uses(g.Block((s,))) for s in loops)


def _updated(array: g.Var, between: Sequence[g.Stmt]) -> bool:
    """Whether somebody else changes the array meanwhile, who would have to copy it."""
    return any(isinstance(s, g.Let) and isinstance(s.rhs, g.Update) and s.rhs.array == array for s in between)


def _fits(w: g.WithLoop, update: g.Update, views: Mapping[str, g.View], ints: Ints) -> bool:
    if len(w.operators) != 1 or not w.disjoint or w.frame is None:
        return False
    (operator,) = w.operators
    match operator:
        case g.Genarray(cell=()):
            if not w.complete:
                return False
        case g.Modarray(array=array):
            assert isinstance(array.type, g.ArrayType)
            seen = views.get(array.name)
            if seen is None or seen != g.View(update.array, update.index) or len(w.frame) != array.type.rank:
                return False
        case _:
            return False
    from sacpy.jit.analysis.depends import may_assign

    return all(map(_is_plain, w.partitions)) and may_assign(w, update, ints)


def _is_plain(p: g.Partition) -> bool:
    """Whether loops in order can take the place of a partition: cells are scalars that operations give. Those with a
    step are faster as they are."""
    scalars = all(isinstance(t.type, g.ScalarType) for s in setters(g.statements(p.body)).values() for t in s.targets)
    return (
        p.step is None
        and scalars
        and not any(map(g.extents_of, p.body.results))
        and has_only(p.body, g.Op, g.Load, g.Var, g.Const, g.If)
    )


def assigned(function: g.Function, supply: Names, s: g.Let) -> g.Let:
    """A statement of a function whose assigned parts are computed in place. `supply`: names that are new there."""
    walk = _Assigner(function, True)
    vars(walk)["supply"] = supply
    walk.let(s)
    last = walk.out[-1]
    assert isinstance(last, g.Let)
    return last


def _assigns(r: g.Rhs) -> bool:
    return isinstance(r, g.Update) and isinstance(r.value.type, g.ArrayType)


@wherever(_assigns)
def run(function: g.Function) -> g.Function:
    """A unit whose assigned parts are computed in place."""
    return _Assigner(function, True).function(function)


@wherever(_assigns)
def run_device(function: g.Function) -> g.Function:
    """The same for a device."""
    return _Assigner(function, False).function(function)
