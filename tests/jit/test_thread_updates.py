"""Arrays that a thread of a kernel updates: in place where nobody looks at the old version again, copied where somebody
does. What each program does there is counted, and compared with the evaluation of its graph."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from sacpy.jit.passes import optimise
from tests.jit.kernel_evaluator import KernelRun
from tests.jit.kernel_tools import agree
from tests.jit.specialise_tools import Subject

SOLVE = """
double[.] solve(double[n] d)
{
  c = genarray([n], 0.0);
  x = d;
  c[0] = 0.25;
  x[0] = x[0] * 0.5;
  for (i = 1; i < n; i++) {
    w = 1.0 / (4.0 - c[i - 1]);
    c[i] = w;
    x[i] = (x[i] - x[i - 1]) * w;
  }
  for (i = n - 2; i >= 0; i--) { x[i] = x[i] - c[i] * x[i + 1]; }
  return x;
}
double[.,.] f(double[m,n] a) { return { [r] -> solve(a[r]) | [r] < [m] }; }
"""
SCAN = """
double[.] scan(double[n] v) { for (i = 1; i < n; i++) { v[i] = v[i] + 0.5 * v[i - 1]; } return v; }
double[.,.] f(double[m,n] a) { return { [r] -> scan(a[r]) | [r] < [m] }; }
"""
CLIPPED = """
double[.] scan(double[n] v)
{
  for (i = 1; i < n; i++) {
    if (v[i - 1] > 0.5) { v[i] = v[i] - v[i - 1]; } else { v[i] = v[i] + v[i - 1]; v[i - 1] = 0.0; }
  }
  return v;
}
double[.,.] f(double[m,n] a) { return { [r] -> scan(a[r]) | [r] < [m] }; }
"""
SORT = """
double[.] sorted(double[n] v)
{
  for (i = 1; i < n; i++) {
    k = i;
    while (k > 0 && v[max(k - 1, 0)] > v[k]) {
      t = v[k];
      v[k] = v[k - 1];
      v[k - 1] = t;
      k = k > 3 ? 0 : k - 1;
    }
  }
  return v;
}
double[.,.] f(double[m,n] a) { return { [r] -> sorted(a[r]) | [r] < [m] }; }
"""


def operations(text: str, n: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many operations, loads and stores the kernels of a program do for rows of n elements."""
    count = 0
    rhs = KernelRun.rhs

    def counted(self: KernelRun, r: Any) -> Any:
        nonlocal count
        count += 1
        return rhs(self, r)

    monkeypatch.setattr(KernelRun, "rhs", counted)
    found = agree(optimise(Subject(text).unit((None, None))), [np.random.default_rng(n).random((2, n))])
    assert found.launches and not found.refused
    return count


