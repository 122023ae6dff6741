"""Commands about names: what there is, and what is known of it."""

from __future__ import annotations

from sacpy.base.spelling import closest
from sacpy.lang import ast
from sacpy.lang.diagnostics import SacError
from sacpy.lang.elaborate.functions import head_text
from sacpy.lang.elaborate.scope import Entry, words
from sacpy.lang.printer import print_definition
from sacpy.lang.source import NOWHERE
from sacpy.repl.commands.command import Command, refused
from sacpy.repl.commands.listing import flowed, listing, paragraphs
from sacpy.repl.engine import Engine
from sacpy.repl.statistics import statistics
from sacpy.repl.written import written

WELCOME = (
    "Type SaC: an expression shows its value, which ans is from then on; a ; behind it shows nothing; "
    "statements and definitions are kept."
)


def _help(engine: Engine, name: str) -> str:
    """The commands; or what a name is for: a command, something the user has made, something in the library."""
    from sacpy.repl.commands import COMMANDS

    if not name:
        commands = [c for n, c in COMMANDS.items() if n == c.name]
        short = ("?NAME, NAME?", "the same as :help NAME; with ?? the same as :source NAME")
        rows = [*((c.usage, c.summary) for c in commands), short]
        return f"{paragraphs(WELCOME, engine.page.columns)}\n{listing(rows, engine.page.columns)}"
    command = COMMANDS.get(name.removeprefix(":"))
    if command is not None and (name.startswith(":") or not _known(engine, name)):
        return "\n".join(
            [
                listing([(command.usage, command.summary)], engine.page.columns),
                *([paragraphs(command.details, engine.page.columns)] if command.details else []),
            ]
        )
    own = _own(engine, name)
    library = _library(engine, name)
    if not own and library is None:
        near = closest(
            name,
            [*engine.variables, *engine.definitions.functions, *_visible(engine, name), *(f":{c}" for c in COMMANDS)],
        )
        raise refused(
            "E0734",
            f"there is nothing called {name}",
            name,
            "unknown name",
            f"did you mean {' or '.join(near)}?" if near else ":help alone lists the commands, :doc the modules",
        )
    return "\n\n".join([*own, *([flowed(library.rstrip(), engine.page.columns)] if library else [])])


def _source(engine: Engine, name: str) -> str:
    """The definitions of a name as they are written, with the comments above them; of a function of the library,
    too."""
    if not name:
        raise refused("E0734", ":source wants a name", name, "whose source?", "write it behind the word: :source iota")
    own: list[ast.Definition] = [*engine.defined(name)]
    entries = [] if own or name in engine.variables else _entries(engine, name)
    found = [*own, *(e.definition for e in entries)]
    if not found:
        return _help(engine, name)
    return "\n\n".join(written(d).lines for d in found)


def _visible(engine: Engine, name: str) -> list[str]:
    """The functions that a name could mean: those at hand; of `Module::name` those of the module."""
    module, _, _ = name.rpartition("::")
    if not module:
        return words(engine.program.main.names("functions"))
    try:
        return [f"{module}::{n}" for n in engine.program.world.scope(module, NOWHERE).exported_names("functions")]
    except SacError:  # there is no such module
        return []


def _known(engine: Engine, name: str) -> bool:
    return name in engine.variables or bool(_own(engine, name))


def _own(engine: Engine, name: str) -> list[str]:
    """What the user has defined under a name, with the comments above it."""
    found = []
    for d in engine.defined(name):
        comment = d.doc.strip() if isinstance(d, ast.FunDef) else ""
        found.append(
            "".join(f"// {line}".rstrip() + "\n" for line in comment.splitlines()) + print_definition(d).rstrip()
        )
    if name in engine.variables:
        found.append(f"{name} is a variable: {engine.variables[name].type_text}")
    return found


def _library(engine: Engine, name: str) -> str | None:
    from sacpy.base.kept import cache_folder
    from sacpy.documents.library import Library
    from sacpy.documents.manual import describe

    return describe(Library(tuple(engine.loader.search), cache_folder()), name)


