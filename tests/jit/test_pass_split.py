"""Interior and border, on printed graphs."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest

from sacpy.jit.ir.graph import Unit
from sacpy.jit.options import Options
from sacpy.jit.passes import dead_code, optimise, ranges, split
from tests.jit.graph_text import unit as parsed
from tests.jit.native_tools import agree_on
from tests.jit.pass_tools import after, outcome, unchanged

RNG = np.random.default_rng(7)


def run(unit: Unit) -> Unit:
    return dead_code.run(ranges.run(split.run(ranges.run(unit))))


def on_host(unit: Unit) -> Unit:
    return dead_code.run(ranges.run(split.run_wrapping(ranges.run(unit))))


TORUS = """
function f(int n, int m, double[n,m] u)
    double[n,m] r = with [n,m] disjoint
        genarray double default 0.0
        part [0,0] <= [i,j] < [n,m]
            int a = sub j, 1
            int b = aplmod a, m
            int c = add j, 1
            int d = aplmod c, m
            double x = load u[i,b]
            double y = load u[i,d]
            double z = add x, y
            yield z
    return n, m, r
"""


def bodies(text: str) -> dict[str, str]:
    """The bodies of partitions by their heads."""
    parts = re.split(r"^ *(part .*)$", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def test_the_interior_is_free_of_the_border() -> None:
    found = bodies(after(run, TORUS))
    assert len(found) == 3
    interior = [body for body in found.values() if "select" not in body and "load u[i,a]" in body]
    assert len(interior) == 1
    assert "aplmod" not in "".join(found.values())


def test_a_conditional_cuts_where_it_changes() -> None:
    text = """
    function f(int n, int k, double[n] u, double[n] v)
        double[n] r = with [n]
            genarray double default 0.0
            part [0] <= [i] < [n]
                bool c = lt i, k
                double x = if c
                    double y = load u[i]
                    give y
                else
                    int p = sub i, k
                    double z = load v[p]
                    give z
                yield x
        return n, r
    """
    found = after(run, text)
    assert len(bodies(found)) == 2
    assert "if " not in found
    assert "int cut = min n, k" in found or "int cut = min k, n" in found


def test_a_condition_on_two_indices_or_on_data_does_not_cut() -> None:
    unchanged(
        run,
        """
        function f(int n, double[n,n] u)
            double[n,n] r = with [n,n]
                genarray double default 0.0
                part [0,0] <= [i,j] < [n,n]
                    bool c = lt i, j
                    double x = if c
                        double y = load u[i,j]
                        give y
                    else
                        give 0.0
                    yield x
            return n, n, r
        """,
    )


def test_a_fold_is_not_cut_since_every_partition_counts_its_neutral() -> None:
    unchanged(
        run,
        """
        function f(int n, int k, double[n] u)
            double r = with
                fold from 0.0 by (double acc), (double val)
                    double s = add acc, val
                    give s
                part [0] <= [i] < [n]
                    bool c = lt i, k
                    double x = if c
                        double y = load u[i]
                        give y
                    else
                        give 0.0
                    yield x
            return r
        """,
    )


def test_what_is_narrow_already_is_not_cut_again() -> None:
    once = after(run, TORUS)
    unchanged(lambda unit: dead_code.run(ranges.run(split.run(unit))), once)


# ---- what remainders leave alone

WINDOW = """
function f(int n, int m, double[n,m] u, int p, int q, double[p,q] w)
    double[n,m] r = with [n,m] disjoint complete
        genarray double default 0.0
        part [0,0] <= [i,j] < [n,m]
            double s = with disjoint
                fold from 0.0 by (double acc), (double val)
                    double t = add acc, val
                    give t
                part [0,0] <= [k,l] < [p,q]
                    int ik = add! i, k
                    int jl = add! j, l
                    int at = sub! ik, {a}
                    int behind = {b}
                    int row = aplmod at, n
                    int column = {code} behind, m
                    bool above = le 0, column
                    check above : the index is not negative
                    double x = load u[row,column]
                    double y = load w[k,l]
                    double xy = mul x, y
                    yield xy
            yield s
    return n, m, r
