"""Blocks that a vectoriser can take, and updates that move a part of an array within it.

In: a block; an update. Out: yes or no.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import rights


def is_straight(block: g.Block, built: Container[str] = ()) -> bool:
    """Whether a block has neither loops, calls nor new arrays: LLVM can vectorise a loop around it. `built`: results
    that are built in a place that is there already."""
    return all(_is_straight(s, built) for s in block.statements)


def _places(block: g.Block, built: Iterable[bool]) -> Container[str]:
    """Which of a block's results are built in a place that is there already."""
    return {a.name for a, is_built in zip(block.results, built) if is_built and isinstance(a, g.Var)}


def cells(block: g.Block) -> Container[str]:
    """The results of the body of a with-loop that are arrays of scalars side by side: they are built in the array that
    they go to."""
    return _places(block, (isinstance(a.type, g.ArrayType) for a in block.results))


def is_straight_cell(body: g.Block, in_place: bool) -> bool:
    """Whether LLVM can vectorise a loop around the body of a with-loop. `in_place`: cells made of scalars are built
    where they are to be; elsewhere each round holds on to a cell while that is copied, which is a call."""
    if not in_place and any(isinstance(a.type, g.ArrayType) for a in body.results):
        return False
    return is_straight(body, cells(body) if in_place else ())


def _is_straight(s: g.Stmt, built: Container[str]) -> bool:
    if isinstance(s, g.Check):
        return True
    match s.rhs:
        case g.If(then=then, otherwise=otherwise):
            return all(is_straight(b, _places(b, [t.name in built for t in s.targets])) for b in (then, otherwise))
        case g.Update(value=value):
            return not isinstance(value.type, g.ArrayType)
        case g.Loop() | g.For() | g.WithLoop() | g.Call():
            return False
        case g.Cons():
            return s.targets[0].name in built
        case _:
            return not any(isinstance(t.type, g.ArrayType) for t in s.targets) or isinstance(
                s.rhs, g.View | g.Reshape | g.Var
            )


def is_guarded(block: g.Block) -> bool:
    """Whether something stands before a load of a block that may keep it from being done: a condition, or a check."""
    checks = any(isinstance(s, g.Check) for s in g.statements(block))
    return checks or any(True for r in rights(block, g.If) for b in g.blocks(r) for _ in rights(b, g.Load))


def has_guarded_vectors(w: g.WithLoop) -> bool:
    """Whether that is so in a loop of a with-loop that LLVM could vectorise."""
    return any(is_straight_cell(p.body, in_place=True) and is_guarded(p.body) for p in w.partitions)


def is_row_of(view: g.View | None, update: g.Update) -> bool:
    """Whether what an update puts into an array is one of the parts that the array has there: the same part, or one
    that has no element in common with it."""
    return view is not None and view.array == update.array and len(view.index) == len(update.index)


def makes_array(s: g.Let) -> bool:
    """Whether a statement makes an array, or changes one."""
    made = isinstance(s.rhs, g.Cons | g.Update | g.For | g.Loop | g.WithLoop)
    return made and any(isinstance(t.type, g.ArrayType) for t in s.targets)
