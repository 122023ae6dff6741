"""One function of core, executed symbolically: its variables stand for values, its statements become code in a builder.

In: a function and its arguments' values. Out: its results' values. Branches and loops are in `control`, with-loops in
`withloops`, calls in `calls`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from sacpy.jit.failures import Unsupported
from sacpy.jit.ir.graph import Atom
from sacpy.jit.specialise import calls, control, primitives, structure
from sacpy.jit.specialise.elementwise import need_scalar
from sacpy.jit.specialise.emit import Builder
from sacpy.jit.specialise.patterns import Names
from sacpy.jit.specialise.values import Branches, Value
from sacpy.jit.specialise.withloops import with_loop
from sacpy.lang import core
from sacpy.lang.plan import compile_plan
from sacpy.lang.types import BUILTIN

if TYPE_CHECKING:
    from sacpy.jit.specialise.maker import Maker

KNOWN = frozenset(BUILTIN)
Values = list["Value | None"]
Rest = Callable[[Values], Values]


class Walk:
    """The symbolic execution of one call. `stack`: the calls that it is inlined into, outermost first."""

    def __init__(self, maker: Maker, builder: Builder, function: core.Function, stack: tuple[calls.Frame, ...]) -> None:
        self.maker = maker
        self.b = builder
        self.function = function
        self.stack = stack
        self.env: dict[str, Value | None] = {}

    def run(self, args: Sequence[Value], rest: Rest | None = None) -> Values:
        """The results, with all that is checked on entry and on exit; or what comes of them, where `rest` is what the
        caller does with them. Raises `Branches`."""
        f, b = self.function, self.b
        signature = f.signature
        plan = self.maker.plan(signature)
        for slot, arg in zip(signature.params, args, strict=True):
            self.env[slot.bind.name] = arg
        names = Names(b)
        names.run(plan.entry, args)
        for name, variable in signature.pattern_names:
            self.env.setdefault(variable, names.value(name))
        self._conditions(on_exit=False)

        def leave(results: Values) -> Values:
            found = [self._set(r, a) for r, a in zip(results, f.returns)]
            names.run(plan.exit, found)
            for name, variable in f.exit_names:
                self.env[variable] = names.value(name)
            self._conditions(on_exit=True)
            return results if rest is None else rest(results)

        return self.values(f.body, f.returns, leave)

    def _conditions(self, *, on_exit: bool) -> None:
        for condition in self.function.conditions:
            if condition.on_exit == on_exit:
                self.block(condition.block)
                self.b.check(
                    self.scalar(condition.value, "a condition is a scalar"), f"the condition {condition.text} holds"
                )

    # ---- atoms

    def value(self, atom: core.Atom) -> Value:
        """The value of an atom."""
        if isinstance(atom, core.Const):
            return self._constant(atom)
        found = self.env[atom.name]
        if found is None:
            raise Unsupported("a value is used before it is set", atom.span)
        return found

    def maybe(self, atom: core.Atom) -> Value | None:
        """The same; None for a value that nobody sees."""
        if isinstance(atom, core.Const):
            return None if atom.undefined else self._constant(atom)
        return self.env[atom.name]

    def _constant(self, atom: core.Const) -> Value:
        if atom.base not in KNOWN:
            raise Unsupported(f"it uses values of type {_plain(atom.base)}", atom.span)
        return structure.constant(self.b, atom.base, atom.shape, [v for v in atom.value if not isinstance(v, bytes)])

    def scalar(self, atom: core.Atom, what: str) -> Atom:
        """The value of an atom that must be a scalar."""
        return self.b.same(need_scalar(self.value(atom), what))

    @staticmethod
    def _set(value: Value | None, atom: core.Atom) -> Value:
        if value is None:
            raise Unsupported("a value is used before it is set", atom.span)
        return value

    # ---- statements

    def block(self, block: core.Block) -> None:
        """Executes the statements of a block. Raises `Branches`."""
        for statement in block.statements:
            self._statement(statement)

    def applied(self, function: core.Lambda, left: Sequence[Value], right: Sequence[Value]) -> list[Value]:
        """One application of a function that combines values."""
        for bind, value in zip(function.params, [*left, *right]):
            self.env[bind.name] = value
        with self.b.in_cells():
            return self.results(function.body, function.results)

    def results(self, block: core.Block, atoms: Sequence[core.Atom]) -> list[Value]:
        """The values of these atoms behind the statements of a block. Raises `Branches`."""
        return [self._set(value, atom) for value, atom in zip(self.values(block, atoms), atoms)]

    def values(self, block: core.Block, atoms: Sequence[core.Atom], rest: Rest | None = None, at: int = 0) -> Values:
        """The same for values that nobody may see, from a statement on; or what comes of them. Where two branches give
        values of different rank, all that comes after them is made in both. Raises `Branches` where that is of no
        use."""
        for k in range(at, len(block.statements)):
            statement = block.statements[k]
            try:
                if id(statement) not in self.maker.dividing:
                    self._statement(statement)
                    continue
            except Branches:
                if not isinstance(statement, core.If) and not (
                    isinstance(statement, core.Let) and isinstance(statement.rhs, core.Call)
                ):
                    raise
                self.maker.dividing[id(statement)] = statement
            if not self.maker.may_divide(self.b):
                raise Branches
            return self._divided(statement, partial(self.values, block, atoms, rest, k + 1))
        found = [self.maybe(a) for a in atoms]
        return found if rest is None else rest(found)

    def _divided(self, s: core.Stmt, rest: Callable[[], Values]) -> Values:
        """A statement that gives values of a rank that a condition decides on, with what comes after it."""
        self.b.span = s.span
        match s:
            case core.If():
                return control.divided(self, s, rest)
            case core.Let(targets=targets, rhs=core.Call() as call):

                def bound(found: Values) -> Values:
                    for target, value in zip(targets, found, strict=True):
                        self.env[target.name] = value
                    return rest()

                return calls.call(self, call, bound)
        raise AssertionError(s)

    def _statement(self, statement: core.Stmt) -> None:
        self.b.span = statement.span
        match statement:
            case core.Let():
                self._let(statement)
            case core.If():
                control.branch(self, statement)
            case core.Loop():
                control.loop(self, statement)
            case core.Check():
                self._check(statement)
            case core.GlobalSet():
                raise Unsupported(f"it sets the global object {statement.name}", statement.span)

    def _let(self, let: core.Let) -> None:
        rhs = let.rhs
        for target in let.targets:
            if target.base not in KNOWN:
                raise Unsupported(f"it uses values of type {_plain(target.base)}", let.span)
        match rhs:
            case core.Prim():
                self.env[let.targets[0].name] = primitives.apply(self.b, rhs, [self.value(a) for a in rhs.args])
            case core.Call():
                for target, value in zip(let.targets, calls.call(self, rhs), strict=True):
                    self.env[target.name] = value
            case core.Var() | core.Const():
                self.env[let.targets[0].name] = self.maybe(rhs)
            case core.ArrayCons():
                self.env[let.targets[0].name] = structure.cons(self.b, [self.value(a) for a in rhs.elements])
            case core.WithLoop():
                with_loop(self, let, rhs)
            case core.GlobalGet():
                raise Unsupported(f"it reads the global object {rhs.name}", let.span)

    def _check(self, check: core.Check) -> None:
        """A cast to a shape, a declared type: its patterns, for one value."""
        value = self.value(check.value)
        bind = core.Bind("value", value.base, "", check.span)
        slot = core.Slot(bind, check.pattern, check.cell, check.text)
        signature = core.Signature("", check.what, (slot,), (), (), "", None, check.text, check.span)
        Names(self.b).run(compile_plan(signature).entry, [value])


def _plain(base: str) -> str:
    return base.rpartition("::")[2]
