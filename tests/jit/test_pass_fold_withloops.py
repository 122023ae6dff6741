"""With-loop folding, on printed graphs: what becomes one loop, and what must not."""

from __future__ import annotations

from typing import Any

import pytest

from sacpy.jit.ir.graph import Block
from sacpy.jit.passes import fold_withloops
from sacpy.jit.passes.fold_withloops import LINKS, run
from tests.jit.graph_text import unit
from tests.jit.pass_tools import after, check, unchanged


def test_a_product_under_a_sum_is_one_loop() -> None:
    check(
        run,
        """
        function f(int n, double[n] a, double[n] b)
            double[n] t = with [n]
                genarray double default 0.0
                part [0] <= [i] < [n]
                    double x = load a[i]
                    double y = load b[i]
                    double z = mul x, y
                    yield z
            double s = with
                fold from 0.0 by (double acc), (double val)
                    double r = add acc, val
                    give r
                part [0] <= [j] < [n]
                    double v = load t[j]
                    yield v
            return s
        """,
        """
        function f(int n, double[n] a, double[n] b)
            double s = with
                fold from 0.0 by (double acc), (double val)
                    double r = add acc, val
                    give r
                part [0] <= [j] < [n]
                    double x.1 = load a[j]
                    double y.1 = load b[j]
                    double z.1 = mul x.1, y.1
                    yield z.1
            return s
        """,
    )


def test_shift_reversal_transpose_and_take_melt_together() -> None:
    check(
        run,
        """
        function f(int n, int m, double[n,m] a, int k)
            double[m,n] t = with [m,n]
                genarray double default 0.0
                part [0,0] <= [i,j] < [m,n]
                    double x = load a[j,i]
                    yield x
            int last = sub m, 1
            double[m,n] r = with [m,n]
                genarray double default 0.0
                part [0,0] <= [i2,j2] < [m,n]
                    int back = sub last, i2
                    double y = load t[back,j2]
                    yield y
            double[3] c = with [3]
                genarray double default 0.0
                part [0] <= [p] < [3]
                    int q = add p, k
                    double z = load r[q,0]
                    yield z
            return c
        """,
        """
        function f(int n, int m, double[n,m] a, int k)
            int last = add m, -1
            double[3] c = with [3]
                genarray double default 0.0
                part [0] <= [p] < [3]
                    int q = add p, k
                    int back.1 = sub last, q
                    double x.2 = load a[0,back.1]
                    yield x.2
            return c
        """,
    )


SMOOTHED = """
function f(int n, double[n] a)
    double[n] t = with [n]
        genarray double default 0.0
        part [0] <= [i] < [n]
            double x = load a[i]
            double y = {work} x
            yield y
    double[n] s = with [n]
        genarray double default 0.0
        part [2] <= [j] < [n]
            double v = load t[j]
            int l = sub j, 2
            double w = load t[l]
            double u = add v, w
            yield u
    return n, s
"""


def test_dear_work_that_two_places_need_is_not_done_twice() -> None:
    assert "load t[j]" in after(run, SMOOTHED.format(work="exp"))
    assert after(run, SMOOTHED.format(work="neg")).count("with") == 1


PAIRS = """
function f(int n, double[n] a)
    double[n,2] t = with [n,2]
        genarray double default 0.0
        part [0,0] <= [i,c] < [n,2]
            double x = load a[i]
            double y = exp x
            yield y
    double[n] s = with [n]
        genarray double default 0.0
        part [0] <= [j] < [n]
            int l = aplmod j, 7
            double v = load t[j,0]
            double w = load t[{other}]
            double u = add v, w
            yield u
    return n, s
"""


def test_two_places_that_load_different_cells_do_no_work_twice() -> None:
    assert after(run, PAIRS.format(other="j,1")).count("with") == 1
    assert after(run, PAIRS.format(other="l,0")).count("with") == 2


def test_dear_work_is_not_moved_into_a_loop() -> None:
    text = """
    function f(int n, int m, double[n] a, double[m] b)
        double[n] t = with [n]
            genarray double default 0.0
            part [0] <= [i] < [n]
                double x = load a[i]
                double y = exp x
                yield y
        double[m,n] s = with [m,n]
            genarray double default 0.0
            part [0,0] <= [j,k] < [m,n]
                double v = load t[k]
                double w = load b[j]
                double u = add v, w
                yield u
        return m, n, s
    """
    unchanged(run, text)


