"""The state of one function's capture: what each variable is, what shares memory, and what is to be written first.

In: nodes of Python's tree, for which handlers are registered in `EXPRESSIONS` and `CALLS`. Out: `Val`s, SaC expressions
with what they are. A variable of whole numbers is a SaC `int` until one of its values may not fit; then the capture of
the function begins anew with a `long` (`Restart`), at most once for each variable.
"""

from __future__ import annotations

import ast as py
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from sacpy.capture import build
from sacpy.capture.kinds import INTS, UNSET, Kind, Num, Several, Unset, join, whole, widened
from sacpy.capture.places import CANNOT, DIFFER, NOT_SET, SHARED, Places, refusal
from sacpy.lang import ast
from sacpy.lang.diagnostics import Label, SacError
from sacpy.lang.elaborate.freenames import nodes
from sacpy.lang.source import Span
from sacpy.lang.vocabulary import RESERVED
from sacpy.nodes import Node, Record, field, replace

T = TypeVar("T")


class Restart(Exception):
    """Something has been learnt that changes what was written: begin anew."""


class Torn(Node):
    """Of a variable that is one thing on one way and another on the other."""

    first: Kind
    second: Kind

    def __str__(self) -> str:
        return f"{self.first} or {self.second}"


class Val(Record):
    """A value: the SaC expression, and what it is; `items` of a tuple; `shares`: the variables whose memory it is, in
    Python. `narrow`: of a sum that may not fit a SaC `int`, the same in `int`s, good for an index: where it wraps it is
    negative, and no index."""

    expr: ast.Expr
    kind: Num
    items: tuple[Val, ...] | None = None
    shares: frozenset[str] = frozenset()
    narrow: ast.Expr | None = None

    @property
    def span(self) -> Span:
        """Where it stands."""
        return self.expr.span


TWICE = 200  # nodes of an expression that may be written twice where it can have no name
Pairs = frozenset[frozenset[str]]
State = tuple[dict[str, "Kind | Torn"], Pairs]
NOTHING = Num("void", 0)


class Knowledge(Record):
    """What stays known when a capture begins anew. `wide`: variables that are `long`; `kinds`: what variables of the
    turning are; `places`: where each variable was set first."""

    wide: set[str] = field(default_factory=set)
    kinds: dict[str, Kind] = field(default_factory=dict)
    places: dict[str, Span] = field(default_factory=dict)


