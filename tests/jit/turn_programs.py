"""Functions with loops of all kinds, to be left and entered in the middle.

In: an engine, or none. Out: what each call gives: values, or the diagnostics as text.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sacpy.interp.evaluator import Evaluator
from sacpy.interp.world import World
from sacpy.jit.run.engine import Engine
from sacpy.lang.diagnostics import SacError, render_text
from sacpy.workspace import Workspace

SOURCE = """
use Array: all;
use Math: all;

struct Rod { double[.] heat; int age; };

int up(int n) { s = 1; for (i = 0; i < n; i++) { s = s * 3 + i; } return s + i; }
int down(int n) { s = 1; for (i = n; i > 3; i--) { s = s * 5 - i; } return s * 100 + i; }
int below(int n) { s = 0; for (i = 5; i < n; i++) { s = s + i; } return s * 100 + i; }
int to(int n) { s = 0; for (i = -3; i <= 4; i++) { s = s * 7 + i * n; } return s; }
int early(int n) { s = 0; i = 0; while (s < n && i < 1000) { s = s + i; i = i + 2; } return s * 1000 + i; }
int once(int n) { s = 0; do { s = s + n; n = n - 3; } while (n > 0); return s * 100 + n; }
int first(int n) { do { k = n % 7; n = n - 1; } while (k != 0); return n * 10; }
int, int two(int n) { a = 0; b = 1; for (i = 0; i < n; i++) { t = a + b; a = b; b = t; } return (a, b); }
int nested(int n) { s = 0; for (i = 0; i < n; i++) { for (j = i; j < n; j++) { s = s * 2 + i - j; } k = i;
  while (k > 0) { k = k / 2; s = s + k; } } return s; }
int branches(int n) { s = 0; for (i = 0; i < n; i++) { if (i % 3 == 0) { s = s + i;
  } else { if (i % 2 == 0) { s = s * 2; } else { t = s; s = t - 1; } } } return s; }
bool flips(int n) { b = false; for (i = 0; i < n; i++) { b = !b; } return b; }
int[.] filled(int n) { v = genarray([n], 0); for (i = 0; i < n; i++) { v[i] = i * i; } return v; }
int[.] kept(int[.] v, int n) { w = v; for (i = 0; i < n; i++) { v[i] = v[i] + w[n - 1 - i]; } return v - w; }
int[.] bubbled(int[.] v) { n = shape(v)[0]; for (i = 0; i < n; i++) {
  for (j = 0; j < n - 1 - i; j++) { if (v[j] > v[j + 1]) { t = v[j]; v[j] = v[j + 1]; v[j + 1] = t; } } } return v; }
int[.] grown(int n) { v = [1]; for (i = 0; i < n; i++) { v = v ++ [sum(v) % 100]; } return v; }
double[.,.] swept(double[.,.] a, int n) { for (k = 0; k < n; k++) { a = {
  [i,j] -> (a[i - 1,j] + a[i + 1,j]) * 0.5 | [1,0] <= [i,j] < shape(a) - [1,0]; [i,j] -> a[i,j] | [i,j] < shape(a) };
  a[0, k % 3] = tod(k); } return a; }
double aged(int n) { rod = Rod{[1.0, 2.0, 4.0, 8.0], 0}; while (rod.age < n) { rod.heat = rotate(0, 1, rod.heat) * 0.5;
  rod.heat[rod.age % 4] = 3.0; rod.age += 1; } return sum(rod.heat) + tod(rod.age); }
double, int[2] mixed(int n) { p = [1, 1]; x = 0.5; for (i = 0; i < n; i++) { p = [p[1], p[0] + i];
  x = x * tod(p[0] % 5) + 1.0; } return (x, p); }
int[*] scaled(int[*] a, int n) { for (i = 0; i < n; i++) { a = a * 2 + i; } return a; }
int, int pair(int i, int n) { return (i * n, i - n); }
int[.], int[.] mapped(int n) { a, b = { [i] -> pair(i, n) | [i] < [40] }; return (a, b); }
int folded(int n) { return with { ([0, 2] <= [i,j] < [n, n]) : i * n - j; } : fold(+, 7); }
int[.,.] stepped(int n) { return with { ([1, 0] <= [i,j] < [n, 12] step [2, 3] width [1, 2]) : i * 10 + j;
  } : genarray([n, 12], -1); }
int[.,.] updated(int[.,.] a) { b = a; a = with { ([0, 1] <= [i,j] < shape(a) - 1) : a[i + 1, j] - 1; } : modarray(a);
  return a - b; }
