"""The functions compiled by Numba, from the same text."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from sacpy import Captured


def compiled(function: Captured) -> Any:
    """A function as Numba has it; the captured functions that it calls are Numba's too. Raises ImportError where there
    is no Numba."""
    from numba import njit

    python = function.python
    names = dict(python.__globals__)
    copy = FunctionType(python.__code__, names, python.__name__, python.__defaults__, python.__closure__)
    made = njit(copy)
    names[function.__name__] = made
    for name in python.__code__.co_names:
        other = names.get(name)
        if isinstance(other, Captured):
            names[name] = compiled(other)
    return made
