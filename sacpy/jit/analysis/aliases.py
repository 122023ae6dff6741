"""Which arrays of a block may lie in the same memory.

In: a block. Out: `Aliases`: for an array that is given a place, all those that may look into it there.

    r = for ..              v and x may be r: who changes the array that r lies in must know that they are not used any
    v = view r[k]           more. What is copied (a cell of a with-loop, the value of an update) looks nowhere.
    x = if t
      give v
    else
      give a
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sacpy.jit.analysis.makers import Makers, arrays_of
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import bound

Pair = tuple[str, str]


class Aliases:
    """Who shares memory with whom in a block, whatever happens; inner blocks included."""

    def __init__(self, block: g.Block) -> None:
        self.statements = block.statements
        self.near: dict[str, set[str]] = {}
        for s in g.statements(block):
            if isinstance(s, g.Let):
                for a, b in _shared(s):
                    self.near.setdefault(a, set()).add(b)
                    self.near.setdefault(b, set()).add(a)

    def of(self, names: Iterable[str]) -> set[str]:
        """The arrays that may look into some that the block makes in a place they are given: those arrays too. What
        these begin with is copied there, and does not."""
        found, apart = set(names), set[Pair]()
        for s in self.statements:
            if isinstance(s, g.Let):
                for k, t in enumerate(s.targets):
                    if t.name in found:
                        apart.update(_copied(s, k, found))
        waiting = list(found)
        while waiting:
            name = waiting.pop()
            for other in self.near.get(name, ()):
                if other not in found and (name, other) not in apart and (other, name) not in apart:
                    found.add(other)
                    waiting.append(other)
        return found


def _shared(s: g.Let) -> Iterator[Pair]:
    """Arrays that a statement may let share memory."""
    match s.rhs:
        case g.Var() | g.View() | g.Reshape() | g.Update():
            source = s.rhs if isinstance(s.rhs, g.Var) else s.rhs.array
            yield from _pairs(s.targets, (source,) * len(s.targets))
        case g.Call(args=args):
            made = _arrays(s.targets)
            for k, name in enumerate(made):
                yield from ((name, other) for other in (*_arrays(args), *made[:k]))
        case g.If(then=then, otherwise=otherwise):
            yield from _pairs(s.targets, then.results)
            yield from _pairs(s.targets, otherwise.results)
        case g.For(params=params, initial=initial, body=body) | g.Loop(params=params, initial=initial, body=body):
            for others in (s.targets, initial, body.results):
                yield from _pairs(params, others)
        case g.WithLoop(operators=operators):
            at = 0
            for o in operators:
                width = len(o.neutrals) if isinstance(o, g.Fold) else len(o.params) if isinstance(o, g.Propagate) else 1
                for given in _carried(s.rhs, o, at, width):
                    yield from _pairs(s.targets[at : at + width], given)
                at += width


def _carried(w: g.WithLoop, o: g.Operator, at: int, width: int) -> Iterator[Sequence[g.Atom]]:
    """What an operator may give that is there already, or that it hands on from cell to cell. `at`, `width`: which of
    the values are its own."""
    match o:
        case g.Modarray(array=array):
            yield (array,)
            return
        case g.Fold():
            yield from (o.neutrals, o.accumulators, o.values, o.combine.results)
        case g.Propagate():
            yield from (o.initial, o.params)
        case _:
            return
    yield from (p.body.results[at : at + width] for p in w.partitions)


def _pairs(some: Sequence[g.Atom], others: Sequence[g.Atom]) -> Iterator[Pair]:
    for a, b in zip(some, others, strict=True):
        if isinstance(a, g.Var) and isinstance(b, g.Var) and isinstance(a.type, g.ArrayType):
            yield a.name, b.name


def _arrays(atoms: Sequence[g.Atom]) -> list[str]:
    return [a.name for a in atoms if isinstance(a, g.Var) and isinstance(a.type, g.ArrayType)]


def _copied(s: g.Let, k: int, placed: set[str]) -> Iterator[Pair]:
    """What a statement copies that makes the array number `k` of its own in a place, so that it shares nothing with
    it. `placed`: the arrays that lie in the place already."""
    match s.rhs:
        case g.Update(array=array):
            if array.name not in placed:
                yield s.targets[k].name, array.name
        case g.For(params=params, initial=initial) | g.Loop(params=params, initial=initial):
            start = initial[k]
            if isinstance(start, g.Var) and start.name not in placed:
                yield params[k].name, start.name
        case g.If(then=then, otherwise=otherwise):
            for b in (then, otherwise):
                yield from _in_branch(b, s.targets[k].name, b.results[k])
        case g.Call(args=args):
            for name in _arrays(args):
                yield s.targets[k].name, name


def _in_branch(b: g.Block, target: str, result: g.Atom) -> Iterator[Pair]:
    """The same for a branch that gives the array."""
    if not isinstance(result, g.Var):
        return
    if result.name not in bound(b):
        yield target, result.name
        return
    makers = Makers(b, (), arrays_of)
    if result.name in makers.makers:
        names = {result.name, *makers.chain(result.name).names}
        for s in b.statements:
            if isinstance(s, g.Let):
                for k, t in enumerate(s.targets):
                    if t.name in names:
                        yield from _copied(s, k, names)
