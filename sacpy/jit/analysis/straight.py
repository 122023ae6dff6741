"""Blocks that a vectoriser can take, and arrays that loops change where they lie.

In: a block; the body of a loop. Out: yes or no.
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
    Modarray,
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


def updated_in(body: Block, name: str) -> bool:
    """Whether a loop's body updates (directly, in a branch, or in an inner loop) the array that it carries under a
    name."""
    return _Updates({name}).block(body)


class _Updates:
    """Follows an array through aliases, branches and inner loops."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def block(self, body: Block) -> bool:
        return any(isinstance(s, Let) and self.let(s) for s in body.statements)

    def let(self, s: Let) -> bool:
        match s.rhs:
            case Update(array=array):
                return array.name in self.names
            case Var(name=name):
                if name in self.names:
                    self.names.add(s.targets[0].name)
            case If(then=then, otherwise=otherwise):
                return self.block(then) or self.block(otherwise)
            case Loop(params=params, initial=initial, body=body) | For(params=params, initial=initial, body=body):
                self.names |= {p.name for p, a in zip(params, initial) if isinstance(a, Var) and a.name in self.names}
                return self.block(body)
            case WithLoop(operators=operators):
                return any(isinstance(o, Modarray) and o.array.name in self.names for o in operators)
        return False


def makes_array(s: Let) -> bool:
    """Whether a statement makes an array, or changes one."""
    made = isinstance(s.rhs, Cons | Update | For | Loop | WithLoop)
    return made and any(isinstance(t.type, ArrayType) for t in s.targets)
