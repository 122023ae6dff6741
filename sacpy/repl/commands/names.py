"""Commands about names: what there is, and what is known of it."""

from __future__ import annotations

from pathlib import Path

from sacpy.lang.printer import print_definition
from sacpy.repl.commands.command import Command, refused
from sacpy.repl.engine import Engine


def _help(engine: Engine, name: str) -> str:
    """The commands; or the documentation of what the user or the library defines under that name."""
    from sacpy.repl.commands import COMMANDS

    if not name:
        commands = [c for n, c in COMMANDS.items() if n == c.name]
        width = max(len(c.usage) for c in commands)
        return "\n".join(["Type SaC: an expression shows its value; statements and definitions are kept.", *(f"{c.usage:<{width}}  {c.summary}" for c in commands)])
    from sacpy.documentation import Library, describe
    from sacpy.workspace import cache_folder

    own = [print_definition(d).rstrip() for d in engine.definitions.definitions(name)]
    own += [print_definition(d).rstrip() for table in (engine.definitions.typedefs, engine.definitions.structs, engine.definitions.objects) if (d := table.get(name))]
    if name in engine.variables:
        own.append(f"{name} is a variable: {engine.variables[name].type_text}")
    found = describe(Library((Path(), *engine.workspace.search), cache_folder()), name)
    if not own and found is None:
        raise refused("E0734", f"there is nothing called {name}", name, "unknown name", ":help alone lists the commands, :help Array a module")
    return "\n\n".join([*own, *([found.rstrip()] if found else [])])


def _type(engine: Engine, text: str) -> str:
    return engine.type_of(text)


def _vars(engine: Engine, _: str) -> str:
    width = max(map(len, engine.variables), default=0)
    return "\n".join(f"{name:<{width}}  {variable.type_text}" for name, variable in sorted(engine.variables.items())) or "no names yet"


def _clear(engine: Engine, _: str) -> str:
    engine.clear()
    return "all names and definitions are forgotten"


HELP = Command(":help [NAME]", "these lines; or what NAME is for, in the library or yours", "name", _help)
TYPE = Command(":type EXPR", "the type of an expression, without evaluating it", "expression", _type)
VARS = Command(":vars", "the names that have values, with their types", "", _vars)
CLEAR = Command(":clear", "forget all names and definitions", "", _clear)
