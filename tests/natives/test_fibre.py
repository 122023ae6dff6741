"""FibreIO: arrays that say their own shape."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sacpy.interp.errors import Fault
from sacpy.interp.natives import find
from sacpy.interp.natives.fibre import fibre_text
from sacpy.interp.natives.string_arrays import StringArray
from sacpy.interp.world import World


def read(name, text):
    return find(f"FibreIO::{name}ArrayStr/1")(World.captured(), text)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("FibreScanInt", b"[0,2: 1 -2 +3]", [1, -2, 3]),
        ("FibreScanInt", b"[5,6:[1,1:7][1,1:8]]", [[7], [8]]),
        ("FibreScanInt", b"# head\n[0,1: 1 # one\n 2i]", [1, 2]),
        ("FibreScanInt", b"[1,0: ]", []),
        ("FibreScanInt", b" 42 ", 42),
        ("FibreScanDouble", b"[0,4: 1 2.5 1d3 -2.5e-1 3.]", [1, 2.5, 1000, -0.25, 3]),
        ("FibreScanDouble", b"1.5D2", 150.0),
        ("FibreScanLong", b"[0,1: 1l 9999999999L]", [1, 9999999999]),
        ("FibreScanUbyte", b"[0,1: 1ub 255UB]", [1, 255]),
        ("FibreScanFloat", b"[0,0: 0.1]", [np.float32(0.1)]),
    ],
)
def test_reading(name, text, expected):
    value = read(name, text)
    assert np.array_equal(value, np.array(expected))
    assert np.shape(value) == np.shape(expected)


def test_reading_strings():
    assert read("FibreScanString", b'[0,1: "a b" "c#d" ]') == StringArray((2,), (b"a b", b"c#d"))


def test_reading_goes_on_behind_what_was_read():
    world = World.captured(b"[0,0: 1] [0,1: 2 3]\n7 rest")
    scan = find("FibreIO::FibreScanIntArray/0")
    assert scan(world).tolist() == [1]
    assert scan(world).tolist() == [2, 3]
    assert find("FibreIO::FibreScanInt/1")(world, world.stdin)[0] == 7
    assert world.stdin.readline(9) == b" rest"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "the text ends"),
        (b"[0,1: 1]", "1 element where the bounds announce 2"),
        (b"[0,0: 1 2]", "more than the 1 elements"),
        (b"[0,1: 1 x]", "`x` is not an integer"),
        (b"[0,1: 1 2.5]", "`2.5` is not an integer"),
        (b"[0,1 1 2]", "`1` where `:` is expected"),
        (b"[0;1: 1 2]", "`;` where `,` is expected"),
        (b"[5,0: 1]", "leave less than nothing"),
        (b"[0,1: [0,0: 1]]", "1 sub-arrays where the bounds announce 2"),
        (b"[0,1: [0,0: 1] [0,1: 1 2]]", "extent 2 among sub-arrays of extent 1"),
        (b"[0,1: [0,0: 1] 5]", "1 sub-arrays"),
        (b"[0,1: [0,0: 1] [0,0: [0,0: 1]]]", "more axes"),
        (b"[0,0: 1, 2]", "`1,` is not an integer"),
        (b"[0,1: 1 [0,0: 2]]", "a sub-array among the elements"),
        (b"[a,1: 1]", "`a` where a bound is expected"),
        (b"[0,1: 1 2", "the text ends where `]` is expected"),
    ],
)
def test_malformed_text_is_a_fault_with_a_place(text, words):
    with pytest.raises(Fault) as caught:
        read("FibreScanInt", text)
    assert caught.value.code == "E0657"
    assert words in caught.value.message
    assert "byte" in caught.value.message


def test_the_line_is_counted():
    with pytest.raises(Fault, match="line 3, byte 11"):
        read("FibreScanInt", b"[0,2:\n 1\n x\n2]")


def test_writing():
    assert (
        b"".join(fibre_text(np.array([[1, 2], [3, 4]], np.int32), "int"))
        == b"[ 0,1:\n [ 0,1:\n  1\n  2\n ]\n [ 0,1:\n  3\n  4\n ]\n]\n"
    )
    assert b"".join(fibre_text(np.array([1.5, -1.5]), "double")) == b"[ 0,1:\n    1.500000\n   -1.500000\n]\n"
    assert b"".join(fibre_text(np.zeros(0, np.int32), "int")) == b"[ 0,-1:\n]\n"
    assert b"".join(fibre_text(2.5, "double")) == b"2.5000000000000000\n"
    assert b"".join(fibre_text(7, "int")) == b"7\n"
    assert b"".join(fibre_text(StringArray((1,), (b"a b",)), "StringArray::stringArray")) == b'[ 0,0:\n "a b"\n]\n'


@given(arrays.arrays(np.int32, arrays.array_shapes(max_dims=4, max_side=3), elements=st.integers(-(2**31), 2**31 - 1)))
def test_what_is_written_reads_back(array):
    back = read("FibreScanInt", b"".join(fibre_text(array, "int")))
    assert back.shape == array.shape and np.array_equal(back, array)


def test_large_rows_read_fast_enough():
    import time

    start = time.perf_counter()
    count = 200_000
    assert read("FibreScanDouble", b"[0,%d: " % (count - 1) + b"1.5 " * count + b"]").sum() == 1.5 * count
    assert time.perf_counter() - start < 3.0
