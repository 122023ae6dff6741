"""The lattice of shapes: order, join, meet, widening, printing.

In and out: `Shape`s of `lang/types`. `a <= b` (`is_below`) says that everything `a` may be, `b` may be too. Joins
follow branches, meets combine what two sources know of one value, widening makes loops and recursion end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from sacpy.lang.types import ANY, BOTTOM, SCALAR, Scalar, Shape, known, of_rank

SMALL = 64  # the largest number of elements whose values are followed


def at_least(rank: int) -> Shape:
    """A shape of which only a lower bound of the rank is known."""
    return Shape(min_rank=rank)


def constant(extents: tuple[int, ...], value: Sequence[Scalar] | None) -> Shape:
    """The shape of a value that is known, or of which the extents are; the value is kept only if it is small."""
    small = value is not None and len(value) <= SMALL
    return Shape(len(extents), extents, len(extents), tuple(value) if small and value is not None else None)


def scalar(value: Scalar | None = None) -> Shape:
    """A scalar, of which the value may be known."""
    return SCALAR if value is None else Shape(0, (), 0, (value,))


def vector(length: int | None, value: Sequence[Scalar] | None = None) -> Shape:
    """A vector."""
    return known((length,)) if value is None else constant((len(value),), value)


def size(shape: Shape) -> int | None:
    """The number of elements, where that is known (one extent 0 is enough)."""
    if shape.extents is None:
        return None
    if 0 in shape.extents:
        return 0
    return None if None in shape.extents else prod(e for e in shape.extents if e is not None)


def full_extents(shape: Shape) -> tuple[int, ...] | None:
    """The extents, if all are known."""
    if shape.extents is None or None in shape.extents:
        return None
    return tuple(e for e in shape.extents if e is not None)


def int_vector(shape: Shape) -> tuple[int, ...] | None:
    """The known value of an int vector (or scalar)."""
    return None if shape.value is None else tuple(int(v) for v in shape.value)


def without_value(shape: Shape) -> Shape:
    """The same shape, its value forgotten."""
    return shape if shape.value is None else Shape(shape.rank, shape.extents, shape.min_rank)


def same_value(a: tuple[Scalar, ...] | None, b: tuple[Scalar, ...] | None) -> bool:
    """Whether two known values are the same bits (NaN is itself, 0.0 and -0.0 differ)."""
    return (
        a is not None
        and b is not None
        and len(a) == len(b)
        and all(type(x) is type(y) and repr(x) == repr(y) for x, y in zip(a, b))
    )


def is_below(a: Shape, b: Shape) -> bool:
    """Whether `a` says at least as much as `b`."""
    if a.never or b.never:
        return a.never
    if b.rank is None:
        return (a.rank if a.rank is not None else a.min_rank) >= b.min_rank
    if a.rank != b.rank or a.extents is None or b.extents is None:
        return False
    if any(y is not None and x != y for x, y in zip(a.extents, b.extents)):
        return False
    return b.value is None or same_value(a.value, b.value)


def join(a: Shape, b: Shape) -> Shape:
    """What is known of a value that is one or the other."""
    if a.never or b.never:
        return b if a.never else a
    if a.rank is None or a.rank != b.rank or a.extents is None or b.extents is None:
        return at_least(min(_min_rank(a), _min_rank(b)))
    if a is b:
        return a
    extents = tuple(x if x == y else None for x, y in zip(a.extents, b.extents))
    return Shape(a.rank, extents, a.rank, a.value if extents == a.extents and same_value(a.value, b.value) else None)


def join_all(shapes: Iterable[Shape]) -> Shape:
    """The join of any number of shapes."""
    result = BOTTOM
    for shape in shapes:
        result = join(result, shape)
    return result


def meet(a: Shape, b: Shape) -> Shape:
    """What is known of a value that is both; bottom where they contradict each other."""
    if a.never or b.never:
        return BOTTOM
    if a.rank == 0 and b.rank == 0:  # most are scalars
        return b if a.value is None else a
    if a.rank is None or a.extents is None:
        a, b = b, a
    if a.rank is None or a.extents is None:
        return at_least(max(a.min_rank, b.min_rank))
    if b.rank is None or b.extents is None:
        return a if a.rank >= b.min_rank else BOTTOM
    if a.rank != b.rank or any(x != y for x, y in zip(a.extents, b.extents) if x is not None and y is not None):
        return BOTTOM
    extents = tuple(y if x is None else x for x, y in zip(a.extents, b.extents))
    return Shape(a.rank, extents, a.rank, a.value if a.value is not None else b.value)


def disjoint(a: Shape, b: Shape) -> bool:
    """Whether no value can have both shapes (values are not compared)."""
    if a.never or b.never:
        return False
    if a.extents is None or b.extents is None:
        return (a.rank is not None and a.rank < b.min_rank) or (b.rank is not None and b.rank < a.min_rank)
    return a.rank != b.rank or any(x != y for x, y in zip(a.extents, b.extents) if x is not None and y is not None)


def widen(old: Shape, new: Shape, declared: Shape, round_: int) -> Shape:
    """The join of two rounds of an iteration. The first two rounds keep all that the join knows; then the value goes,
    then extents that change, then the rank, then all but `declared`."""
    joined = join(old, new)
    if joined == old or round_ < 2:
        return joined
    joined = without_value(joined)
    if round_ >= 3 and joined.rank is not None and not old.never and joined != without_value(old):
        joined = of_rank(joined.rank)
    return joined if round_ < 5 else join(joined, declared)


def _min_rank(shape: Shape) -> int:
    return shape.min_rank if shape.rank is None else shape.rank


# ---------------------------------------------------------------- axes


def prefix(shape: Shape, count: int) -> Shape:
    """The shape of the first `count` axes."""
    return of_rank(count) if shape.extents is None else known(shape.extents[:count])


def drop_axes(shape: Shape, count: int | None) -> Shape:
    """The shape without its first `count` axes (None: an unknown number of them)."""
    if shape.never:
        return BOTTOM
    if count is None:
        return ANY
    return at_least(max(0, shape.min_rank - count)) if shape.extents is None else known(shape.extents[count:])


def concat(outer: Shape, inner: Shape) -> Shape:
    """The axes of one followed by those of the other, without a value."""
    if outer.never or inner.never:
        return BOTTOM
    if outer.extents is None or inner.extents is None:
        return at_least(_min_rank(outer) + _min_rank(inner))
    return known(outer.extents + inner.extents)


def outer(shape: Shape, cell: int) -> Shape:
    """The shape without the element's own last `cell` axes."""
    if cell == 0 or shape.never:
        return without_value(shape)
    return (
        at_least(max(0, shape.min_rank - cell))
        if shape.extents is None
        else known(shape.extents[: len(shape.extents) - cell])
    )


