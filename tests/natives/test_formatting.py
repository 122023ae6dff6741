"""printf, compared with the C library's own."""

import ctypes
import ctypes.util
import math
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacpy.interp.errors import Fault
from sacpy.interp.natives.formatting import plan_of, sprintf, sprintf_many
from sacpy.lang.printf_formats import STRING

LIBC = ctypes.CDLL(ctypes.util.find_library("c") or "libc.so.6")
C_TYPES = {
    "byte": ctypes.c_int, "short": ctypes.c_int, "int": ctypes.c_int, "long": ctypes.c_long,
    "longlong": ctypes.c_longlong, "ubyte": ctypes.c_int, "ushort": ctypes.c_int,
    "uint": ctypes.c_uint, "ulong": ctypes.c_ulong, "ulonglong": ctypes.c_ulonglong, "double": ctypes.c_double,
    "float": ctypes.c_double, "char": ctypes.c_int, "bool": ctypes.c_int,
    STRING: ctypes.c_char_p,
}  # fmt: skip
RANGES = {
    "byte": (-128, 127), "short": (-(2**15), 2**15 - 1), "int": (-(2**31), 2**31 - 1), "long": (-(2**63), 2**63 - 1),
    "longlong": (-(2**63), 2**63 - 1), "ubyte": (0, 255),
    "ushort": (0, 2**16 - 1), "uint": (0, 2**32 - 1), "ulong": (0, 2**64 - 1), "ulonglong": (0, 2**64 - 1),
}  # fmt: skip
LENGTHS = {
    "byte": ("hh", "h", ""), "short": ("h", ""), "int": ("", "h", "hh"), "long": ("l", "z", "j", "t"),
    "longlong": ("ll",), "ubyte": ("hh", "h", ""), "ushort": ("h", ""),
    "uint": ("", "h", "hh"), "ulong": ("l",), "ulonglong": ("ll",),
}  # fmt: skip


def c_printf(fmt: bytes, args: tuple[object, ...], bases: tuple[str, ...]) -> bytes:
    buffer = ctypes.create_string_buffer(5000)
    LIBC.snprintf(buffer, ctypes.c_size_t(5000), fmt, *(C_TYPES[b](a) for a, b in zip(args, bases)))
    return buffer.value


def agree(fmt: bytes, *pairs: tuple[object, str]) -> None:
    args, bases = tuple(a for a, _ in pairs), tuple(b for _, b in pairs)
    assert sprintf(fmt, args, bases) == c_printf(fmt, args, bases), (fmt, args)


flags = st.text("-+ #0", max_size=4)
width = st.one_of(st.just(""), st.integers(1, 30).map(str))
precision = st.one_of(st.just(""), st.just("."), st.integers(0, 40).map(lambda n: f".{n}"))


@settings(max_examples=600, deadline=None)
@given(st.data(), st.sampled_from(sorted(RANGES)), flags, width, precision, st.sampled_from("diuxXo"))
def test_integer_conversions_agree_with_c(data, base, flag, wide, precise, letter):
    value = data.draw(st.one_of(st.integers(*RANGES[base]), st.sampled_from((0, 1, RANGES[base][0], RANGES[base][1]))))
    length = data.draw(st.sampled_from(LENGTHS[base]))
    agree(f"<%{flag}{wide}{precise}{length}{letter}>".encode(), (value, base))


@settings(max_examples=1000, deadline=None)
@given(st.floats(allow_nan=False), flags, width, precision, st.sampled_from("fFeEgGaA"), st.sampled_from(("", "l")))
def test_real_conversions_agree_with_c(value, flag, wide, precise, letter, length):
    if letter in "gG":
        flag = flag.replace("#", "")  # glibc loses zeros where rounding carries into a new digit: %#g of 999999.5
    agree(f"<%{flag}{wide}{precise}{length}{letter}>".encode(), (value, "double"))


@pytest.mark.parametrize(
    "value",
    [
        0.0,
        -0.0,
        0.5,
        1.5,
        2.5,
        1e15,
        123456.5,
        1e-5,
        1e16,
        5e-324,
        2.2250738585072014e-308,
        1.7976931348623157e308,
        0.1,
        1 / 3,
        math.inf,
        -math.inf,
        999998.5,
    ],
)
@pytest.mark.parametrize(
    "fmt",
    [
        b"%g",
        b"%.0f",
        b"%#.0f",
        b"%.64f",
        b"%.14E",
        b"%#g",
        b"%a",
        b"%.0a",
        b"%#.1a",
        b"%.20a",
        b"%012.3e",
        b"%-12f|",
        b"%+g",
        b"% .3G",
        b"%08.2a",
        b"%010f",
    ],
)
def test_hard_reals_agree_with_c(value, fmt):
    agree(fmt, (value, "double"))


