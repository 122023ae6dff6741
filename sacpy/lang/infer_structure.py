"""Shape rules of the structural primitives: shape, selection, update, reshaping, joining, and those that only
elaboration makes.

In: an `Operation`. Out: the result's shape, its value where all that is needed is known. Raises `Fails`. Indices are
checked here, for all who use them.
"""

from __future__ import annotations

from sacpy.lang.infer_operation import Operation, Rule
from sacpy.lang.lattice import (
    at_least,
    concat,
    constant,
    disjoint,
    first_difference,
    full_extents,
    int_vector,
    meet,
    outer,
    scalar,
    show,
    size,
    vector,
    without_value,
)
from sacpy.lang.shape_problems import Fails
from sacpy.lang.types import SCALAR, Shape, known, of_rank

# ---------------------------------------------------------------- shapes and selections


def _dim(o: Operation) -> Shape:
    rank = outer(o.shapes[0], o.cell).rank
    return scalar(rank)


def _shape(o: Operation) -> Shape:
    found = outer(o.shapes[0], o.cell)
    extents = full_extents(found)
    if extents is not None:
        return vector(None, extents)
    return vector(found.rank)


def index_length(o: Operation, arg: int) -> int | None:
    """The length of an index vector (a scalar is one index), checked to be no matrix."""
    index = o.shapes[arg]
    if index.min_rank > 1:
        raise Fails("E0507", f"an index must be a vector, but this is {o.show(arg)}", operands=(arg,))
    return 1 if index.rank == 0 else index.extents[0] if index.rank == 1 and index.extents is not None else None


def check_index(o: Operation, index_arg: int, array_arg: int) -> int | None:
    """The length of the index, after comparing it and its value with the array."""
    length = index_length(o, index_arg)
    array = outer(o.shapes[array_arg], o.cell)
    if length is None:
        return None
    if array.rank is not None and length > array.rank:
        raise Fails(
            "E0507",
            f"an index of {length} components is too long for {o.show(array_arg)}, which has rank {array.rank}",
            operands=(array_arg, index_arg),
            help="use at most as many components as the array has axes",
        )
    value = int_vector(o.shapes[index_arg])
    if value is not None and array.extents is not None:
        check_bounds(value, array.extents, o.show(array_arg), (array_arg, index_arg))
    return length


def check_bounds(
    index: tuple[int, ...], extents: tuple[int | None, ...], array: str, operands: tuple[int, ...]
) -> None:
    """Compares a known index with the extents that are known."""
    for axis, (i, extent) in enumerate(zip(index, extents)):
        if i < 0 or (extent is not None and i >= extent):
            text = f"[{','.join(map(str, index))}]"
            limit = (
                ""
                if extent is None
                else f": axis {axis} has the indices 0 to {extent - 1}"
                if extent
                else f": axis {axis} is empty"
            )
            raise Fails(
                "E0506",
                f"the index {text} is outside of {array}{limit}",
                operands=operands,
                help="indices count from 0, and every one must be below the extent of its axis",
            )


def _sel(o: Operation) -> Shape:
    index, array = o.shapes
    length = check_index(o, 0, 1)
    if length is None:
        return at_least(o.cell)
    if array.extents is None:
        return at_least(max(o.cell, array.min_rank - length))
    rest = array.extents[length:]
    at, extents = int_vector(index), full_extents(array)
    if array.value is None or at is None or extents is None:
        return known(rest)
    start, count = _range(at, extents)
    return constant(extents[length:], array.value[start : start + count])


def _range(index: tuple[int, ...], extents: tuple[int, ...]) -> tuple[int, int]:
    """Where a sub-array lies in the flat value: start and number of elements."""
    count = 1
    for extent in extents[len(index) :]:
        count *= extent
    start = 0
    for i, extent in zip(index, extents):
        start = start * extent + i
    return start * count, count


def _modarray(o: Operation) -> Shape:
    array, index, value = o.shapes
    length = check_index(o, 1, 0)
    if length is None or array.extents is None:
        return without_value(array)
    rest = known(array.extents[length:])
    if disjoint(rest, value):
        raise Fails(
            "E0516",
            f"the part to be replaced is {show(o.bases[0], outer(rest, o.cell))}, but the new value is {o.show(2)}",
            notes=(first_difference(rest, value),),
            operands=(0, 2),
            help="give as many indices as the array has more axes than the new value",
        )
    at, extents = int_vector(index), full_extents(array)
    if array.value is None or value.value is None or at is None or extents is None:
        return without_value(array)
    start, count = _range(at, extents)
    return constant(extents, array.value[:start] + value.value + array.value[start + count :])


