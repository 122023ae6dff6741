"""Counting loops that add to elements of an array wherever the data say, such as histograms: cut into pieces that each
fill an array of their own, so that they may run at the same time; then these are added up.

    h = for i from l to u step 1 with p := g          s = (u - l) / c, for a number c of pieces
      j, v = ...                                      w = with [c]: for k from 0 to s with z := zeros:
      a = load p[j]                           ->                    i = l + c * s + k; .. update z[j] ..
      b = add a, v                                    q = for k from 0 to c with p := g: with [m]: p + w[k]
      q = update p[j] with b                          h = for i from l + c * s to u with p := q: ...
      next q

A loop may do so to several arrays, of any rank. What combines may be taken in pieces: sums, bitwise and logical
operations, extremes (of reals those in which NaN stays once it came, see `analysis/scans`), pieces being combined in
order; sums of reals are regrouped (`run_reals`) as those of folds are, unless floating point is strict. Pieces have a
number that depends on the extents only. There are few of them, and none where the loop is short for the size of the
arrays; then all is done by the last loop, as before.
"""

from __future__ import annotations

from collections.abc import Mapping

from sacpy.jit.analysis.folds import Reduction
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
    Rhs,
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
from sacpy.nodes import Node, replace

PIECES = 16
ROUNDS = 4000  # of a piece, at least
PER_ELEMENT = 8  # rounds of a piece for each element of the array, at least
_EXACT = frozenset(["add", "bitand", "bitor", "bitxor", "min", "max", "or", "and"])


class _Scatter(Node):
    """What a round does to an array: it combines an element `old` with a `value`, by `steps` of which `new` comes.
    `neutral`: what combines with anything to that."""

    param: Var
    given: Var
    old: Var
    value: Atom
    steps: tuple[Let, ...]
    new: Atom
    neutral: Const

    @property
    def extents(self) -> tuple[Atom, ...]:
        assert isinstance(self.param.type, ArrayType)
        return self.param.type.extents


class _Cutter(Walker):
    """`reals`: sums of reals too."""

    def __init__(self, function: Function, reals: bool) -> None:
        super().__init__(function)
        self.reals = reals

    def let(self, s: Let) -> None:
        super().let(s)
        last = self.out[-1]
        assert isinstance(last, Let)
        if isinstance(last.rhs, For):
            found = _scatters(last.rhs, self.reals)
            if found:
                self.out.pop()
                self.cut(last, last.rhs, found)

    def op(self, stem: str, code: str, *args: Atom) -> Atom:
        """A number computed in front of the loop."""
        return self.emit(stem, Op(code, args, exact=code in ("add", "sub", "mul")))

    def elements(self, extents: tuple[Atom, ...]) -> Atom:
        """How many elements there are, or as many as are too many."""
        if len(extents) == 1:
            return self.op("piece", "min", extents[0], integer(1 << 27))
        count: Atom = Const("double", 1.0)
        for e in extents:
            count = self.emit("count", Op("mul", (count, self.emit("count", Op("tod", (e,))))))
        return self.emit("piece", Op("toi", (self.emit("count", Op("min", (count, Const("double", float(1 << 27))))),)))

    def cut(self, s: Let, r: For, found: list[_Scatter]) -> None:
        """Emits the pieces, their sums, and the loop over the rest."""
        start = self.op("start", "min", r.lower, r.upper)
        rounds = self.op(
            "rounds", "sub", self.op("rounds", "max", r.upper, integer(0)), self.op("start", "max", start, integer(0))
        )
        wanted: Atom = integer(ROUNDS)
        for extents in dict.fromkeys(h.extents for h in found):
            most = self.emit("piece", Op("mul", (self.elements(extents), integer(PER_ELEMENT)), exact=True))
            wanted = self.op("piece", "max", most, wanted)
        pieces = self.op("pieces", "min", self.op("pieces", "div", rounds, wanted), integer(PIECES))
        length = self.op("length", "div", rounds, self.op("divisor", "max", pieces, integer(1)))
        parts = [self.supply.var("parts", ArrayType(h.param.base, (pieces, *h.extents))) for h in found]
        self.define(
            tuple(parts),
            WithLoop(
                (pieces,),
                (self.piece(r, found, pieces, length, start),),
                tuple(Genarray(h.param.base, h.extents, h.neutral) for h in found),
                disjoint=True,
                complete=True,
            ),
            s.span,
        )
        whole = [self.supply.var("whole", h.given.type) for h in found]
        for h, part, target in zip(found, parts, whole):
            self.define((target,), self.total(h, part, pieces), s.span)
        rest = self.op("rest", "add", start, self.op("done", "mul", pieces, length))
        self.define(s.targets, For(r.index, rest, r.upper, 1, r.params, tuple(whole), r.body, few=True), s.span)

    def piece(self, r: For, found: list[_Scatter], pieces: Atom, length: Atom, start: Atom) -> Partition:
        """Fills arrays by a part of the rounds."""
        new = self.supply.var
        c, k, base, i = new("c", INT), new("k", INT), new("base", INT), new(r.index.name, INT)
        first = new("first", INT)
        zeros = tuple(new("zeros", h.param.type) for h in found)
        params = tuple(new(h.param.name, h.param.type) for h in found)
        filled = tuple(new("filled", h.param.type) for h in found)
        renamed: dict[str, Atom] = {h.param.name: p for h, p in zip(found, params)}
        body = copied(r.body, {r.index.name: i, **renamed}, self.supply)
        inner = Block((Let((i,), Op("add", (first, k), exact=True)), *body.statements), body.results)
        before: list[Stmt] = [
            Let((base,), Op("mul", (c, length), exact=True)),
            Let((first,), Op("add", (start, base), exact=True)),
            *(
                Let((z,), WithLoop(h.extents, (), (Genarray(h.param.base, (), h.neutral),), disjoint=True))
                for z, h in zip(zeros, found)
            ),
            Let(filled, For(k, integer(0), length, 1, params, zeros, inner)),
        ]
        return Partition((integer(0),), (pieces,), None, None, (c,), Block(tuple(before), filled))

    def total(self, h: _Scatter, parts: Var, pieces: Atom) -> For:
        """The given array with all pieces added, one after the other: each lies side by side."""
        new, element = self.supply.var, ScalarType(h.param.base)
        c, index = new("c", INT), tuple(new("j", INT) for _ in h.extents)
        sofar, more = new("sum", h.param.type), new("sum", h.param.type)
        a, x = (new(stem, element) for stem in ("a", "x"))
        combining = [
            Let(t.targets, replace(t.rhs, args=tuple(x if y == h.value else y for y in t.rhs.args)))
            for t in h.steps
            if isinstance(t.rhs, Op)
        ]
        steps = copied(Block(tuple(combining), (h.new,)), {h.old.name: a}, self.supply)
        body = Block(
            (Let((a,), Load(sofar, index)), Let((x,), Load(parts, (c, *index))), *steps.statements), steps.results
        )
        part = Partition(tuple(integer(0) for _ in index), h.extents, None, None, index, body)
        adding = WithLoop(h.extents, (part,), (Genarray(h.param.base, (), h.neutral),), disjoint=True, complete=True)
        return For(c, integer(0), pieces, 1, (sofar,), (h.given,), Block((Let((more,), adding),), (more,)))


