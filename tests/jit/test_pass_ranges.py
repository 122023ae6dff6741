"""Ranges, on printed graphs: what bounds, conditions and checks prove, and what they do not."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from sacpy.jit.ir.graph_verify import verify
from sacpy.jit.passes import dead_code
from sacpy.jit.passes.ranges import run
from tests.jit.graph_text import unit
from tests.jit.pass_tools import after, check, outcome

ACCESS = """
function f(int n, int m, double[n] a, int k)
    double[n] t = with [n]
        genarray double default 0.0
        part [{lower}] <= [i] < [{upper}]
            int p = {index}
            bool low = le 0, p
            check low : not negative
            bool high = lt p, n
            check high : below
            double x = load a[p]
            yield x
    return n, t
"""


@pytest.mark.parametrize(
    ("lower", "upper", "index"),
    [
        ("0", "n", "add i, 0"),
        ("1", "n", "sub i, 1"),
        ("0", "n", "aplmod i, n"),
        ("0", "n", "div i, 2"),
        ("0", "n", "mod i, n"),
        ("0", "n", "min i, k"),
        ("0", "n", "max i, 0"),
    ],
)
def test_checks_of_accesses_within_the_bounds_go(lower: str, upper: str, index: str) -> None:
    text = after(run, ACCESS.format(lower=lower, upper=upper, index=index))
    assert text.count("check") == (1 if index == "min i, k" else 0)


@pytest.mark.parametrize(
    ("lower", "upper", "index"),
    [
        ("0", "n", "sub i, 1"),
        ("0", "n", "add i, 1"),
        ("0", "n", "mul i, 2"),
        ("0", "n", "add i, k"),
        ("0", "n", "max i, k"),
    ],
)
def test_checks_of_accesses_that_may_leave_the_bounds_stay(lower: str, upper: str, index: str) -> None:
    assert "check" in after(run, ACCESS.format(lower=lower, upper=upper, index=index))


def test_a_sum_that_may_wrap_proves_nothing() -> None:
    text = after(
        run,
        """
        function f(int k)
            int a = add k, 1
            bool c = lt k, a
            return c
        """,
    )
    assert "lt k, a" in text
    assert "add!" not in text


def test_a_check_that_passed_is_a_fact_and_excludes_wrapping() -> None:
    check(
        run,
        """
        function f(int k, int n)
            bool ok = lt k, n
            check ok : small
            int a = add k, 1
            bool c = le a, n
            bool d = lt n, k
            return a, c, d
        """,
        """
        function f(int k, int n)
            bool ok = lt k, n
            check ok : small
            int a = add! k, 1
            return a, true, false
        """,
    )


def test_what_is_known_in_a_branch_is_not_known_behind_it() -> None:
    text = after(
        run,
        """
        function f(int k, int n, double[n] a)
            bool c = lt k, n
            double x = if c
                bool again = le n, k
                double u = load a[0]
                double v = select again, 1.0, u
                give v
            else
                give 2.0
            bool later = le n, k
            return x, later
        """,
    )
    assert "select" not in text
    assert "later = le n, k" in text


def test_a_remainder_at_most_one_period_off_is_a_selection() -> None:
    text = after(
        run,
        ACCESS.format(lower="0", upper="n", index="sub i, 1")
        .replace("bool low", "int q = aplmod p, n\n            bool low")
        .replace(" p\n            check low", " q\n            check low"),
    )
    assert "aplmod" not in text
    assert "select" in text


def test_the_nonempty_range_of_an_index_bounds_an_extent() -> None:
    check(
        run,
        """
        function f(int n, int m)
            int s = for i from m to n step 1 with int p := 0
                bool c = lt m, n
                int q = select c, i, p
                next q
            bool d = lt m, n
            return s, d
        """,
        """
        function f(int n, int m)
            int s = for i from m to n step 1 with int p := 0
                next i
            bool d = lt m, n
            return s, d
        """,
    )


def test_the_index_of_a_single_cell_is_its_bound() -> None:
    assert "load a[0]" in after(run, ACCESS.format(lower="0", upper="1", index="add i, 0"))


def test_extents_that_a_check_found_not_negative_did_not_wrap() -> None:
    text = after(
        run,
        """
        function f(int n, int m, double[n] a, double[m] b)
            int p = sub n, m
            int q = add p, 1
            bool ok = le 0, q
            check ok : not negative
            int s = for k from 0 to q step 1 with int t := 0
                int u = for l from 0 to m step 1 with int v := t
                    int at = add k, l
                    bool high = lt at, n
                    check high : below
                    double x = load a[at]
                    int y = toi x
                    int w = add v, y
                    next w
                next u
            return s
        """,
    )
    assert "high" not in text
    assert "add! k, l" in text


def test_what_a_loops_condition_checked_is_known_in_its_body_but_not_by_name() -> None:
    text = after(
        run,
        """
        function f(int n, int[n] a, int k)
            int last = loop int p := k
                while
                    bool low = le 0, p
                    check low : not negative
                    bool high = lt p, n
                    check high : below
                    int x = load a[p]
                    bool same = eq p, x
                    test same
                round
                    bool again = lt p, n
                    check again : below
                    int y = load a[p]
                    int q = add p, y
                    int r = add q, 1
                    next r
            return last
        """,
    )
    assert text.count("check") == 2
    assert "load a[p]" in text.split("round")[1]


def test_the_remainder_of_something_negative_is_negative() -> None:
    text = after(
        run,
        ACCESS.format(lower="0", upper="n", index="sub i, 1")
        .replace("bool low", "int q = mod p, n\n            bool low")
        .replace(" p\n            check low", " q\n            check low"),
    )
    assert "mod p, n" in text
    assert "check low" in text


REMAINDERS = """
function f(int n, int[n] v, int count)
    int turn = {inner} count, n
    int[n] t = with [n]
        genarray int default 0
        part [0] <= [i] < [n]
            int p = {index}
            int q = {outer} p, n
            bool low = le 0, q
            check low : not negative
            bool high = lt q, n
            check high : below
            int x = load v[q]
            yield x
    return n, t
