"""Whether a statement may overwrite the arrays of the names that it changes.

In: the function of a statement, and the named values. Out: for each argument, whether the prompt gives it away.
`a[i] = e` should not copy a large array each time. But an error or Ctrl-C must leave all names as they were: so an
array is given away only where its one update is the last thing that happens, after everything that may fail.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sacpy.interp.values import Value
from sacpy.lang import core
from sacpy.lang.elaborate.interactive import Expression
from sacpy.repl.outcomes import Variable


def handed_over(
    function: core.Function, entered: Expression, variables: Mapping[str, Variable], objects: Mapping[str, Value]
) -> list[bool]:
    """For each parameter in core. At most one is true: the array that the last statement updates, where no other name
    and no global object reaches it."""
    last = _updated_last(function)
    given: list[bool] = []
    for name in entered.parameters:
        variable = variables[name]
        for i, value in enumerate(variable.values):
            parameter = function.signature.params[len(given)].bind.name
            alone = i < len(variable.alone) and variable.alone[i]
            given.append(
                parameter == last
                and name in entered.changed
                and alone
                and not _reached(value, name, variables, objects)
            )
    return given


def _updated_last(function: core.Function) -> str | None:
    """The parameter that an update as the last of a straight line of statements takes. Behind it, names may get other
    names."""
    statements = list(function.body.statements)
    while statements and _renames(statements[-1]):
        statements.pop()
    if not statements or not all(isinstance(s, core.Let | core.Check) for s in statements):
        return None
    last = statements[-1]
    if not (
        isinstance(last, core.Let)
        and isinstance(last.rhs, core.Prim)
        and last.rhs.op == "modarray"
        and isinstance(last.rhs.args[0], core.Var)
    ):
        return None
    aliases = {
        s.targets[0].name: s.rhs.name for s in statements if isinstance(s, core.Let) and isinstance(s.rhs, core.Var)
    }
    name = last.rhs.args[0].name
    while name in aliases:
        name = aliases[name]
    return name


def _renames(statement: core.Stmt) -> bool:
    return isinstance(statement, core.Let) and isinstance(statement.rhs, core.Var | core.Const)


def _reached(value: Value, own: str, variables: Mapping[str, Variable], objects: Mapping[str, Value]) -> bool:
    """Whether another named value, or a global object, may be the same array or a part of it."""
    others = [v for name, variable in variables.items() if name != own for v in variable.values]
    return any(isinstance(v, np.ndarray) and np.may_share_memory(v, value) for v in (*others, *objects.values()))
