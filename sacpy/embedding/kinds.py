"""What a Python value is, seen from SaC.

In: any Python value. Out: its *kind*, which is hashable and cheap to find, so that a call can remember what it did for
the same kinds; and how well a kind suits a SaC base type, so that overloads can be told apart. Python says less than
SaC about types: a list of ints may be any integer array, so several types suit, some better.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from sacpy.interp.values import DTYPES, Value
from sacpy.lang.elaborate.usertypes import BaseType
from sacpy.lang.types import BITS, SIGNED
from sacpy.nodes import Node

Kind = Hashable
COMPLEX = "ComplexBasics::complex"
STRING = "String::string"

FITS, LATER, LESS, WIDER, NARROWER, ACROSS, NEVER_FITS = 0, 1, 3, 10, 30, 50, 1000
"""How well a kind suits a type: exactly; two that are less preferred; exact after widening; where the values happen to
fit; a number of another sort that happens to be exact; only to say that the value does not fit. An int that fits no
integer type of a function's instances does not go to another instance
because of its value: beside one for ints, one for reals is worse than not to fit."""
_REAL = {"int32": ACROSS, "int64": NEVER_FITS + ACROSS, "uint64": NEVER_FITS + ACROSS, "huge": NEVER_FITS + ACROSS}

_ORDER = ("int", "long", "longlong", "uint", "ulong", "ulonglong", "short", "ushort", "byte", "ubyte")


class Handle(Node, eq=False):
    """A value that only SaC understands: an open file, a list, an object of a class. Hand it back to the functions of
    its module."""

    type: str
    parts: tuple[Value, ...]

    def form(self) -> Hashable:
        """What calls that go directly to compiled code know such an argument by."""
        return self.type

    def __repr__(self) -> str:
        return f"<SaC {self.type}>"


def form(value: Any) -> Any:
    """What calls that go directly to compiled code know an argument by that is no array."""
    return value.form() if isinstance(value, Handle) else type(value)


def kind_of(value: Any) -> Kind:
    """The kind of a value: "int32" and the like for Python scalars, a dtype for an array, a tagged tuple for the
    rest."""
    found = _KINDS.get(type(value))
    return found(value) if found is not None else _other(value)


def _int(value: int) -> Kind:
    if -0x80000000 <= value <= 0x7FFFFFFF:
        return "int32"
    if -(1 << 63) <= value < 1 << 63:
        return "int64"
    return "uint64" if 0 <= value < 1 << 64 else "huge"


def _array(value: np.ndarray[Any, Any]) -> Kind:
    return value.dtype if value.ndim else ("scalar", value.dtype)


def _list(value: Any) -> Kind:
    return "list", _leaf(value)


def _record(value: Mapping[Any, Any]) -> Kind:
    return "record", tuple(sorted(map(str, value)))


_KINDS: dict[type, Any] = {
    int: _int, float: lambda _: "float", bool: lambda _: "bool", np.ndarray: _array, list: _list, tuple: _list,
    str: lambda _: "str", bytes: lambda _: "bytes", complex: lambda _: "complex",
    dict: _record, Handle: lambda value: ("handle", value.type), np.bool_: lambda _: "bool",
}  # fmt: skip


def field_names(value: Any) -> tuple[str, ...] | None:
    """The fields of an instance of a dataclass, or of a named tuple; None for everything else."""
    if isinstance(value, tuple):
        return getattr(type(value), "_fields", None)
    return tuple(f.name for f in fields(value)) if is_dataclass(value) and not isinstance(value, type) else None


def _other(value: Any) -> Kind:
    names = field_names(value)
    if names is not None:  # a named tuple is a tuple, too
        return "fields", tuple(sorted(names)), _leaf(value) if isinstance(value, tuple) else None
    if isinstance(value, Handle):
        return "handle", value.type
    if isinstance(value, np.generic):
        return "float" if value.dtype == DTYPES["double"] else ("scalar", value.dtype)
    for base in (bool, int, float, complex, str, bytes, list, tuple, np.ndarray):
        if isinstance(value, base):
            return _KINDS[base](value)  # type: ignore[no-any-return]
    if isinstance(value, bytearray | memoryview):
        return "bytes"
    if isinstance(value, Mapping):
        return _record(value)
    if hasattr(value, "__dlpack_device__") or hasattr(value, "__cuda_array_interface__"):
        return _on_device(value)
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        return _array(np.asarray(value))
    return "unknown", type(value).__name__


def _on_device(value: Any) -> Kind:
    """An array that may lie on a device: its kind is that of a NumPy array, with the word for where it is."""
    if hasattr(value, "on_device"):  # our own, of whose class only a device's memory knows
        _KINDS[type(value)] = _ours
        return _ours(value)
    told = getattr(value, "__cuda_array_interface__", None)
    if told is not None:
        return "device", np.dtype(told["typestr"])
    if value.__dlpack_device__()[0] == 1:
        return _array(as_numpy(value))
    name = str(value.dtype).rpartition(".")[2]  # torch.float32
    try:
        return "device", np.dtype(name)
    except TypeError:
        return "unknown", type(value).__name__


def as_numpy(value: Any) -> np.ndarray[Any, Any]:
    """An array of somebody else's on the host, without a copy where that can be."""
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        return np.asarray(value)
    return np.from_dlpack(value)


