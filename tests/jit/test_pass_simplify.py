"""The simplifier, on printed graphs."""

from __future__ import annotations

import pytest

from sacpy.jit.passes import dead_code
from sacpy.jit.passes.simplify import run
from tests.jit.pass_tools import after, check, unchanged


def test_a_view_melts_into_the_load_and_a_check_is_done_once() -> None:
    check(
        run,
        """
        function f(int n, int m, double[n,m] a, int i, int j)
            double[m] row = view a[i]
            bool ok = le 0, j
            check ok : low
            bool again = le 0, j
            check again : low
            double x = load row[j]
            return x
        """,
        """
        function f(int n, int m, double[n,m] a, int i, int j)
            double[m] row = view a[i]
            bool ok = le 0, j
            check ok : low
            double x = load a[i,j]
            return x
        """,
    )


def test_sums_of_integers_collect_their_constants() -> None:
    check(
        run,
        """
        function f(int i)
            int a = add i, 1
            int b = sub a, 3
            int c = add 2, b
            int d = add c, i
            int e = sub d, i
            return b, e
        """,
        """
        function f(int i)
            int a = add i, 1
            int b = add i, -2
            int d = add i, i
            return b, i
        """,
    )


@pytest.mark.parametrize(
    ("line", "result"),
    [("sub x, 0.0", "x"), ("add x, -0.0", "x"), ("mul x, 1.0", "x"), ("div x, 1.0", "x"), ("min x, x", "x")],
)
def test_floating_point_operations_that_change_no_bit_go(line: str, result: str) -> None:
    check(
        run, f"function f(double x)\n    double y = {line}\n    return y", f"function f(double x)\n    return {result}"
    )


@pytest.mark.parametrize(
    "line",
    [
        "add x, 0.0",
        "sub x, -0.0",
        "mul x, 0.0",
        "sub x, x",
        "div x, x",
        "eq x, x",
        "le x, x",
        "neq x, x",
        "div x, 3.0",
        "div x, 0.0",
        "min x, 1.0",
    ],
)
def test_floating_point_operations_that_might_change_a_bit_stay(line: str) -> None:
    base = "bool" if line.split()[0] in ("eq", "le", "neq") else "double"
    unchanged(run, f"function f(double x)\n    {base} y = {line}\n    return y")


def test_of_equal_extents_the_given_one_stays() -> None:
    check(
        run,
        """
        function f(int n, int m)
            int k = mul n, m
            bool same = eq n, k
            check same : the shapes agree
            int a = add k, n
            return k, a
        """,
        """
        function f(int n, int m)
            int k = mul n, m
            bool same = eq n, k
            check same : the shapes agree
            int a = add n, n
            return n, a
        """,
    )


@pytest.mark.parametrize("line", ["add x, nan", "mul nan, x", "sub nan, x", "div x, nan", "min x, nan", "max x, nan"])
def test_what_is_computed_of_nan_is_nan(line: str) -> None:
    check(run, f"function f(double x)\n    double y = {line}\n    return y", "function f(double x)\n    return nan")


@pytest.mark.parametrize("line", ["min nan, x", "max nan, x"])
def test_of_nan_and_something_the_second_is_the_extreme(line: str) -> None:
    check(run, f"function f(double x)\n    double y = {line}\n    return y", "function f(double x)\n    return x")


def test_a_division_by_a_power_of_two_is_a_multiplication() -> None:
    check(
        run,
        "function f(double x)\n    double y = div x, 16.0\n    return y",
        "function f(double x)\n    double y = mul x, 0.0625\n    return y",
    )


def test_not_of_a_comparison_turns_it_round_only_where_there_is_no_nan() -> None:
    check(
        run,
        "function f(int i, int k)\n    bool a = lt i, k\n    bool b = not a\n    return b",
        "function f(int i, int k)\n    bool a = lt i, k\n    bool b = le k, i\n    return b",
    )
    unchanged(run, "function f(double i, double k)\n    bool a = lt i, k\n    bool b = not a\n    return b")


def test_an_operation_without_a_value_is_left() -> None:
    unchanged(run, "function f(int i)\n    int a = div 1, 0\n    int b = shl 1, 32\n    return a, b")


