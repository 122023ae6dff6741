"""What a `scanf` format says about the results of the call: one base type for each conversion that stores a value.

In: the text of a format. Out: the base types in order, for elaboration (the variables that such a call sets) and for
the scanner itself.
"""

from __future__ import annotations

import re

# compiled, and kept by `re`, when there is a format
CONVERSION = r"(?s)%(?P<skip>\*?)(?P<width>\d*)(?P<length>hh|h|ll|l|L|q|j|z|t)?(?P<letter>\[\^?\]?[^\]]*\]|.|\Z)"

_SIGNED = {
    "hh": "byte",
    "h": "short",
    "": "int",
    "l": "long",
    "ll": "longlong",
    "L": "longlong",
    "q": "longlong",
    "j": "long",
    "z": "long",
    "t": "long",
}
_UNSIGNED = {
    "hh": "ubyte",
    "h": "ushort",
    "": "uint",
    "l": "ulong",
    "ll": "ulonglong",
    "L": "ulonglong",
    "q": "ulonglong",
    "j": "ulong",
    "z": "ulong",
    "t": "ulong",
}
STRING = "String::string"


def base_of(letter: str, length: str) -> str | None:
    """The base type that a conversion stores; None for one that stores nothing or does not exist."""
    if letter in ("d", "i", "n"):
        return _SIGNED[length]
    if letter in ("u", "x", "X", "o"):
        return _UNSIGNED[length]
    if letter in ("f", "F", "e", "E", "g", "G", "a", "A"):
        return "double" if length in ("l", "L", "ll", "q") else "float"
    if letter == "c":
        return "char"
    if letter == "s" or letter.startswith("["):
        return STRING
    return None


def scan_bases(fmt: str) -> tuple[str, ...]:
    """The base types that a call of `scanf` with this format sets, the count of conversions not included: "%d %*d %lf"
    gives ("int", "double")."""
    bases = []
    for match in re.finditer(CONVERSION, fmt):
        base = base_of(match["letter"], match["length"] or "")
        if base is not None and not match["skip"]:
            bases.append(base)
    return tuple(bases)
