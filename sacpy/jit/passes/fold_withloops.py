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
Of an array with a border the work for its interior counts: where it is loaded, borders are cut off as well. Work that
several results of a with-loop need counts for all of them. What can be done as vectors by itself, and is dear, is not
done one by one in the rounds of a loop that cannot. Of a long chain a round folds a few links into each that is left,
and the next round these: so the work grows as the chain does, and not as its square.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import prod

from sacpy.jit.analysis.costs import cost, size
from sacpy.jit.analysis.sites import Site, Uses, sites
from sacpy.jit.analysis.straight import is_straight
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import copied
from sacpy.jit.passes.dead_code import dead_code, endless, width
from sacpy.jit.passes.mappings import forced, stands
from sacpy.jit.passes.repeated_work import (
    CHEAP,
    Needed,
    Producer,
    along_last,
    needed_by_result,
    not_repeated,
    of_indices,
    setter_of,
    work_of,
)
from sacpy.jit.passes.simplify import Simplifier
from sacpy.jit.passes.units import per_function
from sacpy.lang.source import NOWHERE, Span

MASK = 16.0  # that of a condition on indices, which may become the bounds and steps of loops
SITES = 4  # where such a condition, or something cheap, is computed again
VECTORS = 10.0  # work per element from which vectors of it pay for an array; a division is worth neither
CODE = 400  # statements that folding one array may add
PARTITIONS = 6  # of an array that is folded
MARGIN = 16  # cells along an axis, which a border has at most
INTERIOR = 3 / 4  # of the cells of an array of known extents, which its interior has at least
LINKS = 16  # with-loops that a round folds into one another in a row: each copies those before it
WINDOW = 7  # sites that load an array with a border, at most: each is once more in every piece that is cut off


