"""Colours for what is typed: the SaC lexer run line by line.

In: the text being edited. Out: each line's fragments for prompt_toolkit. A line is coloured anew only if it, or the
state in which the line before it ends, has changed: what a keystroke costs does not grow with the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.styles import BaseStyle, Style

from sacpy.repl.transcript import is_transcript

States = tuple[str, ...]
_COMMAND = re.compile(r"\s*(?::\w*|\?{1,2})")
_PROMPT = re.compile(r"[ \t]*(?:>>>|\.\.\.)(?: |$)")

# Kinds of Pygments tokens, in the sixteen colours that every theme defines; names and operators keep the colour of
# text.
_COLORS = {
    "pygments.comment": "ansibrightblack",
    "pygments.comment.preproc": "ansimagenta",
    "pygments.comment.preprocfile": "ansigreen",
    "pygments.keyword": "ansimagenta",
    "pygments.keyword.type": "ansicyan",
    "pygments.keyword.constant": "ansiyellow",
    "pygments.name.function": "ansiblue",
    "pygments.name.builtin": "ansicyan",
    "pygments.name.class": "ansicyan",
    "pygments.name.namespace": "ansicyan",
    "pygments.name.constant": "ansiyellow",
    "pygments.literal.number": "ansiyellow",
    "pygments.literal.string": "ansigreen",
    "pygments.error": "ansired",
}
_OTHERS = {
    "prompt": "ansigreen bold",
    "continued": "ansibrightblack",
    "auto-suggestion": "ansibrightblack",
    "matching-bracket.cursor": "bold underline",
    "matching-bracket.other": "bold underline",
    "bottom-toolbar": "noreverse",
    "hint.parameter": "bold underline",
    "hint.more": "ansibrightblack",
}


def style() -> BaseStyle:
    """What the classes of fragments look like."""
    return Style.from_dict(_COLORS | _OTHERS)


class Coloring(Lexer):
    """The lexer of the prompt."""

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        """Gives the function from a line's number to its fragments; lines are worked on when they are asked for."""
        lines = document.lines
        starts: list[States] = [("root",)]
        transcript = is_transcript(document.text)

        def line(number: int) -> StyleAndTextTuples:
            if number >= len(lines):
                return []
            while len(starts) <= number:
                starts.append(_line(lines[len(starts) - 1], starts[-1])[1])
            text = lines[number]
            if not text:
                return []
            prefix = _COMMAND.match(text) if number == 0 else None
            if transcript:
                prefix = _PROMPT.match(text)
            if prefix is None:
                return _line(text, starts[number])[0]
            return [("class:prompt", prefix[0]), *_line(text[prefix.end() :], ("root",))[0]]

        return line


@lru_cache(maxsize=4096)
def _line(text: str, states: States) -> tuple[StyleAndTextTuples, States]:
    """A line's fragments if the lexer is in these states at its beginning, and its states at the end."""
    from prompt_toolkit.styles.pygments import pygments_token_to_classname
    from pygments.lexer import LexerContext

    from sacpy.repl.highlighting import SacLexer  # Pygments is loaded behind the first prompt

    context = LexerContext(text + "\n", 0, list(states))
    fragments: StyleAndTextTuples = []
    for _, token, part in SacLexer().get_tokens_unprocessed(context=context):
        part = part.removesuffix("\n")
        if part:
            fragments.append((f"class:{pygments_token_to_classname(token)}", part))
    return fragments, tuple(context.stack)
