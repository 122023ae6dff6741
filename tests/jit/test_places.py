"""The row and the column of an element of rows that grow, as machine code: the same as counted, at both ends of each
row, for triangles and what is like them, up to the largest arrays that there are."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.emission.libdevice import DEVICE_ROWS
from sacpy.jit.ir.graph import Var, integer
from sacpy.jit.ir.operations import PLACES
from sacpy.jit.llvm.scalars import ROWS
from sacpy.jit.passes import optimise
from sacpy.withloop.arithmetic import elements_before, place_in_rows
from tests.jit.builder import B, arguments, unit
from tests.jit.native_tools import compiled

LARGEST = 2**31 - 1
# the shortest row, how much rows grow, how many there are: triangles of both kinds, with and without the diagonal,
# few long rows, many short ones, all as large as they may be
SHAPES = [
    (1, 1, 65535), (1, -1, 65535), (0, 1, 65536), (0, -1, 65536), (1, 1, 1), (0, 1, 1), (1, -1, 2), (7, 3, 100),
    (5, -4, 32000), (0, 17, 11000), (2**30 - 1, 1, 2), (2**29, -3, 3), (2**25, 1, 63), (1 << 20, -1, 1900),
    ((1 << 20) + 1, 1, 1900), (0, 1 << 20, 60), (3, -(1 << 24), 10),
]  # fmt: skip


def ends(least: int, growth: int, rows: int) -> list[int]:
    """The first and the last element of rows: of the first ones, the last ones, and some between."""
    some = {*range(min(rows, 60)), *range(max(0, rows - 60), rows), *range(0, rows, max(1, rows // 500))}
    starts = {elements_before(row, least, growth, rows) for row in some}
    total = elements_before(rows, least, growth, rows)
    assert total <= LARGEST
    return sorted(k for start in starts for k in (start - 1, start, start + 1) if 0 <= k < total)


def found(least: int, growth: int, rows: int, known: bool) -> tuple[list[tuple[int, int]], list[int]]:
    """The places of elements at the ends of rows, in compiled code, and the numbers of these elements."""
    b = B()
    params, (numbers, shortest, count), inputs = arguments(b, ("int", 1), ("int", 0), ("int", 0))

    def made(code: str) -> Var:
        def body(c: B, i: Var) -> Var:
            return c.op(code, c.load(numbers, i), least if known else shortest, growth, count)

        return b.genarray("int", [params[0]], [b.partition([0], [params[0]], body)], complete=True)

    k = np.array(ends(least, growth, rows), np.int32)
    row, column = compiled(unit(b, params, inputs, [made("row"), made("column")])).call((k, least, rows))
    return list(zip(row.tolist(), column.tolist())), k.tolist()


@pytest.mark.parametrize("known", [True, False], ids=["a known shortest row", "any shortest row"])
def test_rows_and_columns(known: bool) -> None:
    for shape in SHAPES:
        places, numbers = found(*shape, known)
        assert places == [place_in_rows(k, *shape) for k in numbers], shape


def test_counting() -> None:
    """What is counted is right, row by row."""
    for growth in (1, -1, 2, -3):
        for least in range(4):
            for rows in range(1, 8):
                lengths = [least + abs(growth) * i for i in range(rows)][:: 1 if growth > 0 else -1]
                places = [(i, j) for i, length in enumerate(lengths) for j in range(length)]
                assert [place_in_rows(k, least, growth, rows) for k in range(len(places))] == places


def test_numbers_that_no_element_has_have_some_row() -> None:
    for k in (-5, 10**6, -(2**31), LARGEST):
        for rows in (-3, 0, 1, 9):
            assert 0 <= place_in_rows(k, 1, 1, rows)[0] <= max(0, rows - 1)


def test_constants_are_folded_and_each_machine_has_both() -> None:
    b = B()
    made = optimise(unit(b, [], (), [b.op("row", 13, 1, 1, 9), b.op("column", 13, 1, 1, 9)]))
    assert made.functions[0].body.results == (integer(4), integer(3))
    assert set(ROWS) & set(DEVICE_ROWS) >= PLACES