int[.] inplace(int n) { v = iota(n); v = with { ([0] <= [i] < [n - 1]) : i * i; } : modarray(v); return v; }
int[.] merged(int[.] a, int[.] b) { a[b[0] % 50] = a[b[0] % 50] * 2 + b[1]; return a; }
int[.] counted(int n) { none = iota(50) * 0; k = none[n % 7]; return with { ([0] <= [i] < [n]) : iota(50) + (i + k);
  } : fold(merged, none); }
int[.,.] nearly(int n) { return { [i,j] -> i * n - j | [i,j] < [n, 11] }; }
int, bool last(int n) { b = true; do { n = n - 5; b = !b; } while (n > 3); return (n, b); }
int calls(int n) { s = 0; for (i = 0; i < n; i++) { s = s + up(i % 4) - sum(filled(i % 3)); } return s; }
int deep(int n) { s = 0; if (n > 0) { for (i = 0; i < n; i++) { s = s * 2 + deep(n - 1 - i); } } else { s = 1;
  } return s; }
int outside(int[.] v, int n) { s = 0; for (i = 0; i < n; i++) { s = s * 3 + v[i]; } return s; }
int zero(int n) { s = 100; for (i = n; i > -5; i--) { s = s + 100 / (i % 5 + 3) ; v = [s, i];
  s = s + v[i > 0 ? 0 : 1 - i]; } return s; }
int[.] shapes(int n) { v = [1, 2]; for (i = 0; i < n; i++) { v = (i == 11 ? [1, 2, 3] : [4, 5]) + v; } return v; }
"""


def _floats(*shape: int) -> Any:
    return np.arange(np.prod(shape), dtype=float).reshape(shape) % 7 + 0.25


def _ints(*shape: int) -> Any:
    return (np.arange(np.prod(shape)).reshape(shape) * 37 % 23).astype(np.int32)


CALLS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    *((name, (n,)) for name in ("up", "down", "below", "to", "early", "once", "first", "two", "nested", "branches",
            "flips") for n in (0, 1, 2, 8, 23)),
    *((name, (n,)) for name in ("filled", "grown", "mixed", "mapped", "folded", "calls") for n in (0, 1, 5, 13)),
    ("inplace", (3,)), ("inplace", (90,)), ("counted", (100,)), ("nearly", (2,)), ("nearly", (30,)), ("last", (3,)),
    ("last", (41,)), ("stepped", (9,)), ("aged", (0,)), ("aged", (17,)), ("deep", (6,)), ("kept", (_ints(12), 12)),
    ("bubbled", (_ints(15),)), ("bubbled", (_ints(0),)), ("swept", (_floats(6, 5), 9)),
    ("scaled", (_ints(3, 2), 7)), ("scaled", (5, 7)), ("scaled", (_ints(0, 4), 3)), ("updated", (_ints(5, 6),)),
    ("outside", (_ints(9), 9)), ("outside", (_ints(9), 10)), ("outside", (_ints(40), 57)), ("zero", (12,)),
    ("shapes", (11,)), ("shapes", (20,)),
)  # fmt: skip
Result = tuple[Any, ...] | str


def results(engine: Engine | None, *names: str) -> list[Result]:
    """What the calls give, or those of some functions."""
    workspace = Workspace()
    program, found = workspace.load_text(SOURCE)
    assert not [d for d in found if d.severity == "error"]
    evaluator = Evaluator(program, World.captured(), engine=engine, strict_fp=True)
    given: list[Result] = []
    for name, args in CALLS:
        if names and name not in names:
            continue
        values = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in args)
        try:
            given.append(evaluator.call(program.key(program.main.own(name)[0], ()), values))
        except SacError as error:
            given.append(render_text(error.diagnostics))
        for a, b in zip(values, args, strict=True):
            assert not isinstance(a, np.ndarray) or np.array_equal(a, b), f"{name} changed an argument"
    return given


def different(a: list[Result], b: list[Result], *names: str) -> list[str]:
    """The calls, those of all functions or of some, whose results differ."""
    calls = [call for call in CALLS if not names or call[0] in names]
    return [
        f"{name}{args}: {y} instead of {x}" for (name, args), x, y in zip(calls, a, b, strict=True) if not _same(x, y)
    ]


def _same(a: Result, b: Result) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        return isinstance(a, str) and isinstance(b, str) and a == b
    return len(a) == len(b) and all(
        type(x) is type(y) and np.array_equal(x, y, equal_nan=isinstance(x, float)) and np.shape(x) == np.shape(y)
        for x, y in zip(a, b)
    )