def test_an_array_that_is_used_as_a_whole_stays() -> None:
    unchanged(
        run,
        """
        function f(int n, double[n] a)
            double[n] t = with [n]
                genarray double default 0.0
                part [0] <= [i] < [n]
                    double x = load a[i]
                    double z = add x, 1.0
                    yield z
            double y = load t[0]
            return n, t, y
        """,
    )


def test_the_old_contents_of_an_array_that_is_written_to_are_not_kept_alive() -> None:
    unchanged(
        run,
        """
        function f(int n, double[n] a)
            double[n] t = with [n]
                genarray double default 0.0
                part [0] <= [i] < [n]
                    double x = load a[i]
                    double z = add x, 1.0
                    yield z
            double[n] b = update a[0] with 1.0
            double y = load t[0]
            return n, b, y
        """,
    )


def test_of_overlapping_partitions_the_earlier_wins_and_the_default_comes_last() -> None:
    check(
        run,
        """
        function f(int n, double[n] a, int k)
            double[n] t = with [n]
                genarray double default 9.0
                part [1] <= [i] < [4]
                    double x = load a[i]
                    yield x
                part [0] <= [j] < [n] step [2] width [1]
                    yield 1.0
            double y = load t[k]
            return y
        """,
        """
        function f(int n, double[n] a, int k)
            bool in = le 1, k
            bool in.1 = lt k, 4
            bool in.2 = and in, in.1
            double y.2 = if in.2
                double x.1 = load a[k]
                give x.1
            else
                int in.4 = aplmod k, 2
                bool in.5 = lt in.4, 1
                double y.1 = select in.5, 1.0, 9.0
                give y.1
            return y.2
        """,
    )


def test_outside_its_partitions_a_modarray_is_what_it_was_made_from() -> None:
    check(
        run,
        """
        function f(int n, double[n] a, int k)
            double[n] t = with [n]
                modarray a
                part [1] <= [i] < [n]
                    yield 1.0
            double y = load t[k]
            return y
        """,
        """
        function f(int n, double[n] a, int k)
            bool in = le 1, k
            double y.2 = if in
                give 1.0
            else
                double y.1 = load a[k]
                give y.1
            return y.2
        """,
    )


def test_elements_of_a_cell_that_are_loaded_in_one_place_share_its_work() -> None:
    text = after(
        run,
        """
        function f(int n, double[n] a)
            double[n,2] t = with [n]
                genarray double cell [2] default 0.0
                part [0] <= [i] < [n]
                    double x = load a[i]
                    double y = sin x
                    double z = cos x
                    double[2] c = array double[2] of y, z
                    yield c
            double[n] s = with [n]
                genarray double default 0.0
                part [0] <= [j] < [n]
                    double u = load t[j,0]
                    double v = load t[j,1]
                    double w = add u, v
                    yield w
            return n, s
        """,
    )
    assert text.count("sin") == text.count("cos") == text.count("genarray") == 1


def test_the_work_for_a_cell_is_not_done_for_each_of_its_elements() -> None:
    unchanged(
        run,
        """
        function f(int n, double[n] a)
            double[n,2] t = with [n]
                genarray double cell [2] default 0.0
                part [0] <= [i] < [n]
                    double x = load a[i]
                    double y = sin x
                    double z = cos x
                    double[2] c = array double[2] of y, z
                    yield c
            double[n,2] s = with [n,2]
                genarray double default 0.0
                part [0,0] <= [j,k] < [n,2]
                    double u = load t[j,k]
                    double w = add u, 1.0
                    yield w
            return n, s
        """,
    )


def test_cells_that_are_with_loops_themselves_fold_to_the_element() -> None:
    check(
        run,
        """
        function f(int n, int m, double[n] a, double[m] b)
            double[n,m] t = with [n]
                genarray double cell [m] default 0.0
                part [0] <= [i] < [n]
                    double x = load a[i]
                    double[m] row = with [m]
                        genarray double default 0.0
                        part [0] <= [j] < [m]
                            double y = load b[j]
                            double z = mul x, y
                            yield z
                    yield row
            double s = load t[1,2]
            return s
        """,
        """
        function f(int n, int m, double[n] a, double[m] b)
            double x.1 = load a[1]
            double y.2 = load b[2]
            double z.2 = mul x.1, y.2
            return z.2
        """,
    )


