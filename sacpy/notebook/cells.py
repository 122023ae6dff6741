"""A cell of a notebook: statements, definitions and expressions, and lines that are commands of the prompt, in any order.

In: a cell's text. Out: values as bundles to whoever shows them, output to the engine's world, and an `Outcome` with everything there is to say. What stands before a mistake is done, what stands behind it is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sacpy.lang.diagnostics import Diagnostic, SacError, render_text
from sacpy.lang.source import NOWHERE
from sacpy.notebook.display import Bundle, bundle, display_for
from sacpy.repl import cursor
from sacpy.repl.commands import COMMANDS, obey
from sacpy.repl.engine import Engine, Outcome, Variable

_COMMAND = re.compile(r"\s*(?::[A-Za-z]|\?\S)")
COLUMNS = 100  # of messages; pages wrap what is wider


@dataclass(slots=True)
class Cells:
    """Runs cells one after the other. `result` gets the values of expressions, `show` the pictures that were asked for."""

    engine: Engine
    result: Callable[[Bundle], None]
    show: Callable[[Bundle], None]

    def __post_init__(self) -> None:
        self.engine.present = self._present

    def run(self, text: str, name: str = "") -> Outcome:
        """Obeys a cell; Ctrl-C stops it, and names stay. `name`: how messages call it."""
        said: list[Diagnostic] = []
        try:
            for piece in pieces(text, self.engine):
                outcome = self._command(piece) if is_command(piece) else self.engine.enter(piece, name)
                said += outcome.diagnostics
                if outcome.failed or outcome.status is not None:
                    return Outcome(tuple(said), outcome.status)
        except KeyboardInterrupt:  # while no program ran: those deal with it by themselves
            said.append(Diagnostic("E0702", "the run was interrupted", NOWHERE))
        except Exception as error:  # a page must have an answer, or it waits for ever
            help = "this is a defect of sacpy, not of your program: report it with the cell"
            said.append(Diagnostic("E0799", f"sacpy itself failed: {type(error).__name__}: {error}", NOWHERE, help=help))
        finally:
            self.engine.world.flush()
        return Outcome(tuple(said))

    def _command(self, text: str) -> Outcome:
        word, _, rest = text.strip()[1:].partition(" ")
        display = display_for(word, rest.strip()) if text.lstrip().startswith(":") else None
        if display is None:
            shown, outcome = obey(self.engine, text)
            if shown:
                self.engine.world.stdout.write(shown.rstrip("\n").encode("utf-8", "surrogateescape") + b"\n")
            return outcome
        try:
            for found in display(self.engine, rest.strip()):
                self.engine.world.flush()
                self.show(found)
        except SacError as error:
            return Outcome(error.diagnostics)
        return Outcome()

    def _present(self, variable: Variable) -> None:
        self.engine.world.flush()
        self.result(bundle(variable))


def is_command(text: str) -> bool:
    """Whether a line is a command of the prompt. Where the second or third part of `a ? b : c` has a line of its own, there is a space behind the mark."""
    return _COMMAND.match(text) is not None


def pieces(text: str, engine: Engine) -> Iterator[str]:
    """A cell cut at its commands, and where an expression ends without a semicolon. A line that begins with a colon or question mark is a command, unless it goes on with an expression begun above it. In front of each piece stand as many empty lines as there were lines above it, so that messages count lines as the cell does."""
    gathered, begin, command = "", 0, ""
    for number, line in enumerate(text.splitlines(keepends=True)):
        if command or (is_command(line) and not (gathered.strip() and engine.incomplete(gathered))):
            yield from _inputs(gathered, begin, engine)
            command += line
            gathered, begin = "", number + 1
            if not _goes_on(command):
                yield command
                command = ""
        else:
            gathered += line
    yield from [command] if command else _inputs(gathered, begin, engine)


def _goes_on(command: str) -> bool:
    """Whether the brackets of a command's expression are closed on a later line."""
    word, _, rest = command.strip().removeprefix(":").partition(" ")
    return word in COMMANDS and COMMANDS[word].arguments == "expression" and bool(cursor.pieces(rest).open_brackets())


def _inputs(text: str, begin: int, engine: Engine) -> Iterator[str]:
    """Text without commands: one input, or, where it is none as a whole, the longest stretches of lines that are. `begin`: the lines above it."""
    if not text.strip():
        return
    parts: list[tuple[int, str]] = []
    if not engine.well_formed(text):
        parts = _stretches(text, begin, engine)
    for number, part in parts or [(begin, text)]:
        yield "\n" * number + part


def _stretches(text: str, begin: int, engine: Engine) -> list[tuple[int, str]]:
    """Stretches of lines that are well formed, with their places; none if something remains that is not."""
    found: list[tuple[int, str]] = []
    open_lines, at = "", begin
    for number, line in enumerate(text.splitlines(keepends=True), begin):
        if not open_lines:
            at = number
        open_lines += line
        if not engine.well_formed(open_lines):
            continue
        if found and engine.well_formed(found[-1][1] + open_lines):
            found[-1] = (found[-1][0], found[-1][1] + open_lines)
        else:
            found.append((at, open_lines))
        open_lines = ""
    return [] if open_lines.strip() else found


def remarks(outcome: Outcome, *, color: bool) -> str:
    """The warnings of an outcome as text; "" without any."""
    found = [d for d in outcome.diagnostics if d.severity == "warning"]
    return render_text(found, color=color, width=COLUMNS).rstrip("\n") + "\n" if found else ""


def report(outcome: Outcome, *, color: bool) -> str:
    """What is wrong as text."""
    return render_text([d for d in outcome.diagnostics if d.severity == "error"], color=color, width=COLUMNS).rstrip("\n")
