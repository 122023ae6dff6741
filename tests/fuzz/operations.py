"""Programs that apply every element-wise operation to every base type, over vectors of numbers from the edges of the
types.

In: a seed. Out: the text of functions, and calls of them. Random expressions hit the common operations often and the
others hardly ever; these hit all alike. A function has one operation, or several that are neighbours: loops that fuse,
or one with-loop of several operators.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from sacpy.interp.values import dtype_of
from sacpy.lang.primitives import PRIMITIVES, Primitive
from sacpy.lang.types import BITS, BUILTIN, REAL
from tests.fuzz.choices import number

Call = tuple[str, tuple[Any, ...]]
PER_CASE = 40
STRIDE = 7919  # coprime to the number of pairs: neighbours are of all kinds


@dataclass(frozen=True)
class Applied:
    """An operation on the element at [i]: the base type and text of what it gives, arguments by name: base type and
    value."""

    base: str
    text: str
    args: dict[str, tuple[str, Any]]


@cache
def elementwise() -> tuple[tuple[str, str], ...]:
    """Every operation on scalars that graphs have, with each base type of its first argument; "select" is the
    conditional."""
    found = []
    for row in PRIMITIVES.values():
        if not row.structural and row.op not in NOT_IN_GRAPHS and len(row.args) <= 2:
            found += [
                (row.op, base)
                for base in (row.over if row.args[0] == "T" else (row.args[0],))
                if row.result != base or not row.op.startswith("to")
            ]
    return (*found, *(("select", base) for base in BUILTIN))


# Those that are not element-wise or become constants, and two comparisons that the specialiser turns round. So does it
# leave out conversions from a type to itself.
NOT_IN_GRAPHS = frozenset(("all", "any", "zero", "one", "minval", "maxval", "ravel", "mask", "gt", "ge"))
TURNED_ROUND = {"lt": "gt", "le": "ge"}


def pairs_of(seed: int) -> list[tuple[str, str]]:
    """The operations of a seed, with their base types; a few seeds in a row have them all."""
    pairs = elementwise()
    return [pairs[(seed * PER_CASE + k) * STRIDE % len(pairs)] for k in range(PER_CASE)]


def operations(seed: int) -> tuple[str, tuple[Call, ...]]:
    """The functions of a seed, and calls of them."""
    r = random.Random(seed)
    waiting = pairs_of(seed)
    texts, calls = [], []
    while waiting:
        size = r.choice((1, 2, 4, 8, 8))
        now, waiting = waiting[:size], waiting[size:]
        text, args = _function(r, f"o{len(calls)}", now)
        texts.append(text)
        calls.append((f"o{len(calls)}", args))
    return "".join(texts), tuple(calls)


def _function(r: random.Random, name: str, pairs: list[tuple[str, str]]) -> tuple[str, tuple[Any, ...]]:
    n = r.choice((1, 3, 5, 8, 17, 40))
    applied = [_applied(r, op, base, str(k), n) for k, (op, base) in enumerate(pairs)]
    given = {key: value for one in applied for key, value in one.args.items()}
    heads = ", ".join(f"{one.base}[n]" for one in applied)
    params = ", ".join(f"{base}[n] {key}" for key, (base, _) in given.items())
    return f"{heads} {name}({params})\n{{\n{_body(r, applied)}}}\n\n", tuple(value for _, value in given.values())


def _body(r: random.Random, applied: list[Applied]) -> str:
    """One after the other, or all in one with-loop."""
    names = [f"r{k}" for k in range(len(applied))]
    back = f"  return {names[0]};\n" if len(names) == 1 else f"  return ({', '.join(names)});\n"
    if r.random() < 0.3:
        cells = ", ".join(one.text for one in applied)
        operators = ", ".join(["genarray([n])"] * len(applied))
        whole = f"({cells})" if len(applied) > 1 else cells
        return f"  {', '.join(names)} = with {{ ([0] <= [i] < [n]) : {whole}; }} : ({operators});\n{back}"
    return "".join(f"  {name} = {{ [i] -> {one.text} | [i] < [n] }};\n" for name, one in zip(names, applied)) + back


def _applied(r: random.Random, op: str, base: str, suffix: str, n: int) -> Applied:
    a, b = f"a{suffix}", f"b{suffix}"
    if op == "select":
        text = f"({a}[i] {r.choice(('<', '==', '>='))} {b}[n - 1 - i] ? {b}[n - 1 - i] : {a}[i])"
        return Applied(base, text, {a: (base, _many(r, base, n)), b: (base, _many(r, base, n))})
    row = PRIMITIVES[op]
    result = base if row.result == "T" else row.result
    if len(row.args) == 1:
        return Applied(result, f"_{op}_S_({a}[i])", {a: (base, _many(r, base, n))})
    right = r.choice((f"{b}[i]", f"{b}[i]", f"{b}[n - 1 - i]", f"{b}[0]"))
    text = f"_{op}_SxS_({a}[i], {right})"
    if op in TURNED_ROUND and r.random() < 0.5:
        text = f"_{TURNED_ROUND[op]}_SxS_({right}, {a}[i])"
    return Applied(result, text, {a: (base, _many(r, base, n)), b: (base, _right(r, row, base, n))})


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
