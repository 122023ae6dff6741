"""Functions of every kind, specialised, verified and evaluated: the same bits as interpreted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sacpy.jit.specialise import Argument, maker
from tests.jit.graph_evaluator import evaluate
from tests.jit.specialise_tools import Subject, agree, identical, shapes_of

I = np.int32  # noqa: E741
random = np.random.default_rng(4)


def ints(*items: Any) -> Any:
    return np.array(items, I)


def reals(*shape: int) -> Any:
    return random.standard_normal(shape)


def whole(*shape: int) -> Any:
    return random.integers(-9, 10, shape).astype(I)


CASES: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    # ---- scalars
    "wrap-around": (
        "int f(int a, int b) { return (a * b + a) - b * 7; }",
        [(2147483647, 65537), (-2147483648, -1), (0, 0)],
    ),
    "division": (
        "int, int, int f(int a, int b) { return (a / b, a % b, mod(a, b)); }",
        [(-7, 3), (7, -3), (-2147483648, -1)],
    ),
    "float rounds": (
        "float f(float a, float b) { return a * b + a / b; }",
        [(0.10000000149011612, 3.0), (1e38, 1e-38)],
    ),
    "nan and zero": (
        "double, bool, double f(double a, double b) { return (a / b, a < b, min(a, b)); }",
        [(0.0, 0.0), (-1.0, 0.0), (float("nan"), 1.0)],
    ),
    "conversions": (
        "int, byte, ubyte, float, bool f(double x) { return (toi(x), tob(toi(x)), toub(toi(x)), tof(x), tobool(x)); }",
        [(-300.7,), (1e20,), (0.0,)],
    ),
    "shifts": ("int, uint f(int a, uint b) { return (a << 3, b >> 2ui); }", [(-5, 4294967295), (1 << 30, 7)]),
    "lazy operators": ("bool f(int a, int b) { return b != 0 && a / b > 2 || a == 7; }", [(9, 3), (9, 0), (7, 0)]),
    "conditional expression": ("int f(int a) { return a > 0 ? a * 2 : a < -5 ? -a : 100; }", [(3,), (-9,), (0,)]),
    "chars": ("char, int f(char c) { return (_toc_S_(toi(c) + 1), toi(c)); }", [(97,), (255,)]),
    # ---- vectors and selections
    "index arithmetic": (
        "int f(int[.,.] a, int[2] iv) { return a[mod(iv + shape(a) / 2 - 1, shape(a))]; }",
        [(whole(3, 5), ints(2, 4)), (whole(1, 1), ints(-7, 9))],
    ),
    "rows": ("double f(double[.,.] a, int i) { return sum(a[i]); }", [(reals(4, 3), 2), (reals(2, 0), 1)]),
    "dots": ("double[.] f(double[.,.,.] a) { return a[1, ., 0]; }", [(reals(2, 3, 2),), (reals(2, 0, 1),)]),
    "updates": (
        "double[.,.] f(double[.,.] a, int i) { a[i, 1] = 2.5; a[0] = a[i]; return a; }",
        [(reals(3, 3), 2), (reals(9, 2), 0)],
    ),
    "small updates": ("int[.] f(int i) { v = [1, 2, 3]; v[i] = 9; v[2] = v[i] + 1; return v; }", [(0,), (2,)]),
    "table": ("int f(int i) { return [3, 1, 4, 1, 5, 9, 2, 6][i]; }", [(0,), (7,)]),
    "rank 0": (
        "int f(int a, int[.] v) { e = [:int]; return a[e] + v[[0]] + dim(v) + shape(v)[0]; }",
        [(5, ints(1, 2))],
    ),
    "reshape": (
        "double[.] f(double[.,.] a) { return reshape([prod(shape(a))], a); }",
        [(reals(3, 4),), (reals(0, 4),)],
    ),
    "cat, take, drop": (
        "int[.] f(int[.] a, int n) { return take([n], a) ++ drop([n], a) ++ take([-1], a); }",
        [(whole(12), 5), (whole(3), 3), (whole(2), 0)],
    ),
    "array construction": (
        "double[.,.] f(double[.] a, double[.] b) { return [a, b, a + b]; }",
        [(reals(40), reals(40)), (reals(2), reals(2))],
    ),
    "transpose": ("double[.,.] f(double[.,.] a) { return { [i, j] -> a[j, i] }; }", [(reals(3, 5),), (reals(0, 2),)]),
    "rotate and reverse": (
        "int[.] f(int[.] a, int n) { return rotate([n], reverse(a)); }",
        [(whole(9), 4), (whole(1), -3)],
    ),
    "where": ("int[.,.] f(int[.,.] a) { return where(a > 0, a, 0 - a); }", [(whole(7, 8),), (whole(0, 3),)]),
    # ---- with-loops
    "relaxation": (
        "double[.,.] f(double[.,.] a) { return with { ([1,1] <= [i,j] < shape(a) - 1) : 0.25 * (a[i-1,j] + a[i+1,j] + "
        "a[i,j-1] + a[i,j+1]); } : modarray(a); }",
        [(reals(6, 7),), (reals(2, 2),)],
    ),
    "overlapping partitions": (
        "int[.] f(int n) { return with { ([0] <= [i] < [n / 2]) : 1; ([0] <= [i] < [n]) : i; } : genarray([n], 7); }",
        [(9,), (0,), (1,)],
    ),
    "step and width": (
        "int[.,.] f(int n) { return with { ([1, 0] <= iv=[i,j] <= [n - 1, n - 1] step [3, 2] width [2, 1]) : 10 * i + "
        "j; } : genarray([n, n], -1); }",
        [(8,), (1,)],
    ),
    "dot bounds": (
        "int[.] f(int[.] a) { return with { (. < [i] < .) : a[i - 1] + a[i + 1]; } : modarray(a); }",
        [(whole(9),), (whole(40),), (whole(1),), (whole(0),)],
    ),
    "array cells": (
        "double[.,.] f(double[.,.] a) { return with { (. <= [i] <= .) : a[shape(a)[0] - 1 - i] * 2.0; } : "
        "genarray([shape(a)[0]]); }",
        [(reals(6, 5),), (reals(2, 40),)],
    ),
    "cells of computed extent": (
        "int[.,.] f(int n) { return with { (. <= [i] <= .) : iota(n / 2 + 1) + i; } : genarray([n]); }",
        [(7,), (60,)],
    ),
    "default cell": (
        "int[.,.] f(int n, int[.] d) { return with { ([1] <= [i] < [n]) : d * i; } : genarray([n], d); }",
        [(5, whole(40)), (3, whole(3))],
    ),
    "fold order": (
        "double f(double[.] a) { return with { (0 * shape(a) <= iv < shape(a)) : a[iv]; } : fold(-, 1.0); }",
        [(reals(30),), (reals(2),)],
    ),
    "two folded partitions": (
        "int f(int n) { return with { ([0] <= [i] < [n]) : i; ([2] <= [i] < [n]) : 10 * i; } : fold(+, 3); }",
        [(40,), (3,), (0,)],
    ),
    "foldfix": ("int f(int n) { return with { ([1] <= [i] < [n]) : i; } : foldfix(*, 1, 24); }", [(40,), (4,)]),
    "fold of arrays": (
        "int[.] f(int[.,.] a) { return with { ([0] <= [i] < take([1], shape(a))) : a[i]; } : fold(+, "
        "genarray([shape(a)[1]], 0)); }",
        [(whole(5, 40),), (whole(0, 3),)],
    ),
    "fold that grows": (
        "int[.] f(int n) { return with { ([0] <= [i] < [n]) : iota(i); } : fold(++, [:int]); }",
        [(20,), (0,)],
    ),
    "several operators": (
        "double[.], double f(double[.] a) { b, m = with { (. <= iv <= .) { x = a[iv] * 3.0; } : (x, x); } : "
        "(genarray(shape(a), 0.0), fold(max, -1d)); return (b, m); }",
        [(reals(40),), (reals(3),)],
    ),
    "propagate": (
        "int, int[.] f(int n) { s = 1; s, a = with { ([0] <= [i] < [n]) { s = s * 3 + i; } : (s, s); } : "
        "(propagate(s), genarray([n], 0)); return (s, a); }",
        [(40,), (0,)],
    ),
    "ranks 0 to 5": (
        "int f(int[*] a) { return sum(a * 2) + with { (0 * shape(a) <= iv < shape(a)) : sum(iv); } : fold(+, 0); }",
        [(3,), (whole(4),), (whole(2, 0, 3),), (whole(2, 1, 3, 2, 2),)],
    ),
    "nested with-loops": (
        "double[.,.] f(double[.,.] a, double[.,.] b) { return { [i, j] -> sum(a[i] * transpose(b)[j]) }; }",
        [(reals(3, 4), reals(4, 5)), (reals(9, 0), reals(0, 2))],
    ),
    "convolution": (
        "double[.,.] f(double[.,.] a, double[3,3] w) { return { iv -> sum({ ov -> w[ov] * a[mod(iv + ov - 1, "
        "shape(a))] | ov < [3, 3] }) | iv < shape(a) }; }",
        [(reals(5, 6), reals(3, 3))],
    ),
    # ---- loops
    "counting": ("int f(int n) { s = 0; for (i = 0; i < n; i++) { s += i * i; } return s; }", [(100,), (0,)]),
    "while": (
        "int f(int n) { c = 0; while (n != 1) { n = n % 2 == 0 ? n / 2 : 3 * n + 1; c++; } return c; }",
        [(27,), (1,)],
    ),
    "do": ("int f(int n) { do { k = n * 2; n = n - 1; } while (k > 10); return n; }", [(20,), (1,)]),
    "do that sets an array": (
        "int f(int n) { do { v = iota(n); n = n - 3; } while (shape(v)[0] > 4); return n; }",
        [(40,), (1,)],
    ),
    "arrays that grow": (
        "int[.] f(int n) { a = [:int]; for (i = 0; i < n; i++) { a = a ++ [i * i]; } return a; }",
        [(50,), (0,)],
    ),
    "updates in loops": (
        "double[.,.] f(double[.,.] a) { n = shape(a)[0]; for (k = 0; k < n; k++) { for (i = k + 1; i < n; i++) { a[i, "
        "k] = a[i, k] / a[k, k]; for (j = k + 1; j < n; j++) { a[i, j] = a[i, j] - a[i, k] * a[k, j]; } } } return a; "
        "}",
        [(reals(5, 5),), (reals(1, 1),)],
    ),
    "rank that a loop changes": (
        "int f(int[.,.,.] a) { x = reshape([prod(shape(a))], a); for (d = 0; d < 2; d++) { x = [x, x]; } return "
        "dim(x) + sum(x); }",
        [(whole(2, 2, 2),)],
    ),
    # ---- functions
    "recursion": (
        "int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); } int f(int n) { return fib(n); }",
        [(12,), (0,)],
    ),
    "mutual recursion": (
        "bool even(int n); bool odd(int n) { return n == 0 ? false : even(n - 1); } bool even(int n) { return n == 0 "
        "? true : odd(n - 1); } bool f(int n) { return even(n); }",
        [(7,), (12,)],
    ),
    "quicksort": (
        "int[.] pick(int[.] a, bool[.] m) { r = [:int]; for (i = 0; i < shape(a)[0]; i++) { if (m[i]) { r = r ++ "
        "[a[i]]; } } return r; } int[.] f(int[.] a) { if (shape(a)[0] < 2) { r = a; } else { p = a[0]; r = f(pick(a, "
        "a < p)) ++ pick(a, a == p) ++ f(pick(a, a > p)); } return r; }",
        [(whole(30),), (whole(2),), (whole(0),)],
    ),
    "recursion over rank": (
        "int f(int[*] a) { return dim(a) == 0 ? 1 : sum({ [i] -> f(a[i]) | [i] < take([1], shape(a)) }); }",
        [(whole(3, 2, 2),), (whole(0, 2),)],
    ),
    "overloads": (
        "int g(int a) { return 1; } int g(int[.] a) { return 2; } int g(int[3] a) { return 3; } int g(int[.,.] a) { "
        "return 4; } int f(int[.] a, int[.,.] b) { return g(a) + 10 * g(b) + 100 * g(a[0]); }",
        [(whole(3), whole(2, 2)), (whole(30), whole(1, 1))],
    ),
    "patterns": (
        "double[n] g(double[n] a, double[n,m] b, double[m] c) { return a + { [i] -> sum(b[i] * c) }; } double[.] "
        "f(double[.] a, double[.,.] b, double[.] c) { return g(a, b, c); }",
        [(reals(5), reals(5, 7), reals(7)), (reals(0), reals(0, 2), reals(2))],
    ),
    "slices": (
        "int[n,d:shp] f(int[n,d:shp] a) | (n > 0) { return a + n + d + sum(shp); }",
        [(whole(5, 2, 3),), (whole(1),)],
    ),
    "references": ("void g(int &a, int b) { a = a * b; } int f(int n) { g(n, 3); g(n, n); return n; }", [(5,), (-1,)]),
    "structs": (
        "struct P { double[3] pos; double m; }; double f(double x, double[3] v) { p = P{v, x}; p.pos[1] = x; p.m += "
        "2.0; return sum(p.pos) * p.m; }",
        [(1.5, reals(3))],
    ),
    "structs in arrays": (
        "struct P { double x; int k; }; double f(double[.] v) { ps = { [i] -> P{v[i], i} | [i] < shape(v) }; return "
        "sum({ [i] -> ps[i].x * tod(ps[i].k) | [i] < shape(v) }); }",
        [(reals(40),), (reals(2),)],
    ),
    "complex": (
        "double[.] f(double[.] a) { z = { [i] -> toc(a[i], 1.0) * toc(0.5, a[i]) | [i] < shape(a) }; return { [i] -> "
        "real(z[i]) + imag(z[i]) | [i] < shape(a) }; }",
        [(reals(40),), (reals(3),)],
    ),
    "mathematics": (
        "double[.] f(double[.] a) { return sqrt(fabs(a)) + sin(a) * exp(0.0 - a * a) + pow(2.0, floor(a)); }",
        [(reals(40),), (reals(0),)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_graph_gives_what_the_interpreter_gives(name: str) -> None:
    text, calls = CASES[name]
    subject = Subject(text)
    for args in calls:
        agree(subject, *args)


@pytest.mark.parametrize(
    "name",
    [
        "quicksort",
        "patterns",
        "structs in arrays",
        "complex",
        "nested with-loops",
        "mutual recursion",
        "references",
        "arrays that grow",
    ],
)
def test_functions_that_are_not_inlined_give_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maker, "BUDGET", -1)
    monkeypatch.setattr(maker, "LITTLE", 0)
    text, calls = CASES[name]
    subject = Subject(text)
    for args in calls:
        agree(subject, *args)
    assert len(subject.unit(*shapes_of(calls[0], fixed=-1)).functions) > 1


def test_a_rank_may_depend_on_a_value_that_is_known() -> None:
    subject = Subject("int[*] f(int r, int[.,.,.] a) { return rsum(r, a); }")
    a = whole(2, 3, 4)
    for r in range(4):
        unit = subject.specialiser.specialise(
            subject.key, [Argument("int", (), (r,)), Argument("int", (None, None, None))]
        )
        (got,), (wanted,) = evaluate(unit, (r, a)), subject.interpreted(r, a)
        assert identical(got, wanted)
