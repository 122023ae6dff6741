"""Flattening: a with-loop of which each cell is a with-loop becomes one of higher rank, so that no cell is made and
copied.

    a = with [n] genarray cell [m]               a = with [n,m] genarray
      part [0] <= [i] < [n]                        part [0,0] <= [i,j] < [n,m]
        x = load u[i]                                x = load u[i]
        row = with [m] genarray              ->      yield x
          part [0] <= [j] < [m]
            yield x
        yield row

What stands in front of the inner loop is done for every element then, so it must be cheap and must not be an array; the
inner bounds must not depend on the outer index; the inner partition must cover the cell.

A cell that is one array or another, as a condition says, is a with-loop of elements that are one or the other:

    row = if c                                   row = with [m] genarray
      give v                                       part [0] <= [j] < [m]
    else                                             z = if c
      w = with [m] genarray                            y = load v[j]
        part [0] <= [j] < [m]              ->          give y
          x = load u[i,j]                            else
          yield x                                      x = load u[i,j]
      give w                                           give x
                                                     yield z

That is worth it where both are cheap: vectors compute both.
"""

from __future__ import annotations

from collections.abc import Iterator

from sacpy.jit.analysis.costs import cost
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.names import Names
from sacpy.jit.ir.operations import ROUTINES
from sacpy.jit.ir.rewrite import bound, copied, has_only, new_arrays, rights
from sacpy.jit.passes.mappings import stands
from sacpy.jit.passes.repeated_work import CHEAP
from sacpy.jit.passes.simplify import Simplifier, whole
from sacpy.jit.passes.units import wherever
from sacpy.nodes import replace

BOTH = 12  # statements of a conditional cell, both branches and what is in them together


class _Flattener:
    def __init__(self, function: g.Function) -> None:
        self.walk = Simplifier(function)
        self.walk.take_over(rhs=self.rhs)

    def rhs(self, r: g.Rhs) -> g.Rhs:
        new = Simplifier.rhs(self.walk, r)
        if not isinstance(new, g.WithLoop):
            return new
        if _is_conditional(new):
            (p,) = new.partitions
            within = replace(new, partitions=(replace(p, body=_with_elements(p.body, self.walk.supply)),))
            if (found := flat(within)) is not within:
                return found
        return flat(new)


def flat(w: g.WithLoop) -> g.WithLoop:
    """The with-loop with its cells' loops made its own, if it is of that kind."""
    if stands(w) or w.frame is None or len(w.operators) != 1 or len(w.partitions) != 1:
        return w
    operator, p = w.operators[0], w.partitions[0]
    if not isinstance(operator, g.Genarray) or not operator.cell or isinstance(operator.default.type, g.ArrayType):
        return w
    found = _inner(p.body)
    if found is None:
        return w
    before, loop = found
    inner = loop.partitions[0]
    step, width = (None if x is None else (*x, *(g.integer(1) for _ in inner.index)) for x in (p.step, p.width))
    body = g.Block((*before, *inner.body.statements), inner.body.results)
    merged = g.Partition(
        (*p.lower, *inner.lower),
        (*p.upper, *inner.upper),
        step,
        width,
        (*p.index, *inner.index),
        body,
        p.pragmas,
        p.span,
    )
    return replace(w, frame=(*w.frame, *operator.cell), operators=(replace(operator, cell=()),), partitions=(merged,))


def _inner(b: g.Block) -> tuple[tuple[g.Stmt, ...], g.WithLoop] | None:
    """What stands before the with-loop that gives the cell, and this with-loop."""
    if not b.statements:
        return None
    *before, last = b.statements
    if not (isinstance(last, g.Let) and isinstance(last.rhs, g.WithLoop) and last.targets == b.results):
        return None
    loop = last.rhs
    if loop.frame is None or len(loop.operators) != 1 or len(loop.partitions) != 1:
        return None
    operator, p = loop.operators[0], loop.partitions[0]
    if not isinstance(operator, g.Genarray) or operator.cell or not whole(p, loop.frame):
        return None
    if any(isinstance(e, g.Var) and e.name in bound(b) for e in loop.frame):
        return None
    cheap = g.Block(tuple(before))
    if not all(not isinstance(s, g.Let) or isinstance(s.rhs, g.Op | g.Load) for s in before) or cost(cheap) > CHEAP:
        return None
    return tuple(before), loop


