"""Values as the prompt shows them: the type with its shape, then the elements.

In: a base type, a value's components, and a page. Out: text. A vector stands in one line, or in lines that begin with
the index of their first element; a matrix in aligned columns; an array of higher rank slice by slice, each behind its
index (`[0,.,.]`); a struct field by field. What does not fit the page is left out in the middle of an axis, and the
text says how much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any
from unicodedata import combining, east_asian_width

import numpy as np

from sacpy.interp.notation import SUFFIX, notation
from sacpy.interp.values import Value, shape_of
from sacpy.lang.elaborate.usertypes import BaseType, field_slice
from sacpy.repl.page import Page

INDENT = "  "
BETWEEN = "  "
GAP = "..."
OUT = f"[{GAP}]"  # in the place of an index; dots alone at the beginning of a line would look like the prompt's
CELL = 16  # elements of a typedef's own array that are written as one entry
PAGE = Page()

Array = np.ndarray[Any, Any]


def show(type: BaseType, values: Sequence[Value], page: Page = PAGE) -> str:
    """A value on one or more lines, without the last line's end."""
    if type.kind == "packed":
        return _packed(type, values, page)
    head = type_text(type, values)
    if not type.is_struct:
        return _value(head, _view(type, values[0], page), page)
    lines = [page.faint(head)]
    inside = Page(page.columns - len(INDENT), max(page.lines // max(len(type.fields), 1), 4), page.digits, page.colour)
    for name, field, _ in type.fields:
        found = field_slice(type, name)
        assert found is not None
        lines += [INDENT + line for line in f".{name} {show(field, values[found[2]], inside)}".split("\n")]
    return "\n".join(lines)


def _packed(type: BaseType, values: Sequence[Value], page: Page) -> str:
    """The rows of a packed array below one another, as long as they are; of more axes slice by slice."""
    from sacpy.interp.packed_rows import head, rows  # loaded where somebody has such an array

    slices: dict[tuple[int, ...], list[Array]] = {}
    for index, row in rows(type, values):
        slices.setdefault(index[:-1], []).append(row)
    lines = [page.faint(head(type, values))]
    for index, found in slices.items():
        if index:
            lines.append(page.faint(f"[{','.join(map(str, index))},.,.]"))
        shape = len(found), max(map(len, found))

        def text(at: tuple[int, ...], found: list[Array] = found) -> str:
            i, j = at
            return _entry(found[i][j], type.core, page.digits) if j < len(found[i]) else ""

        lines += _matrix(_View(shape, text), page, page.lines) if shape[1] else [INDENT + "[]"] * shape[0]
        if len(lines) > page.lines + 1:
            lines.append(page.faint(OUT))
            break
    return "\n".join(lines)


def type_text(type: BaseType, values: Sequence[Value]) -> str:
    """The type with the actual shape: `double[3,4]`; a typedef's or struct's own axes are left out."""
    outer = _outer(type, values[0]) if values else ()
    return type.shown + (f"[{','.join(map(str, outer))}]" if outer else "")


def _outer(type: BaseType, value: Value) -> tuple[int, ...]:
    shape = shape_of(value)
    if type.components and not type.any_cell:
        return shape[: len(shape) - len(type.components[0].cell)]
    return shape if type.kind == "builtin" else ()


# ---------------------------------------------------------------- what is shown


class _View:
    """An array as entries: `shape` counts them along each axis, `text` writes the one at an index."""

    def __init__(self, shape: tuple[int, ...], text: Callable[[tuple[int, ...]], str], as_line: bool = False) -> None:
        self.shape, self.text, self.as_line = shape, text, as_line

    def slice(self, *index: int) -> _View:
        """The entries behind the first components of an index."""
        return _View(self.shape[len(index) :], lambda rest: self.text((*index, *rest)))


def _view(type: BaseType, value: Value, page: Page) -> _View:
    """A typedef's own array is one entry, if it is small; so is a row of characters."""
    shape, base = shape_of(value), type.core
    if not isinstance(value, np.ndarray):
        text = notation(value, base).removesuffix(SUFFIX[base]) if base in SUFFIX else notation(value, base)
        return _View((), lambda index: _shortened(text, page))
    own = len(shape) - len(_outer(type, value))
    digits = page.digits
    if base == "char" and own <= 1:
        return _View(shape[:-1], lambda index: _quoted(value[index], page), as_line=True)
    own = own if prod(shape[len(shape) - own :]) <= CELL else 0
    return _View(shape[: len(shape) - own], lambda index: _entry(value[index], base, digits))


def _quoted(row: Array, page: Page) -> str:
    most = page.columns * page.lines
    if row.size <= most:
        return notation(row.tobytes(), "char")
    while most and row[most] & 0xC0 == 0x80:  # in the middle of a character
        most -= 1
    return _shortened(notation(row[:most].tobytes(), "char"), page, row.size)


def width(text: str) -> int:
    """The columns that a text takes: those of East Asia are two wide."""
    return len(text) if text.isascii() else sum(0 if combining(c) else 1 + (east_asian_width(c) in "WF") for c in text)


def _right(text: str, columns: int) -> str:
    """A text at the right end of so many columns."""
    return " " * (columns - width(text)) + text


def _shortened(text: str, page: Page, size: int = 0) -> str:
    """A long string's beginning, with what it is the beginning of."""
    most = page.columns * max(page.lines - 1, 1)
    return text if len(text) <= most and not size else f"{text[: most - 40]}{GAP} ({size or len(text) - 2} characters)"


def _entry(value: Any, base: str, digits: int) -> str:
    """An element as SaC writes it; reals with so many digits that columns stay narrow, integers without their suffix
    (the type has been named)."""
    if isinstance(value, np.ndarray):
        return f"[{', '.join(_entry(v, base, digits) for v in value)}]"
    if isinstance(value, np.floating):
        text = f"{float(value):.{digits}g}"
        return text if not text.lstrip("-").isdigit() else text + ".0"
    if isinstance(value, np.integer) and base != "char":
        return str(int(value))
    return notation(value.item() if isinstance(value, np.generic) else value, base)


# ---------------------------------------------------------------- how it is laid out


def _value(head: str, view: _View, page: Page) -> str:
    faint = page.faint(head)
    if not view.shape:
        return f"{faint} {view.text(())}"
    if 0 in view.shape:
        return f"{faint} []"
    if len(view.shape) == 1:
        return _vector(faint, len(head), view, page)
    return "\n".join([faint, *(_column(view, page) if view.as_line and len(view.shape) == 1 else _slices(view, page))])


def _vector(head: str, columns: int, view: _View, page: Page) -> str:
    """One line where that is enough room, else lines that begin with an index."""
    count = view.shape[0]
    if view.as_line:
        return "\n".join([head, *_column(view, page)])
    room = page.columns - columns - 3
    if 3 * count - 2 <= room:
        line = f"[{', '.join(view.text((i,)) for i in range(count))}]"
        if width(line) <= room + 2:
            return f"{head} {line}"
    return "\n".join([head, *_wrapped(view, page)])


def _wrapped(view: _View, page: Page) -> Iterator[str]:
    """A long vector in lines, the ends of it where it has too many."""
    count = view.shape[0]
    label = len(f"[{count - 1}]")
    most = page.lines * max((page.columns - label) // (len(BETWEEN) + 1), 1)
    sample = {i: view.text((i,)) for i in _ends(count, most)}
    room = max(map(width, sample.values()))
    per_line = max((page.columns - label) // (room + len(BETWEEN)), 1)
    per_line -= per_line % 10 if per_line > 10 else per_line % 5 if per_line > 5 else 0
    before = -1
    for line in _ends(-(-count // per_line), page.lines):
        if line != before + 1:
            yield page.faint(f"{OUT.rjust(label)}  {(line - before - 1) * per_line} more")
        before = line
        first = line * per_line
        texts = (sample.get(i) or view.text((i,)) for i in range(first, min(first + per_line, count)))
        yield page.faint(f"[{first}]".rjust(label)) + "".join(BETWEEN + _right(t, room) for t in texts)


def _column(view: _View, page: Page) -> Iterator[str]:
    """Entries that take a line each."""
    before = -1
    for i in _ends(view.shape[0], page.lines):
        if i != before + 1:
            yield page.faint(INDENT + f"{GAP} {i - before - 1} more")
        before = i
        yield INDENT + view.text((i,))


def _slices(view: _View, page: Page) -> Iterator[str]:
    """A matrix; of higher rank one matrix after the other, each behind its index."""
    outer = view.shape[:-1] if view.as_line else view.shape[:-2]
    if not outer:
        yield from _matrix(view, page, page.lines)
        return
    rows = view.shape[len(outer)]
    each = min(rows, max(page.lines // 2 - 1, 3))
    before = -1
    total = prod(outer)
    for i in _ends(total, max(page.lines // (each + 1), 1)):
        if i != before + 1:
            yield page.faint(f"{OUT} {_more(i - before - 1, 'slice')}")
        before = i
        index = tuple(int(k) for k in np.unravel_index(i, outer))
        yield page.faint(f"[{','.join([*map(str, index), '.', *(() if view.as_line else '.')])}]")
        yield from _column(view.slice(*index), page) if view.as_line else _matrix(view.slice(*index), page, each)


def _more(count: int, what: str) -> str:
    """How many are left out."""
    return f"{count} more {what}{'s' * (count != 1)}"


def _matrix(view: _View, page: Page, lines: int) -> Iterator[str]:
    """Aligned columns, the first and last where not all fit."""
    rows = _ends(view.shape[0], lines)
    columns = _fitting(view, rows, page.columns - len(INDENT))
    before = -1
    texts = {j: _aligned([view.text((i, j)) for i in rows]) for j in columns}
    for at, i in enumerate(rows):
        if i != before + 1:
            yield page.faint(INDENT + f"{GAP} {_more(i - before - 1, 'row')}")
        before = i
        line, last = INDENT, -1
        for j in columns:
            line += (BETWEEN if j else "") + (f"{GAP}{BETWEEN}" if j != last + 1 else "") + texts[j][at]
            last = j
        yield line.rstrip()


def _fitting(view: _View, rows: Sequence[int], room: int) -> list[int]:
    """The columns that fit into a line."""
    count = view.shape[1]
    candidates = _ends(count, room // (len(BETWEEN) + 1) + 2)
    widths = {j: width(_aligned([view.text((i, j)) for i in rows])[0]) + len(BETWEEN) for j in candidates}
    if len(candidates) == count and sum(widths.values()) - len(BETWEEN) <= room:
        return candidates
    chosen: list[int] = []
    left = room - len(GAP)
    for at in range(len(candidates)):  # from both ends in turn
        j = candidates[at // 2] if at % 2 == 0 else candidates[-1 - at // 2]
        left -= widths[j]
        if left < 0 and len(chosen) > 1:
            break
        chosen.append(j)
    return sorted(chosen)


def _ends(count: int, most: int) -> list[int]:
    """All positions on an axis; the first and the last ones where there are more than `most`, a line between them left
    free."""
    if count <= max(most, 1):
        return list(range(count))
    kept = max(most - 1, 2)
    return [*range(kept - kept // 2), *range(count - kept // 2, count)]


def _aligned(texts: list[str]) -> list[str]:
    """Texts of one width; numbers with their points below one another."""
    parts = [t.partition(".") if t[-1:].isdigit() and "e" not in t else (t, "", "") for t in texts]
    if any(tail for _, _, tail in parts):
        behind = max(len(dot + tail) for _, dot, tail in parts)
        texts = [head + (dot + tail).ljust(behind) if dot else head for head, dot, tail in parts]
        fronts = max(len(head) for head, dot, _ in parts if dot)
        texts = [
            t if not dot else head.rjust(fronts) + (dot + tail).ljust(behind)
            for t, (head, dot, tail) in zip(texts, parts, strict=True)
        ]
    room = max(map(width, texts))
    return [_right(t, room) for t in texts]


__all__ = ["show", "type_text"]