class _Folder:
    def __init__(self, function: g.Function) -> None:
        self.walk = Simplifier(function)
        self.walk.take_over(define=self.define, with_loop=self.with_loop)
        self.sites = sites(function)
        self.producers: dict[str, Producer] = {}
        self.siblings: dict[str, list[Producer]] = {}  # those of one with-loop, by its first result
        # what the results of a with-loop, by its first, are at an index, as far as the code is here
        self.cells: dict[tuple[str, tuple[g.Atom, ...]], dict[int, g.Atom]] = {}
        self.pending: set[str] = set()  # cells of folded arrays, to be folded themselves
        self.links = [0]  # of the with-loops that are being walked, outside in: how many were folded in a row
        self.chains: dict[str, int] = {}  # that number for the with-loops that are folded, by the first result

    def with_loop(self, w: g.WithLoop) -> g.WithLoop:
        self.links.append(0)
        return Simplifier.with_loop(self.walk, w)  # `define` takes the number off again

    def define(self, targets: tuple[g.Var, ...], rhs: g.Rhs, span: Span = NOWHERE) -> None:
        if rhs.__class__ is g.Op:
            Simplifier.define(self.walk, targets, rhs, span)
            return
        if isinstance(rhs, g.Load) and (producer := self.producers.get(rhs.array.name)) is not None:
            self.element(targets[0], rhs, producer, span)
            return
        Simplifier.define(self.walk, targets, rhs, span)
        if isinstance(rhs, g.WithLoop):
            links = self.links.pop()
            self.links[-1] = max(self.links[-1], links)
            if links < LINKS:  # the others are for another round, where they are the first of a row
                self.consider(targets, links)

    # ---- which

    def consider(self, targets: tuple[g.Var, ...], links: int) -> None:
        """Decides which of the arrays that a with-loop makes are folded. `links`: how many in a row are folded into
        it."""
        found: dict[str, Producer] = {}
        alone: dict[str, Producer] = {}
        needed: list[Needed] = []
        for target in map(self.walk.atom, targets):
            w = self.walk.definition(target)
            producer = _producer(w, targets, target) if isinstance(w, g.WithLoop) else None
            if producer is None:
                continue
            assert isinstance(target, g.Var)
            if target.name in self.pending:
                found[target.name] = producer
            elif self.possible(target, producer):
                needed = needed or [needed_by_result(p.body) for p in producer.loop.partitions]
                if self.worthwhile(target, producer, needed):
                    alone[target.name] = producer
        found.update(not_repeated(alone, needed, {name: set(self.sites.uses[name].sites) for name in alone}))
        self.producers.update(found)
        for producer in found.values():
            self.siblings.setdefault(producer.first, []).append(producer)
            self.chains[producer.first] = links

    def possible(self, target: g.Var, producer: Producer) -> bool:
        """Whether an array can be folded at all."""
        use = self.sites.uses.get(target.name)
        if use is None or use.otherwise or not use.sites or not self.foldable(producer):
            return False
        return not (forced(producer.loop) if use.nested else stands(producer.loop))

    def worthwhile(self, target: g.Var, producer: Producer, needed: list[Needed]) -> bool:
        """Whether an array may be folded, as far as that has to do with it alone."""
        use, w = self.sites.uses[target.name], producer.loop
        interior = self.interior(w, use) if len(w.partitions) > 1 else None
        works = [
            work_of(p.body, producer.position, n[producer.position], use.numbered)
            for p, n in zip(w.partitions, needed)
            if p is interior or interior is None
        ]
        shared, own = max((a for a, _ in works), default=0.0), max((b for _, b in works), default=0.0)
        code = sum(size(p.body) for p in w.partitions) * len(use.sites)
        mask = (
            producer.base == "bool"
            and shared <= MASK
            and len(use.sites) <= SITES
            and all(of_indices(n[producer.position]) for n in needed)
        )
        if use.serial and shared + own > VECTORS and (not use.nested or all(is_straight(p.body) for p in w.partitions)):
            return False
        if code > CODE or not (
            mask or _pays(use, shared, own) or (use.once and not own and self.is_paid_back(use, w.partitions))
        ):
            return False
        return not w.partitions or not self.sites.replaced_between([p.body for p in w.partitions], use)

    def interior(self, w: g.WithLoop, use: Uses) -> g.Partition | None:
        """The partition that has all cells of an array but for a border: what the others do for that counts for little,
        since whoever loads the array is cut apart there. Those that win over it are thin."""
        if not use.each or use.serial or len(use.sites) > WINDOW or not self.sites.is_regular(use):
            return None
        form = self.sites.ints.forms.form
        for p in w.partitions:
            extents = [form(upper) - form(lower) for lower, upper in zip(p.lower, p.upper)]
            if p.step is None and p.rank == len(w.frame or ()):
                whole = [form(a) for a in w.frame or ()]
                margins = [all_ - mine for all_, mine in zip(whole, extents)]
                known = [
                    (all_, mine)
                    for all_, mine in zip(whole, extents)
                    if isinstance(all_, int) and isinstance(mine, int)
                ]
                if all(isinstance(m, int) and m <= MARGIN for m in margins) and (
                    prod(mine for _, mine in known) >= INTERIOR * prod(all_ for all_, _ in known)
                ):
                    return p
            if not any(isinstance(e, int) and e <= MARGIN for e in extents):
                return None
        return None

    def is_paid_back(self, use: Uses, partitions: tuple[g.Partition, ...]) -> bool:
        """Whether the loads that are saved make up for what is done twice: along rows, since what all elements of a row
        have in common, such as indices of other axes, is computed once for it there."""
        if not all(
            index and isinstance(index[-1], g.Var) and index[-1].name in self.sites.along for _, index in use.sites
        ):
            return False
        along = max((cost(along_last(p)) for p in partitions), default=0.0)
        return (along - 1.0) * (_share(use.sites) - 1) <= CHEAP

    def foldable(self, p: Producer) -> bool:
        if len(p.loop.partitions) > PARTITIONS or any(isinstance(o, g.Propagate) for o in p.loop.operators):
            return False
        return not p.rank or all(_transparent(part.body, p.position) for part in p.loop.partitions)

    # ---- how

    def element(self, target: g.Var, load: g.Load, producer: Producer, span: Span) -> None:
        """Sets a variable to an element of a folded array. What a body gives for a cell, to whichever of its results,
        is not computed again."""
        self.links[-1] = max(self.links[-1], self.chains[producer.first] + 1)
        rank = len(producer.loop.frame or ())
        at, cell = load.index[:rank], load.index[rank:]
        everywhere = _everywhere(producer.loop)
        if cell and everywhere is None:
            self.walk.splice((target,), self.chosen(target, (producer,), producer.loop.partitions, load.index))
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
                self.walk.step(s)
            known = dict(zip((p.position for p in wanted), self.walk.atoms(found.results)))
            self.walk.note(self.cells, key, known)
        self.walk.define(
            (target,), g.Load(_array(known[producer.position]), cell) if cell else known[producer.position], span
        )

    def chosen(
        self,
        target: g.Var,
        wanted: tuple[Producer, ...],
        partitions: tuple[g.Partition, ...],
        index: tuple[g.Atom, ...],
    ) -> g.Block:
        """The code that gives elements of some results of a with-loop, all at one index, from the first of the
        partitions that has it."""
        loop = wanted[0].loop
        frame = loop.frame or ()
        if not partitions:
            return self.uncovered(target, wanted, index, len(frame))
        first, rest = partitions[0], partitions[1:]
        body = self.body(first, wanted, index[: first.rank])
        if cell := index[first.rank :]:
            results = tuple(self.walk.supply.var(target.name, target.type) for _ in wanted)
            body = g.Block(
                (
                    *body.statements,
                    *(g.Let((r,), g.Load(_array(value), cell)) for r, value in zip(results, body.results)),
                ),
                results,
            )
        tests, condition = self.membership(first, index[: first.rank], frame)
        if condition is None or (not rest and loop.complete):
            return body
        otherwise = self.chosen(target, wanted, rest, index)
        results = tuple(self.walk.supply.var(target.name, g.ScalarType(p.base)) for p in wanted)
        return g.Block((*tests, g.Let(results, g.If(condition, body, otherwise))), results)

    def body(self, p: g.Partition, wanted: tuple[Producer, ...], at: tuple[g.Atom, ...]) -> g.Block:
        """What a partition gives at an index: cells of the results that are wanted. With-loops that make such are to be
        folded themselves."""
        new = copied(p.body, {i.name: a for i, a in zip(p.index, at)}, self.walk.supply)
        values = tuple(new.results[w.position] for w in wanted)
        cells = {v for w, v in zip(wanted, values) if w.rank}
        for s in new.statements:
            if not isinstance(s, g.Let) or not isinstance(s.rhs, g.WithLoop):
                continue
            for value in cells.intersection(s.targets):
                assert isinstance(value, g.Var)
                inner = _producer(s.rhs, s.targets, value)
                if inner is not None and self.foldable(inner):
                    self.pending.add(value.name)
        return g.Block(new.statements, values)

    def uncovered(self, target: g.Var, wanted: tuple[Producer, ...], index: tuple[g.Atom, ...], rank: int) -> g.Block:
        """The elements where no partition is."""
        code: list[g.Stmt] = []
        results: list[g.Atom] = []
        for operator in (p.operator for p in wanted):
            if isinstance(operator, g.Genarray) and isinstance(operator.default.type, g.ScalarType):
                results.append(operator.default)
                continue
            load = (
                g.Load(operator.array, index)
                if isinstance(operator, g.Modarray)
                else g.Load(_array(operator.default), index[rank:])
            )
            result = self.walk.supply.var(target.name, g.ScalarType(load.array.base))
            results.append(result)
            code.append(g.Let((result,), load))
        return g.Block(tuple(code), tuple(results))

    def membership(
        self, p: g.Partition, at: tuple[g.Atom, ...], frame: tuple[g.Atom, ...]
    ) -> tuple[list[g.Stmt], g.Atom | None]:
        """Code that tests whether an index, which is in the frame, lies in a partition; None if all do."""
        code: list[g.Stmt] = []
        tests: list[g.Atom] = []

        def op(name: str, *args: g.Atom) -> g.Atom:
            new = self.walk.supply.var("in", g.ScalarType("bool" if name in ("le", "lt", "and") else "int"))
            code.append(g.Let((new,), g.Op(name, args)))
            return new

        for k, i in enumerate(at):
            if p.lower[k] != g.integer(0):
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


