"""Values that a session keeps under a name.

In: a Python value. Out: the interpreter's values with their SaC type, which belong to the session: arrays are copied
when they come in, never change, and are handed out as read-only arrays. What a session refuses at once,
where the mistake is, is here too: arguments of another type, and names that SaC does not take for one.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from sacpy.embedding.arguments import Misfit, converter
from sacpy.embedding.kinds import describe, kind_of
from sacpy.embedding.plans import natural
from sacpy.embedding.records import components
from sacpy.embedding.results import presenter
from sacpy.embedding.runner import plain_error
from sacpy.interp.values import Value, shape_of
from sacpy.lang.elaborate.interactive import Named
from sacpy.lang.elaborate.program import ElaboratedProgram
from sacpy.lang.elaborate.usertypes import BaseType
from sacpy.lang.modules import ModuleInfo
from sacpy.lang.vocabulary import PUNCTUATION, RESERVED
from sacpy.nodes import Node

NO_OPERATOR = frozenset(" \t\r\n\f\v_\"'(),;[]{}#@$\\`")  # what stands in no operator's name


class NamedValue(Node):
    """A value with its type, one part for each component."""

    type: BaseType
    parts: tuple[Value, ...]

    @property
    def named(self) -> Named:
        """What elaboration needs to know of it."""
        return Named(self.type, tuple(len(shape_of(p)) for p in self.parts))

    @property
    def kind(self) -> object:
        """What an expression that uses it depends on."""
        return self.type.key, tuple(len(shape_of(p)) for p in self.parts)

    def present(self) -> Any:
        """The value for Python."""
        return presenter(self.type)(self.parts)

    def check_current(self, program: ElaboratedProgram, name: str) -> None:
        """Raises `SacError` (E0716) where the type has been redefined since."""
        module, _, type_name = self.type.key.rpartition("::")
        if module == program.main.info.name:
            now = program.main.own_type(type_name)
            if now is None or (now.components, now.fields) != (self.type.components, self.type.fields):
                raise plain_error(
                    "E0716",
                    f"{name} was made with an earlier definition of {self.type.shown}",
                    f'set it again: session["{name}"] = ...',
                )


def keep(program: ElaboratedProgram, name: str, value: Any, *, copy: bool) -> NamedValue:
    """A Python value as a named one, of the SaC type that comes naturally. Raises `SacError`."""
    kind = kind_of(value)
    type = natural(program, kind)
    if type is None:
        raise plain_error(
            "E0708",
            f"{name}: {describe(kind)} has no SaC type",
            "pass numbers, strings, NumPy arrays, or records of a struct that is defined",
        )
    try:
        parts = components(type)(value) if type.has_parts else (converter(type)(value),)
    except Misfit as misfit:
        raise plain_error(misfit.code, f"{name}: {misfit.reason}", misfit.help) from None
    return NamedValue(type, tuple(map(frozen, parts)) if copy else parts)


def frozen(part: Value) -> Value:
    """A copy that cannot be changed."""
    if type(part) is np.ndarray:
        part = part.copy()
        part.flags.writeable = False
    return part


def split(types: list[BaseType], values: tuple[Value, ...]) -> list[NamedValue]:
    """Named values from the parts of several, side by side."""
    left = iter(values)
    return [NamedValue(t, tuple(map(frozen, itertools.islice(left, len(t.components))))) for t in types]


def expect(value: object, type: Any, what: str) -> None:
    """Refuses an argument of another type at once, where the mistake is."""
    if not isinstance(value, type):
        wanted = getattr(type, "__name__", None) or str(type).replace("sacpy.embedding.grants.", "sacpy.").replace(
            "sacpy.interp.limits.", "sacpy."
        )
        raise TypeError(f"{what} must be {wanted}, not {value.__class__.__name__}")


def is_name(name: str) -> bool:
    """Whether SaC takes something for a name."""
    return name.isidentifier() and name.isascii() and name not in RESERVED and name != "_"


def is_operator(name: str) -> bool:
    """Whether a function may have that operator for its name."""
    return bool(name) and name not in PUNCTUATION and not any(c.isalnum() or c in NO_OPERATOR for c in name)


def operators_of(definitions: ModuleInfo) -> frozenset[str]:
    """The operators that the session's definitions have made."""
    return frozenset(name for name in definitions.functions if not (name[0].isalnum() or name[0] == "_"))
