"""Statements: assignments, local declarations, conditionals, loops. (A `return` is the frame's business: functions.py.)

A statement that fails leaves the names it would have set without a value, silently, so that one mistake gives one
message."""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.lang import ast, core
from sacpy.lang.diagnostics import Label, SacError
from sacpy.lang.elaborate.calls import operation, references
from sacpy.lang.elaborate.context import Context, Lost, Torn, Value, Variables
from sacpy.lang.elaborate.expressions import type_text
from sacpy.lang.elaborate.freenames import assigned, mentioned
from sacpy.lang.elaborate.joins import needed, without_idle
from sacpy.lang.elaborate.selections import update
from sacpy.lang.elaborate.usertypes import BOOL
from sacpy.lang.source import Span


def statements(cx: Context, body: Sequence[ast.Stmt]) -> None:
    """Elaborates statements in order into the present block."""
    for statement in body:
        if not cx.guarded(lambda s=statement: _statement(cx, s)):  # type: ignore[misc]
            for name in assigned(statement, lambda c: _references(cx, c)):
                cx.variables[name] = None


def _statement(cx: Context, statement: ast.Stmt) -> None:
    match statement:
        case ast.Assign():
            _assign(cx, statement)
        case ast.Step():
            _step(cx, statement)
        case ast.CallStmt():
            cx.values(statement.call, 0)
        case ast.VarDecl():
            _declare(cx, statement)
        case ast.If():
            _if(cx, statement)
        case ast.While():
            _loop(cx, statement.condition, statement.body, (), False, statement.span)
        case ast.DoWhile():
            _loop(cx, statement.condition, statement.body, (), True, statement.span)
        case ast.For():
            statements(cx, statement.init)
            _loop(cx, statement.condition, statement.body, statement.update, False, statement.span)
        case ast.Return():
            cx.fail(
                "E0422",
                "return may only end a function",
                statement.span,
                "not at the end",
                help="set a variable in the branches, and return it at the end of the function",
            )


# ---------------------------------------------------------------- assignments


def _assign(cx: Context, node: ast.Assign) -> None:
    if len(node.targets) == 1:
        target = node.targets[0]
        if target.path or node.operator is not None:
            _assign_part(cx, target, node.value, node.operator, node.span)
        else:
            set_variable(cx, target.name, cx.value(node.value), target.name_span)
        return
    values = cx.values(node.value, len(node.targets))
    if len(values) != len(node.targets):
        n = len(values)
        cx.fail(
            "E0401",
            f"this gives {n} value{'s' * (n != 1)}, {len(node.targets)} names stand on the left",
            node.value.span,
            f"gives {n}",
            labels=(Label(node.targets[0].span.to(node.targets[-1].span), f"{len(node.targets)} names"),),
            help="name each value; _ ignores one",
        )
    for target, value in zip(node.targets, values, strict=True):
        if target.path or node.operator is not None:
            _assign_part(cx, target, value, node.operator, node.span)
        else:
            set_variable(cx, target.name, value, target.name_span)


def _assign_part(
    cx: Context, target: ast.Target, value: ast.Expr | Value, operator: ast.QName | None, span: Span
) -> None:
    # The right-hand side comes first, so a mistake in it is found even where the variable is unknown.
    given = value if isinstance(value, Value) else cx.value(value)
    name = ast.Name(ast.QName(None, target.name, target.name_span), target.name_span)
    base = cx.value(name)
    if target.path:
        set_variable(cx, target.name, update(cx, base, target.path, given, operator, span), target.name_span)
        return
    assert operator is not None
    set_variable(cx, target.name, operation(cx, operator, [base, given], span)[0], target.name_span)


def _step(cx: Context, node: ast.Step) -> None:
    target = node.target
    base = cx.value(ast.Name(ast.QName(None, target.name, target.name_span), target.name_span))
    if not target.path:
        set_variable(cx, target.name, operation(cx, node.operator, [base], node.span)[0], target.name_span)
        return
    set_variable(cx, target.name, update(cx, base, target.path, None, node.operator, node.span), target.name_span)


