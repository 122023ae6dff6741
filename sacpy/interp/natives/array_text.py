"""How arrays print: `print` and `show`.

The walk over arrays of more than two axes is the odd one of SaC's own `print`: rows run along the last axis; the other
axes take turns at going across and down the page, the innermost of them across where the rank is odd.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from sacpy.interp import memory
from sacpy.interp.natives.formatting import plan_of, sprintf_many

ELEMENT = 160  # bytes that an element takes besides its text while it is printed
LINE = 1 << 16  # characters that `show` writes at a time

DEFAULT = {
    "bool": b"%2i ", "byte": b"%2hd ", "short": b"%2hd ", "int": b"%2d ", "long": b"%2ld ", "longlong": b"%2lld ",
    "ubyte": b"%2hu ", "ushort": b"%2hu ", "uint": b"%2u ",
    "ulong": b"%2lu ", "ulonglong": b"%2llu ", "float": b"%4f ", "double": b"%e ", "char": b"%c",
}  # fmt: skip


Texts = Callable[[int, int], Sequence[bytes]]  # the printed elements from one position in row-major order to another


def array_text(fmt: bytes, base: str, shape: tuple[int, ...], flat: Any) -> Iterator[bytes]:
    """What `print` writes for an array, each element through `fmt`, piece by piece. `flat`: the elements in row-major
    order, a list or an array."""
    size = max(1, plan_of(fmt, (base,), "print").size)
    head = b"Dimension: %2d\nShape    : <%b>\n" % (len(shape), b",".join(b" %2d" % n for n in shape))
    memory.room(3 * size)

    def texts(start: int, end: int) -> list[bytes]:
        part = flat[start:end]
        return sprintf_many(fmt, part.tolist() if isinstance(part, np.ndarray) else part, base)

    return framed(head, shape, texts, max(1, memory.SMALL // (3 * size + ELEMENT)))


def rows_text(fmt: bytes, base: str, lengths: Iterable[int], elements: Any) -> Iterator[bytes]:
    """What `print` writes for rows of these lengths that lie one behind the other, piece by piece."""
    size = max(1, plan_of(fmt, (base,), "print").size)
    memory.room(3 * size)
    most = max(1, memory.SMALL // (3 * size + ELEMENT))
    start = 0
    for length in lengths:
        yield b"|" if length else b"| "
        for at in range(start, start + length, most):
            yield b"".join(sprintf_many(fmt, elements[at : min(at + most, start + length)].tolist(), base))
        yield b"|\n"
        start += length


def framed(head: bytes, shape: tuple[int, ...], texts: Texts, most: int) -> Iterator[bytes]:
    """Head and elements in rows, piece by piece. `most`: elements that are printed at a time."""
    if not shape:
        yield head + texts(0, 1)[0] + b"\n"
        return
    if prod(shape) == 0:
        yield head + b"<>\n"
        return
    left, right = (b"<", b"> ") if len(shape) % 2 else (b"|", b"| ")
    columns = shape[-1]
    if len(shape) <= 2:
        texts = _ahead(texts, prod(shape), most)
    out, held = [head], 0
    for row, gap in _walk(shape):
        out.append(left)
        for start in range(row * columns, (row + 1) * columns, most):
            end = min(start + most, (row + 1) * columns)
            out += texts(start, end)
            held += end - start
            if held >= most:
                yield b"".join(out)
                out, held = [], 0
        out += (right, gap)
    yield b"".join((*out, b"\n"))


def _ahead(texts: Texts, count: int, most: int) -> Texts:
    """The same where rows come in order: of short ones several are printed at a time."""
    first, known = 0, texts(0, min(most, count))

    def found(start: int, end: int) -> Sequence[bytes]:
        nonlocal first, known
        if end > first + len(known):
            first, known = start, texts(start, min(start + most, count))
        return known[start - first : end - first]

    return found


def _walk(shape: tuple[int, ...]) -> Iterator[tuple[int, bytes]]:
    """The rows in the order they print: which row (in row-major order) and what follows it."""
    rank = len(shape)
    strides = [prod(shape[axis + 1 : -1]) for axis in range(rank - 1)]
    index = [0] * rank
    while True:
        row = sum(i * stride for i, stride in zip(index[:-1], strides, strict=True))
        axis = rank - 2 if rank % 2 else rank - 1
        space, gap = b" ", b""
        index[rank - 1] = 0 if rank % 2 else shape[-1]
        while axis > 0 and index[axis] >= shape[axis] - 1:
            index[axis] = 0
            axis -= 2
            if axis < 0:
                space = b"\n"
                axis = (rank - 2) // 2 * 2
            gap += space
        yield row, gap
        if axis < 0 or index[axis] >= shape[axis] - 1:
            return
        index[axis] += 1


def show_text(shape: tuple[int, ...], codes: bytes | memoryview) -> Iterator[bytes]:
    """What `show` writes for a character array, piece by piece: its rows as lines, an empty line between planes;
    nothing for an empty array."""
    if shape and prod(shape) == 0:
        return
    columns = shape[-1] if shape else 1
    rows = shape[-2] if len(shape) > 1 else 1
    out = bytearray()
    for number, at in enumerate(range(0, len(codes), columns)):
        if number and number % rows == 0:
            out += b"\n"
        for start in range(at, at + columns, LINE):
            out += codes[start : min(start + LINE, at + columns)]
            if len(out) >= LINE:
                yield bytes(out)
                out.clear()
        out += b"\n"
    yield bytes(out)
