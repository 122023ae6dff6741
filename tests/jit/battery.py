"""A few functions and calls of them that between them use every part of the compiler: the smallest test of it that is
worth the name.

`differs()` runs them, or some of them, compiled, and says which is the first that gives something else than
interpreted. The tests of tests (`test_mutants`) see to it that bugs do not get past it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from sacpy.interp.evaluator import Evaluator
from sacpy.interp.world import World
from sacpy.jit.cache import Cache
from sacpy.jit.run.engine import Engine
from sacpy.lang.core import Program
from sacpy.lang.diagnostics import SacError
from sacpy.workspace import Workspace
from tests.fuzz.differential import nearly, same, small_chunks

TEXT = """
use Array: all; use Math: all; use MathArray: all; use Complex: all;

double[n,m] product(double[n,k] a, double[k,m] b) { return { [i,j] -> sum({ [l] -> a[i,l] * b[l,j] }) | [i,j] < [n,m] };
  }
double[n,m] relax(double[n,m] v) { return { [i,j] -> v[mod(i - 1, n), j] + 2.0 * v[i, mod(j + 1, m)] - v[max(i - 1, 0),
  min(j + 2, m - 1)] | [i,j] < [n,m] }; }
double[n] added(double[n] h, int[m] at, double[m] v) { for (i = m - 1; i >= 0; i -= 2) { h[at[i]] = h[at[i]] + v[i];
  } return h; }
double[n,m] chess(double[n,m] v) { return with { ([1,1] <= [i,j] < [n-1,m-1] step [2,2]) : v[i,j-1] + v[i,j+1];
  ([2,2] <= [i,j] < [n-1,m-1] step [2,2]) : v[i-1,j] - v[i,j+1]; } : modarray(v); }
double[m] weighed(double[n,m] v, double[n] w) { s = genarray([m], 0.5); for (i = 1; i < n; i++) { s += w[i] * v[i];
  } return s; }
double[n,m] combed(double[n,m] a) { for (k = 0; k < n; k++) {
  for (i = k + 1; i < n; i++) { a[i] = { [j] -> j > k ? a[i,j] - a[k,j] : a[i,j] * 2.0 }; } } return a; }
double[n] drafted(double[n,m] a)
{
  s = genarray([m], 1.0);
  z = genarray([n], 0.0);
  for (i = 0; i < n; i++) {
    top = 0.0;
    for (j = 1; j < m; j++) { s[j] = a[i,j] - top; top = top * 0.5 + a[i,j]; }
    for (j = 1; j < m; j++) { s[j] = s[j] + s[j - 1]; }
    z[i] = sum(s) - top;
    s[0] = z[i];
  }
  return z;
}
double[n,m] levelled(double[n,k] a, double[k,m] b, double[n] w) { return { [i,j] -> max(sum({
  [l] -> w[i] * a[i,l] * b[l,j] }), 0.0) + w[i] | [i,j] < [n,m] }; }
double[n,m,2] complexes(double[n,k,2] a, double[k,m,2] b)
{
  return { [i,j] -> [sum({ [l] -> a[i,l,0] * b[l,j,0] - a[i,l,1] * b[l,j,1] | [l] < [k] }), sum({
    [l] -> a[i,l,0] * b[l,j,1] + a[i,l,1] * b[l,j,0] | [l] < [k] })] | [i,j] < [n,m] };
}
double[n,m] spots(double[n,m] v) { return with { ([1,1] <= [i,j] < [n-1,m-1]) : (i + j)
  % 2 == 0 ? v[i,j] : v[i,j-1] + v[i+1,j]; } : modarray(v); }
double[n,m] edged(double[n,m] v)
{
  return with {
    ([0,0] <= [i,j] < [2,m]) : v[0,j];
    ([2,0] <= [i,j] < [n,m]) : j > 0 && (i + j) % 2 == 0 ? v[i,j-1] : v[i,j];
  } : genarray([n,m], 0.0);
}
double[n,m] torus(double[n,m] v)
{
  for (k = 0; k < 2; k++) { v = with { ([0,0] <= [i,j] < [n,m] step [2,2]) : v[mod(i + 1, n), j] - v[i, mod(j + 1,
    m)] * v[i, mod(j - 1, m)]; ([1,1] <= [i,j] < [n,m] step [2,2]) : v[mod(i + 1, n), j] + v[i,j]; } : modarray(v); }
  return v;
}
double[m] finer(double[n] v, int m) | (m <= 2 * n - 1) { return { [i] -> v[i / 2] + v[(i + 1) / 2] | [i] < [m] }; }
int foremost(int[n] v) { best = v[0]; at = 0; for (i = 0; i < n; i++) { if (v[i] < best) { best = v[i]; at = i;
  } } return at; }
