"""The lines that begin with a colon, and `?name`.

In: such a line, and the engine. Out: text to show, and what came of it. `COMMANDS` is the table of them all, by name and by alias, in the order in which `:help` lists them.
"""

from __future__ import annotations

from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.source import Source, Span
from sacpy.lang.suggest import closest
from sacpy.repl.commands import names
from sacpy.repl.commands.command import Command
from sacpy.repl.engine import Engine, Outcome

QUIT = Command(":quit", "leave (or Ctrl-D)", "", lambda engine, text: Outcome(status=0), ("q", "exit"))
_ALL = (names.HELP, names.TYPE, names.VARS, names.CLEAR, QUIT)
COMMANDS: dict[str, Command] = {word: command for command in _ALL for word in (command.name, *command.aliases)}


def is_command(text: str) -> bool:
    """Whether a text is a command, no SaC."""
    return text.lstrip().startswith((":", "?"))


def obey(engine: Engine, text: str) -> tuple[str, Outcome]:
    """What a command shows, and what came of it."""
    text = text.strip()
    if text.startswith("?"):
        word, rest = "help", text[1:]
    else:
        word, _, rest = text[1:].partition(" ")
    command = COMMANDS.get(word)
    try:
        if command is None:
            raise SacError(_unknown(text, word))
        shown = command.obey(engine, rest.strip())
    except SacError as error:
        return "", Outcome(error.diagnostics)
    return ("", shown) if isinstance(shown, Outcome) else (shown, Outcome())


def _unknown(text: str, word: str) -> Diagnostic:
    near = closest(word, sorted(COMMANDS))
    help = f"did you mean {' or '.join(f':{n}' for n in near)}?" if near else ":help lists the commands"
    return Diagnostic("E0733", f"there is no command :{word}", Span(Source("<input>", text), 0, 1 + len(word)), "unknown command", help=help)


__all__ = ["COMMANDS", "Command", "is_command", "obey"]
