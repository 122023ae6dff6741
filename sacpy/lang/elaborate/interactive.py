"""Programs that grow: definitions given one after the other, and expressions and statements evaluated among them.

In: parsed definitions, expressions and statements, and the types of the named values that they may use. Out: the module
that holds all definitions so far, a new definition taking the place of the one it redefines; and for each expression or
statement a function of core over the named values it uses, with the types of its results. Sessions and the prompt are
built on it.
"""

from __future__ import annotations

from collections.abc import Mapping

from sacpy.lang import ast, core
from sacpy.lang.diagnostics import SacError
from sacpy.lang.elaborate.context import Context, Torn, Value
from sacpy.lang.elaborate.freenames import assigned, mentioned
from sacpy.lang.elaborate.program import ElaboratedProgram
from sacpy.lang.elaborate.statements import statements
from sacpy.lang.elaborate.usertypes import BaseType
from sacpy.lang.modules import ModuleInfo, module_info
from sacpy.lang.printer import print_feature
from sacpy.lang.source import NOWHERE
from sacpy.nodes import Node, replace

LIBRARY = ("StdIO", "Structures", "Numerical", "FibreIO", "CommandLine")


def library_in_scope() -> ModuleInfo:
    """A program that defines nothing, and uses the library's common modules."""
    uses = tuple(ast.Interface("use", name, True, (), NOWHERE, NOWHERE) for name in LIBRARY)
    return module_info(ast.Module("program", "", None, None, uses, (), (), NOWHERE))


def extended(old: ModuleInfo, new: ModuleInfo) -> ModuleInfo:
    """The definitions of both. A new function takes the place of those with its name and parameter types, a new type or
    object that of its name."""
    functions: dict[str, list[ast.FunDef | bytes]] = {
        name: list(definitions) for name, definitions in old.functions.items()
    }
    for name in new.functions:
        added = new.definitions(name)
        taken = {parameters(d) for d in added}
        functions[name] = [*(d for d in old.definitions(name) if parameters(d) not in taken), *added]
    seen = {_clause(i) for i in old.interfaces}
    return replace(
        old,
        interfaces=(*old.interfaces, *(i for i in new.interfaces if _clause(i) not in seen)),
        typedefs={n: t for n, t in old.typedefs.items() if n not in new.structs} | new.typedefs,
        structs={n: s for n, s in old.structs.items() if n not in new.typedefs} | new.structs,
        objects=old.objects | new.objects,
        functions=functions,
        diagnostics=new.diagnostics,
    )


def parameters(definition: ast.FunDef) -> tuple[object, ...]:
    """What tells one instance of a name from another: base types and shape classes."""
    return tuple(
        (p.type.base.module, p.type.base.name, tuple(_feature(f) for f in p.type.pattern or ()))
        for p in definition.params
    )


def _feature(feature: ast.Feature) -> object:
    match feature:
        case ast.FixedExtent(value=value):
            return value
        case ast.NamedExtent() | ast.AnyExtent():
            return "."
        case ast.RankSlice(rank=rank, minimum=minimum):
            return ":", rank if isinstance(rank, int) else minimum
        case ast.PositionExtent() | ast.ComputedExtent():
            return print_feature(feature)
    return type(feature).__name__


def _clause(clause: ast.Interface) -> tuple[object, ...]:
    return clause.kind, clause.module, clause.all, tuple(name for name, _ in clause.symbols)


class Named(Node):
    """A named value as expressions see it: its base type, and the ranks of its components (in core)."""

    type: BaseType
    ranks: tuple[int, ...]


class Expression(Node):
    """An elaborated expression or statement: the key of its function, the named values that are its parameters, the
    types of its results (a statement has none), and the names that it sets or changes (its last results) with their
    types."""

    key: str
    parameters: tuple[str, ...]
    results: tuple[BaseType, ...]
    changed: tuple[str, ...]
    changed_types: tuple[BaseType, ...]


def expression_function(
    program: ElaboratedProgram, expr: ast.Expr | ast.Stmt, named: Mapping[str, Named], key: str
) -> Expression:
    """Adds the function of an expression or statement to the program. Raises `SacError` with all that is wrong in
    it."""
    cx = Context(program, program.main, {}, [])
    used = mentioned(expr) | assigned(expr, lambda call: set())
    parameters = tuple(name for name in named if name in used)
    slots: list[core.Slot] = []
    for name in parameters:
        binds = cx.binds(name, named[name].type, NOWHERE, name)  # set by an earlier input
        slots += [
            core.Slot(b, _of_rank(rank), (), named[name].type.shown)
            for b, rank in zip(binds, named[name].ranks, strict=True)
        ]
        cx.variables[name] = Value(named[name].type, tuple(core.Var(b.name, expr.span) for b in binds), expr.span)
    before = dict(cx.variables)
    given: list[Value] = []
    changed: dict[str, Value] = {}

    def fill() -> None:
        if isinstance(expr, ast.Expr):
            given.extend(cx.values(expr))
        else:
            statements(cx, (expr,))
        changed.update({n: v for n, v in cx.variables.items() if isinstance(v, Value) and v is not before.get(n)})
        for n, v in cx.variables.items():
            if isinstance(v, Torn):
                cx.note_types(n, v)  # later inputs may use it

    blocks: list[core.Block] = []
    if not cx.guarded(lambda: blocks.append(cx.block(fill))) or cx.diagnostics:
        raise SacError(*cx.diagnostics)
    values = (*given, *changed.values())
    results = tuple(
        core.Slot(core.Bind(f"result{i}", c.base, "", expr.span), (ast.AnyShape(expr.span),), (), v.type.shown)
        for i, v in enumerate(values)
        for c in v.type.components
    )
    signature = core.Signature(key, key, tuple(slots), results, (), "", None, expr.span.text, expr.span)
    program.initials[key] = core.Function(signature, (), blocks[0], tuple(a for v in values for a in v.atoms))
    return Expression(
        key, parameters, tuple(v.type for v in given), tuple(changed), tuple(v.type for v in changed.values())
    )


def _of_rank(rank: int) -> tuple[ast.Feature, ...] | None:
    return None if rank == 0 else tuple(ast.AnyExtent(NOWHERE) for _ in range(rank))
