"""Jamming: sums along a short last axis, all of which do the same dear work in each round, are made in one loop.

    a = with [n,2]                                    a = with [n]
      genarray double                                   genarray double cell [2]
      part [0,0] <= [i,c] < [n,2]                       part [0] <= [i] < [n]
        s = with                                          s, t = with
          fold from 0.0 by add                              fold from 0.0 by add
          part [0] <= [j] < [m]                ->           fold from 0.0 by add
            x = load f[i,j]                                 part [0] <= [j] < [m]
            y = load v[j,c]                                   x = load f[i,j]
            z = mul x, y                                      y = load v[j,0]; z = mul x, y
            yield z                                           p = load v[j,1]; q = mul x, p
        yield s                                               yield z, q
                                                          r = array double[2] of s, t
                                                          yield r

So that work is done once, and where it is an element of an array that nobody else needs, as `f` may be, the element can
be computed there, and the array is not made (`fold_withloops`). Sums whose rounds have little in common stay: those are
computed in tiles (`host/tiling`).
"""

from __future__ import annotations

from collections.abc import Iterable

from sacpy.jit.analysis.costs import cost, size
from sacpy.jit.analysis.sites import Sites, sites
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import Rewriter, free, has_only
from sacpy.jit.passes.mappings import stands
from sacpy.jit.passes.repeated_work import CHEAP
from sacpy.jit.passes.units import wherever
from sacpy.jit.passes.walker import Walker
from sacpy.nodes import replace

SHORT = 4  # extent of the axis
CODE = 150  # statements of the new body
STRAIGHT = (g.Op, g.Load, g.If, g.Cons, g.Var, g.Const)


class _Jammer(Walker):
    def __init__(self, function: g.Function) -> None:
        super().__init__(function)
        self.sites: Sites = sites(function)

    def rhs(self, r: g.Rhs) -> g.Rhs:
        new = super().rhs(r)
        return (
            self.jammed(new)
            if isinstance(new, g.WithLoop) and _is_candidate(new) and self.pays(new.partitions[0])
            else new
        )

    def pays(self, p: g.Partition) -> bool:
        """Whether rounds of the sums do dear work that has nothing to do with the last axis."""
        varying = {p.index[-1].name}
        work = 0.0
        for s in p.body.statements:
            if isinstance(s, g.Let) and isinstance(s.rhs, g.WithLoop):
                (inner,) = s.rhs.partitions
                if not varying.isdisjoint(a.name for a in (*inner.lower, *inner.upper) if isinstance(a, g.Var)):
                    return False
                inside = set(varying)
                work += sum(self.work(x, inside) for x in inner.body.statements)
            _follow(s, varying)
        return work > CHEAP

    def work(self, s: g.Stmt, varying: set[str]) -> float:
        """The work of a statement that does not vary, with that for an element of an array that nobody else needs: of
        an element that varies, if its cell does not."""
        varies = _follow(s, varying)
        if isinstance(s, g.Let) and isinstance(s.rhs, g.Load):
            use, w = self.sites.uses.get(s.rhs.array.name), self.definition(s.rhs.array)
            if (
                isinstance(w, g.WithLoop)
                and w.frame is not None
                and use is not None
                and not use.otherwise
                and len({body for body, _ in use.sites}) == 1
                and not any(isinstance(a, g.Var) and a.name in varying for a in s.rhs.index[: len(w.frame)])
            ):
                return max((cost(p.body) for p in w.partitions), default=1.0)
        return 0.0 if varies else cost(g.Block((s,)))

    def jammed(self, w: g.WithLoop) -> g.WithLoop:
        """The with-loop over the other axes, whose cells are the rows along the last."""
        (p,), (operator,) = w.partitions, w.operators
        extent = _number(p.upper[-1])
        copies = [Rewriter({p.index[-1].name: g.integer(k)}, self.supply) for k in range(extent)]
        code = self.spread(p.body.statements, {p.index[-1].name}, copies)
        base = operator.array.base if isinstance(operator, g.Modarray) else operator.base  # type: ignore[union-attr]
        row = self.supply.var("row", g.ArrayType(base, (p.upper[-1],)))
        code.append(g.Let((row,), g.Cons(base, (extent,), tuple(c.atom(p.body.results[0]) for c in copies)), p.span))
        part = replace(p, lower=p.lower[:-1], upper=p.upper[:-1], index=p.index[:-1], body=g.Block(tuple(code), (row,)))
        new = replace(operator, cell=(p.upper[-1],)) if isinstance(operator, g.Genarray) else operator
        assert w.frame is not None
        return replace(w, frame=w.frame[:-1], partitions=(part,), operators=(new,))

    def spread(self, many: Iterable[g.Stmt], varying: set[str], copies: list[Rewriter]) -> list[g.Stmt]:
        """Statements for all indices along the axis: one copy for each of what varies with it, and of sums one loop."""
        code: list[g.Stmt] = []
        for s in many:
            if not _follow(s, varying):
                code.append(s)
            elif isinstance(s, g.Let) and isinstance(s.rhs, g.WithLoop):
                (p,) = s.rhs.partitions
                operators = tuple(c.operator(o) for c in copies for o in s.rhs.operators)
                body = self.spread(p.body.statements, set(varying), copies)
                part = replace(p, body=g.Block(tuple(body), tuple(c.atom(a) for c in copies for a in p.body.results)))
                code.append(
                    g.Let(
                        tuple(c.bind(t) for c in copies for t in s.targets),
                        replace(s.rhs, partitions=(part,), operators=operators),
                        s.span,
                    )
                )
            else:
                code += [new for c in copies for new in c.statement(s)]
        return code


