"""The lists of module List: immutable cells (first element, rest); None is the empty list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sacpy.interp import memory
from sacpy.interp.errors import Fault
from sacpy.interp.natives import native

if TYPE_CHECKING:
    from sacpy.interp.world import World

List = tuple[int, Any] | None
CELL = 72  # bytes of a cell, and of what it is made from


def _elements(rest: List) -> Iterator[int]:
    while rest is not None:
        yield rest[0]
        rest = rest[1]


def _outside(what: str, rest: List) -> Fault:
    length = sum(1 for _ in _elements(rest))
    return Fault(
        "E0680",
        f"{what}, but the list has {length} element{'' if length == 1 else 's'}",
        help="test with `empty` or `length` first",
    )


def _build(elements: list[int], rest: List) -> List:
    for element in reversed(elements):
        rest = (element, rest)
    return rest


@native("List::nil/0")
def nil(world: World) -> List:
    """The empty list."""
    return None


@native("List::cons/2")
def cons(world: World, element: int, rest: List) -> List:
    """One more element in front."""
    return (element, rest)


@native("List::hd/1")
def hd(world: World, cells: List) -> int:
    """The first element."""
    if cells is None:
        raise _outside("`hd` asks for the first element", cells)
    return cells[0]


@native("List::tl/1")
def tl(world: World, cells: List) -> List:
    """Without the first element."""
    if cells is None:
        raise _outside("`tl` removes the first element", cells)
    rest: List = cells[1]
    return rest


@native("List::empty/1")
def empty(world: World, cells: List) -> bool:
    """Whether there are no elements."""
    return cells is None


@native("List::append/2")
def append(world: World, a: List, b: List) -> List:
    """One list, then the other, which is shared."""
    memory.room(CELL * length(world, a))
    return _build(list(_elements(a)), b)


@native("List::nth/2")
def nth(world: World, n: int, cells: List) -> int:
    """The n-th element from 0."""
    for i, element in enumerate(_elements(cells)):
        if i == n:
            return element
    raise _outside(f"`nth` asks for element {n}", cells)


@native("List::length/1")
def length(world: World, cells: List) -> int:
    """The number of elements."""
    return sum(1 for _ in _elements(cells))


@native("List::drop/2")
def drop(world: World, n: int, cells: List) -> List:
    """Without the first n elements."""
    if n < 0 or n > length(world, cells):
        raise _outside(f"`drop` removes {n} elements", cells)
    rest = cells
    for _ in range(n):
        rest = rest[1] if rest else None
    return rest


@native("List::take/2")
def take(world: World, n: int, cells: List) -> List:
    """The first n elements."""
    memory.room(CELL * min(max(0, n), length(world, cells)))
    taken = [element for _, element in zip(range(n), _elements(cells))]
    if len(taken) != n:
        raise _outside(f"`take` asks for {n} elements", cells)
    return _build(taken, None)
