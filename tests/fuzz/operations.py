"""Programs that apply every element-wise operation to every base type, over vectors of numbers from the edges of the types.

In: a seed. Out: the text of functions, and calls of them. Random expressions hit the common operations often and the others hardly ever; these hit all alike.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from sacpy.interp.values import dtype_of
from sacpy.lang.primitives import PRIMITIVES, Primitive
from sacpy.lang.types import BITS, BUILTIN, REAL
from tests.fuzz.choices import number

Call = tuple[str, tuple[Any, ...]]
PER_CASE = 16


def elementwise() -> list[tuple[str, str]]:
    """Every operation on scalars, with each base type of its first argument; "select" is the conditional."""
    found = []
    for row in PRIMITIVES.values():
        if not row.structural and row.op not in NOT_ELEMENTWISE and len(row.args) <= 2:
            found += [(row.op, base) for base in (row.over if row.args[0] == "T" else (row.args[0],))]
    return [*found, *(("select", base) for base in BUILTIN)]


NOT_ELEMENTWISE = frozenset(("all", "any", "zero", "one", "minval", "maxval", "ravel", "mask"))


def operations(seed: int) -> tuple[str, tuple[Call, ...]]:
    """The functions of a seed, and calls of them."""
    r = random.Random(seed)
    pairs = elementwise()
    start = seed * PER_CASE
    texts, calls = [], []
    for k in range(PER_CASE):
        op, base = pairs[(start + k) * 7919 % len(pairs)]
        text, args = _function(r, f"o{k}", op, base)
        texts.append(text)
        calls.append((f"o{k}", args))
    return "".join(texts), tuple(calls)


def _function(r: random.Random, name: str, op: str, base: str) -> tuple[str, tuple[Any, ...]]:
    n = r.choice((1, 3, 5, 8, 17, 40))
    if op == "select":
        body = f"with {{ ([0] <= [i] < [n]) {{ x = a[i]; y = b[n - 1 - i]; }} : (x {r.choice(('<', '==', '>='))} y ? y : x); }} : genarray([n], a[0])"
        text = f"{base}[n] {name}({base}[n] a, {base}[n] b)\n{{\n  return {body};\n}}\n\n"
        return text, (_many(r, base, n), _many(r, base, n))
    row = PRIMITIVES[op]
    result = base if row.result == "T" else row.result
    if len(row.args) == 1:
        text = f"{result}[n] {name}({base}[n] a)\n{{\n  return {{ [i] -> _{op}_S_(a[i]) | [i] < [n] }};\n}}\n\n"
        return text, (_many(r, base, n),)
    right = r.choice(("b[i]", "b[i]", "b[n - 1 - i]", "b[0]"))
    text = f"{result}[n] {name}({base}[n] a, {base}[n] b)\n{{\n  return {{ [i] -> _{op}_SxS_(a[i], {right}) | [i] < [n] }};\n}}\n\n"
    return text, (_many(r, base, n), _right(r, row, base, n))


def _many(r: random.Random, base: str, n: int) -> Any:
    with np.errstate(all="ignore"):
        return np.array([number(r, base) for _ in range(n)], dtype_of(base))


def _right(r: random.Random, row: Primitive, base: str, n: int) -> Any:
    """Right operands that are legal, but for a few."""
    b = _many(r, base, n)
    if base in REAL or r.random() < 0.03:
        return b
    if row.op in ("shl", "shr"):
        return np.array([r.randrange(BITS[base]) for _ in range(n)], dtype_of(base))
    if row.op in ("div", "mod"):
        b[b == 0] = 3
    return b
