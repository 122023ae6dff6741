# ruff: noqa: B007, E731, F401, F821, F841, NPY002 - they are wrong on purpose
# mypy: ignore-errors
"""Functions that cannot be captured, or fail when they run. A comment says where the message points, and its code."""

import math
import os

import numpy as np

import sacpy
from sacpy import Bool, Complex, Double, Float, Int

TEXT = "abc"
BIG = np.zeros(5000)
A, V = np.ones((2, 3)), np.array([1.0, 2.0, 3.0])
WRONG = {}


def wrong(*arguments):
    def register(function):
        WRONG[function.__name__] = (function, arguments)
        return function

    return register


def helper(x):
    return x + 1


# ---------------------------------------------------------------- heads


@wrong(1)
def no_type_of_a_parameter(x) -> int:  # E0902
    return 1


@wrong("a")
def type_that_is_none(x: str) -> int:  # E0902
    return 1


@wrong(1)
def result_that_is_none(x: int) -> dict:  # E0902
    return x


@wrong(1)
def star_parameter(*x: int) -> int:  # E0901
    return 1


@wrong(V)
def unknown_annotation(a: "Undefined['n']") -> float:  # E0902
    return 1.0


# ---------------------------------------------------------------- statements


@wrong(1)
def exception(n: int) -> int:
    try:  # E0901
        return n
    except ValueError:
        return 0


@wrong(1)
def raising(n: int) -> int:
    if n < 0:
        raise ValueError("negative")  # E0901
    return n


@wrong(1)
def asserting(n: int) -> int:
    assert n > 0  # E0901
    return n


@wrong(1)
def context(n: int) -> int:
    with open("x") as f:  # E0901
        return n


@wrong(1)
def inner_function(n: int) -> int:
    def inner(x):  # E0901
        return x

    return inner(n)


@wrong(1)
def anonymous(n: int) -> int:
    f = lambda x: x  # E0901
    return n


@wrong(1)
def global_variable(n: int) -> int:
    global TEXT  # E0901
    return n


@wrong(1)
def importing(n: int) -> int:
    import math  # E0901

    return n


@wrong(1)
def printing(n: int) -> int:
    print(n)  # E0901
    return n


@wrong(1)
def dictionary(n: int) -> int:
    d = {1: n}  # E0901
    return n


@wrong(1)
def set_of_numbers(n: int) -> int:
    return len({n, 2})  # E0901


@wrong(1)
def text(n: int) -> int:
    s = "abc"  # E0901
    return n


@wrong(1)
def formatted(n: int) -> int:
    s = f"{n}"  # E0901
    return n


@wrong(1)
def generator(n: int) -> int:
    yield n  # E0901


@wrong(1)
def walrus(n: int) -> int:
    if (m := n) > 0:  # E0901
        return m
    return 0


@wrong(1)
def loop_with_else(n: int) -> int:
    for i in range(n):
        n += 1
    else:
        n = 0  # E0901
    return n


@wrong(1)
def no_result(n: int) -> int:
    m = n + 1  # E0905


@wrong(1.0)
def nested_result(x: float):
    return (x, x), x  # E0903


@wrong(1)
def no_result_on_one_way(n: int) -> int:
    if n > 0:  # E0905
        return 1


@wrong(1)
def empty_return(n: int) -> int:
    return  # E0901


@wrong(1)
def unused_value(n: int) -> int:
    n + 1  # E0901
    return n


@wrong(V)
def appending(a: Double["n"]) -> Double["n"]:
    a.append(1.0)  # E0901
    return a


@wrong(1)
def matching(n: int) -> int:
    match n:  # E0901
        case 1:
            return 2
    return 3


@wrong(1)
def deleting(n: int) -> int:
    m = n
    del m  # E0901
    return n


# ---------------------------------------------------------------- names and variables


@wrong(1)
def undefined(n: int) -> int:
    return n + m  # E0904


@wrong(1.0)
def not_captured(x: float) -> float:
    return helper(x)  # E0904


@wrong(1)
def not_in_numpy(n: int) -> int:
    return np.kron(n, n)  # E0904


@wrong(1)
def misspelt_in_numpy(n: int) -> float:
    return np.sine(n)  # E0904


@wrong(1)
def random_numbers(n: int) -> float:
    return np.random.rand() + n  # E0904


@wrong(1)
def text_from_outside(n: int) -> int:
    return n + TEXT  # E0901


@wrong(1)
def module_as_a_value(n: int) -> int:
    return n + os  # E0904


@wrong(1)
def large_constant(n: int) -> float:
    return BIG[n]  # E0901


@wrong(1)
def set_in_a_loop_only(n: int) -> int:
    for i in range(n):
        last = i
    return last  # E0905