"""
HALF = "    int hp = div p, 2\n    int hq = div q, 2\n"


def window(half: bool, behind: str = "", code: str = "aplmod", extents: str = "p,q") -> str:
    """The cells of `u` around each index, weighed; around its middle, or from it on."""
    text = (
        WINDOW.replace("{a}", "hp" if half else "0")
        .replace("{b}", behind or ("sub! jl, hq" if half else "add! jl, 0"))
        .replace("{code}", code)
    )
    text = text.replace("    double[n,m] r", HALF + "    double[n,m] r") if half else text
    return text.replace("[k,l] < [p,q]", f"[k,l] < [{extents}]")


def test_where_a_window_of_known_extents_does_not_wrap_there_is_no_remainder() -> None:
    found = bodies(after(on_host, window(False, extents="5,7").replace("int p, int q, double[p,q] w", "double[5,7] w")))
    # the window is above an index and to its right: there are two borders, and a corner; and all of it, if it is
    # smaller than the window
    assert sum("\n                fold" in body for body in found.values()) == 5
    interior = list(found.values())[-1]
    assert "check" not in interior and "select" not in interior and "load u[ik,jl]" in interior
    assert sum("aplmod" in body for body in found.values()) == 1  # in the borders there are selections


@pytest.mark.parametrize(("behind", "code"), [("sub! jl, hq", "aplmod"), ("", "aplmod")])
def test_nor_of_unknown_ones(behind: str, code: str) -> None:
    found = bodies(after(on_host, window(True, behind, code)))
    folds = [body for body in found.values() if "double xy" in body]
    assert len(folds) == 10
    assert "select" not in folds[-1] and "check" not in folds[-1]
    assert "aplmod" in folds[0] and not any("aplmod" in body for body in folds[1:])


def test_a_period_that_is_added_goes() -> None:
    text = """
    function f(int n, double[n] u)
        double[n] r = with [n] disjoint complete
            genarray double default 0.0
            part [0] <= [i] < [n]
                int a = add! i, n
                int b = add! a, -3
                int c = mod b, n
                bool ok = le 0, c
                check ok : the index is not negative
                double x = load u[c]
                yield x
        return n, r
    """
    found = bodies(after(on_host, text))
    assert ["mod" in body for body in found.values()] == [True, False]
    assert ["check" in body for body in found.values()] == [True, False]


HALO = """
function f(int n, int m, double[n,m] u)
    int p = add n, 2
    int q = add m, 2
    bool fits = le n, 1073741821
    check fits : an extent is not too large
    bool fits.1 = le m, 1073741821
    check fits.1 : an extent is not too large
    double[p,q] r = with [p,q] disjoint complete
        genarray double default 0.0
        part [0,0] <= [i,j] < [p,q]
            int a = sub i, 1
            int b = sub j, 1
            int c = aplmod a, n
            int d = aplmod b, m
            bool low = le 0, c
            check low : the index is not negative
            bool high = lt c, n
            check high : the index lies in the array
            bool low.1 = le 0, d
            check low.1 : the index is not negative
            bool high.1 = lt d, m
            check high.1 : the index lies in the array
            double x = load u[c,d]
            yield x
    return p, q, r
"""


def test_a_copy_with_a_halo_has_an_interior_without_checks() -> None:
    found = bodies(after(on_host, HALO))
    assert ["mod" in body for body in found.values()] == [True] + 9 * [False]
    assert ["check" in body for body in found.values()] == [True] + 9 * [False]
    assert "load u[a,b]" in list(found.values())[-1]


@pytest.mark.parametrize("line", ["int a = add i, k", "int a = sub k, i", "int a = mul! i, 2", "int a = load v[i]"])
def test_where_nothing_tells_the_interior_from_the_rest_there_is_no_cut(line: str) -> None:
    text = f"""
        function f(int n, double[n] u, int[n] v, int k)
            double[n] r = with [n] disjoint complete
                genarray double default 0.0
                part [0] <= [i] < [n]
                    {line}
                    int c = aplmod a, n
                    double x = load u[c]
                    yield x
            return n, r
        """
    assert len(bodies(after(on_host, text))) == 1


RADIUS = """
function f(int n, double[n] u, int r)
    int d = mul r, 2
    int k = add d, 1
    bool ok = le 0, k
    check ok : an extent is not negative
    bool ok.1 = le k, 40
    check ok.1 : an extent is not too large
    double[n] b = with [n] disjoint complete
        genarray double default 0.0
        part [0] <= [i] < [n]
            double s = with disjoint
                fold from 0.0 by (double acc), (double val)
                    double t = add acc, val
                    give t
                part [0] <= [j] < [k]
                    int ij = add! i, j
                    int at = sub ij, r
                    int c = aplmod at, n
                    double x = load u[c]
                    yield x
            yield s
    return n, b
