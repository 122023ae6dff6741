"""Scans as with-loops, which a device runs: every form gives what the interpreter gives, and map, scan, map
stays on the device."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.passes import stepping
from tests.jit.pass_tools import assert_keeps_meaning
from tests.jit.test_device_programs import Both

HEAD = "use Scan: all;\n"
SIZES = (0, 1, 2, 31, 32, 33, 255, 257, 1023, 1025, 2100)
STRUCT = """
struct Map { int a; int b; };
struct Map then(struct Map x, struct Map y) { return Map{x.a * y.a, x.b * y.a + y.b}; }
"""
CASES = {
    "sums": "int[.] f(int[n] v) { return cumsum(v); }",
    "before": "int[.] f(int[n] v) { return cumsum_exclusive(v); }",
    "down": "double[.] f(double[n] v) { return cummin_reverse(v); }",
    "extremes": "double[.] f(double[n] v) { return cummax(v); }",
    "flags": "int[.] f(int[n] v) { return cumsum_by_flags(v % 50 == 0, v); }",
    "structs": STRUCT
    + """int[.] f(int[n] v) {
        s = with { ([0] <= [i] < [n]) : Map{v[i], i}; } : scan(then, Map{1, 0});
        return { [i] -> s[i].a + s[i].b | [i] < [n] };
    }""",
    "any": """struct Place { int at; int value; };
    struct Place larger(struct Place x, struct Place y) { return y.value > x.value ? y : x; }
    int[.], int[.] f(int[n] v) {
        s = with { ([0] <= [i] < [n]) : Place{i, v[i] * 2}; } : scan(larger, Place{-1, -1000});
        return ({ [i] -> s[i].at + 1 | [i] < [n] }, { [i] -> s[i].value | [i] < [n] });
    }""",
    "any_before": """int last(int sofar, int value) { return value % 4 == 0 ? sofar : value; }
    int[.] f(int[n] v) { return with { ([0] <= [i] < [n]) : v[i] * 3; } : exscan(last, 0); }""",
    "map": "double[.] f(double[n] v) { return sqrt(cumsum(abs(v) + 1.0)) * v; }",
    "dear": "double[.] f(double[n] v) { return cummax(sin(v) * exp(v)); }",
    "some": """int[.], int f(int[n] v) {
        before = 7;
        for (i = 1; i < n - 1; i++) { before = before ^ v[i]; v[i] = before; }
        return (v, before);
    }""",
    "some_down": """int[.], int f(int[n] v) {
        after = 7;
        for (i = n - 2; i >= 1; i--) { after = after + v[i]; v[i] = after; }
        return (v, after);
    }""",
    "bytes": "int[.] f(int[n] v) { return toi(cumsum(tob(v))); }",
}


def argument(case: str, n: int) -> np.ndarray:
    r = np.random.default_rng(n)
    if "double[n]" not in CASES[case]:
        return r.integers(-9, 10, n).astype(np.int32)
    v = r.integers(-9, 10, n).astype(float)
    if case in ("down", "extremes"):
        v[r.random(n) < 0.2] = -0.0
        v[r.random(n) < 0.002] = np.nan
    return v


OFTEN = ("extremes", "flags", "some")


@pytest.mark.parametrize("case", [c if c in OFTEN else pytest.param(c, marks=pytest.mark.long) for c in CASES])
def test_a_device_gives_what_the_loop_gives(case: str) -> None:
    both = Both(HEAD + CASES[case])
    for n in SIZES:
        v = argument(case, n)
        wanted, found = both.plain.f(v.copy()), both.there.f(v)
        for a, b in zip(*((x,) if not isinstance(x, tuple) else x for x in (found, wanted)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)
            assert np.array_equal(np.signbit(a), np.signbit(b))
    assert both.device.memory.transfers.allocated > 0


def test_random_units_mean_what_they_meant() -> None:
    assert assert_keeps_meaning(stepping.run_exact_scans, range(40)) > 10


@pytest.mark.parametrize(("case", "results"), [("map", 1), ("any", 2), ("down", 1)])
def test_map_scan_map_stays_on_the_device(case: str, results: int) -> None:
    both = Both(HEAD + CASES[case])
    v = argument("map" if case == "down" else case, 5000)  # without NaN
    both.same("f", v)
    transfers = both.device.memory.transfers
    assert (transfers.times_in, transfers.times_out) == (1, results)
