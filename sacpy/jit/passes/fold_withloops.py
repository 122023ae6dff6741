"""With-loop folding: an element of an array that a with-loop makes is computed where it is loaded, and the array is not
made.

    t = with [n] genarray                       s = with fold(add)
      part [0] <= [i] < [n]                       part [0] <= [j] < [n]
        x = load a[i]; y = load b[i]                x = load a[j]; y = load b[j]
        yield mul x, y                    ->        yield mul x, y
    s = with fold(add)
      part [0] <= [j] < [n]
        yield load t[j]

The body's index variables become the indices of the load, whatever they are: so shifts, reversals, transposes, takes
and chains of them melt together. Of several partitions the load's indices choose, in the order in which they win; the
default, or the array underneath, comes last. Arrays that one with-loop makes have one copy of its body wherever they
are loaded at the same index.

An array is folded only if nothing but loads uses it, if no work is multiplied by it (`analysis/sites`), or next to
none, or no more than the loads that are saved, or if it is a mask, a condition on indices that `split` and
`parity_partitions` can make bounds and steps of, and if its with-loop is not to have a kernel of its own (`mappings`).
Work that several results of a with-loop need counts for all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from sacpy.jit.analysis.costs import cost, size
from sacpy.jit.analysis.sites import Site, Uses, sites
from sacpy.jit.ir.graph import (
    ArrayType,
    Atom,
    Block,
    Check,
    Cons,
    Const,
    Function,
    Genarray,
    If,
    Let,
    Load,
    Modarray,
    Op,
    Partition,
    Propagate,
    Rhs,
    ScalarType,
    Stmt,
    Unit,
    Var,
    View,
    WithLoop,
    extents_of,
    integer,
)
from sacpy.jit.ir.rewrite import copied, free, with_extents
from sacpy.jit.passes.dead_code import dead_code, endless, width
from sacpy.jit.passes.mappings import stands
from sacpy.jit.passes.simplify import Simplifier
from sacpy.jit.passes.units import per_function
from sacpy.lang.source import NOWHERE, Span
from sacpy.nodes import Node

CHEAP = 3.0  # work per element that may be multiplied
MASK = 16.0  # that of a condition on indices, which may become the bounds and steps of loops
SITES = 4  # where such a condition, or something cheap, is computed again
CODE = 400  # statements that folding one array may add
PARTITIONS = 6  # of an array that is folded


_Needed = tuple[tuple[Stmt, ...], ...]  # of a body: the statements that each of its results needs


class _Producer(Node):
    """An array that is folded: operator number `operator` of `loop`, whose values are result number `position` of the
    bodies. `first`: the first result of the loop, by which it is known."""

    first: str
    loop: WithLoop
    operator: Genarray | Modarray
    position: int

    @property
    def rank(self) -> int:
        """Of a cell."""
        o = self.operator
        return len(extents_of(o.array)) - len(self.loop.frame or ()) if isinstance(o, Modarray) else len(o.cell)

    @property
    def base(self) -> str:
        return self.operator.array.base if isinstance(self.operator, Modarray) else self.operator.base


class _Folder(Simplifier):
    def __init__(self, function: Function) -> None:
        super().__init__(function)
        self.sites = sites(function)
        self.producers: dict[str, _Producer] = {}
        self.siblings: dict[str, list[_Producer]] = {}  # those of one with-loop, by its first result
        # what the results of a with-loop, by its first, are at an index, as far as the code is here
        self.cells: dict[tuple[str, tuple[Atom, ...]], dict[int, Atom]] = {}
        self.pending: set[str] = set()  # cells of folded arrays, to be folded themselves

    def define(self, targets: tuple[Var, ...], rhs: Rhs, span: Span = NOWHERE) -> None:
        if rhs.__class__ is Op:
            super().define(targets, rhs, span)
            return
        if isinstance(rhs, Load) and (producer := self.producers.get(rhs.array.name)) is not None:
            self.element(targets[0], rhs, producer, span)
            return
        super().define(targets, rhs, span)
        if isinstance(rhs, WithLoop):
            self.consider(targets)

    # ---- which

    def consider(self, targets: tuple[Var, ...]) -> None:
        """Decides which of the arrays that a with-loop makes are folded."""
        found: dict[str, _Producer] = {}
        alone: dict[str, _Producer] = {}
        needed: list[_Needed] = []
        for target in map(self.atom, targets):
            w = self.definition(target)
            producer = _producer(w, targets, target) if isinstance(w, WithLoop) else None
            if producer is None:
                continue
            assert isinstance(target, Var)
            if target.name in self.pending:
                found[target.name] = producer
            elif self.possible(target, producer):
                needed = needed or [_needed(p.body) for p in producer.loop.partitions]
                if self.worthwhile(target, producer, needed):
                    alone[target.name] = producer
        found.update(_not_repeated(alone, needed, {name: set(self.sites.uses[name].sites) for name in alone}))
        self.producers.update(found)
        for producer in found.values():
            self.siblings.setdefault(producer.first, []).append(producer)

    def possible(self, target: Var, producer: _Producer) -> bool:
        """Whether an array can be folded at all."""
        use = self.sites.uses.get(target.name)
        if use is None or use.otherwise or not use.sites or not self.foldable(producer):
            return False
        return use.nested or not stands(producer.loop)

    def worthwhile(self, target: Var, producer: _Producer, needed: list[_Needed]) -> bool:
        """Whether an array may be folded, as far as that has to do with it alone."""
        use, w = self.sites.uses[target.name], producer.loop
        works = [
            _work(p.body, producer.position, n[producer.position], use.numbered) for p, n in zip(w.partitions, needed)
        ]
        shared, own = max((a for a, _ in works), default=0.0), max((b for _, b in works), default=0.0)
        code = sum(size(p.body) for p in w.partitions) * len(use.sites)
        mask = (
            producer.base == "bool"
            and shared <= MASK
            and len(use.sites) <= SITES
            and all(_of_indices(n[producer.position]) for n in needed)
        )
        if code > CODE or not (
            mask or _pays(use, shared, own) or (use.once and not own and self.is_paid_back(use, w.partitions))
        ):
            return False
        return not w.partitions or not self.sites.replaced_between([p.body for p in w.partitions], use)

    def is_paid_back(self, use: Uses, partitions: tuple[Partition, ...]) -> bool:
        """Whether the loads that are saved make up for what is done twice: along rows, since what all elements of a row
        have in common, such as indices of other axes, is computed once for it there."""
        if not all(
            index and isinstance(index[-1], Var) and index[-1].name in self.sites.along for _, index in use.sites
        ):
            return False
        along = max((cost(_along(p)) for p in partitions), default=0.0)
        return (along - 1.0) * (_share(use.sites) - 1) <= CHEAP

    def foldable(self, p: _Producer) -> bool:
        if len(p.loop.partitions) > PARTITIONS or any(isinstance(o, Propagate) for o in p.loop.operators):
            return False
        return not p.rank or all(_transparent(part.body, p.position) for part in p.loop.partitions)

    # ---- how

    def element(self, target: Var, load: Load, producer: _Producer, span: Span) -> None:
        """Sets a variable to an element of a folded array. What a body gives for a cell, to whichever of its results,
        is not computed again."""
        rank = len(producer.loop.frame or ())
        at, cell = load.index[:rank], load.index[rank:]
        everywhere = _everywhere(producer.loop)
        if cell and everywhere is None:
            self.splice((target,), self.chosen(target, (producer,), producer.loop.partitions, load.index))
            return
        key = (producer.first, at)
        known = self.cells.get(key)
        if known is None:
            if everywhere is not None:
                wanted = tuple(self.siblings[producer.first])
                found = self.body(everywhere, wanted, at)
            else:
                wanted = tuple(p for p in self.siblings[producer.first] if not p.rank)
                found = self.chosen(target, wanted, producer.loop.partitions, at)
            for s in found.statements:
                self.step(s)
            known = dict(zip((p.position for p in wanted), self.atoms(found.results)))
            self.note(self.cells, key, known)
        self.define((target,), Load(_array(known[producer.position]), cell) if cell else known[producer.position], span)

    def chosen(
        self, target: Var, wanted: tuple[_Producer, ...], partitions: tuple[Partition, ...], index: tuple[Atom, ...]
    ) -> Block:
        """The code that gives elements of some results of a with-loop, all at one index, from the first of the
        partitions that has it."""
        loop = wanted[0].loop
        frame = loop.frame or ()
        if not partitions:
            return self.uncovered(target, wanted, index, len(frame))
        first, rest = partitions[0], partitions[1:]
        body = self.body(first, wanted, index[: first.rank])
        if cell := index[first.rank :]:
            results = tuple(self.supply.var(target.name, target.type) for _ in wanted)
            body = Block(
                (*body.statements, *(Let((r,), Load(_array(value), cell)) for r, value in zip(results, body.results))),
                results,
            )
        tests, condition = self.membership(first, index[: first.rank], frame)
        if condition is None or (not rest and loop.complete):
            return body
        otherwise = self.chosen(target, wanted, rest, index)
        results = tuple(self.supply.var(target.name, ScalarType(p.base)) for p in wanted)
        return Block((*tests, Let(results, If(condition, body, otherwise))), results)

    def body(self, p: Partition, wanted: tuple[_Producer, ...], at: tuple[Atom, ...]) -> Block:
        """What a partition gives at an index: cells of the results that are wanted. With-loops that make such are to be
        folded themselves."""
        new = copied(p.body, {i.name: a for i, a in zip(p.index, at)}, self.supply)
        values = tuple(new.results[w.position] for w in wanted)
        cells = {v for w, v in zip(wanted, values) if w.rank}
        for s in new.statements:
            if not isinstance(s, Let) or not isinstance(s.rhs, WithLoop):
                continue
            for value in cells.intersection(s.targets):
                assert isinstance(value, Var)
                inner = _producer(s.rhs, s.targets, value)
                if inner is not None and self.foldable(inner):
                    self.pending.add(value.name)
        return Block(new.statements, values)

    def uncovered(self, target: Var, wanted: tuple[_Producer, ...], index: tuple[Atom, ...], rank: int) -> Block:
        """The elements where no partition is."""
        code: list[Stmt] = []
        results: list[Atom] = []
        for operator in (p.operator for p in wanted):
            if isinstance(operator, Genarray) and isinstance(operator.default.type, ScalarType):
                results.append(operator.default)
                continue
            load = (
                Load(operator.array, index)
                if isinstance(operator, Modarray)
                else Load(_array(operator.default), index[rank:])
            )
            result = self.supply.var(target.name, ScalarType(load.array.base))
            results.append(result)
            code.append(Let((result,), load))
        return Block(tuple(code), tuple(results))

    def membership(self, p: Partition, at: tuple[Atom, ...], frame: tuple[Atom, ...]) -> tuple[list[Stmt], Atom | None]:
        """Code that tests whether an index, which is in the frame, lies in a partition; None if all do."""
        code: list[Stmt] = []
        tests: list[Atom] = []

        def op(name: str, *args: Atom) -> Atom:
            new = self.supply.var("in", ScalarType("bool" if name in ("le", "lt", "and") else "int"))
            code.append(Let((new,), Op(name, args)))
            return new

        for k, i in enumerate(at):
            if p.lower[k] != integer(0):
                tests.append(op("le", p.lower[k], i))
            if p.upper[k] != frame[k]:
                tests.append(op("lt", i, p.upper[k]))
            if p.step is not None and p.width is not None and p.step[k] != p.width[k]:
                tests.append(op("lt", op("aplmod", op("sub", i, p.lower[k]), p.step[k]), p.width[k]))
        if not tests:
            return code, None
        condition = tests[0]
        for t in tests[1:]:
            condition = op("and", condition, t)
        return code, condition


def _producer(w: WithLoop, targets: tuple[Var, ...], target: Atom) -> _Producer | None:
    """The operator behind one of the variables that a with-loop sets, if it makes an array element by element."""
    if target not in targets:
        return None
    at, position = 0, targets.index(target)
    for o in w.operators:
        if at <= position < at + width(o):
            return _Producer(targets[0].name, w, o, position) if isinstance(o, Genarray | Modarray) else None
        at += width(o)
    return None


def _everywhere(w: WithLoop) -> Partition | None:
    """The partition that has all indices, if there is one in front of all others."""
    if not w.partitions:
        return None
    first = w.partitions[0]
    frame = w.frame or ()
    dense = first.step == first.width
    if (w.complete and len(w.partitions) == 1) or (
        dense and first.upper == frame and all(a == integer(0) for a in first.lower)
    ):
        return first
    return None


def _array(a: Atom) -> Var:
    assert isinstance(a, Var)
    return a


def _setter(body: Block, position: int) -> Rhs | None:
    """What sets a result of a body; None if it comes from outside."""
    value = body.results[position]
    for s in body.statements:
        if isinstance(s, Let) and value in s.targets:
            return s.rhs
    return None


def _transparent(body: Block, position: int) -> bool:
    """Whether one element of the cell that a body gives can be had without the others."""
    setter = _setter(body, position)
    if isinstance(setter, WithLoop):
        value = body.results[position]
        inner = next(s for s in body.statements if isinstance(s, Let) and value in s.targets)
        found = _producer(setter, inner.targets, value)
        return found is not None and len(setter.partitions) <= PARTITIONS
    return setter is None or isinstance(setter, View | Cons)


def _work(body: Block, position: int, needed: tuple[Stmt, ...], numbered: bool) -> tuple[float, float]:
    """The work for a cell that must be done for any element of it, and the work for each element. `needed`: what the
    cell needs; `numbered`: the elements that are loaded are known, so that of a cell that is put together from elements
    the others need not be computed."""
    setter = _setter(body, position)
    if isinstance(setter, Cons) and numbered and setter.elements:
        every = _needed(
            Block(tuple(s for s in needed if not (isinstance(s, Let) and s.rhs is setter)), setter.elements)
        )
        count = Counter(id(s) for mine in every for s in mine)
        return tuple(
            max(cost(Block(tuple(s for s in mine if (count[id(s)] > 1) == common))) for mine in every)
            for common in (True, False)
        )  # type: ignore[return-value]
    if isinstance(setter, WithLoop) and isinstance(body.results[position].type, ArrayType):
        others = Block(tuple(s for s in needed if not (isinstance(s, Let) and s.rhs is setter)))
        return cost(others), max((cost(p.body) for p in setter.partitions), default=0.0)
    return cost(Block(needed)), 0.0


def _of_indices(needed: tuple[Stmt, ...]) -> bool:
    """Whether code only compares and combines indices, and divides them by numbers alone."""
    return all(isinstance(s, Let) and isinstance(s.rhs, Op) and _is_quick(s.rhs) for s in needed)


def _is_quick(op: Op) -> bool:
    return all(a.base in ("int", "bool") for a in op.args) and (
        op.code not in ("div", "mod", "aplmod") or isinstance(op.args[1], Const)
    )


def _along(p: Partition) -> Block:
    """What in a partition's body depends on the last index."""
    moving, found = {i.name for i in p.index[-1:]}, []
    for s in p.body.statements:
        if not moving.isdisjoint(free(Block((s,)))):
            found.append(s)
            moving.update(t.name for t in (() if isinstance(s, Check) else s.targets))
    return Block(tuple(found))