def _follow(s: g.Stmt, varying: set[str]) -> bool:
    """Whether a statement varies with the axis; then what it sets does."""
    if varying.isdisjoint(free(g.Block((s,)))):
        return False
    if isinstance(s, g.Let):
        varying.update(t.name for t in s.targets)
    return True


def _number(a: g.Atom) -> int:
    assert isinstance(a, g.Const)
    return int(a.value)


def _is_candidate(w: g.WithLoop) -> bool:
    """Whether a with-loop makes scalars, for all of a short last axis, of sums and straight code."""
    if w.frame is None or len(w.frame) < 2 or len(w.partitions) != 1 or len(w.operators) != 1 or stands(w):
        return False
    (p,), (operator,) = w.partitions, w.operators
    rank = (
        len(g.extents_of(operator.array))
        if isinstance(operator, g.Modarray)
        else len(w.frame) + len(operator.cell)
        if isinstance(operator, g.Genarray)
        else 0
    )
    last = p.upper[-1]
    if (
        rank != p.rank
        or len(w.frame) != p.rank
        or p.step is not None
        or p.lower[-1] != g.integer(0)
        or last != w.frame[-1]
        or not isinstance(last, g.Const)
        or not 1 < _number(last) <= SHORT
    ):
        return False
    if isinstance(operator, g.Genarray) and not isinstance(operator.default.type, g.ScalarType):
        return False
    sums = [s.rhs for s in p.body.statements if isinstance(s, g.Let) and isinstance(s.rhs, g.WithLoop)]
    return (
        bool(sums)
        and all(map(_is_sum, sums))
        and all(has_only(g.Block((s,)), *STRAIGHT, g.WithLoop, checks=True) for s in p.body.statements)
        and size(p.body) * _number(last) <= CODE
    )


def _is_sum(w: g.WithLoop) -> bool:
    """Whether a with-loop folds scalars, without loops inside."""
    if len(w.partitions) != 1 or not all(
        isinstance(o, g.Fold) and o.stop is None and all(isinstance(v.type, g.ScalarType) for v in o.values)
        for o in w.operators
    ):
        return False
    return has_only(w.partitions[0].body, *STRAIGHT, checks=True)


@wherever(lambda r: isinstance(r, g.WithLoop) and _is_candidate(r))
def run(function: g.Function) -> g.Function:
    """A unit with such sums in one loop."""
    return _Jammer(function).function(function)
