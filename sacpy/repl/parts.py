"""A text of several lines, cut into what is obeyed one after the other.

In: a text that was typed or pasted at the prompt, or stands in a cell of a notebook, and the engine that will obey it.
Out: `Part`s: commands (`:plot v`, `?name`, `name?`, `!ls`), and stretches of SaC, cut where a line
ends an expression, statement or definition that has no semicolon.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sacpy.lang.vocabulary import RESERVED
from sacpy.repl.cursor import is_open, open_lines, pieces

if TYPE_CHECKING:
    from sacpy.repl.engine import Engine

_ASKED = r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)?\?{1,2}\s*\Z"  # `name?`
_FIRST = re.compile(rf"\s*(?::|\?|{_ASKED})", re.ASCII)
_LATER = re.compile(rf"\s*(?::[A-Za-z]|\?\S|{_ASKED})", re.ASCII)
_SHELL = re.compile(r"\s*!\s*([^\s;|&<>()]+)")
_REMARKS = re.compile(r"(?>(?:\s++|//[^\n]*+|/\*[^*]*+(?>(?:\*(?!/)[^*]*+)*)\*/)*)(?:/\*[\s\S]*)?")
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Part:
    """A command, or SaC. In front of SaC stand as many empty lines as there were lines above it, so that messages count
    lines as the whole text does."""

    text: str
    command: bool


def is_command(text: str) -> bool:
    """Whether a text begins as no SaC can: a command of the prompt, or a question what a name is."""
    return _FIRST.match(text) is not None


def is_shell(line: str, engine: Engine) -> bool:
    """Whether a line is for the system's shell: `!ls -l`. It is not where what stands behind the mark is known to SaC,
    as in `!ready`, or is no command of the system."""
    match = _SHELL.match(line)
    if match is None:
        return False
    name = _NAME.match(match[1])
    if name is not None and (
        name[0] in RESERVED or name[0] in engine.variables or engine.program.main.tiers(name[0]) != ((), ())
    ):
        return False
    return shutil.which(match[1]) is not None


def parts(text: str, engine: Engine) -> Iterator[Part]:
    """The parts of a text, in order. A line that begins with a colon or question mark is a command, unless it goes on
    with an expression begun above it: where the second or third part of `a ? b : c` has a line of its own, there is a
    space behind the mark."""
    lines = text.splitlines(keepends=True)
    if (
        text.strip()
        and not is_command(lines[0])
        and not any(is_shell(line, engine) for line in lines)
        and engine.well_formed(text)
    ):
        yield Part(text, False)
        return
    gathered, begin, command = "", 0, ""
    for number, line in enumerate(lines):
        first = not gathered.strip()
        if command or (_begins(line, first, engine) and (first or not engine.incomplete(gathered))):
            yield from _stretches(gathered, begin, engine)
            command += line
            gathered, begin = "", number + 1
            if not _goes_on(command):
                yield Part(command, True)
                command = ""
        else:
            gathered += line
    yield from [Part(command, True)] if command else _stretches(gathered, begin, engine)


def is_whole(text: str, engine: Engine) -> bool:
    """Whether a text can be obeyed, rather than needing another line. While a bracket is open, a mistake further up may
    wait."""
    if not is_command(text) and is_open(text):
        return False
    every = list(parts(text, engine))
    if not every:
        return True
    last = every[-1]
    return not (_goes_on(last.text) if last.command else is_open(last.text) or engine.incomplete(last.text))


def is_remark(text: str) -> bool:
    """Whether there is nothing but comments in a text."""
    return _REMARKS.fullmatch(text) is not None


def _begins(line: str, first: bool, engine: Engine) -> bool:
    """Whether a command begins in a line. `first`: there is no SaC above it that it could go on with."""
    return (_FIRST if first else _LATER).match(line) is not None or is_shell(line, engine)


def _goes_on(command: str) -> bool:
    """Whether a bracket of a command's expression is closed on a later line."""
    from sacpy.repl.commands import COMMANDS

    word, *rest = command.strip().removeprefix(":").split(None, 1) or ("",)
    return word in COMMANDS and COMMANDS[word].arguments == "expression" and bool(pieces("".join(rest)).open_brackets())


def _stretches(text: str, begin: int, engine: Engine) -> Iterator[Part]:
    """Text without commands: itself, or, where it is not well formed, the longest stretches of lines that are, up to
    the first that is not; if there is none, itself, so that all its mistakes are told. `begin`: the lines above it."""
    if not text.strip():
        return
    found = [] if engine.well_formed(text) else _cut(text, begin, engine)
    yield from (Part("\n" * number + part, False) for number, part in found or [(begin, text)])


_Unit = tuple[int, str]  # the number of its first line, and its text


def _cut(text: str, begin: int, engine: Engine) -> list[_Unit]:
    """The stretches of a text. It goes through the lines once, and compares only what is side by side: what it costs
    grows with the text, not with its square."""
    stretches: list[list[_Unit]] = []  # each of units that cannot be cut
    rest, at = "", begin
    for number, (line, is_within) in enumerate(zip(text.splitlines(keepends=True), open_lines(text)), begin):
        at = at if rest else number
        rest += line
        if is_within or not rest.strip():
            continue
        start, before = stretches[-1][-1] if stretches else (at, "")
        if engine.well_formed(rest):
            if before and (_is_ended(before) or engine.well_formed(before + rest)):
                stretches[-1].append((at, rest))
            else:
                stretches.append([(at, rest)])
        elif engine.incomplete(rest):
            continue
        elif before and engine.well_formed(before + rest):  # it goes on with what seemed to have ended, as `else` does
            stretches[-1][-1] = (start, before + rest)
        elif before and engine.incomplete(before + rest):
            stretches[-1].pop()
            stretches = [s for s in stretches if s]
            at, rest = start, before + rest
            continue
        else:  # the first mistake
            break
        rest = ""
    whole = [(stretch[0][0], "".join(unit for _, unit in stretch)) for stretch in stretches]
    return [*whole, (at, rest)] if whole and rest.strip() else whole


def _is_ended(text: str) -> bool:
    """Whether a semicolon ends a text, so that nothing can go on with it."""
    found = pieces(text).found
    return bool(found) and found[-1].text == ";"
