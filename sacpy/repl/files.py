"""Files that a prompt reads and writes.

In: a path. Out: the text of a file to obey; or, of an engine, a program that does what was done at the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sacpy.lang import ast
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.elaborate.interactive import LIBRARY
from sacpy.lang.formatter import format_text
from sacpy.lang.macro_definitions import Macro
from sacpy.lang.modules import other_file
from sacpy.lang.printer import print_definition
from sacpy.lang.source import NOWHERE, Source
from sacpy.nodes import replace
from sacpy.repl.written import Text, Written, is_closed, printed, written

if TYPE_CHECKING:
    from sacpy.repl.engine import Engine

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_DIRECTIVE = re.compile(r"(?:\\[ \t]*\r?\n|[^\n])*")
_MODULE = re.compile(r"(?:\s|//[^\n]*\n|/\*.*?\*/)*(?:module|class)\s+(\w+)", re.DOTALL)


def read_source(path: Path) -> Source:
    """What a prompt obeys to load a file: its text; of a module, that it is used. Raises `SacError` (E0303)."""
    try:
        text = path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise SacError(
            Diagnostic("E0303", f"cannot read {path}: {error.strerror}", NOWHERE, help=other_file(path))
        ) from None
    module = _MODULE.match(text)
    if module is None:
        return Source(str(path), text)
    return Source(f"<load {path}>", f"use {module[1]}: all;")


def as_program(engine: Engine) -> str:
    """The definitions as they are now, and what was done as the body of `main`: values that were shown are printed. All
    as it was written, with its comments, in the one style."""
    info = engine.definitions
    uses = [print_definition(i).rstrip() for i in info.interfaces if i.module not in LIBRARY]
    own: list[ast.Definition] = [*info.typedefs.values(), *info.structs.values(), *info.objects.values()]
    functions = [d for name in info.functions for d in info.definitions(name) if name != "main"]
    mains = [d for d in info.definitions("main") if not d.params]
    parts = [_text(engine, d).lines for d in (*own, *functions)]
    parts.append(_text(engine, mains[-1]).lines if mains and not engine.steps else _main(engine))
    head = "\n".join([*(f"use {module}: all;" for module in LIBRARY), *uses])
    text = "\n\n".join([head, *_macros(engine, parts), *parts]) + "\n"
    try:
        return format_text(text, "<saved>", tuple(engine.workspace.include_path), {}, engine.loader.search)
    except SacError:  # as with a definition that is kept although something is wrong in it
        return text


def _main(engine: Engine) -> str:
    """A `main` that does what was done."""
    texts = [(step, None if step.node is None else _text(engine, step.node)) for step in engine.steps]
    named = any(re.search(r"\bans\b", text.own) for _, text in texts if text is not None)
    body: list[str] = []
    for step, text in texts:
        if text is not None:
            body += text.above
            if step.has_value:
                body += [f"ans = {text.own};"] if named else []
                own = f"print({'ans' if named else text.own});"
            else:
                own = text.own if step.node is not None and is_closed(step.node) else f"{text.own};"
            body.append(own + (f"  {text.behind}" if text.behind else ""))
        body += step.comments
    return "\n".join(["int main()", "{", *body, "return 0;", "}"])


def _text(engine: Engine, node: Written) -> Text:
    """What was written, where that means the same by now: macros may have been redefined since."""
    found = written(node)
    return found if engine.tree_of(found.own, node) == printed(node) else replace(found, own=printed(node))


def _macros(engine: Engine, parts: Sequence[str]) -> list[str]:
    """The macros that texts mention, and those that these mention."""
    needed: dict[str, Macro] = {}
    waiting = [name for part in parts for name in _NAME.findall(part)]
    while waiting:
        name = waiting.pop()
        macro = engine.macros.get(name)
        if macro is not None and name not in needed:
            needed[name] = macro
            waiting += [token.text for token in macro.body]
    lines = [_definition(macro) for macro in sorted(needed.values(), key=lambda m: m.name)]
    return ["\n".join(lines)] if lines else []


def _definition(macro: Macro) -> str:
    """The directive that defines a macro, as it was written; of one from the command line its tokens."""
    span = macro.span
    match = _DIRECTIVE.match(span.source.text, span.start)
    if span.source.text[span.start : span.end] == macro.name and match is not None:
        return f"#define {match[0].rstrip()}"
    return f"#define {macro.name} {' '.join(token.text for token in macro.body)}"
