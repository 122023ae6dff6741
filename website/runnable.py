"""What of a page can be opened in the playground.

In: a page. Out: for each piece of code that stands by itself a text for the playground: programs as they are, messages'
examples, sessions at the prompt without what they printed. A session that goes on through a page brings along what its
earlier pieces have defined and set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from website.navigation import LIBRARY
from website.playground.play import is_program

FENCE = re.compile(r"^(?P<fence>`{3,})(?P<name>[\w-]*)[ \t]*\n(?P<body>[\s\S]*?)^(?P=fence)[ \t]*$", re.M)
PROMPT, MORE = ">>> ", "... "
MESSAGES = "docs/errors.md"
CONTINUED = ("docs/tour.md",)  # whose sessions are one
FAILS = re.compile(r"^(?:error|warning)\[", re.M)
APART = ("Environment", "Process", "SDLdisplay")  # modules of what a browser's page has none of
UNLIKE = (
    "W0123", "E0209", "E0211", "E0237", "E0241", "E0243", "E0309", "E0615", "E0619", "E0664", "E0665", "E0671",
    "E0750", "E0751", "E0752",
)  # fmt: skip
"""Messages whose examples a cell takes otherwise: they need a program around them, or a session without rights."""
GOES_ON = tuple("([{-+*/%<>=!&|^~@.?:,")  # at the beginning of a line: it belongs to the expression above


@dataclass(frozen=True)
class Piece:
    """`text` for the playground, the place in the page where it ends, and the message it is about, `code`: "" none, "?"
    any."""

    end: int
    text: str
    code: str


def runnable(page: str, text: str) -> Iterator[Piece]:
    """The pieces of a page that can be run."""
    before: list[str] = []
    fences = list(FENCE.finditer(text))
    for found, behind in zip(fences, [*fences[1:], None]):
        name, body = found["name"], found["body"]
        if page == MESSAGES and name == "sac":
            code = re.findall(r"^## ([EWN]\d{4})", text[: found.start()], re.M)[-1]
            if code not in UNLIKE:
                yield Piece(found.end(), body, code)
        elif name == "sac" and is_program(body):
            said = behind is not None and FAILS.search(behind["body"]) is not None
            yield Piece(found.end(), body, "?" if said else "")
        elif name in ("", "sacpy") and body.startswith(PROMPT):
            inputs = [line for typed in entered(body) for line in apart(typed)]
            module = Path(page).stem if page.startswith(f"{LIBRARY}/") else ""
            head = [f"use {module}: all;"] if module else before
            if (module or page in CONTINUED) and module not in APART:
                code = "?" if FAILS.search(body) else ""
                yield Piece(found.end(), "\n".join([*head, *map(_begun, inputs)]) + "\n", code)
            if page in CONTINUED and not FAILS.search(body):
                before += [i for i in inputs if _lasts(i)]


def entered(session: str) -> Iterator[str]:
    """What was typed in a session, an input at a time."""
    lines: list[str] = []
    for line in session.splitlines():
        if line.startswith(PROMPT):
            if lines:
                yield "\n".join(lines)
            lines = [line.removeprefix(PROMPT)]
        elif lines and line.startswith(MORE.rstrip()) and line[:4] in (MORE, MORE.rstrip()):
            lines.append(line[len(MORE) :])
    if lines:
        yield "\n".join(lines)


def apart(typed: str) -> list[str]:
    """An input, or, where its last part is several expressions with commas between them, each of these: examples of the
    library show several values so, which is no SaC."""
    head, semicolon, last = typed.rpartition(";")
    if head.count("{") != head.count("}") or "\n" in typed or typed.startswith((":", "?", "!")) or not last.strip():
        return [typed]
    depth, at, found = 0, 0, []
    for place, letter in enumerate(re.sub(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'', lambda m: "_" * len(m[0]), last)):
        depth += letter in "([{"
        depth -= letter in ")]}"
        if letter == "," and not depth:
            found.append(last[at:place].strip())
            at = place + 1
    if not found or "=" in re.sub("[=!<>]=", "", last):
        return [typed]
    return [*([head + semicolon] if head else []), *found, last[at:].strip()]


def _begun(line: str) -> str:
    """An expression that does not go on with the one above."""
    continues = line.startswith(GOES_ON) and not re.match(r"[:?]\s*[A-Za-z]", line)
    return f"value = {line};\nvalue" if continues else line


def _lasts(text: str) -> bool:
    """Whether an input leaves something behind: a definition, a statement, the use of a module."""
    from sacpy.lang import ast
    from sacpy.lang.parser import parse_input
    from sacpy.lang.source import Source

    if text.startswith((":", "?", "!")):
        return False
    nodes = parse_input(Source("<input>", text)).nodes
    return bool(nodes) and not any(isinstance(n, ast.Expr | ast.CallStmt) for n in nodes)
