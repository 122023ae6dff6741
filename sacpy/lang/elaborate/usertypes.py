"""Base types of the source language, and how their values lie in core.

A value of a base type is one core array per *component*: built-in and opaque types have one, a typedef those of its
underlying type with more element axes, a struct those of all its fields (`b.pos.x`). The component's `cell` are the
extents that belong to one element, so an array of shape s of the type is, per component, a core array of shape
`s ++ cell`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sacpy.lang.types import BUILTIN
from sacpy.nodes import Node

if TYPE_CHECKING:
    from sacpy.lang.ast import TypeExpr, TypeVar
    from sacpy.withloop.sums import Extents


class Component(Node):
    """One core array of a value: `path` ("" or "pos.x"), core base type, extents of one element (None: unknown
    extent)."""

    path: str
    base: str
    cell: tuple[int | None, ...]


class BaseType(Node):
    """A base type. `key` identifies it ("int", "ComplexBasics::complex"). `kind`: "builtin", "opaque" (made outside
    SaC), "typedef", "class" (unique, may wrap a SaC type), "struct", "packed" (an array whose inner `extents` depend on
    outer positions, with elements of the type `element`), "function" (given as an argument: `Module::name`, as seen
    from that module); `fields` of a struct: name, type, extents. `shown` is how messages call it."""

    key: str
    kind: str
    components: tuple[Component, ...]
    fields: tuple[tuple[str, BaseType, tuple[int | None, ...]], ...] = ()
    any_cell: bool = False
    element: BaseType | None = None
    extents: Extents | None = None

    @property
    def shown(self) -> str:
        """The name for messages, without the module."""
        if self.kind == "packed":
            return self.key
        name = self.key.rpartition("::")[2]
        if self.kind == "function":
            return f"the function {name}"
        return f"struct {name}" if self.kind == "struct" else name

    @property
    def is_struct(self) -> bool:
        """Whether the type has fields."""
        return self.kind == "struct"

    @property
    def has_parts(self) -> bool:
        """Whether a value of the type is several values of core side by side."""
        return self.kind in ("struct", "packed")

    @property
    def core(self) -> str:
        """The core base type of a type with a single component."""
        return self.components[0].base

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BaseType) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


class FunctionParameter(Node):
    """What a parameter asks of a function: the base types that it `takes`, and the one that it `gives`. `shapes`: the
    types as written, that of the result first."""

    name: str
    takes: tuple[BaseType | TypeVar, ...]
    gives: BaseType | TypeVar
    shapes: tuple[TypeExpr, ...]


def bound_name(parameter: str) -> str:
    """The name under which an instance has the function that was given, among what its type variables stand for."""
    return f"{parameter}()"


def builtin(name: str) -> BaseType:
    """A built-in base type."""
    return BaseType(name, "builtin", (Component("", name, ()),))


BUILTINS: dict[str, BaseType] = {name: builtin(name) for name in BUILTIN}
INT = BUILTINS["int"]
BOOL = BUILTINS["bool"]
STRING = BaseType("String::string", "opaque", (Component("", "String::string", ()),))


def opaque(key: str, kind: str = "opaque") -> BaseType:
    """A type whose values are made outside SaC."""
    return BaseType(key, kind, (Component("", key, ()),))


def wrap(
    key: str, kind: str, underlying: BaseType, extents: tuple[int | None, ...], any_cell: bool = False
) -> BaseType:
    """A typedef or class over `underlying[extents]`; `any_cell`: over an array of unknown rank."""
    components = tuple(Component(c.path, c.base, extents + c.cell) for c in underlying.components)
    return BaseType(key, kind, components, underlying.fields if underlying.is_struct else (), any_cell)


def struct(key: str, fields: tuple[tuple[str, BaseType, tuple[int | None, ...]], ...]) -> BaseType:
    """A struct with the given fields: name, base type, extents."""
    components = tuple(
        Component(f"{name}.{c.path}" if c.path else name, c.base, extents + c.cell)
        for name, base, extents in fields
        for c in base.components
    )
    return BaseType(key, "struct", components, fields)


def field_slice(owner: BaseType, name: str) -> tuple[BaseType, tuple[int | None, ...], slice] | None:
    """Of a struct: the field's type, extents, and which of the owner's components are its. None if there is no such
    field."""
    start = 0
    for field, base, extents in owner.fields:
        end = start + len(base.components)
        if field == name:
            return base, extents, slice(start, end)
        start = end
    return None
