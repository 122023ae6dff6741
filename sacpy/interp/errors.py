"""What goes wrong while a program runs, before it is known where: primitives, twins and natives raise a `Fault`; the
evaluator turns it into a `SacError` with the place and the SaC call stack."""

from __future__ import annotations


class Fault(Exception):
    """A run-time error without a place. `code` such as "E0601"; `message` one sentence; `notes` further facts; `help`
    what to do."""

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


class Stopped(BaseException):
    """A run has gone beyond one of its limits. Raised from another thread, at any place; so it is no `Exception`, which
    code on the way might catch."""

    def fault(self) -> Fault:
        """What to tell the user."""
        raise NotImplementedError


class TimeUp(Stopped):
    """The run took longer than it may."""

    def fault(self) -> Fault:
        return Fault(
            "E0704",
            "the run takes longer than this session allows",
            help="raise the time limit, or give the program less to do",
        )


class MemoryUp(Stopped):
    """The run took more memory than it may."""

    def fault(self) -> Fault:
        return Fault(
            "E0703",
            "the run takes more memory than this session allows",
            help="raise the memory limit, or use smaller arrays",
        )
