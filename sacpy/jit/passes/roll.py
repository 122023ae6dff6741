"""Sums of products that have been written out, since they have few terms and these are known, are sums again where they
are a matrix product's: in tiles, each element that is loaded serves many of them.

    x0 = load a[i,0]; y0 = load b[0,j]; z0 = mul x0, y0            s = with fold from 0.0 by (acc), (val)
    s0 = add z0, 0.0                                                     t = add acc, val; give t
    x1 = load a[i,1]; y1 = load b[1,j]; z1 = mul x1, y1     ->       part [0] <= [k] < [12]
    s1 = add s0, z1                                                      x = load a[i,k]; y = load b[k,j]
    ..                                                                   z = mul x, y
                                                                         yield z

So whoever unrolls need not know what will become of a sum. Terms are combined in the order in which they were.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sacpy.jit.analysis.combine import lets_of
from sacpy.jit.analysis.contractions import contraction
from sacpy.jit.analysis.series import series
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.names import Names
from sacpy.jit.ir.rewrite import needed_for
from sacpy.jit.passes.units import wherever
from sacpy.jit.passes.walker import Walker
from sacpy.lang.types import REAL
from sacpy.nodes import replace

CHAINED = ("add", "mul")
TERMS = 8  # from which on tiles are faster
CELLS = 1024  # that are too few for tiles


class _Roller(Walker):
    def with_loop(self, w: g.WithLoop) -> g.WithLoop:
        w = super().with_loop(w)
        if len(w.operators) != 1 or not isinstance(w.operators[0], g.Genarray | g.Modarray):
            return w
        partitions = tuple(self.product(p) for p in w.partitions)
        return replace(w, partitions=partitions) if partitions != w.partitions else w

    def product(self, p: g.Partition) -> g.Partition:
        """A partition, its sums rolled if it is a matrix product then."""
        if p.rank < 2 or p.step is not None or _has_few_cells(p):
            return p
        lets = lets_of(p.body.statements)
        inside = {s.rhs.args[0] for s in lets.values() if isinstance(s.rhs, g.Op) and s.rhs.code in CHAINED}
        statements = tuple(
            rolled(s, lets, self.supply) if isinstance(s, g.Let) and inside.isdisjoint(s.targets) else s
            for s in p.body.statements
        )
        if statements == p.body.statements:
            return p
        body = g.Block(statements, p.body.results)
        found = replace(p, body=g.Block(tuple(needed_for(body.results, body)), body.results))
        c = contraction(found)
        return replace(p, body=_with_checks(p.body, found.body)) if c is not None and c.packed else p


def _with_checks(old: g.Block, new: g.Block) -> g.Block:
    """What is left of a body, with the checks that it had, and what these need."""
    if not any(isinstance(s, g.Check) for s in old.statements):
        return new
    conditions = [s.condition for s in old.statements if isinstance(s, g.Check)]
    needed = {id(s) for s in (*new.statements, *needed_for(conditions, old))}
    made = {s.targets: s for s in new.statements if isinstance(s, g.Let)}
    kept = (made.get(s.targets, s) if isinstance(s, g.Let) else s for s in old.statements)
    return g.Block(tuple(s for s in kept if isinstance(s, g.Check) or id(s) in needed), new.results)


def rolled(s: g.Let, lets: Mapping[str, g.Let], names: Names) -> g.Let:
    """A statement that ends a chain as a fold, if its terms behind the first, a constant, are a series."""
    terms = _chain(s, lets)
    if len(terms) <= TERMS or not isinstance(s.rhs, g.Op):
        return s
    number = names.var("k", g.ScalarType("int"))
    found = series(terms[1:], lets, number, names)
    if found is None or not found.statements:
        return s
    old, value, new = (names.var(stem, s.targets[0].type) for stem in ("acc", "val", "t"))
    combine = g.Block((g.Let((new,), g.Op(s.rhs.code, (old, value))),), (new,))
    fold = g.Fold((terms[0],), (old,), (value,), combine)
    p = g.Partition((g.integer(0),), (g.integer(len(terms) - 1),), None, None, (number,), found)
    return replace(s, rhs=g.WithLoop(None, (p,), (fold,), disjoint=True))


def _chain(s: g.Let, lets: Mapping[str, g.Let]) -> Sequence[g.Atom]:
    """What a chain of sums, or products, of reals combines from left to right, a constant first. Nothing if it does not
    begin with one: a fold would begin with something that changes no first term, zeros of both signs included."""
    terms: list[g.Atom] = []
    code = s.rhs.code if isinstance(s.rhs, g.Op) and s.rhs.code in CHAINED and s.targets[0].base in REAL else ""
    while isinstance(s.rhs, g.Op) and s.rhs.code == code:
        first, second = s.rhs.args
        if isinstance(second, g.Const):
            return [second, first, *terms[::-1]]
        terms.append(second)
        previous = lets.get(first.name) if isinstance(first, g.Var) else None
        if previous is None:
            break
        s = previous
    return []


def _has_few_cells(p: g.Partition) -> bool:
    """Whether a partition is known to have few cells."""
    cells = 1.0
    for lower, upper in zip(p.lower, p.upper):
        if not isinstance(lower, g.Const) or not isinstance(upper, g.Const):
            return False
        cells *= max(0, upper.value - lower.value)
    return cells < CELLS


@wherever(lambda r: isinstance(r, g.WithLoop))
def run(function: g.Function) -> g.Function:
    """A unit with sums of products as such."""
    return _Roller(function).function(function)
