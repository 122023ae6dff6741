"""Counting loops that add to elements of an array wherever the data say, such as histograms: cut into pieces that each
fill an array of their own, so that they may run at the same time; then these are added up.

    h = for i from l to u step 1 with p := g          s = (u - l) / c, for a number c of pieces
      j, v = ...                                      w = with [c]: for k from 0 to s with z := zeros:
      a = load p[j]                           ->                    i = l + c * s + k; .. update z[j] ..
      b = add a, v                                    q = for k from 0 to c with p := g: with [m]: p + w[k]
      q = update p[j] with b                          h = for i from l + c * s to u with p := q: ...
      next q

Only sums and bitwise operations of integers, which may be taken in any order. There are few pieces, and none where the
loop is short for the size of the array; then all is done by the last loop, as before.
"""

from __future__ import annotations

from sacpy.jit.ir.graph import (
    INT,
    ArrayType,
    Atom,
    Block,
    Check,
    Const,
    For,
    Function,
    Genarray,
    Let,
    Load,
    Op,
    Partition,
    ScalarType,
    Stmt,
    Unit,
    Update,
    Var,
    WithLoop,
    integer,
    statements,
)
from sacpy.jit.ir.rewrite import copied, uses
from sacpy.jit.passes.units import per_function
from sacpy.jit.passes.walker import Walker
from sacpy.lang.types import REAL
from sacpy.nodes import Node

PIECES = 16
ROUNDS = 4000  # of a piece, at least
PER_ELEMENT = 8  # rounds of a piece for each element of the array, at least
_NEUTRAL = {"add": 0, "bitor": 0, "bitxor": 0, "bitand": -1}


class _Scatter(Node):
    """What a round does: `code` combines an element with a value."""

    code: str
    param: Var
    base: str
    extent: Atom


class _Cutter(Walker):
    def let(self, s: Let) -> None:
        super().let(s)
        last = self.out[-1]
        assert isinstance(last, Let)
        if isinstance(last.rhs, For):
            found = _scatter(last.rhs)
            if found is not None:
                self.out.pop()
                self.cut(last, last.rhs, found)

    def op(self, stem: str, code: str, *args: Atom) -> Atom:
        """A number computed in front of the loop."""
        return self.emit(stem, Op(code, args, exact=code in ("add", "sub", "mul")))

    def cut(self, s: Let, r: For, h: _Scatter) -> None:
        """Emits the pieces, their sum, and the loop over the rest."""
        start = self.op("start", "min", r.lower, r.upper)
        rounds = self.op(
            "rounds", "sub", self.op("rounds", "max", r.upper, integer(0)), self.op("start", "max", start, integer(0))
        )
        wanted = self.op(
            "piece",
            "max",
            self.emit(
                "piece",
                Op("mul", (self.op("piece", "min", h.extent, integer(1 << 27)), integer(PER_ELEMENT)), exact=True),
            ),
            integer(ROUNDS),
        )
        pieces = self.op("pieces", "min", self.op("pieces", "div", rounds, wanted), integer(PIECES))
        length = self.op("length", "div", rounds, self.op("divisor", "max", pieces, integer(1)))
        neutral = Const(h.base, _NEUTRAL[h.code])
        parts = self.supply.var("parts", ArrayType(h.base, (pieces, h.extent)))
        self.define(
            (parts,),
            WithLoop(
                (pieces,),
                (self.piece(r, h, pieces, length, start, neutral),),
                (Genarray(h.base, (h.extent,), neutral),),
                disjoint=True,
                complete=True,
            ),
            s.span,
        )
        (given,) = r.initial
        assert isinstance(given, Var)
        whole = self.supply.var("whole", given.type)
        self.define((whole,), self.total(h, given, parts, pieces, neutral), s.span)
        rest = self.op("rest", "add", start, self.op("done", "mul", pieces, length))
        self.define(s.targets, For(r.index, rest, r.upper, 1, r.params, (whole,), r.body, few=True), s.span)

    def piece(self, r: For, h: _Scatter, pieces: Atom, length: Atom, start: Atom, neutral: Const) -> Partition:
        """Fills an array by a part of the rounds."""
        new = self.supply.var
        c, k, base, i = new("c", INT), new("k", INT), new("base", INT), new(r.index.name, INT)
        first = new("first", INT)
        zeros, param, filled = (new(stem, h.param.type) for stem in ("zeros", h.param.name, "filled"))
        body = copied(r.body, {r.index.name: i, h.param.name: param}, self.supply)
        inner = Block((Let((i,), Op("add", (first, k), exact=True)), *body.statements), body.results)
        before: list[Stmt] = [
            Let((base,), Op("mul", (c, length), exact=True)),
            Let((first,), Op("add", (start, base), exact=True)),
            Let((zeros,), WithLoop((h.extent,), (), (Genarray(h.base, (), neutral),), disjoint=True)),
            Let((filled,), For(k, integer(0), length, 1, (param,), (zeros,), inner)),
        ]
        return Partition((integer(0),), (pieces,), None, None, (c,), Block(tuple(before), (filled,)))

    def total(self, h: _Scatter, given: Var, parts: Var, pieces: Atom, neutral: Const) -> For:
        """The given array with all pieces added, one after the other: each lies side by side."""
        new, element = self.supply.var, ScalarType(h.base)
        c, j = new("c", INT), new("j", INT)
        sofar, more = new("sum", h.param.type), new("sum", h.param.type)
        a, x, both = (new(stem, element) for stem in ("a", "x", "t"))
        body = Block(
            (Let((a,), Load(sofar, (j,))), Let((x,), Load(parts, (c, j))), Let((both,), Op(h.code, (a, x)))), (both,)
        )
        part = Partition((integer(0),), (h.extent,), None, None, (j,), body)
        adding = WithLoop((h.extent,), (part,), (Genarray(h.base, (), neutral),), disjoint=True, complete=True)
        return For(c, integer(0), pieces, 1, (sofar,), (given,), Block((Let((more,), adding),), (more,)))


