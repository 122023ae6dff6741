"""Which elements of an array code reads: its accesses, whatever names and shapes the array goes by there.

In: a block, the name of an array from outside of it. Out: an `Access` for each use of the array, in inner blocks too.

    v = view a[d]                     a read at [d,i]: views are followed
    r = reshape v to [m,2]
    x = load r[i,j]                   one at [i,j] of [m,2], behind [d]
    call f(a)                         one at []: of all of it

What an access reads is the part of the array at its index, along the first axes; all of the part where the index is
shorter than the array has axes.
"""

from __future__ import annotations

from collections.abc import Iterator

from sacpy.jit.ir import graph as g
from sacpy.nodes import Node


class Access(Node):
    """A read. `index`: along the first axes of the array; `element`: of one element, so that this is all of its index.
    `within`: where what lies there was given other extents, these; `inner`: the index in that."""

    index: tuple[g.Atom, ...]
    element: bool = False
    within: tuple[g.Atom, ...] = ()
    inner: tuple[g.Atom, ...] = ()


def accesses(body: g.Block, name: str) -> Iterator[Access]:
    """What a block reads of an array from outside of it. What is no load reads all of what it mentions: so does an
    update, which reads what it leaves. Blocks that hand the array out read it as well."""
    known = {name: Access(())}
    waiting = [body]
    while waiting:
        b = waiting.pop()
        for s in b.statements:
            if not isinstance(s, g.Let):
                continue
            rhs = s.rhs
            if rhs.__class__ is g.Load:
                assert isinstance(rhs, g.Load)
                if rhs.array.name in known:
                    yield _at(known[rhs.array.name], rhs.index, element=True)
                continue
            if isinstance(rhs, g.Var | g.View | g.Reshape):
                array = rhs if isinstance(rhs, g.Var) else rhs.array
                if array.name in known:
                    known[s.targets[0].name] = _seen(known[array.name], rhs)
                continue
            for a in g.operands(rhs):
                if isinstance(a, g.Var) and a.name in known:
                    yield known[a.name]
            waiting += g.blocks(rhs)
        for a in b.results:
            if isinstance(a, g.Var) and a.name in known:
                yield known[a.name]


def _at(before: Access, index: tuple[g.Atom, ...], *, element: bool) -> Access:
    """A part of what has been selected before."""
    if before.within:
        return Access(before.index, element, before.within, (*before.inner, *index))
    return Access((*before.index, *index), element)


def _seen(before: Access, rhs: g.Var | g.View | g.Reshape) -> Access:
    """What another name stands for."""
    if isinstance(rhs, g.View):
        return _at(before, rhs.index, element=False)
    if not isinstance(rhs, g.Reshape):
        return before
    if before.inner:  # a part of what has other extents: no part of the array along its own axes
        return Access(before.index)
    return Access(before.index, False, rhs.extents)
