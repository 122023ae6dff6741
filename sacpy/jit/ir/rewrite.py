"""Rewriting graphs: substitution, renaming, free variables, counting uses. Passes and specialiser share it.

In: code of graphs. Out: the same with other names or values, or what is used and set in it.

`Rewriter` copies a tree of statements with atoms replaced by `env` (also inside types), and binds fresh names where
`names` is given; a pass overrides `statement` to do its work on the way. Without a change it gives back equal code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from operator import is_
from typing import Any, TypeVar, overload

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.names import Names
from sacpy.lang.constants import zero
from sacpy.lang.source import NOWHERE, Span
from sacpy.nodes import replace

R = TypeVar("R")


def inner_binders(rhs: g.Rhs) -> Iterator[g.Var]:
    """The variables that a right-hand side binds for its inner blocks."""
    match rhs:
        case g.Loop():
            yield from rhs.params
        case g.For():
            yield rhs.index
            yield from rhs.params
        case g.WithLoop():
            for operator in rhs.operators:
                if isinstance(operator, g.Fold):
                    yield from operator.accumulators
                    yield from operator.values
                elif isinstance(operator, g.Propagate):
                    yield from operator.params
            for partition in rhs.partitions:
                yield from partition.index


class Rewriter:
    """Copies code. `env`: what stands for a variable from now on (by name). `names`: where given, every variable that
    the copied code binds gets a fresh name; so code can be copied into the function it came from."""

    def __init__(self, env: dict[str, g.Atom] | None = None, names: Names | None = None) -> None:
        self.env: dict[str, g.Atom] = {} if env is None else env
        self.names = names

    # ---- atoms and types

    def atom(self, a: g.Atom) -> g.Atom:
        """The atom that stands for `a`. Only variables of `env`, and those whose types mention such, change."""
        if a.__class__ is not g.Var:
            return a
        found = self.env.get(a.name)
        if found is not None:
            return found
        return a if a.type.__class__ is g.ScalarType else self._retyped(a)

    def _retyped(self, a: g.Var) -> g.Var:
        type_ = self.type(a.type)
        return a if type_ is a.type else g.Var(a.name, type_)

    def var(self, a: g.Var) -> g.Var:
        """The variable that stands for the array variable `a`."""
        found = self.atom(a)
        assert isinstance(found, g.Var)
        return found

    def atoms(self, many: tuple[g.Atom, ...]) -> tuple[g.Atom, ...]:
        new = tuple(map(self.atom, many))
        return many if all(map(is_, new, many)) else new

    def type(self, type_: g.Type) -> g.Type:
        if isinstance(type_, g.ScalarType):
            return type_
        extents = self.atoms(type_.extents)
        return type_ if extents is type_.extents else g.ArrayType(type_.base, extents)

    def bind(self, v: g.Var) -> g.Var:
        """A variable being set: under a fresh name where names are given."""
        type_ = v.type if v.type.__class__ is g.ScalarType else self.type(v.type)
        if self.names is not None:
            new = g.Var(self.names.fresh(v.name), type_)
            self.env[v.name] = new
            return new
        self.env.pop(v.name, None)
        if type_ is v.type:
            return v
        new = g.Var(v.name, type_)
        self.env[v.name] = new
        return new

    def binds(self, many: tuple[g.Var, ...]) -> tuple[g.Var, ...]:
        return tuple(map(self.bind, many))

    # ---- code

    def function(self, f: g.Function) -> g.Function:
        params = self.binds(f.params)
        return replace(f, params=params, body=self.block(f.body))

    def block(self, b: g.Block) -> g.Block:
        new: list[g.Stmt] = []
        for s in b.statements:
            new.extend(self.statement(s))
        return g.Block(tuple(new), self.atoms(b.results))

    def statement(self, s: g.Stmt) -> Iterable[g.Stmt]:
        """The statements that take the place of one: by default one copy."""
        if isinstance(s, g.Check):
            return (g.Check(self.atom(s.condition), s.what, s.span),)
        rhs = self.rhs(s.rhs)
        return (g.Let(self.binds(s.targets), rhs, s.span),)

    def rhs(self, r: g.Rhs) -> g.Rhs:
        return _RHS[r.__class__](self, r)

    def with_loop(self, w: g.WithLoop) -> g.WithLoop:
        frame = None if w.frame is None else self.atoms(w.frame)
        operators = tuple(map(self.operator, w.operators))
        return replace(w, frame=frame, partitions=tuple(map(self.partition, w.partitions)), operators=operators)

    def operator(self, o: g.Operator) -> g.Operator:
        match o:
            case g.Genarray():
                return g.Genarray(o.base, self.atoms(o.cell), self.atom(o.default))
            case g.Modarray():
                return g.Modarray(self.var(o.array))
            case g.Fold():
                neutrals, stop = self.atoms(o.neutrals), None if o.stop is None else self.atoms(o.stop)
                accumulators, values = self.binds(o.accumulators), self.binds(o.values)
                return g.Fold(neutrals, accumulators, values, self.block(o.combine), stop, o.commutative)
            case g.Propagate():
                initial = self.atoms(o.initial)
                return g.Propagate(initial, self.binds(o.params), o.word, o.combine, o.regroups, o.down)

    def partition(self, p: g.Partition) -> g.Partition:
        lower, upper = self.atoms(p.lower), self.atoms(p.upper)
        step, width = (None if x is None else self.atoms(x) for x in (p.step, p.width))
        index = self.binds(p.index)
        staged = tuple((name, now) for name, v in p.staged if isinstance(now := self.atom(v), g.Var))
        return replace(
            p, lower=lower, upper=upper, step=step, width=width, index=index, body=self.block(p.body), staged=staged
        )


def _op(by: Rewriter, r: g.Op) -> g.Rhs:
    args = by.atoms(r.args)
    return r if args is r.args else g.Op(r.code, args, r.exact)


def _load(by: Rewriter, r: g.Load) -> g.Rhs:
    array, index = by.var(r.array), by.atoms(r.index)
    return r if array is r.array and index is r.index else g.Load(array, index)


def _if(by: Rewriter, r: g.If) -> g.Rhs:
    return g.If(by.atom(r.condition), by.block(r.then), by.block(r.otherwise))


def _loop(by: Rewriter, r: g.Loop) -> g.Rhs:
    initial = by.atoms(r.initial)
    params = by.binds(r.params)
    return g.Loop(params, initial, by.block(r.condition), by.block(r.body), r.body_first)


def _for(by: Rewriter, r: g.For) -> g.Rhs:
    lower, upper, initial = by.atom(r.lower), by.atom(r.upper), by.atoms(r.initial)
    counter = by.bind(r.index)
    params, body = by.binds(r.params), by.block(r.body)
    return g.For(counter, lower, upper, r.step, params, initial, body, r.few, r.associative, r.combine)


# By class: there are many statements, and to ask for one class after the other takes longer than most work on them.
_RHS: dict[type, Callable[[Rewriter, Any], g.Rhs]] = {
    g.Op: _op,
    g.Load: _load,
    g.Var: lambda by, r: by.atom(r),
    g.Const: lambda by, r: r,
    g.View: lambda by, r: g.View(by.var(r.array), by.atoms(r.index)),
    g.Reshape: lambda by, r: g.Reshape(by.var(r.array), by.atoms(r.extents)),
    g.Cons: lambda by, r: g.Cons(r.base, r.extents, by.atoms(r.elements)),
    g.Update: lambda by, r: g.Update(by.var(r.array), by.atoms(r.index), by.atom(r.value)),
    g.Call: lambda by, r: g.Call(r.function, by.atoms(r.args)),
    g.If: _if,
    g.Loop: _loop,
    g.For: _for,
    g.WithLoop: lambda by, r: by.with_loop(r),
}


# ---------------------------------------------------------------- looking


def with_extents(atoms: Iterable[g.Atom]) -> Iterator[g.Atom]:
    """Atoms, and the extents of those that are arrays."""
    for a in atoms:
        yield a
        if isinstance(a.type, g.ArrayType):
            yield from a.type.extents


@overload
def rights(block: g.Block) -> Iterator[g.Rhs]: ...
@overload
def rights(block: g.Block, *kinds: type[R]) -> Iterator[R]: ...
def rights(block: g.Block, *kinds: Any) -> Iterator[Any]:
    """The right-hand sides in a block, inner blocks included: all, or those of some kinds."""
    for s in g.statements(block):
        if s.__class__ is g.Let and (not kinds or s.rhs.__class__ in kinds):
            yield s.rhs


def has_only(block: g.Block, *kinds: type, checks: bool = False) -> bool:
    """Whether a block has right-hand sides of some kinds alone, inner blocks included; `checks`: and checks."""
    return all(s.rhs.__class__ in kinds if s.__class__ is g.Let else checks for s in g.statements(block))


def setters(statements: Iterable[g.Stmt]) -> dict[str, g.Let]:
    """The statements that set variables, by the names of these."""
    return {t.name: s for s in statements if isinstance(s, g.Let) for t in s.targets}


def uses(block: g.Block) -> Counter[str]:
    """How often each variable is used in a block, inner blocks included; a use as an extent in the type of a variable
    that is used or set counts."""
    count: Counter[str] = Counter()
    _count(block, count)
    return count


def _count(block: g.Block, count: Counter[str]) -> None:
    for s in block.statements:
        if isinstance(s, g.Check):
            _add(count, (s.condition,))
            continue
        _add(count, with_extents(g.operands(s.rhs)))
        for target in (*s.targets, *inner_binders(s.rhs)):
            if isinstance(target.type, g.ArrayType):
                _add(count, target.type.extents)
        for inner in g.blocks(s.rhs):
            _count(inner, count)
    _add(count, with_extents(block.results))


def _add(count: Counter[str], atoms: Iterable[g.Atom]) -> None:
    for a in atoms:
        if isinstance(a, g.Var):
            count[a.name] += 1


def laid_out_rows(w: g.WithLoop, p: g.Partition) -> tuple[g.Var, ...]:
    """The rows that a partition's index lies in, and its places there, which its pragmas lay out even where no cell
    depends on them."""
    if not (w.pragmas or p.pragmas):
        return ()
    from sacpy.jit.ir.operations import PLACES

    return tuple(
        s.targets[0]
        for s in p.body.statements
        if isinstance(s, g.Let) and isinstance(s.rhs, g.Op) and s.rhs.code in PLACES
    )


def bound(block: g.Block) -> set[str]:
    """The names that a block sets, inner blocks included."""
    names: set[str] = set()
    for s in g.statements(block):
        if isinstance(s, g.Let):
            names.update(t.name for t in s.targets)
            names.update(t.name for t in inner_binders(s.rhs))
    return names


def callees(f: g.Function) -> set[str]:
    """The functions that a function calls."""
    return {s.rhs.function for s in g.statements(f.body) if isinstance(s, g.Let) and isinstance(s.rhs, g.Call)}


def new_arrays(targets: tuple[g.Var, ...], index: tuple[g.Var, ...], body: g.Block, span: Span = NOWHERE) -> g.Let:
    """What makes new arrays of the elements, or cells, that a body gives for each index."""
    frame = g.extents_of(targets[0])[: len(index)]
    p = g.Partition((g.integer(0),) * len(index), frame, None, None, index, body, (), span)
    operators = tuple(g.Genarray(t.base, g.extents_of(t)[len(index) :], g.Const(t.base, zero(t.base))) for t in targets)
    return g.Let(targets, g.WithLoop(frame, (p,), operators, disjoint=True, complete=True), span)


def loaded_only(*bodies: g.Block) -> set[str]:
    """The arrays that blocks, inner ones included, use for nothing but to load elements."""
    loaded: set[str] = set()
    others: set[str] = set()
    waiting = list(bodies)
    while waiting:
        b = waiting.pop()
        others.update(a.name for a in b.results if isinstance(a, g.Var))
        for s in b.statements:
            if isinstance(s, g.Let):
                if isinstance(s.rhs, g.Load):
                    loaded.add(s.rhs.array.name)
                else:
                    others.update(a.name for a in g.operands(s.rhs) if isinstance(a, g.Var))
                waiting += g.blocks(s.rhs)
    return loaded - others


def place_of(let: g.Let) -> Span:
    """Where the text of a with-loop stands: its first partition, if it has one."""
    assert isinstance(let.rhs, g.WithLoop)
    return let.rhs.partitions[0].span if let.rhs.partitions else let.span


def free(block: g.Block) -> set[str]:
    """The names that a block uses and does not set."""
    return set(uses(block)) - bound(block)


def free_in_order(block: g.Block) -> list[str]:
    """The same, each once, as they come."""
    inside = bound(block)
    return [name for name in uses(block) if name not in inside]


def names_of(function: g.Function) -> Names:
    """A supply of names that are new in a function."""
    names = Names()
    for name in (*(p.name for p in function.params), *sorted(bound(function.body))):
        stem, _, number = name.partition(".")
        names.taken[stem] = max(names.taken.get(stem, 0), int(number) + 1 if number.isdigit() else 1)
    return names


def needed_for(results: Iterable[g.Atom], block: g.Block, given: Container[str] = ()) -> tuple[g.Let, ...]:
    """The statements of a block that some of its variables come from, checks left out; those that set what is `given`
    are not among them, nor what only these need."""
    names = {a.name for a in results if isinstance(a, g.Var)}
    found: list[g.Let] = []
    for s in reversed(block.statements):
        if isinstance(s, g.Let) and any(t.name in names and t.name not in given for t in s.targets):
            found.append(s)
            names |= uses(g.Block((s,))).keys()
    return tuple(found[::-1])


def copied(block: g.Block, env: dict[str, g.Atom], names: Names) -> g.Block:
    """A copy of a block under fresh names, with variables replaced."""
    return Rewriter(dict(env), names).block(block)


def again(p: g.Partition, names: Names) -> g.Partition:
    """A copy of a partition under fresh names."""
    index = tuple(names.var(i.name, i.type) for i in p.index)
    return replace(p, index=index, body=copied(p.body, {i.name: new for i, new in zip(p.index, index)}, names))


class Reader(Rewriter):
    """Copies code that reads elements which are at hand: those of some arrays, whatever the index, are what `made`
    says."""

    def __init__(self, env: dict[str, g.Atom], made: dict[str, g.Atom], names: Names | None = None) -> None:
        super().__init__(env, names)
        self.made = made

    def rhs(self, r: g.Rhs) -> g.Rhs:
        return self.made[r.array.name] if isinstance(r, g.Load) and r.array.name in self.made else super().rhs(r)
