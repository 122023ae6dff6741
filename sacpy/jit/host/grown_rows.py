"""A range of the elements of rows that grow, row by row.

In: bounds, and who writes the loop over a part of a row. Out: code in which the row that the range begins in is found
once, and each further one follows from that before it: the next of its block, or the first of the next block.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sacpy.jit.analysis.grown import Rows
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir.graph import Op, Var
from sacpy.jit.llvm.scalars import emit


def row_loops(low: Writer, rows: Rows, lower: str, upper: str, loops: Callable[[str, str], None]) -> None:
    """The loops of each row's part of a range of elements, over 64-bit numbers. The last row of all has all that is
    left."""
    code, growth = low.code, rows.growth
    number = code.op(f"trunc i64 {code.difference(lower, low.wide(rows.first))} to i32")
    places: list[tuple[str, str]] = []  # of each level, slots: which row, and where it begins
    for asked in rows.levels:
        sizes = [low.text(a) for a in asked[1:]]
        row, number = (emit(code, Op(c, asked), [number, *sizes], low.unit.style) for c in ("row", "column"))
        slots = code.slot("i32"), code.slot("i64")
        code.store("i32", row, slots[0])
        code.store("i64", code.difference(lower, code.op(f"sext i32 {number} to i64")), slots[1])
        places.append(slots)
    least, _, count = (low.text(a) for a in rows.asked[1:])
    last = code.op(f"add i32 {count}, -1")
    longest = least if growth >= 0 else code.op(f"add i32 {least}, {code.op(f'mul i32 {last}, {-growth}')}")
    at = code.slot("i64")
    code.store("i64", lower, at)
    test, body, done = code.label("row"), code.label("in_row"), code.label("rows")
    code.place(test)
    i = code.load("i64", at)
    code.branch(code.op(f"icmp slt i64 {i}, {upper}"), body, done)
    code.place(body)
    now = [(code.load("i32", row), code.load("i64", start)) for row, start in places]
    own, begin = now[-1]
    length = code.op(f"add i32 {longest}, {code.op(f'mul i32 {own}, {growth}')}") if growth else longest
    end = code.sum(begin, code.op(f"sext i32 {length} to i64"))
    inside = code.op(f"icmp slt i64 {end}, {upper}")
    if len(places) == 1:
        inside = code.op(f"and i1 {code.op(f'icmp slt i32 {own}, {last}')}, {inside}")
    stop = code.op(f"select i1 {inside}, i64 {end}, i64 {upper}")
    for asked, place in zip(rows.levels, now):
        low.row_places[asked] = partial(_in_row, low, rows.index, *place)
    loops(i, stop)
    for asked in rows.levels:
        del low.row_places[asked]
    code.store("i64", stop, at)
    through = "true"  # whether a level has come to its end, so that the one around it goes on
    for asked, (row, start), slots in reversed(tuple(zip(rows.levels, now, places))):
        following = code.op(f"add i32 {row}, {code.op(f'zext i1 {through} to i32')}")
        moved = code.op(f"select i1 {through}, i64 {end}, i64 {start}")
        if asked is rows.levels[0]:
            code.store("i32", following, slots[0])
        else:
            ends = code.op(f"icmp eq i32 {following}, {low.text(asked[3])}")
            code.store("i32", code.op(f"select i1 {ends}, i32 0, i32 {following}"), slots[0])
            through = code.op(f"and i1 {through}, {ends}")
        code.store("i64", moved, slots[1])
    code.jump(test)
    code.place(done)


def _in_row(low: Writer, index: Var, row: str, start: str, op: Op) -> tuple[str, str]:
    """The row, or the place in it, of the index in the loop of a row: in 32 bits and in 64."""
    if op.code == "row":
        return row, low.code.op(f"sext i32 {row} to i64")
    place = low.code.difference(low.wide(index), start)
    return low.code.op(f"trunc i64 {place} to i32"), place
