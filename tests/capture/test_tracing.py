# mypy: disable-error-code="name-defined, misc, valid-type"
"""Functions that are traced: what they become, that it gives what NumPy gives, and what cannot be traced."""

import math
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sacpy
from sacpy import Bool, Complex, Double, Float, Int
from sacpy.capture.function import default_session

A = np.array([[1.0, -2.0, 0.5], [-0.0, 4.0, -1.5]])


def layers(x: Any, count: int = 3) -> Any:
    """A metaprogram: matrices in a dictionary, a loop, a condition of the host."""
    weights = {k: (np.arange(12.0).reshape(4, 3) - 5.0) / (k + 1) for k in range(count)}
    for k in range(count):
        x = np.maximum(weights[k] @ x, 0.1)
        x = x[:3] / np.sum(x) if k % 2 else x[1:]
    return x


def of_rows(a: Any, k: Any, n: Any) -> Any:
    pairs = sum(a[i] * a[(i + 1) % len(a)] for i in range(len(a)))
    wide = np.concatenate((a, a[:, ::-1]), axis=1) + k
    xp = a.__array_namespace__()
    chosen = xp.where(wide > 1.5, wide, -0.0)
    return (
        pairs,
        np.roll(chosen, 1, axis=0),
        chosen[0, n],
        -a.T,
        abs(a).max(),
        np.stack([*a]).sum(axis=0, keepdims=True),
    )


def signs_and_nan(a: Any) -> Any:
    return (
        np.sqrt(a * 0.0 - 1.0),
        a * math.nan,
        1.0 / (a * -0.0),
        math.inf - a,
        np.minimum(a, np.float64(-0.0)),
        [a, 2][1],
    )


def of_whole(n: Any, b: Any) -> Any:
    return n // 3, n % -4, -n, n << 2, ~n, b & (n > 1), np.where(b, n, 2 * n), n.astype(float) / 7, n.sum(), b.any()


def of_few(x: Any, z: Any) -> Any:
    return x * 2 + np.float32(0.1), x.min(), z * 1j + z.real, abs(z)


def _type(value: Any) -> Any:
    """The type of an array; of a number only its sort, since a captured function gives those of Python."""
    return value.dtype if np.ndim(value) else np.asarray(value).dtype.kind


def compare(found: Any, expected: Any) -> None:
    several = expected if isinstance(expected, tuple) else (expected,)
    for mine, theirs in zip(found if isinstance(found, tuple) else (found,), several, strict=True):
        assert np.shape(mine) == np.shape(theirs) and _type(mine) == _type(theirs)
        np.testing.assert_allclose(mine, theirs, rtol=1e-6 if np.asarray(theirs).dtype == np.float32 else 1e-13)
        if np.asarray(mine).dtype.kind == "f":
            zero = np.asarray(theirs) == 0
            np.testing.assert_array_equal(np.signbit(mine)[zero], np.signbit(theirs)[zero])