def _is_conditional(w: g.WithLoop) -> bool:
    """Whether the cells of a with-loop are made under a condition, of arrays that are there or element by element."""
    if len(w.partitions) != 1 or len(w.operators) != 1 or not isinstance(w.operators[0], g.Genarray):
        return False
    b = w.partitions[0].body
    last = b.statements[-1] if b.statements else None
    if not (isinstance(last, g.Let) and isinstance(last.rhs, g.If) and last.targets == b.results):
        return False
    mine, (cell,) = bound(b), last.targets
    if any(isinstance(e, g.Var) and e.name in mine for e in g.extents_of(cell)) or not g.extents_of(cell):
        return False
    made = [(end, _inner(end) is not None) for end in _ends(last.rhs)]
    return (
        all(is_loop or _is_there(end, mine) for end, is_loop in made)
        and any(is_loop for _, is_loop in made)
        and len(list(g.statements(g.Block((last,))))) <= BOTH
        and has_only(g.Block((last,)), g.Op, g.Load, g.View, g.If, g.WithLoop)
        and all(op.code not in ROUTINES for op in rights(g.Block((last,)), g.Op))
    )


def _ends(r: g.If) -> Iterator[g.Block]:
    """The blocks that give the array, whatever the conditions are."""
    for b in (r.then, r.otherwise):
        last = b.statements[-1] if b.statements else None
        if isinstance(last, g.Let) and isinstance(last.rhs, g.If) and last.targets == b.results:
            yield from _ends(last.rhs)
        else:
            yield b


def _is_there(b: g.Block, mine: set[str]) -> bool:
    """Whether what a block gives is there already, or is a part of such."""
    (value,) = b.results
    views = {s.targets[0].name for s in b.statements if isinstance(s, g.Let) and isinstance(s.rhs, g.View)}
    return isinstance(value, g.Var) and (value.name not in mine or value.name in views)


def _with_elements(b: g.Block, supply: Names) -> g.Block:
    """The body of a conditional cell, with the condition inside of one loop over elements."""
    *before, last = b.statements
    assert isinstance(last, g.Let) and isinstance(last.rhs, g.If)
    (cell,) = last.targets
    index = tuple(supply.var("at", g.INT) for _ in g.extents_of(cell))
    body = _element(g.Block((last,), last.targets), index, supply)
    return g.Block((*before, new_arrays((cell,), index, body, last.span)), b.results)


def _element(b: g.Block, index: tuple[g.Var, ...], supply: Names) -> g.Block:
    """A block that gives an element of what another one gives."""
    (value,) = b.results
    assert isinstance(value, g.Var) and isinstance(value.type, g.ArrayType)
    element = supply.var(value.name, g.ScalarType(value.type.base))
    last = b.statements[-1] if b.statements else None
    if isinstance(last, g.Let) and value in last.targets:
        if isinstance(last.rhs, g.If):
            then, otherwise = (_element(x, index, supply) for x in (last.rhs.then, last.rhs.otherwise))
            chosen = g.Let((element,), g.If(last.rhs.condition, then, otherwise), last.span)
            return g.Block((*b.statements[:-1], chosen), (element,))
        if isinstance(last.rhs, g.WithLoop):
            (p,) = last.rhs.partitions
            inner = copied(p.body, {i.name: a for i, a in zip(p.index, index)}, supply)
            return g.Block((*b.statements[:-1], *inner.statements), inner.results)
    return g.Block((*b.statements, g.Let((element,), g.Load(value, index))), (element,))


@wherever(lambda r: isinstance(r, g.WithLoop) and (_is_conditional(r) or flat(r) is not r))
def run(function: g.Function) -> g.Function:
    """A unit with its nested with-loops flattened."""
    return _Flattener(function).walk.function(function)
