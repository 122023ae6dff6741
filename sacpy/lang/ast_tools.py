"""Comparing trees regardless of where they stand.

`plain(node)` is the tree as nested tuples, without spans, comments and (if asked) parentheses; two trees mean the same
text if these are equal.
"""

from __future__ import annotations

from sacpy.lang import ast
from sacpy.lang.source import Span
from sacpy.nodes import Node, field_names

_UNSEEN = {"doc", "trivia"}  # comments
_SPELLING = {"text"}


def plain(node: object, *, parentheses: bool = True) -> object:
    """The tree as nested tuples: the class's name, then (field, value) for every field that is no span or comment.
    Without `parentheses`, `Paren` nodes are left out."""
    if isinstance(node, Span):
        return None
    if isinstance(node, tuple):
        return tuple(plain(item, parentheses=parentheses) for item in node if not isinstance(item, Span))
    if not isinstance(node, Node):
        return repr(node) if isinstance(node, float) else node
    if not parentheses and isinstance(node, ast.Paren):
        return plain(node.inner, parentheses=False)
    names = [name for name in field_names(node) if name not in _UNSEEN and not name.endswith("span")]
    if isinstance(node, ast.Literal | ast.StringLiteral):
        names = [name for name in names if name not in _SPELLING]
    return (type(node).__name__, *((name, plain(getattr(node, name), parentheses=parentheses)) for name in names))


def same(left: object, right: object, *, parentheses: bool = True) -> bool:
    """Whether two trees are equal up to spans, comments and the spelling of literals."""
    return plain(left, parentheses=parentheses) == plain(right, parentheses=parentheses)