def extents_of(o: Operation, arg: int) -> tuple[int, ...] | None:
    """A known shape vector, checked to be a vector without negative extents."""
    index_length(o, arg)
    value = int_vector(o.shapes[arg])
    if value is not None and any(v < 0 for v in value):
        raise Fails(
            "E0510",
            f"a shape cannot have a negative extent, but this is [{','.join(map(str, value))}]",
            operands=(arg,),
        )
    return value


def _reshape(o: Operation) -> Shape:
    array = o.shapes[1]
    extents = extents_of(o, 0)
    own = (
        known(array.extents[len(array.extents) - o.cell :])
        if array.extents is not None and len(array.extents) >= o.cell
        else of_rank(o.cell)
    )
    if extents is None:
        length = index_length(o, 0)
        return at_least(o.cell) if length is None else concat(of_rank(length), own)
    count, wanted = size(outer(array, o.cell)), 1
    for extent in extents:
        wanted *= extent
    if count is not None and count != wanted:
        raise Fails(
            "E0511",
            f"{o.show(1)} has {count} elements, but the new shape [{','.join(map(str, extents))}] needs {wanted}",
            operands=(0, 1),
            help="the product of the new shape must be the number of elements",
        )
    full = full_extents(concat(known(extents), own))
    return concat(known(extents), own) if full is None or array.value is None else constant(full, array.value)


def _need_axis(o: Operation, arg: int, words: str) -> None:
    if outer(o.shapes[arg], o.cell).rank == 0:
        raise Fails(
            "E0512",
            f"{words} needs arrays, but this is the scalar {o.show(arg)}",
            operands=(arg,),
            help="write [x] to make a vector of a scalar",
        )


def _cat(o: Operation) -> Shape:
    _need_axis(o, 0, "cat")
    _need_axis(o, 1, "cat")
    a, b = o.shapes
    if a.extents is None or b.extents is None:
        return a if a.extents is None and b.extents is None else of_rank(a.rank if a.rank is not None else b.rank or 1)
    if a.rank != b.rank or disjoint(known(a.extents[1:]), known(b.extents[1:])):
        why = (
            f"rank {a.rank} against {b.rank}"
            if a.rank != b.rank
            else first_difference(known((None, *a.extents[1:])), known((None, *b.extents[1:])))
        )
        raise Fails(
            "E0512",
            f"{o.show(0)} and {o.show(1)} cannot be joined: they may differ in the first axis only",
            notes=(why,),
            operands=(0, 1),
        )
    first = None if a.extents[0] is None or b.extents[0] is None else a.extents[0] + b.extents[0]
    rest = tuple(y if x is None else x for x, y in zip(a.extents[1:], b.extents[1:]))
    extents = full_extents(known((first, *rest)))
    if extents is None or a.value is None or b.value is None:
        return known((first, *rest))
    return constant(extents, a.value + b.value)


def _take_drop(o: Operation) -> Shape:
    _need_axis(o, 1, o.op)
    count, array = o.shapes
    if array.extents is None:
        return array
    rest, extent = array.extents[1:], array.extents[0]
    value = int_vector(count)
    if value is None or len(value) != 1:
        return known((None, *rest))
    n = abs(value[0])
    if extent is not None and n > extent:
        raise Fails(
            "E0513",
            f"{o.op} of {value[0]} from {o.show(1)}: its first axis has only {extent}",
            operands=(0, 1),
            help="the library's take and drop accept any count",
        )
    left = n if o.op == "take" else None if extent is None else extent - n
    extents = full_extents(known((left, *rest)))
    if extents is None or array.value is None or left is None or not extent:
        return known((left, *rest))
    step = len(array.value) // extent
    front = (value[0] >= 0) == (o.op == "take")
    return constant(extents, array.value[: left * step] if front else array.value[(extent - left) * step :])


# ---------------------------------------------------------------- what elaboration makes


