"""Elements at indices that rounds hand on are handed on with these, on printed graphs and in programs; the results are
the same, and what fails fails."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import sacpy
from sacpy.jit.passes import carried_loads
from tests.jit.graph_text import unit
from tests.jit.native_tools import agree_on
from tests.jit.pass_tools import after, assert_keeps_meaning, outcome, unchanged

TEXT = """
function f(int n, double[n] a, int b, int m, double[m] w)
    int r{more_targets} = for j from {lower} to n step {step}{flags} with int p := {first}{more_params}
        bool low = le 0, p
        {check_low}
        bool high = lt p, n
        {check_high}
        double y = load {array}[p]
        double x = load {array}[{at}]
        bool c = {condition}
        int next = select c, {arms}
        next next{more_results}
    return r
"""
FINE = {
    "more_targets": "", "lower": "1", "step": "1", "flags": "", "first": "b", "more_params": "", "array": "a",
    "at": "j", "check_low": "check low : it is not negative", "check_high": "check high : it is there",
    "condition": "lt y, x", "arms": "j, p", "more_results": "",
}  # fmt: skip


def best(**changed: str) -> str:
    return TEXT.format(**(FINE | changed))


def outcomes(text: str) -> list[object]:
    rng = np.random.default_rng(9)
    found = []
    for n, b in ((0, 0), (1, 0), (1, 7), (2, -1), (6, 0), (6, 5), (6, 6), (30, 3)):
        a = rng.integers(0, 9, n).astype(np.float64)
        a[n // 2 :: 4] = np.nan
        found.append(([a, b, rng.random(40)], outcome(unit(text), [a, b, rng.random(40)])))
    return found


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"first": "0"},
        {"arms": "p, j", "condition": "le x, y"},
        {"step": "3"},
        {"check_low": "int dead = add j, 1"},
        {"more_targets": ", double s", "more_params": ", double t := 0.0", "more_results": ", y"},
    ],
)
def test_rounds_load_only_what_is_new(changed: dict[str, str]) -> None:
    text = best(**changed)
    found = after(carried_loads.run, text)
    loop = found[found.index("= for") :]
    assert loop.count("load") == 1 and "check" not in loop and loop.count("select") == 2
    if "dead" not in text:
        for args, wanted in outcomes(text):  # type: ignore[misc]
            assert outcome(carried_loads.run(unit(text)), args) == wanted
            if wanted is not None:
                agree_on(carried_loads.run(unit(text)), [tuple(args)])


@pytest.mark.parametrize(
    "changed",
    [
        {"at": "0"},  # not what the index becomes
        {"arms": "j, 0"},
        {"check_high": "check high : it is there\\n        bool k = lt j, m\\n        check k : something else"},
        {"flags": " associative"},
        {"array": "v", "more_targets": ", double[n] s", "more_params": ", double[n] v := a", "more_results": ", u",
         "condition": "lt y, x\\n        double[n] u = update v[j] with y"},  # which changes
    ],
)  # fmt: skip
def test_others_stay(changed: dict[str, str]) -> None:
    unchanged(carried_loads.run, best(**changed).replace("\\n", "\n"))


def test_random_units_keep_their_meaning() -> None:
    assert_keeps_meaning(carried_loads.run, range(800, 840), raises_checks=True)


PROGRAM = """
use Array: all;
int largest(double[n] x, int b) { for (j = 0; j < n; j++) { if (x[j] > x[b]) { b = j; } } return b; }
int last(double[n] x, int b) { for (j = n - 1; j > 0; j--) { b = x[j] >= x[b] ? j : b; } return b; }
int none(double[n] x, int b) { for (j = 5; j < 5; j++) { if (x[j] > x[b]) { b = j; } } return b; }
int, double both(double[n] x, int b) {
  s = 0.0;
  for (j = 0; j < n; j++) { if (x[j] < x[b]) { b = j; } s = s + x[b]; }
  return (b, s);
}
int[k] columns(double[n] x, int b) | (k == 3) {
  k = 3;
  a = { [i,j] -> x[(i * 3 + j) % n] | [i,j] < [7,3] };
  return with { ([0] <= [c] < [k]) { p = b; for (i = 1; i < 7; i++) { if (a[i,c] > a[p,c]) { p = i; } } } : p;
              } : genarray([k], 0);
}
"""


@cache
def modules() -> tuple[Any, Any]:
    native, meant = (sacpy.Session(target=target).compile(PROGRAM) for target in ("cpu", "interp"))
    return native, meant


@pytest.mark.parametrize("name", ["largest", "last", "none", "both", "columns"])
def test_programs_give_what_the_interpreter_gives(name: str) -> None:
    native, meant = modules()
    rng = np.random.default_rng(4)
    for n in (1, 2, 9, 500):
        x = rng.random(n)
        x[n // 3] = np.nan
        for b in (0, n - 1, n, -1):
            found: list[object] = []
            for module in (meant, native):
                try:
                    found.append(getattr(module, name)(x, b))
                except sacpy.SacError as error:
                    found.append(str(error))
            np.testing.assert_equal(found[1], found[0])
