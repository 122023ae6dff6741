"""What inference found certain to fail, before it is known where: the operation's rule raises `Fails`, the walk over
the statements adds spans and operands and makes a `Diagnostic` of it."""

from __future__ import annotations

from sacpy.nodes import Node


class Problem(Node):
    """A sentence and a code; `help` says what to do, `notes` give further facts. `operands`: positions of the operands
    that matter, each gets a label with its type. `bracketed`: operands that would do as the only element of a vector;
    {} in `help` stands for them as they are to be written."""

    code: str
    message: str
    help: str = ""
    notes: tuple[str, ...] = ()
    operands: tuple[int, ...] = ()
    bracketed: tuple[int, ...] = ()


class Fails(Exception):
    """This operation fails whenever it is reached."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        help: str = "",
        notes: tuple[str, ...] = (),
        operands: tuple[int, ...] = (),
        bracketed: tuple[int, ...] = (),
    ) -> None:
        super().__init__(message)
        self.problem = Problem(code, message, help, notes, operands, bracketed)
