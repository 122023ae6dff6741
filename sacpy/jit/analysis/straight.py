"""Blocks that a vectoriser can take, and updates that move a part of an array within it.

In: a block; an update. Out: yes or no.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from sacpy.jit.ir.graph import (
    ArrayType,
    Block,
    Call,
    Check,
    Cons,
    For,
    If,
    Let,
    Loop,
    Reshape,
    Stmt,
    Update,
    Var,
    View,
    WithLoop,
)


def is_straight(block: Block, built: Container[str] = ()) -> bool:
    """Whether a block has neither loops, calls nor new arrays: LLVM can vectorise a loop around it. `built`: results
    that are built in a place that is there already."""
    return all(_is_straight(s, built) for s in block.statements)


def _places(block: Block, built: Iterable[bool]) -> Container[str]:
    """Which of a block's results are built in a place that is there already."""
    return {a.name for a, is_built in zip(block.results, built) if is_built and isinstance(a, Var)}


def cells(block: Block) -> Container[str]:
    """The results of the body of a with-loop that are arrays of scalars side by side: they are built in the array that
    they go to."""
    return _places(block, (isinstance(a.type, ArrayType) for a in block.results))


def _is_straight(s: Stmt, built: Container[str]) -> bool:
    if isinstance(s, Check):
        return True
    match s.rhs:
        case If(then=then, otherwise=otherwise):
            return all(is_straight(b, _places(b, [t.name in built for t in s.targets])) for b in (then, otherwise))
        case Update(value=value):
            return not isinstance(value.type, ArrayType)
        case Loop() | For() | WithLoop() | Call():
            return False
        case Cons():
            return s.targets[0].name in built
        case _:
            return not any(isinstance(t.type, ArrayType) for t in s.targets) or isinstance(s.rhs, View | Reshape | Var)


def is_row_of(view: View | None, update: Update) -> bool:
    """Whether what an update puts into an array is one of the parts that the array has there: the same part, or one
    that has no element in common with it."""
    return view is not None and view.array == update.array and len(view.index) == len(update.index)


def makes_array(s: Let) -> bool:
    """Whether a statement makes an array, or changes one."""
    made = isinstance(s.rhs, Cons | Update | For | Loop | WithLoop)
    return made and any(isinstance(t.type, ArrayType) for t in s.targets)