@pytest.mark.parametrize("text", [SOLVE, SCAN, CLIPPED, SORT], ids=["solve", "scan", "clipped", "sort"])
def test_updates_of_an_array_that_is_loaded_too_take_time_linear_in_its_length(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, more, many = (operations(text, n, monkeypatch) for n in (100, 200, 400))
    assert (many - more) < 2.3 * (more - few)


KEPT = {
    "swapped": ("b = a + 1.0; for (i = 1; i < n; i++) { a[i] = a[i] + 0.5 * b[i-1]; t = a; a = b; b = t; } x = a - b;"),
    "rotated": (
        "b = a * 2.0; c = a * 3.0; for (i = 0; i < n; i++) { b[i] = 1.0; t = a; a = b; b = c; c = t; } "
        "x = a + 2.0 * b + 4.0 * c;"
    ),
    "looked at later": "b = a; a[1] = 9.0; x = a + b;",
    "looked at in the next round": (
        "b = touched(a * 2.0); x = a; for (i = 0; i < n; i++) { "
        "x[i] = x[max(i - 1, 0)] + b[(i + 1) % n]; c = b; c[i] = 7.0; x[i] = x[i] + c[n - 1]; }"
    ),
    "looked at for the next cell": (
        "b = touched(a * 2.0); x = a; for (i = 0; i < n; i++) { "
        "x[i] = b[max(i - 1, 0)]; c = b; c[i] = 7.0; x[i] = x[i] + c[n - 1]; }"
    ),
    "carried twice": (
        "b = a * 2.0; x = b; y = b; for (i = 0; i < n; i++) { x[i] = y[n - 1 - i]; y[i] = 0.0; } x = x + y;"
    ),
    "in one branch": "b = a * 2.0; x = b; if (a[0] > 0.5) { x[0] = 3.0; } x = x + b;",
    "of another in a branch": (
        "b = a * 2.0; c = b; if (a[0] > 0.5) { c[0] = 3.0; b[1] = 4.0; } else { t = b; b = c; c = t; } x = c - 2.0 * b;"
    ),
    "in a round of a with-loop": "b = a * 2.0; x = { [i] -> second(b, i) | [i] < [n] };",
    "in a call": "b = a * 2.0; c = touched(b); x = c + b;",
    "in a call for the last time": "b = a * 2.0; x = touched(touched(b));",
    "by a part of itself": (
        "m = reshape([2, n], a ++ a); r = m[0]; m[0] = m[1] * 2.0; m[1] = r; x = m[0] + 3.0 * m[1];"
    ),
    "by its own row": (
        "m = reshape([2, n], a ++ (2.0 * a)); for (i = 0; i < 3; i++) { r = m[0]; m[0] = m[1]; m[1] = r; "
        "} x = m[0] - m[1];"
    ),
    "while": "b = a * 2.0; k = 0; while (b[k] < 50.0 && k < n - 1) { b[k] = b[k] * 2.0; k = k + 1; } x = b;",
    "a condition that updates": (
        "b = a * 2.0; k = 0; while (touched(b)[0] < 1000.0 && k < 5) { b[0] = b[0] + 1.0; k = k + 1; } x = b;"
    ),
    "a fold of arrays": "x = with { ([0] <= [i] < [n]) : touched(a * tod(i)); } : fold(plus, genarray([n], 0.0));",
}
HELP = """
double[.] touched(double[n] v) { for (i = 1; i < n; i++) { v[i] = v[i - 1] + v[i]; } return v; }
double second(double[n] v, int i) { v[i] = 5.0; v[0] = v[0] + v[i]; return v[0] + v[n - 1]; }
double[.] plus(double[.] a, double[.] b) { return a + b; }
double[.] one(double[n] a) { BODY return x; }
double[.,.] f(double[m,n] a) { return { [r] -> one(a[r]) | [r] < [m] }; }
"""


@pytest.mark.parametrize("name", KEPT)
def test_what_is_used_again_stays_as_it_was(name: str) -> None:
    unit = optimise(Subject(HELP.replace("BODY", KEPT[name])).unit((None, None)))
    run = agree(unit, [np.random.default_rng(5).random((3, 5))])
    assert run.launches and not run.refused


def program(random: Random) -> str:
    """A function of one row that updates, renames and swaps arrays at random."""
    arrays, depth = ["a", "b", "c"], 0

    def index() -> str:
        return random.choice(["0", "n - 1", "k", "(k * 2) % n"])

    def value() -> str:
        return f"{random.choice(arrays)}[{index()}] {random.choice('+-')} {random.choice(arrays)}[{index()}] * 0.5"

    def statements(many: int) -> str:
        nonlocal depth
        found = []
        for _ in range(many):
            x, y = random.sample(arrays, 2)
            kind = random.random()
            if kind < 0.45:
                found.append(f"{x}[{index()}] = {value()};")
            elif kind < 0.6:
                found.append(f"{x} = {y};")
            elif kind < 0.7:
                found.append(f"t = {x}; {x} = {y}; {y} = t;")
            elif kind < 0.75:
                found.append(f"{x} = {y} + 1.0;")
            elif kind < 0.88 and depth < 2:
                depth += 1
                found.append(f"if ({x}[{index()}] > {y}[0]) {{ {statements(2)} }} else {{ {statements(2)} }}")
                depth -= 1
            elif depth < 2:
                depth += 1
                found.append(f"for (k{depth} = 0; k{depth} < n; k{depth}++) {{ k = k{depth}; {statements(3)} }} k = 1;")
                depth -= 1
        return " ".join(found)

    body = f"k = 1; b = a * 2.0; c = a + b; {statements(6)} x = a + 2.0 * b + 4.0 * c;"
    return HELP.replace("BODY", body)


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(s, marks=pytest.mark.long) for s in range(8, 200))])
def test_updates_at_random(seed: int) -> None:
    text = program(Random(seed))
    run = agree(optimise(Subject(text).unit((None, None))), [np.random.default_rng(seed).random((2, 4))])
    assert run.launches and not run.refused
