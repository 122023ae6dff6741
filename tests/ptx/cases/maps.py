"""Maps, stencils, steps and widths, updates."""

from __future__ import annotations

import numpy as np

from tests.ptx.cases.case import Cases

MADE = Cases(11)
case, d, s, n = MADE.add, MADE.doubles, MADE.singles, MADE.integers

case(
    "map",
    "double[n] f(double[n] v, double k) { return { [i] -> v[i] * k + 1.0 | [i] < [n] }; }",
    (d(1000), 2.5),
    (d(1), 1.0),
    (d(0), 1.0),
    (d(257), -1.0),
)
case(
    "map of rank 3",
    "double[m,n,k] f(double[m,n,k] v) { return { [i,j,l] -> v[i,j,l] * tod(i + j * l) | [i,j,l] < [m,n,k] }; }",
    (d(7, 11, 13),),
    (d(1, 1, 1),),
    (d(3, 0, 4),),
)
case(
    "map of rank 5",
    "int[a,b,c,e,g] f(int[a,b,c,e,g] v) { return { iv -> v[iv] + 1 | iv < shape(v) }; }",
    n(3, 2, 4, 3, 5),
)
case(
    "cells are vectors", "double[m,3] f(double[m,3] v) { return { [i] -> v[i] * 2.0 + v[[0]] | [i] < [m] }; }", d(40, 3)
)
case(
    "rank 0",
    "double f(double[n] v, int k) { return with { ([] <= iv < []) : v[k] * 2.0; } : genarray([], 0.0); }",
    d(9),
    4,
)
case(
    "several operators",
    (
        "double[n], int[n], double f(double[n] v) { a, b, c = with { ([0] <= [i] < [n]) { x = v[i] * "
        "2.0; } : (x, toi(x * 10.0), x); } : (genarray([n], 0.0), genarray([n], 0), fold(+, 0.0)); "
        "return (a, b, c); }"
    ),
    (d(900),),
    (d(1),),
)
case(
    "two genarrays",
    (
        "double[n], bool[n] f(double[n] v) { a, b = with { ([0] <= [i] < [n]) : (v[i] * 2.0, v[i] > "
        "0.0); } : (genarray([n], 0.0), genarray([n], false)); return (a, b); }"
    ),
    d(321),
)
case(
    "conditional",
    (
        "double[n] f(double[n] v) { return { [i] -> (v[i] > 0.0 ? sqrt(v[i]) : (i % 3 == 0 ? -v[i] : "
        "v[i] * v[i])) | [i] < [n] }; }"
    ),
    d(777),
)
case(
    "while inside",
    (
        "int[n] f(int n) { return with { ([0] <= [i] < [n]) { k = i + 1; c = 0; while (k != 1) { if (k % "
        "2 == 0) { k = k / 2; } else { k = 3 * k + 1; } c = c + 1; } } : c; } : genarray([n], 0); }"
    ),
    (300,),
    (1,),
)
case(
    "do and for inside",
    (
        "int[n] f(int n, int[m] w) { return with { ([0] <= [i] < [n]) { x = 1; for (k = 0; k < i % 7; "
        "k++) { x = x * 3 + w[k]; } do { x = x - 5; } while (x > 100); } : x; } : genarray([n], 0); }"
    ),
    200,
    n(7),
)
case(
    "private array",
    (
        "int[n] f(int n) { return with { ([0] <= [i] < [n]) { q = [i, i * 2, i * 3, 7]; for (k = 0; k < "
        "4; k++) { q[k] = q[(k + i) % 4] + k; } } : q[0] * q[3] + q[1]; } : genarray([n], 0); }"
    ),
    130,
)
case(
    "gather", "int[m] f(int[n] v, int[m] w) { return { [i] -> v[w[i]] | [i] < [m] }; }", n(100), n(250, low=0, high=100)
)
case(
    "a failing gather",
    "int[m] f(int[n] v, int[m] w) { return { [i] -> v[w[i]] | [i] < [m] }; }",
    n(100),
    np.concatenate([n(249, low=0, high=100), np.array([100], np.int32)]),
)
case(
    "a failing division",
    "int[n] f(int[n] v, int[n] w) { return { [i] -> v[i] / w[i] | [i] < [n] }; }",
    (n(300), n(300, low=1, high=9)),
    (n(300), n(300, low=0, high=9)),
)
case(
    "mod and div",
    (
        "int[n], int[n] f(int[n] v, int[n] w) { a = { [i] -> v[i] / w[i] | [i] < [n] }; b = { [i] -> "
        "v[i] % w[i] | [i] < [n] }; return (a, b); }"
    ),
    n(300),
    np.where(n(300) == 0, 1, n(300, low=1, high=9)).astype(np.int32)
    * np.where(np.arange(300) % 2, -1, 1).astype(np.int32),
)
case(
    "transposition",
    "double[n,m] f(double[m,n] a) { return { [j,i] -> a[i,j] | [j,i] < [n,m] }; }",
    (d(45, 70),),
    (d(1, 9),),
    (d(33, 32),),
)
case("reverse", "int[n] f(int[n] v) { return { [i] -> v[n - 1 - i] | [i] < [n] }; }", n(1025))
case(
    "concatenation",
    "int[.] f(int[n] v, int[m] w) { return { [i] -> v[i] | [i] < [n]; [i] -> w[i - n] | [n] <= [i] < [n + m] }; }",
    n(100),
    n(77),
)
case(
    "booleans",
    "bool[n] f(bool[n] a, bool[n] b) { return { [i] -> (a[i] && !b[i]) || (i % 5 == 0) | [i] < [n] }; }",
    n(300, low=0, high=2).astype(bool),
    n(300, low=0, high=2).astype(bool),
)

