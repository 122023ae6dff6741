"""Throws away what the specialiser made and nobody uses: looks at a body that were given up, extents that were computed
for comparisons.

In: a block. Out: the same block without statements whose results are not used. Checks stay, but for those inside of
what goes; so do loops that may not end.
"""

from __future__ import annotations

from collections.abc import Iterable

from sacpy.jit.ir.graph import (
    ArrayType,
    Atom,
    Block,
    Call,
    Check,
    Fold,
    For,
    If,
    Let,
    Loop,
    Partition,
    Rhs,
    Stmt,
    Var,
    WithLoop,
    blocks,
    operands,
)
from sacpy.jit.ir.rewrite import inner_binders


def tidy(block: Block) -> Block:
    """The block without dead code."""
    return _block(block, set())


def _block(block: Block, used: set[str]) -> Block:
    """Goes backwards; `used` gains the variables that the block reads."""
    _use(block.results, used)
    kept: list[Stmt] = []
    for statement in reversed(block.statements):
        if isinstance(statement, Check):
            _use((statement.condition,), used)
            kept.append(statement)
            continue
        if not any(t.name in used for t in statement.targets) and not _stays(statement.rhs):
            continue
        rhs = _inside(statement.rhs, used)
        _use(operands(rhs), used)
        for binder in (*statement.targets, *inner_binders(rhs)):
            if isinstance(binder.type, ArrayType):
                _use(binder.type.extents, used)
        kept.append(Let(statement.targets, rhs, statement.span))
    kept.reverse()
    return Block(tuple(kept), block.results)


def _stays(rhs: Rhs) -> bool:
    """Whether a statement is there for more than its results: for the checks in its branches (those of a condition come
    with code that asserts, not computes), or for a loop that may not end."""
    return (
        isinstance(rhs, If)
        and any(
            isinstance(s, Check) or (isinstance(s, Let) and _stays(s.rhs))
            for branch in (rhs.then, rhs.otherwise)
            for s in branch.statements
        )
    ) or _endless(rhs)


def _endless(rhs: Rhs) -> bool:
    return isinstance(rhs, Loop | Call) or any(
        isinstance(s, Let) and _endless(s.rhs) for b in blocks(rhs) for s in b.statements
    )


def _inside(rhs: Rhs, used: set[str]) -> Rhs:
    match rhs:
        case If():
            return If(rhs.condition, _block(rhs.then, used), _block(rhs.otherwise, used))
        case Loop():
            return Loop(rhs.params, rhs.initial, _block(rhs.condition, used), _block(rhs.body, used), rhs.body_first)
        case For():
            return For(rhs.index, rhs.lower, rhs.upper, rhs.step, rhs.params, rhs.initial, _block(rhs.body, used))
        case WithLoop():
            operators = tuple(
                Fold(o.neutrals, o.accumulators, o.values, _block(o.combine, used), o.stop, o.commutative)
                if isinstance(o, Fold)
                else o
                for o in rhs.operators
            )
            partitions = tuple(
                Partition(p.lower, p.upper, p.step, p.width, p.index, _block(p.body, used), p.pragmas, p.span, p.staged)
                for p in rhs.partitions
            )
            return WithLoop(rhs.frame, partitions, operators, rhs.disjoint, rhs.complete, rhs.pragmas)
    return rhs


def _use(atoms: Iterable[Atom], used: set[str]) -> None:
    for a in atoms:
        if isinstance(a, Var):
            used.add(a.name)
            if isinstance(a.type, ArrayType):
                used.update(e.name for e in a.type.extents if isinstance(e, Var))
