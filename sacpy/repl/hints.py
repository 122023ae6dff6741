"""The signature of the function whose call the cursor is in.

In: an engine, a text and the cursor's place in it. Out: a `Hint`, one line of text with the parameter that is being
written marked; None outside of calls. Never raises for what is half typed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sacpy.lang import ast
from sacpy.lang.diagnostics import SacError
from sacpy.lang.elaborate.functions import head_text
from sacpy.lang.source import NOWHERE
from sacpy.lang.vocabulary import RESERVED
from sacpy.repl.cursor import CLOSERS, OPENERS, Piece, pieces

if TYPE_CHECKING:
    from sacpy.repl.engine import Engine

FAR = 4000  # characters before the cursor that are looked at


@dataclass(frozen=True, slots=True)
class Hint:
    """A function's head in three parts: the parameter at the cursor is in the middle, "" if there is none. `more`: how
    many other definitions would do as well."""

    before: str
    parameter: str
    after: str
    more: int = 0


def hint(engine: Engine, text: str, cursor: int) -> Hint | None:
    """The head of the function that is called around the cursor."""
    start = max(cursor - FAR, 0)
    before = pieces(text[text.rfind("\n", 0, start) + 1 if start else 0 : cursor])
    found = before.found
    for at in reversed(before.open_brackets()):
        called = _called(found, at)
        if called is None:
            continue
        arguments = _arguments(found[at + 1 :])
        fitting = _fitting(engine, called, arguments)
        if fitting:
            first, number = fitting[0], len(arguments) - 1
            return _marked(first, number, len(fitting) - 1)
        return None
    return None


def _called(found: Sequence[Piece], at: int) -> tuple[str | None, str] | None:
    """Module and name of the function whose arguments the bracket `found[at]` opens."""
    if found[at].text != "(" or at == 0 or found[at - 1].kind != "name":
        return None
    name = found[at - 1].text
    if name in RESERVED:
        return None
    module = found[at - 3].text if at >= 3 and found[at - 2].text == "::" and found[at - 3].kind == "name" else None
    return module, name


def _arguments(found: Sequence[Piece]) -> list[list[Piece]]:
    """The pieces of each argument so far; the last is that at the cursor."""
    arguments: list[list[Piece]] = [[]]
    depth = 0
    for piece in found:
        if piece.kind == "mark":
            depth += (piece.text in OPENERS) - (piece.text in CLOSERS)
            if piece.text == "," and depth == 0:
                arguments.append([])
                continue
        arguments[-1].append(piece)
    return arguments


def _fitting(engine: Engine, called: tuple[str | None, str], arguments: Sequence[Sequence[Piece]]) -> list[ast.FunDef]:
    """The definitions that take as many arguments, of these those whose base types agree with the arguments that are
    plain names or numbers; all, where there are none."""
    module, name = called
    scope = engine.program.main
    try:
        if module is None:
            own, used = scope.tiers(name)
            entries = (*own, *used)
        else:
            entries = scope.qualified(module, name, NOWHERE)
    except SacError:
        return []
    definitions = [e.definition for e in entries]
    enough = [
        d for d in definitions if len(d.params) >= len(arguments) or d.varargs or (not d.params and arguments == [[]])
    ]
    types = [_base_type(engine, argument) for argument in arguments]
    agreeing = [d for d in enough if all(_agree(d, p, t) for p, t in zip(d.params, types))]
    return agreeing or enough or definitions


def _base_type(engine: Engine, argument: Sequence[Piece]) -> str | None:
    """The base type of an argument that is one name or one number."""
    if len(argument) != 1:
        return None
    piece = argument[0]
    if piece.kind == "name" and piece.text in engine.variables:
        return engine.variables[piece.text].type.key.rpartition("::")[2]
    if piece.kind == "number":
        plain = piece.text.isdigit()
        return "int" if plain else "double" if piece.text.replace(".", "", 1).isdigit() else None
    return None


def _agree(definition: ast.FunDef, parameter: ast.Param, type: str | None) -> bool:
    name = parameter.type.base.name
    return type is None or name == type or any(v.name == name for v in definition.typevars)


def _marked(definition: ast.FunDef, number: int, more: int) -> Hint:
    """The head, cut at the parameter of that number."""
    head = head_text(definition)
    opening = head.index(f" {definition.name}(") + len(definition.name) + 2
    start, depth, index = opening, 0, 0
    for at in range(opening, len(head)):
        char = head[at]
        if depth == 0 and char in ",)":
            if index == number:
                return Hint(head[:start], head[start:at], head[at:], more)
            index, start = index + 1, at + 2
        depth += (char in OPENERS) - (char in CLOSERS)
    return Hint(head, "", "", more)
