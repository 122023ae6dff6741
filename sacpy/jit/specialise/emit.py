"""Where the graph of one function is put together: nested blocks under construction, and what is known there.

In: operations, one after the other. Out: atoms that stand for their results. An operation is simplified first (`folding`), looked up among those made before (so equal expressions are one variable, and extents can be compared by name), and, where it is cheap and total, put into the outermost block
that has its operands: so the extents of a cell are known outside of the loop that computes it. Checks teach: after one, its condition is true, and two atoms that it compared are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from sacpy.jit.failures import Unsupported
from sacpy.jit.graph import (
    FALSE,
    INT,
    TRUE,
    ArrayType,
    Atom,
    Block,
    Check,
    Cons,
    Const,
    Let,
    Load,
    Names,
    Op,
    Rhs,
    ScalarType,
    Stmt,
    Type,
    Var,
    View,
    integer,
)
from sacpy.jit.graph_verify import op_base
from sacpy.jit.specialise.folding import COMMUTATIVE, simplify
from sacpy.jit.specialise.values import Fails, Small, Value, extents_of, is_array
from sacpy.lang.source import NOWHERE, Span
from sacpy.lang.types import BITS

# Cheap enough to be computed where nobody may need it: outside of the loop or branch that it stands in.
_LIGHT = frozenset({"add", "sub", "mul", "min", "max", "eq", "neq", "lt", "le", "and", "or", "not", "neg", "abs", "select", "bitand", "bitor", "bitxor", "toi", "tol", "tobool"})
_INTEGERS = frozenset({*BITS, "bool", "char"})
MOST = 60_000  # statements of a unit


@dataclass(slots=True)
class Scope:
    """A block under construction. `closed`: a branch or a loop's body, out of which no check may move."""

    depth: int
    closed: bool
    statements: list[Stmt] = field(default_factory=list)
    made: dict[object, Atom] = field(default_factory=dict)
    same: dict[str, Atom] = field(default_factory=dict)

    def block(self, results: Sequence[Atom] = ()) -> Block:
        """The finished block."""
        return Block(tuple(self.statements), tuple(results))


@dataclass(slots=True)
class Range:
    """What is known of an int variable: at least `low`, below `high`."""

    low: int | None = None
    high: Atom | None = None


