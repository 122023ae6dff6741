"""The lines that begin with a colon, `?name`, `name?`, and `!command`.

In: such a line, and the engine. Out: text to show, and what came of it. `COMMANDS` is the table of them all, by name
and by alias, in the order in which `:help` lists them.
"""

from __future__ import annotations

from sacpy.base.spelling import closest
from sacpy.interp.errors import Exit
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.source import NOWHERE, Source, Span
from sacpy.nodes import replace
from sacpy.repl.commands import compiling, debugging, filing, measuring, names, reading, settings, showing, stages
from sacpy.repl.commands.command import Command
from sacpy.repl.commands.places import in_line
from sacpy.repl.diagnostics import as_said_here
from sacpy.repl.engine import Engine
from sacpy.repl.outcomes import Outcome

QUIT = Command(":quit", "leave (or Ctrl-D)", "", lambda engine, text: Outcome(status=0), ("q", "exit"))
_ALL = (
    names.HELP, names.SOURCE, names.DOC, names.TYPE, names.INFO, names.VARS, names.CLEAR,
    showing.PRINT, showing.IMG, showing.PLOT, reading.READ, filing.LOAD, filing.RELOAD, filing.SAVE, filing.EDIT,
    filing.SH,
    measuring.TIME, stages.EMIT, stages.PICTURE, stages.STRATEGY, compiling.EXPLAIN, compiling.STATS, compiling.TARGET,
    compiling.THREADS, *debugging.DEBUGGING, settings.SET, QUIT,
)  # fmt: skip
COMMANDS: dict[str, Command] = {word: command for command in _ALL for word in (command.name, *command.aliases)}


def cut(text: str) -> tuple[str, str]:
    """The name of a command, and what stands behind it: `?x` and `x?` ask for help, with two marks for the source, `!x`
    is for the shell."""
    text = text.strip()
    if text.startswith(":"):
        word, *rest = text[1:].split(None, 1) or ("",)
        return word, "".join(rest)
    if text.startswith("!"):
        return "sh", text[1:].strip()
    name = text.strip("?").strip()
    return ("source" if name and "??" in text else "help"), name


def obey(engine: Engine, text: str) -> tuple[str, Outcome]:
    """What a command shows, and what came of it."""
    text = text.strip()
    word, rest = cut(text)
    command = COMMANDS.get(word)
    try:
        if command is None:
            raise SacError(_unknown(text, word))
        shown = command.obey(engine, rest)
    except SacError as error:
        return "", Outcome(
            tuple(
                in_line(as_said_here(d, rest), text, rest)
                for d in engine.advised(Source("<input>", rest), error.diagnostics)
            )
        )
    except Exit as stop:
        return "", Outcome(status=stop.status & 0xFF)
    except KeyboardInterrupt:  # outside of what the program itself does
        return "", Outcome((Diagnostic("E0702", "the command was interrupted", NOWHERE),))
    finally:
        engine.world.flush()
    if isinstance(shown, str):
        return shown, Outcome()
    return "", replace(shown, diagnostics=tuple(in_line(d, text, rest) for d in shown.diagnostics))


def _unknown(text: str, word: str) -> Diagnostic:
    near = closest(word, sorted(COMMANDS))
    help = f"did you mean {' or '.join(f':{n}' for n in near)}?" if near else ":help lists the commands"
    return Diagnostic(
        "E0733",
        f"there is no command :{word}",
        Span(Source("<input>", text), 0, 1 + len(word)),
        "unknown command",
        help=help,
    )


__all__ = ["COMMANDS", "Command", "cut", "obey"]
