"""Fusing: neighbouring with-loops over one index space, which read the same arrays, become one with several operators.

    a = with [n] genarray                       a, s = with [n] genarray, fold(add)
      part [0] <= [i] < [n]                       part [0] <= [i] < [n]
        x = load u[i]; y = exp x; yield y           x = load u[i]; y = exp x
    s = with fold(add)                    ->        yield y, y
      part [0] <= [j] < [n]
        z = load a[j]
        yield z

The second may read a result of the first at its own index only. The first moves down to the second, past what does not
need it, nor replaces cells of what it reads. Bodies with loops in them stay apart: those are tiled, or vectorised
inside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from sacpy.jit.analysis.costs import size
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import Reader, Rewriter, has_only, rights, uses, with_extents
from sacpy.jit.passes.mappings import stands
from sacpy.jit.passes.units import on_functions
from sacpy.nodes import replace

CODE = 150  # statements of a fused body
BACK = 40  # how many statements a with-loop may move past


class Fuser(Rewriter):
    """Fuses the with-loops of a function that `admits` lets through."""

    def block(self, b: g.Block) -> g.Block:
        new = super().block(b)
        kept: list[g.Stmt] = []
        known: dict[int, Counter[str]] = {}
        for s in new.statements:
            merged = (
                self.with_earlier(kept, s, known) if isinstance(s, g.Let) and isinstance(s.rhs, g.WithLoop) else None
            )
            kept.append(s if merged is None else merged)
        return replace(new, statements=tuple(kept)) if len(kept) < len(new.statements) else new

    def with_earlier(self, before: list[g.Stmt], second: g.Let, known: dict[int, Counter[str]]) -> g.Let | None:
        """A with-loop fused with one of those before it, which is taken out of the list; None if there is none.
        `known`: the uses of statements by their identity, as far as they were counted."""
        needed: set[str] = set()
        replaced: set[str] = set()  # not in place any more, were they read later
        for k in range(len(before) - 1, max(len(before) - BACK, 0) - 1, -1):
            first = before[k]
            if id(first) not in known:
                known[id(first)] = uses(g.Block((first,)))
            if (
                isinstance(first, g.Let)
                and isinstance(first.rhs, g.WithLoop)
                and not any(t.name in needed for t in first.targets)
                and replaced.isdisjoint(known[id(first)])
            ):
                merged = self.fused(first, second)
                if merged is not None:
                    known.pop(id(first))
                    del before[k]
                    return merged
            if isinstance(first, g.Let) and not isinstance(first.rhs, g.Op | g.Load | g.Cons | g.WithLoop | g.Var):
                return None
            needed.update(known[id(first)])
            if isinstance(first, g.Let) and isinstance(first.rhs, g.WithLoop):
                replaced.update(o.array.name for o in first.rhs.operators if isinstance(o, g.Modarray))
        return None

    def admits(self, a: g.WithLoop, b: g.WithLoop, made: Collection[str]) -> bool:
        """Whether two with-loops with the same bounds are to be fused. `made`: the results of the first."""
        p, q = a.partitions[0], b.partitions[0]
        return not any(isinstance(o, g.Modarray) for o in (*a.operators, *b.operators)) and not reads(
            q.body
        ).isdisjoint((*reads(p.body), *made))

    def fused(self, first: g.Let, second: g.Let) -> g.Let | None:
        """Two with-loops as one, if they can be."""
        a, b = first.rhs, second.rhs
        assert isinstance(a, g.WithLoop) and isinstance(b, g.WithLoop)
        if (
            stands(a)
            or stands(b)
            or not (_simple(a) and _simple(b))
            or (a.frame is not None and b.frame is not None and a.frame != b.frame)
        ):
            return None
        p, q = a.partitions[0], b.partitions[0]
        if (p.lower, p.upper, p.step, p.width) != (q.lower, q.upper, q.step, q.width) or size(p.body) + size(
            q.body
        ) > CODE:
            return None
        made = {t.name: value for t, value in zip(first.targets, p.body.results)}
        if any(isinstance(x, g.Var) and x.name in made for x in with_extents(g.operands(b))) or any(
            made.keys() & uses(o.combine) for o in b.operators if isinstance(o, g.Fold)
        ):
            return None
        from sacpy.jit.analysis.depends import own_cell

        if not all(own_cell(q.body, t, q.index) for t in first.targets) or not self.admits(a, b, made):
            return None
        body = Reader({i.name: j for i, j in zip(q.index, p.index)}, made).block(q.body)
        results = (*p.body.results, *body.results)
        partition = replace(p, body=g.Block((*p.body.statements, *body.statements), results))
        framed = a if a.frame is not None else b
        whole = replace(framed, frame=framed.frame, partitions=(partition,), operators=(*a.operators, *b.operators))
        return g.Let((*first.targets, *second.targets), whole, second.span)


def _simple(w: g.WithLoop) -> bool:
    """Whether a with-loop has one partition with a straight body, and operators that can stand beside others."""
    if len(w.partitions) != 1 or any(
        isinstance(o, g.Propagate) or (isinstance(o, g.Fold) and o.stop is not None) for o in w.operators
    ):
        return False
    if any(isinstance(o, g.Genarray) and o.cell for o in w.operators):
        return False
    return has_only(w.partitions[0].body, g.Op, g.Load, g.If, g.Cons, g.Var, checks=True)


def reads(b: g.Block) -> set[str]:
    """The arrays of which a body loads elements."""
    return {r.array.name for r in rights(b, g.Load)}


@on_functions
def run(function: g.Function) -> g.Function:
    """A unit with its neighbouring with-loops fused."""
    several = sum(1 for _ in rights(function.body, g.WithLoop)) > 1
    return Fuser().function(function) if several else function
