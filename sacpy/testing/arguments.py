"""Arguments for a function, made from the types of its parameters.

In: a signature, and choices. Out: values whose shapes fit its patterns (`int[n,m] a, int[m] b`: one `m` for both); a
scalar parameter of a name in a pattern is that extent. What is hard comes often: empty arrays, rank 0 and high ranks,
the ends of the integers, NaN, infinities, -0.0. Smaller choices make simpler values.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from sacpy.interp.notation import notation
from sacpy.interp.values import DTYPES, Value, dtype_of
from sacpy.lang.ast import AnyExtent, AnyShape, Feature, FixedExtent, NamedExtent, RankSlice, SomeShape
from sacpy.lang.core import Signature, Slot
from sacpy.lang.printf_formats import STRING
from sacpy.testing.choices import Choices, TooMany

LARGEST = (12, 12, 6, 4, 3)  # extents by rank; of higher ranks 2
SIDE, TRIES = 6, 20  # of names in types of packed arrays; and how often others are chosen
HIGHEST = 7  # rank of an array of any rank
REALS = (0.0, -0.0, 1.0, -1.0, float("nan"), float("inf"), float("-inf"), 5e-324, sys.float_info.max, 0.1, 1e16)
_Names = dict[str, "int | tuple[int, ...]"]


def unmade(signature: Signature) -> Slot | None:
    """The first parameter of a type of which no values can be made; None where there is none."""
    return next((s for s in signature.params if _is_inside(s) or (s.base not in DTYPES and s.base != STRING)), None)


def _is_inside(slot: Slot) -> bool:
    """Whether a parameter is part of a packed array in a struct: its parts must fit one another."""
    return slot.bind.source.endswith(".p0") and "<" not in slot.text


def arguments(signature: Signature, choices: Choices) -> tuple[Value, ...]:
    """Values for all parameters. Raises `TooMany`."""
    names: _Names = {}
    shapes: dict[str, tuple[int, ...]] = {}
    packed = _packed(signature, names, choices)
    for slot in signature.params:  # the fields of a struct share their outer shape
        owner = slot.bind.source.partition(".")[0]
        if owner not in shapes and slot not in packed:
            shapes[owner] = _shape(slot.pattern or (), names, choices)
    made: list[Value] = []
    for slot in signature.params:
        if slot in packed:
            part = packed[slot]
            made.append(_value(slot.base, part, choices) if isinstance(part, tuple) else part)
            continue
        owner = slot.bind.source.partition(".")[0]
        bound = names.get(owner)
        if bound is not None and slot.base == "int" and not slot.cell:
            made.append(bound if isinstance(bound, int) else np.array(bound, DTYPES["int"]))
        else:
            cell = tuple(choices.below(4) if extent is None else extent for extent in slot.cell)
            made.append(_value(slot.base, shapes[owner] + cell, choices))
    return tuple(made)


def _packed(signature: Signature, names: _Names, choices: Choices) -> dict[Slot, Value | tuple[int, ...]]:
    """What the parts of arrays are whose extents depend on positions: the shape of the elements, the sizes, the table
    of offsets. Names in their types are bound; where an extent would be negative, others are tried."""
    found: dict[Slot, Value | tuple[int, ...]] = {}
    for at, slot in enumerate(signature.params):
        if "<" not in slot.text or slot in found:
            continue
        for _ in range(TRIES):
            given = dict(names)
            parts = _parts(slot.text, given, choices)
            if parts is not None:
                names.update(given)
                found |= dict(zip(signature.params[at:], parts))
                break
        else:
            raise TooMany
    return found


def _parts(text: str, names: _Names, choices: Choices) -> tuple[Value | tuple[int, ...], ...] | None:
    """The same for one array; None where an extent is negative. `names` receives what is not known yet."""
    from sacpy.interp.packed_rows import parsed, rows_of, table
    from sacpy.lang.elaborate.extents import FREE
    from sacpy.withloop import piecewise as pw

    made = parsed(text)
    assert made is not None, "the text of a packed parameter"
    for name in (n.removeprefix(FREE) for s in made.sizes for n in pw.names(s)):
        if not isinstance(names.get(name), int):
            names[name] = choices.below(SIDE + 1)
    values = {FREE + name: k for name, k in names.items() if isinstance(k, int)}
    sizes = {f"p{k}": pw.value_at(s, values) for k, s in enumerate(made.sizes)}
    lengths = rows_of(made.type, sizes)
    if lengths is None:
        return None
    return (sum(lengths),), *sizes.values(), *table(made.type, sizes)


def shown_arguments(signature: Signature, values: Sequence[Value]) -> str:
    """Arguments as SaC writes them, a line for each."""
    return "\n".join(f"{s.bind.source} = {notation(v, s.base)}" for s, v in zip(signature.params, values, strict=True))


def _shape(pattern: Sequence[Feature], names: _Names, choices: Choices) -> tuple[int, ...]:
    """An outer shape that fits a pattern; its names are bound."""
    rank = sum(_least_rank(feature, names) for feature in pattern)
    shape: list[int] = []
    for feature in pattern:
        match feature:
            case FixedExtent(value=value):
                shape.append(value)
            case AnyExtent():
                shape.append(_extent(rank, choices))
            case NamedExtent(name=name):
                bound = names.get(name)
                extent = bound if isinstance(bound, int) else _extent(rank, choices)
                if name != "_":
                    names[name] = extent
                shape.append(extent)
            case AnyShape() | SomeShape():
                least = int(isinstance(feature, SomeShape))
                more = least + choices.below(HIGHEST + 1 - least)
                shape += [_extent(rank + more, choices) for _ in range(more)]
            case RankSlice():
                shape += _slice(feature, rank, names, choices)
    return tuple(shape)


def _least_rank(feature: Feature, names: _Names) -> int:
    if isinstance(feature, AnyShape | SomeShape):
        return 0
    if isinstance(feature, RankSlice):
        bound = feature.rank if isinstance(feature.rank, int) else names.get(feature.rank, 0)
        return bound if isinstance(bound, int) else 0
    return 1


def _slice(feature: RankSlice, rank: int, names: _Names, choices: Choices) -> tuple[int, ...]:
    """The extents of `d:shp`."""
    bound = names.get(feature.shape)
    if isinstance(bound, tuple):
        return bound
    number = feature.rank if isinstance(feature.rank, int) else names.get(feature.rank)
    if not isinstance(number, int):
        least = 0 if feature.minimum is None else feature.minimum + 1
        number = least + choices.below(max(HIGHEST + 1 - least, 1))
    extents = tuple(_extent(max(rank, number), choices) for _ in range(number))
    if isinstance(feature.rank, str) and feature.rank != "_":
        names[feature.rank] = number
    if feature.shape != "_":
        names[feature.shape] = extents
    return extents


def _extent(rank: int, choices: Choices) -> int:
    return choices.below((LARGEST[rank] if rank < len(LARGEST) else 2) + 1)


def _value(base: str, shape: tuple[int, ...], choices: Choices) -> Value:
    """A value of that shape. All its elements are of one manner: small, any, or peculiar."""
    element = _element(base, choices.below(3))
    if not shape:
        return element(choices)
    items = [element(choices) for _ in range(prod(shape))]
    if base == STRING:
        array = np.empty(len(items), object)
        array[:] = items
        return array.reshape(shape)
    return np.array(items, dtype_of(base)).reshape(shape)


def _element(base: str, manner: int) -> Callable[[Choices], Value]:
    if base == "bool":
        return lambda c: bool(c.below(2))
    if base == STRING:
        return lambda c: bytes(_character(c, manner) for _ in range(c.below(9)))
    if base == "char":
        return lambda c: _character(c, manner)
    if base in ("float", "double"):
        return lambda c: _rounded(_real(c, manner), base)
    return lambda c: _integer(c, manner, base)


def _character(choices: Choices, manner: int) -> int:
    return 97 + choices.below(26) if manner == 0 else 32 + choices.below(95) if manner == 1 else choices.below(256)


def _integer(choices: Choices, manner: int, base: str) -> int:
    bits, signed = 8 * DTYPES[base].itemsize, DTYPES[base].kind == "i"
    least, largest = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    if manner == 2:
        ends = (0, 1, largest, least, largest - 1, least + 1, -1 if signed else 2)
        return ends[choices.below(len(ends))]
    number = choices.below(21 if manner == 0 else 2**bits)
    return min((number + 1) // 2, largest) * (1 if number % 2 else -1) if signed else number


def _real(choices: Choices, manner: int) -> float:
    if manner == 2:
        return REALS[choices.below(len(REALS))]
    number = choices.below(41)
    real = (number + 1) // 2 * (1.0 if number % 2 else -1.0) + 0.0
    return real if manner == 0 else real * (1 + choices.below(1 << 20) / (1 << 20)) * 10.0 ** (choices.below(13) - 6)


def _rounded(value: float, base: str) -> float:
    with np.errstate(over="ignore"):
        return value if base == "double" else float(np.float32(value))


__all__ = ["arguments", "shown_arguments", "unmade"]
