"""What is wrong with an input, found without evaluating it.

In: the nodes of an input, and what is around them: definitions, where modules are, named values. Out: the errors of the
first group of nodes that has any. Sessions and the prompt try changes with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sacpy.lang import ast
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.elaborate.freenames import mentioned
from sacpy.lang.elaborate.interactive import Named, expression_function, extended
from sacpy.lang.elaborate.program import ElaboratedProgram, elaborate
from sacpy.lang.infer import infer
from sacpy.lang.modules import Loader, ModuleInfo, module_info
from sacpy.lang.source import NOWHERE
from sacpy.lang.types import Shape, of_rank
from sacpy.nodes import Node, replace

KEY = "tried"  # of the functions of expressions that are only tried


class Around(Node):
    """What an input may use. `named`: values by name, with what is known of their shapes."""

    definitions: ModuleInfo
    loader: Loader
    named: Mapping[str, tuple[Named, tuple[Shape, ...]]]


def ranks_only(named: Named) -> tuple[Named, tuple[Shape, ...]]:
    """A value of which no more than its ranks is known."""
    return named, tuple(map(of_rank, named.ranks))


def problems(nodes: Sequence[ast.Definition | ast.Stmt | ast.Expr], around: Around) -> list[Diagnostic]:
    """The errors of the first part of an input that has any. Nothing outside of this function changes."""
    before = dict(around.loader.modules)
    try:
        return _problems(nodes, around)
    except SacError as error:
        return list(error.diagnostics)
    finally:
        around.loader.modules.update(before)


def _problems(nodes: Sequence[ast.Definition | ast.Stmt | ast.Expr], around: Around) -> list[Diagnostic]:
    program = elaborate(replace(around.definitions), around.loader)
    known = dict(around.named)
    lost: set[str] = set()  # names of which nobody knows anything before they are evaluated
    at = 0
    while at < len(nodes):
        node = nodes[at]
        at += 1
        if isinstance(node, ast.Definition):
            group: list[ast.Definition] = [node]
            while at < len(nodes) and isinstance(following := nodes[at], ast.Definition):
                group.append(following)
                at += 1
            added = module_info(ast.Module("program", "", None, None, tuple(group), (), (), NOWHERE))
            program = elaborate(extended(program.main.info, added), around.loader)
            errors = [d for d in program.check() if d.severity == "error"]
            if errors:
                return errors
        elif not mentioned(node) & lost:
            errors = _statement(program, node, known, lost)
            if errors:
                return errors
    return []


def _statement(
    program: ElaboratedProgram,
    node: ast.Stmt | ast.Expr,
    known: dict[str, tuple[Named, tuple[Shape, ...]]],
    lost: set[str],
) -> list[Diagnostic]:
    """The errors of a statement or expression; what it sets is known from then on."""
    inner = node.call if isinstance(node, ast.CallStmt) else node
    entered = expression_function(program, inner, {n: named for n, (named, _) in known.items()}, KEY)
    shapes = [shape for name in entered.parameters for shape in known[name][1]]
    inference = infer(program.function(KEY), shapes, program)
    errors = [d for d in inference.diagnostics if d.severity == "error"]
    if errors:
        return errors
    left = list(inference.results)
    for type in entered.results:
        del left[: len(type.components)]
    for name, type in zip(entered.changed, entered.changed_types, strict=True):
        own, left = tuple(left[: len(type.components)]), left[len(type.components) :]
        ranks = [s.rank for s in own]
        known.pop(name, None)
        lost.discard(name)
        if any(r is None for r in ranks):
            lost.add(name)
        else:
            known[name] = Named(type, tuple(r or 0 for r in ranks)), own
    return []
