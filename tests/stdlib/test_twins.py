"""The twins against loops over single elements that say what the definitions in SaC mean."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

from sacpy.interp.errors import Fault
from sacpy.interp.twins import CELLS, TWINS, find
from sacpy.interp.values import DTYPES
from sacpy.lang.types import BITS, SIGNED

NAN, INF = math.nan, math.inf


def twin(name, *bases, cell=0):
    return TWINS[name](bases, cell)


def ints(*items, base="int"):
    return np.array(items, DTYPES[base])


def array(shape, base="int"):
    size = math.prod(shape)
    return (np.arange(1, size + 1) % 100).astype(DTYPES[base]).reshape(shape)


def same(found, wanted, base):
    """Equal as values of a base type, NaN and the sign of zero included."""
    if isinstance(wanted, np.ndarray):
        assert type(found) is np.ndarray
        assert found.dtype == DTYPES[base]
        assert found.shape == wanted.shape
        assert found.flags["C_CONTIGUOUS"]
        assert np.array_equal(found, wanted, equal_nan=found.dtype.kind == "f")
        if found.dtype.kind == "f":
            assert np.array_equal(np.signbit(found) & ~np.isnan(found), np.signbit(wanted) & ~np.isnan(wanted))
    else:
        assert type(found) is type(wanted)
        assert (found == wanted and math.copysign(1, found) == math.copysign(1, wanted)) or (
            found != found and wanted != wanted
        )


def wrapped(value, base):
    value %= 1 << BITS[base]
    return value - (1 << BITS[base]) if base in SIGNED and value >> (BITS[base] - 1) else value


# ---------------------------------------------------------------- element-wise


@pytest.mark.parametrize("base", BITS)
@pytest.mark.parametrize(
    ("op", "function"), [("+", lambda a, b: a + b), ("-", lambda a, b: a - b), ("*", lambda a, b: a * b)]
)
def test_integers_wrap(base, op, function):
    low, high = (-(1 << BITS[base] - 1), (1 << BITS[base] - 1) - 1) if base in SIGNED else (0, (1 << BITS[base]) - 1)
    a = ints(low, low, high, high, 0, 3, base=base)
    b = ints(low, 1, high, 1, 0, 2, base=base)
    wanted = ints(*[wrapped(function(int(x), int(y)), base) for x, y in zip(a, b)], base=base)
    apply = twin(f"ArrayArith::{op}/2", base, base)
    same(apply(a, b), wanted, base)
    same(apply(a, 2), ints(*[wrapped(function(int(x), 2), base) for x in a], base=base), base)
    same(apply(high, b), ints(*[wrapped(function(high, int(y)), base) for y in b], base=base), base)


@pytest.mark.parametrize("base", ["byte", "int", "long"])
def test_integer_division_truncates_and_remainder_has_the_sign_of_the_dividend(base):
    a, b = ints(7, -7, 7, -7, 0, base=base), ints(2, 2, -2, -2, 5, base=base)
    same(twin("ArrayArith:://2", base, base)(a, b), ints(3, -3, -3, 3, 0, base=base), base)
    same(twin("ArrayArith::%/2", base, base)(a, b), ints(1, -1, 1, -1, 0, base=base), base)
    same(twin("ArrayArith::mod/2", base, base)(a, b), ints(1, 1, -1, -1, 0, base=base), base)
    same(twin("ArrayArith::mod/2", base, base)(a, 0), a, base)


def test_integer_division_by_zero_is_an_error():
    for op in "/%":
        with pytest.raises(Fault):
            twin(f"ArrayArith::{op}/2", "int", "int")(ints(1, 2), ints(1, 0))


@pytest.mark.parametrize("shape", [(0,), (3, 0), (2, 3), (2, 1, 2)])
def test_element_wise_functions_keep_the_shape(shape):
    a = array(shape, "double")
    same(twin("ArrayArith::+/2", "double", "double")(a, 0.5), a + 0.5, "double")
    same(twin("ArrayArith::</2", "double", "double")(a, 2.0), a < 2, "bool")
    same(twin("ArrayArith::toi/1", "double")(a), a.astype("i4"), "int")
    same(twin("MathArray::sqrt/1", "double")(a), np.sqrt(a), "double")


def test_minimum_and_maximum_of_nan_and_zeros_are_those_of_the_comparison():
    values = [NAN, -0.0, 0.0, 1.0, INF, -INF]
    pairs = list(itertools.product(values, values))
    a, b = (np.array(x) for x in zip(*pairs))
    same(twin("ArrayArith::min/2", "double", "double")(a, b), np.array([x if x < y else y for x, y in pairs]), "double")
    same(twin("ArrayArith::max/2", "double", "double")(a, b), np.array([x if x > y else y for x, y in pairs]), "double")


def test_steps_wrap():
    same(twin("ArrayArith::++/1", "ubyte")(ints(254, 255, base="ubyte")), ints(255, 0, base="ubyte"), "ubyte")
    same(twin("ArrayArith::--/1", "short")(ints(-32768, 0, base="short")), ints(32767, -1, base="short"), "short")


def test_and_or_are_logical_on_bools_and_bitwise_on_integers():
    same(twin("ArrayArith::&/2", "bool", "bool")(np.array([True, False]), True), np.array([True, False]), "bool")
    same(twin("ArrayArith::|/2", "int", "int")(ints(1, 4), 2), ints(3, 6), "int")


# ---------------------------------------------------------------- reductions


def fold(a, combine, neutral):
    for x in np.asarray(a).ravel().tolist():
        neutral = combine(neutral, x)
    return neutral


@pytest.mark.parametrize("base", ["int", "ubyte", "double"])
@pytest.mark.parametrize("shape", [(0,), (3, 0, 2), (4,), (2, 3), (2, 1, 2)])
def test_reductions_of_any_shape(base, shape):
    a = array(shape, base)
    zero, one = (0.0, 1.0) if base == "double" else (0, 1)
    fit = (lambda x: x) if base == "double" else lambda x: wrapped(x, base)
    same(twin("ArrayReduce::sum/1", base)(a), fit(fold(a, lambda x, y: x + y, zero)), base)
    same(twin("ArrayReduce::prod/1", base)(a), fit(fold(a, lambda x, y: x * y, one)), base)


@pytest.mark.parametrize(
    ("base", "low", "high"),
    [
        ("int", -(2**31), 2**31 - 1),
        ("ubyte", 0, 255),
        ("double", -1.7976931348623157e308, 1.7976931348623157e308),
        ("float", -3.4028234663852886e38, 3.4028234663852886e38),
    ],
)
def test_extremes_of_nothing_are_the_limits(base, low, high):
    nothing = np.zeros((0, 3), DTYPES[base])
    same(twin("ArrayReduce::minval/1", base)(nothing), high, base)
    same(twin("ArrayReduce::maxval/1", base)(nothing), low, base)


HIGH = 1.7976931348623157e308


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_extremes_of_reals_are_those_of_the_fold(length):
    minval, maxval = twin("ArrayReduce::minval/1", "double"), twin("ArrayReduce::maxval/1", "double")
    for items in itertools.product([NAN, -0.0, 0.0, 2.0, -3.0, INF, -INF], repeat=length):
        a = np.array(items)
        same(minval(a), fold(a, lambda x, y: x if x < y else y, HIGH), "double")
        same(maxval(a), fold(a, lambda x, y: x if x > y else y, -HIGH), "double")


def test_reductions_of_scalars():
    assert twin("ArrayReduce::sum/1", "int")(5) == 5
    same(twin("ArrayReduce::sum/1", "double")(-0.0), 0.0, "double")
    assert twin("ArrayReduce::minval/1", "int")(-5) == -5
    assert twin("ArrayReduce::any/1", "bool")(True) is True


def test_any_and_all_of_nothing():
    nothing = np.zeros((0,), bool)
    assert twin("ArrayReduce::any/1", "bool")(nothing) is False
    assert twin("ArrayReduce::all/1", "bool")(nothing) is True


@pytest.mark.parametrize("shape", [(2, 3, 4), (0, 3), (3, 0), (5,)])
def test_sums_along_the_first_axes(shape):
    a = array(shape, "int")
    for r in range(len(shape) + 1):
        wanted = a.sum(axis=tuple(range(r)), dtype="i4") if r else a
        same(twin("ArrayReduce::rsum/2", "int", "int")(r, a), wanted if r < len(shape) else int(wanted), "int")


# ---------------------------------------------------------------- rearranging


def build(shape, element, base="int"):
    result = np.zeros(shape, DTYPES[base])
    for iv in np.ndindex(*shape):
        result[iv] = element(iv)
    return result


def at(a, iv):
    return a[tuple(iv)] if all(0 <= i < n for i, n in zip(iv, a.shape)) else 0


SHAPES = [(5,), (0,), (3, 4), (2, 0, 3), (2, 3, 2)]


@pytest.mark.parametrize("shape", SHAPES)
def test_take_and_drop_count_from_either_end_and_never_fail(shape):
    a = array(shape)
    for depth in range(len(shape) + 1):
        for v in itertools.product([-7, -2, -1, 0, 1, 2, 7], repeat=min(depth, 2)):
            full = [*v, *shape[len(v) :]]
            offset = [n + c if c < 0 else 0 for n, c in zip(shape, full)]
            same(
                twin("ArrayTransform::take/2", "int", "int")(ints(*v), a),
                build([abs(c) for c in full], lambda iv, o=offset: at(a, [i + k for i, k in zip(iv, o)])),
                "int",
            )
            gone = [*v, *[0] * (len(shape) - len(v))]
            rest = [max(n - abs(c), 0) for n, c in zip(shape, gone)]
            same(
                twin("ArrayTransform::drop/2", "int", "int")(ints(*v), a),
                build(rest, lambda iv, g=gone: at(a, [i + max(c, 0) for i, c in zip(iv, g)])),
                "int",
            )


def test_take_and_drop_of_a_scalar_take_no_counts():
    assert twin("ArrayTransform::take/2", "int", "int")(ints(), 7) == 7
    assert twin("ArrayTransform::drop/2", "int", "double")(ints(), 1.5) == 1.5


def test_results_share_no_memory_with_arguments():
    a = array((3, 4))
    for name, args in [
        ("take/2", (ints(), a)),
        ("drop/2", (ints(0), a)),
        ("shift/2", (ints(0), a)),
        ("rotate/2", (ints(), a)),
        ("transpose/1", (a,)),
        ("reverse/1", (a,)),
        ("where/3", (True, a, a)),
    ]:
        bases = ("bool", "int", "int") if name == "where/3" else ("int",) * len(args)
        assert not np.shares_memory(twin(f"ArrayTransform::{name}", *bases)(*args), a), name


@pytest.mark.parametrize("shape", SHAPES)
def test_tile_apl_is_zero_outside(shape):
    a = array(shape)
    for v in itertools.product([-9, -1, 0, 2, 9], repeat=len(shape)):
        same(
            twin("ArrayTransformApl::tile_apl/3", "int", "int", "int")(ints(*[3] * len(shape)), ints(*v), a),
            build([3] * len(shape), lambda iv, v=v: at(a, [i + o for i, o in zip(iv, v)])),
            "int",
        )


def test_tile_outside_is_an_error():
    tile = twin("ArrayTransform::tile/3", "int", "int", "int")
    same(tile(ints(2), ints(1), array((4, 2))), array((4, 2))[1:3], "int")
    for shp, idx in [((2,), (3,)), ((1,), (-1,))]:
        with pytest.raises(Fault):
            tile(ints(*shp), ints(*idx), array((4, 2)))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("count", [-100, -3, -1, 0, 1, 2, 100])
def test_rotate_and_shift_move_to_the_right(shape, count):
    a = array(shape)
    for axis, n in enumerate(shape):
        v = [0] * axis + [count]

        def source(iv, axis=axis):
            return [*iv[:axis], iv[axis] - count, *iv[axis + 1 :]]

        def around(iv, axis=axis, n=n):
            return [*iv[:axis], (iv[axis] - count) % n, *iv[axis + 1 :]]

        rotated = build(shape, lambda iv: at(a, around(iv)))
        same(twin("ArrayTransform::rotate/3", "int", "int", "int")(axis, count, a), rotated, "int")
        same(twin("ArrayTransform::rotate/2", "int", "int")(ints(*v), a), rotated, "int")
        same(
            twin("ArrayTransform::shift/2", "int", "int")(ints(*v), a),
            build(shape, lambda iv: at(a, source(iv))),
            "int",
        )
        filled = build(shape, lambda iv, axis=axis, n=n: at(a, source(iv)) if 0 <= iv[axis] - count < n else -5)
        same(twin("ArrayTransform::shift/3", "int", "int", "int")(ints(*v), -5, a), filled, "int")
        same(twin("ArrayTransform::shift/4", "int", "int", "int", "int")(axis, count, -5, a), filled, "int")


@pytest.mark.parametrize("shape", SHAPES)
def test_reverse_and_transpose(shape):
    a = array(shape)
    for axis, n in enumerate(shape):
        same(
            twin("ArrayTransform::reverse/2", "int", "int")(axis, a),
            build(shape, lambda iv, axis=axis, n=n: a[(*iv[:axis], n - 1 - iv[axis], *iv[axis + 1 :])]),
            "int",
        )
    same(twin("ArrayTransform::reverse/1", "int")(a), a[::-1].copy(), "int")
    same(twin("ArrayTransform::transpose/1", "int")(a), build(shape[::-1], lambda iv: a[iv[::-1]]), "int")


def test_transpose_of_a_scalar():
    assert twin("ArrayTransform::transpose/1", "int")(3) == 3


def test_concatenation_along_the_first_and_last_axis():
    first, last = twin("ArrayTransform::++/2", "int", "int"), twin("ArrayTransform::++^/2", "int", "int")
    m, none = ints(1, 2, 3, 4).reshape(2, 2), np.zeros((0, 2), "i4")
    same(first(m, none), m, "int")
    same(first(m, m), np.array([[1, 2], [3, 4], [1, 2], [3, 4]]), "int")
    same(last(m, m), np.array([[1, 2, 1, 2], [3, 4, 3, 4]]), "int")
    same(first(m, 9), np.array([[1, 2], [3, 4], [9, 9]]), "int")
    same(first(9, ints()), ints(9), "int")
    same(first(8, 9), ints(8, 9), "int")
    same(last(9, m), np.array([[9, 1, 2], [9, 3, 4]]), "int")
    same(twin("ArrayTransform::++/2", "float", "float")(1.5, 2.5), np.array([1.5, 2.5]), "float")


@pytest.mark.parametrize("name", ["where", "mask"])
def test_where_in_every_mix(name):
    p, a, b = np.array([True, False]), ints(1, 2), ints(8, 9)
    where = twin(f"ArrayTransform::{name}/3", "bool", "int", "int")
    for condition, then, otherwise in itertools.product([p, True, False], [a, 1], [b, 9]):
        found = where(condition, then, otherwise)
        wanted = np.where(condition, then, otherwise)
        same(
            found,
            wanted if any(isinstance(x, np.ndarray) for x in (condition, then, otherwise)) else int(wanted),
            "int",
        )


def test_match_compares_ranks_extents_and_elements():
    match = twin("ArrayTransform::match/2", "int", "int")
    assert match(ints(1, 2), ints(1, 2)) is True
    assert match(ints(1, 2), ints(1, 3)) is False
    assert match(ints(1), 1) is False
    assert match(np.zeros((0, 2), "i4"), np.zeros((0, 3), "i4")) is False
    assert match(4, 4) is True


def test_arrays_of_one_value_and_of_indices():
    genarray, iota = twin("ArrayBasics::genarray/2", "int", "int"), twin("ArrayBasics::iota/1", "int")
    assert genarray(ints(), 3) == 3
    same(genarray(ints(2), ints(1, 2)), np.array([[1, 2], [1, 2]]), "int")
    same(genarray(ints(0, 3), 7), np.zeros((0, 3), "i4"), "int")
    same(iota(4), ints(0, 1, 2, 3), "int")
    same(iota(0), ints(), "int")
    same(iota(ints(2, 3)), build((2, 3, 2), lambda iv: iv[iv[2]]), "int")
    same(iota(ints()), ints(), "int")
    for negative in (-1, ints(2, -1)):
        with pytest.raises(Fault):
            iota(negative)


def test_arrays_of_opaque_values_are_filled_with_their_zero():
    a = np.empty(1, object)
    a[0] = b"x"
    taken = twin("ArrayTransform::take/2", "int", "String::string")(ints(2), a)
    assert taken.tolist() == [b"x", b""]


# ---------------------------------------------------------------- mathematics


def test_frexp_and_ldexp_are_exact_at_the_ends():
    frexp, ldexp = twin("Math::frexp/1", "double"), twin("Math::ldexp/2", "double", "int")
    for x in (0.0, -0.0, 1.0, -0.75, 5e-324, 1.7976931348623157e308):
        m, n = frexp(x)
        assert (x == 0 and m == 0) or 0.5 <= abs(m) < 1
        same(ldexp(m, n), x, "double")
    assert frexp(INF) == (INF, 0)
    same(ldexp(-1.0, 5000), -INF, "double")
    same(ldexp(1.0, -5000), 0.0, "double")
    same(twin("Math::ldexp/2", "float", "int")(1.0, 128), INF, "float")


def test_fractions_have_the_sign_of_the_number():
    fraction, whole = twin("MathArray::modf/1", "double")(np.array([1.5, -1.5, -0.0, INF, -2.0]))
    same(fraction, np.array([0.5, -0.5, -0.0, 0.0, -0.0]), "double")
    same(whole, np.array([1.0, -1.0, -0.0, INF, -2.0]), "double")


def test_array_functions_agree_with_libm():
    a = np.array([0.0, 0.5, 1.0, -0.25])
    for name in ("sin", "cos", "tan", "atan", "exp", "expm1", "tanh"):
        same(
            twin(f"MathArray::{name}/1", "double")(a), np.array([getattr(math, name)(x) for x in a.tolist()]), "double"
        )
    assert twin("MathArray::l2norm/1", "double")(np.array([[3.0], [4.0]])) == 5.0
    same(twin("MathArray::sign/1", "double")(np.array([-2.0, -0.0, 0.0, 3.0, NAN])), ints(-1, 0, 0, 1, 0), "int")


# ---------------------------------------------------------------- complex numbers


def pairs(*items):
    return np.array([[z.real, z.imag] for z in items], "f8").reshape(len(items), 2)


def test_complex_arithmetic():
    x, y = [1 + 2j, -3 + 0j, 0.5 - 1j], [2 - 1j, 1 + 1j, 4 + 0j]
    a, b = pairs(*x), pairs(*y)
    same(twin("ComplexArrayArith::*/2", cell=1)(a, b), pairs(*[p * q for p, q in zip(x, y)]), "double")
    same(twin("ComplexArrayArith::+/2", cell=1)(a, b[0]), pairs(*[p + y[0] for p in x]), "double")
    assert np.allclose(twin("ComplexArrayArith:://2", cell=1)(a, b), pairs(*[p / q for p, q in zip(x, y)]))
    same(twin("ComplexScalarArith::*/2", cell=1)(a[0], b[0]), a[0] * 0 + [4.0, 3.0], "double")
    assert np.isnan(twin("ComplexScalarArith:://2", cell=1)(a[0] * 0, a[0] * 0)).all()
    same(twin("ComplexArrayBasics::norm/1", cell=1)(pairs(3 + 4j)), np.array([5.0]), "double")
    same(twin("ComplexArrayArith::==/2", cell=1)(a, a[0]), np.array([True, False, False]), "bool")
    same(
        twin("ComplexArrayArith::max/2", cell=1)(a, b),
        pairs(*[p if abs(p) >= abs(q) else q for p, q in zip(x, y)]),
        "double",
    )
    same(twin("ComplexArrayTransform::sum/1", cell=1)(a), np.array([-1.5, 1.0]), "double")
    same(twin("ComplexArrayTransform::sum/1", cell=1)(pairs()), np.array([0.0, 0.0]), "double")


def test_rearranging_complex_arrays_leaves_the_parts_in_place():
    a = array((2, 3, 2), "double")
    same(twin("ArrayTransform::transpose/1", "double", cell=1)(a), a.transpose(1, 0, 2).copy(), "double")
    same(twin("ArrayTransform::reverse/1", "double", cell=1)(a), a[::-1].copy(), "double")
    same(
        twin("ArrayTransform::shift/3", "int", "double", "double", cell=1)(ints(1), np.array([7.0, 8.0]), a)[0],
        np.array([[7.0, 8.0]] * 3),
        "double",
    )
    same(
        twin("ArrayTransform::++/2", "double", "double", cell=1)(a[0], np.array([7.0, 8.0])),
        np.concatenate((a[0], [[7.0, 8.0]])),
        "double",
    )
    same(twin("ArrayTransform::take/2", "int", "double", cell=1)(ints(3), a)[2], np.zeros((3, 2)), "double")


# ---------------------------------------------------------------- looking up


def signature(name, params, results=1):
    return SimpleNamespace(
        name=name, params=[SimpleNamespace(base=base, cell=cell) for base, cell in params], results=[None] * results
    )


def test_functions_of_structs_have_no_twins():
    assert find(signature("ArrayTransform::rotate", [("int", ()), ("int", ()), ("double", ())], results=2)) is None
    assert find(signature("ArrayTransform::rotate", [("int", ()), ("int", ()), ("double", ())])) is not None


def test_twins_that_do_not_know_cells_are_not_used_for_them():
    assert find(signature("ArrayTransform::++^", [("double", (2,)), ("double", (2,))])) is None
    assert find(signature("ArrayTransform::++", [("double", (2,)), ("double", (2,))])) is not None
    assert set(CELLS) <= set(TWINS)


def test_strict_arithmetic_keeps_the_order_of_sums():
    assert find(signature("ArrayReduce::sum", [("double", ())]), strict=True) is None
    assert find(signature("ArrayReduce::sum", [("int", ())]), strict=True) is not None
