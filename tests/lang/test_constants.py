"""Element-wise evaluation with C's semantics."""

from __future__ import annotations

import math
import struct

import pytest

from sacpy.lang.constants import BINARY, UNARY, Undefined, binary, convert, largest, smallest, to_float, unary, wrap
from sacpy.lang.types import BITS

MIN, MAX = -(2**31), 2**31 - 1


@pytest.mark.parametrize(
    ("op", "base", "a", "b", "expected"),
    [
        ("add", "int", MAX, 1, MIN),
        ("sub", "int", MIN, 1, MAX),
        ("mul", "int", 65536, 65536, 0),
        ("mul", "long", 2**62, 2, -(2**63)),
        ("add", "ubyte", 255, 1, 0),
        ("sub", "ulong", 0, 1, 2**64 - 1),
        ("add", "byte", 127, 1, -128),
        ("div", "int", -7, 2, -3),
        ("div", "int", 7, -2, -3),
        ("div", "int", MIN, -1, MIN),
        ("mod", "int", -7, 2, -1),
        ("mod", "int", 7, -2, 1),
        ("mod", "int", MIN, -1, 0),
        ("aplmod", "int", -7, 2, 1),
        ("aplmod", "int", 7, -2, -1),
        ("aplmod", "int", -7, 0, -7),
        ("shl", "int", 1, 31, MIN),
        ("shr", "int", -8, 1, -4),
        ("shr", "uint", 2**32 - 1, 31, 1),
        ("bitxor", "int", -1, 5, -6),
        ("div", "long", 2**62 + 1, 3, (2**62 + 1) // 3),
    ],
)
def test_integers(op: str, base: str, a: int, b: int, expected: int) -> None:
    assert binary(op, base, a, b) == expected


@pytest.mark.parametrize(
    ("op", "b", "kind"), [("div", 0, "division"), ("mod", 0, "division"), ("shl", 32, "shift"), ("shr", -1, "shift")]
)
def test_undefined(op: str, b: int, kind: str) -> None:
    with pytest.raises(Undefined) as error:
        binary(op, "int", 1, b)
    assert error.value.kind == kind


def test_real_division_by_zero() -> None:
    assert binary("div", "double", 1.0, 0.0) == math.inf
    assert binary("div", "double", 1.0, -0.0) == -math.inf
    assert binary("div", "double", -1.0, 0.0) == -math.inf
    assert math.isnan(float(binary("div", "double", 0.0, 0.0)))


def test_float_rounds_after_each_operation() -> None:
    assert binary("add", "float", 16777216.0, 1.0) == 16777216.0
    assert binary("mul", "float", 3e38, 10.0) == math.inf
    assert unary("reciproc", "float", 3.0) == struct.unpack("f", struct.pack("f", 1 / 3))[0]
    assert to_float(-1e300) == -math.inf


def test_nan_compares_as_in_c() -> None:
    nan = math.nan
    assert [binary(op, "double", nan, 1.0) for op in ("eq", "neq", "lt", "le", "gt", "ge")] == [
        False,
        True,
        False,
        False,
        False,
        False,
    ]
    assert binary("min", "double", nan, 1.0) == 1.0
    assert math.isnan(float(binary("min", "double", 1.0, nan)))
    assert math.isnan(float(binary("max", "double", 1.0, nan)))


@pytest.mark.parametrize(
    ("base", "value", "expected"),
    [
        ("int", 3e9, MIN),
        ("int", -2147483648.9, MIN),
        ("int", 2147483647.9, MAX),
        ("int", math.nan, MIN),
        ("long", 1e30, -(2**63)),
        ("uint", -1.0, 2**32 - 1),
        ("byte", 300.7, 44),
        ("short", 3e9, 0),
        ("ulong", 1e19, 10**19),
        ("ulong", 1e20, 2**63),
        ("int", 2**31, MIN),
        ("ubyte", -1, 255),
        ("char", 321, 65),
        ("bool", 0.5, True),
        ("bool", -0.0, False),
        ("float", 2**24 + 1, 2.0**24),
        ("float", 2**63 - 1, 2.0**63),
        ("float", -(2**24 + 3), -(2.0**24 + 4)),
        ("int", True, 1),
    ],
)
def test_conversions(base: str, value: float, expected: float) -> None:
    assert convert(base, value) == expected


def test_integers_become_floats_with_one_rounding() -> None:
    value = 2**54 + 2**30 + 1  # to 53 bits first it would be a tie, and round down
    assert convert("float", value) == float(2**54 + 2**31)


@pytest.mark.parametrize(
    ("op", "x", "expected"),
    [
        ("rint", 2.5, 2.0), ("rint", -0.3, -0.0), ("round", 2.5, 3.0), ("round", -2.5, -3.0),
        ("round", 0.49999999999999994, 0.0), ("floor", -0.0, -0.0),
        ("trunc", -0.5, -0.0), ("log", 0.0, -math.inf), ("log", -1.0, math.nan), ("sqrt", -1.0, math.nan),
        ("exp", 1e9, math.inf), ("sinh", -1e9, -math.inf),
        ("cosh", -1e9, math.inf), ("tgamma", -0.0, -math.inf), ("tgamma", -1.0, math.nan), ("atanh", 1.0, math.inf),
        ("floor", math.inf, math.inf),
        ("sin", math.inf, math.nan), ("expm1", 1e9, math.inf), ("neg", 0.0, -0.0),
    ],
)  # fmt: skip
def test_mathematics_at_the_edges(op: str, x: float, expected: float) -> None:
    assert repr(unary(op, "double", x)) == repr(expected)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (0.0, -1.0, math.inf),
        (-0.0, -1.0, -math.inf),
        (-0.0, -2.0, math.inf),
        (-8.0, 1 / 3, math.nan),
        (-10.0, 999.0, -math.inf),
        (10.0, 999.0, math.inf),
    ],
)
def test_pow(a: float, b: float, expected: float) -> None:
    assert repr(binary("pow", "double", a, b)) == repr(expected)


def test_negation_and_absolute_value_wrap() -> None:
    assert unary("neg", "int", MIN) == MIN
    assert unary("abs", "int", MIN) == MIN
    assert unary("neg", "uint", 1) == 2**32 - 1
    assert unary("bitnot", "ubyte", 0) == 255


@pytest.mark.parametrize("base", sorted(BITS))
def test_limits_wrap_into_each_other(base: str) -> None:
    assert wrap(base, int(largest(base)) + 1) == smallest(base)
    assert wrap(base, int(smallest(base)) - 1) == largest(base)


def test_every_operation_has_one_arity() -> None:
    assert not BINARY & UNARY
