"""How arrays print: `print` and `show`.

The walk over arrays of more than two axes is the odd one of SaC's own `print`: rows run along the last axis; the other axes take turns at going across and down the page, the innermost of them across where the rank is odd.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from sacpy.interp.natives.formatting import Value, sprintf_many

DEFAULT = {
    "bool": b"%2i ", "byte": b"%2hd ", "short": b"%2hd ", "int": b"%2d ", "long": b"%2ld ", "longlong": b"%2lld ", "ubyte": b"%2hu ", "ushort": b"%2hu ", "uint": b"%2u ",
    "ulong": b"%2lu ", "ulonglong": b"%2llu ", "float": b"%4f ", "double": b"%e ", "char": b"%c",
}  # fmt: skip


def array_text(fmt: bytes, base: str, shape: tuple[int, ...], flat: Sequence[Value]) -> bytes:
    """What `print` writes for an array, each element through `fmt`."""
    return framed(b"Dimension: %2d\nShape    : <%b>\n" % (len(shape), b",".join(b" %2d" % n for n in shape)), shape, sprintf_many(fmt, flat, base))


def framed(head: bytes, shape: tuple[int, ...], elements: Sequence[bytes]) -> bytes:
    """Head and elements in rows. `elements` are the printed elements in row-major order."""
    if not shape:
        return head + elements[0] + b"\n"
    if prod(shape) == 0:
        return head + b"<>\n"
    left, right = (b"<", b"> ") if len(shape) % 2 else (b"|", b"| ")
    columns = shape[-1]
    out = [head]
    for row, gap in _walk(shape):
        out += (left, b"".join(elements[row * columns : (row + 1) * columns]), right, gap)
    out.append(b"\n")
    return b"".join(out)


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


def show_text(shape: tuple[int, ...], codes: bytes) -> bytes:
    """What `show` writes for a character array: its rows as lines, an empty line between planes; nothing for an empty array."""
    if not shape:
        return codes + b"\n"
    if prod(shape) == 0:
        return b""
    columns = shape[-1]
    rows = shape[-2] if len(shape) > 1 else 1
    lines = [codes[at : at + columns] + b"\n" for at in range(0, len(codes), columns)]
    planes = [b"".join(lines[at : at + rows]) for at in range(0, len(lines), rows)]
    return b"\n".join(planes)
