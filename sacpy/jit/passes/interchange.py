"""Arrays that a counting loop adds up, one after the other: each element is a sum of its own.

    r = for j from l to u with a := zeros            r = with [m] disjoint complete
        w = load x[j]                                        genarray double
        t = with [m] disjoint complete                       part [0] <= [c] < [m]
                genarray double                                  s = with
                part [0] <= [c] < [m]                                fold from 0.0 by add
                    y = load v[j,c]            ->                    part [l] <= [j] < [u]
                    p = mul w, y                                         w = load x[j]
                    b = load a[c]                                        y = load v[j,c]
                    z = add b, p                                         p = mul w, y
                    yield z                                              yield p
        next t                                                   yield s

Where the first array is not full of one number, the sums begin with its elements. So no sum in the making is written to
memory and read again, and elements can be computed at the same time. The order of each sum stays. This pays where a
round's elements lie side by side, which tiles of sums read in order (`analysis/contractions`); of other loops it would
make leaps through memory.
"""

from __future__ import annotations

from collections.abc import Mapping

from sacpy.jit.ir.graph import (
    ArrayType,
    Atom,
    Block,
    Const,
    Fold,
    For,
    Function,
    Genarray,
    Let,
    Load,
    Modarray,
    Op,
    Partition,
    Rhs,
    ScalarType,
    Stmt,
    Unit,
    Var,
    WithLoop,
    integer,
    statements,
)
from sacpy.jit.ir.operations import TRANSCENDENTAL
from sacpy.jit.ir.rewrite import copied, uses
from sacpy.jit.passes.units import per_function
from sacpy.jit.passes.walker import Walker
from sacpy.lang.constants import zero
from sacpy.lang.types import BITS, REAL
from sacpy.nodes import Node, replace

_TERMS = frozenset(["add", "sub", "mul", "neg"])


class _Sum(Node):
    """A loop that adds arrays up: with-loop `w` of the round makes the next sum, whose element is the last one's,
    `old`, and `term`."""

    loop: For
    w: WithLoop
    old: Var
    term: Var

    @property
    def part(self) -> Partition:
        return self.w.partitions[0]


class _Interchanger(Walker):
    def rhs(self, r: Rhs) -> Rhs:
        r = super().rhs(r)
        if isinstance(r, For):
            found, start = _sum(r), _start(r, self.definitions)
            if found is not None and start is not None:
                return self.interchanged(found, start)
        return r

    def interchanged(self, s: _Sum, start: Const | Var) -> WithLoop:
        """The sums of all elements, which begin with a number or with the elements of an array."""
        scalar = ScalarType(start.base)
        first: Atom = start if isinstance(start, Const) else self.supply.var("x", scalar)
        loaded = (
            (Let((first,), Load(start, s.part.index), s.part.span),)
            if isinstance(start, Var) and isinstance(first, Var)
            else ()
        )
        acc, val, more, total = (self.supply.var(stem, scalar) for stem in ("acc", "val", "t", "s"))
        terms = tuple(
            x
            for x in s.part.body.statements
            if isinstance(x, Let) and x.targets[0] not in (s.old, *s.part.body.results)
        )
        fold = Fold((first,), (acc,), (val,), Block((Let((more,), Op("add", (acc, val))),), (more,)))
        inner = Partition(
            (s.loop.lower,),
            (s.loop.upper,),
            None,
            None,
            (s.loop.index,),
            Block((*s.loop.body.statements[:-1], *terms), (s.term,)),
            (),
            s.part.span,
        )
        body = Block((*loaded, Let((total,), WithLoop(None, (inner,), (fold,), disjoint=True), s.part.span)), (total,))
        default = start if isinstance(start, Const) else Const(start.base, zero(start.base))
        return replace(
            s.w,
            partitions=(replace(s.part, body=copied(body, {}, self.supply)),),
            operators=(Genarray(start.base, (), default),),
        )


def _sum(r: For) -> _Sum | None:
    """What a loop adds up, if that is all it does, and it pays."""
    if r.step != 1 or len(r.params) != 1 or not r.body.statements:
        return None
    (array,), (result,) = r.params, r.body.results
    *before, last = r.body.statements
    if (
        not isinstance(array.type, ArrayType)
        or not (array.base in REAL or BITS.get(array.base, 0) >= 32)
        or not isinstance(last, Let)
        or last.targets != (result,)
        or not isinstance(last.rhs, WithLoop)
    ):
        return None
    w = last.rhs
    if len(w.partitions) != 1 or len(w.operators) != 1 or w.frame != array.type.extents or not w.complete:
        return None
    (part,), (operator,) = w.partitions, w.operators
    own = isinstance(operator, Modarray) and operator.array == array
    if not own and not (isinstance(operator, Genarray) and not operator.cell):
        return None
    if (
        part.step is not None
        or part.lower != tuple(integer(0) for _ in part.index)
        or part.upper != w.frame
        or uses(r.body)[array.name] != 1 + own
    ):
        return None
    made = {t: s.rhs for s in part.body.statements if isinstance(s, Let) for t in s.targets}
    (value,) = part.body.results
    op = made.get(value) if isinstance(value, Var) else None
    if not isinstance(value, Var) or not isinstance(op, Op) or op.code != "add":
        return None
    for old, term in (op.args, op.args[::-1]):
        if (
            isinstance(old, Var)
            and isinstance(term, Var)
            and old != term
            and made.get(old) == Load(array, part.index)
            and uses(part.body)[old.name] == 1 == uses(part.body)[value.name]
        ):
            found = _Sum(r, w, old, term)
            return found if _pays(found, before) else None
    return None


def _pays(s: _Sum, before: list[Stmt]) -> bool:
    """Whether terms are arithmetic on elements that lie side by side along the last axis, or are the same for all of
    it; some of the former are others in each round. What stands before the with-loop is the same for all: it may divide
    too, but is to be no dear function, since wide rows are added up a tile at a time."""
    last = s.part.index[-1]
    others = False
    made: set[Atom] = set()  # in a round: no index of a load
    for position, x in enumerate((*before, *s.part.body.statements)):
        if not isinstance(x, Let) or not isinstance(x.rhs, Op | Load) or x.targets[0].type != ScalarType(s.old.base):
            return False
        made.update(x.targets)
        if isinstance(x.rhs, Load):
            if last in x.rhs.index[:-1] or not made.isdisjoint(x.rhs.index):
                return False
            others |= x.rhs.index[-1] == last and s.loop.index in x.rhs.index
        elif x.rhs.code not in _TERMS and (position >= len(before) or x.rhs.code in TRANSCENDENTAL):
            return False
    return others


def _start(r: For, definitions: Mapping[str, Rhs]) -> Const | Var | None:
    """What the sums begin with: the element of which the first array is full, if it is known, or that array."""
    (first,) = r.initial
    w = definitions.get(first.name) if isinstance(first, Var) else None
    if (
        isinstance(w, WithLoop)
        and not w.partitions
        and len(w.operators) == 1
        and isinstance(w.operators[0], Genarray)
        and isinstance(w.operators[0].default, Const)
    ):
        return w.operators[0].default
    return first if isinstance(first, Var) else None


def interchange(function: Function) -> Function:
    """A function with such loops as sums; itself if it has none."""
    if not any(
        isinstance(s, Let) and isinstance(s.rhs, For) and _sum(s.rhs) is not None for s in statements(function.body)
    ):
        return function
    return _Interchanger(function).function(function)


def run(unit: Unit) -> Unit:
    """A unit with loops that add up arrays as sums."""
    return per_function(unit, interchange)
