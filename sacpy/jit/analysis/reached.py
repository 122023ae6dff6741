"""Which elements of arrays the code of many threads reads, and which checks in it hold, computed for all of their
indices at once.

In: the code of one index, and for each of its index variables the values that it has, an array of numbers; the arrays
in question. Out: for each array the elements that each index reads, or that it may read any; the code without the
checks that hold at all indices, and with shifts for divisions that are such. Code is run on whole
vectors of indices: what comes of elements is not known, a loop with known bounds has an axis of its own, and what a
condition keeps from being read counts as read. So no index expression is too odd for it, as long as only numbers are in
it: shifts, remainders, exclusive ors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import Rewriter
from sacpy.nodes import Record, field

Numbers = NDArray[np.int64]
_LARGEST = 2**31 - 1
_MOST = 1 << 20  # numbers in a vector

_CALCULATED: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "bitand": np.bitwise_and,
    "bitor": np.bitwise_or,
    "bitxor": np.bitwise_xor,
    "neg": np.negative,
    "select": np.where,
    "eq": np.equal,
    "neq": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
}


class Read(Record):
    """`cells`: the elements of an array that each index reads, an index a row; None: it may read any."""

    array: str
    cells: Numbers | None


class _Part(Record):
    """An array as what is left of a whole one: where it begins, and its extents."""

    array: str
    offset: Any
    extents: tuple[g.Atom, ...]


class Reached(Record):
    """`tracked`: the arrays in question, with the numbers of their extents. `reads`: what was found so far."""

    tracked: Mapping[str, tuple[int, ...]]
    count: int
    env: dict[str, Any] = field(default_factory=dict)
    reads: list[Read] = field(default_factory=list)
    depth: int = 1
    rounds: int = 1  # of the loops around, all together
    holds: dict[int, bool] = field(default_factory=dict)  # whether a statement is superfluous, by identity

    def run(self, b: g.Block) -> None:
        """Takes in the code of a block."""
        for s in b.statements:
            if isinstance(s, g.Let):
                self._let(s)
                if isinstance(s.rhs, g.Op) and s.rhs.code in ("div", "mod"):
                    first = self._value(s.rhs.args[0])
                    self._note(s, first is not None and bool(np.all(np.greater_equal(first, 0))))
            else:
                found = self._value(s.condition)
                self._note(s, found is not None and bool(np.all(found)))
        for r in b.results:
            self._whole(r)

    def _note(self, s: g.Stmt, holds: bool) -> None:
        self.holds[id(s)] = self.holds.get(id(s), True) and holds

    # ---- values

    def _value(self, a: g.Atom) -> Any:
        """The numbers that an atom has, one for each index, or one for all; None: not known."""
        if isinstance(a, g.Const):
            return a.value if not isinstance(a.value, float) else None
        found = self.env.get(a.name)
        return None if isinstance(found, _Part) else found

    def _part(self, a: g.Atom) -> _Part | None:
        if not isinstance(a, g.Var):
            return None
        found = self.env.get(a.name)
        if isinstance(found, _Part):
            return found
        return _Part(a.name, 0, g.extents_of(a)) if a.name in self.tracked else None

    def _whole(self, a: g.Atom) -> None:
        """An array that is used as such."""
        part = self._part(a)
        if part is not None:
            self.reads.append(Read(part.array, None))

    def _let(self, s: g.Let) -> None:
        r = s.rhs
        name = s.targets[0].name if s.targets else ""
        match r:
            case g.Op():
                self.env[name] = self._op(r)
            case g.Load():
                part = self._part(r.array)
                if part is not None:
                    at = self._at(part, r.index)
                    self.reads.append(Read(part.array, None if at is None else self._rows(at)))
                self.env[name] = None
            case g.View() | g.Reshape() | g.Var():
                part = self._part(r if isinstance(r, g.Var) else r.array)
                if part is None:
                    self.env[name] = self._value(r) if isinstance(r, g.Var) else None
                elif isinstance(r, g.View):
                    self.env[name] = _Part(part.array, self._at(part, r.index), part.extents[len(r.index) :])
                else:
                    self.env[name] = _Part(part.array, part.offset, g.extents_of(s.targets[0]))
            case g.Const():
                self.env[name] = self._value(r)
            case _:
                for a in g.operands(r):
                    self._whole(a)
                for t in s.targets:
                    self.env[t.name] = None
                self._inner(r)

    def _op(self, r: g.Op) -> Any:
        args = [self._value(a) for a in r.args]
        if any(a is None for a in args):
            return None
        found: Any
        if r.code in _CALCULATED:
            found = _CALCULATED[r.code](*args)
        elif r.code in ("div", "mod") and np.all(np.not_equal(args[1], 0)):
            quotient = np.abs(args[0]) // np.abs(args[1]) * np.sign(args[0]) * np.sign(args[1])
            found = quotient if r.code == "div" else args[0] - quotient * args[1]
        elif r.code in ("shl", "shr") and np.all(np.logical_and(np.greater_equal(args[1], 0), np.less(args[1], 31))):
            if np.any(np.less(args[0], 0)):
                return None
            found = np.left_shift(args[0], args[1]) if r.code == "shl" else np.right_shift(args[0], args[1])
        else:
            return None
        return None if np.any(np.abs(np.asarray(found, np.int64)) > _LARGEST) else found

    # ---- places

    def _at(self, part: _Part, index: Sequence[g.Atom]) -> Any:
        """Where the part at some indices begins."""
        at = part.offset
        rest = [int(e.value) if isinstance(e, g.Const) else -1 for e in part.extents]
        if at is None or -1 in rest:
            return None
        for number, i in enumerate(index):
            value = self._value(i)
            if value is None:
                return None
            at = at + np.asarray(value, np.int64) * math.prod(rest[number + 1 :])
        return at

    def _rows(self, at: Any) -> Numbers | None:
        cells = np.asarray(at, np.int64)
        shape = np.broadcast_shapes(cells.shape, (self.count, *(1,) * (self.depth - 1)))
        return np.broadcast_to(cells, shape).reshape(self.count, -1)

    # ---- code inside

    def _inner(self, r: g.Rhs) -> None:
        match r:
            case g.For():
                axes = [(r.index, r.lower, r.upper, r.step)]
                self._loop(axes, r.body)
            case g.WithLoop():
                for p in r.partitions:
                    steps: list[tuple[g.Var, g.Atom, g.Atom, int | None]] = []
                    for n, (i, lower, upper) in enumerate(zip(p.index, p.lower, p.upper)):
                        step, width = g.stride(p, n)
                        steps.append((i, lower, upper, step if width == 1 else None if step is None else 1))
                    self._loop(steps, p.body)
                for o in r.operators:
                    if isinstance(o, g.Fold):
                        self.run(o.combine)
            case _:
                for inner in g.blocks(r):
                    self.run(inner)

    def _loop(self, axes: Sequence[tuple[g.Var, g.Atom, g.Atom, int | None]], body: g.Block) -> None:
        """The code of a loop: each of its indices has an axis of its own, if it is known which there are."""
        env, depth, rounds = dict(self.env), self.depth, self.rounds
        for i, lower, upper, step in axes:
            low, high = self._value(lower), self._value(upper)
            self.env[i.name] = None
            if step is None or not isinstance(low, int) or not isinstance(high, int):
                continue
            own = len(range(low, high, step))
            if own * self.rounds * self.count > _MOST:
                continue
            self.rounds *= own
            for name, v in self.env.items():
                self.env[name] = _deeper(v)
            self.depth += 1
            self.env[i.name] = np.arange(low, high, step, dtype=np.int64).reshape(*(1,) * (self.depth - 1), -1)
        self.run(body)
        self.env, self.depth, self.rounds = env, depth, rounds


def _deeper(v: Any) -> Any:
    if isinstance(v, _Part):
        return _Part(v.array, _deeper(v.offset), v.extents)
    return v[..., None] if isinstance(v, np.ndarray) and v.ndim else v


def reads_of(
    code: g.Block, index: Mapping[str, Numbers], count: int, tracked: Mapping[str, tuple[int, ...]]
) -> list[Read]:
    """What the code reads of the tracked arrays, which are flat and row-major. `index`: the numbers, `count` of them,
    that each index variable has."""
    found = Reached(tracked, count, dict(index))
    found.run(code)
    return found.reads


def settled(code: g.Block, index: Mapping[str, Numbers], count: int) -> g.Block:
    """The code without what is certain at all of these indices: checks that hold, divisions of what is not negative by
    powers of two. `count`: how many indices there are."""
    found = Reached({}, count, dict(index))
    found.run(code)
    return _Settled(found.holds).block(code)


class _Settled(Rewriter):
    def __init__(self, holds: Mapping[int, bool]) -> None:
        super().__init__()
        self.holds = holds

    def statement(self, s: g.Stmt) -> Iterable[g.Stmt]:
        if not self.holds.get(id(s), False):
            return super().statement(s)
        if isinstance(s, g.Check):
            return ()
        assert isinstance(s.rhs, g.Op)
        number, by = s.rhs.args
        if not isinstance(by, g.Const) or int(by.value) < 1 or int(by.value) & (int(by.value) - 1):
            return super().statement(s)
        power = int(by.value).bit_length() - 1
        code, other = ("shr", power) if s.rhs.code == "div" else ("bitand", int(by.value) - 1)
        return (g.Let(s.targets, g.Op(code, (self.atom(number), g.Const(by.base, other))), s.span),)
