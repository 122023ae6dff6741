"""Checks of branches: what either branch of a condition in a loop in order checks is checked in front of it, for the
branch that is taken, where both then are the same but for what they compute with.

    r' = if c                                     bool ok = select c, t, s
      check t                                     check ok
      x = load a[i]                               r' = if c
      u = update r[k] with x              ->        x = load a[i]
      give u                                        u = update r[k] with x
    else                                            give u
      check s                                     else
      y = load b[j]                                 y = load b[j]
      v = update r[k] with y                        v = update r[k] with y
      give v                                        give v

So LLVM makes one load and one store of the two branches, at an address that is chosen, and no jump on data is left that
the processor could foresee no better than a coin: of merged lists, half of them are wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import Rewriter, bound, names_of
from sacpy.jit.passes.units import wherever
from sacpy.nodes import replace

STATEMENTS = 12  # of a branch at most: both are computed


class _Merger(Rewriter):
    def __init__(self, function: g.Function) -> None:
        super().__init__()
        self.supply = names_of(function)
        self.in_order = False  # what is at hand is done round by round, by the innermost loop around it

    def statement(self, s: g.Stmt) -> Sequence[g.Stmt]:
        if not isinstance(s, g.Let):
            return tuple(super().statement(s))
        outer, is_loop = self.in_order, isinstance(s.rhs, g.For | g.Loop | g.WithLoop)
        self.in_order = not isinstance(s.rhs, g.WithLoop) if is_loop else outer
        found = tuple(super().statement(s))
        self.in_order = outer
        return tuple(t for f in found for t in (self.merged(f) if self.in_order else (f,)))

    def merged(self, s: g.Stmt) -> Iterator[g.Stmt]:
        """A statement, after the checks of its branches."""
        if isinstance(s, g.Let) and isinstance(s.rhs, g.If) and _are_alike(s.rhs):
            r = s.rhs
            for mine, others in zip_longest(_checks(r.then), _checks(r.otherwise)):
                first = mine or others
                ok = g.Var(self.supply.fresh("ok"), g.BOOL)
                args = (r.condition, *(g.TRUE if c is None else c.condition for c in (mine, others)))
                yield g.Let((ok,), g.Op("select", args))
                yield replace(first, condition=ok)
            s = replace(s, rhs=replace(r, then=_unchecked(r.then), otherwise=_unchecked(r.otherwise)))
        yield s


def _checks(b: g.Block) -> list[g.Check]:
    return [s for s in b.statements if isinstance(s, g.Check)]


def _unchecked(b: g.Block) -> g.Block:
    return replace(b, statements=tuple(s for s in b.statements if not isinstance(s, g.Check)))


def _are_alike(r: g.If) -> bool:
    """Whether branches have checks that can be made before them, and else load and set elements of arrays as often, and
    these at the same places."""
    then, otherwise = (_Branch(b) for b in (r.then, r.otherwise))
    return bool(
        (then.checks or otherwise.checks)
        and then.is_short
        and otherwise.is_short
        and then.loads == otherwise.loads
        and then.loads
        and then.set == otherwise.set
    )


class _Branch:
    def __init__(self, b: g.Block) -> None:
        self.checks = _checks(b)
        inside = bound(b)
        lets = [s.rhs for s in b.statements if isinstance(s, g.Let)]
        self.is_short = (
            len(b.statements) <= STATEMENTS
            and all(isinstance(r, g.Op | g.Load) or _sets_element(r) for r in lets)
            and not any(isinstance(c.condition, g.Var) and c.condition.name in inside for c in self.checks)
        )
        self.loads = sum(isinstance(r, g.Load) for r in lets)
        self.set = [(r.array, r.index) for r in lets if isinstance(r, g.Update)]


def _sets_element(r: g.Rhs) -> bool:
    return isinstance(r, g.Update) and not isinstance(r.value.type, g.ArrayType)


@wherever(lambda r: isinstance(r, g.If))
def run(function: g.Function) -> g.Function:
    """A unit whose loops in order check in front of conditions what both branches need."""
    return _Merger(function).function(function)
