"""Which names a piece of syntax mentions, and which variables it sets: elaboration asks before it knows more
(conditions on entry or exit, loop variables, the ranges of comprehensions)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sacpy.lang import ast
from sacpy.nodes import Node, field_names


def nodes(root: object) -> Iterator[object]:
    """All AST nodes below (and including) a node, in source order; iterative, so that depth does not matter."""
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            stack.extend(reversed(node))
        elif isinstance(node, Node) and not isinstance(node, ast.QName) and hasattr(node, "span"):
            yield node
            stack.extend(reversed([getattr(node, f) for f in field_names(node)]))


def mentioned(root: object) -> set[str]:
    """The unqualified variable names that occur free: index names and what a with-loop's body sets are bound inside."""
    found: set[str] = set()
    stack: list[tuple[object, frozenset[str]]] = [(root, frozenset())]
    while stack:
        node, bound = stack.pop()
        if isinstance(node, tuple):
            stack.extend((n, bound) for n in node)
        elif isinstance(node, ast.Name):
            if node.name.module is None and node.name.name not in bound:
                found.add(node.name.name)
        elif isinstance(node, ast.TensorPart):
            stack += [(node.value, bound | binds(node)), (node.range, bound)]
        elif isinstance(node, ast.Part):
            stack += [((node.body, node.results), bound | binds(node)), (node.generator, bound)]
        elif isinstance(node, Node) and not isinstance(node, ast.QName) and hasattr(node, "span"):
            stack.extend((getattr(node, f), bound) for f in field_names(node))
    return found


def binds(node: object) -> frozenset[str]:
    """The names that a part of a comprehension or a partition of a with-loop binds for its body."""
    if isinstance(node, ast.TensorPart):
        return frozenset((node.vector,) if node.vector is not None else (i for i in node.items if isinstance(i, str)))
    if isinstance(node, ast.Part):
        g = node.generator
        local = {t.name for s in nodes(node.body) if isinstance(s, ast.Assign) for t in s.targets}
        return frozenset(local | set(g.scalars or ()) | ({g.vector} if g.vector else set()))
    return frozenset()


def assigned(root: object, by_reference: Callable[[ast.Call], set[str]]) -> set[str]:
    """The variables that statements set, with-loop bodies left out (what they set is local); `by_reference` gives those
    that a call may set."""
    found: set[str] = set()
    stack: list[object] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            stack.extend(node)
            continue
        if not isinstance(node, Node) or isinstance(node, ast.QName) or not hasattr(node, "span"):
            continue
        if isinstance(node, ast.Target):
            found.add(node.name)
        elif isinstance(node, ast.Call):
            found |= by_reference(node)
        elif isinstance(node, ast.Part):
            found |= _inside(node, by_reference)
            stack.append(node.generator)
            continue
        stack.extend(getattr(node, f) for f in field_names(node))
    return found - {"_"}


def _inside(part: ast.Part, by_reference: Callable[[ast.Call], set[str]]) -> set[str]:
    """References handed on from within a with-loop's body: objects change there, local variables do not matter."""
    found: set[str] = set()
    for node in nodes((part.body, part.results or ())):
        if isinstance(node, ast.Call):
            found |= by_reference(node)
    return found
