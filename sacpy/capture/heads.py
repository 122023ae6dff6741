"""The types in the heads of Python functions: `Double["n", "m"]`, `Int[:]`, `Float[3, 3]`, `Bool[...]`, `float`.

In: annotations, as objects. Out: `Shaped`, which the capture reads, and which gives the SaC type with its pattern. The
names of extents are checked before anything runs, as in SaC; one name stands for one extent throughout a head.
"""

from __future__ import annotations

import types
import typing
from typing import Any

from sacpy.capture.kinds import BOOL, DOUBLE, LONG, Kind, Num, Several, array, element
from sacpy.lang import ast
from sacpy.lang.source import Span
from sacpy.nodes import Node


class Shaped(Node):
    """An array type: base type and axes; an axis is a name, an extent, or None for any; `axes` None: any rank."""

    base: str
    axes: tuple[str | int | None, ...] | None

    def pattern(self, span: Span, rename: typing.Callable[[str], str]) -> tuple[ast.Feature, ...] | None:
        """The axes as SaC writes them. `rename` gives the name of an extent among those of variables."""
        if self.axes is None:
            return (ast.AnyShape(span),)
        return (
            tuple(
                ast.AnyExtent(span)
                if axis is None
                else ast.FixedExtent(axis, span)
                if isinstance(axis, int)
                else ast.NamedExtent(rename(axis), span)
                for axis in self.axes
            )
            or None
        )


class ArrayType:
    """A base type that takes axes in brackets. As an annotation by itself it is an array of any rank."""

    def __init__(self, name: str, base: str) -> None:
        self.__name__ = name
        self.base = base

    def __getitem__(self, axes: Any) -> Shaped:
        """An array type. Raises `TypeError` for what is no axis."""
        given = axes if isinstance(axes, tuple) else (axes,)
        if given == (...,):
            return Shaped(self.base, None)
        found: list[str | int | None] = []
        for axis in given:
            if axis == slice(None):
                found.append(None)
            elif (isinstance(axis, str) and axis.isidentifier()) or (
                isinstance(axis, int) and not isinstance(axis, bool) and axis >= 0
            ):
                found.append(axis)
            else:
                raise TypeError(f"an axis of {self.__name__} is a name, an extent or ':', not {axis!r}")
        return Shaped(self.base, tuple(found))

    def __repr__(self) -> str:
        return self.__name__


Double = ArrayType("Double", "double")
Float = ArrayType("Float", "float")
Int = ArrayType("Int", "long")
Int32 = ArrayType("Int32", "int")
UInt8 = ArrayType("UInt8", "ubyte")
Bool = ArrayType("Bool", "bool")
Complex = ArrayType("Complex", "complex")
_SCALARS: dict[Any, tuple[str, Kind]] = {
    float: ("double", DOUBLE), int: ("long", LONG), bool: ("bool", BOOL), complex: ("complex", Num("complex", 0)),
}  # fmt: skip


def read(annotation: Any) -> tuple[Shaped, ...] | None:
    """The types that an annotation means: one, or several for a tuple; none for None. None where it means no type."""
    if annotation is None or annotation is type(None):
        return ()
    if isinstance(annotation, ArrayType):
        return (Shaped(annotation.base, None),)
    if isinstance(annotation, Shaped):
        return (annotation,)
    if isinstance(annotation, type) and annotation in _SCALARS:
        return (Shaped(_SCALARS[annotation][0], ()),)
    items: tuple[Any, ...] | None = annotation if isinstance(annotation, tuple) else None
    if isinstance(annotation, types.GenericAlias) and annotation.__origin__ is tuple:
        items = annotation.__args__
    if items is None:
        return None
    found = [read(item) for item in items]
    if not found or any(f is None or len(f) != 1 for f in found):
        return None
    return tuple(f[0] for f in found if f)


def kind_of(shaped: Shaped) -> Kind:
    """What a parameter or result of that type is."""
    if shaped.axes == ():
        return element(shaped.base)
    ones = frozenset(i for i, axis in enumerate(shaped.axes or ()) if axis == 1)
    return array(shaped.base, None if shaped.axes is None else len(shaped.axes), ones)


def of_kind(kind: Kind) -> tuple[Shaped, ...]:
    """The types of what a function without an annotation gives."""
    if isinstance(kind, Several):
        return tuple(shaped for item in kind.items for shaped in of_kind(item))
    assert isinstance(kind, Num)
    if kind.is_int:
        return (Shaped("long", ()),)
    return (Shaped(kind.base, None if kind.rank is None else (None,) * kind.rank),)
