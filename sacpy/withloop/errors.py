"""What can be wrong with a mapping.

In: nothing. Out: the exception that combinators, chains and pragmas raise. It carries everything a diagnostic says but
the place in a file: whoever knows where the pragma stands adds that.
"""

from __future__ import annotations

from typing import Any


class MappingError(Exception):
    """A mapping that cannot be. `code` such as "E0807"; `message` one sentence; `help` what to do; `notes` further
    facts; `span` the offsets at which the offending text starts and ends in the pragma, where it came from one; `place`
    the number of the offending combinator in its chain, counted from the innermost; `word` the pragma that it is
    about; `pragma` that one itself, where it stands in another with-loop than the one that is launched."""

    pragma: Any = None

    def __init__(
        self,
        code: str,
        message: str,
        help: str = "",
        notes: tuple[str, ...] = (),
        span: tuple[int, int] | None = None,
        place: int | None = None,
        word: str = "gpukernel",
    ) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.help = help
        self.notes = notes
        self.span = span
        self.place = place
        self.word = word

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" + (f" ({self.help})" if self.help else "")