def test_wrapping_is_folded_exactly() -> None:
    check(
        run,
        "function f()\n    int a = add 2147483647, 1\n    int b = neg -2147483648\n    return a, b",
        "function f()\n    return -2147483648, -2147483648",
    )


def test_a_condition_is_known_in_its_branches_and_not_behind_them() -> None:
    check(
        run,
        """
        function f(bool c, int n, double[n] a)
            double x = if c
                double u = select c, 1.0, 2.0
                double v = load a[0]
                double w = add u, v
                give w
            else
                double z = select c, 3.0, 4.0
                give z
            int k = select c, 1, 2
            return x, k
        """,
        """
        function f(bool c, int n, double[n] a)
            double x = if c
                double v = load a[0]
                double w = add v, 1.0
                give w
            else
                give 4.0
            int k = select c, 1, 2
            return x, k
        """,
    )


def test_a_small_conditional_of_operations_is_a_selection_one_with_a_load_is_not() -> None:
    check(
        run,
        """
        function f(bool c, int i)
            int x = if c
                int u = mul i, 3
                give u
            else
                give i
            return x
        """,
        """
        function f(bool c, int i)
            int u = mul i, 3
            int x = select c, u, i
            return x
        """,
    )
    unchanged(
        run,
        """
        function f(bool c, int n, int[n] a)
            int x = if c
                int u = load a[3]
                give u
            else
                give 0
            return x
        """,
    )


def test_what_an_inner_block_computed_is_not_known_behind_it() -> None:
    unchanged(
        run,
        """
        function f(bool c, int n, int[n] a, int i)
            int x = if c
                int s = load a[0]
                int u = mul i, s
                give u
            else
                give 0
            int t = load a[0]
            int v = mul i, t
            return x, v
        """,
    )


def test_a_carried_variable_that_never_changes_is_its_initial_value() -> None:
    check(
        run,
        """
        function f(int n, double x)
            double a, double b = for i from 0 to n step 1 with double p := x, double q := x
                double r = add q, p
                next p, r
            return a, b
        """,
        """
        function f(int n, double x)
            double b = for i from 0 to n step 1 with double q := x
                double r = add q, x
                next r
            return x, b
        """,
    )


def test_loads_find_what_an_update_set_and_pass_one_that_is_elsewhere() -> None:
    check(
        run,
        """
        function f(int n, double[n] a, int i, double x)
            double[n] b = update a[i] with x
            double y = load b[i]
            double[n] c = update a[3] with x
            double z = load c[4]
            double w = load c[i]
            return y, z, w
        """,
        """
        function f(int n, double[n] a, int i, double x)
            double[n] b = update a[i] with x
            double[n] c = update a[3] with x
            double z = load a[4]
            double w = load c[i]
            return x, z, w
        """,
    )


def test_an_element_of_small_arrays_and_reshaped_ones() -> None:
    check(
        run,
        """
        function f(int n, double[n] a, double x, int i, int j)
            double[2] c = array double[2] of 1.0, x
            double y = load c[1]
            double z = load c[i]
            double[n,1] r = reshape a to [n,1]
            double w = load r[i,0]
            double[4,5] q = reshape a to [4,5]
            double v = load q[i,j]
            return y, z, w, v
        """,
        """
        function f(int n, double[n] a, double x, int i, int j)
            double[2] c = array double[2] of 1.0, x
            double z = load c[i]
            double[n,1] r = reshape a to [n,1]
            double w = load a[i]
            double[4,5] q = reshape a to [4,5]
            int at = mul! i, 5
            int at.1 = add! at, j
            double v = load a[at.1]
            return x, z, w, v
        """,
    )


def test_a_partition_behind_one_that_covers_everything_goes_but_not_from_a_fold() -> None:
    check(
        run,
        """
        function f(int n, double x)
            double[n] a = with [n]
                genarray double default 0.0
                part [0] <= [i] < [n]
                    yield x
                part [2] <= [j] < [n]
                    yield 1.0
            double s = with
                fold from 0.0 by (double acc), (double val)
                    double r = add acc, val
                    give r
                part [0] <= [k] < [n]
                    yield x
                part [3] <= [l] < [3]
                    yield 1.0
            return n, a, s
        """,
        """
        function f(int n, double x)
            double[n] a = with [n]
                genarray double default 0.0
                part [0] <= [i] < [n]
                    yield x
            double s = with
                fold from 0.0 by (double acc), (double val)
                    double r = add acc, val
                    give r
                part [0] <= [k] < [n]
                    yield x
                part [3] <= [l] < [3]
                    yield 1.0
            return n, a, s
        """,
    )


