"""Statements: assignments, conditionals, loops, return.

In: a body without jumps (see `jumps.py`). Out: SaC statements. Types are followed along all ways; a loop is gone
through until nothing changes.
"""

from __future__ import annotations

import ast as py
from collections.abc import Callable, Sequence

from sacpy.capture import build
from sacpy.capture.conditions import condition
from sacpy.capture.expressions import empty
from sacpy.capture.frame import NOTHING, Frame, Torn, Val
from sacpy.capture.indexing import updated
from sacpy.capture.jumps import Flag
from sacpy.capture.kinds import BOOL, INTS, UNSET, Kind, Num, Several, array, join
from sacpy.capture.numbers import SYMBOLS, combined, converted
from sacpy.capture.places import ARGUMENTS, DIFFER
from sacpy.capture.spaces import Space, space
from sacpy.lang import ast
from sacpy.lang.source import Span
from sacpy.nodes import replace

Made = list[ast.Stmt]


def block(frame: Frame, statements: Sequence[py.stmt]) -> Made:
    """The statements of a block."""
    return [made for statement in statements for made in one(frame, statement)]


def one(frame: Frame, statement: py.stmt) -> Made:
    """A statement, behind what is to be evaluated before it."""
    handler = STATEMENTS.get(type(statement))
    if handler is None:
        what, help = NOT_TAKEN.get(type(statement), (f"{type(statement).__name__} is not taken", ""))
        raise frame.refused(statement, what, help)
    with frame.writing() as before:
        made = handler(frame, statement)
    return [*before, *made]


# ---------------------------------------------------------------- assignments


def _assign(frame: Frame, statement: py.Assign) -> Made:
    if len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, py.Tuple | py.List) and isinstance(statement.value, py.Tuple):
            return _together(frame, target, statement.value)
        return assigned(frame, target, frame.value(statement.value))
    found = frame.kept(frame.value(statement.value), statement)
    made: Made = []
    for target in statement.targets:
        made += assigned(frame, target, found)
        if isinstance(target, py.Name) and found.items is None and found.kind.rank != 0:
            found = replace(found, shares=found.shares | {target.id})
    return made


def assigned(frame: Frame, target: py.expr, found: Val) -> Made:
    """Sets what stands on the left."""
    span = frame.span(target)
    match target:
        case py.Name(name):
            if frame.unit.is_result(frame, name):
                found = _declared(frame, target, found)
            made = frame.store(name, found, span)
            if name in frame.known.kinds or frame.unit.is_result(frame, name):
                _learn(frame, name)
            return made
        case py.Subscript():
            return updated(frame, target, found, span)
        case py.Tuple(elts) | py.List(elts):
            items = _items(frame, target, found, len(elts))
            return _all(frame, elts, items)
        case py.Attribute():
            help = "set a variable, or an element: a[i] = x"
            raise frame.refused(target, "an attribute cannot be set", help)
    raise frame.refused(target, "this cannot be set", "set a variable, an element, or several of them")


def _declared(frame: Frame, target: py.expr, found: Val) -> Val:
    """What is returned early, in the declared types."""
    fitted: Val = frame.unit.fitted_result(frame, target, found)
    items = fitted.items and tuple(replace(item, shares=frozenset()) for item in fitted.items)
    return replace(fitted, items=items, shares=frozenset())  # nothing is changed any more


def _learn(frame: Frame, name: str) -> None:
    """Remembers what a variable of the turning is, so that its first value has the type."""
    kind = frame.env[name]
    assert not isinstance(kind, Torn)
    known = frame.known.kinds.get(name)
    new = kind if known is None else join(known, kind)
    if new is not None and new != known:
        frame.known.kinds[name] = new


def _items(frame: Frame, target: py.expr, found: Val, count: int) -> list[Val]:
    """The items of a value for so many targets."""
    if found.items is None and found.kind.rank and found.kind != NOTHING:
        found = frame.kept(found, target)
        rank = found.kind.rank - 1 if found.kind.rank else None
        at = [build.integer(i, found.span) for i in range(count)]
        return [Val(ast.Select(found.expr, (i,), found.span), array(found.kind.base, rank)) for i in at]
    if found.items is None or len(found.items) != count:
        message = f"{count} variables cannot be set from {frame.shown(found)}"
        raise frame.refused(target, message, "give as many as there are values", DIFFER)
    return list(found.items)


def _all(frame: Frame, targets: list[py.expr], items: list[Val]) -> Made:
    """Sets several variables from values that mention none of them."""
    kept = [_named(frame, item) for item in items]
    return [s for target, item in zip(targets, kept) for s in assigned(frame, target, item)]


def _named(frame: Frame, found: Val) -> Val:
    """A value that stays as it is while variables are set."""
    if found.items is not None:
        return replace(found, items=tuple(_named(frame, item) for item in found.items))
    if isinstance(found.expr, ast.Literal):
        return found
    name = frame.fresh("t")
    assert frame.pre is not None
    frame.pre.append(build.assign(name, found.expr, found.span))
    return replace(found, expr=build.var(name, found.span))


