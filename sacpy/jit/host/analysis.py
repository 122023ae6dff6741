"""What the lowering knows of a function before it writes it: which ints serve as indices, which blocks a vectoriser can take, which carried arrays are updated.

In: a function of a unit. Out: `Facts`, which the lowering asks while it writes.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

from sacpy.jit.graph import (
    ArrayType,
    Atom,
    Block,
    Call,
    Check,
    Cons,
    For,
    Function,
    If,
    Let,
    Load,
    Loop,
    Modarray,
    Op,
    Reshape,
    Rhs,
    Stmt,
    Update,
    Var,
    View,
    WithLoop,
    inner_binders,
    statements,
)
from sacpy.jit.host.overwriting import sums_of
from sacpy.lang.types import REAL
from sacpy.nodes import Node


class Facts(Node):
    """`indices`: names of int variables that are used as indices, bounds or extents, or that such are computed from without wrapping. They exist in 64 bits as well. `made`: by variable, the operation without wrapping that it was set to. `products`: variables that are set to products of reals."""

    indices: frozenset[str]
    made: Mapping[str, Op]
    products: frozenset[str]

    @staticmethod
    def of(function: Function) -> Facts:
        """The facts of a function."""
        found: set[str] = set()
        waiting = [a.name for a in _indices(function) if isinstance(a, Var)]
        made = sums_of(function)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                rhs = made.get(name)
                if rhs is not None:
                    waiting += [a.name for a in rhs.args if isinstance(a, Var) and a.base == "int"]
        products = frozenset(s.targets[0].name for s in statements(function.body) if isinstance(s, Let) and isinstance(s.rhs, Op) and s.rhs.code == "mul" and s.targets[0].base in REAL)
        return Facts(frozenset(found), made, products)

    def is_difference_of_products(self, op: Op) -> bool:
        """x y - z w, which is exactly 0 where both are the same: a cross product tells by it what lies on a line, so one of the two must not be more exact than the other."""
        return op.code == "sub" and all(isinstance(a, Var) and a.name in self.products for a in op.args)


def _indices(function: Function) -> Iterator[Atom]:
    yield from _extents(function.params)
    for s in statements(function.body):
        if isinstance(s, Let):
            yield from _extents(s.targets)
            yield from _extents(inner_binders(s.rhs))
            yield from _index_operands(s.rhs)


def _extents(variables: Iterable[Var]) -> Iterator[Atom]:
    for v in variables:
        if isinstance(v.type, ArrayType):
            yield from v.type.extents


def _index_operands(rhs: Rhs) -> Iterator[Atom]:
    match rhs:
        case Load() | View() | Update():
            yield from rhs.index
        case Reshape():
            yield from rhs.extents
        case For():
            yield from (rhs.lower, rhs.upper, rhs.index)
        case WithLoop():
            yield from rhs.frame or ()
            for p in rhs.partitions:
                yield from (*p.lower, *p.upper, *(p.step or ()), *(p.width or ()), *p.index)


def is_straight(block: Block, built: Container[str] = ()) -> bool:
    """Whether a block has neither loops, calls nor new arrays: LLVM can vectorise a loop around it. `built`: results that are built in a place that is there already."""
    return all(_is_straight(s, built) for s in block.statements)


def _places(block: Block, built: Iterable[bool]) -> Container[str]:
    """Which of a block's results are built in a place that is there already."""
    return {a.name for a, is_built in zip(block.results, built) if is_built and isinstance(a, Var)}


def cells(block: Block) -> Container[str]:
    """The results of the body of a with-loop that are arrays of scalars side by side: they are built in the array that they go to."""
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
    """Whether a loop's body updates (directly, in a branch, or in an inner loop) the array that it carries under a name."""
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
