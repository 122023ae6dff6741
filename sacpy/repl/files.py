"""Files that a prompt reads and writes.

In: a path. Out: the text of a file to obey; or, of an engine, a program that does what was done at the prompt.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from sacpy.lang import ast
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.elaborate.interactive import LIBRARY
from sacpy.lang.modules import other_file
from sacpy.lang.printer import print_definition
from sacpy.lang.source import NOWHERE, Source

if TYPE_CHECKING:
    from sacpy.repl.engine import Engine

_MODULE = re.compile(r"(?:\s|//[^\n]*\n|/\*.*?\*/)*(?:module|class)\s+(\w+)", re.DOTALL)


def read_source(path: Path) -> Source:
    """What a prompt obeys to load a file: its text; of a module, that it is used. Raises `SacError` (E0303)."""
    try:
        text = path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise SacError(Diagnostic("E0303", f"cannot read {path}: {error.strerror}", NOWHERE, help=other_file(path))) from None
    module = _MODULE.match(text)
    if module is None:
        return Source(str(path), text)
    return Source(f"<load {path}>", f"use {module[1]}: all;")


def as_program(engine: Engine) -> str:
    """The definitions as they are now, and what was done as the body of `main`: values that were shown are printed."""
    info = engine.definitions
    common = LIBRARY
    uses = [print_definition(i).rstrip() for i in info.interfaces if i.module not in common]
    own: list[ast.Definition] = [*info.typedefs.values(), *info.structs.values(), *info.objects.values()]
    functions = [d for name in info.functions for d in info.definitions(name) if name != "main"]
    parts = ["\n".join([*(f"use {module}: all;" for module in common), *uses])]
    parts += [print_definition(d).rstrip() for d in (*own, *functions)]
    mains = [d for d in info.definitions("main") if not d.params]
    if mains and not engine.steps:
        return "\n\n".join([*parts, print_definition(mains[-1]).rstrip()]) + "\n"
    named = any(re.search(r"\bans\b", step.text) for step in engine.steps)
    body: list[str] = []
    for step in engine.steps:
        if not step.has_value:
            text = step.text.rstrip()
            body += (text if text.endswith((";", "}")) else f"{text};").split("\n")
        else:
            body += [f"ans = {step.text};", "print(ans);"] if named else [f"print({step.text});"]
    main = ["int main()", "{", *(f"  {line}" for line in body), "  return 0;", "}"]
    return "\n\n".join([*parts, "\n".join(main)]) + "\n"
