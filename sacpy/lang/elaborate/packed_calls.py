"""Functions of the library on packed arrays: element-wise ones, reductions, `dim`, `print`; and what the others say.

In: a call of which some argument is a packed array, and that no function of the program takes. Out: the same function
on the elements, which lie in one vector. Element-wise, two such arrays must have equal extents at all positions: equal
types, which is known before the program runs, and equal sizes, which is checked.
"""

from __future__ import annotations

from sacpy.lang import ast, core
from sacpy.lang.diagnostics import Label
from sacpy.lang.elaborate.calls import Match, apply, candidates, match
from sacpy.lang.elaborate.context import Context, Value
from sacpy.lang.elaborate.extents import SIZES, with_element
from sacpy.lang.elaborate.packed_functions import element_of, extents_of, require
from sacpy.lang.elaborate.usertypes import INT, STRING
from sacpy.lang.primitives import PRIMITIVES
from sacpy.lang.source import NOWHERE, Span
from sacpy.lang.types import REAL

ELEMENTWISE = frozenset(
    (
        "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&", "|", "^", "!", "~", "<<", ">>",
        "min", "max", "abs", "mod", "where", "toi", "tol", "tof", "tod", "tob", "tos", "toll", "toub", "toui", "toul",
        "tous", "toull", "tobool", "tochar",
        *(op for op, row in PRIMITIVES.items() if row.over == REAL and not op.startswith("bits")),
    )
)  # fmt: skip
REDUCTIONS = frozenset(("sum", "prod", "minval", "maxval", "all", "any"))


def packed_call(cx: Context, node: ast.Call, arguments: list[Value]) -> tuple[Value, ...] | None:
    """The results; None where a function of the program takes the arguments as they are."""
    name, types = node.function.name, [a.type for a in arguments]
    if any(match(cx.program, e, types) for tier in cx.scope.tiers(name) for e in tier) or node.function.module:
        return None
    if name in ELEMENTWISE:
        return _elementwise(cx, node, arguments)
    first = arguments[0]
    if name in REDUCTIONS and len(arguments) == 1:
        return _on_elements(cx, node, [Value(element_of(first.type), (first.atoms[0],), first.span)])
    if name == "dim" and len(arguments) == 1:
        return (Value(INT, (core.Const("int", (), (extents_of(first.type).rank,), node.span),), node.span),)
    if name == "print" and len(arguments) == 1:
        _print(cx, first, node.span)
        return ()
    _refuse(cx, node, next(a for a in arguments if a.type.kind == "packed"))
    return None


def _on_elements(cx: Context, node: ast.Call, arguments: list[Value]) -> tuple[Value, ...]:
    matches = candidates(cx, node.function, [a.type for a in arguments], node.span, node.args)
    return apply(cx, matches, arguments, node.span, str(node.function))[0]


def _elementwise(cx: Context, node: ast.Call, arguments: list[Value]) -> tuple[Value, ...]:
    first = next(a for a in arguments if a.type.kind == "packed")
    sizes = list(first.atoms[1:])
    elements: list[Value] = []
    for argument in arguments:
        if argument.type.kind != "packed":
            cx.emit(core.Check(argument.atom, None, (), argument.type.shown, "what is combined with each element",
                               argument.span))  # fmt: skip
            elements.append(argument)
            continue
        if argument.type.extents != first.type.extents:
            cx.fail(
                "E0450",
                f"the extents are unequal functions of the positions: {first.type.shown} and {argument.type.shown}",
                argument.span,
                f"this is {argument.type.shown}",
                labels=(Label(first.span, f"this is {first.type.shown}"),),
                help="say at each position what is combined, in a comprehension: { [i,j] -> .. | [i,j] < [n, ..] }",
            )
        if argument is not first:
            sizes = _equal_sizes(cx, first, argument, sizes, node.span)
        elements.append(Value(element_of(argument.type), (argument.atoms[0],), argument.span))
    (result,) = _on_elements(cx, node, elements)
    whole = with_element(first.type, result.type)
    return (Value(whole, (result.atom, *sizes), node.span),)


def _equal_sizes(cx: Context, a: Value, b: Value, sizes: list[core.Atom], span: Span) -> list[core.Atom]:
    """The sizes of both, where they are equal."""
    found = list(sizes)
    for k, component in enumerate(a.type.components[1:]):
        x, y = sizes[k], b.atoms[1 + k]
        if component.path[0] == "p" and x != y:
            holds = cx.prim("bool", "eq", x, y, span=span)
            what = "the first extents" if k == 0 else f"the sizes {SIZES[k]} of {a.type.shown}"
            message = f"{what} are {{0}} and {{1}}, and element by element both must be equal"
            found[k] = require(cx, x, y, holds, span, "E0677", message, "combine arrays of one size")
    return found


def _print(cx: Context, array: Value, span: Span) -> None:
    """The rows, one below the other."""
    count = sum(c.path[0] == "p" for c in array.type.components)
    sizes = cx.let("int", core.ArrayCons(array.atoms[1 : 1 + count]), span)
    element = element_of(array.type)
    text = core.Const(STRING.key, (), (array.type.shown.encode(),), span)
    (entry,) = cx.program.world.scope("ArrayIO", NOWHERE).own("printRows")
    arguments = [
        Value(STRING, (text,), span),
        Value(INT, (sizes,), span),
        Value(element, (array.atoms[0],), array.span),
    ]
    apply(cx, [Match(entry, (("T", element),))], arguments, span, "print")


def _refuse(cx: Context, node: ast.Call, array: Value) -> None:
    name, element = node.function.name, element_of(array.type).shown
    text = array.span.text if array.span.macro is None and "\n" not in array.span.text else "t"
    if name == "shape":
        cx.fail(
            "E0451",
            f"{array.type.shown} has no shape: the extents of inner axes depend on the position",
            node.span,
            "no single shape",
            help=f"a row has one: shape({text}[i]); the number of axes is dim({text})",
        )
    if not any(cx.scope.tiers(name)):
        return  # there is no such function at all
    cx.fail(
        "E0452",
        f"{name} takes no array whose extents depend on positions",
        node.span,
        f"{text} is {array.type.shown}",
        help=f"give it a row, {text}[i], or all elements as a vector, ({element}[.]) {text}",
    )


__all__ = ["packed_call"]
