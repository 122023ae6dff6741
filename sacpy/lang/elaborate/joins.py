"""Which values live on where ways meet: behind a conditional, and at the head of a loop.

In: core that was just made. Out: the names whose values somebody needs in it; the same core without the merges and
carried variables that nobody needs. Elaboration merges whatever both ways have, as it cannot know what comes behind;
where the types of a variable differ between two ways, that must not count as a use.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, TypeVar, cast

from sacpy.lang import core
from sacpy.nodes import Node, field_names, replace

T = TypeVar("T")
_NO_ATOMS = frozenset(("span", "pragmas", "pattern"))


def needed(*parts: object) -> set[str]:
    """The variables that statements and atoms need: those that they mention, and those that these get their values from
    where ways meet."""
    direct: list[str] = []
    sources: defaultdict[str, list[core.Atom]] = defaultdict(list)
    stack: list[object] = list(parts)
    while stack:
        node = stack.pop()
        match node:
            case core.Var(name=name):
                direct.append(name)
            case core.If():
                stack += (node.condition, node.then, node.otherwise)
                for m in node.merges:
                    sources[m.target.name] += (m.then, m.otherwise)
            case core.Loop():
                stack += (node.condition, node.test, node.body)
                for c in node.carried:
                    sources[c.target.name] += (c.initial, c.update)
            case tuple():
                stack += node
            case Node():
                stack += (getattr(node, f) for f in field_names(node) if f not in _NO_ATOMS)
    found: set[str] = set()
    while direct:
        name = direct.pop()
        if name not in found:
            found.add(name)
            direct += (a.name for a in sources.get(name, ()) if isinstance(a, core.Var))
    return found


def without_idle(node: T, live: set[str]) -> T:
    """The same without merges and carried variables that are not among the live ones."""
    return cast(T, _without(node, live))


def _without(node: Any, live: set[str]) -> Any:
    if isinstance(node, tuple):
        parts = tuple(_without(n, live) for n in node)
        return node if all(a is b for a, b in zip(parts, node)) else parts
    if not isinstance(node, Node) or isinstance(node, core.Var | core.Const | core.Bind):
        return node
    changed: dict[str, Any] = {
        f: new
        for f in field_names(node)
        if f not in _NO_ATOMS and (new := _without(old := getattr(node, f), live)) is not old
    }
    if isinstance(node, core.If):
        changed["merges"] = tuple(m for m in node.merges if m.target.name in live)
    elif isinstance(node, core.Loop):
        changed["carried"] = tuple(c for c in node.carried if c.target.name in live)
    return replace(cast(Any, node), **changed) if changed else node