"""


def test_an_offset_of_which_nothing_is_known_is_clamped_in_64_bits() -> None:
    """The radius may be far below 0 where twice that wraps."""
    found = bodies(after(on_host, RADIUS))
    assert "mod" not in list(found.values())[-1] and "sub! ij, r" in list(found.values())[-1]
    before, work = parsed(RADIUS), optimise(parsed(RADIUS), Options(verify=True), host=True)
    many = []
    for n, r in product((0, 1, 2, 5, 30), (0, 1, 2, 3, 17, -(2**31), -(2**31) + 3)):
        args = [np.arange(float(n)) ** 2, r]
        assert outcome(work, args) == outcome(before, args) is not None
        many.append(args)
    agree_on(work, many)


def test_windows_are_the_same_wherever_they_lie() -> None:
    """Extents smaller than the window, as large, a little larger, none at all; also on the CPU, in tiles."""
    rng = np.random.default_rng(3)
    for text in (
        window(True),
        window(False),
        window(True, "add! jl, m", "mod").replace(
            "int behind = add! jl, m", "int late = add! jl, m\n                    int behind = sub! late, hq"
        ),
    ):
        before, work = parsed(text), optimise(parsed(text), Options(verify=True), host=True)
        many = []
        for n, m, p, q in product((0, 1, 3), (0, 1, 2, 20), (0, 1, 4), (0, 3)):
            args = [rng.integers(-9, 9, (n, m)).astype("f8"), rng.integers(-9, 9, (p, q)).astype("f8")]
            expected = outcome(before, args)
            if expected is None:
                continue
            assert outcome(work, args) in (expected, None)
            if outcome(work, args) is not None:
                many.append(args)
        assert len(many) > 30
        agree_on(work, many)


def test_halos_are_the_same_around_arrays_of_any_extents() -> None:
    work = optimise(parsed(HALO), Options(verify=True), host=True)
    many = [[np.arange(float(n * m)).reshape(n, m)] for n in (1, 2, 3, 9) for m in (1, 2, 3, 40)]
    assert all(outcome(parsed(HALO), args) == outcome(work, args) is not None for args in many)
    agree_on(work, many)
    assert outcome(work, [np.zeros((0, 3))]) is None


PROLONGED = """
function f(int n, double[n] u)
    int t = mul! 2, n
    double[t] r = with [t] disjoint complete
        genarray double default 0.0
        part [0] <= [i] < [t]
            int h = div i, 2
            int up = add i, 1
            int k = div up, 2
            int l = aplmod k, n
            double x = load u[h]
            double y = load u[l]
            double z = add x, y
            yield z
    return t, r
"""
RESTRICTED = """
function f(int n, double[n] u)
    int t = div n, 2
    double[t] r = with [t] disjoint complete
        genarray double default 0.0
        part [0] <= [i] < [t]
            int h = mul i, 2
            int down = sub h, 1
            int l = aplmod down, n
            bool low = le 0, l
            check low : the index is not negative
            bool high = lt l, n
            check high : the index lies in the array
            double x = load u[l]
            yield x
    return t, r