def _needed(body: Block) -> _Needed:
    """What each result of a body needs; all need the checks."""
    if len(body.results) == 1:
        return (body.statements,)
    everyone = range(len(body.results))
    users: dict[str, set[int]] = {}
    for k in everyone:
        for a in with_extents((body.results[k],)):
            if isinstance(a, Var):
                users.setdefault(a.name, set()).add(k)
    needed: list[list[Stmt]] = [[] for _ in everyone]
    for s in reversed(body.statements):
        mine = (
            set(everyone)
            if isinstance(s, Check) or not s.targets
            else set().union(*(users.get(t.name, ()) for t in s.targets))
        )
        for name in free(Block((s,))) if mine else ():
            users.setdefault(name, set()).update(mine)
        for k in mine:
            needed[k].append(s)
    return tuple(tuple(reversed(n)) for n in needed)


def _not_repeated(
    found: dict[str, _Producer], needed: list[_Needed], sites: dict[str, set[Site]]
) -> dict[str, _Producer]:
    """Those of several arrays of one with-loop that may be folded without doing again what they share, with each other
    or with what is not folded: every site would have a copy of it, and so would the with-loop, were something left of
    it."""
    while found:
        wasted = [_repeated(n, found, sites) for n in needed]
        spent = {name for name in found if any(work[name] > CHEAP * len(found) for work in wasted)}
        if not spent:
            break
        found = {name: p for name, p in found.items() if name not in spent}
    return found


