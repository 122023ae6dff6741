"""Where the graph of one function is put together: nested blocks under construction, and what is known there.

In: operations, one after the other. Out: atoms that stand for their results. An operation is simplified first
(`folding`), looked up among those made before (so equal expressions are one variable, and extents can be compared by
name), and, where it is cheap and total, put into the outermost block that has its operands: so the extents of a cell
are known outside of the loop that computes it. Checks teach: after one, its condition is true, and two atoms that it
compared are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sacpy.jit.failures import Unsupported
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.names import Names
from sacpy.jit.ir.operations import op_base
from sacpy.jit.specialise.facts import Facts, Range, Scope
from sacpy.jit.specialise.folding import COMMUTATIVE, simplify
from sacpy.jit.specialise.sharing import Sharing
from sacpy.jit.specialise.values import Fails, Small, Value, extents_of, integer, is_array
from sacpy.lang.source import NOWHERE, Span
from sacpy.lang.types import BITS

# Cheap enough to be computed where nobody may need it: outside of the loop or branch that it stands in.
_LIGHT = frozenset(
    {
        "add",
        "sub",
        "mul",
        "min",
        "max",
        "eq",
        "neq",
        "lt",
        "le",
        "and",
        "or",
        "not",
        "neg",
        "abs",
        "select",
        "bitand",
        "bitor",
        "bitxor",
        "toi",
        "tol",
        "tobool",
    }
)
_INTEGERS = frozenset({*BITS, "bool", "char"})
MOST = 60_000  # statements of a unit


class Builder(Facts):
    """Puts one function together."""

    def __init__(self, sharing: Sharing) -> None:
        super().__init__()
        self.sharing = sharing
        self.cells = 0  # bodies of with-loops around
        self.keeps_folds = False  # whether threads are to put together what is folded here
        self.names = Names()
        self.views: dict[str, tuple[g.Var, tuple[g.Atom, ...]]] = {}
        self.extents: set[str] = set()  # variables that are extents of arrays wherever they are in scope
        self.span: Span = NOWHERE
        self.lenient = False
        self.count = 0

    # ---- scopes

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
        """For code that is never executed, and only looked at for the shapes in it: what certainly fails is let
        pass."""
        before, self.lenient = self.lenient, True
        try:
            yield
        finally:
            self.lenient = before

    @contextmanager
    def in_cells(self) -> Iterator[None]:
        """For what is done for each index of a with-loop."""
        self.cells += 1
        try:
            yield
        finally:
            self.cells -= 1

    @contextmanager
    def keeping(self, folds: bool) -> Iterator[None]:
        """For the bodies of a with-loop; `folds`: threads are to put together what these fold, as a pragma says."""
        before, self.keeps_folds = self.keeps_folds, self.keeps_folds or folds
        try:
            yield
        finally:
            self.keeps_folds = before

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
            if isinstance(s, g.Let):
                for v in s.targets:
                    self.depths[v.name] = self.depth

    def declare(self, variables: Sequence[g.Var]) -> None:
        """Variables that the innermost block binds: parameters, indices. Extents of arrays among them are at least 0;
        those that an outer block sets need not be so elsewhere."""
        for v in variables:
            self.place(v, self.depth)
            for e in extents_of(v):
                if isinstance(e, g.Var) and self.depth_of(e) == self.depth:
                    self.at_least(e, 0)
                    self.extents.add(e.name)

    def is_extent(self, a: g.Atom) -> bool:
        """Whether this is certainly the extent of an array."""
        return isinstance(a, g.Var) and a.name in self.extents

    # ---- statements

    def emit(self, rhs: g.Rhs, types: Sequence[g.Type], stem: str = "t") -> tuple[g.Var, ...]:
        """Sets new variables in the innermost block."""
        targets = tuple(self.names.var(stem, t) for t in types)
        self.let(targets, rhs)
        return targets

    def let(self, targets: tuple[g.Var, ...], rhs: g.Rhs) -> None:
        """Sets these variables in the innermost block."""
        self._append(self.scope, g.Let(targets, rhs, self.span))
        self.declare(targets)

    def _append(self, scope: Scope, statement: g.Stmt) -> None:
        self.count += 1
        self.sharing.statements += 1
        if self.sharing.statements > MOST:
            raise Unsupported("it is too large to be compiled at once", self.span)
        scope.statements.append(statement)

    def check(self, condition: g.Atom, what: str) -> None:
        """Asserts a bool. Raises `Fails` where it is known to be false."""
        condition = self.same(condition)
        if condition == g.TRUE:
            return
        if condition == g.FALSE:
            if self.lenient:
                return
            raise Fails(what)
        assert isinstance(condition, g.Var)
        op = self.definitions.get(condition.name)
        if op is not None and op.code == "and":
            for a in op.args:
                self.check(a, what)
            self.stands(condition, g.TRUE)
            return
        at = self.depth
        while at > self.depths[condition.name] and not self.scopes[at].closed:
            at -= 1
        self._append(self.scopes[at], g.Check(condition, what, self.span))
        inner, self.scopes = self.scopes, self.scopes[: at + 1]
        self.assume(condition, True)
        self.scopes = inner

    # ---- operations

    def op(self, code: str, *args: g.Atom, exact: bool = False) -> g.Atom:
        """An operation on scalars."""
        op = g.Op(code, tuple(map(self.same, args)), exact)
        while True:
            found = self.decided(op) or simplify(op, self.definition)
            if found is None:
                break
            if not isinstance(found, g.Op):
                return self.same(found)
            op = g.Op(found.code, tuple(map(self.same, found.args)), found.exact)
        return self._made(op)

    def _made(self, op: g.Op) -> g.Atom:
        if op.code in COMMUTATIVE and isinstance(op.args[1], g.Var) and op.args[0].base in _INTEGERS:
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
        light = (op.code in _LIGHT and op.args[-1].base in _INTEGERS) or (
            op.code == "div" and isinstance(op.args[1], g.Const) and base in _INTEGERS
        )
        scope = self.scopes[min(home, self.depth)] if light else self.scope
        target = self.names.var("t", g.ScalarType(base))
        self._append(scope, g.Let((target,), op, self.span))
        self.place(target, scope.depth)
        self.definitions[target.name] = op
        scope.made[key] = target
        self.range_of(target, op)
        return target

    # ---- helpers

    def add(self, a: g.Atom, b: g.Atom | int, *, exact: bool = False) -> g.Atom:
        """The sum of two ints."""
        return self.op("add", a, integer(b) if isinstance(b, int) else b, exact=exact)

    def sub(self, a: g.Atom, b: g.Atom | int) -> g.Atom:
        """The difference of two ints."""
        return self.op("sub", a, integer(b) if isinstance(b, int) else b)

    def equal(self, a: g.Atom, b: g.Atom) -> bool:
        """Whether two atoms are known to be the same."""
        return self.same(a) == self.same(b)

    def need_equal(self, a: Sequence[g.Atom], b: Sequence[g.Atom], what: str) -> None:
        """Asserts that extents agree."""
        if len(a) != len(b):
            raise Fails(what)
        for x, y in zip(a, b):
            self.check(self.op("eq", x, y), what)

    def in_range(self, index: Sequence[g.Atom], extents: Sequence[g.Atom]) -> None:
        """Asserts that an index lies in an array."""
        for i, n in zip(index, extents):
            self.check(self.op("le", integer(0), i), "the index is not negative")
            self.check(self.op("lt", i, n), "the index lies in the array")

    def load(self, array: g.Var, index: Sequence[g.Atom]) -> g.Var:
        """One element, in range."""
        array, index = self.viewed(array, index)
        return self.shared(g.Load(array, tuple(index)), g.ScalarType(array.base))

    def view(self, array: g.Var, index: Sequence[g.Atom]) -> g.Var:
        """A sub-array, in range."""
        array, index = self.viewed(array, index)
        result = self.shared(g.View(array, tuple(index)), g.ArrayType(array.base, extents_of(array)[len(index) :]))
        self.views[result.name] = (array, tuple(index))
        return result

    def viewed(self, array: g.Var, index: Sequence[g.Atom]) -> tuple[g.Var, tuple[g.Atom, ...]]:
        """An array and an index with the view that the array may be taken off."""
        if array.name in self.views:
            array, outer = self.views[array.name]
            return array, (*outer, *index)
        return array, tuple(index)

    def shared(self, rhs: g.Load | g.View, type_: g.Type) -> g.Var:
        """A load or view, which one made before in a block around serves too."""
        key = (type(rhs), rhs.array.name, rhs.index)
        for scope in reversed(self.scopes):
            found = scope.made.get(key)
            if isinstance(found, g.Var):
                return found
        (target,) = self.emit(rhs, [type_])
        self.scope.made[key] = target
        return target

    def array(self, value: Value) -> g.Var:
        """A value of rank 1 or more as an array variable. Of constants, one is made for all."""
        if not isinstance(value, Small):
            assert is_array(value) and isinstance(value, g.Var)
            return value
        home = max(map(self.depth_of, value.elements), default=0)
        key = (g.Cons, value.base, value.extents, value.elements)
        for scope in self.scopes[home:]:
            found = scope.made.get(key)
            if isinstance(found, g.Var):
                return found
        at = self.depth
        while at > home and not self.scopes[at].closed:
            at -= 1
        target = self.names.var("c", g.ArrayType(value.base, tuple(map(integer, value.extents))))
        self._append(self.scopes[at], g.Let((target,), g.Cons(value.base, value.extents, value.elements), self.span))
        self.place(target, at)
        self.scopes[at].made[key] = target
        return target

    def index_var(self, stem: str, lower: g.Atom, upper: g.Atom) -> g.Var:
        """A new index variable, from `lower` to below `upper`. It has to be declared in its block."""
        v = self.names.var(stem, g.INT)
        self.ranges[v.name] = Range(self.low(lower), self.same(upper))
        return v


def _name(a: g.Atom) -> str:
    return a.name if isinstance(a, g.Var) else a.key