class Frame:
    """One function. `unit` finds what it calls; `look` gives the value of a name that is none of its variables."""

    def __init__(
        self, unit: Any, places: Places, look: Callable[[str], Any], known: Knowledge, locals: set[str]
    ) -> None:
        self.unit = unit
        self.places = places
        self.look = look
        self.known = known
        self.locals = locals
        self.env: dict[str, Kind | Torn] = {}
        self.pairs: Pairs = frozenset()
        self.pre: list[ast.Stmt] | None = None
        self.renamed: dict[str, Val] = {}
        self.numbers: dict[str, int] = {}
        self.returned: list[Val] | None = None
        self.inner: set[str] = set()  # names of indices of with-loops around

    # ------------------------------------------------------------ values

    def value(self, node: py.expr) -> Val:
        """The value of an expression. Raises `SacError` for what cannot be captured."""
        handler = EXPRESSIONS.get(type(node))
        if handler is None:
            what, help = NOT_TAKEN.get(type(node), (f"{type(node).__name__} is not taken", ""))
            raise self.refused(node, what, help)
        return handler(self, node)

    def scalar(self, node: py.expr) -> Val:
        """The value of an expression that must be a number."""
        found = self.value(node)
        if found.items is not None or found.kind.rank != 0 or found.kind == NOTHING:
            raise self.refused(node, f"a number is needed here, and this is {self.shown(found)}", "", DIFFER)
        return found

    def shown(self, found: Val) -> str:
        """What a value is, in words."""
        if found.items is not None:
            return f"a tuple of {len(found.items)}"
        return "nothing" if found.kind == NOTHING else str(found.kind)

    def span(self, node: py.AST) -> Span:
        """The place of a node."""
        return self.places.span(node)

    def refused(
        self, node: py.AST | Span, message: str, help: str = "", code: str = CANNOT, label: str = ""
    ) -> SacError:
        """The error of what cannot be captured."""
        span = node if isinstance(node, Span) else self.span(node)
        return refusal(span, message, help, code, label=label)

    # ------------------------------------------------------------ names

    def fresh(self, stem: str) -> str:
        """A name that no variable has."""
        while True:
            number = self.numbers[stem] = self.numbers.get(stem, 0) + 1
            name = f"{stem}{number}"
            if name not in self.locals:
                return name

    def sac_name(self, name: str) -> str:
        """A variable's name in SaC."""
        if name.isascii() and not name.startswith("_") and name not in RESERVED:
            return name
        return self._unused("v" + "".join(c if c.isascii() else f"{ord(c):x}" for c in name))

    def part_name(self, sac: str, number: int) -> str:
        """The name of the variable that stands for an item of a tuple."""
        return self._unused(f"{sac}_{number}")

    def _unused(self, name: str) -> str:
        while name in self.locals:
            name += "_"
        return name

    def read(self, name: str, node: py.AST) -> Val:
        """The value of a variable."""
        if name in self.renamed:
            found = self.renamed[name]
            return replace(found, expr=_placed(found.expr, self.span(node)))
        kind = self.env.get(name, UNSET)
        if isinstance(kind, Torn):
            if UNSET in (kind.first, kind.second):
                message = f"{name} may not be set here"
                raise self.labelled(node, name, message, "set it before, whichever way is taken", NOT_SET)
            message = f"{name} is {kind.first} on one way to here and {kind.second} on another"
            both = {str(kind.first), str(kind.second)}
            zero = "" if "int" not in both else f"{name} = 0.0" if "float" in both else ""
            zero = f"{name} = 0j" if both & {"int", "float"} and "complex" in both else zero
            help = f"give it one type on all ways{': write ' + zero if zero else ''}"
            raise self.labelled(node, name, message, help, DIFFER)
        if isinstance(kind, Unset):
            raise self.labelled(node, name, f"{name} is not set before it is used", "set it first", NOT_SET)
        return self.variable(self.sac_name(name), name, kind, self.span(node))

    def labelled(self, node: py.AST, name: str, message: str, help: str, code: str) -> SacError:
        """An error about a variable, with the place where it is set."""
        place = self.known.places.get(name)
        labels = (Label(place, f"{name} is set here"),) if place is not None else ()
        return refusal(self.span(node), message, help, code, labels)

    def variable(self, sac: str, name: str, kind: Kind, span: Span) -> Val:
        """The value of a variable, or, for a tuple, of those that stand for its items."""
        if isinstance(kind, Several):
            items = tuple(
                self.variable(self.part_name(sac, i), f"{name}.{i}", k, span) for i, k in enumerate(kind.items)
            )
            return Val(build.var(sac, span), NOTHING, items)
        assert isinstance(kind, Num)
        if kind.is_int:
            kind = replace(kind, base="long" if name in self.known.wide else "int", literal=False)
        shares = frozenset((name,)) if kind.rank != 0 else frozenset()
        return Val(build.var(sac, span), kind, None, shares)

    # ------------------------------------------------------------ setting variables

    def store(self, name: str, found: Val, span: Span) -> list[ast.Stmt]:
        """Sets a variable."""
        self.known.places.setdefault(name, span)
        kind, statements = self._stored(self.sac_name(name), name, found, span)
        self.env[name] = kind
        self.forget_pairs(name)
        self._pair(name, found)
        return statements

    def _pair(self, name: str, found: Val) -> None:
        """Notes with which variables a new value shares memory; items of tuples are called `t.0`."""
        self.pairs |= {frozenset((name, other)) for other in self._with_partners(found.shares) if other != name}
        for i, item in enumerate(found.items or ()):
            self._pair(f"{name}.{i}", item)

    def _stored(self, sac: str, name: str, found: Val, span: Span) -> tuple[Kind, list[ast.Stmt]]:
        if found.items is not None:
            parts = [
                self._stored(self.part_name(sac, i), f"{name}.{i}", item, span) for i, item in enumerate(found.items)
            ]
            return Several(tuple(k for k, _ in parts)), [s for _, more in parts for s in more]
        if found.kind == NOTHING:
            raise self.refused(span, "this gives nothing that could be kept", "call it as a statement", DIFFER)
        self.settle(name, found.kind)
        expr = found.expr
        if found.kind.is_int:
            expr = self.coerced(found, "long" if name in self.known.wide else "int").expr
        return replace(found.kind, literal=False), [build.assign(sac, expr, span)]

    def settle(self, name: str, kind: Kind | Torn) -> None:
        """Sees that a variable of whole numbers is wide enough. Raises `Restart` where it was not."""
        if isinstance(kind, Several):
            for i, item in enumerate(kind.items):
                self.settle(f"{name}.{i}", item)
        elif isinstance(kind, Num) and kind.is_int and not kind.is_small and name not in self.known.wide:
            self.known.wide.add(name)
            raise Restart

    def coerced(self, found: Val, base: str) -> Val:
        """A whole number as SaC `int` or `long`; where it may not fit an `int`, one that no array has for an index."""
        kind = found.kind
        if kind.base == base:
            return found
        if isinstance(found.expr, ast.Literal) and kind.is_int:
            return replace(
                found, expr=build.integer(int(found.expr.value), found.span, base), kind=replace(kind, base=base)
            )
        if base == "long":
            return Val(build.call("tol", [found.expr], found.span), replace(kind, base="long"))
        if kind.is_small:
            return Val(build.call("toi", [found.expr], found.span), replace(kind, base="int"))
        return Val(self.support("index_of", [found.expr], found.span), whole(-1, 2**31 - 1))

    def support(self, name: str, args: list[ast.Expr], span: Span) -> ast.Expr:
        """A call of one of the functions that capture brings along."""
        return build.call(self.unit.support(name), args, span)

    # ------------------------------------------------------------ what is written before a statement

    @contextmanager
    def writing(self) -> Iterator[list[ast.Stmt]]:
        """Collects what must be evaluated before."""
        kept, self.pre = self.pre, []
        try:
            yield self.pre
        finally:
            self.pre = kept

    @contextmanager
    def conditional(self) -> Iterator[None]:
        """Within: an operand that may not be evaluated, before which nothing may be written."""
        kept, self.pre = self.pre, None
        try:
            yield
        finally:
            self.pre = kept

    def kept(self, found: Val, node: py.AST) -> Val:
        """The same value, in a variable where it is more than a name or a number, so that it may stand twice."""
        if found.items is not None or build.is_simple(found.expr):
            return found
        if self.pre is None and sum(1 for _ in nodes(found.expr)) <= TWICE:
            return found
        if self.pre is None:
            help = "set a variable before this statement"
            raise self.refused(node, "a value that is used twice must have a name here", help)
        name = self.fresh("t")
        self.pre.append(build.assign(name, found.expr, found.span))
        return replace(found, expr=build.var(name, found.span))

    # ------------------------------------------------------------ shared memory

    def _with_partners(self, names: frozenset[str]) -> frozenset[str]:
        return names | {other for pair in self.pairs if pair & names for other in pair}

    def forget_pairs(self, name: str) -> None:
        """A variable gets a new value: it shares no memory any more."""
        own = f"{name}."
        self.pairs = frozenset(p for p in self.pairs if not any(n == name or n.startswith(own) for n in p))

    def changing(self, name: str, node: py.AST) -> None:
        """An array is changed in place. Raises `SacError` where Python would change another variable with it."""
        others = sorted(other for pair in self.pairs if name in pair for other in pair - {name})
        if others:
            other = others[0].partition(".")[0]
            message = f"{name} and {other} share memory in Python, so this would change both"
            raise self.refused(node, message, f"copy where one is set from the other: {others[0]}.copy()", SHARED)

    # ------------------------------------------------------------ ways that meet

    def state(self) -> State:
        """What is known here."""
        return dict(self.env), self.pairs

    def go(self, state: State) -> None:
        """Goes on from there."""
        self.env, self.pairs = dict(state[0]), state[1]

    def meet(self, first: State, second: State, *, widen: bool = False) -> State:
        """Where two ways meet."""
        env: dict[str, Kind | Torn] = {}
        for name in dict.fromkeys((*first[0], *second[0])):
            a, b = first[0].get(name, UNSET), second[0].get(name, UNSET)
            if a == b or isinstance(a, Torn):
                env[name] = a
            elif isinstance(b, Torn):
                env[name] = b
            else:
                one = None if UNSET in (a, b) else join(a, b)
                if one is not None and widen:
                    one = widened(a, one)
                env[name] = Torn(a, b) if one is None else one
                self.settle(name, env[name])
        return env, first[1] | second[1]

    def stable(self, once: Callable[[], T]) -> T:
        """What a loop's body gives when nothing changes any more from round to round; behind it, the state is that at
        the loop's head."""
        head = self.state()
        for number in range(12):
            self.go(head)
            found = once()
            new = self.meet(head, self.state(), widen=number > 0)
            if new == head:
                self.go(head)
                return found
            head = new
        raise AssertionError("a loop's types do not settle")


