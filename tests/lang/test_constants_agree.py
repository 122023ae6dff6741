"""Constant folding and the interpreter evaluate every element-wise primitive alike, on scalars and on arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacpy.interp.errors import Fault
from sacpy.interp.runtime.primitives import evaluate
from sacpy.interp.values import dtype_of
from sacpy.lang.constants import BINARY, UNARY, Undefined, binary, is_exact, largest, smallest, to_float, unary
from sacpy.lang.primitives import PRIMITIVES
from sacpy.lang.types import BITS, Scalar

EDGES = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -1.0,
    3e9,
    -3e9,
    1e300,
    1e-320,
    float("inf"),
    float("-inf"),
    float("nan"),
    127.5,
    2147483647.5,
    9.3e18,
]


def element(base: str) -> st.SearchStrategy[Scalar]:
    if base == "bool":
        return st.booleans()
    if base in ("float", "double"):
        numbers = st.sampled_from(EDGES) | st.floats(-1e6, 1e6)
        return numbers.map(to_float) if base == "float" else numbers
    low, high = int(smallest(base)), int(largest(base))
    return (
        st.integers(low, high)
        | st.sampled_from([low, high, 0, 1, high - 1])
        | st.integers(max(low, -40), min(high, 70))
    )


def same(a: object, b: object) -> bool:
    return repr(a) == repr(b)


def outcome(function: object, *args: object) -> object:
    """The value, or a word for an error."""
    try:
        with np.errstate(all="ignore"):
            return function(*args)  # type: ignore[operator]
    except (Undefined, Fault):
        return "undefined"


CASES = [
    (op, base)
    for op in sorted(BINARY | UNARY)
    for base in (PRIMITIVES[op].over if "T" in PRIMITIVES[op].args else ("bool",))
    if is_exact(op, base)
]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("op", "base"), CASES)
@settings(max_examples=12, deadline=None)
@given(st.data())
def test_scalars_and_arrays(op: str, base: str, data: st.DataObject) -> None:
    count = 2 if op in BINARY else 1
    args = [data.draw(element(base)) for _ in range(count)]
    expected = outcome(lambda: binary(op, base, *args) if count == 2 else unary(op, base, *args))
    function = evaluate(op, base)
    assert same(outcome(function, *args), expected), args
    arrays = [np.array([x], dtype_of(base)) for x in args]
    found = outcome(function, *arrays)
    assert same(found.item() if isinstance(found, np.ndarray) else found, expected), args


def test_all_integer_types_are_covered() -> None:
    assert {base for _, base in CASES} >= set(BITS)
