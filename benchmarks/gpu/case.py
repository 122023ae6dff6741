"""What a case is: a function in SaC at several sizes, with the same in the words of other libraries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = Any
Maker = Callable[[Any], Callable[..., Any]]  # a peer's module to the function

HEAD = "use Array: all;\nuse Math: all;\n"


@dataclass(frozen=True)
class Case:
    """`function` of `source` at `sizes`; `arguments(size)`; `traffic`: bytes of a call, where its time is that of the
    memory. `peers`: by module. `small`: the size at which it is compared with the interpreter."""

    name: str
    function: str
    source: str
    sizes: tuple[int, ...]
    arguments: Callable[[int], tuple[Any, ...]]
    traffic: Callable[[int], float] | None = None
    peers: dict[str, Maker] = field(default_factory=dict)
    small: int = 1 << 12
    most: dict[str, int] = field(default_factory=dict)  # sizes over which a peer would need too much memory


def vector(size: int, seed: int = 1) -> Array:
    """Random floats in [0.5, 1.5)."""
    return np.random.default_rng(seed).random(size, np.float32) + np.float32(0.5)


def matrix(size: int, odd: int = 1) -> Array:
    """A square matrix of about so many elements; `odd`: with a pitch that no power of two divides."""
    n = int(size**0.5) | odd
    return vector(n * n).reshape(n, n)
