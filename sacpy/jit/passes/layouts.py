"""Layouts, a part of `short_circuit`: what a loop reads of an array that only has another order than one that there is,
it reads of that one.

    w = with [n]: part [0] <= [i] < [n]                 w = with [n]: ..
      k = sub! t, i                                     r = for j from 1 to n step 1 with s := w
      x = load a[k]                                       k.1 = sub! t, j
      yield x                                  ->         y = load a[k.1]
    r = for j from 1 to n step 1 with s := w              ..
      y = load w[j]                                       u = update s[j] with ..
      ..
      u = update s[j] with ..

Folding computes such an array where it is read, but keeps it whole where a loop begins with it, to change it. Then the
loop reads what it would have to keep; now it may be changed where it lies, and be made where it ends up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sacpy.jit.analysis.makers import count_uses, only_loads
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import Rewriter, copied, names_of, rights, uses
from sacpy.nodes import replace


class _Reader(Rewriter):
    """`layouts`: the partitions that make arrays of another order, by the names of these, in the loops that read
    them."""

    def __init__(self, function: g.Function) -> None:
        super().__init__()
        self.supply = names_of(function)
        self.layouts: dict[str, g.Partition] = {}

    def block(self, b: g.Block) -> g.Block:
        outer = self.layouts
        for k, s in enumerate(b.statements):
            p = layout_of(s)
            if p is not None and isinstance(s, g.Let) and _is_changed(b, k, s.targets[0], _source(p)):
                self.layouts = {**self.layouts, s.targets[0].name: p}
        found = super().block(b)
        self.layouts = outer
        return found

    def statement(self, s: g.Stmt) -> Iterable[g.Stmt]:
        if isinstance(s, g.Let) and isinstance(s.rhs, g.Load) and s.rhs.array.name in self.layouts:
            p = self.layouts[s.rhs.array.name]
            index = {i.name: self.atom(a) for i, a in zip(p.index, s.rhs.index)}
            body = copied(p.body, index, self.supply)
            *before, last = body.statements
            return (*before, replace(last, targets=self.binds(s.targets), span=s.span))  # type: ignore[arg-type]
        return super().statement(s)


def layout_of(s: g.Stmt) -> g.Partition | None:
    """The partition of a with-loop that gives elements of another array, each as it is."""
    if not isinstance(s, g.Let) or not isinstance(s.rhs, g.WithLoop) or len(s.rhs.operators) != 1:
        return None
    w, (o,) = s.rhs, s.rhs.operators
    if not isinstance(o, g.Genarray) or o.cell or not w.complete or len(w.partitions) != 1 or w.pragmas:
        return None
    (p,) = w.partitions
    if p.step is not None or p.pragmas or p.lower != (g.integer(0),) * p.rank or not p.body.statements:
        return None
    *before, last = p.body.statements
    is_load = isinstance(last, g.Let) and isinstance(last.rhs, g.Load) and p.body.results == last.targets
    return p if is_load and all(isinstance(i, g.Let) and isinstance(i.rhs, g.Op) for i in before) else None


def _source(p: g.Partition) -> g.Var:
    """The array that a layout is one of."""
    last = p.body.statements[-1]
    assert isinstance(last, g.Let) and isinstance(last.rhs, g.Load)
    return last.rhs.array


def _is_changed(b: g.Block, number: int, array: g.Var, source: g.Var) -> bool:
    """Whether all that happens to an array is that a loop begins with it, and reads it; and the one that it was made of
    is only read until then."""
    later = b.statements[number + 1 :]
    users = [s for s in later if count_uses(s, array.name)]
    if len(users) != 1 or array in b.results:
        return False
    (s,) = users
    if not isinstance(s, g.Let) or not isinstance(s.rhs, g.For | g.Loop):
        return False
    if s.rhs.initial.count(array) != 1 or any(array in _whole(inner) for inner in g.blocks(s.rhs)):
        return False
    reads = uses(g.Block((s,)))[array.name] - 1
    until = later[: later.index(s) + 1]
    return reads > 0 and all(only_loads(other, source.name) for other in until)


def _whole(b: g.Block) -> Sequence[object]:
    """What a block uses in another way than by loads of elements, inner blocks included."""
    found: list[object] = list(b.results)
    for r in rights(b):
        found += [a for a in g.operands(r) if not isinstance(r, g.Load) or a != r.array]
        for inner in g.blocks(r):
            found += inner.results
    return found


def layouts(function: g.Function) -> g.Function:
    """A function whose loops read arrays in the order that they are in."""
    return _Reader(function).function(function)
