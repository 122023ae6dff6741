"""A structure of arrays: an array of small cells that a with-loop makes, and that is only read element by element, is
as many arrays, one for each element of a cell. So neighbours lie side by side, where lanes store and load them.

    w = with [n] genarray cell [2]                a, b = with [n] genarray genarray
      part [0] <= [i] < [n]                         part [0] <= [i] < [n]
        ..                                            ..
        c = array [2] of x, y                         yield x, y
        yield c                            ->     r = with [2] genarray cell [n]
    r = with [2] genarray cell [n]                  part [0] <= [k] < [1]
      part [0] <= [k] < [2]                           s = with [n]: .. x = load a[j] ..
        s = with [n]: .. x = load w[j,k] ..           yield s
        yield s                                     part [1] <= [k] < [2]
                                                      s = with [n]: .. x = load b[j] ..
                                                      yield s

A partition whose index says which element of a cell is meant is cut into one for each. An array that a loop carries
from round to round is taken apart before the loop and put together behind it, if each round makes it anew. An array
stays what it is where its elements are better off side by side: where data say which cell is meant, and where they
become such cells again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from math import prod

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import Rewriter, inner_binders, names_of, new_arrays, rights, uses
from sacpy.jit.passes.mappings import stands
from sacpy.jit.passes.units import wherever
from sacpy.nodes import Record, field, replace

ELEMENTS = 16  # of a cell at most
HANDED_ON = 3  # elements of a cell at least of what loops carry: vectors of pairs are shuffled on the way, at no cost
CODE = 400  # statements that are added where partitions are cut, at most

Axis = tuple[int, int]  # of a partition, by its identity: the one whose index chooses an element of a cell


class _Cells(Record):
    """An array of small cells. `extents`: of a cell; `defaults`: its elements where nothing is set; `axes`: those that
    are to be cut; `becomes`: arrays of cells that are made of its elements; `split`: whether all loads name an element
    and none goes where data say; `along`: whether some loop goes from one cell to the next."""

    extents: tuple[int, ...]
    defaults: tuple[g.Atom, ...]
    axes: set[Axis] = field(default_factory=set)
    becomes: set[str] = field(default_factory=set)
    split: bool = True
    along: bool = False


class _Search:
    """Looks for such arrays: `found` by name; `few`: the axes of partitions of few indices, by these; `depth`: how many
    loops a variable depends on; `fetched`: the same of the elements that it comes from; `next`: what a round makes
    of an array that a loop carries."""

    def __init__(self, function: g.Function) -> None:
        self.found: dict[str, _Cells] = {}
        self.next: dict[str, str] = {}
        self.few: dict[str, Axis] = {}
        self.depth: dict[str, int] = {}
        self.fetched: dict[str, int] = {}
        self.making: dict[str, tuple[int, ...]] = {}  # arrays of small cells, by the innermost with-loop around
        self.written: dict[str, tuple[g.Atom, ...]] = {}  # the elements of arrays
        self.block(function.body, 0)

    def block(self, b: g.Block, depth: int) -> None:
        for s in b.statements:
            if isinstance(s, g.Let):
                self.let(s, depth)

    def let(self, s: g.Let, depth: int) -> None:
        r = s.rhs
        if isinstance(r, g.Load):
            self.load(r, depth)
        names = [a.name for a in g.operands(r) if isinstance(a, g.Var)]
        mine = max((self.depth.get(n, 0) for n in names), default=0) if isinstance(r, g.Op | g.Load) else depth
        fetched = mine if isinstance(r, g.Load) else max((self.fetched.get(n, 0) for n in names), default=0)
        for t in s.targets:
            self.depth[t.name], self.fetched[t.name] = mine, fetched
        if isinstance(r, g.Cons):
            self.written[s.targets[0].name] = r.elements
        elif isinstance(r, g.WithLoop):
            self.with_loop(s, r, depth)
            return
        inner = depth + isinstance(r, g.For | g.Loop)
        for v in inner_binders(r):
            self.depth[v.name] = inner
        carried = _carried(r) if isinstance(r, g.For | g.Loop) else {}
        self.found |= {name: _Cells(extents, ()) for name, (_, extents) in carried.items()}
        for b in g.blocks(r):
            self.block(b, inner)
        for name, (made, _) in carried.items():
            if made in self.found:
                self.next[name] = made
                self.found[made].along = self.found[name].along = self.found[made].along or self.found[name].along
            else:
                del self.found[name]

    def needs(self, name: str) -> set[str]:
        """The arrays that come apart where one does."""
        handed = {p if name == made else made for p, made in self.next.items() if name in (p, made)}
        return self.found[name].becomes | handed

    def with_loop(self, s: g.Let, w: g.WithLoop, depth: int) -> None:
        """What is in a with-loop, and whether it makes arrays of that kind."""
        for p in w.partitions:
            for k, i in enumerate(p.index):
                self.depth[i.name] = depth + 1
                if _is_cut(w, p, k):
                    self.few[i.name] = id(p), k
        outer = self.making
        made = zip(s.targets, w.operators) if len(s.targets) == len(w.operators) else ()  # a fold may have more results
        self.making = {t.name: extents for t, o in made if (extents := _small(o)) is not None}
        for b in g.blocks(w):
            self.block(b, depth + 1)
        for k, (target, o) in enumerate(zip(s.targets, w.operators)):
            extents = self.making.get(target.name)
            if extents and not stands(w) and all(_cell(p, k, extents) for p in w.partitions):
                defaults = self.defaults(o, prod(extents))
                if defaults is not None:
                    self.found[target.name] = _Cells(extents, defaults)
        self.making = outer

    def defaults(self, o: g.Operator, count: int) -> tuple[g.Atom, ...] | None:
        """The elements of a new array's default cell, if they are known."""
        assert isinstance(o, g.Genarray)
        if isinstance(o.default, g.Var) and g.extents_of(o.default):
            return self.written.get(o.default.name)
        return (o.default,) * count

    def load(self, r: g.Load, depth: int) -> None:
        """Whether a load says which element of a cell is meant, and what has to be cut for that."""
        cells = self.found.get(r.array.name)
        if cells is None:
            return
        cells.becomes |= {name for name, extents in self.making.items() if extents == cells.extents}
        rank = len(r.index) - len(cells.extents)
        for a in r.index[rank:]:
            if isinstance(a, g.Var) and (axis := self.few.get(a.name)) is not None:
                cells.axes.add(axis)
            elif isinstance(a, g.Var):
                cells.split = False
        names = [a.name for a in r.index[:rank] if isinstance(a, g.Var)]
        if depth and any(self.fetched.get(n) == depth for n in names):
            cells.split = False
        cells.along = cells.along or (depth > 0 and any(self.depth.get(n) == depth for n in names))


