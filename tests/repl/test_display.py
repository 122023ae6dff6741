"""Values as the prompt shows them: corners."""

import re
import tracemalloc

import numpy as np
import pytest

from sacpy.lang.elaborate.usertypes import BUILTINS, STRING, BaseType, struct, wrap
from sacpy.repl.display import show
from sacpy.repl.page import Page

DOUBLE, INT, CHAR = BUILTINS["double"], BUILTINS["int"], BUILTINS["char"]
COMPLEX = wrap("C::complex", "typedef", DOUBLE, (2,))
LARGE_CELL = wrap("C::table", "typedef", INT, (4, 5))


def numbers(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=np.int32).reshape(shape)


@pytest.mark.parametrize(
    ("type", "value", "text"),
    [
        (DOUBLE, float("nan"), "double nan"),
        (DOUBLE, 1 / 3, "double 0.3333333333333333"),
        (DOUBLE, np.array([np.nan, np.inf, -0.0]), "double[3] [nan, inf, -0.0]"),
        (DOUBLE, np.array([1e300, 1.0]), "double[2] [1e+300, 1.0]"),
        (DOUBLE, np.zeros((0, 3)), "double[0,3] []"),
        (DOUBLE, np.array([[1.5, 10.25], [1.125, 2.0]]), "double[2,2]\n  1.5    10.25\n  1.125   2.0"),
        (DOUBLE, np.array([[1.5, np.nan], [1e300, -0.0]]), "double[2,2]\n     1.5   nan\n  1e+300  -0.0"),
        (INT, numbers(2, 2, 2), "int[2,2,2]\n[0,.,.]\n  0  1\n  2  3\n[1,.,.]\n  4  5\n  6  7"),
        (BUILTINS["longlong"], -(2**63), "longlong -9223372036854775808"),
        (BUILTINS["bool"], np.array([[True], [False]]), "bool[2,1]\n   true\n  false"),
        (CHAR, np.frombuffer(b"a\n\xff", np.uint8), 'char[3] "a\\n\\377"'),
        (CHAR, np.frombuffer(b"", np.uint8), 'char[0] ""'),
        (CHAR, np.frombuffer(b"abcd", np.uint8).reshape(2, 2), 'char[2,2]\n  "ab"\n  "cd"'),
        (CHAR, np.frombuffer(b"abcd", np.uint8).reshape(2, 1, 2), 'char[2,1,2]\n[0,.]\n  "ab"\n[1,.]\n  "cd"'),
        (STRING, np.array([b"a", b"bc"], object), 'string[2] ["a", "bc"]'),
        (STRING, np.array(["grün".encode(), b"\xff\x80a\n"], object), 'string[2] ["grün", "\\377\\200a\\n"]'),
        (
            STRING,
            np.array([[b"a", "日本".encode()], [b"xyz", "e\u0301".encode()]], object),
            'string[2,2]\n    "a"  "日本"\n  "xyz"     "e\u0301"',
        ),
        (COMPLEX, np.zeros((0, 2)), "complex[0] []"),
        (COMPLEX, np.array([0.0, 1.0]), "complex [0.0, 1.0]"),
        (COMPLEX, np.array([[0.0, 1.0], [2.5, -1.0]]), "complex[2] [[0.0, 1.0], [2.5, -1.0]]"),
        (
            LARGE_CELL,
            numbers(1, 4, 5),
            "table[1]\n[0,.,.]\n   0   1   2   3   4\n   5   6   7   8   9\n  10  11  12  13  14\n  15  16  17  18  19",
        ),
    ],
)
def test_value(type: BaseType, value: object, text: str) -> None:
    assert show(type, (value,)) == text


def test_array_of_structs_shows_its_fields_as_arrays() -> None:
    point = struct("M::P", (("x", DOUBLE, ()), ("c", COMPLEX, ())))
    assert (
        show(point, (np.array([1.0, 2.0]), np.zeros((2, 2))))
        == "struct P[2]\n  .x double[2] [1.0, 2.0]\n  .c complex[2] [[0.0, 0.0], [0.0, 0.0]]"
    )


def test_struct_without_fields() -> None:
    assert show(struct("M::E", ()), ()) == "struct E"


def test_a_long_vector_says_where_its_lines_begin_and_what_is_left_out() -> None:
    assert (
        show(INT, (numbers(12),), Page(32, 4))
        == "int[12]\n [0]   0   1   2   3   4\n [5]   5   6   7   8   9\n[10]  10  11"
    )
    assert show(INT, (numbers(100),), Page(32, 4)).split("\n")[1:] == [
        " [0]   0   1   2   3   4",
        " [5]   5   6   7   8   9",
        "[...]  85 more",
        "[95]  95  96  97  98  99",
    ]


def test_a_matrix_that_is_too_large_shows_its_corners() -> None:
    assert show(INT, (numbers(50, 50),), Page(32, 4)).split("\n") == [
        "int[50,50]",
        "     0     1  ...    48    49",
        "    50    51  ...    98    99",
        "  ... 47 more rows",
        "  2450  2451  ...  2498  2499",
    ]


def test_slices_that_do_not_fit_are_counted() -> None:
    text = show(INT, (numbers(10, 2, 2),), Page(40, 6))
    assert text == "int[10,2,2]\n[0,.,.]\n  0  1\n  2  3\n[...] 8 more slices\n[9,.,.]\n  36  37\n  38  39"


@pytest.mark.parametrize(
    "shape", [(5,), (3, 200), (200, 3), (4, 30, 30), (2, 3, 4, 5, 6), (1, 1), (10**6,), (3, 1, 10**5)]
)
@pytest.mark.parametrize(("columns", "lines"), [(40, 10), (80, 24), (200, 50)])
def test_every_line_fits_the_page(shape: tuple[int, ...], columns: int, lines: int) -> None:
    for value in (numbers(*shape), numbers(*shape) / 7.0):
        text = show(DOUBLE if value.dtype.kind == "f" else INT, (value,), Page(columns, lines)).split("\n")
        assert max(map(len, text)) <= columns
        # the type, and of higher ranks the lines that begin a slice or count those left out
        assert len(text) <= lines + 6


def test_colour_changes_nothing_but_colour() -> None:
    value = (numbers(40, 3, 3),)
    coloured = show(INT, value, Page(40, 10, colour=True))
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[\d*m", "", coloured) == show(INT, value, Page(40, 10))


def test_of_large_arrays_only_what_is_shown_is_touched() -> None:
    array = np.arange(10**7, dtype=np.int32)
    tracemalloc.start()
    try:
        assert show(INT, (array,)).endswith(" 9999998  9999999")
        assert tracemalloc.get_traced_memory()[1] < 1_000_000  # bytes, of an array of 40 MB
    finally:
        tracemalloc.stop()


def test_a_long_string_is_cut() -> None:
    text = show(STRING, (b"x" * 10**6,), Page(40, 4))
    assert len(text) < 200 and text.endswith("... (1000000 characters)")
    assert show(CHAR, (np.full(10**6, 120, np.uint8),), Page(40, 4)).endswith("... (1000000 characters)")
