"""Slices: the row or column that all cells read of an array whose next version they are is copied first, so that the
array is changed where it lies.

    d = for k from 0 to n step 1 with d.1 := x        d = for k from 0 to n step 1 with d.1 := x
      d.2 = with [n,n] complete                         r = with [n] (load d.1[k,j]); c = with [n] (load d.1[i,k])
        genarray double default 0.0                     d.2 = with [n,n] complete
        part [0,0] <= [i,j] < [n,n]             ->        genarray double default 0.0
          x = load d.1[i,j]                               part [0,0] <= [i,j] < [n,n]
          y = load d.1[k,j]; z = load d.1[i,k]              x = load d.1[i,j]
          ..                                                y = load r[j]; z = load c[i]
      next d.2                                              ..
                                                        next d.2

That is how shortest paths, eliminations and exchanges of a basis are written with whole arrays. Along each axis the
index of a load is the cell's own, or one that all cells have in common, and which is known to be there. The array is
made or carried in a round of a loop, and nobody reads it later in it. Then two arrays, between which rounds go to and
fro, need twice the room in the caches.
"""

from __future__ import annotations

from collections.abc import Iterator

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import Rewriter, bound, free, loaded_only, new_arrays, rights
from sacpy.jit.passes.ranges import Ranges
from sacpy.jit.passes.simplify import Simplifier
from sacpy.jit.passes.units import wherever
from sacpy.nodes import Node, replace

SLICES = 4  # of an array, at most
LONG = 16  # cells along an axis that a slice leaves out, at least, as far as they are known

Slice = tuple[g.Atom | None, ...]  # the components of an index that all cells have in common; None: the cell's own


class _Sliced(Node):
    """An array of which a with-loop reads slices, besides the cells that take their places."""

    array: g.Var
    slices: tuple[Slice, ...]


def _in_rounds(function: g.Function) -> dict[int, list[_Sliced]]:
    """By the address of a with-loop in the rounds of a loop: what it reads slices of."""
    found: dict[int, list[_Sliced]] = {}
    loops: Iterator[g.For | g.Loop] = (r for r in rights(function.body) if isinstance(r, g.For | g.Loop))
    for r in loops:
        there = {v.name: v for v in r.params}
        statements = r.body.statements
        for k, s in enumerate(statements):
            if not isinstance(s, g.Let):
                continue
            if isinstance(s.rhs, g.WithLoop) and _is_new(s.rhs):
                later = free(g.Block(statements[k + 1 :], r.body.results))
                mine = (_sliced(s, s.rhs, v) for v in there.values() if v.name not in later)
                found[id(s.rhs)] = [x for x in mine if x is not None]
            there |= {t.name: t for t in s.targets}
    return {key: many for key, many in found.items() if many}


def _is_new(w: g.WithLoop) -> bool:
    """Whether a with-loop makes all of new arrays, scalar by scalar."""
    return w.complete and all(isinstance(o, g.Genarray) and not o.cell for o in w.operators)


def _sliced(s: g.Let, w: g.WithLoop, array: g.Var) -> _Sliced | None:
    """What a with-loop reads of an array, if that is cells that take their places, and a few slices."""
    bodies = [p.body for p in w.partitions]
    if not any(t.type == array.type for t in s.targets) or array.name not in loaded_only(*bodies):
        return None
    inner, slices = bound(g.Block((s,))), dict[Slice, None]()
    for p in w.partitions:
        for load in rights(p.body, g.Load):
            if load.array.name == array.name:
                found = _slice(load, p, inner)
                if found is None:
                    return None
                slices[found] = None
    own = (None,) * len(g.extents_of(array))
    rest = tuple(x for x in slices if x != own)
    return _Sliced(array, rest) if own in slices and 0 < len(rest) <= SLICES else None


def _slice(load: g.Load, p: g.Partition, inner: set[str]) -> Slice | None:
    """What a load reads for all indices of a partition; None if that is no slice. `inner`: what is set inside."""
    found: list[g.Atom | None] = []
    for i, a, extent in zip(p.index, load.index, g.extents_of(load.array)):
        if a != i and not _in_common(a, extent, inner):
            return None
        found.append(None if a == i else a)
    return tuple(found) if len(load.index) == len(p.index) else None


def _in_common(a: g.Atom, extent: g.Atom, inner: set[str]) -> bool:
    """Whether a component of an index is the same for all cells, along an axis that is long, and may be known to have
    it."""
    if isinstance(extent, g.Const):
        return extent.value >= LONG and (isinstance(a, g.Const) or a.name not in inner)
    return isinstance(a, g.Var) and a.name not in inner


def _from_copies(p: g.Partition, array: g.Var, copies: dict[Slice, g.Var]) -> g.Partition:
    """A partition that loads slices of an array from copies."""
    return replace(p, body=_FromCopies(p.index, array, copies).block(p.body))


class _FromCopies(Rewriter):
    """Has slices loaded from copies in a body with this index; a slice of one element is a variable."""

    def __init__(self, own: tuple[g.Var, ...], array: g.Var, copies: dict[Slice, g.Var]) -> None:
        super().__init__()
        self.own, self.array, self.copies = own, array, copies

    def rhs(self, r: g.Rhs) -> g.Rhs:
        if isinstance(r, g.Load) and r.array.name == self.array.name:
            found = self.copies.get(tuple(None if a == i else a for i, a in zip(self.own, r.index)))
            if found is not None:
                index = tuple(a for i, a in zip(self.own, r.index) if a == i)
                return g.Load(found, index) if index else found
        return super().rhs(r)


class _Copier:
    def __init__(self, function: g.Function, found: dict[int, list[_Sliced]]) -> None:
        self.found = found
        self.known = Ranges(Simplifier(function))
        self.walk = self.known.walk
        self.walk.take_over(rhs=self.rhs)

    def rhs(self, r: g.Rhs) -> g.Rhs:
        for sliced in self.found.get(id(r), ()):
            # also where no cell reads them, or there is a condition in front of that
            if all(self.known.is_there(x, sliced.array) for x in sliced.slices):
                assert isinstance(r, g.WithLoop)
                copies = {x: self.copy(sliced.array, x) for x in sliced.slices}
                r = replace(r, partitions=tuple(_from_copies(p, sliced.array, copies) for p in r.partitions))
        return self.known.rhs(r)

    def copy(self, array: g.Var, x: Slice) -> g.Var:
        """Copies a slice."""
        array, supply = self.walk.var(array), self.walk.supply
        at = tuple(supply.var("at", g.INT) if a is None else self.walk.atom(a) for a in x)
        index = tuple(i for i, a in zip(at, x) if a is None and isinstance(i, g.Var))
        element = supply.var("t", g.ScalarType(array.base))
        load = g.Let((element,), g.Load(array, at))
        if not index:
            self.walk.let(load)
            return element
        frame = tuple(extent for extent, a in zip(g.extents_of(array), x) if a is None)
        target = supply.var(array.name, g.ArrayType(array.base, frame))
        self.walk.let(new_arrays((target,), index, g.Block((load,), (element,))))
        return target


@wherever(lambda r: isinstance(r, g.For | g.Loop))
def run(function: g.Function) -> g.Function:
    """A unit whose loops change arrays where they lie, though their cells have slices of them in common."""
    found = _in_rounds(function)
    return _Copier(function, found).walk.function(function) if found else function
