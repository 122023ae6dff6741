"""One walk over a function, forwards, with scopes: the frame in which most passes do their work.

`Walker` is a `Rewriter` that hands every statement to `step`, which emits what takes its place into `out`.
`definitions` has the right-hand side of each variable set so far. What a pass learns on its way (an expression that has
been computed, a condition that holds) is true until the end of the block it was learnt in: tables changed through
`note` get their old contents back there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.names import Names
from sacpy.jit.ir.operations import op_base
from sacpy.jit.ir.rewrite import Rewriter, names_of
from sacpy.lang.source import NOWHERE, Span

_MISSING = object()


class Walker(Rewriter):
    """See above. A pass overrides `step`, `check`, `let` or `define`, or holds a walker and takes these over."""

    def __init__(self, function: g.Function) -> None:
        super().__init__()
        self.source = function
        self.out: list[g.Stmt] = []
        self.definitions: dict[str, g.Rhs] = {}
        self._trail: list[tuple[dict[Any, Any], Any, Any]] = []

    @cached_property
    def supply(self) -> Names:
        """Names that are new in the function."""
        return names_of(self.source)

    def take_over(self, **methods: Callable[..., Any]) -> None:
        """Puts functions in the place of methods of this walker: those of a pass that holds it, or of what is known on
        the way. They go on with what was there before, as `Simplifier.rhs(walk, r)`."""
        assert all(hasattr(self, name) for name in methods)
        vars(self).update(methods)

    # ---- scopes

    def note(self, table: dict[Any, Any], key: Any, value: Any) -> None:
        """Sets an entry of a table until the current scope ends."""
        self._trail.append((table, key, table.get(key, _MISSING)))
        table[key] = value

    def scoped(self, work: Callable[[], Any]) -> Any:
        """The result of work in a scope of its own."""
        mark = len(self._trail)
        try:
            return work()
        finally:
            while len(self._trail) > mark:
                table, key, old = self._trail.pop()
                if old is _MISSING:
                    del table[key]
                else:
                    table[key] = old

    # ---- code

    def block(self, b: g.Block) -> g.Block:
        return self.inside(b, None)

    def inside(self, b: g.Block, before: Callable[[], None] | None) -> g.Block:
        """A block, walked in a scope where `before` has taken notes."""
        outer, self.out = self.out, []

        def work() -> g.Block:
            if before is not None:
                before()
            for s in b.statements:
                self.step(s)
            return g.Block(tuple(self.out), self.atoms(b.results))

        try:
            new: g.Block = self.scoped(work)
        finally:
            self.out = outer
        return new

    def step(self, s: g.Stmt) -> None:
        """Handles one statement."""
        if isinstance(s, g.Check):
            self.check(s, self.atom(s.condition))
        else:
            self.let(s)

    def check(self, s: g.Check, condition: g.Atom) -> None:
        """Emits a check."""
        self.out.append(s if condition is s.condition else g.Check(condition, s.what, s.span))

    def let(self, s: g.Let) -> None:
        """Walks a right-hand side and defines the targets."""
        self.define(s.targets, self.rhs(s.rhs), s.span)

    def define(self, targets: tuple[g.Var, ...], rhs: g.Rhs, span: Span = NOWHERE) -> None:
        """Sets variables to a right-hand side that has been walked."""
        targets = self.binds(targets)
        for t in targets:
            self.definitions[t.name] = rhs
        self.out.append(g.Let(targets, rhs, span))

    def alias(self, target: g.Var, atom: g.Atom) -> None:
        """Lets an atom stand for a variable from now on."""
        self.env[target.name] = atom

    def emit(self, stem: str, rhs: g.Op, span: Span = NOWHERE) -> g.Atom:
        """Sets a new scalar variable; gives the atom that stands for it, which may be another one that has the
        value."""
        target = self.supply.var(stem, g.ScalarType(op_base(rhs.code, rhs.args)))
        self.define((target,), rhs, span)
        return self.atom(target)

    def op(self, stem: str, code: str, *args: g.Atom, exact: bool = False) -> g.Atom:
        """The same for an operation on some operands."""
        return self.emit(stem, g.Op(code, args, exact))

    def definition(self, atom: g.Atom) -> g.Rhs | None:
        """What a variable was set to, where that is known."""
        return self.definitions.get(atom.name) if isinstance(atom, g.Var) else None

    def are_some(self, bounds: Sequence[tuple[g.Atom, g.Atom]]) -> g.Atom:
        """Whether there is an index within bounds."""
        some: g.Atom = g.TRUE
        for lower, upper in bounds:
            there = self.op("some", "lt", lower, upper)
            some = there if some == g.TRUE else self.op("some", "and", some, there)
        return some
