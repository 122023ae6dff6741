"""What all combinators are: a step between two spaces, with arguments, requirements and errors.

In: see `combinators`, which has them. Out: the class they are made of, and numbers that a kernel leaves open.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sacpy.nodes import Node, replace
from sacpy.withloop.arithmetic import Arithmetic, G, Slot, V
from sacpy.withloop.errors import MappingError
from sacpy.withloop.spaces import IndexSpace

EQUAL_ROWS = "put FoldTriangle or FoldLast2 inside it, which make a rectangle or one axis of rows that grow"
Offsets = tuple[int, int]
Index = tuple[V, ...]
Form = tuple[int, ...]


class Parameter(Node):
    """A number left open in the kernel: what the pragma `gpuparam` lists as `choices`, and the one picked for a launch.
    One that a strategy works out for each launch has no choices."""

    name: str
    choices: tuple[int, ...] = ()
    value: int | None = None

    def __str__(self) -> str:
        return self.name if self.choices or self.value is None else str(self.value)


Number = int | Parameter


class FromPragma:
    """What may stand in a pragma. `span` and `argument_span` are where its name and its argument do, if it came from
    one."""

    __slots__ = ()
    span: Offsets | None
    argument_span: Offsets | None

    def error(
        self, code: str, message: str, help: str, space: IndexSpace | None = None, argument: bool = False
    ) -> MappingError:
        """An error there, or at the argument."""
        notes = () if space is None else (f"the space it is applied to is {space}",)
        return MappingError(
            code, message, help, notes, self.argument_span if argument and self.argument_span else self.span
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Combinator(FromPragma, ABC):
    """A step between two spaces."""

    span: Offsets | None = field(default=None, compare=False, repr=False)
    argument_span: Offsets | None = field(default=None, compare=False, repr=False)
    needs_zero_based: ClassVar[bool] = False
    needs_dense: ClassVar[bool] = False
    takes_rows: ClassVar[bool] = False  # spaces of which the rows grow

    @property
    def name(self) -> str:
        return type(self).__name__

    def arguments(self) -> str:
        """The arguments as they are written, the space left out."""
        return ""

    def forward(self, space: IndexSpace) -> IndexSpace:
        """The space after the step. `MappingError` where `space` or the arguments are not as the combinator
        requires."""
        if self.needs_zero_based and not space.zero_based:
            raise self.error("E0807", f"{self.name} needs a zero-based space", "put ShiftLB inside it", space)
        if self.needs_dense and not space.dense:
            raise self.error(
                "E0808", f"{self.name} needs a dense space", "put CompressGrid or PruneGrid inside it", space
            )
        if space.growth and not self.takes_rows:
            raise self.error("E0822", f"{self.name} needs rows of one length", EQUAL_ROWS, space)
        return self._forward(space)

    @abstractmethod
    def _forward(self, space: IndexSpace) -> IndexSpace: ...

    def form(self, space: IndexSpace) -> Form:
        """What of the space before the step the code of `recover` depends on."""
        return ()

    def slots(self, space: IndexSpace) -> tuple[Slot, ...]:
        """The numbers of the space before the step that `recover` needs, in its order."""
        return ()

    @abstractmethod
    def recover(
        self, a: Arithmetic[V, G], form: Form, slots: Sequence[Slot], index: Index[V]
    ) -> tuple[Index[V], G | None]:
        """The index before the step, and the condition under which there is one; None: always."""

    def parameters(self) -> tuple[Parameter, ...]:
        """The numbers left open."""
        return ()

    def bind(self, values: dict[str, int]) -> Combinator:
        """With the open numbers set."""
        return self


def both(a: Arithmetic[V, G], guard: G | None, more: G | None) -> G | None:
    """Both conditions; None is one that always holds."""
    if guard is None or more is None:
        return more if guard is None else guard
    return a.both(guard, more)


def bound(n: Number, values: dict[str, int]) -> Number:
    """The number with its value set, where it is open and `values` has one. `MappingError` where that is none of its
    choices."""
    if not isinstance(n, Parameter) or n.name not in values:
        return n
    value = values[n.name]
    if n.choices and value not in n.choices:
        raise MappingError(
            "E0814",
            f"{value} is not among the values of the parameter {n.name}",
            f"pick one of {', '.join(map(str, n.choices))}",
        )
    return replace(n, value=value)


def value_of(combinator: Any, n: Number) -> int:
    """The number's value: of an open one what was picked, else its first choice. `MappingError` where it has none."""
    if isinstance(n, int):
        return n
    if n.value is None and not n.choices:
        raise combinator.error(
            "E0813",
            f"the parameter {n.name} has no value",
            f"put `#pragma gpuparam {n.name} = ...` before this pragma",
            argument=True,
        )
    return n.choices[0] if n.value is None else n.value
