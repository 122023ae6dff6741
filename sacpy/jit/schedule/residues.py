"""Partitions that divide the index of their last axis by a small number, such as the prolongation of a coarse grid: as
many indices are computed in a round as that number says, so that nothing is left to divide.

In: a partition, and where its values go. Out: how its last axis is run through, if that pays.

    part [0] <= [i] < [n]                  for k from 0 to n / 2:
        a = div i, 2                           x[2k] = 0.5 * (u[k] + u[k])
        b = div (i + 1), 2          ->         x[2k + 1] = 0.5 * (u[k] + u[k + 1])
        .. load u[a] .. load u[b]          what is left, one by one

A partition that steps by that number has one index in each round, whose remainder is that of the first.

The loads of a round, and its stores, lie a fixed number apart from those of the next, so LLVM can make vectors of them;
of a quotient it would have to look up each lane. Dividends are the index plus a number that is not negative.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.analysis.ints import Sums, linear
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import has_only, rights
from sacpy.jit.schedule.loops import Goal, IntoArray
from sacpy.nodes import Node

MOST = 4  # indices of a round
CODE = 240  # statements of all copies of the body


class Residues(Node):
    """How a last axis is run through: `divisor` indices in a round, or of a partition that steps by it the one with the
    remainder `only`. `quotients`, `remainders`: by name, the variable and what is added to the index before it is
    divided; `rest`: the body without them."""

    divisor: int
    only: int | None
    quotients: tuple[tuple[g.Var, int], ...]
    remainders: tuple[tuple[g.Var, int], ...]
    rest: g.Block


def residues(p: g.Partition, goals: Sequence[Goal], sums: Sums) -> Residues | None:
    """How the indices of a partition's last axis are taken together, if that pays: where a quotient is an index.
    `sums`: the operations without overflow that variables are set to."""
    if (
        not p.rank
        or (p.width is not None and p.width[-1] != g.integer(1))
        or not all(isinstance(x, IntoArray) and not x.earlier and not x.cells for x in goals)
    ):
        return None
    index = p.index[-1]
    divided: list[tuple[str, g.Var, int, int]] = []
    rest: list[g.Stmt] = []
    for s in p.body.statements:
        if not isinstance(s, g.Let) or not has_only(g.Block((s,)), g.Op, g.Load, g.If):
            return None
        if isinstance(s.rhs, g.Op) and (found := _divided(s.rhs, index, sums)) is not None:
            divided.append((s.rhs.code, s.targets[0], *found))
        else:
            rest.append(s)
    divisors = {d for *_, d in divided}
    if len(divisors) != 1:
        return None
    (divisor,) = divisors
    only = None
    if p.step is not None and p.step[-1] != g.integer(1):
        first = p.lower[-1]
        if p.step[-1] != g.integer(divisor) or not isinstance(first, g.Const) or first.value < 0:
            return None
        only = int(first.value) % divisor
    quotients = tuple((v, offset) for code, v, offset, _ in divided if code == "div")
    if (divisor + 2) * len(rest) > CODE or not _are_indices({v.name for v, _ in quotients}, rest, sums):
        return None
    return Residues(
        divisor,
        only,
        quotients,
        tuple((v, offset) for code, v, offset, _ in divided if code != "div"),
        g.Block(tuple(rest), p.body.results),
    )


def _divided(op: g.Op, index: g.Var, sums: Sums) -> tuple[int, int] | None:
    """What is added to an index before an operation divides it, and by what."""
    if (
        op.code not in ("div", "mod", "aplmod")
        or op.args[0].base != "int"
        or not isinstance(op.args[1], g.Const)
        or not 2 <= op.args[1].value <= MOST
    ):
        return None
    base, offset = linear(op.args[0], sums, opaque=index.name)
    return (offset, int(op.args[1].value)) if base == index and offset >= 0 else None


def _are_indices(quotients: set[str], rest: Sequence[g.Stmt], sums: Sums) -> bool:
    """Whether something is loaded at a quotient, or at it plus a number."""

    def counts(a: g.Atom) -> bool:
        base, _ = linear(a, sums)
        return isinstance(base, g.Var) and (
            base.name in quotients
            or any(
                isinstance(x, g.Var) and x.name in quotients
                for x in (sums[base.name].args if base.name in sums else ())
            )
        )

    return any(any(map(counts, r.index)) for r in rights(g.Block(tuple(rest)), g.Load))
