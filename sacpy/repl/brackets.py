"""The bracket that belongs to the one at the cursor is marked.

In: the text being edited. Out: the two brackets' places; as a processor of prompt_toolkit, a style for them. Brackets
in strings and comments are no brackets.
"""

from __future__ import annotations

from functools import lru_cache

from prompt_toolkit.application import get_app
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.layout.utils import explode_text_fragments

from sacpy.repl.cursor import CLOSERS, OPENERS, brackets

MARKS = frozenset((*OPENERS, *CLOSERS))
AT_CURSOR, OTHER = " class:matching-bracket.cursor ", " class:matching-bracket.other "


def pair(text: str, cursor: int) -> tuple[int, int] | None:
    """The places of the bracket at the cursor, or of a closing one right before it, and of the one that belongs to it.
    None where there are no such two."""
    at = cursor if text[cursor : cursor + 1] in MARKS else cursor - 1
    if at < 0 or text[at] not in (MARKS if at == cursor else CLOSERS):
        return None  # as for most keystrokes: the text need not be looked at
    other = _partners(text).get(at)
    return None if other is None else (at, other)


@lru_cache(maxsize=2)  # every line that is shown wants to know
def _partners(text: str) -> dict[int, int]:
    """The places of all brackets that belong to another, and of that one."""
    others: dict[int, int] = {}
    stack: list[tuple[int, str]] = []
    for place, mark in brackets(text):
        if mark in OPENERS:
            stack.append((place, OPENERS[mark]))
        elif stack and stack[-1][1] == mark:
            start, _ = stack.pop()
            others[start], others[place] = place, start
    return others


class Brackets(Processor):
    """Marks the two brackets while the text is edited."""

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        """A line with its share of the two marked."""
        document, fragments = transformation_input.document, transformation_input.fragments
        places = None if get_app().is_done else pair(document.text, document.cursor_position)
        for place, style in zip(places or (), (AT_CURSOR, OTHER)):
            row, column = document.translate_index_to_position(place)
            if row == transformation_input.lineno:
                fragments = explode_text_fragments(fragments)
                column = transformation_input.source_to_display(column)
                fragments[column] = (fragments[column][0] + style, fragments[column][1])
        return Transformation(fragments)
