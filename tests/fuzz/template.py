"""What a function of shapes in the abstract is, for random programs, and what those that make one have in common.

In: a random generator. Out: a `Template`: the text of a function (with whatever it needs), and its type, of which the
extents are numbers or letters that each call may choose. The letters are agreed on: a call that picks the same number
for the same letter is right.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.fuzz.choices import Shape

Symbolic = tuple[int | str, ...]


@dataclass(frozen=True)
class Template:
    """A function: its text, name, parameters and result. `least`: the smallest extent that its letters stand for."""

    text: str
    name: str
    params: tuple[tuple[str, Symbolic], ...]
    result: tuple[str, Symbolic]
    least: int = 0

    def letters(self) -> list[str]:
        """The extents that a call chooses."""
        return sorted({e for _, shape in (*self.params, self.result) for e in shape if isinstance(e, str)})


def at(shape: Symbolic, chosen: dict[str, int]) -> Shape:
    """A shape with its letters chosen."""
    return tuple(chosen[e] if isinstance(e, str) else e for e in shape)


def number_type(r: random.Random) -> str:
    """A base type of numbers."""
    return r.choice(("int", "double", "double", "float", "long"))


def one_of(base: str) -> str:
    """Its one, as text."""
    return {"double": "1.0", "float": "1f", "long": "1l"}.get(base, "1")


def zero_of(base: str) -> str:
    """Its zero, as text."""
    return {"double": "0.0", "float": "0f", "long": "0l"}.get(base, "0")


def near(r: random.Random, index: str, extent: str) -> str:
    """An index beside another one, or one across, that stays within an extent."""
    offset = r.choice(("- 1", "+ 1", "- 2", "+ 0"))
    return r.choice(
        (
            f"mod({index} {offset}, {extent})",
            f"min(max({index} {offset}, 0), {extent} - 1)",
            f"({extent} - 1 - {index})",
            f"({index} + 1 == {extent} ? 0 : {index} + 1)",
        )
    )


def root(b: str, of: str) -> str:
    """Something dear of a value, which is always defined."""
    return (
        f"sqrt({one_of(b)} + abs({of}))" if b in ("double", "float") else f"({of} * {of} / ({one_of(b)} + abs({of})))"
    )