"""


@pytest.mark.parametrize("inner", ["aplmod", "mod"])
@pytest.mark.parametrize("outer", ["aplmod", "mod"])
@pytest.mark.parametrize("index", ["sub i, turn", "add i, turn", "add turn, n", "sub turn, i"])
def test_remainders_of_sums_of_remainders_stay_what_they_are(inner: str, outer: str, index: str) -> None:
    before = unit(REMAINDERS.format(inner=inner, outer=outer, index=index))
    after = run(before)
    verify(after)
    for n in (0, 1, 2, 3, 5):
        for count in (-12, -5, -3, -2, -1, 0, 1, 2, 3, 4, 7, 2**31 - 1, -(2**31)):
            args = (np.arange(n, dtype="i4"), count)
            assert outcome(after, args) == outcome(before, args), (n, count)


@pytest.mark.parametrize("count", [-2, -1, 0, 1, 2])
def test_a_rotation_by_a_number_needs_no_division_where_it_is_not_longer_than_the_array(count: int) -> None:
    text = (
        REMAINDERS.format(inner="aplmod", outer="aplmod", index="sub i, turn")
        .replace("int[n] v, int count", "int[n] v")
        .replace("aplmod count", f"aplmod {count}")
    )
    body = after(lambda u: dead_code.run(run(u)), text).partition("part [0]")[2].partition("return")[0]
    assert "aplmod" not in body
    assert ("turn" in body) == (abs(count) == 2)


def test_half_of_what_is_below_twice_a_number_is_below_it() -> None:
    text = """
    function f(int n, double[n] a)
        int m = mul n, 2
        double[m] t = with [m]
            genarray double default 0.0
            part [0] <= [i] < [m]
                int p = div {i}, 2
                bool high = lt p, n
                check high : below
                double x = load a[p]
                yield x
        return m, t
    """
    assert "check" not in after(run, text.replace("{i}", "i"))
    assert "check" in after(
        run, text.replace("div {i}, 2", "div j, 2").replace("int p", "int j = add i, 1\n                int p")
    )


def test_a_remainder_a_period_off_at_both_ends_is_two_selections() -> None:
    text = """
    function f(int n, double[n] a)
        bool fine = lt {least}, n
        check fine : it is long enough
        double[n] t = with [n]
            genarray double default 0.0
            part [0] <= [i] < [n]
                double s = with
                    fold from 0.0 by (double acc), (double val)
                        double b = add acc, val
                        give b
                    part [0] <= [k] < [5]
                        int j = add i, k
                        int p = sub j, 2
                        int q = aplmod p, n
                        double x = load a[q]
                        yield x
                yield s
        return n, t
    """
    found = after(run, text.replace("{least}", "1"))
    assert "aplmod" not in found and found.count("select") == 2
    assert "aplmod" in after(run, text.replace("{least}", "0"))
    for n in (2, 3, 5, 9):
        args = [np.arange(float(n)) ** 2]
        assert outcome(unit(found), args) == outcome(unit(text.replace("{least}", "1")), args) is not None


def test_what_an_index_says_of_a_quotient_holds_of_what_was_divided() -> None:
    """An array of n / 2 elements with one in it: n is 2 at least."""
    text = """
    function f(int n, double[n] a)
        int h = div n, 2
        double[h] t = with [h]
            genarray double default 0.0
            part [0] <= [i] < [h]
                bool some = le 2, n
                check some : there is one
                double x = load a[1]
                yield x
        return h, t
    """
    assert "check" not in after(run, text)
    assert "check" in after(run, text.replace("le 2, n", "le 3, n"))


def test_the_half_of_an_index_below_twice_a_number_is_below_that() -> None:
    """With an array of m elements, of which h pairs have a place: 2 * (i / 2) + 1 is one of its indices."""
    text = """
    function f(int m, double[m] a)
        int h = div m, 2
        int n = mul! h, {times}
        double[m] t = with [m]
            genarray double default 0.0
            part [0] <= [i] < [n]
                int k = div i, 2
                int l = mul! k, 2
                int j = add! l, 1
                bool there = lt j, m
                check there : it is an index
                double x = load a[j]
                yield x
        return m, t
    """
    assert "check" not in after(run, text.format(times=2))
    assert "check" in after(run, text.format(times=3))


def test_what_is_chosen_is_known_anew_where_a_case_becomes_certain() -> None:
    """Where an array has an element, min(1, its length) is 1. The lengths are the same, as was checked."""
    text = """
    function f(int n, int m, double[m] a)
        int one = min n, 1
        bool same = eq n, m
        check same : the shapes agree
        double[m] t = with [m]
            genarray double default 0.0
            part [0] <= [i] < [m]
                int j = sub i, one
                bool first = lt i, 1
                double x = if first
                    give 0.0
                else
                    bool low = le 0, j
                    check low : the index is not negative
                    double y = load a[j]
                    give y
                yield x
        return m, t
    """
    found = after(run, text)
    assert found.count("check") == 1 and "load a[j]" in found
    assert after(run, text.replace("eq n, m", "le n, m").replace("sub i, one", "sub one, i")).count("check") == 2


LATER = """
function f(int n, double[n] a, int j)
    int i = max j, 0
    bool first = lt 0, i
    int k = add i, -1
    bool low = le 0, k
    bool high = lt k, n
    double m = if first
        check low : not negative
        check high : below
        double x = load a[k]
        give x
    else
        give 1.0
    return m
