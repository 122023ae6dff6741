"""What nobody else holds is updated in place: copies are counted, not timed."""

import pytest

from tests.interp.tools import run

N = 50

LINEAR = {
    "loop": "int main() { a = genarray([9], 0); for (i = 0; i < 50; i++) { a[i % 9] = i; } return a[4]; }",
    "callee": "int[.] set(int[.] a, int i) { a[i % 9] = i; return a; } int main() { a = genarray([9], 0); for (i = 0; "
    "i < 50; i++) { a = set(a, i); } return a[4]; }",
    "callee of a callee": """int[.] set(int[.] a, int i) { a[i % 9] = i; return a;
  } int[.] twice(int[.] a, int i) { a = set(a, i); return set(a, i + 1); }
        int main() { a = genarray([9], 0); for (i = 0; i < 50; i++) { a = twice(a, i); } return a[4]; }""",
    "reference parameter": "void set(int[.] &a, int i) { a[i % 9] = i; } int main() { a = genarray([9], 0); for (i = "
    "0; i < 50; i++) { set(a, i); } return a[4]; }",
    "struct field": "struct S { int[9] a; int n; }; int main() { s = S{}; for (i = 0; i < 50; i++) { s.a[i % 9] = i; "
    "s.n = i; } return s.a[4]; }",
    "struct field in a callee": """struct S { int[9] a; int n; }; struct S step(struct S s, int i) { s.a[i % 9] = i;
  s.n += 1; return s; }
        int main() { s = S{}; for (i = 0; i < 50; i++) { s = step(s, i); } return s.a[4]; }""",
    "tail recursion": "int[.] rec(int[.] a, int i) { if (i < 50) { a[i % 9] = i; r = rec(a, i + 1); } else { r = a; } "
    "return r; } int main() { a = rec(genarray([9], 0), 0); return a[4]; }",
    "recursion": "int[.] rec(int[.] a, int i) { if (i < 50) { a = rec(a, i + 1); a[i % 9] = i; } return a; } int "
    "main() { a = rec(genarray([9], 0), 0); return a[4]; }",
    "row": "int main() { m = genarray([5, 4], 0); v = iota(4); for (i = 0; i < 50; i++) { m[i % 5] = v; } return m[3, "
    "2]; }",
    "element of a row": "int main() { m = genarray([5, 4], 0); for (i = 0; i < 50; i++) { m[i % 5, i % 4] = i; } "
    "return m[3, 2]; }",
    "nested loops": "int main() { m = genarray([5, 4], 0); for (i = 0; i < 5; i++) { for (j = 0; j < 4; j++) { m[i, "
    "j] = i * j; } } return m[3, 2]; }",
    "branch": "int main() { a = genarray([9], 0); for (i = 0; i < 50; i++) { if (i % 2 == 0) { a[i % 9] = i; } else { "
    "a[0] = 1; } } return a[4]; }",
    "branch without an update": "int main() { a = genarray([9], 0); for (i = 0; i < 50; i++) { if (i % 2 == 0) { a[i "
    "% 9] = i; } } return a[4]; }",
    "two arrays that change places": "int main() { a = genarray([9], 0); b = genarray([9], 1); for (i = 0; i < 50; "
    "i++) { a[i % 9] = b[0]; t = a; a = b; b = t; } return a[4]; }",
    "swap of two elements": "int main() { a = iota(9); for (i = 0; i < 50; i++) { t = a[i % 9]; a[i % 9] = a[0]; a[0] "
    "= t; } return a[4]; }",
    "quicksort": """int[.] swap(int[.] a, int i, int j) { t = a[i]; a[i] = a[j]; a[j] = t; return a; }
        int[.] sort(int[.] a, int lo, int hi) { if (lo < hi) { p = a[hi]; k = lo;
          for (j = lo; j < hi; j++) { if (a[j] < p) { a = swap(a, k, j); k += 1; } } a = swap(a, k, hi);
        a = sort(a, lo, k - 1); a = sort(a, k + 1, hi); } return a; } int main() { a = sort((iota(20) * 7) % 20, 0, 19);
          return a[4]; }""",
    "update by an expression of the array": "int main() { a = iota(9); for (i = 0; i < 50; i++) { a[i % 9] = a[i % 9] "
    "+ a[(i + 1) % 9]; } return a[4]; }",
    "while": "int main() { a = genarray([9], 0); i = 0; while (a[4] < 7) { a[4] = a[4] + 1; i += 1; } return a[4]; }",
    "do": "int main() { a = genarray([9], 0); do { a[4] = a[4] + 1; } while (a[4] < 7); return a[4]; }",
    "inside a with-loop": "int main() { m = with { ([0] <= [i] < [5]) { a = genarray([4], 0); for (k = 0; k < 4; k++) "
    "{ a[k] = i; } } : a; } : genarray([5], [0, 0, 0, 0]); return m[4, 3]; }",
    "fold of arrays": "int[.] add(int[.] a, int[.] v) { a[v[0]] = a[v[0]] + 1; return a; } int main() { a = with { "
    "([0] <= [i] < [50]) : [i % 9]; } : fold(add, genarray([9], 0)); return a[4]; }",
    "result of a call": "int[.] make(int n) { return genarray([n], 0); } int main() { a = make(9); a[4] = 1; return "
    "a[4]; }",
    "modarray with-loop": "int main() { a = genarray([9], 0); for (k = 0; k < 50; k++) { a = with { ([0] <= [i] < "
    "[9]) : i + k; } : modarray(a); } return a[4]; }",
}

