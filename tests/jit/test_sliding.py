"""Windows that slide: rows of cells that share what they load are computed together, and give what they give one by
one, bit by bit, wherever rows, columns and chunks end."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from sacpy import Session
from sacpy.jit.analysis.contractions import contraction
from sacpy.jit.analysis.sliding import sliding as shared
from sacpy.jit.ir.graph import Let, Unit, WithLoop, statements
from sacpy.jit.schedule.tiles import ROWS
from tests.jit.graph_text import unit as parsed
from tests.jit.native_tools import agree_on

RNG = np.random.default_rng(3)

WINDOW = """
function f(int n, int m, {base}[n,m] x, int h, int l, {base}[h,l] w)
    int fits = FITS
    int rows = max fits, 0
    int room = sub m, l
    int columns = max room, 0
    {base}[rows,columns] r = with [rows,columns] disjoint complete
        genarray {base} default {zero}
        part [0,0] <= [i,j] < [rows,columns]
            int at = add! i, 1
            {base} sum = with
                fold from {zero} by ({base} acc), ({base} val)
                    {base} more = STEP acc, val
                    give more
                part [LOWER,0] <= [p,q] < [UPPER,l]
                    int row = ROW
                    int column = add! j, q
                    {base} a = load x[row,column]
                    int known = min p, 1
                    {base} b = load w[known,q]
                    {base} c = mul a, b
                    yield c
            RESULT
    return rows, columns, r