@given(st.integers(0, 2**64 - 1), st.integers(0, 14))
def test_hexadecimal_rounding_agrees_with_c(bits, places):
    value = struct.unpack("d", struct.pack("Q", bits))[0]
    if math.isfinite(value):
        agree(b"%%.%da" % places, (value, "double"))


@given(
    st.binary(max_size=12).map(lambda b: b.replace(b"\0", b"x")),
    flags.map(lambda f: f.replace("#", "").replace("0", "")),
    width,
    precision,
)
def test_strings_agree_with_c(text, flag, wide, precise):
    agree(f"<%{flag}{wide}{precise}s>".encode(), (text, STRING))


def test_several_arguments_stars_and_percent_signs():
    agree(
        b"%d%%|%-*d|%*d|%.*f|%s %c\n",
        (7, "int"),
        (5, "int"),
        (42, "int"),
        (-6, "int"),
        (42, "int"),
        (-1, "int"),
        (2.5, "double"),
        (b"hi", STRING),
        (65, "char"),
    )
    agree(b"100%\n")
    agree(b"%5c|%-5c|", (65, "char"), (66, "int"))
    agree(b"%hhd %hd", (300, "int"), (70000, "int"))


def test_arguments_left_over_are_ignored():
    agree(b"%d", (1, "int"), (2, "int"))
    agree(b"hello", (2, "int"))


def test_nan_prints_without_a_sign():
    negative = struct.unpack("d", struct.pack("Q", 0xFFF8000000000000))[0]
    assert (
        sprintf(b"%f|%6.1e|%05g|%F", (math.nan, negative, negative, math.nan), ("double",) * 4)
        == b"nan|   nan|  nan|NAN"
    )


def test_other_spellings_of_long_long():
    """Not compared with C: libraries that register printf modifiers of their own (libquadmath, through NumPy) break
    these two in glibc."""
    assert (
        sprintf(b"%Ld %qd %Lu", (2**40, -(2**40), 2**40), ("longlong",) * 3)
        == b"1099511627776 -1099511627776 1099511627776"
    )


def test_lenient_about_the_width_of_integers_but_never_wrong():
    assert sprintf(b"%d", (2**40,), ("long",)) == b"1099511627776"
    assert sprintf(b"%ld", (-1,), ("int",)) == b"-1"
    assert sprintf(b"%d %d", (True, 65), ("bool", "char")) == b"1 65"
    assert sprintf(b"%f", (0.5,), ("float",)) == b"0.500000"


def test_formats_of_common_use_take_the_short_way():
    for fmt, base in ((b"%5d ", "int"), (b"%ld", "long"), (b"%8.3lf", "double"), (b"%s\n", STRING), (b"%c", "char")):
        assert plan_of(fmt, (base,), "printf").python is not None


@pytest.mark.parametrize(
    ("fmt", "args", "bases", "code", "words"),
    [
        (b"x = %d\n", (1.5,), ("double",), "E0652", ("`%d`", "byte 5", "a double")),
        (b"%f", (1,), ("int",), "E0652", ("`%f`", "an int")),
        (b"%s", (1,), ("int",), "E0652", ("`%s`",)),
        (b"%d %d", (1,), ("int",), "E0653", ("`%d`", "byte 4", "1 argument")),
        (b"%y", (2,), ("int",), "E0654", ("`%y`",)),
        (b"%", (), (), "E0654", ("lone %",)),
        (b"%*d", (2.0, 1), ("double", "int"), "E0652", ("width",)),
        (b"%d", (b"",), ("Complex::thing",), "E0652", ("a thing",)),
    ],
)
def test_a_conversion_that_does_not_fit_is_a_fault_that_says_which(fmt, args, bases, code, words):
    with pytest.raises(Fault) as caught:
        sprintf(fmt, args, bases)
    assert caught.value.code == code
    for word in words:
        assert word in caught.value.message


def test_the_fault_names_the_conversion_that_would_fit():
    with pytest.raises(Fault) as caught:
        sprintf(b"%d", (1.5,), ("double",))
    assert "%g" in caught.value.help


def test_an_array_is_not_a_scalar():
    import numpy as np

    with pytest.raises(Fault, match=r"shape \[2,3\]"):
        sprintf(b"%d", (np.zeros((2, 3), np.int32),), ("int",))


def test_many_values_through_one_format():
    assert sprintf_many(b"%2d ", [1, 22, 333], "int") == [b" 1 ", b"22 ", b"333 "]
    assert sprintf_many(b"%06.1f", [1.5, math.inf, math.nan], "double") == [b"0001.5", b"   inf", b"   nan"]
    assert sprintf_many(b"%x ", [-1], "byte") == [b"ffffffff "]