"""


def test_what_a_branch_is_about_proves_checks_of_what_was_computed_before() -> None:
    text = after(run, LATER)
    assert "check low" not in text and "check high" in text
    for i in (-1, 0, 1, 3, 4, -(2**31)):
        args = [np.arange(3.0), i]
        assert outcome(run(unit(LATER)), args) == outcome(unit(LATER), args)


LOOKED_AT = """
            int y = load a[0]
            bool large = lt 3, y
            give large"""
EITHER = f"""
    bool both = if p.1
        give true
    else
        bool inner = if q.1
            give true
        else{LOOKED_AT}
        give inner"""
BOTH = f"""
    bool both = if p
        bool inner = if q{LOOKED_AT}
        else
            give false
        give inner
    else
        give false"""


@pytest.mark.parametrize(("condition", "holding"), [(EITHER, "otherwise"), (BOTH, "then")])
def test_a_condition_of_parts_says_something_of_each(condition: str, holding: str) -> None:
    text = f"""
function f(int n, int j, int[n] a)
    bool p = lt j, n
    bool q = le 0, j
    bool p.1 = le n, j
    bool q.1 = lt j, 0{condition}
    int result = if both
        check p : in then
        check q : in then
        give 1
    else
        check p : in otherwise
        check q : in otherwise
        give 2
    return result
"""
    found = after(run, text)
    assert f": in {holding}" not in found, "both parts are known"
    assert found.count("check") == 2, "the other branch may be taken for two reasons"
    for n, j, y in product((1, 3), range(-2, 5), (2, 5)):
        args = [j, np.full(n, y, np.int32)]
        assert outcome(run(unit(text)), args) == outcome(unit(text), args)


@pytest.mark.parametrize(
    ("base", "digit", "known"),
    [
        ("uint", "shr key, 24:uint", True),
        ("uint", "shr key, 23:uint", False),
        ("ulong", "bitand key, 255:ulong", True),
        ("ulong", "bitand key, 256:ulong", False),
        ("long", "bitand key, 255:long", True),
        ("ulong", "mod key, 256:ulong", True),
        ("ulong", "mod key, 257:ulong", False),
        ("long", "mod key, 256:long", False),
        ("ulong", "bitand key, 9223372036854775808:ulong", False),
    ],
)
def test_a_digit_of_a_key_is_an_index(base: str, digit: str, known: bool) -> None:
    found = after(
        run,
        f"""
function f({base} key, int[256] counts)
    {base} d = {digit}
    int i = toi d
    bool low = le 0, i
    check low : not negative
    bool high = lt i, 256
    check high : below
    int x = load counts[i]
    return x
""",
    )
    assert ("check" not in found) == known
