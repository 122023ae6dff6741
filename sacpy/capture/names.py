"""Which variables statements set, and which of a loop's are used outside of it."""

from __future__ import annotations

import ast as py
from collections.abc import Iterable
from functools import cache

from sacpy.capture.jumps import Flag


def set_names(body: Iterable[py.stmt]) -> set[str]:
    """The variables that statements set, those of comprehensions left out."""
    found: set[str] = set()

    def visit(node: py.AST) -> None:
        if isinstance(node, py.ListComp | py.GeneratorExp | py.Lambda | py.FunctionDef):
            return
        if isinstance(node, py.Name) and isinstance(node.ctx, py.Store):
            found.add(node.id)
        if isinstance(node, Flag):
            found.add(node.name)
        for child in py.iter_child_nodes(node):
            visit(child)

    for statement in body:
        visit(statement)
    return found


@cache
def escaping(body: tuple[py.stmt, ...]) -> frozenset[str]:
    """Variables of loops over ranges that are set or read anywhere but in such loops."""
    found: set[str] = set()

    def visit(node: py.AST, bound: frozenset[str]) -> None:
        if isinstance(node, py.For) and isinstance(node.target, py.Name):
            visit(node.iter, bound)
            if any(isinstance(n, py.Name) and n.id == node.target.id and isinstance(n.ctx, py.Store)
                   for s in node.body for n in py.walk(s)):  # fmt: skip
                found.add(node.target.id)
            for statement in node.body:
                visit(statement, bound | {node.target.id})
            return
        if isinstance(node, py.ListComp | py.GeneratorExp):
            own = {n.id for g in node.generators for n in py.walk(g.target) if isinstance(n, py.Name)}
            for child in py.iter_child_nodes(node):
                visit(child, bound | own)
            return
        if isinstance(node, py.Name) and (isinstance(node.ctx, py.Store) or node.id not in bound):
            found.add(node.id)
        if isinstance(node, py.comprehension):
            for child in (node.iter, *node.ifs):
                visit(child, bound)
            return
        for child in py.iter_child_nodes(node):
            visit(child, bound)

    for statement in body:
        visit(statement, frozenset())
    return frozenset(found)
