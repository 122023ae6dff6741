"""Arrays that are made where they belong: how many are asked for, with array short-circuiting and without, and what
must not be made anywhere else than it is."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from sacpy.jit.failures import CheckFailed
from tests.jit.circuit_tools import arrays, interpreted, native
from tests.jit.native_tools import same

SC = """use Array: all;
inline double[n] sc(double[n] a)
{
  r = a;
  for (i = 1; i < n; i++) { r[i] = r[i - 1] * 0.5 + a[i]; }
  return r;
}
inline double[n] there(double[n] r)
{
  s = sc(r);
  for (j = n - 2; j >= 0; j--) { s[j] = s[j + 1] + s[j]; }
  return s;
}
inline double[.,.] swept(double[n,m] t)
{
  for (i = 1; i < n; i++) { for (j = 1; j < m; j++) { t[i,j] = t[i,j] + 0.25 * t[i - 1,j - 1]; } }
  return t;
}
"""
V, W = np.cos(np.arange(30.0)), np.sin(np.arange(23.0))
A, B = np.cos(np.arange(60.0 * 40)).reshape(60, 40), np.sin(np.arange(60.0 * 9)).reshape(60, 9)

# What is written; with what arguments; how many arrays that takes, and how many without short-circuiting.
TABLE: dict[str, tuple[str, tuple[Any, ...], int, int]] = {
    "sc(..) ++ sc(..)": ("double[.] f(double[n] a, double[m] b) { return sc(a) ++ sc(b); }", (V, W), 1, 3),
    "three operands": ("double[.] f(double[n] a, double[m] b) { return sc(a) ++ there(b) ++ sc(a); }", (V, W), 1, 4),
    "one of nothing": ("double[.] f(double[n] a, double[m] b) { return sc(a) ++ sc(b); }", (V, W[:0]), 1, 2),
    "with what is read too": ("double[.] f(double[n] a) { return there(a) ++ a; }", (V,), 1, 2),
    "sc of views": (
        """double[.] f(double[n] a) { evens = { [i] -> a[2 * i] | [i] < [n / 2] };
             return sc(reverse(a)) ++ sc(drop([3], a)) ++ sc(evens); }""",
        (V,),
        1,
        7,
    ),
    "sc of a column": ("double[.] f(double[n,m] a) { return sc(a[.,3]) ++ there(a[5]); }", (A,), 1, 4),
    "reverse of each row": (
        "double[.,.] f(double[n,m] a) { return { [i] -> reverse(a[i]) | [i] < [n] }; }",
        (A,),
        1,
        1,
    ),
    "++ in each row": (
        "double[.,.] f(double[n,m] a) { return { [i] -> sc(a[i]) ++ there(a[i]) | [i] < [n] }; }",
        (A,),
        1,
        1 + 2 * 60,
    ),
    "columns side by side": (
        "double[.,.] f(double[n,m] a, double[n,k] b) { return { [i] -> sc(a[i]) ++ sc(b[i]) | [i] < [n] }; }",
        (A, B),
        1,
        1 + 2 * 60,
    ),
    "rows between two": (
        """double[.,.] f(double[n,m] a)
           { return [genarray([m], 1.0)] ++ { [i] -> there(a[i]) | [i] < [n] } ++ [genarray([m], 2.0)]; }""",
        (A,),
        1,
        3,
    ),
    "a[i] = sc(a[i])": (
        "double[n,m] f(double[n,m] a) { for (i = 0; i < n; i++) { a[i] = sc(a[i]); } return a; }",
        (A,),
        1,
        1 + 60,
    ),
    "a[i] = sc(..) ++ sc(..)": (
        """double[n,m] f(double[n,m] a, double[n,k] b) { for (i = 0; i < n; i++) {
             a[i] = sc(b[i]) ++ there(b[i]); } return a; }""",
        (A[:, :18].copy(), B),
        1 + 1,  # that the second part is as long as what is left is known by a check alone: one for all rounds
        1 + 3 * 60,
    ),
    "elimination": (
        """double[n,m] f(double[n,m] a) { for (k = 0; k < min(n, m); k++) { for (i = k + 1; i < n; i++) {
             a[i] = with { ([k] <= [j] < [m]) : a[i,j] - 0.01 * a[i,k] * a[k,j]; } : modarray(a[i]); } }
             return a; }""",
        (A[:, :20].copy(),),
        1,
        1,
    ),
    "red and black": (
        """double[n,m] f(double[n,m] a, int rounds) { for (k = 0; k < rounds; k++) {
             a = with { ([1,1] <= [i,j] < [n - 1,m - 1] step [2,2]) : a[i - 1,j] + a[i,j + 1];
               ([2,2] <= [i,j] < [n - 1,m - 1] step [2,2]) : a[i + 1,j] - a[i,j - 1]; } : modarray(a); }
             return a; }""",
        (A, 5),
        1,
        1,
    ),
    "Needleman and Wunsch": (
        """double[n,m] f(double[n,m] t, int b) { q = (n - 1) / 12;
             for (d = 0; d < 2 * q - 1; d++) { for (k = max(0, d - q + 1); k <= min(d, q - 1); k++) {
               r = k * 12; c = (d - k) * 12; x = { [i,j] -> t[r + i, c + j] | [i,j] < [13,13] };
               for (i = 1; i < 13; i++) { for (j = 1; j < 13; j++) {
                 x[i,j] = max(x[i - 1,j - 1] + 0.5, max(x[i - 1,j], x[i,j - 1]) - 0.25); } }
               t = with { ([r,c] <= [i,j] < [r + 13,c + 13]) : x[i - r,j - c]; } : modarray(t); } } return t; }""",
        (np.cos(np.arange(49.0 * 49)).reshape(49, 49), 12),
        1,
        1 + 16,
    ),
    "a row from the one before": (
        """double[n,m] f(double[n,m] a) { for (i = 1; i < n; i++) { r = a[i];
             for (j = 1; j < m; j++) { r[j] = 0.5 * (r[j - 1] + a[i - 1,j]) + a[i,j]; } a[i] = r; } return a; }""",
        (A,),
        1,
        60,
    ),
    "a row that reads ahead": (
        """double[n,m] f(double[n,m] a) { for (i = 0; i < n; i++) { r = a[i]; x = 0.0;
             for (j = 0; j < m - 1; j++) { x = a[i,j + 1] - x; r[j] = r[j] + x; } a[i] = r; } return a; }""",
        (A,),
        1,
        1 + 60,
    ),
    "blocks of rows": (
        """double[n,m] f(double[n,m] a, int b) { for (k = 0; k < n / b; k++) {
             t = swept({ [i,j] -> a[k * b + i, j] | [i,j] < [b,m] });
             a = with { ([k * b, 0] <= [i,j] < [k * b + b, m]) : t[i - k * b, j]; } : modarray(a); } return a; }""",
        (A, 7),
        1,
        1 + 8,
    ),
    "blocks": (
        """double[n,m] f(double[n,m] a, int b) { for (k = 0; k < n / b; k++) { for (l = 0; l < m / b; l++) {
             r = k * b; c = l * b;
             t = swept({ [i,j] -> a[r + i, c + j] | [i,j] < [b,b] });
             a = with { ([r,c] <= [i,j] < [r + b, c + b]) : t[i - r, j - c]; } : modarray(a); } } return a; }""",
        (A, 7),
        1,
        1 + 8 * 5,
    ),
    "columns": (
        """double[n,m] f(double[n,m] a) { for (i = 1; i < m; i++) { r = { [j] -> 2.0 * a[j,i - 1] | [j] < [n] };
             for (j = 1; j < n; j++) { r[j] = 0.5 * (r[j - 1] + a[j,i - 1]); }
             a = with { ([0,i] <= [k,l] < [n,i + 1]) : r[k]; } : modarray(a); } return a; }""",
        (A,),
        1,
        40,
    ),
    "a block that a loop ends early in": (
        """double[n,m] f(double[n,m] a, int b) { for (k = 0; k < n / b; k++) { r = k * b;
             t = { [i,j] -> a[r + i, j] | [i,j] < [b,b] }; i = 0;
             while (i < b && t[i,0] < 0.9) { t[i,b - 1] = t[i,0] + 1.0; i++; }
             a = with { ([r,0] <= [i,j] < [r + b, b]) : t[i - r, j]; } : modarray(a); } return a; }""",
        (A, 6),
        1,
        1 + 10,
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_the_table_of_arrays(name: str) -> None:
    text, args, expected, _ = TABLE[name]
    assert arrays(SC + text, "f", *args) == expected


@pytest.mark.parametrize(
    "name", [pytest.param(k, marks=[] if k in ("three operands", "blocks") else pytest.mark.long) for k in TABLE]
)
def test_the_table_of_arrays_without_circuits(name: str) -> None:
    text, args, _, without = TABLE[name]
    assert arrays(SC + text, "f", *args, short_circuit=False) == without


# What must be computed elsewhere, or is: each would give something else in the place that it goes to.
ELSEWHERE: dict[str, tuple[str, tuple[Any, ...]]] = {
    "the row is read behind what has been set": (
        """double[n,m] f(double[n,m] a) { for (i = 0; i < n; i++) { r = a[i];
             for (j = 1; j < m; j++) { x = r[j - 1]; r[j] = a[i,j - 1] + 0.5 * x; } a[i] = r; } return a; }""",
        (A,),
    ),
    "the row is read from its other end": (
        """double[n,m] f(double[n,m] a) { for (i = 0; i < n; i++) { r = a[i]; x = 0.0;
             for (j = 0; j < m; j++) { x = x + a[i,m - 1 - j]; r[j] = r[j] + x; } a[i] = r; } return a; }""",
        (A,),
    ),
    "the row is read by a second loop": (
        """double[n,m] f(double[n,m] a) { for (i = 0; i < n; i++) { r = a[i];
             for (j = 1; j < m; j++) { r[j] = 0.5 * (r[j - 1] + a[i,j]); }
             for (j = 1; j < m; j++) { r[j] = r[j] - a[i,j] + 0.5 * r[j - 1]; } a[i] = r; } return a; }""",
        (A,),
    ),
    "the row goes to where the data say": (
        """double[n,m] f(double[n,m] a, int[.] p) { for (i = 0; i < n; i++) { r = a[i];
             for (j = 1; j < m; j++) { r[j] = 0.5 * (r[j - 1] + a[i,j]); } a[p[i]] = r; } return a; }""",
        (A, np.arange(60, dtype=np.int32)[::-1].copy()),
    ),
    "the halves of a row change places": (
        """double[n,m] f(double[n,m] a) { for (i = 0; i < n; i++) {
             l = sc({ [j] -> a[i,j] | [j] < [m / 2] }); r = sc({ [j] -> a[i,m - 1 - j] | [j] < [m - m / 2] });
             a[i] = r ++ l; } return a; }""",
        (A,),
    ),
    "two rows change places": (
        """double[n,m] f(double[n,m] a) { for (i = 1; i < n; i++) { r = a[i]; s = a[i - 1];
             for (j = 1; j < m; j++) { r[j] = r[j - 1] + s[j]; s[j] = s[j - 1] * 0.5; }
             a[i - 1] = r; a[i] = s; } return a; }""",
        (A,),
    ),
    "the array is needed as it was": (
        """double[n,m], double f(double[n,m] a) { s = 0.0; for (i = 0; i < n; i++) { b = a; b[i] = sc(a[i]);
             s = s + b[i,m - 1] * a[i,m - 1]; } return (a, s); }""",
        (A,),
    ),
    "a view is needed afterwards": (
        """double[n,m] f(double[n,m] a) { for (i = 1; i < n; i++) { s = a[i]; a[i] = sc(a[i]); a[i - 1] = s; }
             return a; }""",
        (A,),
    ),
    "the part is needed afterwards": (
        """double[.], double[.] f(double[n] a) { r = there(a); w = r ++ there(r); r[0] = 1.0; return (w, r); }""",
        (V,),
    ),
    "a row of the part is needed afterwards": (
        """double[.,.], double[.] f(double[n,m] a, int k) { r = { [i] -> there(a[i]) | [i] < [n] }; v = r[k];
             w = r ++ a; w[k,3] = 17.0; x = 0.0;
             for (i = 0; i < m; i++) { v[i] = 0.5 * v[i] + x; x = v[i] + w[k,i]; } return (w, v); }""",
        (A, 3),
    ),
    "a call gives the part again": (
        """noinline double[.] same(double[.] a, int k) { if (k > 100) { r = reverse(a); } else { r = a; } return r; }
           double[.], double[.] f(double[n] a, int k) { r = there(a); v = same(r, k); w = r ++ a; w[3] = 17.0;
             return (w, v); }""",
        (V, 3),
    ),
    "a branch gives the part again": (
        """double[.], double[.] f(double[n] a, int k) { r = there(a); if (k > 2) { v = r; } else { v = a; }
             w = r ++ a; w[3] = 17.0; return (w, v); }""",
        (V, 3),
    ),
    "the rest changes places": (
        """double[n,m] f(double[n,m] a, int h) { for (k = 0; k < h; k++) {
             r = swept({ [i,j] -> tod(i * j + k) | [i,j] < [h,m] });
             a = with { ([0,0] <= [i,j] < [h,m]) : r[i,j]; ([h,0] <= [i,j] < [n,m]) : a[n - 1 - i + h,j]; }
                 : modarray(a); } return a; }""",
        (A, 7),
    ),
    "only some of the part": (
        """double[.] f(double[n] a, int k) { r = there(a); return take([k], r) ++ drop([k + 1], r); }""",
        (V, 4),
    ),
    "the part the other way round": ("double[.] f(double[n] a) { return reverse(there(a)) ++ a; }", (V,)),
    "transposed blocks": (
        """double[n,n] f(double[n,n] a, int b) { for (k = 0; k < n / b; k++) { r = k * b;
             t = swept({ [i,j] -> a[r + j, r + i] | [i,j] < [b,b] });
             a = with { ([r,r] <= [i,j] < [r + b, r + b]) : t[j - r, i - r] + a[i,j]; } : modarray(a); }
             return a; }""",
        (A[:40].copy(), 7),
    ),
    "a block that reads its neighbour's cells": (
        """double[n,m] f(double[n,m] a, int b) { for (k = 1; k < n / b; k++) { r = k * b;
             t = { [i,j] -> a[r + i, j] | [i,j] < [b,b] };
             for (i = 1; i < b; i++) { for (j = 1; j < b; j++) { t[i,j] = t[i - 1,j] + a[r + i - 1, j - 1]; } }
             a = with { ([r,0] <= [i,j] < [r + b, b]) : t[i - r, j]; } : modarray(a); } return a; }""",
        (A, 7),
    ),
    "overlapping halves": (
        """double[.] f(double[n] a, int k) { r = there(a);
             return with { ([0] <= [i] < [n]) : r[i]; ([k] <= [i] < [n + k]) : 7.0; } : genarray([n + k], 0.0); }""",
        (V, 3),
    ),
    "every second element": (
        """double[.] f(double[n] a) { r = there(a);
             return with { ([0] <= [i] < [2 * n] step [2]) : r[i / 2]; } : genarray([2 * n], 0.5); }""",
        (V,),
    ),
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_is_made_elsewhere(name: str) -> None:
    text, args = ELSEWHERE[name]
    assert arrays(SC + text, "f", *args) > 0


@pytest.mark.parametrize("n", [0, 1, pytest.param(2, marks=pytest.mark.long), pytest.param(3, marks=pytest.mark.long)])
def test_few_elements_and_none(n: int) -> None:
    for name in ("sc(..) ++ sc(..)", "with what is read too"):
        text, args, _, _ = TABLE[name]
        arrays(SC + text, "f", *(a[:n] for a in args))
    for name in ("a[i] = sc(a[i])", "++ in each row", "rows between two"):
        text, _, _, _ = TABLE[name]
        for shape in ((n, 5), (5, n), (n, n)):
            arrays(SC + text, "f", A[: shape[0], : shape[1]].copy())
    text, _, _, _ = TABLE["blocks"]
    arrays(SC + text, "f", A[:12, :12].copy(), n + 1)


def test_nan_and_minus_zero_stay_what_they_are() -> None:
    v = np.array([np.nan, -0.0, np.inf, 0.0, -np.inf, 5e-324])
    for name in ("three operands", "sc(..) ++ sc(..)"):
        arrays(SC + TABLE[name][0], "f", v, v[::-1].copy())


def test_a_part_that_would_lie_outside_is_refused_before_anything_is_written() -> None:
    text = """double[n,m] f(double[n,m] a, int r) { t = swept({ [i,j] -> a[min(r, n - 4) + i, j] | [i,j] < [4,m] });
      return with { ([r,0] <= [i,j] < [r + 4, m]) : t[i - r, j]; } : modarray(a); }"""
    f = native(SC + text, "f", (A, 3))
    assert same(f.call((A, 3))[-1], interpreted(SC + text, "f", (A, 3))[0])
    before = A.copy()
    for r in (57, 60, 2**31 - 2, -1):
        with pytest.raises(CheckFailed):
            f.call((A, r))
    assert (before == A).all()


def test_an_array_that_is_taken_over_is_whole_after_a_failed_check() -> None:
    text = """double[n,m] f(double[n,m] a, int[.] p, int k) { r = a[k];
      for (j = 1; j < m; j++) { r[j] = r[j - 1] + r[r[j - 1] > -1e9 ? p[j] : 0]; } a[k] = r; return a; }"""
    p = np.arange(40, dtype=np.int32)
    f = native(SC + text, "f", (A, p, 3))
    mine = native(SC + text, "f", (A, p, 3)).call((A, p, 4))[-1]
    before = mine.copy()
    p[30] = 99
    with pytest.raises(CheckFailed):
        assert f.giving is not None
        f.giving((mine, p, 3), (True, False, False))
    assert same(mine, before)


@pytest.mark.parametrize("name", ["a[i] = sc(a[i])", "rows between two"])
def test_any_number_of_threads(name: str) -> None:
    text, args, _, _ = TABLE[name]
    large = np.cos(np.arange(900.0 * 700)).reshape(900, 700)
    f = native(SC + text, "f", args, threads=3)
    given = (large, *args[1:])
    found = []
    for threads in (1, 3):
        f.context.threads = threads
        found.append(f.call(given)[-1])
    assert same(found[0], found[1])
    without = native(SC + text, "f", args, threads=3, short_circuit=False)
    assert same(without.call(given)[-1], found[0])


def rounds(random: Random, name: str) -> str:
    """A function that changes rows or blocks of a matrix in some order, each from itself and others: what it reads lies
    near what it writes, on either side."""

    def near(of: str, low: int = -2, high: int = 2) -> str:
        return f"{of} + {random.randint(low, high)}"

    across = random.choice(
        ["for (j = 2; j < m - 2; j++)", "for (j = m - 3; j >= 2; j--)", "for (j = 2; j < m - 2; j += 2)"]
    )
    over = random.choice(["for (i = 2; i < n - 2; i++)", "for (i = n - 3; i > 1; i--)"])
    start = random.choice(["a[i]", "a[i]", "a[i]", "a[i - 1]", "sc(a[i])", "{ [j] -> a[i,j] | [j] < [m] }"])
    read = random.choice([f"a[i,{near('j')}]", f"a[{near('i')},j]", f"a[{near('i')},{near('j', 0)}]", "a[i,j]", "0.5"])
    other = random.choice(["r[j - 1]", "r[j + 1]", f"r[{near('j')}]", "x"])
    again = f"{across} {{ r[j] = r[j] - 0.5 * {read}; }}" if random.random() < 0.3 else ""
    to = random.choice(["i", "i", "i", "i - 1"])
    rows = f"{over} {{ r = {start}; {across} {{ x = {read}; r[j] = 0.5 * {other} + x; }} {again} a[{to}] = r; }}"
    shift, turn = random.choice(["", "", "", " + 1"]), random.choice(["i - r, j - c", "i - r, j - c", "j - c, i - r"])
    inner = random.choice([f"a[r + y,{near('c + z')}]", f"a[{near('r + y')},c + z]", "a[r + y,c + z]", "1.0"])
    mine = random.choice(["t[y - 1,z]", "t[y,z - 1]", "t[y - 1,z - 1]", "t[y,z]"])
    blocks = f"""for (r = 2; r < n - 5; r += {random.choice((2, 3))}) {{ for (c = 2; c < m - 5; c += 3) {{
      t = {{ [i,j] -> a[r + i, c + j{shift}] | [i,j] < [3,3] }};
      for (y = 1; y < 3; y++) {{ for (z = 1; z < 3; z++) {{ t[y,z] = 0.5 * {mine} + {inner}; }} }}
      a = with {{ ([r,c] <= [i,j] < [r + 3,c + 3]) : t[{turn}]; }} : modarray(a); }} }}"""
    return f"double[n,m] {name}(double[n,m] a) {{ {rows if random.random() < 0.6 else blocks} return a; }}\n"


@pytest.mark.parametrize("seeds", [range(6), pytest.param(range(6, 506), marks=pytest.mark.long)])
def test_random_rows_and_blocks_are_what_they_are_without_circuits(seeds: range) -> None:
    text = SC + "".join(rounds(Random(seed), f"f{seed}") for seed in seeds)
    given, fewer = np.cos(np.arange(11.0 * 13)).reshape(11, 13), 0
    for seed in seeds:
        without = arrays(text, f"f{seed}", given, short_circuit=False)
        fewer += arrays(text, f"f{seed}", given) < without
    assert fewer >= len(seeds) // 8


READ = """use Array: all;
double f(double[n,m] a, int k)
{
  v = reshape([n * m], a);
  b = %s;
  x = 0.0;
  for (i = 0; i < shape(b)[0]; i++) { x = 0.5 * x + b[i]; }
  for (i = 1; i < shape(b)[0]; i += 2) { x = b[i] - 0.25 * x; }
  return x;
}
"""


@pytest.mark.parametrize(
    "view",
    [
        "take([k], v)",
        "drop([3], v)",
        "reverse(v)",
        "transpose(a)[k]",
        "reshape([m, n], transpose(a))[k]",
        "reshape([n * m / 2, 2], v)[.,1]",
        "{ [i] -> v[3 * i + 1] | [i] < [n * m / 3] }",
        "drop([2], reverse(drop([1], v)))",
    ],
)
def test_what_is_only_read_is_not_made(view: str) -> None:
    assert arrays(READ % view, "f", np.cos(np.arange(6000.0 * 4)).reshape(6000, 4), 3) == 0
