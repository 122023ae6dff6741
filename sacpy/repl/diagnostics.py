"""Diagnostics as the prompt says them.

In: a diagnostic, and the text that was typed. Out: the diagnostic; words of other prompts come with what does that
here, and call stacks call the input so, or leave it out where there is nothing but it.
"""

from __future__ import annotations

from sacpy.lang.diagnostics import Diagnostic
from sacpy.nodes import replace
from sacpy.repl.inputs import PREFIX

UNKNOWN = ("E0305", "E0307")  # names and functions that nobody has defined
WORDS = {"quit": ":quit leaves the prompt", "exit": ":quit leaves the prompt", "help": ":help lists the commands"}
THE_INPUT = "the input"


def as_said_here(found: Diagnostic, text: str) -> Diagnostic:
    """The diagnostic of a text as the prompt says it."""
    if found.stack and found.stack[-1].function.startswith(PREFIX):
        calls = found.stack[:-1]
        found = replace(found, stack=(*calls, replace(found.stack[-1], function=THE_INPUT)) if calls else ())
    if found.code not in UNKNOWN:
        return found
    help = WORDS.get(text.strip().rstrip("; ").removesuffix("()"))
    return found if help is None else replace(found, help=help, edit=None)