double[n] border(double[n] v) { return { [i] -> (i > 0 ? v[i - 1] : 0.5) + (i < n - 1 ? v[i + 1] : 0.25) | [i] < [n] };
  }
int[n] picked(int[n] v, int[n] at) { return { [i] -> v[at[i]] | [i] < [n] }; }
int last(int[n] v, int k) { return v[k]; }
int[n] overlap(int n, int k)
{
  return with { ([k] <= [i] < [n - 1]) : i; ([0] <= [i] < [n] step [3] width [2]) : 100 + i;
    ([1] <= [i] <= [n - 1]) : 200 + i; } : genarray([n], -1);
}
int covered(int n, int k)
{
  a = with { ([k] <= [i] < [n]) : i; ([0] <= [i] < [n - k]) : 50 * i; } : genarray([n], -1);
  return sum({ [i] -> a[i] * (i + 1) | [i] < [n] });
}
int[n] boxes(int n, int k)
{
  return with { ([k] <= [i] < [n - k]) : i; ([1] <= [i] < [n - 1]) : 100 - i; } : genarray([n], 7);
}
int[.] steps(int[n] v, int s, int w) { return with { ([1] <= [i] < [n] step [s] width [w]) : v[i] * 2; } : modarray(v);
  }
int[.] small(int[1] s, int[1] w) { return with { ([0] <= [i] <= [5] step s width w) : i + 1; } : genarray([7], 9); }
double total(double[n] a, double[n] b) { return sum(a * b + 1.0); }
int sums(int[n] v) { return sum({ [i] -> v[i] * i | [i] < [n] }) + maxval(v) - minval(v); }
double least(double[n] v) { return minval(abs(v)) + prod(v); }
int[n] triangle(int n)
{
  a = genarray([n], 0);
  for (i = 1; i <= n; i++) { for (j = i - 1; j < n; j += 2) { a[j] = a[j] + i * j; } }
  return a;
}
int[.,.] eliminated(int[n,n] a)
{
  for (k = 0; k < n; k++) { for (i = k + 1; i < n; i++) { for (j = k; j < n; j++) { a[i,j] = a[i,j] - a[k,j] * (i - k);
    } } }
  return a;
}
double[n] kept(double[n] v, int k) { w = v; for (i = k; i < n; i++) { w[i] = v[i - k] + w[0]; } return w; }
int[n] chained(int[n] v) { s = v; for (i = 2; i < n; i++) { s[i] = s[i - 1] * 2 + s[i - 2]; } return s; }
int[n,m] wrapped(int[n,m] v)
{
  w = v;
  for (i = 0; i < n; i++) { for (j = 0; j < m; j++) { k = j == m - 1 ? 0 : j + 1;
    c = v[i == 0 ? n - 1 : i - 1, k] - v[i, k]; if (c > 0) { w[i,j] = c; } else if (c < -2) { w[i,j] = v[i,k]; } } }
  return w;
}
int[n] running(int[n] v, int k) { s = v; for (i = k; i < n; i++) { s[i] = s[i - 1] + v[i] * 3; } return s; }
int[n], int before(int[n] v) { s = genarray([n], 0); t = 5; for (i = 0; i < n; i++) { s[i] = t; t = t - v[i];
  } return (s, t); }
double[m,n] gathered(double[m,n] a, int[m] at, double[k] w) { return {
  [i,j] -> a[at[i], j] * w[at[i]] | [i,j] < [m,n] }; }
double[n] shifted(double[.] v, double[n] w, int k) { return { [i] -> v[i + k + 1] * w[i] | [i] < [n] }; }
int rowsums(int[n] v, int[.] row) { s = 0; for (i = 0; i < shape(row)[0] - 1; i++) {
  for (k = row[i]; k < row[i + 1]; k++) { s = s * 2 + v[k]; } } return s; }
double[n,9] versions(double[n] v) { return with { ([0] <= [i] < [n]) {
  s = [1.0, v[i], 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]; t = s; t[i % 9] = v[i]; t[0] = s[i % 9]; } : t;
  } : genarray([n], genarray([9], 0.0)); }
double[n,m] laid(double[k,m] v, int n) { return with { ([0] <= [i] < [n]) : v[i % k]; } : genarray([n], v[0]); }
double[n,m] cells(double[m] v, int n) { return with { ([0] <= [i] < [n]) { w = v; w[i] = 1.0; } : w;
  } : genarray([n], v); }
