"""Places in Python files: every node that capture makes points to the Python text it comes from.

In: a Python function. Out: its syntax tree, and a `Places`, which gives spans in the whole file, so that messages quote
its lines; and `refusal`, the error of what cannot be captured.
"""

from __future__ import annotations

import ast as py
import inspect
import linecache
from collections.abc import Callable
from typing import Any, Protocol

from sacpy.lang.diagnostics import Diagnostic, Label, SacError
from sacpy.lang.source import NOWHERE, Source, Span

CANNOT = "E0901"  # Python that SaC has nothing for
UNTYPED = "E0902"  # no type, or one that is none
DIFFER = "E0903"  # types that do not go together
UNKNOWN = "E0904"  # a name that stands for nothing that can be used
NOT_SET = "E0905"  # a variable that may not be set
SHARED = "E0906"  # two names for one array that is changed
ARGUMENTS = "E0907"  # the wrong arguments
RANGE = "E0908"  # a number that does not fit
TRACED = "E0909"  # what a traced value cannot tell


class Located(Protocol):
    """What has a place in a Python file."""

    lineno: int
    col_offset: int


class Places:
    """The text of one function within its file. `first`: the line of the file that is the first of the text."""

    def __init__(self, source: Source, first: int) -> None:
        self.source = source
        self.first = first
        starts, at = [0], source.text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = source.text.find("\n", at + 1)
        self._starts = starts

    def span(self, node: Any) -> Span:
        """The place of a node of the syntax tree."""
        if not hasattr(node, "lineno"):
            return NOWHERE
        start = self._offset(node.lineno, node.col_offset)
        if isinstance(getattr(node, "body", None), list):  # of a loop, a function, only what stands before its body
            line = self.source.line(self.source.position(start)[0])
            return Span(self.source, start, self._starts[self.source.position(start)[0] - 1] + len(line.rstrip()))
        return Span(self.source, start, max(start, self._offset(node.end_lineno, node.end_col_offset)))

    def _offset(self, line: int, column: int) -> int:
        number = line - 1 + self.first - 1
        if number >= len(self._starts):
            return len(self.source.text)
        at = self._starts[number]
        return at + len(self.source.line(number + 1).encode()[:column].decode(errors="ignore"))


def parsed(function: Callable[..., Any]) -> tuple[py.FunctionDef | py.Lambda, Places]:
    """The syntax tree of a function. Raises `SacError` where its text cannot be had, or is no function."""
    name = getattr(function, "__qualname__", repr(function))
    try:
        lines, first = inspect.getsourcelines(function)
        path = inspect.getsourcefile(function) or "<python>"
    except (OSError, TypeError):
        message = f"the text of {name} cannot be had, so it cannot be captured"
        help = "define it in a file or a notebook cell with 'def'"
        raise SacError(Diagnostic(CANNOT, message, NOWHERE, help=help)) from None
    text = "".join(lines)
    whole = "".join(linecache.getlines(path)) or text
    within = text[:1].isspace()  # of something else
    places = Places(Source(path, whole), max(first, 1) - within)
    try:
        node = py.parse("if True:\n" + text if within else text).body[0]
        node = node.body[0] if within and isinstance(node, py.If) else node
    except SyntaxError:
        line = 1 + within
        node = py.Pass(lineno=line, col_offset=0, end_lineno=line, end_col_offset=len(lines[0].rstrip()))
    if isinstance(node, py.FunctionDef):
        return node, places
    word = "an async function" if isinstance(node, py.AsyncFunctionDef) else "no function made by 'def'"
    raise refusal(places.span(node), f"{name} is {word}", "define it with 'def'")


def refusal(
    span: Span, message: str, help: str = "", code: str = CANNOT, labels: tuple[Label, ...] = (), label: str = ""
) -> SacError:
    """The error of what cannot be captured, with what to write instead."""
    return SacError(Diagnostic(code, message, span, label, labels, help=help))


__all__ = ["Places", "parsed", "refusal"]