@wrong(1)
def set_on_one_way(n: int) -> int:
    if n > 0:
        m = 1
    return m  # E0905


@wrong(1)
def used_before(n: int) -> int:
    n = n + k  # E0905
    k = 1
    return n


@wrong(3)
def sum_from_a_whole_number(n: int) -> float:
    s = 0
    for i in range(n):
        s = s + 0.5  # E0903
    return s


@wrong(1)
def two_types(n: int) -> float:
    if n > 0:
        x = 1.0
    else:
        x = np.zeros(3)
    return x  # E0903


@wrong(V)
def second_name(a: Double["n"]) -> Double["n"]:
    b = a
    b[0] = 1.0  # E0906
    return a


@wrong(V)
def view(a: Double["n"]) -> Double["n"]:
    b = a.copy()
    c = b[1:]
    c[0] = 1.0  # E0906
    return b


@wrong(V)
def two_targets(a: Double["n"]) -> Double["n"]:
    b = c = a * 2
    b[0] = 1.0  # E0906
    return c


@wrong(V)
def item_of_a_tuple(a: Double["n"]) -> Double["n"]:
    b = a.copy()
    t = (1.0, b)
    c = t[1]
    c[0] = 1.0  # E0906
    return b


@wrong(V)
def row_of_a_loop(a: Double["n"]) -> Double[:, :]:
    b = np.outer(a, a)
    for row in b:
        row[0] = 0.0  # E0906
    return b


@wrong(V)
def second_name_of_a_constant(a: Double["n"]) -> float:
    b = V
    b[0] = 1.0  # E0906
    return a[0]


@wrong(V)
def array_or_view(a: Double["n"]) -> Double["n"]:
    b = np.asarray(a)
    b += 1.0  # E0906
    return a


@wrong(V)
def constant_changed(a: Double["n"]) -> float:
    BIG[0] = 1.0  # E0901
    return a[0]


# ---------------------------------------------------------------- types


@wrong(V)
def condition_of_an_array(a: Double["n"]) -> int:
    if a > 0:  # E0903
        return 1
    return 0


@wrong(1, 2)
def and_of_numbers(a: int, b: int) -> int:
    return a and b  # E0903


@wrong(V)
def length_of_a_number(a: Double["n"]) -> int:
    return len(a[0])  # E0903


@wrong(V)
def real_index(a: Double["n"]) -> float:
    return a[1.0]  # E0903


@wrong(A)
def too_many_indices(a: Double["n", "m"]) -> float:
    return a[0, 1, 2]  # E0903


@wrong(1.0)
def index_of_a_number(x: float) -> float:
    return x[0]  # E0903


@wrong(np.zeros(2, np.float32), V)
def two_precisions(f: Float["n"], a: Double["m"]) -> float:
    return np.sum(f * a)  # E0903


@wrong(V)
def wrong_rank_of_the_result(a: Double["n"]) -> float:
    return a  # E0903


@wrong(1.5)
def wrong_type_of_the_result(x: float) -> int:
    return x  # E0903


@wrong(1)
def wrong_number_of_results(n: int) -> tuple[int, int]:
    return n, n, n  # E0903


@wrong(np.array([1, 2]))
def real_into_whole_numbers(a: Int["n"]) -> Int["n"]:
    b = a.copy()
    b[0] = 1.5  # E0903
    return b


@wrong(V)
def unpacked_wrongly(a: Double["n"]) -> float:
    x, y = (1.0, 2.0, 3.0)  # E0903
    return x


@wrong(1)
def loop_over_a_number(n: int) -> int:
    for i in n:  # E0903
        n += 1
    return n


@wrong(1 + 2j)
def order_of_complex_numbers(z: complex) -> bool:
    return z < 1j  # E0903


@wrong(1)
def membership(n: int) -> bool:
    return n in (1, 2)  # E0901


@wrong(V)
def product_of_a_number(a: Double["n"]) -> float:
    return a @ 2.0  # E0903


@wrong(1)
def empty_list(n: int) -> int:
    a = []  # E0903
    return n


@wrong(A)
def concatenated_wrongly(a: Double["n", "m"]) -> Double[:, :]:
    return np.concatenate((a, a[0]))  # E0903


# ---------------------------------------------------------------- arguments and ranges


@wrong(1.0)
def too_many_arguments(x: float) -> float:
    return math.sin(x, 2.0)  # E0907


@wrong(V)
def unknown_keyword(a: Double["n"]) -> float:
    return np.sum(a, where=True)  # E0907


@wrong(A)
def no_such_axis(a: Double["n", "m"]) -> Double[:]:
    return np.sum(a, axis=2)  # E0908


@wrong(1)
def step_of_zero(n: int) -> int:
    for i in range(0, n, 0):  # E0908
        n += 1
    return n


