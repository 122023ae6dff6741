"""Kernels whose accesses keep to each axis: an index beyond the extent of its axis leaves the array.

In: a kernel program. Out: the same one, in which every load, store and atomic asks whether each of its indices is
there, and goes far beyond the array where one is not. So the interpreter of PTX finds accesses that are in bounds only
because rows lie behind one another: the end of a row is the next row's begin, that of a tile often padding.

Axes whose extents the kernel is not given are not asked for: those are first ones, whose end is that of the array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.nodes import replace

FAR = 1 << 20  # along the first axis: beyond every array of a test
Visit = Callable[[Any], tuple[Any, ...] | None]  # what stands in the place of a statement; None: itself


def rewritten(body: Sequence[Any], visit: Visit) -> tuple[Any, ...]:
    """The statements with others in their places."""
    found: list[Any] = []
    for s in body:
        instead = visit(s)
        if instead is not None:
            found += instead
            continue
        inner = {n: rewritten(getattr(s, n), visit) for n in ("body", "then", "otherwise") if hasattr(s, n)}
        if isinstance(s, k.While):
            inner["condition"] = rewritten(s.condition, visit)
        found.append(replace(s, **inner) if inner else s)
    return tuple(found)


def strictly(kernel: k.Kernel) -> k.Kernel:
    """The kernel whose accesses keep to each axis."""
    given = {v.name for v in kernel.params}
    numbers = count()

    def op(code: tuple[list[k.ThreadStmt], str], name: str, type_: Any, *args: g.Atom) -> g.Var:
        statements, prefix = code
        v = g.Var(f"{prefix}.{next(numbers)}", type_)
        statements.append(k.Let(v, g.Op(name, args)))
        return v

    def inside(array: g.Var, index: tuple[g.Atom, ...]) -> tuple[list[k.ThreadStmt], tuple[g.Atom, ...]]:
        """Code before an access, and its index."""
        code: tuple[list[k.ThreadStmt], str] = ([], "strict")
        there: g.Atom | None = None
        for i, e in zip(index, g.extents_of(array), strict=True):
            if isinstance(e, g.Var) and (e.name not in given or i.base != e.base):
                continue
            if isinstance(i, g.Const) and isinstance(e, g.Const) and 0 <= int(i.value) < int(e.value):
                continue
            end = g.Const(i.base, int(e.value)) if isinstance(e, g.Const) else e
            for a, name, b in ((g.Const(i.base, 0), "le", i), (i, "lt", end)):
                held = op(code, name, g.BOOL, a, b)
                there = held if there is None else op(code, "and", g.BOOL, there, held)
        if there is None:
            return [], index
        first = op(code, "select", index[0].type, there, index[0], g.Const(index[0].base, FAR))
        return code[0], (first, *index[1:])

    def visit(s: Any) -> tuple[Any, ...] | None:
        match s:
            case k.Let(rhs=g.Load(array=array, index=index) as load):
                code, at = inside(array, index)
                return (*code, replace(s, rhs=replace(load, index=at)))
            case k.Store(array=array, index=index) | k.Atomic(array=array, index=index):
                code, at = inside(array, index)
                return (*code, replace(s, index=at))
        return None

    return replace(kernel, body=rewritten(kernel.body, visit))
