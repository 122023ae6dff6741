"""Versions of a function for the ranks it is really called with.

In: a function with parameters of open rank, and with loops in its body. Out: a Python function that looks at the
arguments' ranks (and at the length of short int vectors, which tend to be shapes and indices) and calls the version
generated for them: there the lengths of index vectors are known, so selections and with-loops become plain loops over
ints. What does not pay, or would take too many versions, runs the one version for all shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from numpy import ndarray

from sacpy.interp.values import Value, shape_of
from sacpy.lang.core import Function, Slot
from sacpy.lang.dispatch import shape_class
from sacpy.lang.types import Shape, known, of_rank
from sacpy.lang.walk import loops

MOST = 8  # versions of one function
SHORT = 6  # the longest int vector whose length makes a version

Kind = tuple[int, ...]  # per open parameter: its rank, or -1 - length of a short vector


def open_parameters(function: Function) -> tuple[int, ...]:
    """The parameters that a version could know more about; none where the body has no loop that would gain."""
    if not loops(function.body):
        return ()
    return tuple(i for i, slot in enumerate(function.signature.params) if _is_open(slot))


def _is_open(slot: Slot) -> bool:
    found = shape_class(slot)
    return found.rank is None or (slot.base == "int" and not slot.cell and found.rank == 1 and found.extents == (None,))


def kind_of(value: Value, is_int: bool) -> int:
    """What a version knows of an argument."""
    shape = shape_of(value)
    return -1 - shape[0] if is_int and len(shape) == 1 and shape[0] <= SHORT else len(shape)


def shapes_of(function: Function, positions: Sequence[int], kind: Kind, declared: Sequence[Shape]) -> list[Shape]:
    """The arguments' shapes as a version knows them."""
    shapes = list(declared)
    for i, k in zip(positions, kind):
        shapes[i] = known((-1 - k,)) if k < 0 else of_rank(k)
    return shapes


def selector(
    name: str,
    positions: Sequence[int],
    params: Sequence[str],
    bases: Sequence[str],
    find: Callable[[Kind], Callable[..., Any]],
    space: dict[str, Any],
) -> None:
    """Defines `name` in `space`: it picks the version and calls it. It has no place in the SaC call stack."""
    memo: dict[Any, Callable[..., Any]] = {}

    def missing(key: Any, values: tuple[Value, ...]) -> Callable[..., Any]:
        kind = tuple(kind_of(v, bases[i] == "int") for i, v in zip(positions, values))
        memo[key] = find(kind)
        return memo[key]

    looks = []
    for i in positions:
        rank = "{0}.ndim if type({0}) is ndarray else 0".format(params[i])
        if bases[i] == "int":
            short = "{0}.ndim if {0}.ndim != 1 or len({0}) > {1} else -1 - len({0})".format(params[i], SHORT)
            rank = f"({short}) if type({params[i]}) is ndarray else 0"
        looks.append(f"({rank})")
    key = looks[0] if len(looks) == 1 else f"({', '.join(looks)})"
    space[name] = dispatcher(tuple(params), key, tuple(params[i] for i in positions))(memo, missing)


@cache
def dispatcher(params: tuple[str, ...], key: str, looked_at: tuple[str, ...]) -> Callable[..., Callable[..., Any]]:
    """Makes functions that call what a table has for a key of their arguments, or what is found by those that are
    looked at. Text that is the same is compiled once; it has no names of its own, which some versions of Python keep
    for ever."""
    source = f"""def make(memo, find):
 def dispatching({", ".join(params)}):
  key = {key}
  f = memo.get(key)
  if f is None: f = find(key, ({"".join(f"{p}, " for p in looked_at)}))
  return f({", ".join(params)})
 return dispatching
"""
    space: dict[str, Any] = {"ndarray": ndarray}
    exec(compile(source, "<dispatch>", "exec"), space)
    made: Callable[..., Callable[..., Any]] = space["make"]
    return made
