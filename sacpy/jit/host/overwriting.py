"""Which with-loops may write into the memory of an array that they read.

In: a with-loop, an array, and what is known of the integers. Out: yes or no.

    with [n,n] disjoint                                        with a.1 = add! i, -1
        modarray u
        part [1,1] <= [i,j] < [m,m] step [2,2] width [1,1]
            .. load u[a.1,j] ..

Here only cells with odd indices change, and those that are read lie in rows with even ones. So do the pivot's row and column in a step of an elimination lie outside of the block that changes. A cell may always be read for its own new value.
"""

from __future__ import annotations

from collections.abc import Mapping

from sacpy.jit.graph import Atom, Block, Const, Function, Let, Load, Op, Partition, Var, WithLoop, operands, statements, stride

Sums = Mapping[str, Op]


def sums_of(function: Function) -> Sums:
    """The operations without overflow that a function's variables are set to."""
    return {s.targets[0].name: s.rhs for s in statements(function.body) if isinstance(s, Let) and isinstance(s.rhs, Op) and s.rhs.exact}


def linear(a: Atom, sums: Sums, opaque: str = "") -> tuple[Atom | None, int]:
    """An int as a variable and a number, without overflow. `sums`: the operations without overflow that variables were set to; `opaque`: a variable that is not looked behind."""
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
    """Whether the bodies of a with-loop read an array of that rank nowhere but where a cell is their own, or no cell changes."""
    single = w.disjoint or len(w.partitions) < 2
    return all(_reads_apart(p.body, name, w, p, sums, single and p.rank == rank) for p in w.partitions)  # a cell that is an array is built bit by bit: then not even its own may be read


def _reads_apart(body: Block, name: str, w: WithLoop, p: Partition, sums: Sums, cells: bool) -> bool:
    for s in statements(body):
        if isinstance(s, Let) and isinstance(s.rhs, Load) and s.rhs.array.name == name:
            if not cells or not (_is_own(s.rhs.index, p, sums) or all(_is_outside(s.rhs.index, p, q, sums) for q in w.partitions)):
                return False
        elif isinstance(s, Let) and any(isinstance(a, Var) and a.name == name for a in operands(s.rhs)):
            return False
    return not any(isinstance(a, Var) and a.name == name for a in body.results)


def _is_own(index: tuple[Atom, ...], p: Partition, sums: Sums) -> bool:
    """Whether an index is that of the cell that is computed."""
    return all(at == i or (at == lower and distance(lower, upper, sums) == 1) for at, i, lower, upper in zip(index, p.index, p.lower, p.upper))


def _is_outside(index: tuple[Atom, ...], p: Partition, q: Partition, sums: Sums) -> bool:
    """Whether an index in the body of `p` certainly lies outside of the partition `q`."""
    return any(_is_beyond(index[k], p, q, k, sums) or _is_between(index[k], p, q, k, sums) for k in range(q.rank))


def _is_beyond(at: Atom, p: Partition, q: Partition, axis: int, sums: Sums) -> bool:
    """Whether an index lies below the lower bound or above the upper one."""
    below, above = distance(at, q.lower[axis], sums), distance(q.upper[axis], at, sums)
    if (below is not None and below > 0) or (above is not None and above >= 0):
        return True
    base, offset = linear(at, sums)
    if base != p.index[axis]:
        return False
    first, last = distance(q.upper[axis], p.lower[axis], sums), distance(p.upper[axis], q.lower[axis], sums)
    return (first is not None and first + offset >= 0) or (last is not None and last - offset >= 0)


def _is_between(at: Atom, p: Partition, q: Partition, axis: int, sums: Sums) -> bool:
    """Whether an index falls into the gaps that a step leaves."""
    (step, width), (mine, wide) = stride(q, axis), stride(p, axis)
    base, offset = linear(at, sums)
    away = distance(q.lower[axis], p.lower[axis], sums)
    if step is None or step != mine or width is None or wide is None or base != p.index[axis] or away is None:
        return False
    first = (away + offset) % step
    return first >= width and first + wide <= step
