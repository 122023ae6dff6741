"""Least and greatest of reals, compiled: vectorised and in several threads, and yet with NaN and signed zeros as in
order."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sacpy

TEXT = """use Array: all; use Math: all;
double least(double[n] v) { return minval(v); }
double greatest(double[n] v) { return maxval(v); }
double row(double[n,m] v) { return sum({ [i] -> maxval(v[i]) * tod(i) | [i] < [n] }); }
double loop(double[n] v) { x = v[0]; for (i = 1; i < n; i++) { x = min(x, v[i]); } return x; }
double turned(double[n] v) { x = v[0]; for (i = 1; i < n; i++) { x = max(v[i], x); } return x; }
float single(float[n] v) { return minval(v) + maxval(v); }
double[n], double half(double[n] v) { v = v * 0.5; w = v + 1.0; return (w, maxval(w - 1.0)); }
double both(double[n] v) { return sum(v) * 0.0 + minval(v); }
double apart(double[n] v) { return with { ([0] <= [i] < [n / 2]) : v[i]; ([n / 2] <= [i] < [n]) : -v[i];
  } : fold(max, v[0]); }
"""
FUNCTIONS = ("least", "greatest", "row", "loop", "turned", "single", "half", "both", "apart")
LENGTH = 30_000


def vectors() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    plain = rng.standard_normal(LENGTH)
    found = {"plain": plain, "no zero but one": np.abs(plain), "empty": plain[:0]}
    for name, places in {
        "first": [0],
        "last": [-1],
        "middle": [LENGTH // 2],
        "many": range(7, LENGTH - 7, 501),
    }.items():
        found[f"NaN {name}"] = plain.copy()
        found[f"NaN {name}"][list(places)] = math.nan
    for name, (a, b) in {"0.0 last": (-0.0, 0.0), "-0.0 last": (0.0, -0.0)}.items():
        found[name] = np.where(np.arange(LENGTH) % 3 == 0, a, b)
        found[f"{name}, above"] = np.where(np.arange(LENGTH) % 5 == 0, found[name], np.abs(plain))
        found[f"{name}, below"] = np.where(np.arange(LENGTH) % 5 == 0, found[name], -np.abs(plain))
    found["infinite"] = np.where(np.arange(LENGTH) % 5 == 0, -math.inf, plain)
    return found


@pytest.fixture(scope="module")
def sessions() -> list[sacpy.Module]:
    options = [
        {"target": "interp"},
        {"target": "cpu", "threads": 2},
        {"target": "cpu", "threads": 1},
        {"target": "cpu", "strict_fp": True},
    ]
    return [sacpy.Session(**o).compile(TEXT) for o in options]  # type: ignore[arg-type]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", vectors())
def test_extremes_are_those_of_the_interpreter(sessions: list[sacpy.Module], function: str, name: str) -> None:
    v = vectors()[name]
    if name == "empty" and function not in ("least", "greatest", "half", "both"):
        return
    argument = v.reshape(3, -1) if function == "row" else v.astype(np.float32) if function == "single" else v
    first, *others = [getattr(module, function)(argument) for module in sessions]
    for other in others:
        for a, b in zip(
            first if isinstance(first, tuple) else (first,), other if isinstance(other, tuple) else (other,)
        ):
            np.testing.assert_array_equal(a, b)
            np.testing.assert_array_equal(np.signbit(a), np.signbit(b))


@pytest.fixture(scope="module")
def device() -> sacpy.Session:
    return sacpy.Session(target="emulator")


@pytest.mark.parametrize("function", ["least", "greatest", "row", "single", "apart", "half"])
@pytest.mark.parametrize("name", vectors())
def test_extremes_on_a_device_are_those_of_the_interpreter(
    sessions: list[sacpy.Module], device: sacpy.Session, function: str, name: str
) -> None:
    v = vectors()[name]
    if name == "empty" and function not in ("least", "greatest", "half"):
        return
    argument = v.reshape(3, -1) if function == "row" else v.astype(np.float32) if function == "single" else v
    wanted, found = (getattr(module, function)(argument) for module in (sessions[0], device.compile(TEXT)))
    for a, b in zip(*(r if isinstance(r, tuple) else (r,) for r in (wanted, found))):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(np.signbit(a), np.signbit(b))


@pytest.mark.parametrize(
    ("name", "again"),
    [("plain", 0), ("-0.0 last, above", 1), ("NaN middle", 1), ("no zero but one", 0), ("infinite", 0)],
)
def test_a_device_leaves_to_others_only_what_order_decides(name: str, again: int) -> None:
    session = sacpy.Session(target="emulator")
    session.compile(TEXT).least(vectors()[name])
    (row,) = (row for row in session.stats().rows if row.function == "least" and row.where == "native")
    assert row.rerun == again


def test_they_are_computed_natively() -> None:
    session = sacpy.Session(target="cpu")
    module = session.compile(TEXT)
    for function in FUNCTIONS:
        v = vectors()["plain"]
        getattr(module, function)(
            v.reshape(3, -1) if function == "row" else v.astype(np.float32) if function == "single" else v
        )
    rows = session.stats().rows
    assert {row.function for row in rows if row.where == "native"} >= {*FUNCTIONS}, rows


def test_llvm_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """What it is asked to vectorise it can: it would complain on standard error."""
    body = "i == 500 ? far : (i == 600 ? -far : tod(i))"
    text = f"""use Array: all;
double[3] several(int n) {{ far = 1.0 / 0.0; u = {{ [i] -> {body} | [i] < [n] }}; return [sum(u), maxval(u), minval(u)];
  }}
double nothing(int n) {{ u = {{ [i] -> -0.0 | [i] < [n] }}; return sum(u); }}
double ones(int n) {{ u = {{ [i] -> 1.0 | [i] < [n] }}; return prod(u); }}
double, double[.,.] beside(int n) {{
  c = genarray([2], tod(n));
  s, m = with {{ ([0] <= [i] < [n]) : (tod(n), c); }} : (fold(+, 0.0), genarray([n], [0.0, 1.0]));
  return (s, m); }}"""
    for strict in (False, True):
        module = sacpy.Session(target="cpu", strict_fp=strict).compile(text)
        for function in ("several", "nothing", "ones", "beside"):
            getattr(module, function)(20_000)
    assert capfd.readouterr().err == ""