def _together(frame: Frame, target: py.Tuple | py.List, value: py.Tuple) -> Made:
    """`a, b = b, a`: the values first, then the variables. A permutation keeps apart what was apart."""
    if len(target.elts) != len(value.elts):
        message = f"{len(target.elts)} variables cannot be set from {len(value.elts)} values"
        raise frame.refused(target, message, "give as many as there are values", DIFFER)
    items = [frame.value(e) for e in value.elts]
    names = [t.id for t in target.elts if isinstance(t, py.Name)]
    given = [e.id for e in value.elts if isinstance(e, py.Name)]
    permuted = len(names) == len(target.elts) and len(set(given)) == len(given) and set(names) == set(given)
    if not permuted:
        return _all(frame, target.elts, items)
    moved = dict(zip(given, names))
    pairs = frozenset(frozenset(moved.get(n, n) for n in pair) for pair in frame.pairs)
    made = _all(frame, target.elts, [replace(item, shares=frozenset()) for item in items])
    frame.pairs = pairs
    return made


def _augmented(frame: Frame, statement: py.AugAssign) -> Made:
    symbol = SYMBOLS[type(statement.op)]
    target = statement.target
    load = _loading(target)
    before = frame.value(load)
    found = combined(frame, statement, symbol, before, frame.value(statement.value))
    if isinstance(target, py.Name) and before.items is None and before.kind.rank != 0:
        frame.changing(target.id, statement)
        if found.kind.base != before.kind.base or found.kind.rank != before.kind.rank:
            message = f"{target.id} is {before.kind}, and this gives {found.kind}"
            raise frame.refused(statement, message, f"write {target.id} = {target.id} {symbol} ..", DIFFER)
        pairs = frame.pairs
        made = assigned(frame, target, found)
        frame.pairs = pairs
        return made
    return assigned(frame, target, found)


def _loading(target: py.expr) -> py.expr:
    """What is on the left, to be read."""
    if isinstance(target, py.Name):
        return py.copy_location(py.Name(target.id, py.Load()), target)
    if isinstance(target, py.Subscript):
        return py.copy_location(py.Subscript(target.value, target.slice, py.Load()), target)
    return target


def _annotated(frame: Frame, statement: py.AnnAssign) -> Made:
    if statement.value is None:
        return []
    found = frame.value(statement.value)
    wanted = frame.unit.annotation(frame, statement.annotation)
    return assigned(frame, statement.target, frame.unit.fitted(frame, statement.value, found, wanted))


def _flag(frame: Frame, statement: Flag) -> Made:
    span = frame.span(statement)
    name = statement.name
    if statement.value is not None:
        return frame.store(name, Val(build.truth(statement.value, span), BOOL), span)
    kind = frame.known.kinds.get(name) or frame.unit.result_kind(frame)
    if kind is None:
        frame.env[name] = UNSET  # what it is will be known when the body has been gone through
        return []
    return frame.store(name, _some(frame, kind, span), span)


def _some(frame: Frame, kind: Kind, span: Span) -> Val:
    """A value of a type, which nobody reads."""
    if isinstance(kind, Several):
        items = tuple(_some(frame, item, span) for item in kind.items)
        return Val(build.truth(True, span), NOTHING, items)
    assert isinstance(kind, Num)
    if kind.base == "bool" and not kind.rank:
        return Val(build.truth(False, span), kind)
    if kind.rank:
        return Val(empty(kind.base, (0,) * kind.rank, span), kind)
    if kind.base in INTS:
        return Val(build.integer(0, span, kind.base if kind.base != "ubyte" else "int"), kind)
    if kind.base == "complex":
        return Val(build.call("toc", [build.real(0.0, span), build.real(0.0, span)], span), kind)
    return Val(build.real(0.0, span, kind.base), kind)


# ---------------------------------------------------------------- conditionals and loops


def _if(frame: Frame, statement: py.If) -> Made:
    test = condition(frame, statement.test)
    start = frame.state()
    then = block(frame, statement.body)
    first = frame.state()
    frame.go(start)
    otherwise = block(frame, statement.orelse)
    frame.go(frame.meet(first, frame.state()))
    return [ast.If(test, tuple(then), tuple(otherwise), frame.span(statement))]


def _until(frame: Frame, statement: py.stmt, test: ast.Expr | None) -> ast.Expr:
    """The condition of a loop that a flag may end."""
    flag = getattr(statement, "until", None)
    span = frame.span(statement)
    if flag is None:
        assert test is not None
        return test
    go_on = ast.Unary(ast.QName(None, "!", span), build.var(flag, span), span)
    return go_on if test is None else ast.Logical("&&", go_on, test, span)


def _while(frame: Frame, statement: py.While) -> Made:
    forever = isinstance(statement.test, py.Constant) and statement.test.value in (True, 1)

    def once() -> tuple[ast.Expr | None, Made]:
        with frame.conditional():
            test = None if forever and hasattr(statement, "until") else condition(frame, statement.test)
        return test, block(frame, statement.body)

    test, body = frame.stable(once)
    return [ast.While(_until(frame, statement, test), tuple(body), frame.span(statement))]


