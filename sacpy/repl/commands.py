"""The lines that begin with a colon.

In: such a line, and the engine. Out: text to show, or what went wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.printer import print_definition
from sacpy.lang.source import Source, Span
from sacpy.lang.suggest import closest
from sacpy.repl.engine import Engine, Outcome


@dataclass(frozen=True, slots=True)
class Command:
    """`usage` such as ":type EXPR"; `about` says in one line what it does; `obey` gives the text to show."""

    usage: str
    about: str
    obey: Callable[[Engine, str], str]


def is_command(text: str) -> bool:
    """Whether a text is a command, no SaC."""
    return text.lstrip().startswith(":")


def obey(engine: Engine, text: str) -> tuple[str, Outcome]:
    """What a command shows, and what came of it."""
    word, _, rest = text.strip()[1:].partition(" ")
    if word in ("quit", "q", "exit"):
        return "", Outcome(status=0)
    command = COMMANDS.get(word)
    try:
        if command is None:
            raise SacError(_unknown(text, word))
        return command.obey(engine, rest.strip()), Outcome()
    except SacError as error:
        return "", Outcome(error.diagnostics)


def _unknown(text: str, word: str) -> Diagnostic:
    near = closest(word, sorted(COMMANDS))
    start = text.index(":")
    help = f"did you mean :{near[0]}?" if near else ":help lists the commands"
    return Diagnostic("E0733", f"there is no command :{word}", Span(Source("<input>", text), start, start + 1 + len(word)), "unknown command", help=help)


# ---------------------------------------------------------------- the commands


def _help(engine: Engine, name: str) -> str:
    """The commands; or the documentation of what the user or the library defines under that name."""
    if not name:
        width = max(len(c.usage) for c in COMMANDS.values())
        lines = [f"{c.usage:<{width}}  {c.about}" for c in COMMANDS.values()]
        return "\n".join(["Type SaC: an expression shows its value; statements and definitions are kept.", *lines, f"{':quit':<{width}}  leave (or Ctrl-D)"])
    from sacpy.documentation import Library, describe
    from sacpy.workspace import cache_folder

    own = [print_definition(d).rstrip() for d in engine.definitions.definitions(name)]
    own += [print_definition(d).rstrip() for table in (engine.definitions.typedefs, engine.definitions.structs, engine.definitions.objects) if (d := table.get(name))]
    if name in engine.variables:
        own.append(f"{name} is a variable: {engine.variables[name].type_text}")
    found = describe(Library((Path(), *engine.workspace.search), cache_folder()), name)
    if not own and found is None:
        span = Span(Source("<input>", name), 0, len(name))
        raise SacError(Diagnostic("E0734", f"there is nothing called {name}", span, "unknown name", help=":help alone lists the commands, :help Array a module"))
    return "\n\n".join([*own, *([found.rstrip()] if found else [])])


def _type(engine: Engine, text: str) -> str:
    return engine.type_of(text)


def _vars(engine: Engine, _: str) -> str:
    width = max(map(len, engine.variables), default=0)
    return "\n".join(f"{name:<{width}}  {variable.type_text}" for name, variable in sorted(engine.variables.items())) or "no names yet"


def _clear(engine: Engine, _: str) -> str:
    engine.clear()
    return "all names and definitions are forgotten"


COMMANDS = {
    "help": Command(":help [NAME]", "these lines; or what NAME is for, in the library or yours", _help),
    "type": Command(":type EXPR", "the type of an expression, without evaluating it", _type),
    "vars": Command(":vars", "the names that have values, with their types", _vars),
    "clear": Command(":clear", "forget all names and definitions", _clear),
}