def _slice(o: Operation) -> Shape:
    array, spec = o.shapes[0], str(o.attrs[0])
    found = outer(array, o.cell)
    for arg in range(1, len(o.shapes)):
        if o.shapes[arg].min_rank > 0:
            raise Fails("E0507", f"an index beside dots must be a scalar, but this is {o.show(arg)}", operands=(arg,))
    if found.extents is None:
        return at_least(max(0, array.min_rank - spec.count("i")))
    extents = found.extents
    spare = len(extents) - len(spec.replace("*", ""))
    if spare < 0:
        raise Fails(
            "E0507",
            f"{len(spec.replace('*', ''))} indices are too many for {o.show(0)}, which has rank {len(extents)}",
            operands=(0,),
        )
    full = spec.replace("*", "." * spare) if "*" in spec else spec + "." * spare
    indices = iter(range(1, len(o.shapes)))
    for axis, letter in enumerate(full):
        if letter == "i" and (value := int_vector(o.shapes[arg := next(indices)])) is not None:
            check_bounds((*(0,) * axis, *value), (*(None,) * axis, extents[axis]), o.show(0), (0, arg))
    kept = tuple(e for letter, e in zip(full, extents) if letter != "i")
    return known(kept + (array.extents[len(extents) :] if array.extents is not None else ()))


def place_order(spec: str, own: int) -> list[int] | None:
    """Where each axis of the placed result comes from: the axes of the argument, its index axes first and then its
    `own` ones; own axes that nothing names come last. None if the specification names more own axes than there are."""
    indices = spec.count("i")
    stars = own - spec.count(".")
    if stars < 0:
        return None
    spec = spec if "*" in spec else spec + "*"
    next_index, next_own = iter(range(indices)), iter(range(indices, indices + own))
    full = spec.replace("*", "." * stars)
    return [next(next_index if letter == "i" else next_own) for letter in full]


def _place(o: Operation) -> Shape:
    array, spec = o.shapes[0], str(o.attrs[0])
    found = outer(array, o.cell)
    if found.extents is None or array.extents is None:
        return without_value(array)
    own = len(found.extents) - spec.count("i")
    order = place_order(spec, own)
    if order is None:
        dots = f"{spec.count('.')} dot{'s' if spec.count('.') != 1 else ''}"
        raise Fails(
            "E0507",
            f"the left side of this comprehension has {dots} for the axes of the value, but the value has rank {own}",
            help="write one dot per axis of the value, or ... for all that remain",
        )
    return known(tuple(found.extents[axis] for axis in order) + array.extents[len(found.extents) :])


def _ravel(o: Operation) -> Shape:
    (a,) = o.shapes
    length = index_length(o, 0)
    return constant((1,), a.value) if a.rank == 0 and a.value is not None else vector(length) if a.rank != 1 else a


def _like(o: Operation) -> Shape:
    a, b = o.shapes
    if disjoint(a, b):
        whose = f" of {o.attrs[0]}" if o.attrs and o.attrs[0] else ""
        raise Fails(
            "E0505",
            f"this is {o.show(0)}, but it must have the shape{whose}, which is {o.show(1)}",
            notes=(first_difference(a, b),),
            operands=(0, 1),
        )
    return meet(a, without_value(b))


def _require(o: Operation) -> Shape:
    value, limit, holds = o.shapes
    code, message, help = map(str, o.attrs or ("E0672", "", ""))
    if disjoint(value, SCALAR):
        raise Fails(code, f"this must be a single number, but it is {o.show(0)}", help=help)
    if holds.value == (False,):
        said = [s.value[0] if s.value else "..." for s in (value, limit)]
        raise Fails(code, message.format(*said), help=help)
    return meet(value, SCALAR)


def _hide_shape(o: Operation) -> Shape:
    a = o.shapes[1]
    return at_least(a.min_rank) if a.rank is None else of_rank(a.rank)


STRUCTURE: dict[str, Rule] = {
    "dim": _dim,
    "device": lambda o: SCALAR,
    "shape": _shape,
    "sel": _sel,
    "modarray": _modarray,
    "reshape": _reshape,
    "cat": _cat,
    "take": _take_drop,
    "drop": _take_drop,
    "ravel": _ravel,
    "like": _like,
    "require": _require,
    "slice": _slice,
    "place": _place,
    "row": lambda o: SCALAR,
    "column": lambda o: SCALAR,
    "hideValue": lambda o: without_value(o.shapes[1]),
    "hideShape": _hide_shape,
    "hideDim": lambda o: at_least(o.cell),
}
