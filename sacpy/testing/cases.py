"""What a test is, and what comes of it.

In: nothing. Out: `Case`, something that can be run in a workspace, and `Outcome`. What an outcome tells is the same on
every target, unless one of them is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from sacpy.nodes import Node
from sacpy.workspace import Workspace

Status = Literal["passed", "failed", "error"]


class Outcome(Node):
    """`summary`: of what is wrong, in one line; `text`: all there is to say about it; `output`: what was printed;
    `seen`: what must be the same on every target."""

    status: Status = "passed"
    summary: str = ""
    text: str = ""
    output: str = ""
    seen: object = None


class Case(Node):
    """A test: a function, the examples of a comment, or a program with its expected output. `line`: of its definition;
    `run`: runs it in a workspace, and raises nothing but `KeyboardInterrupt`."""

    file: Path
    name: str
    line: int
    run: Callable[[Workspace], Outcome]

    @property
    def id(self) -> str:
        """How the command line calls it."""
        return f"{self.file}::{self.name}"


class Result(Node):
    """What came of a case: on one target, or compared over several. `seconds`: that it took on all of them."""

    case: Case
    outcome: Outcome
    seconds: float
