"""Colours for what is typed: the SaC lexer run line by line.

In: the text being edited. Out: each line's fragments for prompt_toolkit. A line is coloured anew only if it, or the state in which the line before it ends, has changed: what a keystroke costs does not grow with the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.styles import BaseStyle, Style, merge_styles
from prompt_toolkit.styles.pygments import pygments_token_to_classname, style_from_pygments_dict
from pygments.lexer import LexerContext
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, String

from sacpy.repl.highlighting import SacLexer
from sacpy.repl.transcript import is_transcript

States = tuple[str, ...]
_COMMAND = re.compile(r"\s*(?::\w*|\?)")
_PROMPT = re.compile(r"[ \t]*(?:>>>|\.\.\.)(?: |$)")
_LEXER = SacLexer()

# The sixteen colours that every theme defines; functions and names keep the colour of text.
_COLORS = {
    Comment: "ansibrightblack",
    Comment.Preproc: "ansimagenta",
    Comment.PreprocFile: "ansigreen",
    Keyword: "ansimagenta",
    Keyword.Type: "ansicyan",
    Keyword.Constant: "ansiyellow",
    Name.Function: "ansiblue",
    Name.Builtin: "ansicyan",
    Name.Class: "ansicyan",
    Name.Namespace: "ansicyan",
    Name.Constant: "ansiyellow",
    Number: "ansiyellow",
    Operator: "",
    String: "ansigreen",
    Error: "ansired",
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
    return merge_styles([style_from_pygments_dict(_COLORS), Style.from_dict(_OTHERS)])


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
    context = LexerContext(text + "\n", 0, list(states))
    fragments: StyleAndTextTuples = []
    for _, token, part in _LEXER.get_tokens_unprocessed(context=context):
        part = part.removesuffix("\n")
        if part:
            fragments.append((f"class:{pygments_token_to_classname(token)}", part))
    return fragments, tuple(context.stack)
