"""Which with-loops may write into the memory of an array that they read.

In: a with-loop, an array, and what is known of the integers. Out: yes or no, or if some extents are multiples of some
numbers.

    with [n,n] disjoint                                        with a.1 = add! i, -1
        modarray u
        part [1,1] <= [i,j] < [m,m] step [2,2] width [1,1]
            .. load u[a.1,j] ..

Here only cells with odd indices change, and those that are read lie in rows with even ones. So do the pivot's row and
column in a step of an elimination lie outside of the block that changes. A cell may always be read for its own new
value. Where indices wrap around, as those of the points of one colour may, a row may be that of `sub! a.1, n` too: it
is an even one if n is even, which is known when the code runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from math import gcd
from typing import TYPE_CHECKING

from sacpy.jit.ir.graph import (
    Atom,
    Block,
    Const,
    Function,
    Let,
    Load,
    Op,
    Partition,
    Var,
    WithLoop,
    operands,
    statements,
    stride,
)

if TYPE_CHECKING:
    from sacpy.jit.analysis.footprints import Footprints

Prints = Callable[[], "Footprints"]  # made when first asked: most with-loops read nothing they may overwrite
Sums = Mapping[str, Op]
Multiple = tuple[Var, int]  # an extent, and what it is to be a multiple of

FEW = 9  # divisors of a step below this are tried
DEPTH = 8  # operations that are looked behind, one after the other


def sums_of(function: Function) -> Sums:
    """The operations without overflow that a function's variables are set to; selections, remainders and the least of
    ints are such."""
    return {
        s.targets[0].name: s.rhs
        for s in statements(function.body)
        if isinstance(s, Let) and isinstance(s.rhs, Op) and (s.rhs.exact or _is_choice(s.rhs))
    }


def _is_choice(op: Op) -> bool:
    return op.code in ("select", "aplmod", "min") and op.args[-1].base == "int"


def linear(a: Atom, sums: Sums, opaque: str = "") -> tuple[Atom | None, int]:
    """An int as a variable and a number, without overflow. `sums`: the operations without overflow that variables were
    set to; `opaque`: a variable that is not looked behind."""
    offset = 0
    while isinstance(a, Var):
        op = sums.get(a.name)
        if op is None or op.code not in ("add", "sub") or a.name == opaque:
            return a, offset
        x, y = op.args
        if op.code == "add" and isinstance(x, Const):
            x, y = y, x
        if not isinstance(y, Const):
            return a, offset
        a, offset = x, offset + (int(y.value) if op.code == "add" else -int(y.value))
    return None, offset + int(a.value)


def distance(a: Atom, b: Atom, sums: Sums) -> int | None:
    """b - a, where it is known."""
    (x, i), (y, j) = linear(a, sums), linear(b, sums)
    return j - i if x == y else None


def may_overwrite(w: WithLoop, name: str, rank: int, sums: Sums) -> bool:
    """Whether the bodies of a with-loop read an array of that rank nowhere but where a cell is their own, or no cell
    changes."""
    return overwriting(w, name, rank, sums) == frozenset()


def overwriting(w: WithLoop, name: str, rank: int, sums: Sums) -> frozenset[Multiple] | None:
    """What must be so for that; None if nothing is known to be enough."""
    single = w.disjoint or len(w.partitions) < 2
    needed: frozenset[Multiple] = frozenset()

    @cache
    def prints() -> Footprints:
        from sacpy.jit.analysis.footprints import Footprints

        return Footprints(w, sums)

    for p in w.partitions:
        # a cell that is an array is built bit by bit: then not even its own may be read
        found = _reading_apart(p.body, name, w, p, prints, sums, single and p.rank == rank)
        if found is None:
            return None
        needed |= found
    return needed


def _reading_apart(
    body: Block, name: str, w: WithLoop, p: Partition, prints: Prints, sums: Sums, cells: bool
) -> frozenset[Multiple] | None:
    needed: frozenset[Multiple] = frozenset()
    for s in statements(body):
        if isinstance(s, Let) and isinstance(s.rhs, Load) and s.rhs.array.name == name:
            if not cells:
                return None
            for q in () if _is_own(s.rhs.index, p, sums) else w.partitions:
                found = _outside(s.rhs.index, p, q, w.frame or (), prints, sums)
                if found is None:
                    return None
                needed |= found
        elif isinstance(s, Let) and any(isinstance(a, Var) and a.name == name for a in operands(s.rhs)):
            return None
    return None if any(isinstance(a, Var) and a.name == name for a in body.results) else needed


def _is_own(index: tuple[Atom, ...], p: Partition, sums: Sums) -> bool:
    """Whether an index is that of the cell that is computed."""
    return all(
        at == i or (at == lower and distance(lower, upper, sums) == 1)
        for at, i, lower, upper in zip(index, p.index, p.lower, p.upper)
    )


def _outside(
    index: tuple[Atom, ...], p: Partition, q: Partition, frame: tuple[Atom, ...], prints: Prints, sums: Sums
) -> frozenset[Multiple] | None:
    """What must be so for an index in the body of `p` to lie outside of the partition `q`: because of the axis for
    which that is least."""
    found = (_apart(index[k], p, q, k, frame[k], prints, sums) for k in range(q.rank))
    return min((f for f in found if f is not None), key=len, default=None)


def _apart(
    at: Atom, p: Partition, q: Partition, axis: int, extent: Atom, prints: Prints, sums: Sums
) -> frozenset[Multiple] | None:
    """What must be so for a component of an index to do so, whatever it is selected from."""
    needed: frozenset[Multiple] = frozenset()
    for a in _cases(at, sums):
        found = frozenset() if prints().stays_apart(a, q, axis) else _between(a, p, q, axis, extent, sums)
        if found is None:
            return None
        needed |= found
    return needed


def _cases(a: Atom, sums: Sums, depth: int = DEPTH) -> Iterator[Atom]:
    """What a number is selected from."""
    op = sums.get(a.name) if isinstance(a, Var) and depth else None
    if op is not None and op.code == "select":
        for case in op.args[1:]:
            yield from _cases(case, sums, depth - 1)
    else:
        yield a


def _between(at: Atom, p: Partition, q: Partition, axis: int, extent: Atom, sums: Sums) -> frozenset[Multiple] | None:
    """What must be so for an index to fall into the gaps that a step leaves."""
    (step, width), (mine, wide) = stride(q, axis), stride(p, axis)
    if step is None or mine is None or width is None or wide is None:
        return None
    together = gcd(step, mine)
    turns = (*(turn for turn in range(2, min(together, FEW)) if together % turn == 0), together)
    found = (_off(at, p, q, axis, turn, extent, sums) for turn in turns)
    return min((f for f in found if f is not None), key=len, default=None)


def _off(
    at: Atom, p: Partition, q: Partition, axis: int, turn: int, extent: Atom, sums: Sums
) -> frozenset[Multiple] | None:
    """What must be so for an index to leave other rests than those of `q` if it is divided by `turn`, of which the
    steps of both partitions are multiples."""
    (_, width), (_, wide) = stride(q, axis), stride(p, axis)
    assert width is not None and wide is not None
    away, index = residue(at, turn, sums), p.index[axis].name
    here = away.pop(index, 0)
    if here not in (0, 1):
        return None
    if here:
        away.update(residue(_start(p, axis, extent, sums), turn, sums))
    away.subtract(residue(_start(q, axis, extent, sums), turn, sums))
    first = away.pop("", 0) % turn
    left = {n for n, c in away.items() if c % turn}
    if first < width or first + (wide if here else 1) > turn:
        return None
    if not left:
        return frozenset()
    return frozenset({(extent, turn)}) if isinstance(extent, Var) and left == {extent.name} else None


def _start(p: Partition, axis: int, extent: Atom, sums: Sums) -> Atom:
    """The first index of a partition along an axis, if it has one: of the least of something and what no index reaches,
    the former."""
    lower = p.lower[axis]
    op = sums.get(lower.name) if isinstance(lower, Var) else None
    if op is not None and op.code == "min":
        for a, other in (op.args, op.args[::-1]):
            if other in (p.upper[axis], extent):
                return a
    return lower


def residue(a: Atom, turn: int, sums: Sums, depth: int = DEPTH) -> Counter[str]:
    """Variables by how often they are in a sum that leaves the same rest as an int if both are divided by `turn`; its
    constant is that of "" itself."""
    if isinstance(a, Const):
        return Counter({"": int(a.value)})
    op = sums.get(a.name) if depth else None
    if op is not None and op.code in ("add", "sub", "neg"):
        found = Counter[str]()
        for k, b in enumerate(op.args):
            minus = op.code == "neg" or (op.code == "sub" and k)
            (found.subtract if minus else found.update)(residue(b, turn, sums, depth - 1))
        return found
    if (
        op is not None
        and op.code == "aplmod"
        and isinstance(op.args[1], Const)
        and op.args[1].value > 0
        and op.args[1].value % turn == 0
    ):
        return residue(op.args[0], turn, sums, depth - 1)
    return Counter({a.name: 1})
