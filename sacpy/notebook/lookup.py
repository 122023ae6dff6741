"""What is known of the name at the cursor of a cell.

In: an engine, a cell's text and the cursor's place in it. Out: names, documentation.
"""

from __future__ import annotations

import re

from sacpy.repl.commands import obey
from sacpy.repl.cursor import pieces
from sacpy.repl.engine import Engine

_NAME = re.compile(r"(?:[A-Za-z_]\w*::)?[A-Za-z_]\w*", re.ASCII)


def name_at(code: str, cursor: int) -> str | None:
    """The name that the cursor is in or behind; where there is none, that of the function whose arguments it is
    among."""
    for match in _NAME.finditer(code):
        if match.start() <= cursor <= match.end():
            return match[0]
    found = pieces(code[:cursor])
    for at in reversed(found.open_brackets()):
        before = found.found[at - 1] if at else None
        if found.found[at].text == "(" and before is not None and before.kind == "name":
            return before.text
    return None


def documentation(engine: Engine, name: str) -> str | None:
    """What is known of a name: a variable's type and value, the definitions and documentation of a function, type or
    module; of a name that its module hands on, what is known of it elsewhere. None for nothing."""
    variable = engine.variables.get(name)
    text, outcome = obey(engine, f"?{name}")
    parts = [
        *([f"{name}: {variable.text}"] if variable is not None else []),
        *([] if outcome.failed else [text.rstrip()]),
    ]
    if not parts and "::" in name:
        return documentation(engine, name.rpartition("::")[2])
    return "\n\n".join(part for part in parts if part) or None
