"""What the default mode may give, according to intervals: certain where rounding has no say, and no wider than it must
be."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sacpy.jit.run.engine import Engine
from tests.fuzz import bounds
from tests.fuzz.bounds import Array, Expected, Unclear, within
from tests.fuzz.differential import BOUNDED, DEFAULT, DIFFERENT, Graphs, Outcome, compare
from tests.fuzz.intervals import UNKNOWN, Interval, multiplied, operation, total
from tests.fuzz.programs import HEAD, Case

TENTHS = np.full(1000, 0.1) * np.where(np.arange(1000) % 3 == 0, -1.0, 1.0)


def expected(monkeypatch: pytest.MonkeyPatch, text: str, *args: Any) -> list[Expected]:
    """What a function may give for these arguments."""
    found: list[Any] = []

    def of_call(self: Graphs, engine: Engine, key: str, values: tuple[Any, ...]) -> Any:
        found.append(known(self, engine, key, values))
        return found[-1]

    known: Callable[..., Any] = Graphs.of_call
    monkeypatch.setattr(Graphs, "of_call", of_call)
    outcome = run(text, *args)
    assert not outcome.different
    return bounds.expected(found[-1], list(args))


def run(text: str, *args: Any) -> Outcome:
    return compare(Case(0, HEAD + text, (("run", args),)), DEFAULT)


def test_a_sum_may_be_off_by_what_is_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = expected(monkeypatch, "double run(double[n] v) { return sum(v); }", TENTHS)
    assert isinstance(found, Interval)
    assert found.low <= math.fsum(TENTHS) <= found.high
    stated = 1000 * 2.0**-52 * 100.0
    assert stated <= found.high - math.fsum(TENTHS) <= 2 * stated


def test_what_meets_in_an_element_may_come_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = expected(
        monkeypatch,
        "double[64] run(int[n] at, double[n] v) { h = genarray([64], 0.5);"
        " for (i = 0; i < n; i++) { h[at[i]] = h[at[i]] + v[i]; } return h; }",
        np.repeat([3, 7, 3], [99, 1, 99]).astype(np.int32),
        TENTHS[:199],
    )
    assert isinstance(found, Array)
    several, one = found.items[3], found.items[7]
    wanted = 0.5 + math.fsum(np.delete(TENTHS[:199], 99))
    assert isinstance(several, Interval) and several.low < wanted < several.high and several.high - several.low < 1e-11
    assert one == 0.5 - 0.1 and found.items[0] == 0.5


@pytest.mark.parametrize("head", ["i = 1; i < n; i++", "i = 3; i < n; i++"])
def test_a_sum_on_the_way_may_be_off_by_what_is_stated(monkeypatch: pytest.MonkeyPatch, head: str) -> None:
    (found,) = expected(
        monkeypatch,
        f"double[.] run(double[n] v) {{ for ({head}) {{ v[i] = v[i - 1] + v[i]; }} return v; }}",
        TENTHS[:300],
    )
    assert isinstance(found, Array)
    first, last = int(head[4]), found.items[-1]
    assert isinstance(last, Interval)
    assert last.low <= math.fsum(TENTHS[first - 1 : 300]) <= last.high
    stated = (300 - first) * 2.0**-52 * (300 - first) / 10
    assert stated <= last.high - math.fsum(TENTHS[first - 1 : 300]) <= 2.2 * stated


def test_the_bounds_go_through_what_is_computed_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "double[.] run(double[n] v) { s = sum(v); return { [i] -> 2.0 * s - v[i] | [i] < [n] }; }"
    (found,) = expected(monkeypatch, text, TENTHS)
    assert isinstance(found, Array)
    assert found.shape == (1000,)
    assert all(isinstance(x, Interval) and x.high - x.low < 1e-9 for x in found.items)


@pytest.mark.parametrize(
    "text",
    [
        "double[.] run(double[n] v) { return { [i] -> v[i] + 1.0 | [i] < [n] }; }",
        "double run(double[n] v) { return maxval(v); }",
        "int run(double[n] v) { return toi(v[3] * 105.0); }",
        "double run(double[n] v) { for (i = 1; i < n; i++) { v[i] = abs(v[i - 1]) + v[i]; } return v[n - 1]; }",
    ],
)
def test_what_no_rounding_touches_is_certain(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    for found in expected(monkeypatch, text, TENTHS):
        assert not any(
            x is UNKNOWN or isinstance(x, Interval) for x in (found.items if isinstance(found, Array) else [found])
        )


def test_all_kinds_of_statements_are_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        """
    int fib(int k) { if (k < 2) { r = k; } else { r = fib(k - 1) + fib(k - 2); } return r; }
    int, int[.], int[.,.], double run(int[n] a, int k)
    {
      w = with { ([1] <= [i] < [n] step [k] width [2]) : a[i]; ([0] <= [i] < [n - 1]) : 100 + i; } : modarray(a);
      w[k] = fib(k);
      m, s = with { ([0] <= [i] < [n]) { s = s * 2 + a[i]; } : (s, s); } : (genarray([n]), propagate(s = 1));
      first = with { ([0] <= [i] < [n]) : a[i] & 15; } : foldfix(|, 0, 7);
      q = 0;
      do { q += 3; } while (q < n);
      return (s + first + q, m + w, reshape([k, n], w ++ a), tod(sum(w[[k]])));
    }
    """.replace("propagate(s = 1)", "propagate(s)")
        .replace("m, s = with", "s = 1;\n      m, s = with")
        .replace("reshape([k, n], w ++ a)", "reshape([2, n], w ++ a)")
    )
    results = expected(monkeypatch, text, np.arange(9, dtype=np.int32), 3)
    assert results[0] == run(text, np.arange(9, dtype=np.int32), 3).expected[0][0]


def test_an_error_beyond_the_bounds_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "double run(double[n] v) { return sum(v); }"
    assert run(text, TENTHS).verdicts.keys() <= {BOUNDED, "the same"}
    monkeypatch.setitem(bounds.ANY_ORDER, "add", lambda terms, base: Interval(1e-300, 2e-300))
    verdicts = compare(Case(0, HEAD + text, (("run", (TENTHS,)),)), DEFAULT).verdicts
    assert verdicts.keys() <= {DIFFERENT, "the same"}


def test_what_rounding_decides_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = math.fsum(TENTHS)
    assert expected(monkeypatch, f"int run(double[n] v) {{ return sum(v) > {limit} ? 1 : 2; }}", TENTHS) == [UNKNOWN]
    with pytest.raises(Unclear, match="condition"):
        expected(
            monkeypatch,
            f"int run(double[n] v) {{ s = sum(v); r = 0; while (s > {limit} && r < n) {{ r = r * 2 + 1; }} return r; "
            f"}}",
            TENTHS,
        )


def test_intervals_hold_all_that_operations_give() -> None:
    random = np.random.default_rng(7)
    for code in ("add", "sub", "mul", "div", "min", "max", "lt", "le", "pow", "atan2", "hypot", "fmod", "copysign"):
        for _ in range(300):
            (a, b), (c, d) = np.sort(
                random.uniform(-5, 5, (2, 2)) * 10.0 ** random.integers(-3, 3, (2, 1)), axis=1
            ).tolist()
            found = operation(code, "double", (Interval(a, b), Interval(c, d) if code != "fmod" else c))
            for x, y in ((a, c), (b, c), (a, d), (b, d), ((a + b) / 2, (c + d) / 2)):
                result = operation(code, "double", (x, y if code != "fmod" else c))
                assert _inside(result, found), (code, a, b, c, d)


def test_intervals_hold_all_that_functions_give() -> None:
    random = np.random.default_rng(8)
    for code in (
        "neg",
        "abs",
        "sin",
        "cos",
        "tan",
        "exp",
        "log",
        "sqrt",
        "cosh",
        "acos",
        "erfc",
        "lgamma",
        "tgamma",
        "floor",
        "rint",
        "toi",
        "tof",
        "tobool",
        "isnan",
        "reciproc",
    ):
        for _ in range(300):
            a, b = np.sort(random.uniform(-4, 4) + random.uniform(0, 1, 2) * 10.0 ** random.integers(-6, 1)).tolist()
            found = operation(code, "double", (Interval(a, b),))
            for x in (a, b, (a + b) / 2, a + (b - a) / 7):
                assert _inside(operation(code, "double", (x,)), found), (code, a, b, x)


def _inside(result: Any, found: Any) -> bool:
    if found is UNKNOWN:
        return True
    if isinstance(result, Interval) and isinstance(found, Interval):
        return found.low <= result.low and result.high <= found.high
    return within(result, found)


def test_folds_of_special_numbers() -> None:
    assert math.isnan(total([1.0, math.nan, 2.0], "double"))
    assert total([1.0, math.inf], "double") is UNKNOWN
    assert total([1e308, 1e308, -1e308], "double") is UNKNOWN
    found = multiplied([1.1] * 50, "double")
    assert isinstance(found, Interval)
    assert found.low < 1.1**50 < found.high < found.low * (1 + 1e-12)


def test_a_product_that_overflows_need_not_once_it_is_part_of_a_sum() -> None:
    assert operation("mul", "float", [1e30, -1e30]) is UNKNOWN
    assert operation("mul", "float", [math.inf, -1e30]) == -math.inf
    assert operation("mul", "double", [1e30, -1e30]) != UNKNOWN
