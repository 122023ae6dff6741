"""What a compiler must offer to be asked by the interpreter. The interpreter runs everything without one; with one, it
asks at four places.

In: the program, each function when it is first called, each loop and with-loop when a function is generated, and again
when that is loaded. Out: the program as the engine wants it interpreted, the Python function that calls go to, whether
the code of a loop asks on its way, and whom. Nothing here knows what compiling is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from sacpy.interp.links import Later
from sacpy.lang.core import Function, Let, Loop, Program
from sacpy.nodes import Record

if TYPE_CHECKING:
    from sacpy.interp.evaluator import Evaluator

FEW = 64  # cells of a with-loop which nobody asks about once it has begun
_REGION = re.compile(r"(@\d+)+$")


class Left(Exception):
    """Raised by a `Turn` into the generated code that asked it: the statement is done, or, unless `over`, some rounds
    of it are. `values`: of the variables that it sets; its arrays are nobody else's."""

    def __init__(self, values: tuple[Any, ...], over: bool = True) -> None:
        super().__init__()
        self.values = values
        self.over = over


class Asking(Record):
    """A loop or with-loop whose code asks the engine, prepared as it is there. `bases`: of the variables whose values
    the engine wants to see, in their order; `work`: what it makes of a cell of a with-loop, once it has; `wanted`:
    whether it has wanted the statement for more than that; `kept`: so says an earlier run."""

    later: Later[Let | Loop]
    is_loop: bool
    bases: dict[str, str]
    work: float | None = None
    wanted: bool = False
    kept: bool = False

    @property
    def statement(self) -> Let | Loop:
        """The statement itself, most likely to be compiled."""
        self.wanted = True
        return self.later()


class Turn(Protocol):
    """What generated code asks about a loop or with-loop. `first`: how many rounds of an execution before it asks for
    the first time; of a with-loop the cells from which on it asks."""

    @property
    def first(self) -> int: ...

    def __call__(self, done: int, left: int, values: tuple[Any, ...]) -> int:
        """Between two rounds, or rows of a with-loop: so many are done and left (-1: nobody knows); `values`: of what
        the rest reads. The rounds until it is to be asked again. Raises `Left`."""
        ...

    def begin(self, cells: int, values: tuple[Any, ...]) -> None:
        """Before a with-loop of so many cells. Raises `Left`."""
        ...


class Engine(Protocol):
    """Decides what runs otherwise than interpreted."""

    def prepared(self, program: Program) -> Program:
        """The program to interpret: parts of functions may have become functions of their own ("regions", see
        `is_region`)."""
        ...

    def wrap(
        self,
        evaluator: Evaluator,
        function: Function,
        interpreted: Callable[[], Callable[..., Any]],
        put: Callable[[Callable[..., Any]], None] | None = None,
    ) -> Callable[..., Any]:
        """What calls of a function go to: what `interpreted` gives, which generates the function, or something that
        takes the same arguments and flags, and gives the same results and flags (see `ownership.protocol`). `put`: who
        is told when that is another, for calls from outside of a function that takes no time but for the calls; all
        others are told by the evaluator's namespace."""
        ...

    def asks(self, function: Function, statement: Let | Loop) -> list[str] | None:
        """The variables whose values are wanted where the generated code of a function asks about one of its loops or
        with-loops; None where it need not ask. It depends on nothing but the two."""
        ...

    def turn(self, evaluator: Evaluator, key: str, asking: Asking) -> Turn:
        """Whom the generated code of the function with this key asks about one of its loops or with-loops."""
        ...

    def stop(self) -> None:
        """Ends whatever runs outside Python now, so that a pending exception can be raised. Called from other
        threads."""
        ...


def is_region(key: str) -> bool:
    """Whether a function is part of another one that the programmer wrote; the call stack shows only that one."""
    return _REGION.search(key) is not None


def owner(name: str) -> str:
    """The name or key of the function that a region is part of; any other one as it is."""
    return _REGION.sub("", name)