@wrong(1)
def beyond_64_bits(n: int) -> int:
    return n + 10**20  # E0908


@wrong(1)
def where_of_one(n: int) -> int:
    return np.sum(np.where(np.arange(3) > n))  # E0907


# ---------------------------------------------------------------- found by the checker, and while it runs


@wrong(A, A)
def subscripts_of_other_axes(a: Double["n", "m"], b: Double["n", "m"]) -> float:
    return np.einsum("ij,jkl->", a, b)  # E0907


@wrong(A, A)
def subscripts_that_are_none(a: Double["n", "m"], b: Double["n", "m"]) -> float:
    return np.einsum("i1,ij->", a, b)  # E0907


@wrong(A)
def subscripts_for_one_more(a: Double["n", "m"]) -> float:
    return np.einsum("ij,jk->", a)  # E0907


@wrong(A)
def subscript_of_nothing(a: Double["n", "m"]) -> Double[:]:
    return np.einsum("ij->k", a)  # E0907


@wrong(A)
def subscript_twice(a: Double["n", "m"]) -> Double[:, :]:
    return np.einsum("ij->ii", a)  # E0907


@wrong(A)
def subscripts_without_place(a: Double["n", "m"]) -> Double[:]:
    return np.einsum("i...->i", a)  # E0907


@wrong(A, 1)
def subscripts_that_are_not_known(a: Double["n", "m"], n: int) -> float:
    return np.einsum(n, a)  # E0907


@wrong(A)
def subscripts_of_bool(a: Double["n", "m"]) -> float:
    return np.einsum("ij->", a > 0.0)  # E0903


@wrong(A, np.ones((2, 2)))
def subscripts_of_other_extents(a: Double["n", "m"], b: Double["k", "l"]) -> float:
    return np.einsum("ij,jk->", a, b)  # E0616


@wrong(A, V)
def product_of_other_extents(a: Double[2, 3], b: Double[4]) -> Double[:]:
    return a @ b  # E0503


@wrong(V, np.ones(2))
def other_extents(a: Double["n"], b: Double["n"]) -> Double["n"]:  # E0615
    return a + b


@wrong(V, np.ones(2))
def shapes_that_differ(a: Double["n"], b: Double["m"]) -> Double["n"]:
    return a + b  # E0602


@wrong(V, 3)
def out_of_range(a: Double["n"], i: int) -> float:
    return a[i]  # E0601


@wrong(V, 0)
def negative_at_run_time(a: Double["n"], i: int) -> float:
    return a[i - 1]  # E0601


@wrong(V, 2**32)
def index_beyond_32_bits(a: Double["n"], i: int) -> float:
    return a[i]  # E0601


@wrong(1, 0)
def division_by_zero(a: int, b: int) -> int:
    return a // b  # E0603


@wrong(V[:0])
def least_of_nothing(a: Double["n"]) -> float:
    return np.min(a)  # E0616


@wrong(A)
def squeezed_without_an_axis(a: Double["n", "m"]) -> Double[:]:
    return np.squeeze(a)  # E0907


@wrong(A[:, :0])
def squeezed_where_there_are_more(a: Double["n", "m"]) -> Double[:]:
    return np.squeeze(a, axis=0)  # E0616


@wrong(V, -1)
def repeated_less_than_never(a: Double["n"], k: int) -> Double[:]:
    return np.repeat(a, k)  # E0616


@wrong(V)
def a_trace_of_a_vector(a: Double["n"]) -> float:
    return np.trace(a)  # E0903


@wrong(A, 1)
def a_diagonal_that_varies(a: Double["n", "m"], k: int) -> Double[:]:
    return np.diag(a, k)  # E0908


@wrong(V)
def mirrored_without_columns(a: Double["n"]) -> Double[:]:
    return np.fliplr(a)  # E0903


@wrong(V[:0])
def convolved_with_nothing(a: Double["n"]) -> Double[:]:
    return np.convolve(a, a)  # E0616


@wrong(V)
def convolved_in_another_way(a: Double["n"]) -> Double[:]:
    return np.convolve(a, a, mode="half")  # E0907


@wrong(V)
def each_truth_once(a: Double["n"]) -> Bool[:]:
    return np.unique(a > 0)  # E0903


@wrong(V)
def interpolated_over_a_matrix(a: Double["n"]) -> Double[:]:
    return np.interp(a, a[:, None], a)  # E0903


@wrong(V, V[:2])
def points_without_values(a: Double["n"], b: Double["m"]) -> Double["n"]:
    return np.interp(a, a, b)  # E0615


@wrong(3)
def array_for_a_number(n: Int) -> int:
    s = 0
    for i in range(n):  # E0903
        s = s + i
    return s
