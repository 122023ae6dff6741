"""How a value of one type becomes one of another: what a message says, and the change that does it.

In: a value with its place, and the type that is wanted. Out: a sentence, and an `Edit` where the text alone tells what
to write: a literal gets the other type's spelling, anything else a function around it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sacpy.lang.diagnostics import Edit
from sacpy.lang.elaborate.usertypes import STRING, BaseType
from sacpy.lang.source import Span
from sacpy.lang.types import REAL
from sacpy.nodes import replace

CONVERSIONS = {
    "byte": "tob", "short": "tos", "int": "toi", "long": "tol", "longlong": "toll",
    "ubyte": "toub", "ushort": "tous", "uint": "toui", "ulong": "toul", "ulonglong": "toull",
    "float": "tof", "double": "tod", "bool": "tobool", "char": "tochar",
}  # fmt: skip
SUFFIXES = {
    "byte": "b",
    "short": "s",
    "int": "",
    "long": "l",
    "longlong": "ll",
    "ubyte": "ub",
    "ushort": "us",
    "uint": "ui",
    "ulong": "ul",
    "ulonglong": "ull",
    "float": "f",
    "double": "",
}
# Compiled, and kept by `re`, when something is wrong.
_WHOLE = r"(?<![\w.])[0-9]+(?![\w.])"
_REAL = r"(?<![\w.])([0-9]+)\.0*(?![\w.])"
_LITERAL = r"-?[0-9.]+|[\[\]\s,0-9.-]+"
_ATOM = r"[\w.]+(?:\([^()]*\)|\[[^\[\]]*\])*|\([^()]*\)"


def conversion_help(found: BaseType, wanted: BaseType) -> str:
    """How to turn a value of one type into the other, where there is no text to show."""
    if wanted.kind == "builtin" and found.kind == "builtin":
        if wanted.key == "bool":
            return "SaC has no truth value for numbers: compare, as in 'n != 0'"
        return f"SaC converts nothing by itself: write {CONVERSIONS[wanted.key]}(..)"
    if wanted.kind == "typedef" and found.kind == "builtin":
        return f"a cast makes the type: ({wanted.shown}) .."
    if found.kind == "typedef" and wanted.kind == "builtin":
        return f"a cast takes the type away: ({wanted.shown}[..]) .."
    if wanted.kind == found.kind == "packed":
        return "the extents are other functions of the positions: say in a comprehension which element goes where"
    if wanted.kind == "packed":
        return f"a cast makes one of a vector of its elements, ({wanted.shown}) v; or say which, in a comprehension"
    if found.kind == "packed":
        return f"all elements are one vector: ({wanted.shown}[.]) ..; a row is selected by t[i]"
    return f"give a value of type {wanted.shown}"


def converted(text: str, found: BaseType, wanted: BaseType) -> str | None:
    """The text of an expression of one built-in type, as one of the other; None where that is no matter of a
    function."""
    if {found.shown, wanted.shown} == {STRING.shown, "char"} and len(text) > 2 and (len(text) == 3 or wanted is STRING):
        return (
            f"'{text[1:-1]}'"
            if text[0] == '"' and wanted.key == "char"
            else f'"{text[1:-1]}"'
            if text[0] == "'"
            else None
        )
    if found.kind != "builtin" or wanted.kind != "builtin" or (wanted.key == "char" and found.key != "int"):
        return None
    if found.key == "char" and wanted.key == "bool":
        return None
    if wanted.key == "bool":
        zero = "0.0" + SUFFIXES[found.key] if found.key in REAL else "0" + SUFFIXES[found.key]
        return f"{text if re.fullmatch(_ATOM, text) else f'({text})'} != {zero}"
    if re.fullmatch(_LITERAL, text) and text[:1] != "(":
        if found.key == "int":
            return re.sub(_WHOLE, lambda m: m[0] + (".0" if wanted.key in REAL else "") + SUFFIXES[wanted.key], text)
        if found.key == "double" and wanted.key == "float":
            return re.sub(r"(?<![\w.])[0-9.]+(?![\w.])", lambda m: m[0] + "f", text)
        if (
            found.key == "double"
            and not re.search(_WHOLE, text)
            and all(re.fullmatch(_REAL, n) for n in re.findall(r"[0-9.]+", text))
        ):
            return re.sub(_REAL, lambda m: m[1] + SUFFIXES[wanted.key], text)
    return f"{CONVERSIONS[wanted.key]}({text})"


def conversion(span: Span, found: BaseType, wanted: BaseType) -> tuple[str, Edit | None]:
    """What to say where a value of one type stands and one of another is wanted, and the change."""
    text = converted(span.text, found, wanted) if span.macro is None and "\n" not in span.text else None
    if text is None:
        return conversion_help(found, wanted), None
    if wanted.key == "bool":
        return f"SaC has no truth value for numbers: compare, as in `{text}`", Edit(span, text)
    return f"SaC converts nothing by itself: write {text}", Edit(span, text)


def all_converted(values: Sequence[tuple[Span, BaseType]], wanted: BaseType) -> tuple[str, Edit | None]:
    """The same for several values, of which some are of the wanted type."""
    parts = [conversion(span, found, wanted) for span, found in values if found != wanted]
    edits = [edit for _, edit in parts if edit is not None]
    if not parts:
        return "", None
    if len(edits) < len(parts):
        return parts[0][0], None
    return f"SaC converts nothing by itself: write {' and '.join(dict.fromkeys(e.text for e in edits[:3]))}", replace(
        edits[0], also=tuple(edits[1:])
    )


def widest(types: Sequence[BaseType]) -> BaseType:
    """Of built-in number types the one that holds the values of the others best: real before whole, then the one that
    comes last in the order of widths."""
    order = [
        "bool",
        "char",
        "byte",
        "ubyte",
        "short",
        "ushort",
        "int",
        "uint",
        "long",
        "ulong",
        "longlong",
        "ulonglong",
        "float",
        "double",
    ]
    return max(types, key=lambda t: order.index(t.key) if t.key in order else -1)
