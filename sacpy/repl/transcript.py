"""Sessions copied from somewhere else, prompts, output and all.

In: a pasted text. Out: the inputs in it. In a text with prompts (`>>> `, and `... ` where an input goes on) lines
without one are output and dropped; a text without prompts is one input as it is.
"""

from __future__ import annotations

import re

PROMPT = ">>> "
CONTINUED = "... "
_FIRST = re.compile(r"[ \t]*>>>(?: |$)")
_NEXT = re.compile(r"[ \t]*\.\.\.(?: |$)")


def is_transcript(text: str) -> bool:
    """Whether the first line that is not blank begins with a prompt."""
    return _FIRST.match(text.lstrip("\r\n")) is not None


def inputs(text: str) -> list[str]:
    """The inputs in a text."""
    if not is_transcript(text):
        return [text]
    found: list[list[str]] = []
    for line in text.split("\n"):
        if match := _FIRST.match(line):
            found.append([line[match.end() :]])
        elif (match := _NEXT.match(line)) and found:
            found[-1].append(line[match.end() :])
    return [joined for lines in found if (joined := "\n".join(lines).strip("\n")).strip()]


def cleaned(text: str) -> str:
    """A pasted text as it goes into the line being edited: without output lines; prompts stay where there are several
    inputs, so that each can be told from the next."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4).rstrip("\n")
    found = inputs(text)
    if len(found) < 2:
        return found[0] if found else ""
    return "\n".join(PROMPT + one.replace("\n", "\n" + CONTINUED) for one in found)
