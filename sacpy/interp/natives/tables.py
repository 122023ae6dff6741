"""What stands in files of data: the head of NumPy's .npy files, and numbers in text with separators.

In: bytes. Out: types, shapes and numbers as plain values. The format of .npy files is described in NumPy's
documentation (NEP 1).
"""

from __future__ import annotations

import ast
import csv
from collections.abc import Sequence

MAGIC = b"\x93NUMPY"
SEPARATORS = ",;\t"


class Wrong(Exception):
    """The bytes are none of these files; says why."""


def npy_head(data: bytes) -> tuple[str, tuple[int, ...], bool, int]:
    """Of a .npy file: the type of the elements, the shape, whether the first axis runs fastest, and where the elements
    begin. Raises `Wrong`."""
    if data[:6] != MAGIC or len(data) < 10:
        raise Wrong("it does not begin as one")
    major = data[6]
    if major not in (1, 2, 3):
        raise Wrong(f"it has version {major} of the format")
    width = 2 if major == 1 else 4
    at = 8 + width
    end = at + int.from_bytes(data[8:at], "little")
    try:
        head = ast.literal_eval(data[at:end].decode("latin-1"))
        dtype, shape, order = head["descr"], tuple(head["shape"]), bool(head["fortran_order"])
    except (ValueError, SyntaxError, KeyError, TypeError):
        raise Wrong("its head cannot be understood") from None
    if not isinstance(dtype, str) or not all(isinstance(n, int) and n >= 0 for n in shape):
        raise Wrong("its elements are records, or its shape is none")
    return dtype, shape, order, end


def numbers(data: bytes) -> tuple[int, int, list[float]]:
    """Rows, columns and the numbers of a table, row by row; a first line that names the columns is left out. Raises
    `Wrong`."""
    rows = _rows(data)
    start = 1 if rows and any(_number(cell) is None for cell in rows[0]) else 0
    columns = len(rows[start]) if len(rows) > start else len(rows[0]) if rows else 0
    found: list[float] = []
    for at, row in enumerate(rows[start:], start + 1):
        if len(row) != columns:
            raise Wrong(f"row {at} has {len(row)} columns, and the first has {columns}")
        for k, cell in enumerate(row, 1):
            number = _number(cell)
            if number is None:
                raise Wrong(f"column {k} of row {at} is {cell!r}")
            found.append(number)
    return len(rows) - start, columns, found


def names(data: bytes) -> list[str]:
    """The names of a table's columns; none where its first line has numbers only. Raises `Wrong`."""
    rows = _rows(data)
    return rows[0] if rows and any(_number(cell) is None for cell in rows[0]) else []


def _rows(data: bytes) -> list[list[str]]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Wrong("it is no text in UTF-8") from None
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return []
    separator = max(SEPARATORS, key=lines[0].count)
    return [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=separator)]


def _number(cell: str) -> float | None:
    """The number that a cell holds; nan where it is empty."""
    try:
        return float(cell) if cell else float("nan")
    except ValueError:
        return None


__all__: Sequence[str] = ["Wrong", "names", "npy_head", "numbers"]
