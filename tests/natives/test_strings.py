"""String and StringArray."""

import ctypes
import ctypes.util

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacpy.interp.errors import Fault
from sacpy.interp.natives import find
from sacpy.interp.natives.string_arrays import StringArray
from sacpy.interp.world import World

WORLD = World.captured()
LIBC = ctypes.CDLL(ctypes.util.find_library("c") or "libc.so.6")
LIBC.strtod.restype = ctypes.c_double
LIBC.strtol.restype = ctypes.c_long


def call(name, *args, **keywords):
    return find(f"String::{name}")(WORLD, *args, **keywords)


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("strtake/2", (b"abc", 0), b""),
        ("strtake/2", (b"abc", 3), b"abc"),
        ("strdrop/2", (b"abc", 3), b""),
        ("strext/3", (b"abcdef", 2, 3), b"cde"),
        ("strext/3", (b"abc", 1, 99), b"bc"),
        ("strext/3", (b"abc", 1, -1), b""),
        ("strins/3", (b"ad", 1, b"bc"), b"abcd"),
        ("strins/3", (b"ab", 2, b"c"), b"abc"),
        ("strovwt/3", (b"abcd", 1, b"XY"), b"aXYd"),
        ("strovwt/3", (b"abcd", 3, b"XY"), b"abcXY"),
        ("strmod/3", (b"abc", 1, 88), b"aXc"),
        ("strncat/3", (b"a", b"bcd", 2), b"abc"),
        ("strncat/3", (b"a", b"b", 9), b"ab"),
        ("strsel/2", (b"abc", 2), 99),
        ("strchr/2", (b"hello", 108), 2),
        ("strrchr/2", (b"hello", 108), 3),
        ("strchr/2", (b"hello", 122), -1),
        ("strstr/2", (b"hello", b"lo"), 3),
        ("strstr/2", (b"hello", b"x"), -1),
        ("strspn/2", (b"aab", b"a"), 2),
        ("strcspn/2", (b"aab", b"b"), 2),
        ("strcspn/2", (b"", b"b"), 0),
        ("strtok/2", (b"  one two", b" "), (b"one", b" two")),
        ("strtok/2", (b"  ", b" "), (b"", b"")),
        ("strtok/2", (b"abc", b""), (b"abc", b"")),
        ("trim/1", (b" \t a b\n",), b"a b"),
        ("chomp/1", (b"a \r\n\n",), b"a "),
        ("ltrim/1", (b"  a ",), b"a "),
        ("rtrim/1", (b"  a ",), b"  a"),
        ("strcasecmp/2", (b"ABC", b"abc"), 0),
        ("strncmp/3", (b"abX", b"abY", 2), 0),
        ("strcmp/2", (b"", b""), 0),
        ("+/2", (b"a", b"b"), b"ab"),
        ("==/2", (b"a", b"a"), True),
        ("</2", (b"a", b"b"), True),
        ("toi/1", (b" 0x1f",), 31),
        ("toi/1", (b"010",), 8),
        ("toi/1", (b"x",), 0),
        ("tod/1", (b"1.5e3x",), 1500.0),
        ("strtoi/2", (b"ff rest", 16), (255, b" rest")),
        ("strtoi/2", (b"zz", 10), (0, b"zz")),
        ("strtod/1", (b" 2.5abc",), (2.5, b"abc")),
        ("isdigit/1", (b"123",), True),
        ("isdigit/1", (b"12a",), False),
        ("isdigit/1", (b"",), False),
        ("ispunct/1", (b"!?",), True),
        ("toupper/1", (b"aB\xe4",), b"AB\xe4"),
        ("sscanf_str/2", (b"key=value", b"key=%s"), b"value"),
    ],
)
def test_string_functions(name, args, expected):
    assert call(name, *args) == expected


def test_comparison_has_the_sign_of_the_first_difference():
    assert call("strcmp/2", b"a", b"b") < 0 < call("strcmp/2", b"b", b"a")
    assert call("strcmp/2", b"ab", b"a") > 0
    assert call("strcmp/2", b"\xff", b"a") > 0


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("strsel/2", (b"abc", 3)),
        ("strsel/2", (b"abc", -1)),
        ("strsel/2", (b"", 0)),
        ("strtake/2", (b"abc", 4)),
        ("strdrop/2", (b"abc", -1)),
        ("strmod/3", (b"", 0, 65)),
        ("strext/3", (b"a", 1, 1)),
    ],
)
def test_positions_outside_of_the_string(name, args):
    with pytest.raises(Fault) as caught:
        call(name, *args)
    assert caught.value.code == "E0655"


@given(st.text("0123456789+-.eExXabn \t", max_size=14).map(str.encode))
def test_numbers_in_strings_agree_with_c(text):
    end = ctypes.c_char_p()
    value = LIBC.strtod(text, ctypes.byref(end))
    assert call("strtod/1", text) == (value, end.value) or value != value
    for base in (10, 16, 8, 36):
        number = LIBC.strtol(text, ctypes.byref(end), base)
        assert call("strtoi/2", text, base) == ((number + 2**31) % 2**32 - 2**31, end.value)


def test_characters_to_strings_and_back():
    chars = call("tochar/1", b"hi")
    assert chars.dtype == np.uint8 and chars.flags.writeable
    assert call("to_string/1", chars) == b"hi"
    assert call("to_string/2", chars, 1) == b"h"
    assert call("to_string/1", np.array([65, 0, 66], np.uint8)) == b"A"
    assert call("to_string/1", np.zeros(0, np.uint8)) == b""


def test_numbers_to_strings():
    assert call("tos/1", 5, bases=("int",)) == b"5"
    assert call("tos/1", 0.1, bases=("double",)) == b"0.1"
    assert call("tos/1", True, bases=("bool",)) == b"true"
    assert call("tos/1", np.array([1, 2], np.int32), bases=("int",)) == b"[\n  1  2]\n"


def test_formatting_into_a_string_and_scanning_one():
    assert call("sprintf/1...", b"%03d", 7, bases=("String::string", "int")) == b"007"
    assert call("sscanf/2...", b"3 4.5", b"%d %lf", result_bases=("int", "double")) == (2, 3, 4.5)


def test_arrays_of_strings():
    def array(name, *args):
        return find(f"StringArray::{name}")(WORLD, *args)

    empty = array("genarray/2", np.array([2, 2], np.int32), array("to_stringArray/1", b""))
    one = array("modarray/3", empty, np.array([1, 0], np.int32), array("to_stringArray/1", b"x"))
    assert one == StringArray((2, 2), (b"", b"", b"x", b""))
    assert array("sel/2", np.array([1], np.int32), one) == StringArray((2,), (b"x", b""))
    assert array("to_string/1", array("sel/2", np.array([1, 0], np.int32), one)) == b"x"
    assert array("indexOf/2", b"x", one).tolist() == [1, 0]
    assert array("in/2", b"y", one) is False
    assert array("++/2", one, one).shape == (4, 2)
    assert array("==/2", one, empty).tolist() == [[True, True], [False, True]]
    with pytest.raises(Fault):
        array("sel/2", np.array([2], np.int32), one)
    with pytest.raises(Fault):
        array("to_string/1", one)
