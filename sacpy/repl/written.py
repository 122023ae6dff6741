"""Definitions, statements and expressions as somebody wrote them, comments and all.

In: a node of the tree, whose span knows the text it came from. Out: `Written`: its text, and the comments that belong
to it. The tree itself keeps no comments, and shows what macros stood for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from sacpy.lang import ast
from sacpy.lang.formatter.pieces import Pieces, Remark, read
from sacpy.lang.printer import print_definition, print_expr, print_stmt
from sacpy.lang.source import Source

Written = ast.Definition | ast.Stmt | ast.Expr


@dataclass(frozen=True, slots=True)
class Text:
    """What was written: `own` without the semicolon behind a statement or expression; the comments `above` it, line by
    line, and `behind` it in its last line, "" without any."""

    own: str
    above: tuple[str, ...] = ()
    behind: str = ""

    @property
    def lines(self) -> str:
        """All of it."""
        return "\n".join([*self.above, self.own + (f"  {self.behind}" if self.behind else "")])


def written(node: Written) -> Text:
    """The text of a node. Of one that no text is known of, what the tree says."""
    span = node.span
    items = _pieces(span.source).items
    inside = [
        i
        for i, piece in enumerate(items)
        if piece.kind != "end" and span.start <= piece.start and piece.end <= span.end
    ]
    if not inside:
        return Text(printed(node))
    last = inside[-1]
    if not is_closed(node) and items[last].text == ";":
        last -= 1
    own = span.source.text[items[inside[0]].start : items[last].end]
    ends = (items[last], items[last + 1]) if items[last + 1].text == ";" else (items[last],)
    return Text(own, _comments(items[inside[0]].before), " ".join(c for piece in ends for c in _comments(piece.after)))


def is_closed(node: Written) -> bool:
    """Whether no semicolon stands behind the text of a node."""
    return isinstance(node, ast.Definition | ast.If | ast.While | ast.For)


def closing(source: Source) -> tuple[str, ...]:
    """The comments behind everything else in a text."""
    return _comments(_pieces(source).items[-1].before)


def printed(node: Written) -> str:
    """What the tree says."""
    if isinstance(node, ast.Definition):
        return print_definition(node).rstrip()
    return print_stmt(node).rstrip().removesuffix(";") if isinstance(node, ast.Stmt) else print_expr(node)


def _comments(remarks: list[Remark]) -> tuple[str, ...]:
    return tuple(r.text for r in remarks if r.kind in ("line", "block"))


@lru_cache(maxsize=8)
def _pieces(source: Source) -> Pieces:
    return read(source)
