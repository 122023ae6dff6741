"""Expressions evaluated for Python, ready to be evaluated again.

In: a runner, the tree of an expression, and the types of the named values that it may use. Out: an `Evaluation`: the
Python function behind it, which named values are its arguments, and what to make of its results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sacpy.embedding.named import NamedValue, split
from sacpy.embedding.plans import finisher
from sacpy.embedding.runner import Runner
from sacpy.lang import ast
from sacpy.lang.elaborate.interactive import Expression, expression_function
from sacpy.nodes import Node


class Evaluation(Node):
    """An expression ready to run: its function, the flags that its arguments come with, and what to make of the
    results: `finish` gives its value, `changed` the values of the names that it sets."""

    expression: Expression
    function: Callable[..., Any]
    flags: list[bool]
    finish: Callable[[Any], Any]
    changed: Callable[[Any], list[NamedValue]]

    def run(self, runner: Runner, names: Mapping[str, NamedValue]) -> Any:
        """The results as they come. Raises `SacError`."""
        args = [part for n in self.expression.parameters for part in names[n].parts]
        return runner.run(self.function, args + self.flags)


def evaluation(runner: Runner, expr: ast.Expr, names: Mapping[str, NamedValue], key: str) -> Evaluation:
    """An expression with named values of these types. `key`: of its function, which is added to the program.
    Raises `SacError`."""
    program = runner.program
    expression = expression_function(program, expr, {n: v.named for n, v in names.items()}, key)
    for name in expression.parameters:
        names[name].check_current(program, name)
    function, rules = runner.entry((expression.key,))
    given = sum(len(t.components) for t in expression.results)
    types = [names[n].type for n in expression.changed]
    single = given + sum(len(t.components) for t in types) + len(rules.gives) == 1

    def changed(raw: Any) -> list[NamedValue]:
        return split(types, (raw,) if single else raw[given:]) if types else []

    shown = finisher([*expression.results, *types], rules)
    count = len(expression.results)

    def finish(raw: Any) -> Any:
        values = shown(raw)
        if not types:
            return values
        every = values if count + len(types) > 1 else (values,)
        return None if count == 0 else every[0] if count == 1 else every[:count]

    return Evaluation(expression, function, [False] * len(rules.takes), finish, changed)