"""


@pytest.mark.parametrize("text", [PROLONGED, RESTRICTED])
def test_where_an_index_is_halved_or_doubled_the_interior_does_not_wrap(text: str) -> None:
    u = parsed(text)
    found = bodies(after(on_host, text))
    assert len(found) == 2
    assert not any(word in "".join(found.values()) for word in ("aplmod", "select", "check"))
    for n in (0, 1, 2, 3, 4, 7, 10):
        args = [np.arange(n, dtype="f8")]
        assert outcome(on_host(u), args) == outcome(u, args)
    agree_on(on_host(u), [[np.arange(n, dtype="f8")] for n in (1, 2, 3, 8, 41)])


SHIFTED = """
function f(int n, double[n] u, int m, double[m] v)
    int less = neg! n
    int back = max -1, less
    int end = add! n, back
    int one = min n, 1
    bool same = eq n, m
    check same : the shapes agree
    double[m] r = with [m] disjoint complete
        genarray double default 0.0
        part [0] <= [i] < [m]
            bool c = le one, i
            double x = if c
                int k = sub i, one
                double y = load u[k]
                give y
            else
                give 0.0
            bool d = lt i, end
            double z = if d
                int l = sub i, back
                double w = load u[l]
                give w
            else
                give 0.0
            double t = add x, z
            yield t
    return m, r
"""


def test_a_shift_by_at_most_the_length_is_cut_at_both_ends() -> None:
    """One that an array with elements has is one; and its length is the other's."""
    found = bodies(after(on_host, SHIFTED))
    assert len(found) == 3
    assert sum("if " not in body and body.count("load") == 2 for body in found.values()) == 1
    agree_on(on_host(parsed(SHIFTED)), [[np.arange(n, dtype="f8"), np.zeros(n)] for n in (0, 1, 2, 3, 8, 41)])


def test_a_quotient_that_may_lie_outside_is_checked_index_by_index() -> None:
    """The indices of which it does are not known to be few: most often there are none."""
    text = PROLONGED.replace(
        "int l = aplmod k, n",
        "bool in = lt k, m\n            check in : the index lies in the array\n            int l = min k, m",
    ).replace("f(int n", "f(int m, int n")
    assert len(bodies(after(on_host, text))) == 1


STEPPING = """
function f(int n, int m, double[n,m] u, int first, int rounds)
    bool some = le first, m
    check some : it lies in the array
    bool low = le 0, first
    check low : it lies in the array
    double[n,m] r = for k from 0 to rounds step 1 with double[n,m] a := u
        double[n,m] b = with [n,m] disjoint
            modarray a
            part [0,first] <= [i,j] < [n,m] step [2,{step}] width [1,1]
                int before = sub j, {far}
                int left = aplmod before, m
                int after = add j, {far}
                int right = aplmod after, m
                int up = sub i, 1
                int above = aplmod up, n
                double x = load a[i,left]
                double y = load a[i,right]
                double z = load a[above,j]
                double xy = sub x, y
                double xyz = add xy, z
                yield xyz
        next b
    return n, m, r
"""


@pytest.mark.sample(2)
@pytest.mark.parametrize("step", [2, 3, 8, 9])
@pytest.mark.parametrize("far", [1, 2, 3])
def test_what_steps_is_cut_at_its_ends(step: int, far: int) -> None:
    """Its pieces have the indices that it has; where they read what changes, they get a copy."""
    u = parsed(STEPPING.format(step=step, far=far))
    unchanged(split.run, STEPPING.format(step=step, far=far))
    assert len(bodies(after(on_host, STEPPING.format(step=step, far=far).replace("0,first]", "0,0]")))) == (
        3 if step <= 8 and far == 1 else 1
    )
    many = [
        [RNG.standard_normal((n, m)), first, rounds]
        for n in (1, 2, 4, 5)
        for m in (1, 2, 3, 6, 9, 40, 41)
        for first in (0, 1, min(m, 4))
        for rounds in (1, 2)
    ]
    cut = on_host(u)
    for args in many:
        assert outcome(cut, args) == outcome(u, args)
    agree_on(cut, many)


def test_a_body_in_which_a_test_is_little_is_not_copied_for_it() -> None:
    def body(operations: int) -> str:
        lines = "".join(
            f"            double x{k + 1} = {'mul' if k % 2 else 'add'} x{k}, 1.5\n" for k in range(operations)
        )
        return f"""
function f(int n, double[n] u)
    double[n] r = with [n]
        genarray double default 0.0
        part [0] <= [i] < [n]
            double x0 = load u[i]
            bool first = eq i, 0
            double y = if first
                double z = neg x0
                give z
            else
                give x0
{lines}            double w = add x{operations}, y
            yield w
    return n, r
"""

    assert after(run, body(20)).count("part ") == 2
    assert after(run, body(split.EACH)).count("part ") == 1