def _scatters(r: For, reals: bool) -> list[_Scatter]:
    """What a loop adds to its arrays, if that is all it does."""
    if r.step != 1 or not r.params:
        return []
    made = {s.targets[0]: s.rhs for s in r.body.statements if isinstance(s, Let)}
    count = uses(r.body)
    results = set(r.body.results)
    if not all(
        isinstance(s, Check) or isinstance(s.rhs, Op | Load | Var | Const) or s.targets[0] in results
        for s in r.body.statements
    ):
        return []
    found = [_scatter(r, k, made, count, reals) for k in range(len(r.params))]
    if reals and not any(h is not None and len(h.steps) == 1 and h.param.base in REAL for h in found):
        return []  # cut already
    return [h for h in found if h is not None] if all(found) else []


def _scatter(r: For, k: int, made: Mapping[Var, Rhs], count: Mapping[str, int], reals: bool) -> _Scatter | None:
    """What a loop adds to one of its arrays."""
    p, result, given = r.params[k], r.body.results[k], r.initial[k]
    if not isinstance(p.type, ArrayType) or not isinstance(given, Var) or not isinstance(result, Var):
        return None
    update = made.get(result)
    if (
        not isinstance(update, Update)
        or update.array != p
        or len(update.index) != p.type.rank
        or r.index in update.index
    ):
        return None
    combined = _combined(p.base, update.value, made, count, reals)
    if combined is None:
        return None
    code, old, value, steps = combined
    load = made.get(old)
    if not isinstance(load, Load) or load.array != p or load.index != update.index or count[p.name] != 2:
        return None
    neutral = Const(p.base, Reduction((code,), (p.base,)).neutral(0))
    return _Scatter(p, given, old, value, steps, update.value, neutral)


def _combined(
    base: str, new: Atom, made: Mapping[Var, Rhs], count: Mapping[str, int], reals: bool
) -> tuple[str, Var, Atom, tuple[Let, ...]] | None:
    """The operation that combines an element with a value, both, and the statements that do it, which nobody else
    needs."""

    def op(a: Atom) -> Op | None:
        rhs = made.get(a) if isinstance(a, Var) and count[a.name] == 1 else None
        return rhs if isinstance(rhs, Op) else None

    def is_element(a: Atom, times: int) -> bool:
        return isinstance(a, Var) and isinstance(made.get(a), Load) and count[a.name] == times

    last = op(new)
    if last is None or not isinstance(new, Var):
        return None
    if last.code == "select" and base in REAL:  # s >= x || s != s ? s : x
        test, old, value = last.args
        either = op(test)
        if either is None or either.code != "or" or not isinstance(test, Var) or not isinstance(old, Var):
            return None
        for relation, nan in (either.args, either.args[::-1]):
            compared, unequal = op(relation), op(nan)
            if compared is None or unequal != Op("neq", (old, old)) or not is_element(old, 4):
                continue
            if compared.code in ("le", "ge") and set(compared.args) == {old, value}:
                assert isinstance(relation, Var) and isinstance(nan, Var)
                larger = (compared.code == "ge") == (compared.args[0] == old)
                steps = (Let((relation,), compared), Let((nan,), unequal), Let((test,), either), Let((new,), last))
                return "max" if larger else "min", old, value, steps
        return None
    if last.code not in (("add",) if base in REAL and reals else () if base in REAL else _EXACT):
        return None
    if base == "bool" and last.code not in ("and", "or"):
        return None
    for old, value in (last.args, last.args[::-1]):
        if is_element(old, 1) and isinstance(old, Var) and value != old:
            return last.code, old, value, (Let((new,), last),)
    return None


def scatter(function: Function, reals: bool = False) -> Function:
    """A function with such loops cut; itself if it has none."""
    if not any(
        isinstance(s, Let) and isinstance(s.rhs, For) and _scatters(s.rhs, reals) for s in statements(function.body)
    ):
        return function
    return _Cutter(function, reals).function(function)


def run(unit: Unit) -> Unit:
    """A unit with such loops cut."""
    return per_function(unit, scatter)


def run_reals(unit: Unit) -> Unit:
    """The same, those on reals included whose sums are regrouped."""
    return per_function(unit, lambda function: scatter(function, reals=True))
