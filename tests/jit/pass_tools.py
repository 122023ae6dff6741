"""What tests of passes share: printing the result of a pass, and comparing a unit before and after."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from textwrap import dedent

import numpy as np

from sacpy.interp.values import Value
from sacpy.jit.ir.graph import Unit
from sacpy.jit.ir.graph_printer import print_unit
from sacpy.jit.ir.graph_verify import verify
from tests.jit.graph_evaluator import CheckFailed, evaluate
from tests.jit.graph_generator import random_unit
from tests.jit.graph_text import unit

Pass = Callable[[Unit], Unit]


def after(work: Pass, text: str) -> str:
    """The text of a unit after a pass; the pass gives the same text each time, and keeps the laws."""
    before = unit(text)
    verify(before)
    result = work(before)
    verify(result)
    assert print_unit(work(unit(text))) == print_unit(result)
    return print_unit(result)


def check(work: Pass, before: str, expected: str) -> None:
    """Asserts what a pass makes of a unit."""
    assert after(work, before).strip() == dedent(expected).strip()


def unchanged(work: Pass, text: str) -> None:
    """Asserts that a pass leaves a unit alone."""
    check(work, text, text)


def outcome(u: Unit, args: Sequence[Value]) -> list[tuple[object, ...]] | None:
    """Results, bit for bit; None where a check fails. NaNs are all the same."""
    try:
        return [_bits(v) for v in evaluate(u, args)]
    except CheckFailed:
        return None


def _bits(v: Value) -> tuple[object, ...]:
    a = np.asarray(v)
    if a.dtype.kind == "f":
        a = np.where(np.isnan(a), np.array(np.nan, a.dtype), a)
    return a.dtype.str, a.shape, a.tobytes()


def assert_keeps_meaning(work: Pass, seeds: range, budget: int = 40, raises_checks: bool = False) -> int:
    """Random units give the same results before and after; a pass that `raises_checks` may make them fail more often.
    Returns how many results were compared."""
    compared = 0
    for seed in seeds:
        before, arguments = random_unit(seed, budget)
        verify(before)
        result = work(before)
        verify(result)
        for args in arguments:
            expected = outcome(before, args)
            found = outcome(result, args)
            if expected is None or (found is None and raises_checks):
                continue
            compared += 1
            assert found == expected, f"seed {seed}, arguments {args}"
    return compared