def _ours(value: Any) -> Kind:
    return "device", value.dtype


def _leaf(items: Any) -> Kind:
    """The kind that all elements of nested lists have; None without any. An int among floats is a float."""
    return _common(_found(items))


def _common(kinds: set[Kind]) -> Kind:
    """The kind that stands for several."""
    records = {kind[1] for kind in kinds if isinstance(kind, tuple) and kind[0] == "fields"}
    if len(records) == 1 and all(isinstance(kind, tuple) and kind[0] == "fields" for kind in kinds):
        inner = {kind[2] for kind in kinds if isinstance(kind, tuple)}
        return "fields", next(iter(records)), None if None in inner else _common(inner)
    if len(kinds) > 1 and kinds <= {"int32", "int64", "uint64", "huge", "float"}:
        if "float" in kinds:
            return "float"
        return next(k for k in ("huge", "uint64", "int64") if k in kinds)
    if len(kinds) > 1:
        return "mixed", tuple(sorted(map(describe, kinds)))
    return next(iter(kinds), None)


def _found(items: Any) -> set[Kind]:
    """The kinds of the elements of nested lists; of ints alone those of the least and the greatest, which tell what
    holds all."""
    types = set(map(type, items))
    if types == {int}:
        return {_int(min(items)), _int(max(items))}
    if types == {float} or types == {bool}:
        return {kind_of(items[0])}
    if types and types <= {list, tuple}:
        return set[Kind]().union(*map(_found, items))
    return set(_leaves(items))


def _leaves(items: Any) -> Iterator[Kind]:
    for item in items:
        if isinstance(item, list | tuple) and field_names(item) is None:
            yield from _leaves(item)
        elif type(item) is np.ndarray and item.ndim:
            yield ("scalar", item.dtype) if item.dtype.names is None else item.dtype
        else:
            yield kind_of(item)


def describe(kind: Kind) -> str:
    """A kind for a message."""
    match kind:
        case "int32" | "int64" | "uint64" | "huge":
            return "int"
        case ("scalar", np.dtype() as dtype):
            return f"numpy.{dtype.name}"
        case ("device", np.dtype() as dtype):
            return f"a device array of {dtype.name}"
        case ("list", None):
            return "an empty list"
        case ("list", ("mixed", tuple() as names)):
            return f"a list of {' and '.join(names)}"
        case ("list", inner):
            return f"a list of {describe(inner)}"
        case ("record", tuple() as names):
            return f"a dict of {', '.join(names)}" if names else "an empty dict"
        case ("fields", tuple() as names, _):
            return f"a record of {', '.join(names)}"
        case ("handle", name):
            return f"a SaC {name}"
        case ("unknown", name):
            return str(name)
        case np.dtype(names=None):
            return f"an array of {kind.name}"
        case np.dtype():
            return f"a structured array of {', '.join(kind.names or ())}"
    return str(kind)


