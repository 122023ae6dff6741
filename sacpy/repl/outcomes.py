"""What a prompt keeps and gives: named values, outcomes of inputs, what has been done, how long it took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sacpy.interp.values import Value
from sacpy.lang import ast
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.elaborate.interactive import Expression
from sacpy.lang.elaborate.usertypes import BaseType
from sacpy.repl.display import PAGE, show, type_text
from sacpy.repl.page import Page


@dataclass(frozen=True, slots=True)
class Variable:
    """A named value: its base type, and one run-time value per component; `alone` says of each whether certainly no
    other value reaches its array, the other variables left aside."""

    type: BaseType
    values: tuple[Value, ...]
    alone: tuple[bool, ...] = ()

    @property
    def type_text(self) -> str:
        """The type with the shape."""
        return type_text(self.type, self.values)

    @property
    def text(self) -> str:
        """Type and elements."""
        return self.shown(PAGE)

    def shown(self, page: Page) -> str:
        """Type and elements, as much as the page has room for."""
        return show(self.type, self.values, page)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an input: everything there is to say about it, the status to end with where the program asked for
    that, and remarks on what went well ("f replaces ..")."""

    diagnostics: tuple[Diagnostic, ...] = ()
    status: int | None = None
    remarks: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether something was wrong."""
        return any(d.severity == "error" for d in self.diagnostics)


@dataclass(frozen=True, slots=True)
class Step:
    """A statement or expression that has been obeyed, or None where a text had nothing but comments; `has_value`: an
    expression, with a value; `comments`: what stood behind it at the end of its text."""

    node: ast.Stmt | ast.Expr | None
    has_value: bool = False
    comments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds: reading the text, checking it, generating code for it, and each run of it."""

    parse: float
    check: float
    compile: float
    runs: tuple[float, ...]


class Paused(Exception):
    """An input stands still at a breakpoint. `lines`: what is to be said of the place."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__()
        self.lines = lines


Failure = tuple["ast.Expr | ast.Stmt", tuple[str, str]]
"""A statement or expression that has ended with an error, and the error's gist; not the error, which holds frames."""


def gist(error: SacError) -> tuple[str, str]:
    """What makes an error the same as another: its code and its message."""
    return error.diagnostics[0].code, error.diagnostics[0].message


def made_of(
    entered: Expression, values: Sequence[Value], alone: Sequence[bool]
) -> tuple[tuple[Variable, ...], dict[str, Variable]]:
    """The values of an expression, and the names that it sets, from what its function gave."""
    made: list[Variable] = []
    at = 0
    for type in (*entered.results, *entered.changed_types):
        end = at + len(type.components)
        made.append(Variable(type, tuple(values[at:end]), tuple(alone[at:end])))
        at = end
    count = len(entered.results)
    return tuple(made[:count]), dict(zip(entered.changed, made[count:], strict=True))
