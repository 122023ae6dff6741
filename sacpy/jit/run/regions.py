"""The program as the interpreter runs it under an engine: functions that cannot be compiled whole have their hot
regions outlined.

In: a core program. Out: the same, where such functions call others made of their own statements. The library's
functions are left as they are: those with effects are no place to look for work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sacpy.interp.engine import owner
from sacpy.jit.run.worth import worth_outlining
from sacpy.lang.core import Function, Global, Program, Signature
from sacpy.lang.source import STDLIB

if TYPE_CHECKING:
    from sacpy.jit.run.outline import OutlinedProgram

_LIBRARY = str(STDLIB)


class Regions:
    """A `core.Program` with regions."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.as_written: Callable[[], bool] = lambda: False  # whether no regions are to be made for now
        self._outlined: OutlinedProgram | None = None
        self._added: dict[str, Function] = {}

    def add(self, function: Function) -> None:
        """From now on the program has this function too: the rest of a loop."""
        self._added[function.signature.key] = function

    @property
    def outlined(self) -> OutlinedProgram:
        """What makes regions; loaded when there is something to outline."""
        if self._outlined is None:
            from sacpy.jit.run.outline import OutlinedProgram

            self._outlined = OutlinedProgram(self.program)
        return self._outlined

    def signature(self, key: str) -> Signature:
        """The head of a function or region. Raises `SacError`."""
        added = self._added.get(key)
        if added is not None:
            return added.signature
        return self.program.signature(key) if owner(key) == key else self.outlined.signature(key)

    def function(self, key: str) -> Function:
        """A function or region with its body. Raises `SacError`."""
        added = self._added.get(key)
        if added is not None:
            return added
        if owner(key) != key:
            return self.outlined.function(key)
        function = self.program.function(key)
        if self.as_written():
            return function
        if function.signature.span.source.name.startswith(_LIBRARY) or not worth_outlining(function):
            return function
        return self.outlined.function(key)

    def global_object(self, name: str) -> Global:
        """A global object by key."""
        return self.program.global_object(name)
