"""A range of the elements of rows that grow, row by row.

In: bounds, and who writes the loop over a part of a row. Out: code in which the row that the range begins in is found
once, and each further one follows from that before it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sacpy.jit.analysis.grown import Rows
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir.graph import Op
from sacpy.jit.llvm.scalars import emit


def row_loops(low: Writer, rows: Rows, lower: str, upper: str, loops: Callable[[str, str], None]) -> None:
    """The loops of each row's part of a range of elements, over 64-bit numbers. The last row has all that is left."""
    code, growth = low.code, rows.growth
    least, _, count = sizes = [low.text(a) for a in rows.asked[1:]]
    number = code.op(f"trunc i64 {lower} to i32")
    first, column = (emit(code, Op(c, rows.asked), [number, *sizes], low.unit.style) for c in ("row", "column"))
    last = code.op(f"add i32 {count}, -1")
    longest = least if growth > 0 else code.op(f"add i32 {least}, {code.op(f'mul i32 {last}, {-growth}')}")
    at, row, start = code.slot("i64"), code.slot("i32"), code.slot("i64")
    code.store("i64", lower, at)
    code.store("i32", first, row)
    code.store("i64", code.difference(lower, code.op(f"sext i32 {column} to i64")), start)
    test, body, done = code.label("row"), code.label("in_row"), code.label("rows")
    code.place(test)
    i = code.load("i64", at)
    code.branch(code.op(f"icmp slt i64 {i}, {upper}"), body, done)
    code.place(body)
    own, begin = code.load("i32", row), code.load("i64", start)
    length = code.op(f"add i32 {longest}, {code.op(f'mul i32 {own}, {growth}')}")
    end = code.sum(begin, code.op(f"sext i32 {length} to i64"))
    whole = code.op(f"and i1 {code.op(f'icmp slt i32 {own}, {last}')}, {code.op(f'icmp slt i64 {end}, {upper}')}")
    stop = code.op(f"select i1 {whole}, i64 {end}, i64 {upper}")
    low.row_places[rows.asked] = partial(_in_row, low, own, begin)
    loops(i, stop)
    del low.row_places[rows.asked]
    code.store("i64", stop, at)
    code.store("i32", code.op(f"add i32 {own}, 1"), row)
    code.store("i64", end, start)
    code.jump(test)
    code.place(done)


def _in_row(low: Writer, row: str, begin: str, op: Op) -> tuple[str, str]:
    """The row, or the place in it, of the index in the loop of a row: in 32 bits and in 64."""
    if op.code == "row":
        return row, low.code.op(f"sext i32 {row} to i64")
    place = low.code.difference(low.wide(op.args[0]), begin)
    return low.code.op(f"trunc i64 {place} to i32"), place