def _scatter(r: For) -> _Scatter | None:
    """What a loop adds to an array, if that is all it does."""
    if r.step != 1 or len(r.params) != 1 or len(r.body.results) != 1:
        return None
    (p,), (result,) = r.params, r.body.results
    if (
        not isinstance(p.type, ArrayType)
        or p.type.rank != 1
        or p.base in REAL
        or p.base == "bool"
        or not isinstance(r.initial[0], Var)
    ):
        return None
    made = {s.targets[0]: s.rhs for s in r.body.statements if isinstance(s, Let)}
    if not all(
        isinstance(s, Check) or isinstance(s.rhs, Op | Load | Var | Const) or s.targets[0] == result
        for s in r.body.statements
    ):
        return None
    count = uses(r.body)
    update = made.get(result) if isinstance(result, Var) else None
    if (
        not isinstance(update, Update)
        or update.array != p
        or count[p.name] != 2
        or not isinstance(update.value, Var)
        or update.index == (r.index,)
    ):
        return None
    op = made.get(update.value)
    if not isinstance(op, Op) or op.code not in _NEUTRAL or count[update.value.name] != 1:
        return None
    for old in op.args:
        load = made.get(old) if isinstance(old, Var) else None
        if (
            isinstance(old, Var)
            and isinstance(load, Load)
            and load.array == p
            and load.index == update.index
            and count[old.name] == 1
        ):
            return _Scatter(op.code, p, p.base, p.type.extents[0])
    return None


def scatter(function: Function) -> Function:
    """A function with such loops cut; itself if it has none."""
    if not any(
        isinstance(s, Let) and isinstance(s.rhs, For) and _scatter(s.rhs) is not None for s in statements(function.body)
    ):
        return function
    return _Cutter(function).function(function)


def run(unit: Unit) -> Unit:
    """A unit with such loops cut."""
    return per_function(unit, scatter)
