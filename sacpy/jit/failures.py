"""How compiling, and compiled code, may end other than with a result. In a module of its own, so that the engine knows
them without loading a compiler."""

from __future__ import annotations

from sacpy.lang.source import NOWHERE, Span


class Unsupported(Exception):
    """Something stays interpreted. `reason`: why, in words that a user understands; `span`: what it is about."""

    def __init__(self, reason: str, span: Span = NOWHERE) -> None:
        super().__init__(reason)
        self.reason = reason
        self.span = span


class NativeFailure(Exception):
    """Compiled code ended without a result. Its arguments are as they were; but if `spent`, some that were given away
    are not."""

    spent = False


class CheckFailed(NativeFailure):
    """A check failed: the interpreter must run the call again, which reports the error, or finds that there is none.
    `site`: the number of the check in the unit; `large`: it says that an extent is too large for this version."""

    def __init__(self, site: int = -1, large: bool = False) -> None:
        super().__init__(site)
        self.site = site
        self.large = large


class OutOfMemory(NativeFailure):
    """An array does not fit into what the run may take. `size`: the bytes that were asked for."""

    def __init__(self, size: int = 0) -> None:
        super().__init__(size)
        self.size = size


class Interrupted(NativeFailure):
    """The stop flag was set: Ctrl-C, or a limit."""


class TooDeep(NativeFailure):
    """Calls nest deeper than they may."""
