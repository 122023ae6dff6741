"""The table of primitives: for each, how to make the function that evaluates it on values of any rank.

In: the base type its arguments share, `cell`, and `attrs` (see `core.Prim`). Out: a function of values. Generated code
calls these where it has no faster way; the element-wise ones on scalars are written out as expressions instead.
`modarray` is written out too; its row here is the version that copies.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from sacpy.interp import arithmetic, memory
from sacpy.interp.runtime import structure
from sacpy.interp.runtime.elementwise import elementwise
from sacpy.interp.values import Value
from sacpy.lang.primitives import PRIMITIVES

Maker = Callable[[str, int, tuple[object, ...]], Callable[..., Value]]


def _modarray(a: Value, iv: Value, value: Value, cell: int = 0) -> Value:
    memory.room(a.nbytes)
    result = a.copy()
    structure.set_at(result, iv, value, cell)
    return result


def _constant(op: str) -> Maker:
    def make(base: str, cell: int, attrs: tuple[object, ...]) -> Callable[..., Value]:
        value = eval(arithmetic.constant_of(op, base))
        return lambda a: value

    return make


def _in_rows(which: int) -> Callable[..., Value]:
    from sacpy.withloop.arithmetic import place_in_rows

    return lambda number, least, growth, rows: place_in_rows(number, least, growth, rows)[which]


def _simple(function: Callable[..., Value]) -> Maker:
    return lambda base, cell, attrs: function


def _with_cell(function: Callable[..., Value]) -> Maker:
    return lambda base, cell, attrs: partial(function, cell=cell) if cell else function


STRUCTURAL: dict[str, Maker] = {
    "dim": _with_cell(structure.dim),
    "device": _simple(lambda a: False),
    "shape": _with_cell(structure.shape),
    "sel": _with_cell(structure.sel),
    "modarray": _with_cell(_modarray),
    "reshape": lambda base, cell, attrs: (
        partial(structure.reshape, cell=cell) if cell else partial(structure.reshape_scalar, base=base)
    ),
    "cat": _simple(structure.cat),
    "take": _simple(structure.take),
    "drop": _simple(structure.drop),
    "mask": _simple(structure.mask),
    "all": _simple(structure.all_of),
    "any": _simple(structure.any_of),
    "ravel": _simple(structure.ravel),
    "like": lambda base, cell, attrs: structure.like_of(str(attrs[0]) if attrs else ""),
    "require": lambda base, cell, attrs: structure.require_of(*map(str, attrs or ("", "", ""))),
    "slice": lambda base, cell, attrs: structure.slice_of(str(attrs[0]), cell),
    "place": lambda base, cell, attrs: structure.place_of(str(attrs[0]), cell),
    "row": lambda base, cell, attrs: _in_rows(0),
    "column": lambda base, cell, attrs: _in_rows(1),
    **{op: _simple(lambda n, a: a) for op in ("hideValue", "hideShape", "hideDim")},
    **{op: _constant(op) for op in ("zero", "one", "minval", "maxval")},
}


def _elementwise(op: str) -> Maker:
    return lambda base, cell, attrs: elementwise(op, base)


EVALUATION: dict[str, Maker] = {op: STRUCTURAL.get(op) or _elementwise(op) for op in PRIMITIVES}


@cache
def evaluate(op: str, base: str, cell: int = 0, attrs: tuple[Any, ...] = ()) -> Callable[..., Value]:
    """The function that evaluates a primitive."""
    return EVALUATION[op](base, cell, attrs)
