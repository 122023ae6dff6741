"""Completion where a notebook of Python holds SaC: behind `%%sac` and `%sac`.

In: IPython's completion contexts. Out: the candidates for the SaC text at the cursor, in the place of Python's; nothing
in cells of Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from IPython.core.completer import SimpleCompletion, context_matcher

from sacpy.repl.completion import Completions

if TYPE_CHECKING:
    from IPython.core.completer import CompletionContext

_CELL = re.compile(r"\s*%%sac\b")
_LINE = re.compile(r"(?:^|=)[ \t]*%sac[ \t]")


def matcher(complete: Callable[[str, int], Completions]) -> Any:
    """A matcher for IPython's completer. `complete`: a SaC text and the cursor's place in it -> what could stand
    there."""

    def sac_matcher(context: CompletionContext) -> Any:
        text = context.full_text
        lines = text.split("\n")
        cursor = sum(len(line) + 1 for line in lines[: context.cursor_line]) + context.cursor_position
        begin, end = _sac(text, cursor)
        if not begin <= cursor <= end:
            return {"completions": []}
        found = complete(text[begin:end], cursor - begin)
        candidates = [SimpleCompletion(c.text, type=c.kind) for c in found.candidates]
        return {
            "completions": candidates,
            "matched_fragment": text[begin + found.start : cursor],
            "suppress": True,
            "ordered": True,
        }

    return cast(Any, context_matcher)(identifier="sac")(sac_matcher)


def _sac(text: str, cursor: int) -> tuple[int, int]:
    """Where the SaC begins and ends that the cursor may be in; behind the text if there is none."""
    cell = _CELL.match(text)
    if cell:
        return cell.end(), len(text)
    start = text.rfind("\n", 0, cursor) + 1
    end = text.find("\n", cursor)
    end = len(text) if end < 0 else end
    line = _LINE.search(text[start:end])
    return (start + line.end(), end) if line else (len(text) + 1, len(text))