def _is_cut(w: g.WithLoop, p: g.Partition, axis: int) -> bool:
    """Whether a partition can be cut into one for each index along an axis: not along that of its lanes."""
    if w.frame is None or w.pragmas or p.pragmas or p.step is not None:
        return False
    if axis == p.rank - 1 and not all(g.extents_of(a) for a in p.body.results):
        return False
    if not all(isinstance(o, g.Genarray | g.Modarray) for o in w.operators):
        return False
    lower, upper = p.lower[axis], p.upper[axis]
    return isinstance(lower, g.Const) and isinstance(upper, g.Const) and upper.value - lower.value <= ELEMENTS


def _small(o: g.Operator) -> tuple[int, ...] | None:
    """The extents of a new array's cells, if they are known and small."""
    if not isinstance(o, g.Genarray) or not o.cell:
        return None
    extents = tuple(int(e.value) for e in o.cell if isinstance(e, g.Const))
    return extents if len(extents) == len(o.cell) and 1 < prod(extents) <= ELEMENTS else None


def _cell(p: g.Partition, number: int, extents: tuple[int, ...]) -> g.Cons | None:
    """The elements that a partition gives for an operator with one value for each cell, side by side."""
    result = p.body.results[number]
    for s in reversed(p.body.statements):
        if isinstance(s, g.Let) and result in s.targets:
            return s.rhs if isinstance(s.rhs, g.Cons) and s.rhs.extents == extents else None
    return None


def _carried(r: g.For | g.Loop) -> dict[str, tuple[str, tuple[int, ...]]]:
    """The arrays of small cells that a loop carries and that a with-loop makes in each round, as large as they were:
    what it makes, and the extents of a cell."""
    made = {
        t.name: (s.rhs.frame, extents)
        for s in r.body.statements
        if isinstance(s, g.Let) and isinstance(s.rhs, g.WithLoop) and len(s.targets) == len(s.rhs.operators)
        for t, o in zip(s.targets, s.rhs.operators)
        if (extents := _small(o)) is not None and prod(extents) >= HANDED_ON
    }
    return {
        p.name: (result.name, made[result.name][1])
        for p, result in zip(r.params, r.body.results)
        if isinstance(result, g.Var) and result.name in made
        for frame, extents in (made[result.name],)
        if g.extents_of(p) == (*(frame or ()), *map(g.integer, extents)) and not set(r.params) & set(frame or ())
    }


