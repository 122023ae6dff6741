"""Parameters that are functions: `bool before(double, double)`.

In: a definition with such parameters, the names of functions as arguments. Out: instances of the definition, in which
the name of the parameter means the function that was given. So there are no functions at run time: each instance is as
if the function's name stood in its text.

    T[n] sort_by(T[n] v, bool before(T, T))        sort_by(v, closer)    calls an instance of `sort_by` for `closer`

A function is an argument without components, and counts among what an instance's type variables stand for, under the
name of the parameter with `()` behind it. Which of the functions of that name is called is decided where the instance
calls it, as seen from the module in which the argument stood. A definition outside the library is checked with a
function of which no more is known than its declaration says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from weakref import ref

from sacpy.lang import ast
from sacpy.lang.elaborate.context import Context, Value
from sacpy.lang.elaborate.scope import Entry
from sacpy.lang.elaborate.usertypes import BaseType, FunctionParameter, bound_name

if TYPE_CHECKING:
    from sacpy.lang.elaborate.program import ElaboratedProgram, Typevars

Tiers = tuple[tuple[Entry, ...], ...]


def tiers(program: ElaboratedProgram, function: BaseType) -> Tiers:
    """All functions that a function as an argument may be, nearest first."""
    declared = program.declared_functions.get(function.key)
    if declared is not None:
        return ((declared,),)
    module, _, name = function.key.partition("::")
    return program.world.scopes[module].tiers(name)


def function_given(cx: Context, function: ast.QName, position: int, expr: ast.Name) -> Value | None:
    """The argument of a call where that is a function; None: it is a value, though the name is no variable."""
    from sacpy.lang.elaborate.calls import entries_of

    name = expr.name
    passed = cx.function_named(name)
    if passed is not None:
        return Value(passed, (), expr.span)
    wanted = (e.definition.params for e in entries_of(cx, function))
    if not any(position < len(params) and params[position].takes is not None for params in wanted):
        return None
    if cx.scope.global_object(name) is not None:
        return None
    if not entries_of(cx, name):
        from sacpy.lang.elaborate.refusals import unknown_function

        unknown_function(cx, name, expr.span)
    return Value(BaseType(f"{name.module or cx.scope.info.name}::{name.name}", "function", ()), (), expr.span)


def fits(program: ElaboratedProgram, wanted: FunctionParameter, given: BaseType, types: Mapping[str, BaseType]) -> bool:
    """Whether an argument is a function that a parameter can be. `types`: what type variables stand for."""
    from sacpy.lang.elaborate.calls import match

    takes, gives = [_meant(t, types) for t in wanted.takes], _meant(wanted.gives, types)
    if given.kind != "function" or gives is None or any(t is None for t in takes):
        return False
    for tier in tiers(program, given):
        found = [m for e in tier if (m := match(program, e, [t for t in takes if t is not None])) is not None]
        if found:
            own = [m for m in found if _agree(wanted, m.entry.definition)]
            return bool(own) and all(program.result_types(m.entry, m.typevars) == [gives] for m in found)
    return False


def _agree(wanted: FunctionParameter, definition: ast.FunDef) -> bool:
    """Whether a function has one result and changes no argument, and its declared shapes can be those that a parameter
    asks for."""
    if len(definition.results) != 1 or definition.varresults or any(p.by_reference for p in definition.params):
        return False
    shapes = zip((*definition.results, *(p.type for p in definition.params)), wanted.shapes)  # `...` takes the rest
    return not any(_differ(_extents(own), _extents(asked)) for own, asked in shapes)


def _differ(a: list[int | None] | None, b: list[int | None] | None) -> bool:
    """Whether no shape is of both: the extents of each, or None where the rank is not known."""
    if a is None or b is None:
        return False
    return len(a) != len(b) or any(x != y and x is not None and y is not None for x, y in zip(a, b))


def _extents(type: ast.TypeExpr) -> list[int | None] | None:
    features = type.pattern or ()
    if not all(isinstance(f, ast.FixedExtent | ast.NamedExtent | ast.AnyExtent) for f in features):
        return None
    return [f.value if isinstance(f, ast.FixedExtent) else None for f in features]


def _meant(type: BaseType | ast.TypeVar, types: Mapping[str, BaseType]) -> BaseType | None:
    return type if isinstance(type, BaseType) else types.get(type.name)


def declared(program: ElaboratedProgram, entry: Entry) -> Typevars:
    """Of a definition without type variables: for each of its parameters that is a function, one of which only the
    declaration is known."""
    found: list[tuple[str, BaseType]] = []
    for p in entry.definition.params:
        if p.takes is None:
            continue
        type = BaseType(f"{entry.qualified}/{entry.number}::{p.name}", "function", ())
        if type.key not in program.declared_functions:
            params = tuple(ast.Param(t, "_", False, p.span) for t in p.takes)
            definition = ast.FunDef(
                (), "", "external", (p.type,), False, p.name, params, False, (), None, (), "", p.span, p.span
            )
            program.declared_functions[type.key] = Entry(ref(entry.scope), definition, 0)
        found.append((bound_name(p.name), type))
    return tuple(sorted(found, key=lambda f: f[0]))


def problem(program: ElaboratedProgram, entries: Sequence[Entry], types: Sequence[BaseType]) -> str:
    """What to say of a call that none of some definitions takes, where functions are the reason; "": they are not."""
    for entry in entries:
        params = program.parameter_types(entry)
        for p, wanted, given in zip(entry.definition.params, params, types, strict=False):
            if isinstance(wanted, FunctionParameter):
                example = f"`{_shown(p)}`"
                if given.kind != "function":
                    return f"{p.name} is a function: give the name of one like {example}"
                there = [e for tier in tiers(program, given) for e in tier]
                heads = "; ".join(program.head(e) for e in there[:2])
                return f"{p.name} must be a function like {example}; there is {heads}"
            if given.kind == "function":
                of = f", of type {wanted.shown}" if isinstance(wanted, BaseType) else ""
                return f"{p.name} is a value{of}: call the function, or give a value"
    return ""


def _shown(p: ast.Param) -> str:
    from sacpy.lang.printer import print_param

    return print_param(p)


__all__ = ["declared", "fits", "function_given", "problem", "tiers"]