int edge(int[n] v, int k) { a = v[k]; b = v[k + 1]; return b - a; }
int strided(int[n] v, int s, int w) { return with { ([1] <= [i] < [n] step [s] width [w]) : v[i]; } : fold(+, 0); }
double[n] differences(double[n] a, double[n] b) { return { [i] -> (a[i] - b[i]) * exp(b[i] - a[i]) | [i] < [n] }; }
double[m] ahead(double[n] v, double[k] w, double[m] u) { return { [i] -> v[i + k] + u[i] | [i] < [m] }; }
double horner(double[n] v) { r = 1.0; for (i = 0; i < 6; i++) { r = r * 0.5 + v[i]; } return r + sum(v); }
double[n] swapped(double[n] v) { for (i = 0; i < n / 2; i++) { t = v[i]; v[i] = v[n - 1 - i]; v[n - 1 - i] = t;
  } return v; }
double twice(int n)
{
  a = { [i] -> tod(i) | [i] < [n] };
  b = a;
  b[0] = 100.0;
  for (i = 1; i < n; i++) { b[i] = b[i - 1] + a[i]; }
  return sum(a) - b[n - 1];
}
int guarded(int[n] v, int k)
{
  if (k < n) { r = v[k] * v[k]; } else { r = v[0] * k; }
  if (k > 3) { r += v[0] * k; }
  return r;
}
uint[n] unsigned(uint[n] a, uint[n] b) { return { [i] -> (a[i] < b[i] ? a[i] >> 1ui : b[i] / 3ui) | [i] < [n] }; }
long[n] numbers(long[n] a, long[n] b) { return { [i] -> a[i] / b[i] + a[i] % b[i] + mod(a[i], b[i]) + min(a[i], b[i]) |
  [i] < [n] }; }
int wraps(int[n] v) { return sum({ [i] -> v[i] * 3 + 2147483647 | [i] < [n] }); }
int[n] near(int[n] a, int k) { return { [i] -> a[i] + k > a[i] ? 1 : 0 | [i] < [n] }; }
double[.,.] turned(double[n,m] a) { return transpose(reverse(0, a)) + drop([1, 0], rotate(1, 1, take([m + 1, n],
  a * 0.0 + 1.0))); }
