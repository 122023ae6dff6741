"""The result of an operation takes the place of a temporary operand; nothing that has a name is written over."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sacpy.interp.evaluator import Evaluator
from sacpy.interp.world import World
from sacpy.lang.diagnostics import SacError
from sacpy.workspace import Workspace

N = 100_000


def function(text: str, tmp_path: Path) -> Callable[..., Any]:
    """The program's function `f`."""
    path = tmp_path / "program.sac"
    path.write_text(f"use Array: all;\n{text}\n", encoding="utf-8")
    program, _ = Workspace().check(path)
    (entry,) = program.main.own("f")
    key, evaluator = program.key(entry, ()), Evaluator(program, World.captured())
    return lambda *args: evaluator.call(key, args)[0]


def call(text: str, tmp_path: Path, *args: Any) -> Any:
    """The result of the program's function `f`."""
    return function(text, tmp_path)(*args)


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("a * b + c", [13.0, 26.0]),
        ("c + a * b", [13.0, 26.0]),
        ("c - a * b", [7.0, 14.0]),
        ("(a + b) / (c - b)", [4.0 / 7.0, 5.0 / 17.0]),
        ("2.0 * a - 1.0", [1.0, 3.0]),
        ("1.0 / (a + 1.0)", [0.5, 1.0 / 3.0]),
        ("a + sum(b * c)", [91.0, 92.0]),
        ("a * b + a * b", [6.0, 12.0]),
    ],
)
def test_results_and_arguments(expression: str, wanted: list[float], tmp_path: Path) -> None:
    a, b, c = np.array([1.0, 2.0]), np.array([3.0, 3.0]), np.array([10.0, 20.0])
    before = [x.copy() for x in (a, b, c)]
    found = call(f"double[.] f(double[.] a, double[.] b, double[.] c) {{ return {expression}; }}", tmp_path, a, b, c)
    np.testing.assert_allclose(found, wanted, rtol=1e-15)
    for now, was in zip((a, b, c), before, strict=True):
        np.testing.assert_array_equal(now, was)


def test_a_named_value_stays(tmp_path: Path) -> None:
    a = np.array([1, 2, 3], np.int32)
    found = call("int[.] f(int[.] a) { t = a * 2; u = t + 1; return t ++ u; }", tmp_path, a)
    np.testing.assert_array_equal(found, [2, 4, 6, 3, 5, 7])


def test_integers_wrap(tmp_path: Path) -> None:
    a = np.array([2**31 - 1, -(2**31)], np.int32)
    np.testing.assert_array_equal(
        call("int[.] f(int[.] a) { return (a + 1) * 2 - 1; }", tmp_path, a), np.array([-1, 1], np.int32)
    )


def test_a_scalar_temporary_meets_an_array(tmp_path: Path) -> None:
    np.testing.assert_array_equal(
        call("double[*] f(double[*] s, double[*] a) { return (s + 1.0) * a; }", tmp_path, 2.0, np.array([1.0, 2.0])),
        [3.0, 6.0],
    )
    assert call("double[*] f(double[*] s, double[*] a) { return (s + 1.0) * a; }", tmp_path, 2.0, 4.0) == 12.0


def test_shapes_must_still_agree(tmp_path: Path) -> None:
    with pytest.raises(SacError) as caught:
        call("double[.] f(double[.] a, double[.] b) { return a * a + b; }", tmp_path, np.ones(2), np.ones(3))
    assert [d.code for d in caught.value.diagnostics] == ["E0602"]


def test_a_chain_makes_one_array(tmp_path: Path) -> None:
    f = function("double[.] f(double[.] a, double[.] b, double[.] c) { return a * b + c - 1.0; }", tmp_path)
    args = [np.ones(N) for _ in range(3)]
    f(*args)
    tracemalloc.start()
    try:
        f(*args)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert N * 8 <= peak < 1.2 * N * 8