def test_checks_go_where_the_element_is_computed() -> None:
    assert "check" in after(
        run,
        """
        function f(int n, double[n] a, int[n] p)
            double[n] t = with [n]
                genarray double default 0.0
                part [0] <= [i] < [n]
                    int k = load p[i]
                    bool low = le 0, k
                    check low : not negative
                    bool high = lt k, n
                    check high : below the extent
                    double x = load a[k]
                    yield x
            double y = load t[3]
            return y
        """,
    )


TWO_RESULTS = """
    function f(int n, double[n] a, double[n] b)
        double[n] t, double[n] u = with [n] disjoint complete
            genarray double default 0.0
            genarray double default 0.0
            part [0] <= [i] < [n]
                double x = load a[i]
                double y = load b[i]
                double s, double p = with
                    fold from 0.0, 1.0 by (double acc, double acc.1), (double val, double val.1)
                        double add = add acc, val
                        double mul = mul acc.1, val.1
                        give add, mul
                    part [0] <= [j] < [n]
                        double z = load a[j]
                        double d = sub z, x
                        yield d, d
                double q = mul p, y
                yield s, {second}
"""
IN_ONE_PLACE = """
        double[n] v = with [n] disjoint complete
            genarray double default 0.0
            part [0] <= [k] < [n]
                double t.1 = load t[k]
                double u.1 = load u[k]
                double w = add t.1, u.1
                yield w
        return n, v
"""
IN_TWO_PLACES = """
        double[n] v = with [n] disjoint complete
            genarray double default 0.0
            part [0] <= [k] < [n]
                double t.1 = load t[k]
                yield t.1
        double[n] w = with [n] disjoint complete
            genarray double default 0.0
            part [0] <= [l] < [n]
                double u.1 = load u[l]
                double z.1 = neg u.1
                yield z.1
        return n, v, n, w
"""


def test_the_results_of_one_with_loop_share_its_body_where_they_are_loaded_at_one_index() -> None:
    folded = after(run, TWO_RESULTS.format(second="q") + IN_ONE_PLACE)
    assert folded.count("fold") == 1 and folded.count("genarray") == 1
    assert "load b[k]" in folded


def test_dear_work_that_two_results_share_is_not_done_once_for_each_place_that_loads_one() -> None:
    assert after(run, TWO_RESULTS.format(second="q") + IN_TWO_PLACES).count("fold") == 1
    cheap = after(run, TWO_RESULTS.format(second="y") + IN_TWO_PLACES)  # the second result needs nothing of the fold
    assert cheap.count("fold") == 1 and cheap.count("genarray") == 2
    assert "load b[l]" in cheap


def test_dear_work_that_a_folded_array_shares_with_one_that_stays_is_not_done_twice() -> None:
    escapes = (
        "        double[n] v = with [n] disjoint complete\n            genarray double default 0.0\n"
        "            part [0] <= [k] < [n]\n                double t.1 = load t[k]\n"
        "                double w = neg t.1\n                yield w\n        return n, u, n, v\n"
    )
    assert after(run, TWO_RESULTS.format(second="q") + escapes).count("fold") == 1


def test_in_a_conditional_the_results_of_one_with_loop_share_its_body_too() -> None:
    check(
        run,
        """
        function f(int n, double[n] a, int k)
            double[n] t, double[n] u = with [n]
                genarray double default 0.0
                genarray double default 9.0
                part [1] <= [i] < [n]
                    double x = load a[i]
                    double y = exp x
                    double z = mul y, y
                    yield y, z
            double x.1 = load u[k]
            double y.1 = load t[k]
            double z.1 = sub x.1, y.1
            return z.1
        """,
        """
        function f(int n, double[n] a, int k)
            bool in = le 1, k
            double x.3, double x.4 = if in
                double x.2 = load a[k]
                double y.2 = exp x.2
                double z.2 = mul y.2, y.2
                give y.2, z.2
            else
                give 0.0, 9.0
            double z.1 = sub x.4, x.3
            return z.1
        """,
    )


STEPPED = """
function f(int n, double[n] a, double[n] b)
    double[n] t = with [n]
        genarray double default 0.0
        part [0] <= [i] < [n]
            double x = load a[i]
            double y = sqrt x
            double z = exp y
            yield z
    double[n] r = with [n]
        modarray b
        part [{first}] <= [j] < [n] step [{step}] width [1]
            double v = load t[j]
            yield v
        part [{second}] <= [k] < [n] step [{step}] width [1]
            double w = load t[k]
            double u = neg w
            yield u
    return n, r
"""