"""


def window(
    base: str,
    row: str = "add! at, p",
    ends: tuple[str, str] = ("0", "5"),
    step: str = "add",
    result: str = "yield sum",
    fits: str = "sub n, 6",
) -> Unit:
    text = WINDOW.format(base=base, zero="0.0:" + base if base in ("float", "double") else f"0:{base}")
    changes = (("ROW", row), ("LOWER", ends[0]), ("UPPER", ends[1]), ("STEP", step), ("RESULT", result), ("FITS", fits))
    for name, new in changes:
        text = text.replace(name, new)
    return parsed(text)


def sliding(u: Unit) -> list[bool]:
    """Of the contractions of a unit, whether they slide."""
    loops = (s.rhs for s in statements(u.root.body) if isinstance(s, Let))
    parts = [contraction(p) for w in loops if isinstance(w, WithLoop) for p in w.partitions]
    return [bool(shared(c)) for c in parts if c is not None]


def given(dtype: str) -> list[list[np.ndarray]]:
    """Pictures and weights: rows that are no multiple of those of a tile, columns that end within a vector."""
    sizes = [(6 + rows, columns + 3) for rows in (0, 1, ROWS - 1, ROWS, 2 * ROWS + 1) for columns in (0, 15, 70)]
    return [
        [(9 * RNG.standard_normal(s)).astype("i8").astype(dtype) for s in (size, (2, 3))]
        for size in [*sizes, (0, 3), (3, 0), (6, 200)]
    ]


@pytest.mark.parametrize(("base", "dtype"), [("float", "f4"), ("double", "f8"), ("int", "i4")])
def test_rows_together_give_what_rows_one_by_one_do(base: str, dtype: str) -> None:
    u = window(base)
    assert sliding(u) == [True]
    many = given(dtype)
    if base != "int":
        many[-4][0].ravel()[::7] = np.nan
        many[-5][0].ravel()[::5] = -0.0
        many[-6][0].ravel()[::3] = np.inf
    agree_on(u, many)


def test_other_steps_and_what_a_cell_does_with_its_sum() -> None:
    for base, dtype, step, result in (
        ("float", "f4", "max", "yield sum"),
        ("double", "f8", "add", "int deep = add! at, j\n            double other = tod deep\n"
         "            double both = add sum, other\n            yield both"),
    ):  # fmt: skip
        u = window(base, ends=("1", "4"), step=step, result=result)
        assert sliding(u) == [True]
        agree_on(u, given(dtype)[5::3])


def test_windows_of_any_number_of_rows() -> None:
    """That need not be known: with as many as rows are together, one less, and few or none."""
    u = window("double", ends=("0", "h"), fits="sub n, h")
    assert sliding(u) == [True]
    sizes = [(height, height + rows) for height in (0, 1, ROWS - 2, ROWS - 1, ROWS, 9) for rows in (1, ROWS + 1)]
    agree_on(u, [[RNG.random((rows, 40)), RNG.random((height, 3))] for height, rows in sizes])


@pytest.mark.parametrize(
    ("row", "ends", "is_one"),
    [
        ("add! p, i", ("0", "6"), True),
        ("sub! at, p", ("0", "2"), False),  # the other way: rows share with the one before
        ("min at, p", ("0", "5"), False),
        ("add at, p", ("0", "5"), False),  # may wrap
        ("add! p, 0", ("0", "5"), False),  # the same rows for all
    ],
)
def test_which_windows_slide(row: str, ends: tuple[str, str], is_one: bool) -> None:
    assert sliding(window("double", row, ends)) == [is_one]


MANNERS = {
    "clamped": "max(min({i}, {n} - 1), 0)",
    "wrapped": "mod({i}, {n})",
    "reflected": "({i} < 0 ? -({i}) : {i} >= {n} ? 2 * {n} - 2 - ({i}) : {i})",
}


def test_interiors_of_windows_slide_whatever_is_at_the_border() -> None:
    """On one thread and on two, in order where sums must keep theirs."""
    made = "use Array: all;\n"
    for name, manner in MANNERS.items():
        row, column = (manner.format(i=f"({v} + {k} - 3)", n=n) for v, k, n in (("i", "p", "n"), ("j", "q", "m")))
        made += (
            f"float[n,m] {name}(float[n,m] x, float[7,7] w) {{ return {{ [i,j] -> sum({{ [p,q] -> "
            f"w[p,q] * x[{row}, {column}] | [p,q] < [7,7] }}) | [i,j] < [n,m] }}; }}\n"
        )
    sessions = [Session(target="cpu", threads=threads, strict_fp=True) for threads in (1, 2)]
    modules = [s.compile(made) for s in (Session(target="interp", strict_fp=True), *sessions)]
    weights = RNG.random((7, 7), np.float32)
    for name, (n, m) in product(MANNERS, ((7, 7), (19, 70))):
        picture = RNG.random((n, m), np.float32)
        first, *others = (getattr(module, name)(picture, weights) for module in modules)
        for other in others:
            assert np.array_equal(first, other), (name, n, m)
    for session in sessions:
        assert session.explain().count("rows together, as each loads what the next one does") >= len(MANNERS)


def test_planes_share_their_borders_rows_and_slide_inside() -> None:
    """Cells of more axes have the row in common with their ends, but for rows that a tile has together."""
    row, column = (
        MANNERS["clamped"].format(i=f"({v} + {k} - 3)", n=n) for v, k, n in (("i", "p", "n"), ("j", "q", "m"))
    )
    made = (
        "use Array: all;\nfloat[c,n,m] f(float[c,n,m] x, float[7,7] w) { return { [k,i,j] -> sum({ [p,q] -> "
        f"w[p,q] * x[k, {row}, {column}] | [p,q] < [7,7] }}) | [k,i,j] < [c,n,m] }}; }}\n"
    )
    weights, session = RNG.random((7, 7), np.float32), Session(target="cpu", strict_fp=True)
    interpreted, compiled = (s.compile(made) for s in (Session(target="interp", strict_fp=True), session))
    for shape in ((40, 9, 30), (33, 19, 70), (0, 9, 9)):
        picture = RNG.random(shape, np.float32)
        assert np.array_equal(interpreted.f(picture, weights), compiled.f(picture, weights)), shape
    text = session.explain()
    assert "these partitions run over the same rows" in text
    assert "rows together, as each loads what the next one does" in text