CASES: list[tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = [
    (layers, (3,), (np.array([1.0, -2.0, 3.0]),)),
    (of_rows, (Double[2, 3], float, int), (A, 0.5, 2)),
    (signs_and_nan, (Double[2, 3],), (A,)),
    (signs_and_nan, (Double[0, 3],), (np.zeros((0, 3)),)),
    (signs_and_nan, (Double[1, 2, 1, 1, 2, 1, 3],), (np.arange(12.0).reshape(1, 2, 1, 1, 2, 1, 3) - 5.0,)),
    (of_whole, (Int[4], Bool[4]), (np.array([-7, 0, 5, 9]), np.array([True, False, True, False]))),
    (of_few, (Float[3], Complex[3]), (np.array([1, 2, 3], np.float32), np.array([1j, 2, -3.5j]))),
]


@pytest.mark.parametrize(("function", "types", "given"), CASES)
def test_a_trace_gives_what_numpy_gives(function: Any, types: Any, given: Any) -> None:
    traced = sacpy.trace(function, *_types(types))
    traced = traced.on(default_session("interp"))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare(traced.python(*given), function(*given))
        compare(traced(*given), function(*given))


def _types(types: Any) -> Any:
    return (types,) if all(isinstance(t, int) for t in types) else types


def test_what_was_noted_is_there_once_and_what_nobody_needs_is_not() -> None:
    def powers(a: Any) -> Any:
        unused = np.sin(a)
        assert unused.shape == (3,)
        return sum(a * a for _ in range(2)) + (a * a)[0]

    traced = sacpy.trace(powers, Double[3], target="interp")
    assert traced.text == (
        "def powers(a: _a):\n    t2 = a * a\n    t3 = 0 + t2\n    t4 = t3 + t2\n    t5 = t2[0]\n    t6 = t4 + t5\n"
        "    return t6\n"
    )
    assert "double[.] powers(double[3] a)" in traced.sac and traced.sac.count("a * a") == 1
    assert traced([1.0, 2.0, 3.0]).tolist() == [3.0, 9.0, 19.0]


def test_extents_may_be_huge() -> None:
    traced = sacpy.trace(lambda a, b: (a @ b + a[0]).T, (10**5, 10**5), (10**5, 10**5))
    assert "def traced(a: _a, b: _b)" in traced.text


def test_a_traced_value_tells_what_is_known() -> None:
    seen: list[Any] = []

    def look(a: Any, k: Any) -> Any:
        seen.extend((a.shape, a.ndim, a.size, a.dtype, len(a), np.shape(a), k.shape, repr(a), hasattr(a, "nothing")))
        return a

    sacpy.trace(look, Int[2, 3], float)
    assert seen == [(2, 3), 2, 6, np.dtype(np.int64), 2, (2, 3), (), "<traced int64[2, 3]>", False]


def test_it_is_pickled_with_what_it_was_traced_from() -> None:
    traced = sacpy.trace(layers, (3,), target="interp")
    again = pickle.loads(pickle.dumps(traced))
    assert again.text == traced.text and traced.traced is layers and traced.__doc__ == layers.__doc__


WRONG: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a condition": (lambda a: a if a.sum() > 1.0 else -a, "E0909 whether a traced value is true is not known"),
    "a loop": (lambda a: np.array([x for x in a if x]), "E0909 whether a traced value is true is not known"),
    "an item": (lambda a: a.__setitem__(0, 1.0), "E0909 a traced array is not changed"),
    "a method": (lambda a: a.fill(0.0), "E0909 a traced array is not changed, and fill would change it"),
    "a number": (lambda a: int(a[0]), "E0909 what number a traced value is is not known"),
    "an index": (lambda a: [1, 2, 3][a[0]], "E0909 what number a traced value is is not known"),
    "math": (lambda a: math.sin(a[0]), "E0909 what number a traced value is is not known"),
    "an element": (lambda a: a.tolist(), "E0909 tolist asks for elements, and a traced value has none"),
    "an array": (lambda a: np.asarray(a), "E0909 a traced value does not become an array of NumPy"),
    "a function": (lambda a: np.gradient(a), "E0909 np.gradient is not among the functions that are captured"),
    "a ufunc": (lambda a: np.cbrt(a) + np.heaviside(a, 0.5), "E0909 np.heaviside is not among the functions"),
    "a method of one": (lambda a: np.add.accumulate(a), "E0909 np.add.accumulate cannot be traced"),
    "out": (lambda a: np.add(a, a, out=np.zeros(5)), "E0909 np.add takes no out in a trace"),
    "shapes": (lambda a: a + np.ones(7), "E0903 NumPy refuses this: shape mismatch"),
    "a product": (lambda a: a @ np.ones(7), "E0903 NumPy refuses this: matmul"),
    "an index beyond": (lambda a: a[9], "E0903 NumPy refuses this: index 9 is out of bounds"),
    "a constant": (lambda a: a[0] + np.ones(10**5), "E0909 an array of 100000 elements is too large for a constant"),
    "a thing": (lambda a: a * object(), "E0909 object is no value that can be traced"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_traced_is_said_on_its_line(name: str) -> None:
    function, message = WRONG[name]
    with pytest.raises(sacpy.SacError) as caught:
        sacpy.trace(function, Double[5])
    (found,) = caught.value.diagnostics
    assert f"{found.code} {found.message}".startswith(message) and found.help
    assert found.span.source.name == __file__ and f'"{name}": (lambda' in found.span.text


def test_what_is_no_trace() -> None:
    values: list[Any] = []

    def kept(a: Any) -> Any:
        return values[0] + a if values else values.append(a) or a

    sacpy.trace(kept, (3,))
    wrong: list[tuple[Any, Any, str]] = [
        (kept, (3,), "another trace"), (lambda a: None, Double[2], "gives nothing"), (kept, Double["n"], "one shape"),
        (kept, Double, "one shape"), (kept, list, "is no type"),
    ]  # fmt: skip
    for function, type, message in wrong:
        with pytest.raises(sacpy.SacError, match=message):
            sacpy.trace(function, type)


@pytest.mark.long
@pytest.mark.parametrize(("function", "types", "given"), CASES)
@pytest.mark.parametrize("target", ["cpu", "emulator"])
def test_the_same_compiled(function: Any, types: Any, given: Any, target: str) -> None:
    traced = sacpy.trace(function, *_types(types))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare(traced.on(default_session(target))(*given), function(*given))