class Builder:
    """Puts one function together."""

    def __init__(self) -> None:
        self.names = Names()
        self.scopes: list[Scope] = [Scope(0, True)]
        self.depths: dict[str, int] = {}
        self.definitions: dict[str, Op] = {}
        self.views: dict[str, tuple[Var, tuple[Atom, ...]]] = {}
        self.ranges: dict[str, Range] = {}
        self.span: Span = NOWHERE
        self.lenient = False
        self.count = 0
        self.order: dict[str, int] = {}

    # ---- scopes

    @property
    def scope(self) -> Scope:
        """The innermost block under construction."""
        return self.scopes[-1]

    @property
    def depth(self) -> int:
        """How many blocks there are around the innermost one."""
        return len(self.scopes) - 1

    @contextmanager
    def inside(self, *, closed: bool) -> Iterator[Scope]:
        """A new block for a while."""
        scope = Scope(len(self.scopes), closed)
        self.scopes.append(scope)
        try:
            yield scope
        finally:
            del self.scopes[scope.depth :]

    @contextmanager
    def never(self) -> Iterator[None]:
        """For code that is never executed, and only looked at for the shapes in it: what certainly fails is let pass."""
        before, self.lenient = self.lenient, True
        try:
            yield
        finally:
            self.lenient = before

    @contextmanager
    def again(self, scope: Scope) -> Iterator[None]:
        """Goes on with a block made before, in the same place."""
        assert scope.depth == len(self.scopes)
        self.scopes.append(scope)
        try:
            yield
        finally:
            del self.scopes[scope.depth :]

    def merge(self, scope: Scope) -> None:
        """Ends the innermost block, `scope`: its statements become part of the block around it."""
        assert self.scope is scope
        self.scopes.pop()
        self.scope.statements += scope.statements
        self.scope.made |= scope.made
        self.scope.same |= scope.same
        for s in scope.statements:
            if isinstance(s, Let):
                for v in s.targets:
                    self.depths[v.name] = self.depth

    def declare(self, variables: Sequence[Var]) -> None:
        """Variables that the innermost block binds: parameters, indices. Extents of arrays among them are at least 0."""
        for v in variables:
            self._set(v, self.depth)
            for e in extents_of(v):
                if isinstance(e, Var):
                    self.at_least(e, 0)

    def _set(self, v: Var, depth: int) -> None:
        self.depths[v.name] = depth
        self.order.setdefault(v.name, len(self.order))

    def depth_of(self, a: Atom) -> int:
        """The depth of the block that sets an atom."""
        return self.depths[a.name] if isinstance(a, Var) else 0

    # ---- what is known

    def same(self, a: Atom) -> Atom:
        """The atom that stands for all those known to be equal to `a` here."""
        while isinstance(a, Var):
            for scope in reversed(self.scopes):
                found = scope.same.get(a.name)
                if found is not None:
                    break
            else:
                return a
            a = found
        return a

    def assume(self, condition: Atom, value: bool) -> None:
        """From here on in this block the condition has this value."""
        condition = self.same(condition)
        if not isinstance(condition, Var):
            return
        self.scope.same[condition.name] = TRUE if value else FALSE
        op = self.definitions.get(condition.name)
        if op is None:
            return
        if op.code == "not":
            self.assume(op.args[0], not value)
        elif op.code == ("and" if value else "or"):
            for a in op.args:
                self.assume(a, value)
        elif op.code == ("eq" if value else "neq") and op.args[0].base == "int":
            self._equate(*op.args)
        elif value and op.code in ("lt", "le") and op.args[0].base == "int":
            self._bounded(op)

    def _equate(self, a: Atom, b: Atom) -> None:
        a, b = self.same(a), self.same(b)
        if isinstance(a, Const) or (isinstance(b, Var) and self._age(a) < self._age(b)):
            a, b = b, a
        if isinstance(a, Var) and a != b:
            self.scope.same[a.name] = b

    def _age(self, v: Var) -> tuple[int, int]:
        return self.depths[v.name], self.order.get(v.name, -1)

    def _bounded(self, op: Op) -> None:
        """A lower bound that a comparison with a constant tells of a variable set in this block or an inner one."""
        a, b = op.args
        if isinstance(a, Const) and isinstance(b, Var) and self.depth_of(b) == self.depth:
            self.at_least(b, int(a.value) + (op.code == "lt"))

    def at_least(self, v: Var, low: int) -> None:
        """The int variable is never below `low`, wherever it is in scope."""
        known = self.ranges.setdefault(v.name, Range())
        known.low = low if known.low is None else max(known.low, low)

    def low(self, a: Atom) -> int | None:
        """A number that an int is never below."""
        if isinstance(a, Const):
            return int(a.value)
        known = self.ranges.get(a.name)
        return None if known is None else known.low

    # ---- statements

    def emit(self, rhs: Rhs, types: Sequence[Type], stem: str = "t") -> tuple[Var, ...]:
        """Sets new variables in the innermost block."""
        targets = tuple(self.names.var(stem, t) for t in types)
        self.let(targets, rhs)
        return targets

    def let(self, targets: tuple[Var, ...], rhs: Rhs) -> None:
        """Sets these variables in the innermost block."""
        self._append(self.scope, Let(targets, rhs, self.span))
        self.declare(targets)

    def _append(self, scope: Scope, statement: Stmt) -> None:
        self.count += 1
        if self.count > MOST:
            raise Unsupported("it is too large to be compiled at once", self.span)
        scope.statements.append(statement)

    def check(self, condition: Atom, what: str) -> None:
        """Asserts a bool. Raises `Fails` where it is known to be false."""
        condition = self.same(condition)
        if condition == TRUE:
            return
        if condition == FALSE:
            if self.lenient:
                return
            raise Fails(what)
        assert isinstance(condition, Var)
        op = self.definitions.get(condition.name)
        if op is not None and op.code == "and":
            for a in op.args:
                self.check(a, what)
            self.scope.same[condition.name] = TRUE
            return
        at = self.depth
        while at > self.depths[condition.name] and not self.scopes[at].closed:
            at -= 1
        self._append(self.scopes[at], Check(condition, what, self.span))
        inner, self.scopes = self.scopes, self.scopes[: at + 1]
        self.assume(condition, True)
        self.scopes = inner

    # ---- operations

    def op(self, code: str, *args: Atom, exact: bool = False) -> Atom:
        """An operation on scalars."""
        op = Op(code, tuple(map(self.same, args)), exact)
        while True:
            found = self._decided(op) or simplify(op, self._definition)
            if found is None:
                break
            if not isinstance(found, Op):
                return self.same(found)
            op = Op(found.code, tuple(map(self.same, found.args)), found.exact)
        return self._made(op)

    def _definition(self, a: Atom) -> Op | None:
        return self.definitions.get(a.name) if isinstance(a, Var) else None

    def _made(self, op: Op) -> Atom:
        if op.code in COMMUTATIVE and isinstance(op.args[1], Var) and op.args[0].base in _INTEGERS:
            first, second = op.args
            key: object = (op.code, min(first, second, key=_name), max(first, second, key=_name))
        else:
            key = (op.code, op.args)
        home = max(map(self.depth_of, op.args), default=0)
        for scope in self.scopes[home:]:
            found = scope.made.get(key)
            if found is not None:
                return self.same(found)
        base = op_base(op.code, op.args)
        light = (op.code in _LIGHT and op.args[-1].base in _INTEGERS) or (op.code == "div" and isinstance(op.args[1], Const) and base in _INTEGERS)
        scope = self.scopes[min(home, self.depth)] if light else self.scope
        target = self.names.var("t", ScalarType(base))
        self._append(scope, Let((target,), op, self.span))
        self._set(target, scope.depth)
        self.definitions[target.name] = op
        scope.made[key] = target
        self._range_of(target, op)
        return target

    def _range_of(self, target: Var, op: Op) -> None:
        """A lower bound of a result that does not wrap."""
        if target.base != "int":
            return
        lows = [self.low(a) if a.base == "int" else None for a in op.args]
        if (op.code in ("div", "min") and None not in lows and min(x for x in lows if x is not None) >= (1 if op.code == "div" else 0)) or (op.code == "div" and isinstance(op.args[1], Const) and lows[0] is not None and lows[0] >= 0 and int(op.args[1].value) > 0):
            self.at_least(target, 0)
        elif op.code == "max" and any(x is not None for x in lows):
            self.at_least(target, max(x for x in lows if x is not None))
        elif op.code == "select" and lows[1] is not None and lows[2] is not None:
            self.at_least(target, min(lows[1], lows[2]))
        elif op.code == "aplmod" and isinstance(op.args[1], Const) and int(op.args[1].value) > 0:
            self.at_least(target, 0)
        elif op.code == "add" and op.exact and None not in lows:
            self.at_least(target, max(0, sum(x for x in lows if x is not None)))
        elif op.code == "add" and isinstance(op.args[1], Const) and lows[0] is not None:
            self._shifted(target, op.args[0], lows[0], int(op.args[1].value))

    def _shifted(self, target: Var, a: Atom, low: int, c: int) -> None:
        """The range of a + c, where that does not wrap: a lower bound is known, and above there is room for what is added."""
        known = self.ranges.get(a.name) if isinstance(a, Var) else None
        bounded = known is not None and known.high is not None
        if low + c >= -2147483648 and (c <= 0 or (c == 1 and bounded)):
            self.at_least(target, low + c)

    def _affine(self, a: Atom) -> tuple[Atom, int]:
        """An atom as a variable and what is added to it."""
        inner = self.definitions.get(a.name) if isinstance(a, Var) else None
        if inner is not None and inner.code == "add" and isinstance(inner.args[1], Const):
            return self.same(inner.args[0]), int(inner.args[1].value)
        return a, 0

    def _decided(self, op: Op) -> Const | None:
        """A comparison that the ranges of its operands decide."""
        if op.code not in ("lt", "le") or op.args[0].base != "int":
            return None
        a, b = op.args
        if isinstance(a, Const):
            low = self.low(b)
            if low is not None and (int(a.value) < low or (op.code == "le" and int(a.value) == low)):
                return TRUE
        if isinstance(b, Const):
            low = self.low(a)
            if low is not None and (low > int(b.value) or (op.code == "lt" and low == int(b.value))):
                return FALSE
        return TRUE if self._below(a, b) else None

    def _below(self, a: Atom, b: Atom) -> bool:
        """Whether a < b for sure, where both are a variable and a constant: an index below its upper bound, an extent less something. Nothing may wrap on the way, which the lower bounds of the variables tell."""
        if isinstance(a, Const):
            return False
        (x, c), (n, e) = self._affine(a), self._affine(b)
        if x == n:
            low = self.low(x)
            return low is not None and low >= 0 and -2147483647 < c < e <= 0
        known = self.ranges.get(x.name) if isinstance(x, Var) else None
        if known is None or known.high is None or known.low is None:
            return False
        high = self.same(known.high)
        if isinstance(n, Const) or isinstance(high, Const):
            return isinstance(n, Const) and isinstance(high, Const) and known.low + c >= -2147483648 and int(high.value) + c <= int(n.value)
        m, d = self._affine(high)
        least = self.low(n)
        if m != n or least is None or least < 0 or not -1000000 < d <= 0 or not -1000000 < e <= 0:
            return False
        return known.low + c >= -2147483648 and d + c <= e

    # ---- helpers

    def add(self, a: Atom, b: Atom | int, *, exact: bool = False) -> Atom:
        """The sum of two ints."""
        return self.op("add", a, integer(b) if isinstance(b, int) else b, exact=exact)

    def sub(self, a: Atom, b: Atom | int) -> Atom:
        """The difference of two ints."""
        return self.op("sub", a, integer(b) if isinstance(b, int) else b)

    def equal(self, a: Atom, b: Atom) -> bool:
        """Whether two atoms are known to be the same."""
        return self.same(a) == self.same(b)

    def need_equal(self, a: Sequence[Atom], b: Sequence[Atom], what: str) -> None:
        """Asserts that extents agree."""
        if len(a) != len(b):
            raise Fails(what)
        for x, y in zip(a, b):
            self.check(self.op("eq", x, y), what)

    def in_range(self, index: Sequence[Atom], extents: Sequence[Atom]) -> None:
        """Asserts that an index lies in an array."""
        for i, n in zip(index, extents):
            self.check(self.op("le", integer(0), i), "the index is not negative")
            self.check(self.op("lt", i, n), "the index lies in the array")

    def load(self, array: Var, index: Sequence[Atom]) -> Var:
        """One element, in range."""
        array, index = self.viewed(array, index)
        return self.shared(Load(array, tuple(index)), ScalarType(array.base))

    def view(self, array: Var, index: Sequence[Atom]) -> Var:
        """A sub-array, in range."""
        array, index = self.viewed(array, index)
        result = self.shared(View(array, tuple(index)), ArrayType(array.base, extents_of(array)[len(index) :]))
        self.views[result.name] = (array, tuple(index))
        return result

    def viewed(self, array: Var, index: Sequence[Atom]) -> tuple[Var, tuple[Atom, ...]]:
        """An array and an index with the view that the array may be taken off."""
        if array.name in self.views:
            array, outer = self.views[array.name]
            return array, (*outer, *index)
        return array, tuple(index)

    def shared(self, rhs: Load | View, type_: Type) -> Var:
        """A load or view, which one made before in a block around serves too."""
        key = (type(rhs), rhs.array.name, rhs.index)
        for scope in reversed(self.scopes):
            found = scope.made.get(key)
            if isinstance(found, Var):
                return found
        (target,) = self.emit(rhs, [type_])
        self.scope.made[key] = target
        return target

    def array(self, value: Value) -> Var:
        """A value of rank 1 or more as an array variable. Of constants, one is made for all."""
        if not isinstance(value, Small):
            assert is_array(value) and isinstance(value, Var)
            return value
        home = max(map(self.depth_of, value.elements), default=0)
        key = (Cons, value.base, value.extents, value.elements)
        for scope in self.scopes[home:]:
            found = scope.made.get(key)
            if isinstance(found, Var):
                return found
        at = self.depth
        while at > home and not self.scopes[at].closed:
            at -= 1
        target = self.names.var("c", ArrayType(value.base, tuple(map(integer, value.extents))))
        self._append(self.scopes[at], Let((target,), Cons(value.base, value.extents, value.elements), self.span))
        self._set(target, at)
        self.scopes[at].made[key] = target
        return target

    def index_var(self, stem: str, lower: Atom, upper: Atom) -> Var:
        """A new index variable, from `lower` to below `upper`. It has to be declared in its block."""
        v = self.names.var(stem, INT)
        self.ranges[v.name] = Range(self.low(lower), self.same(upper))
        return v


def _name(a: Atom) -> str:
    return a.name if isinstance(a, Var) else a.key
