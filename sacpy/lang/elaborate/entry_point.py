"""Which function a program begins with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.source import Span

if TYPE_CHECKING:
    from sacpy.lang.elaborate.program import ElaboratedProgram


def main_key(program: ElaboratedProgram) -> str:
    """The key of `main`: the one without parameters, or the only one there is. Raises `SacError` (E0309) if there is
    none to run."""
    scope = program.main
    found = [entry for entry in scope.own("main") if entry.definition.body is not None]
    plain = [entry for entry in found if not entry.definition.params]
    if len(found) == 1 and not plain and not found[0].definition.is_generic:
        plain = found
    if plain:
        return program.key(plain[0], ())
    info = scope.info
    what = f"{info.kind} {info.name}" if info.kind != "program" else "program"
    entries = scope.own("main")
    span = entries[0].definition.name_span if entries else Span(info.span.source, info.span.start, info.span.start)
    message = "this main cannot be called" if entries else f"this {what} has no main"
    if entries:
        help = "let there be one main, not generic; its parameters are the words of the command line"
    elif info.kind == "program":
        help = "define 'int main() { .. return 0; }'"
    else:
        help = f"run a program that uses it: 'use {info.name}: all;'"
    raise SacError(Diagnostic("E0309", message, span, "nothing to run", help=help))


__all__ = ["main_key"]
