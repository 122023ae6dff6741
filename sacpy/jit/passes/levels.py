"""Scans of long vectors as with-loops, which a device runs: reduce, then scan, over levels.

    totals = with [m]: what the values k * R to k * R + R - 1 combine to          level 1, of R values each
    totals = with [m / R]: what R of those combine to                             level 2
    starts = with [m / R]: what comes of all totals before                        level 2, from the first on
    starts = with [m]: what comes of the start above and the totals before        level 1
    result = with [n] modarray: what comes of the start and the values up to i

Each index combines at most R elements, but those of the third with-loop, of which there are few; neighbours read the
same ones. Operands keep their order, so any associative operation will do, and what is combined depends on the extents
only. (Reduce-then-scan as in Dotsenko, Govindaraju, Sloan, Boyd, Manferdelli: Fast Scan Algorithms on Graphics
Processors, 2008.) Where a vector turns out to be short the loop stays a loop.

Values that cost more than a few operations are computed first, since each is needed several times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sacpy.jit.analysis.costs import cost
from sacpy.jit.analysis.folds import Reduction
from sacpy.jit.analysis.scans import Scan, scan_of
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
    If,
    Let,
    Load,
    Modarray,
    Op,
    Partition,
    Rhs,
    ScalarType,
    Stmt,
    Var,
    WithLoop,
    integer,
    statements,
)
from sacpy.jit.ir.names import Names
from sacpy.jit.ir.operations import op_base
from sacpy.jit.ir.rewrite import Rewriter, copied, names_of
from sacpy.jit.passes.stepping import around, scans_as_loops
from sacpy.lang.constants import zero
from sacpy.lang.types import REAL

R = 32
LONG = 4096  # values from which on a scan goes over levels
DEAR = 8.0  # the cost of values that are computed once
Elements = Callable[["_Code", Atom], list[Atom]]  # of an index the components of an element


class _Code:
    """Statements in the making."""

    def __init__(self, supply: Names) -> None:
        self.supply = supply
        self.statements: list[Stmt] = []

    def let(self, stem: str, type_: ScalarType | ArrayType, rhs: Rhs) -> Var:
        target = self.supply.var(stem, type_)
        self.statements.append(Let((target,), rhs))
        return target

    def op(self, code: str, *args: Atom, exact: bool = False) -> Var:
        return self.let("t", ScalarType(op_base(code, args)), Op(code, args, exact))

    def insert(self, block: Block, known: dict[str, Atom]) -> list[Atom]:
        """A copy of a block; its results."""
        made = copied(block, known, self.supply)
        self.statements += made.statements
        return list(made.results)

    def inside(self, write: Callable[[_Code], Sequence[Atom]]) -> Block:
        """A block."""
        inner = _Code(self.supply)
        results = tuple(write(inner))
        return Block(tuple(inner.statements), results)


class _Monoid:
    """Elements of a scan (see `analysis/scans`) in graphs."""

    def __init__(self, scan: Scan) -> None:
        self.scan = scan
        one = Const(scan.base, Reduction((scan.code,), (scan.base,)).neutral(0))
        first = {"reset": (Const("bool", False),), "affine": (Const(scan.base, 1.0 if scan.base in REAL else 1),)}
        self.identities: tuple[Const, ...] = (*first.get(scan.form, ()), one)

    def combined(self, code: _Code, a: Sequence[Atom], b: Sequence[Atom]) -> list[Atom]:
        """Two elements, the first one first."""
        scan = self.scan
        if scan.form == "affine":
            return [code.op("mul", a[0], b[0]), code.op("add", code.op("mul", a[1], b[0]), b[1])]
        if scan.base in REAL and scan.code in ("min", "max"):
            test = code.op("le" if scan.code == "min" else "ge", a[-1], b[-1])
            both = code.op("select", code.op("or", test, code.op("neq", a[-1], a[-1])), a[-1], b[-1])
        else:
            both = code.op(scan.code, a[-1], b[-1])
        if scan.form == "reset":
            return [code.op("or", a[0], b[0]), code.op("select", b[0], b[1], both)]
        return [both]

    def applied(self, code: _Code, result: Atom, element: Sequence[Atom]) -> Atom:
        """The result that comes of one before and an element."""
        return self.combined(code, (*self.identities[:-1], result), element)[-1]

    def started(self, result: Atom) -> tuple[Atom, ...]:
        return (*self.identities[:-1], result)


class _Leveller(Rewriter):
    """`strict`: only scans that do not depend on how they are grouped; else the others."""

    def __init__(self, supply: Names, strict: bool) -> None:
        super().__init__()
        self.supply, self.strict = supply, strict

    def with_loop(self, w: WithLoop) -> WithLoop:
        return w  # what an index does it does alone

    def statement(self, s: Stmt) -> Sequence[Stmt]:
        if isinstance(s, Check) or not isinstance(s.rhs, For):
            return tuple(super().statement(s))
        scan = scan_of(s.rhs, {}, strict=self.strict)
        done = not self.strict and scan_of(s.rhs, {}, strict=True) is not None
        if scan is None or scan.accumulator is None or done:
            return tuple(super().statement(s))
        code = _Code(self.supply)
        r = s.rhs
        n: Atom = r.upper
        if r.step < 0 or r.lower != integer(0):
            n = code.op("sub", *((r.upper, r.lower) if r.step > 0 else (r.lower, r.upper)))
        test = code.op("lt", n, integer(LONG))
        short = Rewriter({}, self.supply).statement(s)
        (loop,) = short
        assert isinstance(loop, Let)
        long = code.inside(lambda inner: _Levels(inner, scan, n).results(r))
        branch = If(test, Block((loop,), loop.targets), long)
        return (*code.statements, Let(s.targets, branch, s.span))


class _Levels:
    """The with-loops of one scan. `n`: how many values there are."""

    def __init__(self, code: _Code, scan: Scan, n: Atom) -> None:
        self.code, self.scan, self.n, self.monoid = code, scan, n, _Monoid(scan)
        at = scan.loop.params.index(scan.array)
        given = scan.loop.initial[at]
        assert isinstance(given, Var)
        self.given = given

    def results(self, r: For) -> list[Atom]:
        """What the targets of the loop are."""
        assert self.scan.accumulator is not None
        code = self.code
        initial = r.initial[r.params.index(self.scan.accumulator)]
        values: Elements = self.values
        if cost(self.scan.values) > DEAR:
            values = self.of(self.vectors(self.n, values))
        first = self.length(self.n)
        below = self.totals(first, self.n, values)
        second = self.length(first)
        above = self.totals(second, first, self.of(below))
        starts = self.scanned(second, initial, above)
        starts = self.spread(first, starts, below)
        result = self.last(starts, values)
        last = self.reduced(code, integer(0), second, self.monoid.started(initial), self.of(above))[-1]
        return [result if p == self.scan.array else last for p in r.params]

    def length(self, n: Atom) -> Atom:
        """How many elements the next level has."""
        return self.code.op("div", self.code.op("add", n, integer(R - 1), exact=True), integer(R))

    def index(self, code: _Code, p: Atom) -> Atom:
        """The index of value p."""
        r = self.scan.loop
        if r.step > 0 and r.lower == integer(0):
            return p
        return code.op("add" if r.step > 0 else "sub", r.lower, p, exact=True)

    def position(self, code: _Code, i: Atom) -> Atom:
        """Which value an index is that of."""
        r = self.scan.loop
        if r.step > 0 and r.lower == integer(0):
            return i
        return code.op("sub", *((i, r.lower) if r.step > 0 else (r.lower, i)), exact=True)

    def values(self, code: _Code, p: Atom) -> list[Atom]:
        """The element that value p is."""
        known: dict[str, Atom] = {self.scan.loop.index.name: self.index(code, p), self.scan.array.name: self.given}
        found = code.insert(self.scan.values, known)
        if self.scan.negative:
            found[-1] = code.op("neg", found[-1])
        return found

    def of(self, arrays: Sequence[Var]) -> Elements:
        """Elements whose components lie in arrays."""
        return lambda code, k: [code.let("x", ScalarType(a.base), Load(a, (k,))) for a in arrays]

    def reduced(self, code: _Code, lower: Atom, upper: Atom, start: Sequence[Atom], values: Elements) -> list[Atom]:
        """What elements from `lower` to below `upper` combine to, behind an element."""
        supply = self.code.supply
        k, params = supply.var("k", INT), tuple(supply.var("acc", ScalarType(a.base)) for a in start)
        body = code.inside(lambda inner: self.monoid.combined(inner, params, values(inner, k)))
        targets = tuple(supply.var("total", p.type) for p in params)
        code.statements.append(Let(targets, For(k, lower, upper, 1, params, tuple(start), body)))
        return list(targets)

    def vectors(self, n: Atom, write: Elements) -> list[Var]:
        """Vectors of components, one for each index."""
        supply, index = self.code.supply, self.code.supply.var("i", INT)
        body = self.code.inside(lambda inner: write(inner, index))
        part = Partition((integer(0),), (n,), None, None, (index,), body)
        bases = [a.base for a in body.results]
        operators = tuple(Genarray(b, (), c) for b, c in zip(bases, self.monoid.identities[-len(bases) :]))
        targets = tuple(supply.var("level", ArrayType(b, (n,))) for b in bases)
        self.code.statements.append(Let(targets, WithLoop((n,), (part,), operators, disjoint=True, complete=True)))
        return list(targets)

    def totals(self, n: Atom, below: Atom, values: Elements) -> list[Var]:
        """What R elements combine to, for each element of a level."""

        def total(code: _Code, c: Atom) -> list[Atom]:
            first = code.op("mul", c, integer(R), exact=True)
            end = code.op("min", code.op("add", first, integer(R), exact=True), below)
            return self.reduced(code, first, end, self.monoid.identities, values)

        return self.vectors(n, total)

    def scanned(self, n: Atom, initial: Atom, totals: Sequence[Var]) -> Var:
        """What comes of all totals before each."""

        def start(code: _Code, c: Atom) -> list[Atom]:
            return self.reduced(code, integer(0), c, self.monoid.started(initial), self.of(totals))[-1:]

        return self.vectors(n, start)[0]

    def begun(self, code: _Code, c: Atom, end: Atom, starts: Var, values: Elements) -> Atom:
        """The result before element `end`, in the group of element c: from the start of the group on."""
        group = code.op("div", c, integer(R))
        first = code.op("mul", group, integer(R), exact=True)
        start = code.let("start", ScalarType(starts.base), Load(starts, (group,)))
        return self.reduced(code, first, end, self.monoid.started(start), values)[-1]

    def spread(self, n: Atom, above: Var, totals: Sequence[Var]) -> Var:
        """What each element of a level starts with, from what those of the level above do."""
        return self.vectors(n, lambda code, c: [self.begun(code, c, c, above, self.of(totals))])[0]

    def last(self, starts: Var, values: Elements) -> Var:
        """The vector of results."""
        r, scan = self.scan.loop, self.scan
        index = self.code.supply.var("i", INT)

        def element(code: _Code) -> list[Atom]:
            p = self.position(code, index)
            end = p if scan.exclusive else code.op("add", p, integer(1), exact=True)
            found = self.begun(code, p, end, starts, values)
            return code.insert(scan.post, {scan.seen.name: found, r.index.name: index, scan.array.name: self.given})

        lower, upper = r.lower, r.upper
        if r.step < 0:
            lower, upper = (self.code.op("add", a, integer(1), exact=True) for a in (r.upper, r.lower))
        assert isinstance(self.given.type, ArrayType)
        part = Partition((lower,), (upper,), None, None, (index,), self.code.inside(element))
        frame, base = self.given.type.extents, self.given.base
        complete = (lower, (upper,)) == (integer(0), frame)
        operator = Genarray(base, (), Const(base, zero(base))) if complete else Modarray(self.given)
        whole = WithLoop(frame, (part,), (operator,), disjoint=True, complete=complete)
        return self.code.let("scanned", self.given.type, whole)


def levels(function: Function, strict: bool) -> Function:
    """A function with its scans over levels; itself if there are none."""
    function = around(scans_as_loops(function))
    if not any(isinstance(s, Let) and isinstance(s.rhs, For) for s in statements(function.body)):
        return function
    return _Leveller(names_of(function), strict).function(function)
