"""In which order completion offers what could stand at a place.

In: candidates, the text before the cursor and the `Analysis`. Out: the same candidates, the likeliest first: those
whose
base type is the one that is wanted there, where that can be told; variables, the latest first; the text's own
functions; what the text uses already; what programs use most; then words and types; then everything else by name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from sacpy.lang import ast
from sacpy.lang.diagnostics import SacError
from sacpy.lang.elaborate.scope import Entry
from sacpy.lsp.analysis import Analysis
from sacpy.lsp.completion import Candidate, call_at
from sacpy.lsp.knowledge import variable_type
from sacpy.lsp.symbols import Symbol

# Library functions by how many of the programs in this repository call them.
USUAL = {
    name: place
    for place, name in enumerate(
        [
            "printf",
            "sum",
            "tod",
            "genarray",
            "toi",
            "sqrt",
            "shape",
            "maxval",
            "all",
            "abs",
            "modarray",
            "max",
            "min",
            "sin",
            "print",
            "take",
            "reshape",
            "prod",
            "transpose",
            "exp",
            "iota",
            "mod",
            "tile",
            "rotate",
            "minval",
            "log",
            "drop",
            "toc",
            "cos",
            "to_string",
            "tochar",
            "pi",
            "argv",
            "fopen",
            "fprintf",
            "where",
            "fclose",
            "argc",
            "imag",
            "real",
            "rsum",
            "any",
            "dim",
            "reverse",
            "pow",
            "floor",
            "show",
            "shift",
            "sprintf",
            "strlen",
            "strcat",
            "scanint",
            "fscanf",
            "fgets",
            "feof",
            "isdigit",
            "tof",
            "tol",
            "tan",
            "atan",
            "trim",
            "strcmp",
            "maxint",
        ]
    )
}
_CONDITION = re.compile(r"\b(?:if|while)\s*\(\s*!?\s*\w*\Z")
_RETURN = re.compile(r"\breturn\s+\w*\Z")
_ASSIGNMENT = re.compile(r"(?<![=!<>.])\b(\w+)\s*=\s*\w*\Z")
_INDEX = re.compile(r"[\w\])]\[[^\[\]=<>]*\w*\Z")
_STATEMENT = re.compile(r"(?:[;{}]|\A|\n)\s*\w*\Z")
_WORDS_FIRST = frozenset(("if", "for", "while", "do", "return", "else", "with"))


def ranked(analysis: Analysis, candidates: Sequence[Candidate], before: str, offset: int) -> list[Candidate]:
    """The candidates, the likeliest first."""
    wanted = _wanted(analysis, before, offset)
    uses = Counter(o.symbol.name for o in analysis.occurrences)
    latest = {o.symbol.name: o.span.start for o in analysis.occurrences if o.span.start < offset}
    own = analysis.scope.info.functions if analysis.scope is not None else {}
    statement = _STATEMENT.search(before) is not None

    def key(candidate: Candidate) -> tuple[object, ...]:
        name, kind = candidate.text, candidate.kind
        if kind == "variable":
            group = 0
        elif (kind == "keyword" and statement and name in _WORDS_FIRST) or (
            kind == "function" and (name in own or name in uses or name in USUAL)
        ):
            group = 1
        else:
            group = 2 if kind != "function" else 3
        misfit = 1 if wanted is None or group == 3 else _misfit(analysis, candidate, wanted, latest)
        near = -latest.get(name, -1) if kind == "variable" else 0
        place = 0 if kind == "keyword" or name in own else 1 if name in uses else 2
        return misfit, group, near, place, -uses[name], USUAL.get(name, len(USUAL)), name

    return sorted(candidates, key=key)


def _misfit(analysis: Analysis, candidate: Candidate, wanted: frozenset[str], latest: dict[str, int]) -> int:
    """0 for a candidate of a wanted base type, 2 for one of another, 1 where that is not known."""
    found: set[str] = set()
    if candidate.kind == "variable":
        at = latest.get(candidate.text)
        here = analysis.at(at) if at is not None else None
        known = variable_type(analysis, here) if here is not None else None
        found = {_base(known.type)} if known is not None and known.type else set()
    elif candidate.kind == "function":
        for entry in analysis.entries(Symbol("function", candidate.text)):
            found |= _bases(entry, entry.definition.results[:1])
    elif candidate.kind in ("keyword", "type"):
        return 1
    if not found or "" in found:
        return 1
    return 0 if found & wanted else 2


def _wanted(analysis: Analysis, before: str, offset: int) -> frozenset[str] | None:
    """The base types of what is wanted at a place; None where nothing tells."""
    if _CONDITION.search(before):
        return frozenset(("bool",))
    if _INDEX.search(before):
        return frozenset(("int",))
    function = analysis.function_at(offset)
    if _RETURN.search(before) and function is not None and len(function.results) == 1:
        return frozenset((function.results[0].base.name,))
    call = call_at(before)
    if call is not None:
        return _argument(analysis, call.module, call.name, call.argument)
    match = _ASSIGNMENT.search(before)
    if match:
        start = function.span.start if function is not None else 0
        earlier = (o for o in analysis.occurrences if start <= o.span.start < offset - len(match[0]))
        at = next((o for o in earlier if o.symbol.name == match[1] and o.symbol.kind == "variable"), None)
        known = variable_type(analysis, at) if at is not None else None
        return frozenset((_base(known.type),)) if known is not None and known.type else None
    return None


def _argument(analysis: Analysis, module: str, name: str, argument: int) -> frozenset[str] | None:
    """The base types that the definitions of a function take for an argument."""
    found: set[str] = set()
    try:
        entries = analysis.entries(Symbol("function", name, module=module))
    except SacError:
        return None
    for entry in entries:
        if argument < len(entry.definition.params):
            found |= _bases(entry, [entry.definition.params[argument].type])
    return frozenset(found) if found and "" not in found else None


def _bases(entry: Entry, types: Sequence[ast.TypeExpr]) -> set[str]:
    """The base types of these types of a definition's head; "" for a type variable, which may be many."""
    variables = {v.name for v in entry.definition.typevars}
    return {"" if t.base.name in variables else t.base.name for t in types}


def _base(type: str) -> str:
    return type.removeprefix("struct ").partition("[")[0]
