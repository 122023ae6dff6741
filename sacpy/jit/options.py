"""What a user may ask of the compiler. Everything here is part of the key under which compiled code is kept, but `threads` and `verify`, which leave the code as it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """`strict_fp`: floating point bit for bit as the interpreter's. `threads`: how many threads a loop may take, None for one per core. `verify`: check the graph's laws after every pass."""

    strict_fp: bool = False
    threads: int | None = None
    verify: bool = False

    @property
    def key(self) -> str:
        """The part that changes what is compiled."""
        return "strict" if self.strict_fp else "default"