def test_readers_that_step_share_the_work() -> None:
    """Two of them that each read every other element do none of it twice; two that read all do."""
    assert "genarray" not in after(run, STEPPED.format(first=0, second=1, step=2))
    assert "genarray" in after(run, STEPPED.format(first=0, second=0, step=1))


MASK = """
function f(int n, double[n] a, int k)
    bool[n] m = with [n]
        genarray bool default false
        part [0] <= [i] < [n]
            {condition}
            yield c
    double[n] r = with [n]
        genarray double default 0.0
        part [0] <= [j] < [n]
            bool d = load m[j]
            double x = load a[j]
            double y = mul x, x
            double z = select d, y, x
            yield z
    double[n] s = with [n]
        genarray double default 0.0
        part [0] <= [j2] < [n]
            bool d2 = load m[j2]
            double x2 = load r[j2]
            double y2 = load a[j2]
            double z2 = select d2, x2, y2
            yield z2
    return r, s
"""


@pytest.mark.parametrize(
    ("condition", "folded"),
    [
        (("int t = mod i, 3", "int u = mod i, 2", "bool c = eq t, u"), True),
        (("int t = mod i, k", "int u = mod i, 2", "bool c = eq t, u"), False),  # a division that takes its time
        (("double t = tod i", "double u = sqrt t", "bool c = lt u, 3.5"), False),
        # much work
        (("int g = mod i, 5", "int h = mod i, 7", "int t = div i, 3", "int u = add g, h", "bool c = eq t, u"), False),
    ],
)
def test_a_mask_is_computed_where_it_is_used_if_it_only_asks_for_the_index(
    condition: tuple[str, ...], folded: bool
) -> None:
    text = MASK.format(condition="\n            ".join(condition))
    assert ("load m" not in after(run, text)) is folded


MIDDLES = """
function f(int n, int m, double[n,m] u)
    double[n,m] a = with [n,m] disjoint complete
        genarray double default 0.0
        part [0,0] <= [i,j] < [n,m]
            int k = div {divided}, 2
            double x = load u[i,j]
            double y = load u[{index}]
            double z = add x, y
            double w = mul z, 0.5
            yield w
    double[n,m] b = with [n,m] disjoint complete
        genarray double default 0.0
        part [0,0] <= [i.1,j.1] < [n,m]
            int l = div i.1, 2
            double x.1 = load a[{own}]
            double y.1 = load a[{other}]
            double z.1 = add x.1, y.1
            yield z.1
    return n, m, b
"""


@pytest.mark.parametrize(
    ("divided", "index", "own", "other", "count"),
    [
        ("i", "k,j", "i.1,j.1", "l,j.1", 1),
        ("j", "i,k", "i.1,j.1", "l,j.1", 2),  # a division for every element
        ("i", "k,j", "i.1,j.1", "j.1,i.1", 2),  # the rows of one are not those of the other
        ("i", "k,j", "i.1,j.1", "i.1,l", 2),
    ],
)
def test_what_rows_have_in_common_may_be_done_twice_and_loads_that_are_saved_pay_for_the_rest(
    divided: str, index: str, own: str, other: str, count: int
) -> None:
    assert after(run, MIDDLES.format(divided=divided, index=index, own=own, other=other)).count("= with") == count


ELEMENTS = """
function f(int n, double[n] a, double[n] b, int k)
    double[n,2] t = with [n]
        genarray double cell [2] default 0.0
        part [0] <= [i] < [n]
            double x = load a[i]
            double y = load b[i]
            double z = {op} x
            double u = neg y
            double[2] c = array double[2] of z, u
            yield c
    double[n] r = with [n]
        genarray double default 0.0
        part [1] <= [j] < [n]
            int l = add j, -1
            double v = load t[j,{at}]
            double w = load t[l,{at}]
            double o = mul v, w
            yield o
    return n, r
"""


def test_elements_of_a_cell_are_computed_by_themselves_where_they_are_named() -> None:
    """Each of them is little work, though both together are more; a dear one, or one that is not known, is not computed
    twice."""
    assert "cell" not in after(run, ELEMENTS.format(op="neg", at=0))
    assert "cell" in after(run, ELEMENTS.format(op="exp", at=0))
    assert "cell" in after(run, ELEMENTS.format(op="exp", at=1))
    assert "cell" in after(run, ELEMENTS.format(op="neg", at="k").replace("neg y", "mul y, x"))