def _producer(w: g.WithLoop, targets: tuple[g.Var, ...], target: g.Atom) -> Producer | None:
    """The operator behind one of the variables that a with-loop sets, if it makes an array element by element."""
    if target not in targets:
        return None
    at, position = 0, targets.index(target)
    for o in w.operators:
        if at <= position < at + width(o):
            return Producer(targets[0].name, w, o, position) if isinstance(o, g.Genarray | g.Modarray) else None
        at += width(o)
    return None


def _everywhere(w: g.WithLoop) -> g.Partition | None:
    """The partition that has all indices, if there is one in front of all others."""
    if not w.partitions:
        return None
    first = w.partitions[0]
    frame = w.frame or ()
    dense = first.step == first.width
    if (w.complete and len(w.partitions) == 1) or (
        dense and first.upper == frame and all(a == g.integer(0) for a in first.lower)
    ):
        return first
    return None


def _array(a: g.Atom) -> g.Var:
    assert isinstance(a, g.Var)
    return a


def _transparent(body: g.Block, position: int) -> bool:
    """Whether one element of the cell that a body gives can be had without the others."""
    setter = setter_of(body, position)
    if isinstance(setter, g.WithLoop):
        value = body.results[position]
        inner = next(s for s in body.statements if isinstance(s, g.Let) and value in s.targets)
        found = _producer(setter, inner.targets, value)
        return found is not None and len(setter.partitions) <= PARTITIONS
    return setter is None or isinstance(setter, g.View | g.Cons)


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
        if all(isinstance(a, g.Const) for a in components):
            by_number: dict[g.Atom, float] = {}
            for (_, index), share in found.items():
                by_number[index[axis]] = by_number.get(index[axis], 0.0) + share
            most = min(most, max(by_number.values()))
    return most


def fold_withloops(function: g.Function, forever: Collection[str]) -> g.Function:
    """A function, folded, and without the with-loops that became superfluous by it; itself if there is nothing to fold.
    `forever`: the functions that may not end."""
    folder = _Folder(function)
    if not any(use.rank is not None and use.sites and not use.otherwise for use in folder.sites.uses.values()):
        return function
    new = folder.walk.function(function)
    return dead_code(new, forever) if folder.producers else function


def run(unit: g.Unit) -> g.Unit:
    """A unit, folded."""
    forever = endless(unit)
    return per_function(unit, lambda function: fold_withloops(function, forever))