def inner(shape: Shape, cell: int) -> tuple[int | None, ...]:
    """The extents of the element's own last `cell` axes."""
    if shape.extents is None or len(shape.extents) < cell:
        return (None,) * cell
    return shape.extents[len(shape.extents) - cell :]


# ---------------------------------------------------------------- printing


def brackets(shape: Shape) -> str:
    """The shape as a type's brackets: "", "[3,.]", "[+]", "[*]", and for a minimum rank "[.,.,*]"."""
    if shape.never:
        return "[never]"
    if shape.extents is not None:
        return f"[{','.join('.' if e is None else str(e) for e in shape.extents)}]" if shape.extents else ""
    if shape.min_rank <= 1:
        return "[+]" if shape.min_rank else "[*]"
    return "[" + ",".join(["."] * shape.min_rank + ["*"]) + "]"


def show(base: str, shape: Shape, *, value: bool = False) -> str:
    """A type as text: `double[3,4]`, and with its value `int[2] = [3,4]` where asked for."""
    text = base + brackets(shape)
    return f"{text} = {show_value(shape)}" if value and shape.value is not None else text


def show_value(shape: Shape) -> str:
    """A known value, nested as the programmer would write it."""
    if shape.value is None or shape.extents is None:
        return "?"
    texts = [str(v).lower() if isinstance(v, bool) else repr(v) for v in shape.value]
    for axis in reversed(range(len(shape.extents))):
        extent = shape.extents[axis] or 0
        texts = [
            f"[{','.join(texts[i * extent : (i + 1) * extent])}]"
            for i in range(prod(e or 0 for e in shape.extents[:axis]))
        ]
    return texts[0]


def first_difference(a: Shape, b: Shape) -> str:
    """Where two shapes certainly differ, in words: "rank 1 against 2", "axis 1: 3 against 4"; "" if they may be
    equal."""
    if a.extents is None or b.extents is None:
        return "" if not disjoint(a, b) else f"rank {_rank_text(a)} against {_rank_text(b)}"
    if a.rank != b.rank:
        return f"rank {a.rank} against {b.rank}"
    for axis, (x, y) in enumerate(zip(a.extents, b.extents)):
        if x is not None and y is not None and x != y:
            return f"axis {axis}: {x} against {y}"
    return ""


def _rank_text(shape: Shape) -> str:
    return f"at least {shape.min_rank}" if shape.rank is None else str(shape.rank)
