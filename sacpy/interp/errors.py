"""What goes wrong while a program runs, before it is known where: primitives, twins and natives raise a `Fault`; the evaluator turns it into a `SacError` with the place and the SaC call stack."""

from __future__ import annotations


class Fault(Exception):
    """A run-time error without a place. `code` such as "E0601"; `message` one sentence; `notes` further facts; `help` what to do."""

    def __init__(self, code: str, message: str, *, notes: tuple[str, ...] = (), help: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.notes = notes
        self.help = help


class CallFault(Fault):
    """A run-time error that is the caller's: the arguments of a call are wrong. Its place is the call."""


class Exit(Exception):
    """The program asked to end with this status (a library function such as `exit`)."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status
