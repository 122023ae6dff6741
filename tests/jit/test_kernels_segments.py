"""Cells whose folds have bounds that depend on data: how many threads share one, and that they give what the graph
says, on the emulator with every access checked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from sacpy.jit.kernels import Launch, segments
from tests.jit import kernel_tools
from tests.jit.kernel_tools import OnKernels
from tests.jit.test_emission_kernels import OnEmulator
from tests.jit.test_kernels_programs import run

RANDOM = np.random.default_rng(4)
SEGMENTS = """
    TYPE[.] f(int[.] o, TYPE[.] v)
    {
      return with {
        ([0] <= [s] < [shape(o)[0] - 1]) : with { ([o[s]] <= [i] < [o[s + 1]]) : v[i]; } : fold(OP, NEUTRAL);
      } : genarray([shape(o)[0] - 1], TO(0));
    }"""
ROWS = """
    double[.] f(int[.] o, int[.] c, double[.] v, double[.] x)
    {
      return with {
        ([0] <= [r] < [shape(o)[0] - 1]) : with { ([o[r]] <= [i] < [o[r + 1]]) : v[i] * x[c[i]]; } : fold(+, 0d);
      } : genarray([shape(o)[0] - 1], 0d);
    }"""
ORDERED = """
    int g(int a, int b) { return b % 5 == 0 ? a : b; }
    int[.], int[.] f(int[.] o, int[.] c, int[.] v)
    {
      x, y = with {
        ([0] <= [s] < [shape(o)[0] - 1]) {
          p, q = with { ([o[s]] <= [i] < [o[s + 1]]) : (v[i], v[c[i]] * s); } : (fold(g, 3), fold(+, 1));
        } : (p + o[s], q);
      } : (genarray([shape(o)[0] - 1], 0), genarray([shape(o)[0] - 1], 0));
      return (x, y);
    }"""
LARGEST = """
    double f(int[.] o, double[.] v)
    {
      return with {
        ([0] <= [s] < [shape(o)[0] - 1]) : with { ([o[s]] <= [i] < [o[s + 1]]) : v[i]; } : fold(+, 0d);
      } : fold(max, -1d);
    }"""


@pytest.fixture(autouse=True)
def _checked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    emulator = OnEmulator()
    monkeypatch.setattr(kernel_tools, "run_plan", emulator.run_plan)
    monkeypatch.setattr(segments, "_LONG", 40)  # elements from which on a block has a segment
    yield
    assert emulator.kernels


def offsets(m: int, n: int) -> Any:
    """Of m segments of n elements: some empty, one with half of all, none at both ends."""
    found = np.sort(RANDOM.integers(0, n // 2 + 1, m + 1)).astype(np.int32)
    found[m // 2 :] += n - int(found[-1])
    return found


def reals(n: int) -> Any:
    return RANDOM.integers(-9, 10, n).astype(np.float64)


def threads(found: OnKernels) -> list[tuple[str, str]]:
    """What the launches of the last run are, and who has a cell."""
    return [(launch.purpose, _who(launch)) for launch in found.launches]


def _who(launch: Launch) -> str:
    return launch.reasons[-1].partition(" for each")[0]


@pytest.mark.parametrize(
    ("m", "n", "who"),
    [(50, 250, "8 threads"), (50, 700, "16 threads"), (50, 900, "32 threads"), (20, 1900, "256 threads")],
)
@pytest.mark.parametrize(
    ("op", "neutral", "base"), [("+", "0", "int"), pytest.param("max", "-3d", "double", marks=pytest.mark.long)]
)
def test_as_many_threads_share_a_segment_as_it_is_long(
    m: int, n: int, who: str, op: str, neutral: str, base: str
) -> None:
    text = SEGMENTS.replace("TYPE", base).replace("OP", op).replace("NEUTRAL", neutral)
    text = text.replace("TO(0)", "0" if base == "int" else "0d")
    found = run(text, offsets(m, n), reals(n).astype(np.int32 if base == "int" else np.float64))
    assert threads(found) == [("rows", who)]


@pytest.mark.parametrize("m", [33, pytest.param(257, marks=pytest.mark.long)])
def test_short_segments_and_empty_ones_have_a_thread(m: int) -> None:
    text = SEGMENTS.replace("TYPE", "int").replace("OP", "+").replace("NEUTRAL", "0").replace("TO(0)", "0")
    assert [p for p, _ in threads(run(text, offsets(m, m), np.arange(m, dtype=np.int32)))] == ["partition"]
    found = run(text, np.zeros(m, np.int32), np.arange(100 * m, dtype=np.int32))  # long, but for that they are empty
    assert [p for p, _ in threads(found)] == ["rows"]


def test_rows_of_a_sparse_matrix_are_shared() -> None:
    o = offsets(40, 900)
    found = run(ROWS, o, RANDOM.integers(0, 40, 900).astype(np.int32), reals(900), reals(40))
    assert threads(found) == [("rows", "32 threads")]


@pytest.mark.parametrize(
    ("m", "n", "who"),
    [
        (50, 250, "8 threads"),
        pytest.param(50, 900, "32 threads", marks=pytest.mark.long),
        pytest.param(20, 1900, "256 threads", marks=pytest.mark.long),
    ],
)
def test_the_order_of_operands_stays(m: int, n: int, who: str) -> None:
    v = RANDOM.integers(-9, 9, n).astype(np.int32)
    assert threads(run(ORDERED, offsets(m, n), (v * v * 7 % n).astype(np.int32), v)) == [("rows", who)]


def test_a_fold_of_segments_has_them_first() -> None:
    found = run(LARGEST, offsets(40, 2000), reals(2000))
    assert [p for p, _ in threads(found)] == ["rows", "fold"]


@pytest.mark.parametrize("bad", [-1, 2001])
@pytest.mark.parametrize("text", [SEGMENTS, pytest.param(LARGEST, marks=pytest.mark.long)])
def test_bounds_outside_fail_as_they_do_in_order(text: str, bad: int) -> None:
    text = text.replace("TYPE", "double").replace("OP", "+").replace("NEUTRAL", "0d").replace("TO(0)", "0d")
    o = offsets(40, 2000)
    o[0 if bad < 0 else -1] = bad
    run(text, o, reals(2000))