ROWS = """
function f(int n, double[2,n] a, double[n] b)
    double[n] t = with [n]
        genarray double default 0.0
        part [0] <= [i] < [n]
            double x = load a[{row},i]
            double y = exp x
            yield y
    double[2,n] r = with [2,n]
        modarray a
        part [1,0] <= [l,j] < [{upper},n]
            double v = load t[j]
            yield v
    return n, r
"""


def test_a_loop_over_one_index_repeats_nothing_and_may_replace_what_is_not_read() -> None:
    assert "genarray" not in after(run, ROWS.format(row=0, upper=2))
    assert "genarray" in after(run, ROWS.format(row=1, upper=2))  # which could not be replaced in place any more
    assert "genarray" in after(run, ROWS.format(row=0, upper="n"))


@pytest.mark.parametrize("rounds", [False, True])
@pytest.mark.parametrize(("dear", "folds"), [("exp", False), ("neg", True)])
def test_what_is_dear_is_not_computed_one_by_one_in_rounds_that_are_no_vectors(
    dear: str, folds: bool, rounds: bool
) -> None:
    inner = """
                int c.2 = loop int c.1 := c
                    while
                        bool less = lt c.1, k
                        test less
                    round
                        int more = add c.1, 1
                        next more
    """
    text = f"""
        function f(int n, double[n] a, int k)
            double[n] t = with [n] disjoint complete
                genarray double default 0.0
                part [0] <= [i] < [n]
                    double x = load a[i]
                    double y = {dear} x
                    yield y
            double s.2, int d = for j from 0 to n step 1 with double s := 0.0, int c := 0
                double v = load t[j]
                double s.1 = add s, v
                {inner if rounds else "int c.2 = add c, 1"}
                next s.1, c.2
            return s.2, d
    """
    assert ("load t[j]" not in after(run, text)) == folds


@pytest.mark.parametrize(("dear", "folds"), [("exp", False), ("neg", True)])
def test_nor_as_long_as_a_condition_holds(dear: str, folds: bool) -> None:
    text = f"""
        function f(int n, double[n] a)
            double[n] t = with [n] disjoint complete
                genarray double default 0.0
                part [0] <= [i] < [n]
                    double x = load a[i]
                    double y = {dear} x
                    yield y
            int c.2, double s.2 = loop int c := 0, double s := 0.0
                while
                    bool less = lt c, n
                    test less
                round
                    double v = load t[c]
                    double s.1 = mul s, v
                    int more = add c, 1
                    next more, s.1
            return s.2, c.2
    """
    assert ("load t[c]" not in after(run, text)) == folds


BORDERED = """
function f(int n, double[n] a, int[n] p, int k)
    int m = add! n, 2
    int last = add! n, 1
    double[m] t = with [m]
        genarray double default 0.0
{parts}
    double[n] r = with [n]
        genarray double default 0.0
        part [0] <= [l] < [n]
            int q = {q}
            double u = load t[q]
            int l2 = add! l, 2
            double v = load t[l2]
            double w = add u, v
            yield w
    return n, r
"""
INTERIOR = """
        part [{lower}] <= [i] < [{upper}]
            int i1 = add! i, -1
            double x = load a[i1]
            yield x
"""
REST = """
        part [{lower}] <= [j] < [{upper}]
            int j1 = add! j, -1
            int j2 = aplmod j1, n
            double y = load a[j2]
            double y2 = sqrt y
            yield y2
"""
WINNER = """
        part [0] <= [h] < [k]
            double z = load a[h]
            double z2 = sqrt z
            yield z2
"""


@pytest.mark.parametrize(
    ("first", "q", "folded"),
    [
        (INTERIOR.format(lower="1", upper="last"), "add! l, 1", True),
        (INTERIOR.format(lower="1", upper="last"), "add! l, k", True),
        (INTERIOR.format(lower="1", upper="last"), "load p[l]", False),
        (INTERIOR.format(lower="1", upper="last"), "aplmod k, n", False),
        (INTERIOR.format(lower="1", upper="n").replace("[n]", "[k]"), "add! l, 1", False),
        (INTERIOR.format(lower="20", upper="last"), "add! l, 1", False),
        (WINNER + INTERIOR.format(lower="1", upper="last"), "add! l, 1", False),
        (INTERIOR.format(lower="1", upper="last").replace("[last]", "[last] step [2] width [1]"), "add! l, 1", False),
    ],
)
def test_a_border_is_no_reason_to_keep_an_array(first: str, q: str, folded: bool) -> None:
    text = BORDERED.format(parts=first + REST.format(lower="0", upper="m"), q=q)
    assert ("load t[" not in after(run, text)) == folded


