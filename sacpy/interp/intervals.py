"""The integers that an expression can be, as intervals: where the interpreter's code need not wrap, and need not ask
whether an index is negative.

In: the intervals of operands, and the comparisons that hold where the code stands. Out: the interval of a result before
it is wrapped; `Known`, the intervals of the variables of a function. Core is in single assignment, so what holds for a
variable holds wherever it is seen; what a condition says holds in its branch, and in the body of its loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from sacpy.interp.arithmetic import limits
from sacpy.lang.core import Atom, Const, Prim, Var

Interval: TypeAlias = tuple[int, int]  # the smallest and the largest


INT = limits("int")
NATURAL = (0, INT[1])
_OPPOSITE = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "neq", "neq": "eq"}
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq"}
TESTS = frozenset({*_OPPOSITE, "and", "or", "not"})


def within(inner: Interval, outer: Interval) -> bool:
    """Whether one interval lies in another."""
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def proper(low: int, high: int) -> Interval:
    """The interval between two ints; where there is none, nobody has such a value, and any interval will do."""
    return (low, high) if low <= high else INT


def hull(a: Interval, b: Interval) -> Interval:
    """What lies in either, and between them."""
    return min(a[0], b[0]), max(a[1], b[1])


def result(op: str, args: Sequence[Interval]) -> Interval | None:
    """What an operation on integers gives before it is wrapped; None: anything."""
    rule = _RULES.get(op)
    return None if rule is None else rule(*args)


def _corners(operation: Callable[[int, int], int], a: Interval, b: Interval) -> Interval:
    """Of an operation that grows or falls along each of its operands."""
    found = [operation(x, y) for x in a for y in b]
    return min(found), max(found)


def _quotient(a: Interval, b: Interval) -> Interval | None:
    return _corners(lambda x, y: abs(x) // y * (1 if x >= 0 else -1), a, b) if b[0] > 0 else None


def _remainder(a: Interval, b: Interval) -> Interval | None:
    """With the sign of the dividend, as in C."""
    if b[0] <= 0:
        return None
    most = b[1] - 1
    return (0 if a[0] >= 0 else max(a[0], -most)), (0 if a[1] <= 0 else min(a[1], most))


def _magnitude(a: Interval) -> Interval:
    return (0 if a[0] <= 0 <= a[1] else min(map(abs, a))), max(map(abs, a))


_RULES: dict[str, Callable[..., Interval | None]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "mul": lambda a, b: _corners(lambda x, y: x * y, a, b),
    "neg": lambda a: (-a[1], -a[0]),
    "abs": _magnitude,
    "min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "max": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "div": _quotient,
    "mod": _remainder,
    "aplmod": lambda a, b: (0, b[1] - 1) if b[0] > 0 else None,
    "bitand": lambda a, b: (0, min(a[1], b[1])) if a[0] >= 0 and b[0] >= 0 else None,
    "shr": lambda a, b: (0, a[1]) if a[0] >= 0 else None,
}


class Known:
    """What is known of the int variables of a function. `bounds`: at the place that is being looked at."""

    def __init__(self) -> None:
        self.bounds: dict[str, Interval] = {}
        self._tests: dict[str, tuple[str, tuple[Atom, ...]]] = {}

    def of(self, atom: Atom) -> Interval:
        """What an int can be."""
        if isinstance(atom, Const):
            value = atom.value[0] if len(atom.value) == 1 else None
            return (value, value) if isinstance(value, int) else INT
        return self.bounds.get(atom.name, INT)

    def test(self, name: str, rhs: Prim, base: str) -> None:
        """A variable says whether something holds (one of `TESTS`). `base`: of what is compared."""
        if base == ("bool" if rhs.op in ("and", "or", "not") else "int"):
            self._tests[name] = (rhs.op, rhs.args)

    def merge(self, name: str, condition: Atom, then: Atom, otherwise: Atom) -> None:
        """A variable is one of two things: `a && b` and `a || b` are such."""
        if isinstance(otherwise, Const) and otherwise.value == (False,) and otherwise.base == "bool":
            self._tests[name] = ("and", (condition, then))
        elif isinstance(then, Const) and then.value == (True,) and then.base == "bool":
            self._tests[name] = ("or", (condition, otherwise))

    @contextmanager
    def inside(self, name: str, bounds: Interval) -> Iterator[None]:
        """Inside, a variable lies in an interval."""
        before = self.bounds
        self.bounds = {**before, name: bounds}
        try:
            yield
        finally:
            self.bounds = before

    @contextmanager
    def where(self, test: Atom, holds: bool) -> Iterator[None]:
        """Inside, a test is known to hold, or not to."""
        before = self.bounds
        self.bounds = dict(before)
        self._narrow(test, holds)
        try:
            yield
        finally:
            self.bounds = before

    def _narrow(self, test: Atom, holds: bool) -> None:
        op, args = self._tests.get(test.name, ("", ())) if isinstance(test, Var) else ("", ())
        if op == "not":
            self._narrow(args[0], not holds)
        elif op in ("and", "or"):
            if holds == (op == "and"):
                for one in args:
                    self._narrow(one, holds)
        elif op:
            a, b = args
            op = op if holds else _OPPOSITE[op]
            if op != "neq":
                self._bound(a, op, self.of(b))
                self._bound(b, _MIRRORED[op], self.of(a))

    def _bound(self, atom: Atom, op: str, other: Interval) -> None:
        """An atom is `op` than some value of the other interval."""
        low, high = self.of(atom)
        match op:
            case "lt":
                high = min(high, other[1] - 1)
            case "le":
                high = min(high, other[1])
            case "gt":
                low = max(low, other[0] + 1)
            case "ge":
                low = max(low, other[0])
            case "eq":
                low, high = max(low, other[0]), min(high, other[1])
        if isinstance(atom, Var) and low <= high:  # else nobody comes here
            self.bounds[atom.name] = low, high
