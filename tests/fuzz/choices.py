"""What random programs are made of: names in scope, types, numbers, and how SaC writes them.

In: a random generator and a `Profile`. Out: bases, shapes, values, literals. Numbers come from the edges of their
types, shapes are often odd.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from sacpy.interp.values import dtype_of
from sacpy.lang.types import BITS, BUILTIN, REAL, SIGNED

Shape = tuple[int, ...]
SUFFIX = {
    "byte": "b",
    "short": "s",
    "int": "",
    "long": "l",
    "longlong": "ll",
    "ubyte": "ub",
    "ushort": "us",
    "uint": "ui",
    "ulong": "ul",
    "ulonglong": "ull",
}
COMPLEX = "complex"
COMMON = ("int", "int", "double", "double", "double", "float", "bool", "long", COMPLEX)


@dataclass(frozen=True)
class Profile:
    """How large programs are: `extents` by rank (the last for higher ones), the most elements of an array, the most
    indices of nested with-loops together, the depth of expressions, and how many there are."""

    name: str
    extents: tuple[tuple[int, ...], ...]
    elements: int
    indices: int
    depth: int
    budget: int


SMALL = Profile("small", ((0, 1, 1, 2, 2, 3, 3, 4, 5, 7),), 300, 4000, 4, 60)
TINY = Profile("tiny", ((0, 1, 2, 3, 4, 5, 9, 17, 40), (0, 1, 2, 3, 5, 8), (0, 1, 2, 3, 4)), 200, 1000, 2, 7)
LARGE = Profile(
    "large",
    ((0, 1, 9, 16, 31, 64, 100, 255, 700, 1500), (1, 2, 3, 8, 9, 17, 33, 40), (1, 2, 3, 5, 9, 12)),
    1600,
    6000,
    3,
    30,
)


@dataclass(frozen=True)
class Name:
    """A variable in scope."""

    text: str
    base: str
    shape: Shape


@dataclass(frozen=True)
class Index:
    """A scalar index in scope that runs from `low` to below `high`."""

    text: str
    low: int
    high: int


def brackets(shape: Sequence[object]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def literal(base: str, value: Any) -> str:
    """A value as SaC writes it."""
    if base == COMPLEX:
        return f"toc({literal('double', value.real)}, {literal('double', value.imag)})"
    if base == "bool":
        return "true" if value else "false"
    if base == "char":
        return f"'{chr(value)}'" if chr(value).isalnum() else f"'\\{value:o}'"
    if base in REAL:
        value = float(value)
        if value != value:
            return "(0f/0f)" if base == "float" else "(0.0/0.0)"
        if value in (float("inf"), float("-inf")):
            sign = "-" if value < 0 else ""
            return f"({sign}1f/0f)" if base == "float" else f"({sign}1.0/0.0)"
        text = repr(value) + ("f" if base == "float" else "")
    else:
        text = f"{value}{SUFFIX[base]}"
    return f"({text})" if text.startswith("-") else text


def number(r: random.Random, base: str) -> Any:
    """A number, often one at the edge of its type."""
    if base == COMPLEX:
        return complex(number(r, "double"), number(r, "double"))
    if base == "bool":
        return r.random() < 0.5
    if base == "char":
        return r.randint(32, 126)
    if base in REAL:
        edges = [0.0, -0.0, 1.0, -1.5, 0.1, 3.0, 1e30, -1e-30, float("inf"), float("nan")]
        value = r.choice(edges) if r.random() < 0.3 else r.uniform(-8, 8)
        return float(np.float32(value)) if base == "float" else value
    bits = BITS[base]
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if base in SIGNED else (0, (1 << bits) - 1)
    return (
        r.choice([low, high, low + 1, high - 1, 0, 1]) if r.random() < 0.15 else r.randint(max(low, -9), min(high, 9))
    )


def plain_number(r: random.Random, base: str) -> Any:
    """A number that sums do not drown in: finite, small, of either sign."""
    return (
        r.uniform(-8, 8)
        if base == "double"
        else float(np.float32(r.uniform(-8, 8)))
        if base == "float"
        else number(r, base)
    )


def value(r: random.Random, base: str, shape: Shape) -> Any:
    """An argument, as the interpreter has it. Most arrays of reals hold neither NaN nor infinities, which would soon be
    all there is."""
    make = plain_number if r.random() < 0.8 else number
    if base == COMPLEX:
        parts = [make(r, "double") for _ in range(2 * prod(shape))]
        return np.array(parts, np.float64).reshape((*shape, 2))
    if not shape:
        return make(r, base)
    items = [make(r, base) for _ in range(prod(shape))]
    with np.errstate(all="ignore"):
        return np.array(items, dtype_of(base)).reshape(shape)


class Chooser:
    """Choices that depend on a profile; names in scope."""

    def __init__(self, r: random.Random, profile: Profile) -> None:
        self.r = r
        self.profile = profile
        self.names: list[Name] = []
        self.indices: list[Index] = []
        # parameters made on the way: declaration and value; None where there can be none
        self.given: list[tuple[str, Any]] | None = []
        self.count = 0
        self.budget = profile.budget
        self.around = 1  # indices of the with-loops around, together

    def fresh(self, stem: str) -> str:
        """A new name."""
        self.count += 1
        return f"{stem}{self.count}"

    def base(self) -> str:
        """A base type, mostly a common one."""
        return self.r.choice(COMMON) if self.r.random() < 0.8 else self.r.choice(BUILTIN)

    def shape(self, most: int = 5) -> Shape:
        """The shape of an array that there is room for."""
        rank = min(self.r.choice((0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5)), most)
        sizes = self.profile.extents
        extents = sizes[min(rank, len(sizes)) - 1]
        shape = tuple(self.r.choice(extents) for _ in range(rank))
        while prod(shape) > min(self.profile.elements, max(8, self.profile.indices // self.around)):
            cut = max(range(len(shape)), key=lambda k: shape[k])
            shape = (*shape[:cut], (shape[cut] + 1) // 2, *shape[cut + 1 :])
        return shape

    def declared(self, base: str, shape: Shape) -> str:
        """A type that fits: of the shape, of the rank, or of any."""
        if not shape:
            return base
        kind = self.r.random()
        if kind < 0.2:
            return f"{base}{brackets(shape)}"
        if kind < 0.25:
            return f"{base}[*]"
        if kind < 0.3:
            return f"{base}[+]"
        return f"{base}[{','.join('.' for _ in shape)}]"

    def vector(self, numbers: Sequence[int]) -> str:
        """An int vector: written out, or a parameter of which the compiler does not know the values."""
        if self.given is not None and numbers and self.r.random() < 0.3:
            name = self.fresh("q")
            self.given.append(
                (f"int[{'.' if self.r.random() < 0.5 else len(numbers)}] {name}", np.array(numbers, np.int32))
            )
            return name
        return brackets(numbers)

    def integer(self, number: int) -> str:
        """An int: written out, or a parameter."""
        if self.given is not None and self.r.random() < 0.3:
            name = self.fresh("n")
            self.given.append((f"int {name}", number))
            return name
        return literal("int", number)

    def constant(self, base: str, shape: Shape) -> str:
        """A literal, or an array of literals."""
        if not shape:
            chosen = number(self.r, base)
            if base in SIGNED and chosen == -(1 << BITS[base] - 1):
                chosen += 1
            return literal(base, chosen)
        if 0 < prod(shape) <= 6 and self.r.random() < 0.6:
            return f"[{', '.join(self.constant(base, shape[1:]) for _ in range(shape[0]))}]"
        return f"genarray({self.vector(shape)}, {self.constant(base, ())})"

    def inside_index(self, extent: int) -> str:
        """An int expression from 0 to below `extent`; now and then it is not."""
        if self.r.random() < 0.015:
            return str(self.r.choice((-1, extent)))
        fits = [i for i in self.indices if i.low >= 0 and i.high <= extent]
        kind = self.r.random()
        if fits and kind < 0.5:
            return self.r.choice(fits).text
        shifted = [i for i in self.indices if i.high - i.low <= extent and i.high > i.low]
        if shifted and kind < 0.7:
            i = self.r.choice(shifted)
            offset = self.r.randint(-i.low, extent - i.high)
            return f"({i.text} + {offset})" if offset >= 0 else f"({i.text} - {-offset})"
        if self.indices and kind < 0.9:
            i = self.r.choice(self.indices)
            around = f"{i.text} + {self.r.randint(-3, 3)}".replace("+ -", "- ")
            wrapped = f"mod({around}, {extent})"
            mirrored = f"({extent - 1} - min({i.text}, {extent - 1}))" if i.low >= 0 else wrapped
            return self.r.choice((wrapped, wrapped, f"max(0, min({around}, {extent - 1}))", mirrored))
        return self.integer(self.r.randrange(extent))