@pytest.mark.parametrize(("sites", "folded"), [(7, True), (8, False)])
def test_what_loads_much_of_an_array_with_a_border_is_not_written_for_each_piece(sites: int, folded: bool) -> None:
    more = "\n".join(
        f"            int m{k} = add! l, {k}\n            double o{k} = load t[m{k}]" for k in range(3, sites + 1)
    )
    text = BORDERED.format(
        parts=INTERIOR.format(lower="1", upper="last") + REST.format(lower="0", upper="m"), q=f"add! l, 1\n{more}"
    )
    assert ("load t[" not in after(run, text)) == folded


@pytest.mark.parametrize(("n", "folded"), [(16, True), (5, False)])
def test_a_border_that_is_most_of_an_array_is_one(n: int, folded: bool) -> None:
    text = BORDERED.format(
        parts=INTERIOR.format(lower="1", upper=n + 1) + REST.format(lower="0", upper=n + 2), q="add! l, 1"
    ).replace("[m]", f"[{n + 2}]")
    assert ("load t[" not in after(run, text)) == folded


def _chain(links: int) -> str:
    """Whole arrays, each made of the one before."""
    lines = ["function f(int n, double[n] a0)"]
    for k in range(links):
        lines += [
            f"    double[n] a{k + 1} = with [n]",
            "        genarray double default 0.0",
            f"        part [0] <= [i{k}] < [n]",
            f"            double x{k} = load a{k}[i{k}]",
            f"            double y{k} = {('neg', 'sqrt')[k % 2]} x{k}",
            f"            yield y{k}",
        ]
    return "\n".join([*lines, f"    return n, a{links}", ""])


def test_of_a_long_chain_each_round_folds_rows_and_what_they_become_is_folded_in_the_next() -> None:
    assert after(run, _chain(LINKS + 1)).count("genarray") == 1
    assert after(run, _chain(LINKS + 2)).count("genarray") == 2
    assert after(run, _chain(4 * (LINKS + 1))).count("genarray") == 4
    assert after(lambda u: run(run(u)), _chain(4 * (LINKS + 1))).count("genarray") == 1


def test_the_work_for_a_chain_grows_as_its_length(monkeypatch: pytest.MonkeyPatch) -> None:
    copied, counts = fold_withloops.copied, []

    def counted(body: Block, *rest: Any) -> Block:
        counts[-1] += len(body.statements)
        return copied(body, *rest)

    monkeypatch.setattr(fold_withloops, "copied", counted)
    for links in (100, 200):
        counts.append(0)
        run(unit(_chain(links)))
    assert counts[0] > 0 and counts[1] < 2.1 * counts[0]


DEAR = """
function f(int n, int m, double[n,m] a, int[n] at)
    {around}
        double[n] t = with [n] disjoint complete
            genarray double default 0.0
            part [0] <= [i] < [n]
                double s.1 = for j from 0 to m step 1 with double s := 0.0
                    double x = load a[i,j]
                    double y = sqrt x
                    double z = add s, y
                    double u = mul z, 0.5
                    next u
                yield s.1
        int[n] r = for k from 0 to n step 1 with int[n] b := at
            double v = load t[k]
            int p = toi v
            int q = load b[k]
            int w = add p, q
            int[n] c = update b[p] with w
            next c
        {end}
    return n, o
"""
ON_THREADS = "int[n] o = with [n]\n        genarray int default 0\n        part [0] <= [l] < [n]"


@pytest.mark.parametrize(
    ("around", "end", "folds"),
    [
        (ON_THREADS, "int e = load r[0]\n        yield e", True),
        ("int[n] o = for l from 0 to n step 1 with int[n] d := at", "next r", False),
    ],
)
def test_what_is_dear_is_done_on_threads_if_there_are_any_and_not_in_rounds_in_order(
    around: str, end: str, folds: bool
) -> None:
    assert ("load t[k]" not in after(run, DEAR.format(around=around, end=end))) == folds
