"""`sacpy stubs`: what type checkers and editors of Python are to know of a SaC module.

In: a program or module. Out: a `.pyi` file: its functions with the types that they take from Python and give, one
overload for each instance, and their comments. With `sacpy.install_importer()` the module is imported under the file's
name, so `smooth.pyi` beside `smooth.sac` is where tools look.
"""

from __future__ import annotations

import keyword
import sys
from pathlib import Path

from sacpy.lang import ast
from sacpy.lang.diagnostics import SacError
from sacpy.lang.elaborate.program import ElaboratedProgram
from sacpy.lang.elaborate.scope import Entry
from sacpy.workspace import Workspace

NPT = "import numpy.typing as npt\n"
HEAD = f"""from typing import Any, overload

import numpy as np
{NPT}
"""
PACKED = "Packed"
SCALARS = {
    "int": "int", "long": "int", "longlong": "int", "short": "int", "byte": "int", "uint": "int", "ulong": "int",
    "ulonglong": "int", "ushort": "int", "ubyte": "int", "double": "float", "float": "float", "bool": "bool",
    "char": "bytes", "string": "str", "complex": "complex",
}  # fmt: skip
ELEMENTS = {
    "int": "np.int32", "long": "np.int64", "longlong": "np.int64", "short": "np.int16", "byte": "np.int8",
    "uint": "np.uint32", "ulong": "np.uint64", "ulonglong": "np.uint64", "ushort": "np.uint16", "ubyte": "np.uint8",
    "double": "np.float64", "float": "np.float32", "bool": "np.bool_", "char": "np.uint8", "complex": "np.complex128",
}  # fmt: skip


def write(workspace: Workspace, path: Path, output: Path | None) -> int:
    """Writes the stub of a file. Raises `SacError` where the file is wrong."""
    program, found = workspace.check(path)
    if any(d.severity == "error" for d in found):
        raise SacError(*found)
    text = stub(program)
    if output is None:
        sys.stdout.write(text)
    else:
        output.write_text(text, encoding="utf-8")
    return 0


def stub(program: ElaboratedProgram) -> str:
    """The functions of a program, as Python's tools read them."""
    main, parts = program.main, []
    for name in sorted(main.info.functions):
        entries = tuple(e for e in main.tiers(name)[0] if all(p.takes is None for p in e.definition.params))
        if name.isidentifier() and not keyword.iskeyword(name) and entries:
            parts.append(_function(name, entries))
    definitions = [e.definition for n in main.info.functions for e in main.tiers(n)[0]]
    types = [t for d in definitions for t in (*d.results, *(p.type for p in d.params))]
    head = HEAD.replace(NPT, f"{NPT}\nfrom sacpy import {PACKED}\n")
    return (head if any(map(_is_packed, types)) else HEAD) + "\n".join(parts)


def _function(name: str, entries: tuple[Entry, ...]) -> str:
    heads = dict.fromkeys(_head(name, e.definition) for e in entries)
    doc = next((e.definition.doc.strip() for e in entries if e.definition.doc.strip()), "")
    body = " ...\n" if not doc else f'\n    """{doc}"""\n'.replace("\\", "\\\\")
    if len(heads) == 1:
        return next(iter(heads)) + body
    return "".join(f"@overload\n{head} ...\n" for head in heads)


def _head(name: str, definition: ast.FunDef) -> str:
    variables = {v.name for v in definition.typevars}
    names = [p.name for p in definition.params]
    plain = len(set(names)) == len(names) and all(n.isidentifier() and not keyword.iskeyword(n) for n in names)
    params = [f"{p.name if plain else f'arg{i + 1}'}: {_given(p.type, variables)}"
              for i, p in enumerate(definition.params)]  # fmt: skip
    if definition.varargs:
        params.append("*args: Any")
    results = [
        _result(t, variables) for t in (*definition.results, *(p.type for p in definition.params if p.by_reference))
    ]
    result = "None" if not results else results[0] if len(results) == 1 else f"tuple[{', '.join(results)}]"
    return f"def {name}({', '.join([*params, '/'] if params and not plain else params)}) -> {result}:"


def _given(type: ast.TypeExpr, variables: set[str]) -> str:
    """What a parameter takes."""
    base = type.base.name
    if _is_packed(type):
        return PACKED
    if base in variables or (base not in ELEMENTS and base != "string"):
        return "Any"
    if _is_scalar(type):
        return "str | bytes" if base in ("string", "char") else SCALARS[base]
    text = "str | bytes | " if base == "char" else f"{SCALARS[base]} | " if _may_be_scalar(type) else ""
    return f"{text}npt.ArrayLike" if base in ELEMENTS else "Any"


def _result(type: ast.TypeExpr, variables: set[str]) -> str:
    """What a result is."""
    base = type.base.name
    if _is_packed(type):
        return PACKED
    if base in variables or base not in SCALARS or (_may_be_scalar(type) and not _is_scalar(type)):
        return "Any"
    if _is_scalar(type):
        return SCALARS[base]
    return f"npt.NDArray[{ELEMENTS[base]}]" if base in ELEMENTS else "npt.NDArray[np.object_]"


def _is_packed(type: ast.TypeExpr) -> bool:
    """Whether extents depend on positions: a `sacpy.Packed` in Python."""
    return any(isinstance(f, ast.PositionExtent) for f in type.pattern or ())


def _is_scalar(type: ast.TypeExpr) -> bool:
    return not type.pattern


def _may_be_scalar(type: ast.TypeExpr) -> bool:
    """Whether the pattern takes a scalar, too."""
    free = (ast.AnyShape,)
    return all(
        isinstance(f, free) or (isinstance(f, ast.RankSlice) and not isinstance(f.rank, int) and f.minimum is None)
        for f in type.pattern or ()
    )