class _Splitter(Rewriter):
    """Puts the arrays of elements in the place of those of cells. `parts`: what each has become; `axes`: those that are
    cut; `next`: what rounds make of arrays that loops carry."""

    def __init__(self, function: g.Function, found: dict[str, _Cells], carried: dict[str, str]) -> None:
        super().__init__()
        self.supply = names_of(function)
        self.found = found
        self.next = carried
        self.axes = {axis for c in found.values() for axis in c.axes}
        self.parts: dict[str, list[g.Var]] = {}

    def statement(self, s: g.Stmt) -> Iterable[g.Stmt]:
        if isinstance(s, g.Let) and isinstance(s.rhs, g.WithLoop) and any(t.name in self.found for t in s.targets):
            return (self.made(s, s.rhs),)
        if (
            isinstance(s, g.Let)
            and isinstance(s.rhs, g.For | g.Loop)
            and any(p.name in self.found for p in s.rhs.params)
        ):
            return self.carried(s, s.rhs)
        return super().statement(s)

    def carried(self, s: g.Let, r: g.For | g.Loop) -> Iterator[g.Stmt]:
        """A loop that carries one array for each element of a cell: these are taken out of what it begins with, and
        what it ends with is made of them."""
        params: list[g.Var] = []
        initial: list[g.Atom] = []
        for p, first in zip(r.params, r.initial):
            cells = self.found.get(p.name)
            if cells is None:
                params.append(p)
                initial.append(first)
                continue
            assert isinstance(first, g.Var)
            self.parts[p.name] = self.elements(p, cells)
            params += self.parts[p.name]
            taken = self.elements(first, cells)
            initial += taken
            yield self.apart(self.var(first), taken, cells.extents)
        new = super().rhs(replace(r, params=tuple(params), initial=tuple(initial)))
        assert isinstance(new, g.For | g.Loop)
        results: list[g.Atom] = []
        targets: list[g.Var] = []
        together: list[g.Let] = []
        for t, p, result in zip(s.targets, r.params, new.body.results):
            cells = self.found.get(p.name)
            if cells is None:
                targets.append(self.bind(t))
                results.append(result)
                continue
            results += self.parts[self.next[p.name]]
            parts = self.elements(t, cells)
            targets += parts
            together.append(self.together(self.bind(t), parts, cells.extents))
        yield g.Let(tuple(targets), replace(new, body=g.Block(new.body.statements, tuple(results))), s.span)
        yield from together

    def elements(self, array: g.Var, cells: _Cells) -> list[g.Var]:
        """New variables for what an array of cells becomes."""
        type_ = self.type(array.type)
        assert isinstance(type_, g.ArrayType)
        frame = type_.extents[: -len(cells.extents)]
        return [self.supply.var(array.name, g.ArrayType(array.base, frame)) for _ in range(prod(cells.extents))]

    def indices(self, parts: list[g.Var]) -> tuple[tuple[g.Var, ...], tuple[g.Var, ...]]:
        """New variables for an index of arrays, and for what these have there."""
        index = tuple(self.supply.var("i", g.INT) for _ in g.extents_of(parts[0]))
        return index, tuple(self.supply.var("t", g.ScalarType(v.base)) for v in parts)

    def apart(self, array: g.Var, parts: list[g.Var], extents: tuple[int, ...]) -> g.Let:
        """What takes an array of cells apart."""
        index, values = self.indices(parts)
        loads = (g.Load(array, (*index, *map(g.integer, at))) for at in product(*map(range, extents)))
        body = g.Block(tuple(g.Let((v,), x) for v, x in zip(values, loads)), values)
        return new_arrays(tuple(parts), index, body)

    def together(self, array: g.Var, parts: list[g.Var], extents: tuple[int, ...]) -> g.Let:
        """What makes an array of cells of its parts."""
        index, values = self.indices(parts)
        cell = self.supply.var("c", g.ArrayType(array.base, tuple(map(g.integer, extents))))
        loads = tuple(g.Let((v,), g.Load(x, index)) for v, x in zip(values, parts))
        body = g.Block((*loads, g.Let((cell,), g.Cons(array.base, extents, values))), (cell,))
        return new_arrays((array,), index, body)

    def made(self, s: g.Let, w: g.WithLoop) -> g.Let:
        """The with-loop that makes one array for each element of a cell."""
        new = self.with_loop(w)
        targets: list[g.Var] = []
        operators: list[g.Operator] = []
        values: list[list[g.Atom]] = [[] for _ in new.partitions]
        for k, (t, o) in enumerate(zip(s.targets, new.operators)):
            cells = self.found.get(t.name)
            if cells is None:
                targets.append(self.bind(t))
                operators.append(o)
                for mine, p in zip(values, new.partitions):
                    mine.append(p.body.results[k])
                continue
            assert isinstance(o, g.Genarray)
            self.parts[t.name] = self.elements(t, cells)
            targets += self.parts[t.name]
            operators += [g.Genarray(o.base, (), default) for default in self.atoms(cells.defaults)]
            for mine, p in zip(values, new.partitions):
                cons = _cell(p, k, cells.extents)
                assert cons is not None
                mine += cons.elements
        partitions = tuple(
            replace(p, body=g.Block(p.body.statements, tuple(mine))) for p, mine in zip(new.partitions, values)
        )
        return g.Let(tuple(targets), replace(new, partitions=partitions, operators=tuple(operators)), s.span)

    def with_loop(self, w: g.WithLoop) -> g.WithLoop:
        frame = None if w.frame is None else self.atoms(w.frame)
        operators = tuple(map(self.operator, w.operators))
        return replace(
            w, frame=frame, operators=operators, partitions=tuple(q for p in w.partitions for q in self.cut(p))
        )

    def cut(self, p: g.Partition) -> Iterator[g.Partition]:
        """A partition for each index along the axes that are cut: there it is a number."""
        axes = [k for k in range(p.rank) if (id(p), k) in self.axes]
        if not axes:
            yield self.partition(p)
            return
        for at in product(*(_indices(p, k) for k in axes)):
            lower, upper = list(self.atoms(p.lower)), list(self.atoms(p.upper))
            outer = dict(self.env), self.names
            self.names = self.supply  # each has names of its own
            index = self.binds(p.index)
            for k, number in zip(axes, at):
                lower[k], upper[k] = g.integer(number), g.integer(number + 1)
                self.env[p.index[k].name] = g.integer(number)
            body = self.block(p.body)
            self.env, self.names = outer
            yield replace(p, lower=tuple(lower), upper=tuple(upper), index=index, body=body)

    def rhs(self, r: g.Rhs) -> g.Rhs:
        if not isinstance(r, g.Load) or r.array.name not in self.parts:
            return super().rhs(r)
        cells = self.found[r.array.name]
        rank = len(r.index) - len(cells.extents)
        at = 0
        for e, a in zip(cells.extents, self.atoms(r.index[rank:])):
            assert isinstance(a, g.Const)
            at = at * e + int(a.value)
        parts = self.parts[r.array.name]
        part = self.var(parts[at % len(parts)])  # beyond them: in a branch that is never taken
        return g.Load(part, self.atoms(r.index[:rank]))