SHARED = {
    "alias": ("int main() { a = iota(9); b = a; a[4] = 100; return b[4]; }", 4),
    "alias in a loop": (
        "int main() { a = iota(9); s = 0; for (i = 0; i < 5; i++) { b = a; a[4] = i; s = s * 10 + b[4]; } return s; }",
        40123,
    ),
    "argument that is used again": (
        "int[.] set(int[.] a) { a[4] = 100; return a; } int main() { a = iota(9); b = set(a); return a[4]; }",
        4,
    ),
    "result that is the argument": (
        "int[.] same(int[.] a) { return a; } int main() { a = iota(9); b = same(a); a[4] = 100; return b[4]; }",
        4,
    ),
    "result that may be the argument": (
        "int[.] choose(int[.] a, int[.] b, bool c) { return c ? a : b; } int main() { a = iota(9); b = iota(9); r = "
        "choose(a, b, a[3] == 3); a[4] = 100; return r[4]; }",
        4,
    ),
    "argument given twice": (
        "int both(int[.] a, int[.] b) { a[4] = 100; return b[4]; } int main() { a = iota(9); return both(a, a); }",
        4,
    ),
    "struct that is kept": (
        "struct S { int[9] a; int n; }; int main() { s = S{}; t = s; s.a[4] = 100; return t.a[4]; }",
        0,
    ),
    "branch that shares": (
        "int main() { a = iota(9); if (a[0] == 0) { b = a; } else { b = iota(9); } a[4] = 100; return b[4]; }",
        4,
    ),
    "branch that shares, other side": (
        "int main() { a = iota(9); if (a[0] == 0) { b = a; } else { b = iota(9); } b[4] = 100; return a[4]; }",
        4,
    ),
    "array before the loop": (
        "int main() { a = iota(9); b = a; for (i = 0; i < 9; i++) { b[i] = 100; } return a[4]; }",
        4,
    ),
    "outer variable in a with-loop": (
        "int main() { a = iota(9); b = with { ([0] <= [i] < [3]) { a[4] = a[4] + 1; } : a[4]; } : genarray([3], 0); "
        "return b[0] * 100 + b[2] * 10 + a[4]; }",
        554,
    ),
    "neutral of a fold": (
        "int[.] set(int[.] a, int v) { a[4] = a[4] + v; return a; } int main() { n = iota(9); r = with { ([0] <= [i] "
        "< [3]) : 10; } : fold(set, n); return r[4] * 10 + n[4]; }",
        344,
    ),
    "neutral of a fold over nothing": (
        "int[.] set(int[.] a, int v) { a[4] = a[4] + v; return a; } int main() { n = iota(9); r = with { ([0] <= [i] "
        "< [0]) : 10; } : fold(set, n); r[4] = 7; return n[4]; }",
        4,
    ),
    "view of a reshape": ("int main() { a = iota(8); b = reshape([2, 4], a); a[4] = 100; return b[1, 0]; }", 4),
    "view of a reshape, other side": (
        "int main() { a = iota(8); b = reshape([2, 4], a); b[1, 0] = 100; return a[4]; }",
        4,
    ),
    "row that was taken": ("int main() { m = reshape([2, 4], iota(8)); r = m[1]; m[1, 0] = 100; return r[0]; }", 4),
    "row that is changed": ("int main() { m = reshape([2, 4], iota(8)); r = m[1]; r[0] = 100; return m[1, 0]; }", 4),
    "array constant": (
        "int f() { a = [1, 2, 3]; a[1] = a[1] + 5; return a[1]; } int main() { x = f(); return f() * 10 + x; }",
        77,
    ),
    "result twice": (
        "int[.], int[.] two() { a = iota(9); return (a, a); } int main() { a, b = two(); a[4] = 100; return b[4]; }",
        4,
    ),
    "modarray with-loop of a kept array": (
        "int main() { a = iota(9); b = with { ([0] <= [i] < [9]) : 100; } : modarray(a); return a[4] + b[3]; }",
        104,
    ),
    "modarray with-loop that reads the array": (
        "int main() { a = iota(9); a = with { ([1] <= [i] < [9]) : a[i - 1]; } : modarray(a); return a[8]; }",
        7,
    ),
    "update with the array itself": (
        "int main() { m = reshape([3, 3], iota(9)); m[0] = m[1]; m[1, 0] = 100; return m[0, 0]; }",
        3,
    ),
    "swap in a loop with an alias": (
        "int main() { a = iota(9); b = a; for (i = 0; i < 3; i++) { a[4] = a[4] + 10; t = a; a = b; b = t; } return "
        "a[4] * 100 + b[4]; }",
        1424,
    ),
    "argument of a recursion": (
        "int[.] rec(int[.] a, int n) { r = a; if (n > 0) { b = rec(a, n - 1); a[4] = a[4] + b[4]; r = a; } return r; "
        "} int main() { a = iota(9); r = rec(a, 3); return r[4] * 10 + a[4]; }",
        164,
    ),
}


@pytest.mark.parametrize("name", LINEAR)
def test_update_copies_nothing_that_grows(name: str) -> None:
    """A few copies at the start are fine (an array made by reshape, a constant); one per iteration is not."""
    result = run(LINEAR[name])
    assert result.copies <= 2
    assert result.value == run(LINEAR[name], always_copy=True).value


def test_always_copying_copies() -> None:
    assert run(LINEAR["loop"], always_copy=True).copies >= N


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("always_copy", [False, True])
def test_alias_never_sees_an_update(name: str, always_copy: bool) -> None:
    text, expected = SHARED[name]
    assert run(text, always_copy=always_copy).value == expected
