"""Takes out merges and carried variables that nobody reads.

In: a function in core. Out: the same without them. They would keep arrays alive that could otherwise be updated in
place: after `if (c) { r = f(a); } else { r = a; }` nobody wants the `a` of either branch.
"""

from __future__ import annotations

from sacpy.lang.core import Block, Fold, Function, If, Let, Loop, Operator, Stmt, WithLoop
from sacpy.lang.walk import bodies_free, free_of, loop_free, names, operands
from sacpy.nodes import replace


def prune(function: Function) -> Function:
    """The function without dead merges and carried variables."""
    end = names(function.returns)
    conditions = []
    for condition in function.conditions:
        block, live = _block(condition.block, names((condition.value,)))
        conditions.append(replace(condition, block=block))
        if condition.on_exit:
            end |= live
    return replace(function, conditions=tuple(conditions), body=_block(function.body, end)[0])


def _block(block: Block, live: set[str]) -> tuple[Block, set[str]]:
    """The block, and what is alive before it."""
    result: list[Stmt] = []
    for statement in reversed(block.statements):
        new, live = _statement(statement, live)
        result.append(new)
    return Block(tuple(reversed(result))), live


def _statement(s: Stmt, live: set[str]) -> tuple[Stmt, set[str]]:
    match s:
        case Let(rhs=WithLoop() as loop):
            before = live - {t.name for t in s.targets} | names(operands(loop)) | bodies_free(loop)
            return replace(s, rhs=_with_loop(loop, live | bodies_free(loop))), before
        case Let(targets=targets):
            return s, live - {t.name for t in targets} | free_of(s)
        case If():
            merges = tuple(m for m in s.merges if m.target.name in live)
            rest = live - {m.target.name for m in s.merges}
            then, live_then = _block(s.then, rest | names(tuple(m.then for m in merges)))
            otherwise, live_otherwise = _block(s.otherwise, rest | names(tuple(m.otherwise for m in merges)))
            return replace(s, then=then, otherwise=otherwise, merges=merges), live_then | live_otherwise | names(
                (s.condition,)
            )
        case Loop():
            return _loop(s, live)
    return s, live | free_of(s)


def _loop(s: Loop, live: set[str], rounds: int = 2) -> tuple[Stmt, set[str]]:
    """Drops carried variables until no more are found dead; a second round only where the first dropped some."""
    targets = {c.target.name for c in s.carried}
    around = loop_free(s) | (live - targets)  # what lives through all rounds without being carried
    body, live_body = _block(s.body, around | names(tuple(c.update for c in s.carried)))
    condition, live_condition = _block(s.condition, live_body | live | names((s.test,)))
    needed, before = set(targets & (live | live_body | live_condition)), None
    while needed != before:
        before = set(needed)
        needed |= names(tuple(c.update for c in s.carried if c.target.name in needed)) & targets
    carried = tuple(c for c in s.carried if c.target.name in needed)
    new = replace(s, carried=carried, condition=condition, body=body)
    if len(carried) < len(s.carried) and rounds > 0 and not any(isinstance(x, Loop) for x in body.statements):
        return _loop(new, live, rounds - 1)
    return new, around | names(tuple(c.initial for c in carried))


def _with_loop(loop: WithLoop, live: set[str]) -> WithLoop:
    partitions = tuple(replace(p, body=_block(p.body, live | names(p.values))[0]) for p in loop.partitions)
    return replace(loop, partitions=partitions, operators=tuple(_operator(o, live) for o in loop.operators))


def _operator(operator: Operator, live: set[str]) -> Operator:
    if isinstance(operator, Fold):
        combine = operator.combine
        return replace(operator, combine=replace(combine, body=_block(combine.body, live | names(combine.results))[0]))
    return operator
