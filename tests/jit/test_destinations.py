"""Functions that make results where their callers need them, and look at rows where these are: how many arrays that
takes, and what must be made elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sacpy
from sacpy.jit.failures import CheckFailed
from tests.jit.circuit_tools import arrays, native
from tests.jit.mutation import Mutant, mutated
from tests.jit.test_circuits import SC, A, V, W

FUNCTIONS = (
    SC
    + """
double[n] halves(double[n] a)
{
  if (n <= 2) { r = 2.0 * a; } else { h = n / 2; r = halves(take([h], a)) ++ halves(drop([h], a)); }
  return r;
}
double[n] turned(double[n] a)
{
  if (n <= 2) { r = reverse(a); } else { h = n / 2; r = turned(drop([h], a)) ++ turned(take([h], a)); }
  return r;
}
noinline double[.] joined(double[n] a, double[m] b) { return sc(a) ++ there(b); }
noinline double[n,m] swept_block(double[n,m] a) { return swept(a); }
noinline double[n] same(double[n] a, int k) { if (k > 100) { r = reverse(a); } else { r = a; } return r; }
noinline double[n,m], double[m] with_row(double[n,m] a, int k) { r = swept(a); return (r, r[k]); }
double[n], double[n] pair(double[n] a, int k)
{
  if (k > 2) { r, s = pair(sc(a), k - 1); } else { r = there(a); s = r; }
  return (r, s);
}
noinline double[n] put(double[n] a, int k) { a[k] = 1.0; return a; }
double[n] fill(double[n] a, int k)
{
  if (k <= 0) { r = a; } else { a[k] = a[k - 1] + a[k]; r = fill(a, k - 1); }
  return r;
}
double[n] doubled(double[n] a, int k) { if (k <= 0) { r = 2.0 * a; } else { r = doubled(a, k - 1); } return r; }
double[n,m] quarters(double[n,m] a)
{
  if (n <= 1 || m <= 1) { r = a + 0.5; }
  else {
    h = n / 2;
    t = quarters({ [i,j] -> a[i,j] + 1.0 | [i,j] < [h,m] });
    r = with { ([0,0] <= [i,j] < [h,m]) : t[i,j]; } : modarray(a);
    t = quarters({ [i,j] -> 0.5 * r[h + i,j] | [i,j] < [n - h,m] });
    r = with { ([h,0] <= [i,j] < [n,m]) : t[i - h,j]; } : modarray(r);
  }
  return r;
}
double[n] added(double[n] a, double[n] b, int k)
{
  if (k > 100) { r = added(a, b, k - 1); } else { r = a; for (i = 0; i < n; i++) { r[i] = r[i] + b[n - 1 - i]; } }
  return r;
}
double[n] kept(double[n] a, int k)
{
  if (k > 100) { r = kept(a, k - 1); } else { v = a; a[0] = 9.0; r = { [i] -> a[i] + v[n - 1 - i] | [i] < [n] }; }
  return r;
}
double[n] mirrored(double[n] a, int k)
{
  if (k > 100) { r = mirrored(a, k - 1); } else { r = { [i] -> a[i] + a[n - 1 - i] | [i] < [n] }; }
  return r;
}
double[n], double late(double[n] a, int k)
{
  if (k > 100) { r, s = late(a, k - 1); }
  else {
    r = genarray([n], 1.0);
    for (i = 1; i < n; i++) { r[i] = 0.5 * r[i - 1] + tod(i); }
    s = r[n - 1];
    for (i = 0; i < n; i++) { s = 0.5 * s + a[i]; }
  }
  return (r, s);
}
double[n], double[n] old_and_new(double[n] a, int k)
{
  if (k > 100) { r, s = old_and_new(a, k - 1); } else { s = a; a[0] = 7.0; r = a; }
  return (r, s);
}
"""
)

# What is written; with what arguments; how many arrays that takes, and how many without short-circuiting.
TABLE: dict[str, tuple[str, tuple[Any, ...], int, int]] = {
    "halves": ("double[.] f(double[n] a) { return halves(a); }", (V,), 1, 23),
    "merge sort": (  # a merge needs what it merges and what it makes: the leaves alone need nothing
        """double[n] f(double[n] a) { if (n <= 1) { r = a; } else {
             h = n / 2; s = f(take([h], a)) ++ f(drop([h], a)); r = s; i = 0; j = h;
             for (k = 0; k < n; k++) { if (j >= n || (i < h && s[i] <= s[j])) { r[k] = s[i]; i++; }
                                       else { r[k] = s[j]; j++; } } } return r; }""",
        (V,),
        30,
        66,
    ),
    "rows": ("double[.,.] f(double[n,m] a) { return { [i] -> halves(a[i]) | [i] < [n] }; }", (A,), 1, 2821),
    "a row made of the one before": (
        "double[n,m] f(double[n,m] a) { for (i = 1; i < n; i++) { a[i] = halves(a[i - 1]); } return a; }",
        (A,),
        1,
        2774,
    ),
    "a row by a call that needs all of it": (
        "double[n,m] f(double[n,m] a) { for (i = 0; i < n; i++) { a[i] = turned(a[i]); } return a; }",
        (A,),
        1 + 1,  # one row for all rounds
        3301,
    ),
    "a row by halves": (
        """double[n,m] f(double[n,m] a) { for (k = 0; k < 3; k++) { for (i = 0; i < n; i++) { a[i] = halves(a[i]); } }
             return a; }""",
        (A,),
        1 + 3,  # there are three loops
        8461,
    ),
    "a row that a call changes": (
        "double[n,m] f(double[n,m] a) { for (i = 0; i < n; i++) { a[i] = fill(a[i], 3); } return a; }",
        (A,),
        1,
        1 + 60,
    ),
    "a row of its own elements": (
        "double[n,m] f(double[n,m] a) { for (i = 0; i < n; i++) { a[i] = doubled(a[i], i % 3); } return a; }",
        (A,),
        1,
        1 + 60,
    ),
    "two calls one after the other": (
        "double[n,m] f(double[n,m] a) { for (i = 0; i < n; i++) { a[i] = fill(doubled(a[i], 2), 3); } return a; }",
        (A,),
        1,
        1 + 60,
    ),
    "a recursion over blocks": ("double[n,m] f(double[n,m] a) { return quarters(a); }", (A[:32].copy(),), 1, 1 + 62),
    "an operand that a call changes": (
        "double[.] f(double[n] a, double[m] b) { return fill(sc(a), 3) ++ fill(sc(b), 2); }",
        (V, W),
        1,
        3,
    ),
    "blocks of rows": (
        """double[n,m] f(double[n,m] a, double[n,m] b) { for (i = 0; i < n / 7; i++) {
             t = swept_block({ [j,k] -> 2.0 * b[7 * i + j,k] | [j,k] < [7,m] });
             a = with { ([7 * i,0] <= [j,k] < [7 * i + 7,m]) : t[j - 7 * i,k]; } : modarray(a); } return a; }""",
        (A, A),
        1,
        9,
    ),
    "as long as two": (
        "double[.] f(double[n] a, double[m] b) { return joined(a, b) ++ joined(b, a); }",
        (V, W),
        1,
        5,
    ),
    "one branch or the other": (
        """double[.] f(double[n] a, double[m] b, int k) { if (k > 2) { r = sc(a); } else { r = there(a); }
             return r ++ b; }""",
        (V, W, 3),
        1,
        2,
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_the_table_of_arrays(name: str) -> None:
    text, args, expected, _ = TABLE[name]
    assert arrays(FUNCTIONS + text, "f", *args) == expected


@pytest.mark.parametrize("name", [pytest.param(k, marks=[] if k == "halves" else pytest.mark.long) for k in TABLE])
def test_the_table_of_arrays_without_circuits(name: str) -> None:
    text, args, _, without = TABLE[name]
    assert arrays(FUNCTIONS + text, "f", *args, short_circuit=False) == without


# What would be wrong in the place that it goes to, or as a view of what is there.
ELSEWHERE: dict[str, tuple[str, tuple[Any, ...]]] = {
    "a call reads what it would overwrite": (
        "double[n,m] f(double[n,m] a) { for (i = 0; i < n; i++) { a[i] = turned(a[i]); } return a; }",
        (A,),
    ),
    "a call gives the same again": (
        "double[.] f(double[n] a, int k) { return same(sc(a), k) ++ a; }",
        (V, 3),
    ),
    "a row of the part is a result too": (
        """double[.,.], double[.] f(double[n,m] a, int k) { r, s = with_row(a, k); w = r ++ a; w[k,1] = 5.0;
             return (w, s); }""",
        (A, 3),
    ),
    "a call gives a view of the array that changes": (
        """double[n,m], double[.] f(double[n,m] a) { x = a[0]; for (i = 1; i < n; i++) { v = a[i - 1];
             y = same(v, i); a[i] = halves(y); a[i - 1] = sc(a[i]); x = x + y; } return (a, x); }""",
        (A,),
    ),
    "rows of a part that changes": (
        """double[.] f(double[n] a, int k) { r = sc(a); t = take([n / 2], r);
             for (j = n - 2; j >= 0; j--) { r[j] = r[j + 1] + r[j]; } x = halves(t); return r ++ x; }""",
        (V, 9),
    ),
    "rows of a part of what changes": (
        """double[.], double[.] f(double[n] a, int k) { r = sc(a); t = take([n / 2], r); w = r ++ a; w[0] = 7.0;
             return (w, halves(t) ++ [w[1]]); }""",
        (V, 9),
    ),
    "rows of an array that changes": (
        """double[.], double[.] f(double[n] a, int k) { b = sc(a); t = take([n / 2], b); b[0] = 7.0;
             return (b, halves(t) ++ [b[0]]); }""",
        (V, 5),
    ),
    "small results that are the same": (
        """double[.], double[.,.] f(double[n,m] c, int k) { x, y = pair(c[0], k); z, t = pair(drop([0], y), k);
             v, w = pair({ [i] -> c[i,1] | [i] < [2] }, k); c[1] = w; return (v, c); }""",
        (A[:2, :2].copy(), 1),
    ),
    "a call needs what was there": (
        "double[n,m] f(double[n,m] a, int k) { for (i = 0; i < n; i++) { a[i] = kept(a[i], k); } return a; }",
        (A, 3),
    ),
    "a call reads the other end": (
        "double[n,m] f(double[n,m] a, int k) { for (i = 0; i < n; i++) { a[i] = mirrored(a[i], k); } return a; }",
        (A, 3),
    ),
    "a call reads what was there in the end": (
        """double[n,m], double f(double[n,m] a, int k) { x = 0.0; for (i = 0; i < n; i++) { r, s = late(a[i], k);
             a[i] = r; x = x + s; } return (a, x); }""",
        (A, 3),
    ),
    "a call gives what was there too": (
        """double[n,m], double[.] f(double[n,m] a, int k) { x = a[0]; for (i = 0; i < n; i++) {
             r, s = old_and_new(a[i], k); a[i] = r; x = x + s; } return (a, x); }""",
        (A, 3),
    ),
    "a row and itself": (
        "double[n,m] f(double[n,m] a) { for (i = 0; i < n; i++) { a[i] = added(a[i], a[i], i); } return a; }",
        (A,),
    ),
    "a row and one that may be it": (
        "double[n,m] f(double[n,m] a, int k) { for (i = 0; i < n; i++) { a[i] = added(a[i], a[k], i); } return a; }",
        (A, 7),
    ),
    "a row that is needed afterwards": (
        """double[n,m], double[.] f(double[n,m] a) { x = a[0]; for (i = 0; i < n; i++) { v = a[i]; a[i] = fill(v, 3);
             x = x + v; } return (a, x); }""",
        (A,),
    ),
    "no rows": ("double[.] f(double[n] a, int k) { return halves(take([k], a)) ++ halves(drop([n], a)); }", (V, 0)),
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_is_made_elsewhere(name: str) -> None:
    text, args = ELSEWHERE[name]
    arrays(FUNCTIONS + text, "f", *args)


def test_what_grows_in_place_through_a_call_goes_on_growing() -> None:
    text = """double[.] f(double[n] a, int k) { b = sc(a); for (i = 0; i < k; i++) { b = put(b, i) ++ [1.0]; }
      return b; }"""
    assert arrays(FUNCTIONS + text, "f", V, 25) <= 3


@pytest.mark.parametrize("making", ["sc(genarray([k[i]], 1.0))", "halves(genarray([k[i]], 1.0))"])
def test_a_cell_that_is_too_long_is_refused_before_anything_is_written(making: str) -> None:
    text = f"""double[.,.] f(int n, int m, int[.] k) {{
      return with {{ ([0] <= [i] < [n]) : {making}; }} : genarray([n], genarray([m], 0.0)); }}"""
    f = native(FUNCTIONS + text, "f", (2, 4, np.array([4, 4], np.int32)))
    assert f.call((2, 4, np.array([4, 4], np.int32)))[-1].shape == (2, 4)
    for longer in (5, 3, 1 << 17):
        with pytest.raises(CheckFailed):
            f.call((2, 4, np.array([4, longer], np.int32)))


def test_where_results_and_rows_lie_is_told() -> None:
    told = sacpy.Session(target="cpu").emit("memory", "halves", FUNCTIONS)
    assert "in w.2 at [t.3]" in told and "in w.2 at [0]" in told
    assert "rows of a, where they are" in told


MUTANTS = {
    Mutant(
        "what a call is given is overwritten before it is read",
        "sacpy.jit.analysis.becoming",
        "_Over.block",
        "may_share(maker.rhs, self.p, self.ints) == ALWAYS",
        "True",
    ): "a call reads the other end",
    Mutant(
        "what a call is given is needed later",
        "sacpy.jit.analysis.becoming",
        "_Over.block",
        "any(k > begins for k in uses)",
        "False",
    ): "a call reads what was there in the end",
    Mutant(
        "what a call reads is overwritten",
        "sacpy.jit.analysis.overwritten",
        "Old.reads_what_was",
        "self.is_apart(self.aliases[a.name])\n                    or",
        "True\n                    or",
    ): "a call reads what it would overwrite",
    Mutant(
        "a view of the part is used later",
        "sacpy.jit.analysis.planner",
        "Planner.judged",
        "k > number for name in self.aliases.of(names) - names",
        "False for name in self.aliases.of(names) - names",
    ): "a row of the part is a result too",
}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_bugs_are_found(mutant: Mutant) -> None:
    text, args = ELSEWHERE[MUTANTS[mutant]]
    with mutated(mutant), pytest.raises(AssertionError):
        arrays(FUNCTIONS + text, "f", *args)
