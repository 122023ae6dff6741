"""New definitions among those that there are.

In: the definitions so far, and new ones. Out: which belong together; a line for each that is replaced; errors that may
be mended by later ones, as warnings; and the definitions without those of certain files, for reading these again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TypeVar

from sacpy.lang import ast
from sacpy.lang.diagnostics import Diagnostic
from sacpy.lang.elaborate.functions import head_text
from sacpy.lang.elaborate.interactive import parameters
from sacpy.lang.modules import ModuleInfo
from sacpy.nodes import replace

Problem = tuple[str, str, int]
Definitions = tuple[ast.Definition, ...]
T = TypeVar("T", ast.TypeDef, ast.StructDef, ast.ObjDef)


def groups(nodes: Sequence[ast.Definition | ast.Stmt | ast.Expr]) -> list[Definitions | ast.Stmt | ast.Expr]:
    """Definitions that stand side by side belong together: they may need each other."""
    found: list[Definitions | ast.Stmt | ast.Expr] = []
    for node in nodes:
        if not isinstance(node, ast.Definition):
            found.append(node)
        elif found and isinstance(found[-1], tuple):
            found[-1] = (*found[-1], node)
        else:
            found.append((node,))
    return found


def replaced(old: ModuleInfo, new: Sequence[ast.Definition]) -> list[str]:
    """A line for each earlier definition whose place one of the new ones takes."""
    said: list[str] = []
    for definition in new:
        match definition:
            case ast.FunDef(name=name):
                same = [d for d in old.definitions(name) if parameters(d) == parameters(definition)]
                said += [f"{head_text(definition)} replaces {head_text(d)} of {_place(d)}" for d in same]
            case ast.TypeDef(name=name) | ast.StructDef(name=name):
                before = old.typedefs.get(name) or old.structs.get(name)
                said += [f"the type {name} replaces that of {_place(before)}"] if before is not None else []
            case ast.ObjDef(name=name):
                said += (
                    [f"the object {name} replaces that of {_place(old.objects[name])}"] if name in old.objects else []
                )
    return said


def _place(definition: ast.Definition) -> str:
    return f"{definition.span.source.name.strip('<>')}, line {definition.span.line}"


def without_files(info: ModuleInfo, files: Collection[Path]) -> ModuleInfo:
    """The definitions that do not stand in these files."""
    names = {str(path) for path in files}

    def kept(table: dict[str, T]) -> dict[str, T]:
        return {n: d for n, d in table.items() if d.span.source.name not in names}

    functions: dict[str, list[ast.FunDef | bytes]] = {
        n: [d for d in info.definitions(n) if d.span.source.name not in names] for n in info.functions
    }
    return replace(
        info,
        interfaces=tuple(i for i in info.interfaces if i.span.source.name not in names),
        typedefs=kept(info.typedefs),
        structs=kept(info.structs),
        objects=kept(info.objects),
        functions={n: ds for n, ds in functions.items() if ds},
    )


def identity(diagnostic: Diagnostic) -> Problem:
    """What makes a problem the same as one that was told before."""
    return diagnostic.code, diagnostic.span.source.name, diagnostic.span.start


def postponed(error: Diagnostic) -> Diagnostic:
    """An error in a definition that is kept all the same: using the definition gives the error, unless it is mended by
    then."""
    return replace(
        error,
        code="W0732",
        notes=(*error.notes, "the definition is kept; using it fails until this is mended"),
        edit=None,
    )
