"""Packed arrays as parameters and results: which sizes bind a name of the head, and which must agree with it.

In: a parameter `float[i<n, i+1] a`. Out: its slots, of which that of the size is called `n` where nothing else is, so
that other patterns of the head check against it; and what else must hold on entry. A result's sizes are checked where
they are returned.
"""

from __future__ import annotations

from sacpy.lang import ast, core
from sacpy.lang.elaborate.context import Context, Value
from sacpy.lang.elaborate.extents import FREE, refuse, written
from sacpy.lang.elaborate.functions import Agreement, Head, pattern_names
from sacpy.lang.elaborate.packed_functions import int_of, long_of, require
from sacpy.lang.elaborate.usertypes import INT
from sacpy.nodes import replace
from sacpy.withloop import piecewise as pw
from sacpy.withloop.piecewise import Poly


def agreements_of(
    cx: Context,
    definition: ast.FunDef,
    parameter: ast.Param,
    slots: list[core.Slot],
    parameters: dict[str, Value],
) -> tuple[list[core.Slot], list[Agreement]]:
    """The slots of a packed parameter, and what its sizes must be. `parameters` receives the names that it binds."""
    made = written(parameter.type, cx.base_type(ast.TypeExpr(parameter.type.base, None, False, parameter.span)))
    explicit = {p.name for p in definition.params}
    found: list[Agreement] = []
    own = list(slots)
    for k, size in enumerate(made.sizes):
        slot = own[1 + k]
        name = _plain(size)
        if name is not None and name not in explicit and name not in parameters and name != "_":
            bind = cx.bind(name, "int", parameter.span, name)
            own[1 + k] = replace(slot, bind=bind)
            parameters[name] = Value(INT, (core.Var(bind.name, parameter.span),), parameter.span)
        elif name != "_":
            text = pw.shown(size, lambda n: n.removeprefix(FREE))
            what = "the first extent" if k == 0 else f"the size {k + 1}"
            found.append(
                Agreement(
                    core.Var(slot.bind.name, parameter.span), size, f"{what} of {parameter.name} is {text}",
                    parameter.type.span,
                )
            )  # fmt: skip
    return own, found


def _plain(size: Poly) -> str | None:
    names = pw.names(size)
    return names[0].removeprefix(FREE) if len(names) == 1 and size == pw.name(names[0]) else None


def conditions_of(cx: Context, made: Head) -> list[core.Condition]:
    """The conditions on entry that a head's packed parameters set."""
    return [_condition(cx, a, made) for a in made.agreements]


def _condition(cx: Context, agreement: Agreement, made: Head) -> core.Condition:
    span = agreement.span
    atoms: list[core.Atom] = []

    def fill() -> None:
        longs = {n: long_of(cx, _known(n, made.parameters, agreement), span) for n in pw.names(agreement.is_)}
        wanted = int_of(cx, agreement.is_, longs, span)
        atoms.append(cx.prim("bool", "eq", agreement.size, wanted, span=span))

    return core.Condition(cx.block(fill, dict(made.parameters)), atoms[0], False, agreement.text, span)


def _known(name: str, parameters: dict[str, Value], agreement: Agreement) -> core.Atom:
    value = parameters.get(name.removeprefix(FREE))
    if value is None or value.type != INT:
        refuse(
            "E0441",
            f"nothing says what {name.removeprefix(FREE)} is",
            agreement.span,
            f"{name.removeprefix(FREE)} is bound nowhere",
            "a name is bound where it is the whole extent, as n in float[i<n, i+1], or by another parameter",
        )
    return value.atom


def agreed(
    cx: Context, definition: ast.FunDef, type: ast.TypeExpr, value: Value, parameters: dict[str, Value]
) -> Value:
    """A packed result whose sizes are what the head says, as far as it names parameters."""
    made = written(type, cx.base_type(ast.TypeExpr(type.base, None, False, type.span)))
    atoms = list(value.atoms)
    bound = {n for n, _ in pattern_names([p.type for p in definition.params])} | set(parameters)
    for k, size in enumerate(made.sizes):
        names = [n.removeprefix(FREE) for n in pw.names(size)]
        if not all(n in bound and parameters[n].type == INT for n in names):
            continue  # the name is the result's own
        longs = {FREE + n: long_of(cx, parameters[n].atom, value.span) for n in names}
        wanted = parameters[names[0]].atom if _plain(size) is not None else int_of(cx, size, longs, value.span)
        holds = cx.prim("bool", "eq", atoms[1 + k], wanted, span=value.span)
        text = pw.shown(size, lambda n: n.removeprefix(FREE))
        message = f"{definition.name} should give an array with {text} = {{1}}, and here it is {{0}}"
        atoms[1 + k] = require(
            cx, atoms[1 + k], wanted, holds, value.span, "E0676", message, "return an array of the size in the head"
        )
    return Value(value.type, tuple(atoms), value.span)


__all__ = ["agreed", "agreements_of", "conditions_of"]
