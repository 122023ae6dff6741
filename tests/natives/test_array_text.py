"""How arrays print."""

from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacpy.interp.errors import Fault
from sacpy.interp.natives import find
from sacpy.interp.natives.array_text import DEFAULT, array_text, show_text
from sacpy.interp.world import World


def printed(name, *args, bases):
    world = World.captured()
    find(name)(world, *args, bases=bases)
    return world.out()


def counted(shape):
    return b"".join(array_text(b"%2d ", "int", shape, list(range(prod(shape)))))


def test_vectors_stand_in_angle_brackets():
    assert counted((3,)) == b"Dimension:  1\nShape    : <  3>\n< 0  1  2 > \n"


def test_matrices_stand_between_bars_with_an_empty_line_at_the_end():
    assert counted((2, 3)) == b"Dimension:  2\nShape    : <  2,  3>\n| 0  1  2 | \n| 3  4  5 | \n\n"


def test_of_three_axes_the_middle_one_goes_across():
    assert counted((2, 2, 2)) == b"Dimension:  3\nShape    : <  2,  2,  2>\n< 0  1 > < 2  3 > \n< 4  5 > < 6  7 > \n\n"


def test_of_four_axes_the_outer_two_take_turns():
    rows = b"| 0  1 |  | 4  5 |  \n| 2  3 |  | 6  7 |  \n\n| 8  9 |  |12 13 |  \n|10 11 |  |14 15 |  \n\n\n"
    assert counted((2, 2, 2, 2)) == b"Dimension:  4\nShape    : <  2,  2,  2,  2>\n" + rows


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3), (2, 0, 4)])
def test_empty_arrays_have_no_elements(shape):
    assert counted(shape).endswith(b">\n<>\n")


def test_an_array_of_rank_zero_prints_its_element_in_the_array_format():
    assert b"".join(array_text(b"%2d ", "int", (), [7])) == b"Dimension:  0\nShape    : <>\n 7 \n"


@given(st.lists(st.integers(1, 3), min_size=1, max_size=6).map(tuple))
def test_every_element_prints_once_in_rows_of_the_last_axis(shape):
    text = counted(shape).split(b"\n", 2)[2].decode()
    numbers = [int(word) for word in text.replace("<", " ").replace(">", " ").replace("|", " ").split()]
    assert sorted(numbers) == list(range(prod(shape)))
    rows = [tuple(numbers[at : at + shape[-1]]) for at in range(0, len(numbers), shape[-1])]
    assert all(row == tuple(range(row[0], row[0] + shape[-1])) and row[0] % shape[-1] == 0 for row in rows)


@pytest.mark.parametrize(
    ("base", "value", "expected"),
    [
        ("bool", np.array([True, False]), b"< 1  0 > "),
        ("double", np.array([0.5, np.nan]), b"<5.000000e-01 nan > "),
        ("float", np.array([1.5], np.float32), b"<1.500000 > "),
        ("char", np.frombuffer(b"hi", np.uint8), b"<hi> "),
        ("byte", np.array([-1], np.int8), b"<-1 > "),
        ("ubyte", np.array([200], np.uint8), b"<200 > "),
        ("ulong", np.array([2**64 - 1], np.uint64), b"<18446744073709551615 > "),
    ],
)
def test_elements_of_each_type(base, value, expected):
    assert printed("ArrayIO::print/1", value, bases=(base,)).splitlines()[2] == expected


def test_a_format_of_the_programs_own():
    assert (
        printed("ArrayIO::print/2", b"%5.2f;", np.array([1.0, 2.0]), bases=("String::string", "double")).splitlines()[2]
        == b"< 1.00; 2.00;> "
    )
    with pytest.raises(Fault, match="`%d`"):
        printed("ArrayIO::print/2", b"%d", np.array([1.0]), bases=("String::string", "double"))


@pytest.mark.parametrize(
    ("base", "value", "expected"),
    [
        ("int", -3, b" -3"),
        ("double", 0.1, b" 0.1"),
        ("bool", True, b" true"),
        ("char", 97, b" 'a'"),
        ("String::string", b"hi", b" hi"),
        ("byte", -1, b" ffffffff"),
        ("double", 1e300 * 1e10, b" inf"),
    ],
)
def test_scalars_have_formats_of_their_own(base, value, expected):
    assert printed("ScalarIO::print/1", value, bases=(base,)) == b"Dimension:  0\nShape    : < >\n" + expected + b"\n"


def test_scalars_with_a_mode_or_a_precision():
    assert printed("ScalarIO::print/2", 1 / 3, 3, bases=("double", "int")).endswith(b" 0.333\n")
    assert printed("ScalarIO::print/2", False, 1, bases=("bool", "int")).endswith(b" f\n")


def test_complex_numbers():
    pair = np.array([1.5, -2.0])
    assert printed_complex(pair) == b"(1.5,-2)"
    assert printed_complex(pair, 1) == b"1.5+-2i"
    assert printed_complex(np.array([[1.0, 2.0], [3.0, 4.0]])) == b"Dimension: 1\nShape    : < 2>\n<(1, 2) (3, 4) > \n"


def printed_complex(*args):
    world = World.captured()
    find("ComplexIO::print/1")(world, *args)
    return world.out()


def test_show_prints_rows_alone():
    assert b"".join(show_text((2, 2, 2), b"abcdefgh")) == b"ab\ncd\n\nef\ngh\n"
    assert b"".join(show_text((0,), b"")) == b""
    assert b"".join(show_text((3,), b"abc")) == b"abc\n"


def test_every_built_in_type_has_a_format():
    from sacpy.lang.types import BUILTIN

    assert set(DEFAULT) == set(BUILTIN)


def test_large_arrays_print_fast_enough():
    import time

    start = time.perf_counter()
    b"".join(array_text(b"%e ", "double", (100, 1000), np.random.default_rng(1).random(100_000).tolist()))
    assert time.perf_counter() - start < 2.0
