"""Natives of the module StringArray."""

from __future__ import annotations

from itertools import repeat
from math import prod
from typing import Any

import numpy as np

from sacpy.interp import memory
from sacpy.interp.errors import Fault
from sacpy.interp.natives import native
from sacpy.interp.world import World, shown
from sacpy.nodes import Node


class StringArray(Node):
    """Strings in row-major order."""

    shape: tuple[int, ...]
    items: tuple[bytes, ...]


def _offset(index: np.ndarray, array: StringArray, who: str) -> tuple[int, tuple[int, ...]]:
    """Where the sub-array at an index begins, and its shape."""
    at = tuple(index.tolist())
    if len(at) > len(array.shape) or any(not 0 <= i < n for i, n in zip(at, array.shape, strict=False)):
        raise Fault("E0655", f"{who}: index {list(at)} is outside of an array of strings of shape {list(array.shape)}")
    offset = 0
    for i, n in zip(at, array.shape, strict=False):
        offset = offset * n + i
    rest = array.shape[len(at) :]
    return offset * prod(rest), rest


@native("StringArray::dim/1")
def array_dim(world: World, array: StringArray) -> int:
    return len(array.shape)


@native("StringArray::shape/1")
def array_shape(world: World, array: StringArray) -> np.ndarray:
    return np.array(array.shape, dtype=np.int32)


@native("StringArray::to_stringArray/1")
def to_string_array(world: World, text: bytes) -> StringArray:
    return StringArray((), (text,))


@native("StringArray::to_string/1")
def from_string_array(world: World, array: StringArray) -> bytes:
    if array.shape:
        raise Fault(
            "E0655",
            f"to_string: an array of strings of shape {list(array.shape)} is not one string",
            help="select an element first",
        )
    return array.items[0]


@native("StringArray::genarray/2")
def array_genarray(world: World, shape: np.ndarray, value: StringArray) -> StringArray:
    extents = tuple(shape.tolist())
    memory.check((*extents, *value.shape), 8)
    return StringArray((*extents, *value.shape), value.items * prod(extents))


@native("StringArray::sel/2")
def array_sel(world: World, index: np.ndarray, array: StringArray) -> StringArray:
    offset, rest = _offset(index, array, "sel")
    memory.room(8 * prod(rest))
    return StringArray(rest, array.items[offset : offset + prod(rest)])


@native("StringArray::modarray/3")
def array_modarray(world: World, array: StringArray, index: np.ndarray, value: StringArray) -> StringArray:
    offset, rest = _offset(index, array, "modarray")
    if rest != value.shape:
        raise Fault(
            "E0655",
            f"modarray: an array of strings of shape {list(value.shape)} does not fit at {index.tolist()} of one of "
            f"shape {list(array.shape)}",
        )
    memory.room(24 * len(array.items))
    return StringArray(array.shape, array.items[:offset] + value.items + array.items[offset + len(value.items) :])


@native("StringArray::==/2")
def array_equal(world: World, first: StringArray, second: StringArray) -> Any:
    if first.shape and second.shape and first.shape != second.shape:
        raise Fault("E0655", f"==: arrays of strings of different shapes, {list(first.shape)} and {list(second.shape)}")
    shape = first.shape or second.shape
    count = prod(shape)
    left = first.items if first.shape else repeat(first.items[0], count)
    right = second.items if second.shape else repeat(second.items[0], count)
    memory.room(count)
    equal = np.fromiter((a == b for a, b in zip(left, right, strict=True)), np.bool_, count)
    return equal.reshape(shape) if shape else bool(equal[0])


@native("StringArray::++/2")
def array_concat(world: World, first: StringArray, second: StringArray) -> StringArray:
    if not first.shape or first.shape[1:] != second.shape[1:] or len(first.shape) != len(second.shape):
        raise Fault(
            "E0655",
            f"++: arrays of strings of shapes {list(first.shape)} and {list(second.shape)} do not join along the "
            "first axis",
        )
    memory.room(8 * (len(first.items) + len(second.items)))
    return StringArray((first.shape[0] + second.shape[0], *first.shape[1:]), first.items + second.items)


@native("StringArray::in/2")
def array_in(world: World, text: bytes, array: StringArray) -> bool:
    return text in array.items


@native("StringArray::indexOf/2")
def array_index_of(world: World, text: bytes, array: StringArray) -> np.ndarray:
    if text not in array.items:
        raise Fault("E0655", f'indexOf: "{shown(text)}" is not in the array', help="test with `in` first")
    return np.array(np.unravel_index(array.items.index(text), array.shape), dtype=np.int32)