double[n,m] rows(double[n] v, int m) { return { [i] -> { [j] -> v[i] * tod(j) | [j] < [m] } | [i] < [n] }; }
int fib(int n) { if (n < 2) { r = n; } else { r = fib(n - 1) + fib(n - 2); } return r; }
int[.] sorted(int[.] v)
{
  n = shape(v)[0];
  if (n < 2) { r = v; } else {
    p = v[n / 2]; less = 0; more = 0; a = v; b = v;
    for (i = 0; i < n; i++) {
      if (v[i] < p || (v[i] == p && i < n / 2)) { a[less] = v[i]; less++; } else { if (i != n / 2) { b[more] = v[i];
        more++; } }
    }
    r = sorted(take([less], a)) ++ [p] ++ sorted(take([more], b));
  }
  return r;
}
double[n] settled(double[n] v)
{
  change = 1.0; rounds = 0;
  while (change > 0.01 && rounds < 50) {
    next = { [i] -> 0.5 * v[i] + 0.25 * v[mod(i + 1, n)] + 0.25 * v[mod(i - 1, n)] | [i] < [n] };
    change = maxval(abs(next - v)); v = next; rounds++;
  }
  return v;
}
complex[n] waves(complex[n] z) { return { [i] -> z[i] * conj(z[n - 1 - i]) + toc(1.0, tod(i)) | [i] < [n] }; }
int, double[n] both(double[n] v)
{
  k, w = with { ([0] <= [i] < [n]) : (i, v[i] * 2.0); ([0] <= [i] < [n / 2]) : (1, 3.0);
    } : (fold(+, 0), genarray([n], 0.0));
  return (k, w);
}
double[n] neighbours(double[n] v)
{
  a = { [i] -> v[i] * v[i] + sqrt(v[i]) * exp(v[i]) | [i] < [n] };
  b = { [i] -> a[n - 1 - i] + v[i] | [i] < [n] };
  c = { [i] -> a[i] + exp(b[i]) | [i] < [n] };
  return b + c;
}
double[n,3] pulled(double[n,3] x, double[m,3] y, double[m] w)
{
  f = { [i,j] -> w[j] / sqrt(1.0 + abs(x[i,0] * y[j,1])) | [i,j] < [n,m] };
  return { [i,c] -> x[i,c] + sum({ [j] -> f[i,j] * y[j,c] | [j] < [m] }) | [i,c] < [n,3] };
}
double[n], double[n] unpacked(double[n] a, double[n] b)
{
  v = { [i] -> [sqrt(a[i]) * exp(b[i]), exp(a[i] - b[i])] | [i] < [n] };
  p = with { ([1] <= [i] < [n]) : v[i,0]; } : modarray(a);
  q = with { ([1] <= [i] < [n]) : v[i,1]; } : modarray(b);
  return (p, q);
}
int stops(int[n] v) { return with { ([0] <= [i] < [n]) : v[i]; } : foldfix(|, 0, 7); }
int chosen(int[n] v, int m) { return with { ([0] <= [i] < [n]) : i < 5 ? v[i] : m; } : fold(+, 3); }
"""

CALLS: dict[str, list[tuple[Any, ...]]] = {}


def _ints(*shape: int, low: int = 0, high: int = 9) -> Any:
    return np.random.default_rng(len(shape) + sum(shape)).integers(low, high, shape).astype(np.int32)


def _doubles(*shape: int) -> Any:
    return np.random.default_rng(7 + sum(shape)).uniform(0.1, 2.0, shape)


_ALL = np.arange(12, dtype=np.int32)
CALLS |= {
    "overlap": [(14, 4), (3, 2)],
    "boxes": [(20, 6)],
    "covered": [(17, 5)],
    "steps": [(_ints(20), 4, 2), (_ints(9), 3, 7)],
    "small": [(np.array([3], np.int32), np.array([2], np.int32))],
    "relax": [(_doubles(1, 6),), (_doubles(9, 11),)],
    "border": [(_doubles(40),), (_doubles(1),)],
    "picked": [(_ALL, _ALL[::-1].copy()), (_ALL, _ALL + 1), (_ALL, _ALL - 1)],
    "last": [(_ALL, 11), (_ALL, 12), (_ALL, -1)],
    "product": [(_doubles(21, 13), _doubles(13, 18)), (_doubles(2, 3), _doubles(3, 40))],
    "total": [(_doubles(700), _doubles(700)), (_doubles(3), _doubles(3))],
    "sums": [(_ints(900, low=-50, high=50),)],
    "chosen": [(_ints(900), 2)],
    "least": [(1.0 + 0.01 * _doubles(300),)],
    "kept": [(_doubles(6), 2)],
    "chained": [(_ints(30),)],
    "wrapped": [(_ints(5, 17),), (_ints(1, 1),), (_ints(2, 0),)],
    "added": [(_doubles(50), np.append(_ints(80), at).astype(np.int32), _doubles(81)) for at in (49, 50, -1)]
    + [(_doubles(20), np.zeros(0, np.int32), _doubles(0))],
    "chess": [(_doubles(7, 8),), (_doubles(3, 40),), (_doubles(2, 2),)],
    "complexes": [(_doubles(9, 5, 2), _doubles(5, 30, 2)), (_doubles(2, 0, 2), _doubles(0, 3, 2))],
    "spots": [(_doubles(8, 9),), (_doubles(2, 3),), (_doubles(31, 40),)],
    "edged": [(_doubles(8, 9),), (_doubles(2, 3),), (_doubles(31, 40),)],
    "torus": [(_doubles(8, 10),), (_doubles(8, 9),), (_doubles(7, 10),), (_doubles(1, 1),), (_doubles(2, 40),)],
    "finer": [(_doubles(40), 79), (_doubles(40), 78), (_doubles(1), 1), (_doubles(3), 0)],
    "foremost": [
        (np.arange(900, 0, -1, dtype=np.int32),),
        (np.where(np.arange(900) == 639, -1, 5).astype(np.int32),),
        (_ints(130),),
        (_ints(1),),
    ],
    "weighed": [(_doubles(40, 70), _doubles(40)), (_doubles(30, 21), _doubles(30)), (_doubles(1, 30), _doubles(1))],
    "combed": [(_doubles(25, 29),), (_doubles(4, 4),)],
    "drafted": [(_doubles(25, 31),), (_doubles(3, 2),)],
    "levelled": [(_doubles(25, 31), _doubles(31, 29), _doubles(25)), (_doubles(2, 3), _doubles(3, 5), _doubles(2))],
    "running": [(_ints(900), 1), (_ints(40), 17), (_ints(3), 3)],
    "before": [(_ints(900),), (_ints(0),)],
    "gathered": [
        (_doubles(4, 30), np.array([3, 0, 0, 2], np.int32), _doubles(4)),
        (_doubles(3, 9), np.array([3, 0, 0], np.int32), _doubles(4)),
        (_doubles(2, 0), np.array([7, 7], np.int32), _doubles(1)),
    ],
    "shifted": [
        (_doubles(40), _doubles(30), 9),
        (_doubles(40), _doubles(30), 10),
        (_doubles(40), _doubles(30), -2),
        (_doubles(40), _doubles(30), 2**31 - 1),
    ],
    "rowsums": [
        (_ints(20), np.array([0, 3, 3, 20], np.int32)),
        (_ints(20), np.array([0, 3, 3, 21], np.int32)),
        (_ints(20), np.array([-1, 3], np.int32)),
    ],
    "versions": [(_doubles(12),)],
    "laid": [(_doubles(3, 5), 8)],
    "cells": [(_doubles(5), 4)],
    "edge": [(_ALL, 10), (_ALL, 11), (_ALL, -1)],
    "pulled": [(_doubles(9, 3), _doubles(20, 3), _doubles(20)), (_doubles(2, 3), _doubles(0, 3), _doubles(0))],
    "unpacked": [(_doubles(30), 2.0 * _doubles(30)[::-1].copy()), (_doubles(1), _doubles(1))],
    "strided": [(_ints(20), 4, 2), (_ints(20), 3, 7)],
    "differences": [(_doubles(9), _doubles(9)[::-1].copy())],
    "ahead": [(_doubles(40), _doubles(10), _doubles(30)), (_doubles(40), _doubles(10), _doubles(31))],
    "horner": [(_doubles(9),)],
    "swapped": [(_doubles(9),)],
    "twice": [(30,)],
    "eliminated": [(_ints(7, 7),)],
    "triangle": [(11,), (0,)],
    "guarded": [(_ALL, 3), (_ALL, 11), (_ALL, 12)],
    "unsigned": [(np.array([1, 2**32 - 1, 7, 2**31], np.uint32), np.array([2**32 - 1, 3, 2**31, 5], np.uint32))],
    "numbers": [
        (np.array([7, -7, 7, -7, -(2**63)], np.int64), np.array([2, 2, -2, -2, -1], np.int64)),
        (np.array([1, 2], np.int64), np.array([1, 0], np.int64)),
    ],
    "wraps": [(_ints(40, high=2**31 - 1),)],
    "near": [(np.array([2**31 - 1, 5, -(2**31)], np.int32), 1)],
    "turned": [(_doubles(6, 5),)],
    "rows": [(_doubles(5), 9)],
    "fib": [(12,)],
    "sorted": [(_ints(60, high=30),)],
    "settled": [(_doubles(25),)],
    "waves": [(_doubles(6, 2),)],
    "both": [(_doubles(31),)],
    "neighbours": [(_doubles(33),)],
    "stops": [(_ints(20),)],
}


@cache
def _expected() -> tuple[Program, dict[str, str], dict[str, list[Any]]]:
    program, _ = Workspace().load_text(TEXT)
    keys = {name: program.key(program.main.own(name)[0], ()) for name in CALLS}
    return program, keys, {name: _results(program, keys[name], name, None) for name in CALLS}


def _results(program: Program, key: str, name: str, engine: Engine | None) -> list[Any]:
    evaluator = Evaluator(program, World.captured(), engine=engine, strict_fp=True)
    found: list[Any] = []
    for args in CALLS[name]:
        values = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        try:
            found.append(evaluator.call(key, tuple(values)))
        except SacError as error:
            d = error.diagnostics[0]
            found.append(f"{d.code} at {d.span.start if d.span else None}")
        if not all(np.array_equal(a, b) for a, b in zip(values, args)):
            found.append("an argument was changed")
    return found


def differs(*names: str, strict_fp: bool = False) -> str:
    """The first function (of these, or of all) that is not compiled right, with what is wrong; "" if all are."""
    program, keys, expected = _expected()
    with small_chunks():
        engine = Engine("cpu", threads=2, strict_fp=strict_fp, verify=True, eager=True, defects=True, cache=Cache(None))
        for name in names or CALLS:
            try:
                found = _results(program, keys[name], name, engine)
            except Exception as error:  # whatever a broken compiler may raise
                return f"{name}: {type(error).__name__}"
            if len(found) != len(expected[name]) or not all(
                (same if strict_fp else nearly)(a, b) for a, b in zip(expected[name], found)
            ):
                return name
    return ""


def functions_compiled() -> float:
    """The part of the functions that are compiled."""
    program, keys, _ = _expected()
    engine = Engine("cpu", threads=2, eager=True, defects=True, cache=Cache(None))
    for name in CALLS:
        _results(program, keys[name], name, engine)
    return sum(bool(site.versions) for site in engine.entered()) / len(engine.entered())