def test_a_with_loop_that_copies_an_array_is_the_array() -> None:
    check(
        run,
        """
        function f(int n, double[n,2] a)
            double[n,2] b = with [n]
                genarray double cell [2] default 0.0
                part [0] <= [i] < [n]
                    double x = load a[i,0]
                    double y = load a[i,1]
                    double[2] c = array double[2] of x, y
                    yield c
            return n, b
        """,
        """
        function f(int n, double[n,2] a)
            return n, a
        """,
    )
    text = """
        function f(int n, int m, double[m] a)
            double[n] b = with [n]
                genarray double default 0.0
                part [0] <= [i] < [n]
                    double x = load a[i]
                    yield x
            return n, b
        """
    unchanged(run, text)
    assert "with" not in after(
        run, text.replace("double[n] b", "bool t = eq m, n\n            check t : same\n            double[n] b")
    )


@pytest.mark.parametrize(
    ("line", "result"),
    [
        ("eq c, true", "c"),
        ("neq c, false", "c"),
        ("and c, true", "c"),
        ("or c, false", "c"),
        ("and c, false", "false"),
        ("or c, true", "true"),
    ],
)
def test_operations_with_a_truth_value_that_is_known(line: str, result: str) -> None:
    check(run, f"function f(bool c)\n    bool d = {line}\n    return d", f"function f(bool c)\n    return {result}")


@pytest.mark.parametrize("line", ["eq c, false", "neq c, true"])
def test_comparisons_that_negate(line: str) -> None:
    check(
        run,
        f"function f(bool c)\n    bool d = {line}\n    return d",
        "function f(bool c)\n    bool d = not c\n    return d",
    )


def test_a_part_replaced_with_elements_is_replaced_one_by_one() -> None:
    check(
        run,
        """
        function f(int n, double[n,2] p, int i, double x)
            double[2] c = array double[2] of x, 1.0
            double[n,2] u = update p[i] with c
            double y = load u[i,0]
            return n, u, y
        """,
        """
        function f(int n, double[n,2] p, int i, double x)
            double[2] c = array double[2] of x, 1.0
            double[n,2] u.1 = update p[i,0] with x
            double[n,2] u = update u.1[i,1] with 1.0
            return n, u, x
        """,
    )


@pytest.mark.parametrize(("part", "cell"), [("[0,0] <= [i,j] < [n,m]", ""), ("[0] <= [i] < [n]", "cell [m] ")])
def test_replacing_cells_of_an_array_full_of_one_scalar_makes_an_array(part: str, cell: str) -> None:
    value = "double[m] x = view a[k]" if cell else "double x = load a[k,j]"
    text = f"""
        function f(int n, int m, double[n,m] a, int k)
            double[n,m] b = with [n] disjoint
                genarray double cell [m] default 2.0
            double[n,m] c = with {"[n]" if cell else "[n,m]"} disjoint
                modarray b
                part {part}
                    {value}
                    yield x
            return n, m, c
        """
    check(lambda u: dead_code.run(run(u)), text, f"""
        function f(int n, int m, double[n,m] a, int k)
            double[n,m] c = with {"[n]" if cell else "[n,m]"} disjoint
                genarray double {cell}default 2.0
                part {part}
                    {value}
                    yield x
            return n, m, c
        """)  # fmt: skip


def test_an_array_that_each_index_has_for_itself_is_no_copy() -> None:
    text = """
        function f(int n, int[n] at)
            int[n] o = with [n] disjoint complete
                genarray int default 0
                part [0] <= [l] < [n]
                    int[n] r = for k from 0 to n step 1 with int[n] b := at
                        int p = load b[k]
                        int[n] c = update b[p] with l
                        next c
                    int e = load r[l]
                    yield e
            return n, o
        """
    unchanged(run, text)
    assert "with" not in after(run, text.replace("load r[l]", "load at[l]"))  # that is one