# ---------------------------------------------------------------- how well a kind suits a type


def suits(kind: Kind, type: BaseType) -> int | None:
    """How well, 0 is best; None: not at all. A plain type suits better than one that a program has made of it."""
    plain = _suits(kind, type)
    if plain is None or type.kind != "typedef" or type.key == COMPLEX:
        return plain
    is_array = isinstance(kind, np.dtype) or (isinstance(kind, tuple) and kind[0] in ("list", "device", "fields"))
    return plain + LESS if is_array or not type.components[0].cell or type.is_struct else None


def _suits(kind: Kind, type: BaseType) -> int | None:
    if isinstance(kind, tuple):
        match kind:
            case ("list", None):
                return FITS if type.key == "int" else LATER if type.kind in ("builtin", "typedef", "struct") else None
            case ("list", inner):
                return _suits(inner, type)
            case ("scalar" | "device", np.dtype() as dtype):
                return _dtype(dtype, type)
            case ("record", names):
                return FITS if type.is_struct and tuple(sorted(f[0] for f in type.fields)) == names else None
            case ("fields", names, inner):
                if type.is_struct:
                    return _suits(("record", names), type)
                return None if inner is None else _suits(inner, type)
            case ("handle", key):
                return FITS if type.key == key else None
        return None
    if isinstance(kind, np.dtype):
        return _dtype(kind, type)
    if type.key == STRING:
        return {"str": FITS, "bytes": LATER}.get(str(kind))
    if type.key == COMPLEX:
        return {"complex": FITS, "float": ACROSS, "int32": ACROSS, "int64": _REAL["int64"]}.get(str(kind))
    base = _underlying(type)
    return None if base is None else _python(str(kind), base)


def _underlying(type: BaseType) -> str | None:
    """The built-in type that a built-in type or a typedef is made of."""
    if type.kind not in ("builtin", "typedef") or type.is_struct or len(type.components) != 1:
        return None
    return type.components[0].base if type.components[0].base in DTYPES else None


def _python(kind: str, base: str) -> int | None:
    """A Python scalar."""
    if kind in ("int32", "int64", "uint64", "huge"):
        if base in BITS:
            smallest = {"int32": 0, "int64": 1, "uint64": 4, "huge": 99}[kind]
            at = _ORDER.index(base)
            fits = (
                at >= smallest
                and not (kind == "int64" and base in ("uint", "short", "ushort", "byte", "ubyte"))
                and not (kind == "uint64" and base not in ("ulong", "ulonglong"))
            )
            return at if fits else NEVER_FITS + at
        return {"double": _REAL[kind], "float": _REAL[kind] + 1}.get(base)
    if kind == "float":
        return {"double": FITS, "float": LATER}.get(base)
    if kind == "bool":
        return FITS if base == "bool" else None
    if kind in ("bytes", "str"):
        return (FITS if kind == "bytes" else LATER) if base == "char" else None
    return None


def _dtype(dtype: np.dtype[Any], type: BaseType) -> int | None:
    """Elements of an array, or a NumPy scalar."""
    if dtype.names is not None:
        return FITS if type.is_struct and sorted(dtype.names) == sorted(f[0] for f in type.fields) else None
    if type.key == COMPLEX:
        return {16: FITS, 8: WIDER}.get(dtype.itemsize) if dtype.kind == "c" else None
    if type.key == STRING:
        return LATER if dtype.kind == "O" else None
    base = _underlying(type)
    if base is None:
        return None
    wanted = DTYPES[base]
    if dtype.kind == wanted.kind and dtype.itemsize == wanted.itemsize:
        return LATER if base in ("char", "longlong", "ulonglong") else FITS
    if dtype.kind in "iu":
        if base in BITS:
            widens = dtype.itemsize < wanted.itemsize and (dtype.kind == "u" or base in SIGNED)
            return (WIDER if widens else NARROWER) + _ORDER.index(base)
        return {"double": ACROSS, "float": ACROSS + 1}.get(base)
    if dtype.kind == "f":
        return WIDER if base in ("float", "double") and dtype.itemsize < wanted.itemsize else None
    return None
