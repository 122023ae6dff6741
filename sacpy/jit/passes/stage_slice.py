"""Parts of an array that rounds replace with what they compute from its other elements: computed aside, and then put
into the array, so that the rest of it need not be copied into a new one.

    x = loop y := z                                       x = loop y := z
      ..                                                    ..
      w = with [n]                                          empty = le to, from
        modarray y                                          room = sub to, from
        part [from] <= [i] < [to]                           size = select empty, 0, room
          a = load y[k]                            ->       part = with [size]: part [0] <= [j] < [size]
          ..                                                  i = add j, from
      next w                                                  a = load y[k]
                                                              ..
                                                            w = with [n]
                                                              modarray y
                                                              part [from] <= [i] < [to]
                                                                j = sub i, from
                                                                e = load part[j]

This is done where both bounds change from round to round: a part that moves is mostly a small one.
"""

from __future__ import annotations

from sacpy.jit.analysis.ints import Ints
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import bound, uses
from sacpy.jit.passes.units import wherever
from sacpy.jit.passes.walker import Walker
from sacpy.lang.constants import zero
from sacpy.nodes import replace


class _Setter(Walker):
    def __init__(self, function: g.Function) -> None:
        super().__init__(function)
        self.ints = Ints(function)

    def let(self, s: g.Let) -> None:
        if g.is_nested(s.rhs) and isinstance(s.rhs, g.For | g.Loop):
            s = g.Let(s.targets, replace(s.rhs, body=self.parted(s.rhs)), s.span)
        super().let(s)

    def parted(self, r: g.For | g.Loop) -> g.Block:
        """The body of a loop with such parts computed aside."""
        moving = bound(r.body) | {p.name for p in r.params} | ({r.index.name} if isinstance(r, g.For) else set())
        used = uses(r.body)
        found: list[g.Stmt] = []
        for s in r.body.statements:
            array = _array(s, moving, self.ints)
            if isinstance(s, g.Let) and array is not None and used[array.name] == _uses(s, array.name):
                found += self.staged(s, array)
            else:
                found.append(s)
        return replace(r.body, statements=tuple(found))

    def staged(self, s: g.Let, array: g.Var) -> list[g.Stmt]:
        """What takes the place of a with-loop that replaces a part of an array."""
        assert isinstance(s.rhs, g.WithLoop)
        (p,) = s.rhs.partitions
        (lower,), (upper,), (index,) = p.lower, p.upper, p.index
        empty, element = self.supply.var("empty", g.BOOL), self.supply.var("e", g.ScalarType(array.base))
        room, size, j, i, k = (self.supply.var(stem, g.INT) for stem in ("room", "size", "j", "i", "k"))
        part = self.supply.var("part", g.ArrayType(array.base, (size,)))
        body = replace(p.body, statements=(g.Let((index,), g.Op("add", (j, lower), True), s.span), *p.body.statements))
        computed = g.Partition((g.integer(0),), (size,), None, None, (j,), body, (), p.span)
        put = g.Block(
            (g.Let((k,), g.Op("sub", (i, lower), True), s.span), g.Let((element,), g.Load(part, (k,)), s.span)),
            (element,),
        )
        return [
            g.Let((empty,), g.Op("le", (upper, lower)), s.span),
            g.Let((room,), g.Op("sub", (upper, lower)), s.span),
            g.Let((size,), g.Op("select", (empty, g.integer(0), room)), s.span),
            g.Let(
                (part,),
                g.WithLoop(
                    (size,),
                    (computed,),
                    (g.Genarray(array.base, (), g.Const(array.base, zero(array.base))),),
                    disjoint=True,
                    complete=True,
                ),
                s.span,
            ),
            g.Let(s.targets, replace(s.rhs, partitions=(replace(p, index=(i,), body=put),)), s.span),
        ]


def _array(s: g.Stmt, moving: set[str], ints: Ints) -> g.Var | None:
    """The vector of which a statement replaces a moving part, where it cannot do so at once in the vector's memory."""
    if (
        not isinstance(s, g.Let)
        or not isinstance(s.rhs, g.WithLoop)
        or len(s.rhs.operators) != 1
        or len(s.rhs.partitions) != 1
    ):
        return None
    w, (operator,), (p,) = s.rhs, s.rhs.operators, s.rhs.partitions
    if (
        not isinstance(operator, g.Modarray)
        or operator.array.type != g.ArrayType(operator.array.base, w.frame or ())
        or p.rank != 1
        or p.step is not None
        or w.pragmas
        or p.pragmas
        or p.staged
    ):
        return None
    if (
        not all(isinstance(a, g.Var) and a.name in moving for a in (*p.lower, *p.upper))
        or operator.array.name not in moving
    ):
        return None
    from sacpy.jit.analysis.depends import ALWAYS, may_share

    return None if may_share(w, operator.array, ints) == ALWAYS else operator.array


def _uses(s: g.Let, name: str) -> int:
    return uses(g.Block((s,)))[name]


@wherever(lambda r: isinstance(r, g.For | g.Loop))
def run(function: g.Function) -> g.Function:
    """A unit whose loops compute parts of arrays aside."""
    return _Setter(function).function(function)