def _repeated(needed: _Needed, found: dict[str, _Producer], sites: dict[str, set[Site]]) -> dict[str, float]:
    """For each of some results the work it needs, times the copies that others need elsewhere."""
    folded = {p.position: sites[name] for name, p in found.items()}
    copies: dict[int, set[Site | None]] = {}
    for k, mine in enumerate(needed):
        for s in mine:
            copies.setdefault(id(s), set()).update(folded.get(k, {None}))
    return {
        name: sum(
            cost(Block((s,))) * (len(copies[id(s)]) - len(sites[name]))
            for s in needed[p.position]
            if len(copies[id(s)]) > len(sites[name])
        )
        for name, p in found.items()
    }


def _pays(use: Uses, shared: float, own: float) -> bool:
    """Whether little work is done twice when an array is folded."""
    if shared + own <= CHEAP:
        return use.each or len(use.sites) <= SITES
    if (shared > CHEAP and not use.once) or (own > CHEAP and not use.each):
        return False
    return (shared + own) * (_share(use.sites) - 1) <= CHEAP


def _share(found: Mapping[Site, float]) -> float:
    """How many cells some sites load, as a multiple of those that there are; if all sites name an axis by a number, of
    those of one number."""
    most = sum(found.values())
    for axis, components in enumerate(zip(*(index for _, index in found))):
        if all(isinstance(a, Const) for a in components):
            by_number: dict[Atom, float] = {}
            for (_, index), share in found.items():
                by_number[index[axis]] = by_number.get(index[axis], 0.0) + share
            most = min(most, max(by_number.values()))
    return most


def fold_withloops(function: Function, forever: Collection[str]) -> Function:
    """A function, folded, and without the with-loops that became superfluous by it; itself if there is nothing to fold.
    `forever`: the functions that may not end."""
    folder = _Folder(function)
    if not any(use.rank is not None and use.sites and not use.otherwise for use in folder.sites.uses.values()):
        return function
    new = folder.function(function)
    return dead_code(new, forever) if folder.producers else function


def run(unit: Unit) -> Unit:
    """A unit, folded."""
    forever = endless(unit)
    return per_function(unit, lambda function: fold_withloops(function, forever))
