"""What the oldest Python that sacpy runs on does otherwise than later ones."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.test_rooms import MODULES

POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)[*+?]\+")


def expressions(module: str) -> Iterator[str]:
    """The texts in a module that may be regular expressions: all but documentation."""
    tree = ast.parse(MODULES[module].read_text())
    documentation = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and id(node) not in documentation:
            yield node.value if isinstance(node.value, str) else node.value.decode("latin-1")


def test_no_group_is_repeated_possessively() -> None:
    """Before 3.11.5, `(?:a(?!b))*+` takes an `a` that it has looked at in vain: comments had no end. Atomic groups,
    `(?>(?:a(?!b))*)`, are right."""
    with_expressions = [name for name, path in MODULES.items() if "import re\n" in path.read_text()]
    assert len(with_expressions) > 20
    found = [(name, text) for name in with_expressions for text in expressions(name) if POSSESSIVE_GROUP.search(text)]
    assert found == []


@pytest.mark.parametrize("text", [r"(?:a|b)*+", r"(x)++", r"(?:\*(?!/))?+"])
def test_such_groups_are_seen(text: str) -> None:
    assert POSSESSIVE_GROUP.search(text)