def _placed(expr: ast.Expr, span: Span) -> ast.Expr:
    return build.var(expr.name.name, span) if isinstance(expr, ast.Name) else expr


Handler = Callable[[Frame, Any], Val]
EXPRESSIONS: dict[type, Handler] = {}
NOT_TAKEN: dict[type, tuple[str, str]] = {
    py.Lambda: ("a lambda is not taken", "write a function with 'def', and decorate it with @sacpy.function"),
    py.Dict: ("a dictionary is not taken", "use arrays: one for the keys' numbers, one for the values"),
    py.DictComp: ("a dictionary is not taken", "use arrays: one for the keys' numbers, one for the values"),
    py.Set: ("a set is not taken", "use an array of bool, with True for what is in it"),
    py.SetComp: ("a set is not taken", "use an array of bool, with True for what is in it"),
    py.JoinedStr: ("text is not taken", "compute with numbers, and format in Python"),
    py.Yield: ("a generator function is not taken", "return an array with all values"),
    py.YieldFrom: ("a generator function is not taken", "return an array with all values"),
    py.Await: ("'await' is not taken", "await in Python, and pass the value"),
    py.NamedExpr: ("':=' is not taken", "set the variable in a statement of its own before"),
    py.Starred: ("'*' before a value is not taken", "write the values one by one"),
    py.GeneratorExp: ("a generator stands by itself here", "put it into sum, min, max, any or all, or into [..]"),
}  # fmt: skip


def handles(*types: type) -> Callable[[Handler], Handler]:
    """Registers what an expression becomes."""

    def register(handler: Handler) -> Handler:
        for type in types:
            EXPRESSIONS[type] = handler
        return handler

    return register


__all__ = ["EXPRESSIONS", "INTS", "NOTHING", "Frame", "Knowledge", "Restart", "Torn", "Val", "handles"]
