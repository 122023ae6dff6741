"""Every primitive can be evaluated; scalars and arrays agree, and wrap as C does."""

import math
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacpy.interp.arithmetic import limits, wrap
from sacpy.interp.errors import Fault
from sacpy.interp.runtime.elementwise import BLOCK, elementwise
from sacpy.interp.runtime.primitives import EVALUATION, evaluate
from sacpy.interp.values import dtype_of
from sacpy.lang.primitives import PRIMITIVES
from sacpy.lang.types import BITS, BUILTIN, REAL

BINARY = [
    "add",
    "sub",
    "mul",
    "div",
    "mod",
    "aplmod",
    "min",
    "max",
    "bitand",
    "bitor",
    "bitxor",
    "eq",
    "neq",
    "lt",
    "le",
    "gt",
    "ge",
]


def test_no_primitive_is_missing() -> None:
    assert set(EVALUATION) == set(PRIMITIVES)
    for op, primitive in PRIMITIVES.items():
        for base in primitive.over:
            assert callable(
                evaluate(
                    op,
                    base if "T" in primitive.args else primitive.args[0],
                    0,
                    ("i",) if op in ("slice", "place") else (),
                )
            )


def _same(a: object, b: object) -> bool:
    return a == b or (a != a and b != b)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("op", BINARY)
def test_integers_agree_as_scalars_and_arrays_and_wrap(op: str, data: st.DataObject) -> None:
    base = data.draw(st.sampled_from(sorted(BITS)))
    low, high = limits(base)
    number = st.one_of(
        st.sampled_from([low, low + 1, -1 if low else 0, 0, 1, 2, high - 1, high]), st.integers(low, high)
    )
    a, b = data.draw(number), data.draw(number)
    function = elementwise(op, base)
    arrays = np.array([a], dtype_of(base)), np.array([b], dtype_of(base))
    with np.errstate(all="ignore"):
        if op in ("div", "mod") and b == 0:
            for x, y in ((a, b), arrays, (a, arrays[1]), (arrays[0], b)):
                with pytest.raises(Fault):
                    function(x, y)
            return
        scalar = function(a, b)
        for result in (function(*arrays), function(a, arrays[1]), function(arrays[0], b)):
            assert result.dtype == dtype_of("bool" if op in ("eq", "neq", "lt", "le", "gt", "ge") else base)
            assert result[0] == scalar
    exact = {"add": a + b, "sub": a - b, "mul": a * b}
    if op in exact:
        assert scalar == wrap(exact[op], base)
    if op == "div":
        assert scalar == wrap(int(math.copysign(1, a) * math.copysign(1, b)) * (abs(a) // abs(b)), base)


@settings(max_examples=60, deadline=None)
@given(a=st.floats(width=32), b=st.floats(width=32))
@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "min", "max"])
@pytest.mark.parametrize("base", REAL)
def test_reals_agree_as_scalars_and_arrays(base: str, op: str, a: float, b: float) -> None:
    function = elementwise(op, base)
    with np.errstate(all="ignore"):
        scalar = function(a, b)
        array = function(np.array([a], dtype_of(base)), np.array([b], dtype_of(base)))
    assert type(scalar) is float
    assert _same(scalar, float(array[0]))
    assert base == "double" or _same(scalar, struct.unpack("f", struct.pack("f", scalar))[0])


@pytest.mark.parametrize(
    "op",
    [
        "sqrt",
        "log",
        "exp",
        "asin",
        "acosh",
        "tgamma",
        "lgamma",
        "floor",
        "rint",
        "round",
        "cbrt",
        "log1p",
        "atanh",
        "sinh",
    ],
)
@pytest.mark.parametrize("x", [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 2.5, 1000.0, -1000.0, math.inf, -math.inf, math.nan])
def test_real_functions_never_raise(op: str, x: float) -> None:
    scalar = elementwise(op, "double")(x)
    with np.errstate(all="ignore"):
        assert _same(scalar, float(elementwise(op, "double")(np.array([x]))[0]))


@pytest.mark.parametrize(
    ("x", "base", "expected"),
    [
        (1e10, "int", -(2**31)),
        (math.nan, "int", -(2**31)),
        (-3.9, "int", -3),
        (1e30, "long", -(2**63)),
        (1.5e19, "ulong", 15 * 10**18),
        (300.7, "ubyte", 44),
    ],
)
def test_conversion_of_a_real_out_of_range(x: float, base: str, expected: int) -> None:
    function = elementwise({"int": "toi", "long": "tol", "ulong": "toul", "ubyte": "toub"}[base], "double")
    with np.errstate(all="ignore"):
        assert function(x) == expected == int(function(np.array([x]))[0])


@pytest.mark.parametrize("shift", [-1, 32])
def test_shift_out_of_range_is_an_error(shift: int) -> None:
    with pytest.raises(Fault):
        elementwise("shl", "int")(1, shift)
    with pytest.raises(Fault):
        elementwise("shr", "int")(np.array([1], np.int32), shift)


@pytest.mark.parametrize("base", BUILTIN)
def test_operations_on_empty_arrays(base: str) -> None:
    empty = np.zeros((0, 3), dtype_of(base))
    assert elementwise("eq", base)(empty, empty).shape == (0, 3)


@pytest.mark.parametrize("size", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 3])
def test_functions_that_work_in_blocks_reach_every_element(size: int) -> None:
    a = np.linspace(0.1, 3.0, size)
    assert np.array_equal(elementwise("sin", "double")(a), [math.sin(x) for x in a])
    turned = np.stack([a, a]).T  # not contiguous
    assert np.array_equal(
        elementwise("pow", "double")(turned, 1.5), [[math.pow(x, 1.5)] * 2 for x in a] if size else turned
    )
    assert np.array_equal(elementwise("pow", "double")(2.0, a), [math.pow(2.0, x) for x in a])
    single = a.astype(np.float32)
    roots = elementwise("sin", "float")(single)
    assert roots.dtype == np.float32 and np.array_equal(roots, [np.float32(math.sin(x)) for x in single])