def _for(frame: Frame, statement: py.For) -> Made:
    over = space(frame, statement.target, statement.iter)
    span = frame.span(statement)
    target = statement.target
    if over.range is not None and isinstance(target, py.Name) and not frame.unit.is_kept(frame, statement):
        return _counted(frame, statement, target, over)
    count = frame.fresh("n")
    assert frame.pre is not None
    frame.pre.append(build.assign(count, over.count, span))
    counter = frame.fresh("k")
    k = build.var(counter, span)

    def once() -> Made:
        with frame.writing() as first:
            for inner, found in over.bind(k):
                first += assigned(frame, inner, found)
        return [*first, *block(frame, statement.body)]

    body = frame.stable(once)
    zero, step = build.integer(0, span), build.integer(1, span)
    test = build.binary("<", k, build.var(count, span), span)
    init, update = build.assign(counter, zero, span), build.assign(counter, build.binary("+", k, step, span), span)
    return [ast.For((init,), _until(frame, statement, test), (update,), tuple(body), span)]


def _counted(frame: Frame, statement: py.For, target: py.Name, over: Space) -> Made:
    """A loop over a range whose variable is nobody else's: it counts itself."""
    assert over.range is not None
    span, name = frame.span(statement.iter), frame.sac_name(target.id)
    low, high, step = over.range.low, over.range.high, over.range.step
    limit = high.expr
    if not isinstance(limit, ast.Literal) and frame.unit.may_change(frame, statement, high):
        limit = _named(frame, high).expr
    kind = over.bind(build.var(name, span))[0][1].kind
    frame.known.places.setdefault(target.id, frame.span(target))

    def once() -> Made:
        frame.env[target.id] = kind
        frame.forget_pairs(target.id)
        return block(frame, statement.body)

    before = frame.env.get(target.id, UNSET)
    body = frame.stable(once)
    frame.env[target.id] = Torn(kind, UNSET) if before != kind else before
    i = build.var(name, span)
    test = build.binary("<" if step > 0 else ">", i, limit, span)
    update = build.binary("+" if step > 0 else "-", i, build.integer(abs(step), span), span)
    init = (build.assign(name, low.expr, span),)
    return [ast.For(init, _until(frame, statement, test), (build.assign(name, update, span),), tuple(body), span)]


# ---------------------------------------------------------------- the rest


def _return(frame: Frame, statement: py.Return) -> Made:
    if statement.value is None or (isinstance(statement.value, py.Constant) and statement.value.value is None):
        raise frame.refused(statement, "a captured function gives a result", "return a number or an array")
    found = frame.unit.fitted_result(frame, statement.value, frame.value(statement.value))
    return frame.unit.returned(frame, statement, found)  # type: ignore[no-any-return]


def _expression(frame: Frame, statement: py.Expr) -> Made:
    if isinstance(statement.value, py.Constant):
        return []
    if isinstance(statement.value, py.Yield | py.YieldFrom | py.Await):
        frame.value(statement.value)
    if isinstance(statement.value, py.Call):
        made: Made | None = frame.unit.method_statement(frame, statement.value)
        if made is not None:
            return made
    message = "a value that nobody uses"
    raise frame.refused(statement, message, "captured functions have no effects: keep the value, or leave it out")


def _pass(frame: Frame, statement: py.stmt) -> Made:
    return []


Handler = Callable[[Frame, "py.stmt | Flag"], Made]
STATEMENTS: dict[type, Callable[..., Made]] = {
    py.Assign: _assign, py.AugAssign: _augmented, py.AnnAssign: _annotated, py.If: _if, py.While: _while, py.For: _for,
    py.Return: _return, py.Expr: _expression, py.Pass: _pass, Flag: _flag,
}  # fmt: skip
NOT_TAKEN: dict[type, tuple[str, str]] = {
    py.Try: ("'try' is not taken", "test the condition before, or catch the error in Python"),
    py.With: ("'with' is not taken", "open and close in Python, around the call"),
    py.Raise: ("'raise' is not taken", "return a number that says what is wrong, and raise in Python"),
    py.Assert: ("'assert' is not taken", "check arguments in Python, before the call"),
    py.FunctionDef: ("a function within a function is not taken", "move it out, and decorate it"),
    py.ClassDef: ("a class within a function is not taken", "use variables and arrays"),
    py.Global: ("'global' is not taken", "pass the value as an argument, and return the new one"),
    py.Nonlocal: ("'nonlocal' is not taken", "pass the value as an argument, and return the new one"),
    py.Delete: ("'del' is not taken", "leave it out: memory is freed after the last use"),
    py.Import: ("'import' within a function is not taken", "import at the top of the file"),
    py.ImportFrom: ("'import' within a function is not taken", "import at the top of the file"),
    py.Match: ("'match' is not taken", "use if and elif"),
}  # fmt: skip
__all__ = ["ARGUMENTS", "assigned", "block", "converted"]
