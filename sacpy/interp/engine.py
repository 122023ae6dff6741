"""What a compiler must offer to be asked by the interpreter. The interpreter runs everything without one; with one, it asks at two places.

In: the program, and each function when it is first called. Out: the program as the engine wants it interpreted, and the Python function that calls go to. Nothing here knows what compiling is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from sacpy.lang.core import Function, Program

if TYPE_CHECKING:
    from sacpy.interp.evaluator import Evaluator

_REGION = re.compile(r"@\d+$")


class Engine(Protocol):
    """Decides what runs otherwise than interpreted."""

    def prepared(self, program: Program) -> Program:
        """The program to interpret: parts of functions may have become functions of their own ("regions", see `is_region`)."""
        ...

    def wrap(self, evaluator: Evaluator, function: Function, interpreted: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
        """What calls of a function go to: what `interpreted` gives, which generates the function, or something that takes the same arguments and flags, and gives the same results and flags (see `ownership.protocol`)."""
        ...

    def stop(self) -> None:
        """Ends whatever runs outside Python now, so that a pending exception can be raised. Called from other threads."""
        ...


def is_region(key: str) -> bool:
    """Whether a function is part of another one that the programmer wrote; the call stack shows only that one."""
    return _REGION.search(key) is not None


def owner(name: str) -> str:
    """The name or key of the function that a region is part of; any other one as it is."""
    return _REGION.sub("", name)