def set_variable(cx: Context, name: str, value: Value, span: Span) -> None:
    """Gives a variable a new value. Temporaries just made take the variable's name, so core reads like the program."""
    declared = cx.declared.get(name)
    if declared is not None:
        type, written = declared
        cx.expect(
            value, type, "E0402", f"{name} is declared {type.shown}, the value is {value.type.shown}", written.span
        )
        for atom, component in zip(value.atoms, type.components, strict=True):
            if not type.any_cell and type.kind != "packed":  # whose names stand for any size
                cx.emit(
                    core.Check(
                        atom,
                        written.pattern,
                        component.cell,
                        type_text(written),
                        f"the declared type of {name}",
                        value.span,
                    )
                )
    if name == "_":
        return
    cx.variables[name] = Value(
        value.type,
        tuple(
            _named(cx, a, name, c.path, c.base, span) for a, c in zip(value.atoms, value.type.components, strict=True)
        ),
        span,
    )


def _named(cx: Context, atom: core.Atom, name: str, path: str, base: str, span: Span) -> core.Atom:
    shown = f"{name}.{path}" if path else name
    last = cx.statements[-1] if cx.statements else None
    if (
        isinstance(atom, core.Var)
        and isinstance(last, core.Let)
        and len(last.targets) == 1
        and last.targets[0].name == atom.name
        and not last.targets[0].source
        and not _held(cx, atom)
    ):
        bind = cx.bind(shown, base, span, shown)
        cx.statements[-1] = core.Let((bind,), last.rhs, last.span)
        return core.Var(bind.name, span)
    if isinstance(atom, core.Const) and (len(atom.value) < 1 or (len(atom.value) == 1 and not cx.program.traced)):
        return atom
    bind = cx.bind(shown, base, span, shown)
    cx.emit(core.Let((bind,), atom, span))
    return core.Var(bind.name, span)


def _held(cx: Context, atom: core.Var) -> bool:
    """Whether a variable has that temporary as its value already (a reference parameter's new value, say)."""
    return any(
        isinstance(a, core.Var) and a.name == atom.name
        for v in cx.variables.values()
        if isinstance(v, Value)
        for a in v.atoms
    )


def _declare(cx: Context, node: ast.VarDecl) -> None:
    type = cx.base_type(node.type)
    for name, _ in node.names:
        cx.declared[name] = (type, node.type)


# ---------------------------------------------------------------- conditionals


def _if(cx: Context, node: ast.If) -> None:
    condition = cx.scalar(node.condition, BOOL, "the condition")
    after: list[Variables] = []

    def branch(body: Sequence[ast.Stmt]) -> core.Block:
        def fill() -> None:
            statements(cx, body)
            after.append(cx.variables)

        return cx.block(fill)

    blocks = branch(node.then), branch(node.otherwise)
    merges: list[core.Merge] = []
    for name in {**after[0], **after[1]}:
        a, b = after[0].get(name), after[1].get(name)
        if name in after[0] and name in after[1] and (a is b or a == b):
            cx.variables[name] = a
        else:
            cx.variables[name] = _merge(cx, name, after, node, merges)
    cx.emit(core.If(condition, blocks[0], blocks[1], tuple(merges), node.span))


def _merge(
    cx: Context, name: str, after: list[Variables], node: ast.If, merges: list[core.Merge]
) -> Value | Lost | Torn | None:
    a, b = after[0].get(name), after[1].get(name)
    if (name in after[0] and a is None) or (name in after[1] and b is None):
        return None
    if isinstance(a, Torn) and isinstance(b, Value | Torn):
        return a
    if isinstance(b, Torn) and isinstance(a, Value):
        return b
    if not isinstance(a, Value) or not isinstance(b, Value):
        here = a if isinstance(a, Value | Torn) else b
        if isinstance(here, Value | Torn):
            return Lost("it is set in one branch of a conditional only", here.span)
        return a or b
    if a.type != b.type:
        return Torn(a, b)
    targets = cx.binds(name, a.type, node.span, name)
    merges += [core.Merge(t, x, y) for t, x, y in zip(targets, a.atoms, b.atoms, strict=True)]
    return Value(a.type, tuple(core.Var(t.name, node.span) for t in targets), b.span)


# ---------------------------------------------------------------- loops


def _loop(
    cx: Context,
    condition: ast.Expr,
    body: Sequence[ast.Stmt],
    updates: Sequence[ast.Stmt],
    body_first: bool,
    span: Span,
) -> None:
    changed = assigned((tuple(body), tuple(updates), condition), lambda c: _references(cx, c))
    before = dict(cx.variables)
    carried = {n: v for n, v in cx.variables.items() if n in changed and isinstance(v, Value)}
    binds = {n: cx.binds(n, v.type, v.span, n) for n, v in carried.items()}
    for n, v in carried.items():
        cx.variables[n] = Value(v.type, tuple(core.Var(b.name, v.span) for b in binds[n]), v.span)
    if body_first:
        after = _do_loop(cx, condition, body, carried, binds, changed, span)
    else:
        test: list[core.Atom] = []
        check = cx.block(lambda: test.append(cx.scalar(condition, BOOL, "the condition")))
        ends: list[Variables] = []

        def fill() -> None:
            statements(cx, body)
            statements(cx, updates)
            ends.append(cx.variables)

        block = cx.block(fill)
        after = ends[0]
        live = _settle(cx, carried, binds, after, (check, test[0], block))
        if live is not None:
            check, block = without_idle((check, block), live)
        cx.emit(core.Loop(tuple(_carried(carried, binds, after)), check, test[0], block, False, span))
    _forget(cx, before, after)


