"""Functions of core as plain data, for another process that knows the same program.

In: a function. Out: bytes; and from bytes the function again. Its places keep the names of their texts, not the texts.
"""

from __future__ import annotations

from functools import cache

from sacpy.base.plain import Packing
from sacpy.lang import core
from sacpy.lang.ast import AnyExtent, AnyShape, FixedExtent, NamedExtent, Pragma, RankSlice, SomeShape
from sacpy.lang.source import Source, Span

# those in functions, beside core's
CLASSES = (AnyExtent, AnyShape, FixedExtent, NamedExtent, RankSlice, SomeShape, Pragma, Span)


def packed(function: core.Function) -> bytes:
    """The bytes of a function."""
    return _packing().packed(function)


def unpacked(data: bytes) -> core.Function:
    """The function of such bytes. Raises `plain.Unpacked`."""
    found: core.Function = _packing().unpacked(data)
    return found


@cache
def _packing() -> Packing:
    names = {Source: ("text", _name, Source)}
    return Packing(core, *CLASSES, special=names)


def _name(source: Source) -> str:
    return source.name
