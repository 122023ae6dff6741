"""Calls that nothing answers: what is said, and what would mend them.

In: the call, the base types of its arguments, the definitions of its name. Out: always an error, with the nearest
definitions and the change that makes one fit, where there is one: the `use` line of the module that has the function,
the name that was meant, arguments converted or the other way round, brackets that select.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, permutations
from typing import NoReturn

from sacpy.base.spelling import closest
from sacpy.lang import ast
from sacpy.lang.diagnostics import Edit, Label
from sacpy.lang.elaborate.calls import in_kind, match
from sacpy.lang.elaborate.context import Context
from sacpy.lang.elaborate.conversions import conversion, conversion_help
from sacpy.lang.elaborate.function_parameters import problem
from sacpy.lang.elaborate.scope import Entry, words
from sacpy.lang.elaborate.usertypes import BUILTINS, BaseType, FunctionParameter
from sacpy.lang.source import Span
from sacpy.lang.suggest import USUAL, macros, use_line
from sacpy.lang.types import REAL
from sacpy.nodes import replace

SHOWN = 4  # candidates that are listed
MOST_ORDERS = 4  # arguments of which other orders are tried


def _is_operator(name: str) -> bool:
    return not (name[0].isalpha() or name[0] == "_")


def unknown_function(cx: Context, function: ast.QName, span: Span) -> NoReturn:
    """Reports a name that no function has here."""
    is_operator = _is_operator(function.name)
    what = "operator" if is_operator else "function"
    if function.module is None and function.name in cx.variables and span.text.startswith(f"{function.name}("):
        selected = f"{function.name}[{span.text[len(function.name) + 1 : -1]}]"
        cx.fail(
            "E0307",
            f"{function.name} is a variable, not a function",
            function.span,
            "called like a function",
            help=f"elements are selected with brackets: {selected}",
            edit=Edit(span, selected) if span.macro is None else None,
        )
    owners = cx.program.modules_with(function.name)
    near: list[str] = []
    if not is_operator:
        other = cx.program.world.scope(function.module, function.span) if function.module else None
        names = (other.exported_names if other else cx.scope.names)("functions")
        own = [] if other else macros(span.source, True)
        near = closest(function.name, [*words(names), *own])
    edit = None
    if near and not owners:
        meant = f"{function.module}::{near[0]}" if function.module else near[0]
        help = f"did you mean {meant}?"
        edit = Edit(function.span, meant)
    elif owners:
        module = next((m for m in USUAL if m in owners), owners[0])
        use, named = f"add 'use {module}: all;'", f"{module}::{function.name}"
        help = f"it is in the library: {use}" if function.module is None else f"it is in {module}"
        edit = Edit(function.span, named)
        if function.module is None and (is_operator or function.span.source is cx.scope.info.span.source):
            edit = use_line(cx.scope.info.span.source, module)
        elif function.module is None:  # an expression by itself has no place for the line
            help = f"it is in the library: write {named}, or {use}"
    else:
        help = f"define {function.name}, or use the module it is in"
    cx.fail("E0307", f"there is no {what} {function}", function.span, f"unknown {what}", help=help, edit=edit)


def no_instance(
    cx: Context,
    function: ast.QName,
    types: list[BaseType],
    span: Span,
    entries: list[Entry],
    args: tuple[ast.Expr, ...],
) -> NoReturn:
    """Reports that none of the definitions of a name takes the arguments."""
    arities = sorted({len(e.definition.params) for e in entries})
    shown = ", ".join(t.shown for t in types)
    if not any(len(types) == n or (len(types) > n and any(e.definition.varargs for e in entries)) for n in arities):
        counts = " or ".join(str(n) for n in arities)
        labels = [Label(e.definition.name_span, "defined here") for e in entries if not e.scope.info.library][:3]
        help, edit = f"give {counts}", None
        if len(args) != len(types):
            help = f"name a function of {len(types)}: it is called with what there is so far, and with the next value"
        elif len(args) == 1 and span.text.startswith(function.name) and _is_operator(function.name):
            help = f"{function} stands between two values: write the first one, or leave {function} out"
            edit = Edit(Span(span.source, span.start, args[0].span.start, span.macro), "")
        cx.fail(
            "E0415",
            f"{function} takes {counts} argument{'s' if arities != [1] else ''}, not {len(types)}",
            span,
            f"{len(types)} given",
            labels=labels,
            help=help,
            edit=edit,
        )
    fitting = sorted(
        (e for e in entries if len(e.definition.params) == len(types)), key=lambda e: _distance(cx, e, types)
    )
    notes = [f"candidate: {cx.program.head(e)}" for e in fitting[:SHOWN]]
    if len(fitting) > SHOWN:
        notes.append(f"and {len(fitting) - SHOWN} more")
    reason = problem(cx.program, fitting, types)
    help, edit = (reason, None) if reason else _remedy(cx, fitting, types, args, span)
    if function.name == "^" and any(t.key in REAL for t in types):
        help, edit = (
            "^ is the exclusive or of integers' bits; powers are pow(a, b), of two doubles: add 'use Math: all;'",
            None,
        )
    if (
        any(t.shown == "string" for t in types)
        and "String" in cx.program.modules_with(function.name)
        and not any(e.scope.info.name == "String" for e in entries)
    ):
        help, edit = (
            f"is {function.name} for strings meant? Add 'use String: all;'",
            use_line(cx.scope.info.span.source, "String"),
        )
    cx.fail(
        "E0403",
        f"no instance of {function} takes ({shown})",
        span,
        f"called with ({shown})",
        notes=notes,
        help=help,
        edit=edit,
    )


def _distance(cx: Context, entry: Entry, types: Sequence[BaseType]) -> tuple[int, int]:
    """How far a definition is from taking arguments of these types: how many of its parameters are of user types that
    no argument has, such as complex, and how many arguments do not fit."""
    bound: dict[str, BaseType] = {}
    strange = misfits = 0
    for parameter, type in zip(cx.program.parameter_types(entry), types, strict=False):
        if isinstance(parameter, BaseType):
            misfits += parameter != type
            strange += parameter.kind != "builtin" and parameter not in types
        elif isinstance(parameter, FunctionParameter):
            misfits += type.kind != "function"
        else:
            misfits += bound.setdefault(parameter.name, type) != type or not in_kind(type, parameter.kind)
    return strange, misfits


# ---------------------------------------------------------------- what would mend a call


def _remedy(
    cx: Context, entries: list[Entry], types: list[BaseType], args: tuple[ast.Expr, ...], span: Span
) -> tuple[str, Edit | None]:
    """Another order of the arguments, or a conversion of one or of several, that makes a definition fit."""

    def fits(changed: Sequence[BaseType]) -> bool:
        return any(match(cx.program, e, changed) for e in entries)

    other_order = _other_order(types, args, fits)
    if other_order is not None:
        return other_order
    for targets in _targets(types):
        if fits(targets):
            changed = [(i, t, w) for i, (t, w) in enumerate(zip(types, targets, strict=True)) if t != w]
            parts = [conversion(args[i].span, t, w) for i, t, w in changed if i < len(args)]
            edits = [_as_operand(edit) for _, edit in parts if edit is not None]
            if len(edits) < len(changed):
                return parts[0][0] if parts else conversion_help(*changed[0][1:]), None
            texts = " and ".join(dict.fromkeys(e.text for e in edits))
            return f"SaC converts nothing by itself: write {texts}", replace(edits[0], also=tuple(edits[1:]))
    wanted = next((p for e in entries for p in cx.program.parameter_types(e) if _is_packed(p) and p not in types), None)
    if isinstance(wanted, BaseType):
        return conversion_help(next((t for t in types if t.kind == "packed"), types[0]), wanted), None
    typedef = next((t for t in types if t.kind == "typedef"), None)
    return (
        f"use the module that defines operations for {typedef.shown}"
        if typedef is not None
        else "check the types of the arguments"
    ), None


def _is_packed(type: object) -> bool:
    return isinstance(type, BaseType) and type.kind == "packed"


def _as_operand(edit: Edit) -> Edit:
    """A comparison in parentheses, unless it stands in some already."""
    text, source = edit.text, edit.span.source.text
    before, behind = source[: edit.span.start].rstrip()[-1:], source[edit.span.end :].lstrip()[:1]
    enclosed = before in ("(", ",", "[", "") and behind in (")", ",", "]", "")
    return edit if enclosed or " != " not in text else replace(edit, text=f"({text})")


def _other_order(
    types: Sequence[BaseType], args: Sequence[ast.Expr], fits: Callable[[Sequence[BaseType]], bool]
) -> tuple[str, Edit | None] | None:
    """The arguments in an order in which a definition takes them."""
    if not 2 <= len(args) <= MOST_ORDERS or len(args) != len(types) or any(a.span.macro is not None for a in args):
        return None
    for order in permutations(range(len(args))):
        if list(order) != sorted(order) and fits([types[i] for i in order]):
            texts = [args[i].span.text for i in order]
            whole = args[0].span.to(args[-1].span)
            text = ", ".join(texts)
            between = [args[0].span.source.text[a.span.end : b.span.start].strip() for a, b in pairwise(args)]
            if any(sign != "," for sign in between):
                return None  # an operator's operands
            return f"the arguments are in another order: ({text})", Edit(whole, text)
    return None


def _targets(types: Sequence[BaseType]) -> Iterator[list[BaseType]]:
    """Types that the arguments could be converted to, the likeliest first: one argument to the type of another one,
    then to another type, of numbers double before all and of others int; then all numbers to one type."""
    order = list(BUILTINS)
    ranked: list[tuple[tuple[int, int, int, int], list[BaseType]]] = []
    for i, type in enumerate(types):
        if type.kind == "builtin":
            for target in BUILTINS.values():
                if target != type:
                    rank = (
                        0 if target in types else 1,
                        0 if target.key == ("int" if type.key in ("bool", "char") else "double") else 1,
                        abs(order.index(target.key) - order.index(type.key)),
                        i,
                    )
                    ranked.append((rank, [*types[:i], target, *types[i + 1 :]]))
    yield from (targets for _, targets in sorted(ranked, key=lambda r: r[0]))
    if sum(t.kind == "builtin" for t in types) > 1:
        for name in ("double", "int", "float"):
            yield [BUILTINS[name] if t.kind == "builtin" else t for t in types]
