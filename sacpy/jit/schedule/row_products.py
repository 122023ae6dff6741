"""Rows that are products with a matrix, in the bodies of partitions: a block of rows is computed in tiles before the
bodies use it.

In: a partition. Out: its `RowProduct`s, and the partition without them.

    part [0] <= [i] < [n]                          for i0, in steps of 32:
      s = with [m] genarray                          block = s for rows i0, i0 + 1, ..., in tiles
        part [0] <= [j] < [m]                        for i from i0:
          t = sum over c of q[i,c] k[j,c]    ->        s = a row of the block
          yield t                                      top = with fold(max) ... s
      top = with fold(max) ... s                       ...
      ...

So each row of attention, say, which is a function of its own, is computed as fast as the product of two matrices; but
there is no array of all rows.
"""

from __future__ import annotations

from sacpy.jit.analysis.contractions import contraction, names_of
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import bound, free
from sacpy.jit.schedule.loops import Tiles
from sacpy.jit.schedule.tiles import tiles_of
from sacpy.nodes import Node, replace

ROWS = 32  # of a block


class RowProduct(Node):
    """`target` is set to `w`, whose partition, under the index of a row, is a contraction, of which a block of rows is
    computed in `tiles`. `needed`: what stands in front of `w` that its terms need."""

    target: g.Var
    w: g.WithLoop
    needed: tuple[g.Let, ...]
    tiles: Tiles


def row_products(p: g.Partition) -> tuple[RowProduct, ...]:
    """The products among the statements of a partition's body, in front of any check."""
    if p.rank < 1 or p.step is not None:
        return ()
    found: list[RowProduct] = []
    for number, s in enumerate(p.body.statements):
        if isinstance(s, g.Check):
            break
        product = _product(p, p.body.statements[:number], s)
        if product is not None:
            found.append(product)
    return tuple(found)


def without(p: g.Partition, products: tuple[RowProduct, ...]) -> g.Partition:
    """A partition whose body has the products from elsewhere."""
    made = {r.target for r in products}
    kept = tuple(s for s in p.body.statements if isinstance(s, g.Check) or not made.intersection(s.targets))
    return replace(p, body=g.Block(kept, p.body.results)) if products else p


def _product(p: g.Partition, before: tuple[g.Stmt, ...], s: g.Let) -> RowProduct | None:
    w = s.rhs
    if not isinstance(w, g.WithLoop) or len(w.operators) != 1 or len(w.partitions) != 1 or not w.complete:
        return None
    operator, inner = w.operators[0], w.partitions[0]
    if not isinstance(operator, g.Genarray) or operator.cell or inner.rank != 1 or inner.step is not None:
        return None
    changing = bound(p.body) | names_of(p.index)
    if names_of((*inner.lower, *inner.upper, *(w.frame or ()))) & changing:
        return None
    needed = _needed(inner.body, before)
    if free(inner.body).union(*(free(g.Block((x,))) for x in needed)) & bound(g.Block(before)) - {
        t.name for x in needed for t in x.targets
    }:
        return None
    merged = g.Partition(
        (*p.lower, *inner.lower),
        (*p.upper, *inner.upper),
        None,
        None,
        (*p.index, *inner.index),
        g.Block((*needed, *inner.body.statements), inner.body.results),
    )
    c = contraction(merged)
    return RowProduct(s.targets[0], w, needed, tiles_of(c)) if c is not None and c.packed else None


def _needed(b: g.Block, before: tuple[g.Stmt, ...]) -> tuple[g.Let, ...]:
    """Operations and loads in front of a block that it needs."""
    names, kept = free(b), list[g.Let]()
    for s in reversed(before):
        if isinstance(s, g.Let) and isinstance(s.rhs, g.Op | g.Load) and s.targets[0].name in names:
            names |= free(g.Block((s,)))
            kept.append(s)
    return tuple(reversed(kept))
