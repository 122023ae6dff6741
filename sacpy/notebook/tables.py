"""Arrays and structs as HTML tables, for pages that people scroll.

In: a base type and a value's components. Out: HTML with the type, the shape and the elements under their indices; of a
large array the ends of each axis. Values that are no tables (scalars, strings) have none: `table` gives None.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

import numpy as np

from sacpy.interp.notation import SUFFIX, notation
from sacpy.interp.values import Value, shape_of
from sacpy.lang.elaborate.usertypes import BaseType, field_slice

Array = np.ndarray[Any, np.dtype[Any]]

ROWS, COLUMNS = 12, 8
"""How many rows and columns are shown at each end of an axis that is too long."""
SLICES = 3
"""How many slices of an array of rank 3 or more, at each end."""
DIGITS = 6
TEXT = 60  # characters of an element
_GAP = "⋯"
_STYLE = "font-family: monospace; font-variant-numeric: tabular-nums; text-align: right; margin: 0.3em 0"


def table(type: BaseType, values: Sequence[Value], title: str) -> str | None:
    """A value as HTML below its title, such as `double[3,4]`."""
    if type.kind == "packed":
        body: str | None = _packed(type, values)
    else:
        body = _struct(type, values) if type.is_struct else _array(type, values[0])
    return None if body is None else f"<div><code>{escape(title)}</code>{body}</div>"


def _packed(type: BaseType, values: Sequence[Value]) -> str:
    """The rows of a packed array, each as long as it is, the first ones of many."""
    from sacpy.interp.packed_rows import rows  # loaded where somebody has such an array

    lines = []
    for index, row in itertools.islice(rows(type, values), 2 * ROWS):
        shown = [_element(v, type.core) for v in row[: 2 * COLUMNS]] + [_GAP] * (len(row) > 2 * COLUMNS)
        label = ",".join(map(str, index))
        lines.append(f"<tr><th>{label}</th>{''.join(f'<td>{t}</td>' for t in shown)}</tr>")
    return _framed(f"<tbody>{''.join(lines)}")


# ---------------------------------------------------------------- arrays


def _array(type: BaseType, value: Value) -> str | None:
    cell = 0 if type.any_cell else len(type.components[0].cell)
    if not isinstance(value, np.ndarray) or value.ndim <= cell or (type.core == "char" and value.ndim == 1):
        return None
    outer = value.shape[: value.ndim - cell]
    if not value.size:
        return f"<div style='{_STYLE}; text-align: left'>no elements</div>"
    if len(outer) <= 2:
        return _plane(value, outer, type.core)
    parts = []
    for slice_, index in _slices(outer[:-2]):
        label = f"[{','.join(map(str, index))},.,.]" if slice_ else _GAP
        parts.append(f"<div><code>{label}</code></div>")
        if slice_:
            parts.append(_plane(value[index], outer[-2:], type.core))
    return "".join(parts)


def _slices(extents: tuple[int, ...]) -> Iterator[tuple[bool, tuple[int, ...]]]:
    """The indices of the first and last slices; False stands for those left out."""
    count = int(np.prod(extents))
    shown = range(count) if count <= 2 * SLICES else [*range(SLICES), *range(count - SLICES, count)]
    before = -1
    for at in shown:
        if at != before + 1:
            yield False, ()
        yield True, tuple(int(i) for i in np.unravel_index(at, extents))
        before = at


def _plane(value: Array, outer: tuple[int, ...], base: str) -> str:
    """A matrix, or a vector as one row; each element may be an array itself."""
    rows: list[int | None] = [0] if len(outer) == 1 else _ends(outer[0], ROWS)
    columns = _ends(outer[-1], COLUMNS)
    lines = [
        "<thead><tr>",
        *([] if len(outer) == 1 else ["<th></th>"]),
        *(f"<th>{_GAP if j is None else j}</th>" for j in columns),
        "</tr></thead><tbody>",
    ]
    for i in rows:
        head = [] if len(outer) == 1 else [f"<th>{_GAP if i is None else i}</th>"]
        cells = (
            _GAP if i is None or j is None else _element(value[j] if len(outer) == 1 else value[i, j], base)
            for j in columns
        )
        lines += ["<tr>", *head, *(f"<td>{c}</td>" for c in cells), "</tr>"]
    return _framed("".join(lines))


def _framed(rows: str) -> str:
    return f"<table style='{_STYLE}'>{rows}</tbody></table>"


def _ends(extent: int, most: int) -> list[int | None]:
    """The positions of an axis that are shown; None for those left out."""
    return list(range(extent)) if extent <= 2 * most + 1 else [*range(most), None, *range(extent - most, extent)]


def _element(element: Any, base: str) -> str:
    if isinstance(element, np.ndarray):
        text = (
            f"[{', '.join(_text(e, base) for e in element.ravel().tolist())}]"
            if element.ndim <= 1
            else notation(element, base)
        )
    else:
        text = _text(element.item() if isinstance(element, np.generic) else element, base)
    return escape(text if len(text) <= TEXT else text[: TEXT - 1] + "…", quote=False)


def _text(element: Any, base: str) -> str:
    """An element: reals short, integers without their suffix (the type has been named)."""
    if base in ("float", "double"):
        text = f"{element:.{DIGITS}g}"
        return text + ".0" if text.lstrip("-").isdigit() else text
    return notation(element, base).removesuffix(SUFFIX.get(base, "\0"))


# ---------------------------------------------------------------- structs


def _struct(type: BaseType, values: Sequence[Value]) -> str | None:
    """One struct: a row for each field. A vector of structs: a column for each field. No table for more axes."""
    fields = [(name, base, values[_components(type, name)]) for name, base, _ in type.fields]
    outer = shape_of(values[0])[: len(shape_of(values[0])) - len(type.components[0].cell)]
    if not outer:
        rows = "".join(
            f"<tr><th style='text-align: left'>.{escape(name)}</th><td>{_summary(base, parts)}</td></tr>"
            for name, base, parts in fields
        )
        return _framed(f"<tbody>{rows}")
    if len(outer) > 1 or any(base.is_struct or len(parts) != 1 for _, base, parts in fields):
        return None
    head = "".join(f"<th>.{escape(name)}</th>" for name, _, _ in fields)
    lines = [f"<thead><tr><th></th>{head}</tr></thead><tbody>"]
    for i in _ends(outer[0], ROWS):
        cells = (_GAP if i is None else _element(parts[0][i], base.core) for _, base, parts in fields)
        lines.append(f"<tr><th>{_GAP if i is None else i}</th>{''.join(f'<td>{c}</td>' for c in cells)}</tr>")
    return _framed("".join(lines))


def _components(type: BaseType, name: str) -> slice:
    found = field_slice(type, name)
    assert found is not None
    return found[2]


def _summary(type: BaseType, values: Sequence[Value]) -> str:
    """The value of a field in a few words."""
    if type.is_struct:
        return (
            "{"
            + ", ".join(
                f".{escape(name)} = {_summary(base, values[_components(type, name)])}" for name, base, _ in type.fields
            )
            + "}"
        )
    value = values[0]
    if not isinstance(value, np.ndarray):
        return _element(value, type.core)
    if value.dtype == np.uint8 and type.core == "char" and value.ndim == 1:
        return escape(notation(value[:TEXT].tobytes(), "char"))
    shown = ", ".join(_element(e, type.core) for e in itertools.islice(value.flat, COLUMNS)) + (
        f", {_GAP}" if value.size > COLUMNS else ""
    )
    return f"[{shown}]" + (
        f" of shape [{','.join(map(str, value.shape))}]" if value.ndim > 1 or value.size > COLUMNS else ""
    )
