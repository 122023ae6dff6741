"""Throws away what the specialiser made and nobody uses: looks at a body that were given up, extents that were computed
for comparisons.

In: a block. Out: the same block without statements whose results are not used. Checks stay, but for those inside of
what goes; so do loops that may not end.
"""

from __future__ import annotations

from collections.abc import Iterable

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import inner_binders, laid_out_rows


def tidy(block: g.Block) -> g.Block:
    """The block without dead code."""
    return _block(block, set())


def _block(block: g.Block, used: set[str]) -> g.Block:
    """Goes backwards; `used` gains the variables that the block reads."""
    _use(block.results, used)
    kept: list[g.Stmt] = []
    for statement in reversed(block.statements):
        if isinstance(statement, g.Check):
            _use((statement.condition,), used)
            kept.append(statement)
            continue
        if not any(t.name in used for t in statement.targets) and not _stays(statement.rhs):
            continue
        rhs = _inside(statement.rhs, used)
        _use(g.operands(rhs), used)
        for binder in (*statement.targets, *inner_binders(rhs)):
            if isinstance(binder.type, g.ArrayType):
                _use(binder.type.extents, used)
        kept.append(g.Let(statement.targets, rhs, statement.span))
    kept.reverse()
    return g.Block(tuple(kept), block.results)


def _stays(rhs: g.Rhs) -> bool:
    """Whether a statement is there for more than its results: for the checks in its branches (those of a condition come
    with code that asserts, not computes), or for a loop that may not end."""
    return (
        isinstance(rhs, g.If)
        and any(
            isinstance(s, g.Check) or (isinstance(s, g.Let) and _stays(s.rhs))
            for branch in (rhs.then, rhs.otherwise)
            for s in branch.statements
        )
    ) or _endless(rhs)


def _endless(rhs: g.Rhs) -> bool:
    return isinstance(rhs, g.Loop | g.Call) or any(
        isinstance(s, g.Let) and _endless(s.rhs) for b in g.blocks(rhs) for s in b.statements
    )


def _inside(rhs: g.Rhs, used: set[str]) -> g.Rhs:
    match rhs:
        case g.If():
            return g.If(rhs.condition, _block(rhs.then, used), _block(rhs.otherwise, used))
        case g.Loop():
            return g.Loop(rhs.params, rhs.initial, _block(rhs.condition, used), _block(rhs.body, used), rhs.body_first)
        case g.For():
            return g.For(rhs.index, rhs.lower, rhs.upper, rhs.step, rhs.params, rhs.initial, _block(rhs.body, used))
        case g.WithLoop():
            operators = tuple(
                g.Fold(o.neutrals, o.accumulators, o.values, _block(o.combine, used), o.stop, o.commutative)
                if isinstance(o, g.Fold)
                else o
                for o in rhs.operators
            )
            for p in rhs.partitions:
                _use(laid_out_rows(rhs, p), used)
            partitions = tuple(
                g.Partition(
                    p.lower, p.upper, p.step, p.width, p.index, _block(p.body, used), p.pragmas, p.span, p.staged
                )
                for p in rhs.partitions
            )
            return g.WithLoop(rhs.frame, partitions, operators, rhs.disjoint, rhs.complete, rhs.pragmas)
    return rhs


def _use(atoms: Iterable[g.Atom], used: set[str]) -> None:
    for a in atoms:
        if isinstance(a, g.Var):
            used.add(a.name)
            if isinstance(a.type, g.ArrayType):
                used.update(e.name for e in a.type.extents if isinstance(e, g.Var))
