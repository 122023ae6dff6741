"""What is known while a function is put together: which atoms are the same, and between which bounds ints lie.

In: conditions that hold from here on in the innermost block (`assume`). Out: the atom that stands for others (`same`),
lower bounds of ints (`low`), comparisons that are decided (`decided`). All this is local and cheap; the passes know
more.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.ir import graph as g
from sacpy.nodes import Record, field


class Scope(Record):
    """A block under construction. `closed`: a branch or a loop's body, out of which no check may move."""

    depth: int
    closed: bool
    statements: list[g.Stmt] = field(default_factory=list)
    made: dict[object, g.Atom] = field(default_factory=dict)
    same: dict[str, g.Atom] = field(default_factory=dict)

    def block(self, results: Sequence[g.Atom] = ()) -> g.Block:
        """The finished block."""
        return g.Block(tuple(self.statements), tuple(results))


class Range(Record):
    """What is known of an int variable: at least `low`, below `high`."""

    low: int | None = None
    high: g.Atom | None = None


class Facts:
    """What is known in the nested blocks under construction, of which `scopes` is the stack. `depths`: how deep the
    block is that sets a variable; `definitions`: the operations behind variables."""

    def __init__(self) -> None:
        self.scopes: list[Scope] = [Scope(0, True)]
        self.depths: dict[str, int] = {}
        self.order: dict[str, int] = {}
        self.definitions: dict[str, g.Op] = {}
        self.ranges: dict[str, Range] = {}
        self.equated: set[str] = set()  # variables for which something else stands, somewhere

    @property
    def scope(self) -> Scope:
        """The innermost block under construction."""
        return self.scopes[-1]

    @property
    def depth(self) -> int:
        """How many blocks there are around the innermost one."""
        return len(self.scopes) - 1

    def place(self, v: g.Var, depth: int) -> None:
        """A variable is set, in the block at this depth."""
        self.depths[v.name] = depth
        self.order.setdefault(v.name, len(self.order))

    def depth_of(self, a: g.Atom) -> int:
        """The depth of the block that sets an atom."""
        return self.depths[a.name] if isinstance(a, g.Var) else 0

    # ---- what is known

    def same(self, a: g.Atom) -> g.Atom:
        """The atom that stands for all those known to be equal to `a` here."""
        while isinstance(a, g.Var) and a.name in self.equated:
            for scope in reversed(self.scopes):
                found = scope.same.get(a.name)
                if found is not None:
                    break
            else:
                return a
            a = found
        return a

    def assume(self, condition: g.Atom, value: bool) -> None:
        """From here on in this block the condition has this value."""
        condition = self.same(condition)
        if not isinstance(condition, g.Var):
            return
        self.stands(condition, g.TRUE if value else g.FALSE)
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

    def _equate(self, a: g.Atom, b: g.Atom) -> None:
        a, b = self.same(a), self.same(b)
        if isinstance(a, g.Const) or (isinstance(b, g.Var) and self._age(a) < self._age(b)):
            a, b = b, a
        if isinstance(a, g.Var) and a != b:
            self.stands(a, b)

    def stands(self, a: g.Var, b: g.Atom) -> None:
        """In this block, `b` stands for `a`."""
        self.equated.add(a.name)
        self.scope.same[a.name] = b

    def _age(self, v: g.Var) -> tuple[int, int]:
        return self.depths[v.name], self.order.get(v.name, -1)

    def _bounded(self, op: g.Op) -> None:
        """A lower bound that a comparison with a constant tells of a variable set in this block or an inner one."""
        a, b = op.args
        if isinstance(a, g.Const) and isinstance(b, g.Var) and self.depth_of(b) == self.depth:
            self.at_least(b, int(a.value) + (op.code == "lt"))

    def at_least(self, v: g.Var, low: int) -> None:
        """The int variable is never below `low`, wherever it is in scope."""
        known = self.ranges.setdefault(v.name, Range())
        known.low = low if known.low is None else max(known.low, low)

    def low(self, a: g.Atom) -> int | None:
        """A number that an int is never below."""
        if isinstance(a, g.Const):
            return int(a.value)
        known = self.ranges.get(a.name)
        return None if known is None else known.low

    def range_of(self, target: g.Var, op: g.Op) -> None:
        """A lower bound of a result that does not wrap."""
        if target.base != "int":
            return
        lows = [self.low(a) if a.base == "int" else None for a in op.args]
        if (
            op.code in ("div", "min")
            and None not in lows
            and min(x for x in lows if x is not None) >= (1 if op.code == "div" else 0)
        ) or (
            op.code == "div"
            and isinstance(op.args[1], g.Const)
            and lows[0] is not None
            and lows[0] >= 0
            and int(op.args[1].value) > 0
        ):
            self.at_least(target, 0)
        elif op.code == "max" and any(x is not None for x in lows):
            self.at_least(target, max(x for x in lows if x is not None))
        elif op.code == "select" and lows[1] is not None and lows[2] is not None:
            self.at_least(target, min(lows[1], lows[2]))
        elif op.code == "aplmod" and isinstance(op.args[1], g.Const) and int(op.args[1].value) > 0:
            self.at_least(target, 0)
        elif op.code == "add" and op.exact and None not in lows:
            self.at_least(target, max(0, sum(x for x in lows if x is not None)))
        elif op.code == "add" and isinstance(op.args[1], g.Const) and lows[0] is not None:
            self._shifted(target, op.args[0], lows[0], int(op.args[1].value))

    def _shifted(self, target: g.Var, a: g.Atom, low: int, c: int) -> None:
        """The range of a + c, where that does not wrap: a lower bound is known, and above there is room for what is
        added."""
        known = self.ranges.get(a.name) if isinstance(a, g.Var) else None
        bounded = known is not None and known.high is not None
        if low + c >= -2147483648 and (c <= 0 or (c == 1 and bounded)):
            self.at_least(target, low + c)

    def _affine(self, a: g.Atom) -> tuple[g.Atom, int]:
        """An atom as a variable and what is added to it."""
        inner = self.definitions.get(a.name) if isinstance(a, g.Var) else None
        if inner is not None and inner.code == "add" and isinstance(inner.args[1], g.Const):
            return self.same(inner.args[0]), int(inner.args[1].value)
        return a, 0

    def decided(self, op: g.Op) -> g.Const | None:
        """A comparison that the ranges of its operands decide."""
        if op.code not in ("lt", "le") or op.args[0].base != "int":
            return None
        a, b = op.args
        if isinstance(a, g.Const):
            low = self.low(b)
            if low is not None and (int(a.value) < low or (op.code == "le" and int(a.value) == low)):
                return g.TRUE
        if isinstance(b, g.Const):
            low = self.low(a)
            if low is not None and (low > int(b.value) or (op.code == "lt" and low == int(b.value))):
                return g.FALSE
        return g.TRUE if self._below(a, b) else None

    def _below(self, a: g.Atom, b: g.Atom) -> bool:
        """Whether a < b for sure, where both are a variable and a constant: an index below its upper bound, an extent
        less something. Nothing may wrap on the way, which the lower bounds of the variables tell."""
        if isinstance(a, g.Const):
            return False
        (x, c), (n, e) = self._affine(a), self._affine(b)
        if x == n:
            low = self.low(x)
            return low is not None and low >= 0 and -2147483647 < c < e <= 0
        known = self.ranges.get(x.name) if isinstance(x, g.Var) else None
        if known is None or known.high is None or known.low is None:
            return False
        high = self.same(known.high)
        if isinstance(n, g.Const) or isinstance(high, g.Const):
            return (
                isinstance(n, g.Const)
                and isinstance(high, g.Const)
                and known.low + c >= -2147483648
                and int(high.value) + c <= int(n.value)
            )
        m, d = self._affine(high)
        least = self.low(n)
        if m != n or least is None or least < 0 or not -1000000 < d <= 0 or not -1000000 < e <= 0:
            return False
        return known.low + c >= -2147483648 and d + c <= e

    def definition(self, a: g.Atom) -> g.Op | None:
        """The operation behind a variable."""
        return self.definitions.get(a.name) if isinstance(a, g.Var) else None
