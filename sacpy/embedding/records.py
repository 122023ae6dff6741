"""Structs as Python has them: dictionaries, dataclasses and named tuples in; NumPy records in and out.

In: a struct type, and a mapping, an instance of a dataclass, a named tuple, record, structured array, or list of these;
or the interpreter's arrays, one for each leaf field. Out: the other of the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sacpy.embedding.arguments import Misfit, converter, wrong_sort
from sacpy.embedding.kinds import Handle, field_names
from sacpy.interp.values import Value, dtype_of, shape_of
from sacpy.lang.elaborate.usertypes import BaseType

Path = tuple[str, ...]


def components(type: BaseType) -> Callable[[Any], tuple[Value, ...]]:
    """How to convert a Python value to the components of a struct, or of a packed array."""
    if type.kind == "packed":
        return lambda value: packed_parts(type, value)
    leaves = _leaves(type)
    converters = [converter(leaf) for _, leaf, _ in leaves]

    def convert(value: Any) -> tuple[Value, ...]:
        if isinstance(value, np.ndarray) and value.dtype.names is None and value.dtype != object:
            raise wrong_sort(value, type.shown)
        found: list[Value] = []
        outer: tuple[int, ...] | None = None
        for (path, _, rank), component, to_core in zip(leaves, type.components, converters):
            part = _part(value, type, path)
            try:
                core = to_core(part)
            except Misfit as misfit:
                raise Misfit(misfit.code, f"field {'.'.join(path)}: {misfit.reason}", misfit.help) from None
            shape = shape_of(core)
            if len(shape) < rank or any(
                n is not None and n != m for n, m in zip(component.cell, shape[len(shape) - rank :])
            ):
                wanted = ",".join("." if n is None else str(n) for n in component.cell)
                raise Misfit("E0708", f"field {'.'.join(path)} has the shape {list(shape)}, and needs [{wanted}]")
            here = shape[: len(shape) - rank]
            if outer is not None and here != outer:
                raise Misfit(
                    "E0708",
                    f"field {'.'.join(path)} is for an array of shape {list(here)}, the ones before for {list(outer)}",
                    "give all fields as many values",
                )
            outer = here
            found.append(core)
        return tuple(found)

    return convert


def packed_parts(type: BaseType, value: Any) -> tuple[Value, ...]:
    """The components of a packed array; only one of that very type will do."""
    if not isinstance(value, Handle) or value.type != type.key:
        raise wrong_sort(value, type.shown, f'make one: sacpy.packed("{type.shown}", elements, n=..)')
    return value.parts


def _leaves(type: BaseType) -> list[tuple[Path, BaseType, int]]:
    """Path, type and number of axes within one struct of each leaf field, in the components' order."""
    result: list[tuple[Path, BaseType, int]] = []
    for name, base, extents in type.fields:
        if base.is_struct:
            result += [((name, *path), leaf, len(extents) + rank) for path, leaf, rank in _leaves(base)]
        else:
            result.append(((name,), base, len(extents) + len(base.components[0].cell)))
    return result


def _part(value: Any, type: BaseType, path: Path) -> Any:
    """A leaf field of a value; of an array or list, the array of that field."""
    if isinstance(value, list | tuple) and field_names(value) is None:
        return [_part(item, type, path) for item in value]
    for name in path:
        names = [f[0] for f in type.fields]
        given = _given(value)
        if given is None:
            help = f"pass a dict, dataclass or named tuple with the fields {', '.join(names)}"
            raise wrong_sort(value, type.shown, help)
        if sorted(map(str, given)) != sorted(names):
            raise Misfit(
                "E0708",
                f"{type.shown} has the fields {', '.join(names)}, this value has "
                f"{', '.join(map(str, given)) or 'none'}",
                "give every field its value, and no others",
            )
        value = value[name] if field_names(value) is None else getattr(value, name)
        type = next(base for field, base, _ in type.fields if field == name)
        if isinstance(value, list | tuple) and type.is_struct and field_names(value) is None:
            return [_part(item, type, path[path.index(name) + 1 :]) for item in value]
    return value


def _given(value: Any) -> Sequence[str] | None:
    """The fields that a value has; None if it is nothing with fields."""
    if isinstance(value, Mapping):
        return list(value)
    if isinstance(value, np.void | np.ndarray):
        return value.dtype.names or ()
    return field_names(value)


def record(type: BaseType, values: tuple[Value, ...], outward: Callable[[BaseType], Callable[[Value], Any]]) -> Any:
    """The components of a struct as a record, or a structured array. `outward` gives the presentation of a leaf."""
    leaves = _leaves(type)
    shape = shape_of(values[0])
    outer = shape[: len(shape) - leaves[0][2]]
    result = np.empty(outer, _dtype(type, {path: (v, rank) for (path, _, rank), v in zip(leaves, values)}, ()))
    for (path, leaf, _), value in zip(leaves, values):
        target: Any = result
        for name in path:
            target = target[name]
        target[...] = outward(leaf)(value)
    return result if outer else result[()]


def _dtype(type: BaseType, values: dict[Path, tuple[Value, int]], prefix: Path) -> np.dtype[Any]:
    fields: list[Any] = []
    for name, base, extents in type.fields:
        path = (*prefix, name)
        if base.is_struct:
            inner = _dtype(base, values, path)
            leaf = next(v for p, v in values.items() if p[: len(path)] == path)
            fields.append((name, inner, _axes(leaf, len(extents))))
        else:
            value, rank = values[path]
            complex_ = base.key == "ComplexBasics::complex"
            fields.append(
                (
                    name,
                    np.complex128 if complex_ else dtype_of(base.components[0].base),
                    _axes((value, rank), rank - complex_),
                )
            )
    return np.dtype(fields)


def _axes(leaf: tuple[Value, int], count: int) -> tuple[int, ...]:
    """The first `count` axes of a leaf behind those of the array of structs."""
    value, rank = leaf
    shape = shape_of(value)
    return tuple(shape[len(shape) - rank :][:count])
