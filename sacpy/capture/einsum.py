"""`np.einsum`, with subscripts that are known when a function is captured.

In: `np.einsum("ij,jk->ik", a, b)`, with or without the right side, with repeated letters and `...`. Out: a with-loop
over the result's indices, of folds over those that are summed: what the compiler knows a product of matrices by.
"""

from __future__ import annotations

import ast as py
from collections import Counter

import numpy as np

from sacpy.capture import build
from sacpy.capture.calls import NUMPY
from sacpy.capture.frame import Frame, Val
from sacpy.capture.kinds import INTS, array
from sacpy.capture.numbers import common, converted
from sacpy.capture.numpy_arrays import number
from sacpy.capture.numpy_functions import array_of
from sacpy.capture.places import ARGUMENTS, DIFFER
from sacpy.lang import ast

Letters = list[str]


def _einsum(frame: Frame, node: py.Call) -> Val:
    for keyword in node.keywords:
        if keyword.arg != "optimize":  # how NumPy goes about it, and no more
            raise frame.refused(keyword.value, f"np.einsum has no argument {keyword.arg} here", "", ARGUMENTS)
    if len(node.args) < 2:
        raise frame.refused(node, "np.einsum takes subscripts and arrays", "", ARGUMENTS)
    text = _subscripts(frame, node.args[0])
    vals = [frame.kept(array_of(frame, a), node) for a in node.args[1:]]
    operands, result = _parsed(frame, node, text, vals)
    base = vals[0].kind.base
    for val in vals[1:]:
        base = common(frame, node, Val(val.expr, array(base, 1)), val)
    if base == "bool":
        raise frame.refused(node, "np.einsum takes numbers", "convert: a.astype(int)", DIFFER)
    if base in INTS and any(v.kind.rank == 0 for v in vals):
        base = "long"
    vals = [frame.kept(converted(frame, v, base), node) for v in vals]
    return _sums(frame, node, vals, operands, result, base)


def _subscripts(frame: Frame, node: py.expr) -> str:
    """The text, which is a constant."""
    found = node.value if isinstance(node, py.Constant) else frame.unit.resolve(frame, node)
    if not isinstance(found, str):
        help = 'write it as text, or as a constant outside: np.einsum("ij,jk->ik", a, b)'
        raise frame.refused(node, "the subscripts must be known when the function is captured", help, ARGUMENTS)
    return found.replace(" ", "")


def _parsed(frame: Frame, node: py.Call, text: str, vals: list[Val]) -> tuple[list[Letters], Letters]:
    """The letters of each operand's axes, and of the result's; `...` gets letters of its own. Raises `SacError` for
    text that means nothing, or does not fit the operands."""
    where = node.args[0]

    def wrong(message: str, help: str = 'it looks like "ij,jk->ik"') -> Exception:
        return frame.refused(where, message, help, ARGUMENTS)

    left, arrow, right = text.partition("->")
    parts = left.split(",")
    if len(parts) != len(vals):
        raise wrong(f"there are subscripts for {len(parts)} arrays, and {len(vals)} are given")
    for part in (*parts, right):
        if not all(c.isascii() and c.isalpha() for c in part.replace("...", "", 1)):
            raise wrong(f"{part!r} are no subscripts", "use letters, and ... once for all axes that are not named")
    operands: list[Letters] = []
    most = 0
    for part, val in zip(parts, vals):
        rank, named = val.kind.rank, len(part.replace("...", ""))
        if rank is None:
            raise wrong("an array of unknown rank has no subscripts", 'annotate it: Double["n", "m"]')
        if named > rank or (named < rank and "..." not in part):
            raise wrong(f"the subscripts {part!r} are for {named} axes, and the array has {rank}")
        more = [f".{k}" for k in range(rank - named, 0, -1)]  # counted from the last, since those go together
        most = max(most, len(more))
        before, _, after = part.partition("...")
        operands.append([*before, *more, *after])
    every = [f".{k}" for k in range(most, 0, -1)]
    times = Counter(letter for letters in operands for letter in letters)
    if arrow:
        before, dots, after = right.partition("...")
        if every and not dots:
            raise wrong("the result has no place for the axes of '...'", f"write ->...{right}")
        result = [*before, *(every if dots else ()), *after]
    else:
        result = [*every, *sorted(c for c in times if c[0] != "." and times[c] == 1)]
    for letter, count in Counter(result).items():
        if count > 1:
            raise wrong(f"the result has the subscript {letter} more than once")
        if letter not in times:
            raise wrong(f"the result's subscript {letter} is that of no array")
    return operands, result


def _sums(frame: Frame, node: py.Call, vals: list[Val], operands: list[Letters], result: Letters, base: str) -> Val:
    span = frame.span(node)
    extents: dict[str, ast.Expr | None] = {}  # None: all are known to be 1
    for val, letters in zip(vals, operands):
        for axis, letter in enumerate(letters):
            own = None if axis in val.kind.ones else build.extent(val.expr, axis, span)
            known = extents.get(letter)
            if own is not None and known is not None and own != known:
                own = frame.support("same_extent", [known, own], span)
            extents[letter] = own if own is not None else known
    names = {letter: frame.fresh("k") for letter in extents}

    def bounds(letters: Letters) -> list[ast.Expr]:
        return [build.integer(1, span) if (e := extents[c]) is None else e for c in letters]

    value: ast.Expr | None = None
    for val, letters in zip(vals, operands):
        at = tuple(
            build.integer(0, span) if axis in val.kind.ones else build.var(names[letter], span)
            for axis, letter in enumerate(letters)
        )
        one = ast.Select(val.expr, at, span) if at else val.expr
        value = one if value is None else build.binary("*", value, one, span)
    assert value is not None
    summed = [c for c in extents if c not in result]
    if summed:
        zero = number(frame, node, 0, base)
        operator = ast.FoldOp(ast.QName(None, "+", span), (), zero, None, span)
        value = build.withloop([names[c] for c in summed], bounds(summed), [], value, operator, span)
    ones = frozenset(axis for axis, c in enumerate(result) if extents[c] is None)
    if result:
        value = build.comprehension([names[c] for c in result], value, bounds(result), span)
    return Val(value, array(base, len(result), ones))


NUMPY[np.einsum] = _einsum
