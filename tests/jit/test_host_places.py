"""Arrays that are made at once where they belong, in a cell of a result or on the stack: with the values that they have
anywhere, and without memory of their own."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.failures import CheckFailed
from sacpy.jit.host.places import MOST
from tests.jit.graph_text import unit
from tests.jit.native_tools import agree, compiled, on_threads

ROWS = """
function f(int n, int m, double[n,m] a)
    double[4] c = array double[4] of 0.0, 1.0, 2.0, 3.0
    double[n,4] w = with [n] disjoint complete
        genarray double cell [4] default 0.0
        part [0] <= [i] < [n]
            {body}
            yield r
    return n, w
"""
A = np.arange(35.0).reshape(7, 5)

# What a row is made of, and whether it needs memory of its own.
LOOP = """double[4] r = for j from 0 to 4 step 1 with double[4] s := {start}
                double x = load a[i,j]
                double y = load s[{read}]
                double z = add x, y
                double[4] u = update s[j] with z
                next u"""
BODIES = {
    "a loop": (LOOP.format(start="c", read="0"), False),
    "a loop over what is made here": (
        "double x.1 = load a[i,4]\n            double[4] d = array double[4] of x.1, x.1, 1.0, x.1\n            "
        + LOOP.format(start="d", read="3"),
        False,
    ),
    "updates": (
        """double x = load a[i,1]
            double[4] u = update c[1] with x
            double y = load u[2]
            double[4] v = update u[0] with y
            double z = load v[0]
            double[4] r = update v[3] with z""",
        False,
    ),
    "an update of what is read later": (
        """double x = load a[i,1]
            double[4] d = array double[4] of x, 1.0, x, 3.0
            double[4] u = update d[1] with x
            double y = load d[1]
            double[4] r = update u[0] with y""",
        None,
    ),
    "two arrays from one": (
        """double x = load a[i,1]
            double[4] d = array double[4] of x, 1.0, x, 3.0
            double[4] u = update d[1] with x
            double[4] v = update d[2] with 7.0
            double y = load u[2]
            double z = load v[1]
            double k = add y, z
            double[4] r = update u[0] with k""",
        None,
    ),
    "a branch": (
        """double[4] r = for j from 0 to 4 step 1 with double[4] s := c
                double x = load a[i,j]
                bool large = lt 9.0, x
                double[4] t = if large
                    double[4] u = update s[j] with x
                    give u
                else
                    give s
                next t""",
        False,
    ),
    "rounds of rounds": (
        """double[4] r = for j from 0 to 4 step 1 with double[4] s := c
                double[4] t = for k from j to 4 step 1 with double[4] v := s
                    double x = load a[i,k]
                    double y = load v[j]
                    double z = sub x, y
                    double[4] u = update v[k] with z
                    next u
                next t""",
        False,
    ),
    "an older version is kept": (
        """double[4] o, double[4] s.1 = for j from 0 to 4 step 1 with double[4] old := c, double[4] s := c
                double x = load a[i,j]
                double y = load old[j]
                double z = add x, y
                double[4] u = update s[j] with z
                next s, u
            double v = load s.1[1]
            double[4] r = update o[3] with v""",
        None,
    ),
    "an older version is read": (
        """double[4] old.1, double[4] s.1 = for j from 0 to 1 step 1 with double[4] old := c, double[4] s := c
                double x = load a[i,j]
                double[4] u = update s[j] with x
                next s, u
            double[4] o = reshape old.1 to [4]
            double v = load o[0]
            double[4] r = update s.1[1] with v""",
        None,
    ),
    "rounds read what they begin with": (
        """double x.1 = load a[i,4]
            double[4] d = array double[4] of x.1, 2.0, 1.0, 7.0
            double[4] r = for j from 0 to 4 step 1 with double[4] s := d
                int k = sub 3, j
                double x = load d[k]
                double[4] u = update s[j] with x
                next u""",
        None,
    ),
    "a while loop": (
        """double[4] r, int k = loop double[4] s := c, int j := 0
            while
                    double x = load s[j]
                    double top = load a[i,0]
                    bool low = le x, top
                    bool inside = lt j, 3
                    bool on = and low, inside
                    test on
            round
                    double y = load a[i,j]
                    int after = add j, 1
                    double[4] u = update s[after] with y
                    next u, after""",
        False,
    ),
    "two that are exchanged": (
        """double[4] r, double[4] q = for j from 0 to 3 step 1 with double[4] s := c, double[4] t := c
                double x = load a[i,j]
                double[4] u = update s[j] with x
                next t, u""",
        None,
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_row_is_built_in_its_place(name: str) -> None:
    body, own = BODIES[name]
    u = unit(ROWS.format(body=body))
    agree(u, A)
    if own is not None:
        f = compiled(u)
        f.call((A,))
        assert f.context.allocations <= 2  # the result, and perhaps the table that all rows begin with
    on_threads(u, np.sin(np.arange(20_000.0)).reshape(-1, 5))


def test_a_row_is_built_from_itself_in_the_memory_of_what_it_replaces() -> None:
    text = """
        function f(int n, double[n,4] a)
            double[n,4] b = with [n] disjoint complete
                modarray a
                part [0] <= [i] < [n]
                    double[4] v = view a[i]
                    double[4] r = for j from 0 to 4 step 1 with double[4] s := v
                        int k = sub 3, j
                        double x = load v[k]
                        double y = load s[0]
                        double z = add x, y
                        double[4] u = update s[j] with z
                        next u
                    yield r
            double[n,4] d = with [n] disjoint complete
                modarray b
                part [0] <= [i.1] < [n]
                    double[4] v.1 = view b[i.1]
                    double[4] r.1 = for j.1 from 0 to 4 step 1 with double[4] s.1 := v.1
                        int k.1 = sub 3, j.1
                        double x.1 = load v.1[k.1]
                        double[4] u.1 = update s.1[j.1] with x.1
                        next u.1
                    yield r.1
            return n, d
        """
    agree(unit(text), A[:, :4].copy())


TABLE = """
function f(int n, double[n] a)
    double w = with disjoint
        fold from 0.0 by (double acc), (double val)
            double t = add acc, val
            give t
        part [0] <= [i] < [n]
            double x = load a[i]
            double[3] c = array double[3] of x, 2.0, 4.0
            {more}
            int k = mod i, 3
            double y = load {read}[k]
            yield y
    return w