# stencils, steps, widths, modarray
case(
    "relaxation",
    (
        "double[m,n] f(double[m,n] a) { return with { ([1,1] <= iv < [m - 1,n - 1]) : (a[iv - [1,0]] + "
        "a[iv + [1,0]] + a[iv - [0,1]] + a[iv + [0,1]]) / 4.0; } : modarray(a); }"
    ),
    (d(50, 61),),
    (d(3, 3),),
    (d(2, 2),),
)
case(
    "relaxation in rounds",
    (
        "double[m,n] f(double[m,n] a, int k) { for (t = 0; t < k; t++) { a = with { ([1,1] <= iv < [m - "
        "1,n - 1]) : (a[iv - [1,0]] + a[iv + [1,0]] + a[iv - [0,1]] + a[iv + [0,1]]) / 4.0; } : "
        "modarray(a); } return a; }"
    ),
    d(40, 37),
    5,
)
case(
    "stencil of rank 3",
    (
        "float[l,m,n] f(float[l,m,n] a) { return with { ([1,1,1] <= [i,j,k] < [l - 1,m - 1,n - 1]) : "
        "a[i-1,j,k] + a[i+1,j,k] + a[i,j-1,k] + a[i,j+1,k] + a[i,j,k-1] + a[i,j,k+1] - 6f * a[i,j,k]; } "
        ": modarray(a); }"
    ),
    s(12, 13, 14),
)
case(
    "steps",
    (
        "int[m,n] f(int m, int n) { return with { ([1,2] <= [i,j] < [m,n] step [3,4]) : i * 100 + j; } : "
        "genarray([m,n], -1); }"
    ),
    (40, 50),
    (3, 3),
    (1, 2),
)
case(
    "steps and widths",
    (
        "int[m,n] f(int m, int n) { return with { ([1,2] <= [i,j] < [m,n] step [5,4] width [2,3]) : i * "
        "100 + j; } : genarray([m,n], -1); }"
    ),
    (47, 51),
    (8, 9),
)
case(
    "modarray with steps",
    (
        "int[n] f(int[n] v) { return with { ([2] <= [i] < [n - 1] step [3] width [2]) : v[i] + v[i - 1]; "
        "} : modarray(v); }"
    ),
    n(500),
)
case(
    "several partitions",
    (
        "int[m,n] f(int m, int n) { return with { ([0,0] <= [i,j] < [m,5]) : 1; ([0,5] <= [i,j] < [m,n]) "
        ": i * j; ([2,2] <= [i,j] < [9,9]) : 7; ([m - 1,0] <= [i,j] < [m,n]) : 9; } : genarray([m,n], "
        "0); }"
    ),
    (30, 33),
    (10, 10),
)
case(
    "in place",
    (
        "int[n] f(int[n] v, int k) { v = with { ([0] <= [i] < [k]) : v[i] * 2; } : modarray(v); v = with "
        "{ ([k] <= [i] < [n]) : v[i] - 1; } : modarray(v); return v; }"
    ),
    n(400),
    123,
)
case(
    "in place, cells",
    (
        "int[n,3] f(int[n,3] v) { v = with { ([0] <= [i] < [n]) : [v[i,0] + 1, v[i,1] * 2, v[i,2] - i]; "
        "} : genarray([n], [0,0,0]); v = with { ([0] <= [i] < [n]) : [v[i,2], v[i,0], v[i,0] + v[i,1]]; "
        "} : modarray(v); return v; }"
    ),
    n(300, 3),
)
case(
    "in place, a part",
    (
        "double[m,n] f(double[m,n] v) { v = { iv -> v[iv] * 2.0 | iv < [m,n] }; for (k = 0; k < 3; k++) "
        "{ v = with { ([1,1] <= [i,j] < [m - 1,n - 1] step [2,2]) : v[i,j] * v[i,j]; } : modarray(v); } "
        "return v; }"
    ),
    d(40, 50),
)
case(
    "in place, rows",
    (
        "double[m,n] f(double[m,n] v) { v = { iv -> v[iv] * 2.0 | iv < [m,n] }; v = with { ([0] <= [i] < "
        "[m]) { s = with { ([0] <= [j] < [n]) : v[i,j]; } : fold(+, 0.0); } : { [j] -> v[i,j] / s | [j] "
        "< [n] }; } : modarray(v); return v; }"
    ),
    d(30, 50) + 5,
)
case(
    "red and black",
    (
        "double[m,n] f(double[m,n] a) { for (c = 0; c < 2; c++) { a = with { ([1,1] <= [i,j] < [m - 1,n "
        "- 1]) : ((i + j) % 2 == c ? (a[i-1,j] + a[i+1,j] + a[i,j-1] + a[i,j+1]) / 4.0 : a[i,j]); } : "
        "modarray(a); } return a; }"
    ),
    d(33, 35),
)
