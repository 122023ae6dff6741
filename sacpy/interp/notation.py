"""Values as SaC writes them: `[[1, 2], [3, 4]]`, `2.5`, `7ul`, `'a'`, `"text"`.

In: a run-time value and its base type. Out: text that means the value, in one line however large it is."""

from __future__ import annotations

from math import isinf, isnan
from typing import Any

import numpy as np

SUFFIX = {
    "byte": "b",
    "short": "s",
    "long": "l",
    "longlong": "ll",
    "ubyte": "ub",
    "ushort": "us",
    "uint": "u",
    "ulong": "ul",
    "ulonglong": "ull",
    "float": "f",
}
ESCAPES = {10: "\\n", 9: "\\t", 13: "\\r", 0: "\\0", 92: "\\\\"}
SINGLE_QUOTE, DOUBLE_QUOTE = 39, 34


def notation(value: Any, base: str) -> str:
    """The text of a value of that base type. What has no notation of its own (an open file, a list) is
    `<base type>`."""
    if isinstance(value, np.ndarray):
        return _array(value, base)
    if isinstance(value, bytes):
        return f'"{_text(value)}"'
    if not isinstance(value, bool | int | float) or "::" in base:
        return f"<{base.rpartition('::')[2]}>"
    if base == "bool":
        return "true" if value else "false"
    if base == "char":
        return "'" + _character(int(value), SINGLE_QUOTE) + "'"
    return (_real(value, base) if base in ("float", "double") else str(value)) + (
        "" if isinstance(value, float) and not _finite(value) else SUFFIX.get(base, "")
    )


def _array(array: np.ndarray[Any, Any], base: str) -> str:
    if array.ndim > 1 and not array.size:
        return f"reshape({list(array.shape)}, [])"
    if array.ndim == 0:
        return notation(array.item(), base)
    return (
        "[" + ", ".join(notation(cell.item() if isinstance(cell, np.generic) else cell, base) for cell in array) + "]"
    )


def _finite(value: float) -> bool:
    return not (isnan(value) or isinf(value))


def _real(value: float, base: str) -> str:
    """The shortest digits that mean exactly this number."""
    if not _finite(value):
        return "nan" if isnan(value) else "inf" if value > 0 else "-inf"
    return str(np.float32(value)) if base == "float" else repr(float(value))


def _text(value: bytes) -> str:
    """What stands between the quotes: text in UTF-8 as it is, bytes that are none, and what cannot be seen, as
    codes."""
    return "".join(c if c > "~" and c.isprintable() else _codes(c) for c in value.decode("utf-8", "surrogateescape"))


def _codes(character: str) -> str:
    return "".join(_character(code, DOUBLE_QUOTE) for code in character.encode("utf-8", "surrogateescape"))


def _character(code: int, quote: int) -> str:
    if code == quote:
        return "\\" + chr(code)
    return ESCAPES.get(code) or (chr(code) if 32 <= code < 127 else f"\\{code:03o}")
