"""What a case is: a source with calls of its functions, on arguments of a fixed seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

USE = "use Array: all;\nuse Math: all;\n"


@dataclass
class Case:
    """A program, and calls of its functions: names with arguments."""

    name: str
    source: str
    calls: list[tuple[str, tuple[Any, ...]]]


class Cases:
    """Cases that come into being one after the other."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.all: list[Case] = []

    def add(self, name: str, source: str, *args: Any, function: str = "f") -> None:
        """A case with one call, or with several, each a tuple."""
        several = bool(args) and all(isinstance(a, tuple) for a in args)
        calls = [(function, a) for a in args] if several else [(function, args)]
        self.all.append(Case(name, USE + source, calls))

    def doubles(self, *shape: int) -> Any:
        """Of the normal distribution."""
        return self.random.standard_normal(shape)

    def singles(self, *shape: int) -> Any:
        """Of the normal distribution."""
        return self.random.standard_normal(shape).astype(np.float32)

    def integers(self, *shape: int, low: int = -50, high: int = 50, t: Any = np.int32) -> Any:
        """Evenly spread."""
        return self.random.integers(low, high, shape).astype(t)