"""


@pytest.mark.parametrize(("more", "read"), [("int z = add i, 1", "c"), ("double[3] d = update c[1] with 8.0", "d"), (
    """double[3] d = for j from 0 to 3 step 1 with double[3] s := c
                double v = load s[j]
                double q = mul v, x
                double[3] u = update s[j] with q
                next u""", "d")])  # fmt: skip
def test_a_small_array_that_is_only_looked_at_needs_no_memory(more: str, read: str) -> None:
    u = unit(TABLE.format(more=more, read=read))
    agree(u, A[0])
    f = compiled(u)
    f.call((A[0],))
    assert f.context.allocations == 0
    on_threads(u, np.sin(np.arange(100_000.0)))


@pytest.mark.parametrize(
    "handed",
    [
        "double[3] d = reshape c to [3]",
        "double[3] d = for k from 0 to 1 step 1 with double[3] s := c\n            next s",
    ],
)
def test_what_outlives_its_round_does_not_lie_on_the_stack(handed: str) -> None:
    text = f"""
        function f(int n, double[n] a, double[3] start)
            double[3] r, double total = for i from 0 to n step 1 with double[3] before := start, double sum := 0.0
                double x = load a[i]
                double[3] c = array double[3] of x, 2.0, x
                double y = load before[2]
                double z = mul sum, 0.5
                double w = add y, z
                {handed.replace(chr(10), chr(10) + "        ")}
                next d, w
            return r, total
        """
    agree(unit(text), A[0], A[1][:3].copy())


FIRST = "double[3] e = array double[3] of 1.0, 2.0, 3.0\n            double[n,3] r,"


def test_a_small_array_that_becomes_part_of_another_needs_no_memory() -> None:
    u = unit("""
        function f(int n, double[n] a, double[n,3] b)
            double[n,3] r, double[3] l = for i from 0 to n step 1 with double[n,3] s := b, double[3] before := {start}
                double x = load a[i]
                double[3] c = array double[3] of x, 2.0, x
                double[n,3] t = update s[i] with c
                double[3] d = update c[1] with 4.0
                double y = load d[0]
                double[3] u = update before[2] with y
                next t, u
            return n, r, l
        """.replace("double[n,3] r,", FIRST).replace("{start}", "e"))  # fmt: skip
    agree(u, A[0], A[:5, :3].copy())
    f = compiled(u)
    f.call((A[0], A[:5, :3].copy()))
    assert f.context.allocations == 2  # both results


def test_the_stack_takes_a_few_small_arrays_only() -> None:
    count = MOST // 32 + 50
    arrays = "\n".join(
        f"            double[4] c.{k} = array double[4] of x, {k}.0, x, 1.0\n            double y.{k} = load c.{k}[k]"
        for k in range(1, count)
    )
    text = TABLE.format(more="int z = add i, 1", read="c").replace(
        "            int k = mod i, 3", f"            int k = mod i, 3\n{arrays}"
    )
    text = text.replace("yield y", f"double total = add y.1, y.{count - 1}\n            yield total")
    u = unit(text)
    agree(u, A[0])
    f = compiled(u)
    f.call((A[0],))
    assert f.context.allocations > 0


def test_a_check_that_fails_half_way_through_a_row() -> None:
    body = LOOP.format(start="c", read="0").replace(
        "double z =", "bool fine = lt x, 30.0\n                check fine : it is small\n                double z ="
    )
    u = unit(ROWS.format(body=body))
    agree(u, A[:5])
    f = compiled(u)
    with pytest.raises(CheckFailed):
        f.call((A,))
