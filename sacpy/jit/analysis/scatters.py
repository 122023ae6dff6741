"""Loops that combine elements of arrays with values, wherever the data say, and do nothing else: reductions by index.

In: a counting loop. Out: for each array that it carries what a round does to it, or nothing.

    for i from l to u with p := g
      j, v = ...
      a = load p[j]; b = add a, v
      q = update p[j] with b
      next q
"""

from __future__ import annotations

from collections.abc import Mapping

from sacpy.jit.analysis.folds import Reduction
from sacpy.jit.ir.graph import (
    ArrayType,
    Atom,
    Check,
    Const,
    For,
    If,
    Let,
    Load,
    Op,
    Rhs,
    ScalarType,
    Stmt,
    Update,
    Var,
)
from sacpy.jit.ir.rewrite import uses
from sacpy.lang.types import REAL
from sacpy.nodes import Node

_EXACT = frozenset(["add", "bitand", "bitor", "bitxor", "min", "max", "or", "and"])


class Scatter(Node):
    """What a round does to an array: it combines an element `old`, at `index`, with a `value`, by `steps` of which
    `new` comes, by the operation `code`. `neutral`: what combines with anything to that. `updated`: the array after."""

    code: str
    param: Var
    given: Var
    updated: Var
    index: tuple[Atom, ...]
    old: Var
    value: Atom
    steps: tuple[Let, ...]
    new: Atom
    neutral: Const

    @property
    def extents(self) -> tuple[Atom, ...]:
        assert isinstance(self.param.type, ArrayType)
        return self.param.type.extents


def is_plain(s: Stmt) -> bool:
    """Whether a statement computes scalars from scalars and elements, perhaps by a condition."""
    if not isinstance(s, Let):
        return False
    if isinstance(s.rhs, If):
        return all(map(is_plain, (*s.rhs.then.statements, *s.rhs.otherwise.statements)))
    return isinstance(s.rhs, Op | Load | Const) or (isinstance(s.rhs, Var) and isinstance(s.rhs.type, ScalarType))


def scatters(r: For, reals: bool) -> list[Scatter]:
    """What a loop adds to its arrays, if that is all it does."""
    if r.step != 1 or not r.params:
        return []
    made = {s.targets[0]: s.rhs for s in r.body.statements if isinstance(s, Let)}
    count = uses(r.body)
    results = set(r.body.results)
    if not all(isinstance(s, Check) or is_plain(s) or s.targets[0] in results for s in r.body.statements):
        return []
    found = [_scatter(r, k, made, count, reals) for k in range(len(r.params))]
    if reals and not any(h is not None and len(h.steps) == 1 and h.param.base in REAL for h in found):
        return []  # cut already
    return [h for h in found if h is not None] if all(found) else []


def _scatter(r: For, k: int, made: Mapping[Var, Rhs], count: Mapping[str, int], reals: bool) -> Scatter | None:
    """What a loop adds to one of its arrays."""
    p, result, given = r.params[k], r.body.results[k], r.initial[k]
    if not isinstance(p.type, ArrayType) or not isinstance(given, Var) or not isinstance(result, Var):
        return None
    update = made.get(result)
    if (
        not isinstance(update, Update)
        or update.array != p
        or len(update.index) != p.type.rank
        or r.index in update.index
    ):
        return None
    combined = _combined(p.base, update.value, made, count, reals)
    if combined is None:
        return None
    code, old, value, steps = combined
    load = made.get(old)
    if not isinstance(load, Load) or load.array != p or load.index != update.index or count[p.name] != 2:
        return None
    neutral = Const(p.base, Reduction((code,), (p.base,)).neutral(0))
    return Scatter(code, p, given, result, update.index, old, value, steps, update.value, neutral)


def _combined(
    base: str, new: Atom, made: Mapping[Var, Rhs], count: Mapping[str, int], reals: bool
) -> tuple[str, Var, Atom, tuple[Let, ...]] | None:
    """The operation that combines an element with a value, both, and the statements that do it, which nobody else
    needs."""

    def op(a: Atom) -> Op | None:
        rhs = made.get(a) if isinstance(a, Var) and count[a.name] == 1 else None
        return rhs if isinstance(rhs, Op) else None

    def is_element(a: Atom, times: int) -> bool:
        return isinstance(a, Var) and isinstance(made.get(a), Load) and count[a.name] == times

    last = op(new)
    if last is None or not isinstance(new, Var):
        return None
    if last.code == "select" and base in REAL:  # s >= x || s != s ? s : x
        test, old, value = last.args
        either = op(test)
        if either is None or either.code != "or" or not isinstance(test, Var) or not isinstance(old, Var):
            return None
        for relation, nan in (either.args, either.args[::-1]):
            compared, unequal = op(relation), op(nan)
            if compared is None or unequal != Op("neq", (old, old)) or not is_element(old, 4):
                continue
            if compared.code in ("le", "ge") and set(compared.args) == {old, value}:
                assert isinstance(relation, Var) and isinstance(nan, Var)
                larger = (compared.code == "ge") == (compared.args[0] == old)
                steps = (Let((relation,), compared), Let((nan,), unequal), Let((test,), either), Let((new,), last))
                return "max" if larger else "min", old, value, steps
        return None
    if last.code not in (("add",) if base in REAL and reals else () if base in REAL else _EXACT):
        return None
    if base == "bool" and last.code not in ("and", "or"):
        return None
    for old, value in (last.args, last.args[::-1]):
        if is_element(old, 1) and isinstance(old, Var) and value != old:
            return last.code, old, value, (Let((new,), last),)
    return None