def _do_loop(
    cx: Context,
    condition: ast.Expr,
    body: Sequence[ast.Stmt],
    carried: dict[str, Value],
    binds: dict[str, tuple[core.Bind, ...]],
    changed: set[str],
    span: Span,
) -> Variables:
    """The condition sees what the body sets, so those names are carried as well, from an undefined value (a constant
    without elements) that the body replaces before anyone looks; and so are those that get another type in the body."""
    after: list[Variables] = []

    def fill() -> None:
        statements(cx, body)
        after.append(cx.variables)

    block = cx.block(fill)
    new = (mentioned(condition) & changed) - carried.keys()
    live = _settle(cx, carried, binds, after[0], (block,))
    if live is not None:
        block = without_idle(block, live)
    for name in sorted(new | {n for n in changed if isinstance(cx.variables.get(n), Torn)}):
        value = after[0].get(name)
        if isinstance(value, Value):
            undefined = tuple(core.Const(c.base, (), (), value.span) for c in value.type.components)
            carried[name] = Value(value.type, undefined, value.span)
            binds[name] = cx.binds(name, value.type, value.span, name)
            cx.variables[name] = Value(value.type, tuple(core.Var(b.name, value.span) for b in binds[name]), value.span)
    test: list[core.Atom] = []
    check = cx.block(lambda: test.append(cx.scalar(condition, BOOL, "the condition")))
    cx.emit(core.Loop(tuple(_carried(carried, binds, after[0])), check, test[0], block, True, span))
    return after[0]


def _settle(
    cx: Context,
    carried: dict[str, Value],
    binds: dict[str, tuple[core.Bind, ...]],
    after: Variables,
    parts: tuple[object, ...],
) -> set[str] | None:
    """Looks at the variables that have one type at the head of a loop and another at its end: an error where their
    value at the head is needed in the loop (`parts`), else they are not carried. Gives the names of all that is needed;
    None where types agree."""
    torn = {n: t for n, initial in carried.items() if (t := _torn(initial, after.get(n))) is not None}
    if not torn:
        return None
    updates = [v.atoms for n in carried.keys() - torn.keys() if isinstance(v := after.get(n), Value)]
    live = needed(*parts, *updates)
    for name, both in torn.items():
        if any(b.name in live for b in binds[name]):
            cx.note_types(name, both)
            cx.variables[name] = None
        else:
            cx.variables[name] = both
    return live


def _torn(initial: Value, value: Value | Lost | Torn | None) -> Torn | None:
    """The two types of a variable where it has two: that of its first value, and another."""
    if isinstance(value, Torn):
        return Torn(initial, value.first if value.first.type != initial.type else value.second)
    return Torn(initial, value) if isinstance(value, Value) and value.type != initial.type else None


def _carried(
    carried: dict[str, Value], binds: dict[str, tuple[core.Bind, ...]], after: Variables
) -> list[core.Carried]:
    pairs: list[core.Carried] = []
    for name, initial in carried.items():
        value = after.get(name)
        if isinstance(value, Value) and value.type == initial.type:
            pairs += [core.Carried(b, i, u) for b, i, u in zip(binds[name], initial.atoms, value.atoms, strict=True)]
    return pairs


def _forget(cx: Context, before: Variables, after: Variables) -> None:
    """Names set only inside a loop are undefined behind it."""
    for name, value in after.items():
        if isinstance(before.get(name), Value | Torn):
            if value is None:
                cx.variables[name] = None
        elif value is None or isinstance(value, Lost):
            cx.variables[name] = value
        elif name not in before or before[name] is not None:
            cx.variables[name] = Lost("it is set only inside a loop", value.span)


def _references(cx: Context, call: ast.Call) -> set[str]:
    """Like `references`, where a module that is missing has been reported already."""
    try:
        return references(cx, call)
    except SacError:
        return set()


__all__ = ["set_variable", "statements"]