def _doc(engine: Engine, name: str) -> str:
    from sacpy.base.kept import cache_folder
    from sacpy.documents.library import Library
    from sacpy.documents.manual import describe, overview, unknown

    library = Library(tuple(engine.loader.search), cache_folder())
    if not name:
        return flowed(overview(library).rstrip("\n"), engine.page.columns)
    text = describe(library, name)
    if text is None:
        raise refused(
            "E0718",
            unknown(library, name),
            name,
            "unknown name",
            ":doc alone lists the modules, :help NAME tells about names of yours",
        )
    return flowed(text.rstrip("\n"), engine.page.columns)


def _type(engine: Engine, text: str) -> str:
    return _instances(engine, text) or engine.type_of(text)


def _instances(engine: Engine, name: str) -> str:
    """The instances of a function, with where each comes from; "" if that is no function's name."""
    entries = () if name in engine.variables else _entries(engine, name)
    if not entries:
        return ""
    rows = listing(((f"  {_head(e)}", _origin(e)) for e in entries), engine.page.columns)
    return f"{name}: {len(entries)} instance{'s' if len(entries) > 1 else ''}\n{rows}"


def _info(engine: Engine, text: str) -> str:
    """Of a function its instances, of a type its definition, of everything else numbers about its value."""
    if instances := _instances(engine, text):
        return instances
    if text not in engine.variables and (types := engine.defined(text)):
        return "\n".join(print_definition(d).rstrip() for d in types)
    values = (engine.variables[text],) if text in engine.variables else engine.values_of(text, ":info")
    return flowed("\n".join(statistics(variable) for variable in values), engine.page.columns) or "no value"


def _entries(engine: Engine, name: str) -> tuple[Entry, ...]:
    """The functions that a name, or `Module::name`, means at the prompt."""
    module, _, own = name.rpartition("::")
    if module:
        return engine.program.main.qualified(module, own, engine.definitions.span)
    first, second = engine.program.main.tiers(name)
    return (*first, *second)


def _head(entry: Entry) -> str:
    variables = ", ".join(f"{v.name}: {v.kind}" for v in entry.definition.typevars)
    return (f"<{variables}> " if variables else "") + head_text(entry.definition)


def _origin(entry: Entry) -> str:
    definition = entry.definition
    kind = "external, " if definition.body is None else "inline, " if definition.inlining == "inline" else ""
    if entry.scope.info.library:
        return f"{kind}in {entry.module}"
    return f"{kind}{definition.span.source.name.strip('<>')}, line {definition.span.line}"


def _vars(engine: Engine, _: str) -> str:
    return (
        listing(
            ((name, variable.type_text) for name, variable in sorted(engine.variables.items())), engine.page.columns
        )
        or "no names yet"
    )


def _clear(engine: Engine, names: str) -> str:
    if not names:
        engine.clear()
        return "all names and definitions are forgotten"
    wanted = names.replace(",", " ").split()
    for name in wanted:
        if name not in engine.variables:
            near = closest(name, engine.variables)
            raise refused(
                "E0734",
                f"there is no variable {name}",
                name,
                "unknown name",
                f"did you mean {near[0]}?" if near else ":vars lists them",
            )
    for name in wanted:
        engine.variables.pop(name, None)
    return f"forgotten: {', '.join(wanted)}"


HELP = Command(
    ":help [NAME]",
    "these lines; or what NAME is for: a command, a definition of yours, a name of the library",
    "name",
    _help,
)
SOURCE = Command(
    ":source NAME", "how NAME is defined, in the library too; ??NAME and NAME?? are the same", "name", _source
)
DOC = Command(":doc [NAME]", "the library's modules; or what its documentation says about NAME", "name", _doc)
TYPE = Command(
    ":type EXPR|NAME",
    "the type of an expression, without evaluating it; the instances of a function",
    "expression",
    _type,
)
INFO = Command(
    ":info NAME|EXPR",
    "the instances of a function; size, least, greatest and mean element of a value",
    "expression",
    _info,
)
VARS = Command(":vars", "the names that have values, with their types", "", _vars)
CLEAR = Command(":clear [NAME ..]", "forget these variables, or all names and definitions", "name", _clear)