def _indices(p: g.Partition, axis: int) -> range:
    """Those of a partition along an axis that can be cut."""
    lower, upper = p.lower[axis], p.upper[axis]
    assert isinstance(lower, g.Const) and isinstance(upper, g.Const)
    return range(int(lower.value), int(upper.value))


def _cut_size(b: g.Block, axes: set[Axis]) -> int:
    """How many statements a block has when partitions in it are cut."""
    total = len(b.statements)
    for s in b.statements:
        if isinstance(s, g.Let) and isinstance(s.rhs, g.WithLoop):
            for p in s.rhs.partitions:
                pieces = prod(len(_indices(p, k)) for k in range(p.rank) if (id(p), k) in axes)
                total += pieces * _cut_size(p.body, axes)
        elif isinstance(s, g.Let):
            total += sum(_cut_size(inner, axes) for inner in g.blocks(s.rhs))
    return total


@wherever(lambda r: isinstance(r, g.WithLoop) and any(map(_small, r.operators)))
def run(function: g.Function) -> g.Function:
    """A unit whose arrays of small cells are as many arrays, where they can be."""
    search = _Search(function)
    found, used = search.found, uses(function.body)
    used.subtract(r.array.name for r in rights(function.body, g.Load))
    used.subtract(search.next.values())  # handed on to the next round
    used.update(v.name for w in rights(function.body, g.WithLoop) for p in w.partitions for _, v in p.staged)
    most = CODE + _cut_size(function.body, set())
    splits = {name for name, c in found.items() if c.split and c.along and not used[name]}
    splits -= {name for name in splits if _cut_size(function.body, found[name].axes) > most}
    while others := {name for name in splits if not search.needs(name) <= splits}:
        splits -= others
    found = {name: found[name] for name in splits}
    return _Splitter(function, found, search.next).function(function) if splits else function
