"""Nodes as plain data, to be kept in files: numbers, texts and tuples of them, and nothing that could run.

In: a tree of nodes of classes that are known beforehand. Out: bytes; and from bytes the tree again, with what was one
object in it again one object (`merged`: what was equal is). Whoever can write the bytes can make wrong trees of them,
but of these classes only.

The bytes are `marshal`'s of three tuples: names of classes, constants, and for each node, its parts before it, the
number of its class and of its parts (as bytes where they are small).
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from types import ModuleType
from typing import Any, TypeAlias

from sacpy.nodes import NodeType

VERSION = 4  # of marshal's format: that of all supported versions of Python
_PLAIN = (str, int, bool, bytes, type(None))
_TUPLE, _LIST, _DICT, _SPECIAL = "()", "[]", "{}", "!"


class Unpacked(Exception):
    """The bytes are none that `Packing.packed` gave."""


Special: TypeAlias = "Mapping[Any, tuple[str, Callable[[Any], Any], Callable[[Any], Any]]]"


class Packing:
    """Packs instances of these classes, and of those that these modules define. `special`: for further classes, which
    name stands for them, what makes something plain of an instance, and what makes one again. `merged`: of equal parts
    one is kept, which makes less of trees whose nodes nobody tells apart by their identity."""

    def __init__(self, *known: ModuleType | NodeType, special: Special | None = None, merged: bool = False) -> None:
        self._classes: dict[str, Any] = {_TUPLE: None, _LIST: list, _DICT: None}
        for one in known:
            for cls in [one] if isinstance(one, NodeType) else _defined(one):
                assert cls.__name__ not in self._classes, cls
                self._classes[cls.__name__] = cls
        self._special = special or {}
        self._made = {name: make for name, _, make in self._special.values()}
        self._merged = merged

    def packed(self, value: Any) -> bytes:
        """The bytes of a value. Raises `TypeError` for what is not known."""
        return _Packer(self._classes, self._special, self._merged).packed(value)

    def unpacked(self, data: bytes | memoryview) -> Any:
        """The value. Raises `Unpacked`."""
        try:
            names, constants, nodes = marshal.loads(data)
            classes = [self._classes[name] if name != _DICT else _dict for name in names]
            made = [self._made[c[0]](c[1]) if type(c) is tuple else c for c in constants]
            part, add = made.__getitem__, made.append
            for number, *parts in nodes:
                cls = classes[number]
                add(
                    tuple(map(part, parts))
                    if cls is None
                    else cls(*map(part, parts))
                    if cls is not list
                    else list(map(part, parts))
                )
            return made[-1]
        except Exception as error:  # whatever a class makes of parts that are not its own
            raise Unpacked(str(error)) from error


def _defined(module: ModuleType) -> list[NodeType]:
    """The node classes that a module defines."""
    return [c for c in vars(module).values() if isinstance(c, NodeType) and c.__module__ == module.__name__]


def _dict(*parts: Any) -> dict[Any, Any]:
    return dict(zip(parts[::2], parts[1::2], strict=True))


@cache
def _parts(cls: Any) -> Callable[[Any], tuple[Any, ...]]:
    """What takes an instance of a node class apart."""
    names = cls.__match_args__
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple([getattr(value, name) for name in names])


class _Packer:
    """One value on its way to bytes. Constants are numbered first, then the nodes."""

    def __init__(self, classes: Mapping[str, Any], special: Special, merged: bool) -> None:
        self._classes = classes
        self._special = special
        self._merged = merged
        self._constants: list[Any] = []
        self._nodes: list[tuple[int, ...]] = []
        self._names: dict[str, int] = {}
        self._known: dict[Any, int] = {}  # a constant's number, or ~ that of a node
        self._seen: dict[int, int] = {}  # the same, by identity

    def packed(self, value: Any) -> bytes:
        """The bytes."""
        last = self._number(value)
        if last >= 0:  # a constant by itself: in a tuple, of which it is taken
            return marshal.dumps(((), (self._constants[last],), ()), VERSION)
        first = len(self._constants)
        nodes = ((number, *(part if part >= 0 else first + ~part for part in parts)) for number, *parts in self._nodes)
        small = tuple(bytes(node) if max(node) < 256 else node for node in nodes)
        return marshal.dumps((tuple(self._names), tuple(self._constants), small), VERSION)

    def _number(self, value: Any) -> int:
        found = self._seen.get(id(value))  # whatever the tree holds lives as long as it, and so do its identities
        if found is None:
            found = self._seen[id(value)] = self._of(type(value), value)
        return found

    def _of(self, cls: type[Any], value: Any) -> int:
        if cls in _PLAIN:
            return self._constant((cls, value), value)
        if cls is float:
            return self._constant((cls, value.hex()), value)
        if cls in self._special:
            name, to_plain, _ = self._special[cls]
            plain = to_plain(value)
            return self._constant((name, plain), (name, plain))
        if cls is tuple:
            return self._node(_TUPLE, value, True)
        if cls is list:
            return self._node(_LIST, value, False)
        if cls is dict:
            return self._node(_DICT, [part for item in value.items() for part in item], False)
        name = cls.__name__
        if self._classes.get(name) is not cls:
            raise TypeError(f"{cls.__qualname__} is not known here")
        return self._node(name, _parts(cls)(value), cls._frozen)

    def _constant(self, key: Any, value: Any) -> int:
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = len(self._constants)
            self._constants.append(value)
        return known

    def _node(self, name: str, parts: Any, frozen: bool) -> int:
        """`frozen`: nobody changes it, so that equal ones may be one."""
        key = (self._names.setdefault(name, len(self._names)), *map(self._number, parts))
        known = self._known.get(key) if frozen and self._merged else None
        if known is None:
            known = ~len(self._nodes)
            self._nodes.append(key)
            if frozen and self._merged:
                self._known[key] = known
        return known


__all__ = ["Packing", "Unpacked"]
