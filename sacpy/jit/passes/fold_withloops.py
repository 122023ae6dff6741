"""With-loop folding: an element of an array that a with-loop makes is computed where it is loaded, and the array is not made.

    t = with [n] genarray                       s = with fold(add)
      part [0] <= [i] < [n]                       part [0] <= [j] < [n]
        x = load a[i]; y = load b[i]                x = load a[j]; y = load b[j]
        yield mul x, y                    ->        yield mul x, y
    s = with fold(add)
      part [0] <= [j] < [n]
        yield load t[j]

The body's index variables become the indices of the load, whatever they are: so shifts, reversals, transposes, takes and chains of them melt together. Of several partitions the load's indices choose, in the order in which they win; the
default, or the array underneath, comes last. An array is folded only if nothing but loads uses it, if no work is multiplied by it (`sites`), or next to none, and if its with-loop is not to have a kernel of its own (`mappings`).
"""

from __future__ import annotations

from sacpy.jit.graph import (
    ArrayType,
    Atom,
    Block,
    Cons,
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
from sacpy.jit.passes.costs import cost, size
from sacpy.jit.passes.dead_code import dead_code, width
from sacpy.jit.passes.mappings import stands
from sacpy.jit.passes.simplify import Simplifier
from sacpy.jit.passes.sites import Uses, sites
from sacpy.jit.passes.units import per_function
from sacpy.jit.rewrite import copied, free
from sacpy.lang.source import NOWHERE, Span
from sacpy.nodes import Node

CHEAP = 3.0  # work per element that may be multiplied
CODE = 400  # statements that folding one array may add
PARTITIONS = 6  # of an array that is folded


class _Producer(Node):
    """An array that is folded: operator number `operator` of `loop`, whose values are result number `position` of the bodies."""

    loop: WithLoop
    operator: Genarray | Modarray
    position: int


class _Folder(Simplifier):
    def __init__(self, function: Function) -> None:
        super().__init__(function)
        self.sites = sites(function)
        self.producers: dict[str, _Producer] = {}
        self.pending: set[str] = set()  # cells of folded arrays, to be folded themselves

    def define(self, targets: tuple[Var, ...], rhs: Rhs, span: Span = NOWHERE) -> None:
        if isinstance(rhs, Load) and (producer := self.producers.get(rhs.array.name)) is not None:
            self.element(targets[0], rhs, producer, span)
            return
        super().define(targets, rhs, span)
        if isinstance(rhs, WithLoop):
            for t in targets:
                found = self.definition(self.atom(t))
                if isinstance(found, WithLoop):
                    self.consider(self.atom(t), found, targets)

    # ---- which

    def consider(self, target: Atom, w: WithLoop, targets: tuple[Var, ...]) -> None:
        """Decides whether an array is folded."""
        assert isinstance(target, Var)
        producer = _producer(w, targets.index(target)) if target in targets else None
        if producer is not None and target.name in self.pending:
            self.producers[target.name] = producer
            return
        use = self.sites.uses.get(target.name)
        if use is None or producer is None or use.otherwise or not use.sites or not self.foldable(producer):
            return
        if stands(w) and not use.nested:
            return
        works = [_work(p.body, producer.position) for p in w.partitions]
        shared, own = max((a for a, _ in works), default=0.0), max((b for _, b in works), default=0.0)
        code = sum(size(p.body) for p in w.partitions) * use.sites
        if code > CODE or not _pays(use, shared, own):
            return
        if w.partitions and self.sites.replaced_between(set().union(*(free(p.body) for p in w.partitions)), use):
            return
        self.producers[target.name] = producer

    def foldable(self, p: _Producer) -> bool:
        if len(p.loop.partitions) > PARTITIONS or any(isinstance(o, Propagate) for o in p.loop.operators):
            return False
        rank = len(extents_of(p.operator.array)) - len(p.loop.frame or ()) if isinstance(p.operator, Modarray) else len(p.operator.cell)
        return not rank or all(_transparent(part.body, p.position) for part in p.loop.partitions)

    # ---- how

    def element(self, target: Var, load: Load, producer: _Producer, span: Span) -> None:
        """Sets a variable to an element of a folded array. A cell whose code is here already is not computed again."""
        rank = len(producer.loop.frame or ())
        key = ("cell", load.array.name, load.index[:rank])
        known = self.available.get(key)
        if known is not None:
            self.define((target,), Load(known, load.index[rank:]), span)
            return
        found = self.chosen(target, producer, producer.loop.partitions, load.index)
        for s in found.statements:
            self.step(s)
        self.alias(target, self.atom(found.results[0]))
        last = found.statements[-1] if found.statements else None
        if load.index[rank:] and isinstance(last, Let) and isinstance(last.rhs, Load):
            self.note(self.available, key, self.var(last.rhs.array))

    def chosen(self, target: Var, producer: _Producer, partitions: tuple[Partition, ...], index: tuple[Atom, ...]) -> Block:
        """The code that gives the element, from the first of the partitions that has the index."""
        frame = producer.loop.frame or ()
        if not partitions:
            return self.uncovered(target, producer.operator, index, len(frame))
        first, rest = partitions[0], partitions[1:]
        at, cell = index[: first.rank], index[first.rank :]
        body = self.body(target, first, producer.position, at, cell)
        tests, condition = self.membership(first, at, frame)
        if condition is None or (not rest and producer.loop.complete):
            return body
        otherwise = self.chosen(target, producer, rest, index)
        result = self.supply.var(target.name, target.type)
        return Block((*tests, Let((result,), If(condition, body, otherwise))), (result,))

    def body(self, target: Var, p: Partition, position: int, at: tuple[Atom, ...], cell: tuple[Atom, ...]) -> Block:
        new = copied(p.body, {i.name: a for i, a in zip(p.index, at)}, self.supply)
        value = new.results[position]
        if not cell:
            return Block(new.statements, (value,))
        assert isinstance(value, Var)
        for s in new.statements:
            if isinstance(s, Let) and value in s.targets and isinstance(s.rhs, WithLoop):
                inner = _producer(s.rhs, s.targets.index(value))
                if inner is not None and self.foldable(inner):
                    self.pending.add(value.name)
        result = self.supply.var(target.name, target.type)
        return Block((*new.statements, Let((result,), Load(value, cell))), (result,))

    def uncovered(self, target: Var, o: Genarray | Modarray, index: tuple[Atom, ...], rank: int) -> Block:
        """The element where no partition is."""
        result = self.supply.var(target.name, target.type)
        if isinstance(o, Modarray):
            return Block((Let((result,), Load(o.array, index)),), (result,))
        if isinstance(o.default.type, ArrayType):
            assert isinstance(o.default, Var)
            return Block((Let((result,), Load(o.default, index[rank:])),), (result,))
        return Block((), (o.default,))

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


def _producer(w: WithLoop, position: int) -> _Producer | None:
    """The operator behind a result of a with-loop, if it makes an array element by element."""
    at = 0
    for o in w.operators:
        if at <= position < at + width(o):
            return _Producer(w, o, position) if isinstance(o, Genarray | Modarray) else None
        at += width(o)
    return None


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
        found = _producer(setter, inner.targets.index(value))
        return found is not None and len(setter.partitions) <= PARTITIONS
    return setter is None or isinstance(setter, View | Cons)


def _work(body: Block, position: int) -> tuple[float, float]:
    """The work for a cell that must be done for any element of it, and the work for each element."""
    setter = _setter(body, position)
    if isinstance(setter, WithLoop) and isinstance(body.results[position].type, ArrayType):
        others = Block(tuple(s for s in body.statements if not (isinstance(s, Let) and s.rhs is setter)))
        return cost(others), max((cost(p.body) for p in setter.partitions), default=0.0)
    return cost(body), 0.0


def _pays(use: Uses, shared: float, own: float) -> bool:
    """Whether little work is done twice when an array is folded."""
    if shared + own <= CHEAP:
        return use.each or use.sites <= 4
    if (shared > CHEAP and not use.once) or (own > CHEAP and not use.each):
        return False
    return (shared + own) * (use.sites - 1) <= CHEAP


def fold_withloops(function: Function) -> Function:
    """A function, folded, and without the with-loops that became superfluous by it; itself if there is nothing to fold."""
    folder = _Folder(function)
    if not any(use.rank is not None and use.sites and not use.otherwise for use in folder.sites.uses.values()):
        return function
    new = folder.function(function)
    return dead_code(new) if folder.producers else function


def run(unit: Unit) -> Unit:
    """A unit, folded."""
    return per_function(unit, fold_withloops)
