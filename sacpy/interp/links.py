"""What the global names in generated Python stand for, and its lines.

In: needs, as `emitter` notes them: by name, what it is and the data that it is made of. Out: the namespace of an
evaluator, where each has what it needs. Whoever generates code touches no namespace, and so a function can be loaded
that an earlier run has generated (`kept_code`): from the same needs come the same names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from sacpy.nodes import Node

if TYPE_CHECKING:
    from sacpy.interp.engine import Asking
    from sacpy.interp.evaluator import Evaluator
    from sacpy.lang.source import Span

T_co = TypeVar("T_co", covariant=True)

# a row of `_MAKERS`, and what that takes
Need: TypeAlias = "tuple[Any, ...]"


class Later(Generic[T_co]):
    """A value, or what makes it when it is first asked for."""

    __slots__ = ("_make", "_value")

    def __init__(self, value: T_co | None = None, make: Callable[[], T_co] | None = None) -> None:
        self._value = value
        self._make = make

    def __call__(self) -> T_co:
        if self._make is not None:
            self._value = self._make()
            self._make = None
        return self._value  # type: ignore[return-value]


class Place(Node):
    """The lines of one generated function: the SaC name, spans by line, and direct array accesses by line."""

    function: str
    later: Later[list[Span]]
    guarded: dict[int, tuple[str, tuple[str, ...]]]

    @property
    def spans(self) -> list[Span]:
        """What the lines stand for; unpacked when an error is shown."""
        return self.later()


def bind(evaluator: Evaluator, owner: str, needs: Mapping[str, Need]) -> None:
    """Gives global names what they need; those that have it keep it. `owner`: the key of the function that needs it.
    Raises `SacError`."""
    space = evaluator.namespace
    for name, (kind, *what) in needs.items():
        if name not in space:
            space[name] = _MAKERS[kind](evaluator, owner, *what)


def _array(evaluator: Evaluator, owner: str, value: tuple[Any, ...], base: str, shape: tuple[int, ...]) -> Any:
    from sacpy.interp.values import array

    whole = array(value, base, shape)
    whole.flags.writeable = False
    return whole


def _dtype(evaluator: Evaluator, owner: str, base: str) -> Any:
    from sacpy.interp.values import dtype_of

    return dtype_of(base)


def _primitive(evaluator: Evaluator, owner: str, op: str, base: str, cell: int, attrs: tuple[Any, ...]) -> Any:
    from sacpy.interp.runtime.primitives import evaluate

    return evaluate(op, base, cell, attrs)


def _reusing(evaluator: Evaluator, owner: str, op: str, base: str, at: int) -> Any:
    from sacpy.interp.runtime.elementwise import reusing

    return reusing(op, base, at)


def _twin(evaluator: Evaluator, owner: str, key: str, part: str) -> Any:
    twin = evaluator.twin_of(evaluator.program.signature(key))
    return getattr(twin, part) if part else twin


def _native(evaluator: Evaluator, owner: str, name: str) -> Any:
    from sacpy.interp import natives

    return natives.find(name)


def _turn(evaluator: Evaluator, owner: str, asking: Asking) -> Any:
    assert evaluator.engine is not None, "without an engine no code asks"
    return evaluator.engine.turn(evaluator, owner, asking)


def _value(evaluator: Evaluator, owner: str, value: Any) -> Any:
    return value


_MAKERS: dict[str, Callable[..., Any]] = {
    "plain": _value,  # a text, a number, or a tuple of those
    "later": _value,  # what has parts in core
    "live": _value,  # what only this process has
    "array": _array,
    "dtype": _dtype,
    "primitive": _primitive,
    "reusing": _reusing,  # a primitive that writes into an operand
    "function": lambda evaluator, owner, key: evaluator.stub(key),
    "dispatcher": lambda evaluator, owner, keys: evaluator.sites.stub(keys),
    "twin": _twin,  # NumPy's function for one of the library
    "native": _native,
    "turn": _turn,
}
