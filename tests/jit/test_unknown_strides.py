"""Loops whose stride is not known: LLVM makes vectors of them all the same."""

from __future__ import annotations

import re

import numpy as np
import pytest

from sacpy.jit.host.lowering import lower
from sacpy.jit.host.translate import Task, optimised
from sacpy.jit.ir.graph import Const, Unit
from sacpy.jit.options import Options
from tests.jit.builder import B, arguments, unit
from tests.jit.native_tools import agree

FOLDS = {"add": Const("double", 0.0), "min": Const("double", float("inf")), "max": Const("int", -(2**31))}


def down_a_column(code: str) -> Unit:
    """A fold of the elements of a column."""
    b, neutral = B(), FOLDS[code]
    params, (a, j), inputs = arguments(b, (neutral.base, 2), ("int", 0))
    r = b.fold(code, neutral, [b.partition([0], params[:1], lambda c, i: c.load(a, i, j))])
    return unit(b, params, inputs, [r])


@pytest.mark.parametrize("code", FOLDS)
def test_folds_down_columns_are_vectors(code: str) -> None:
    text = str(optimised(Task(lower(down_a_column(code), Options()))))
    assert re.search(r"<\d+ x (double|i32)> .*", text)
    assert "ident.check" not in text, "vectors for the stride 1 only"


@pytest.mark.parametrize("code", FOLDS)
@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (37, 5), (64, 1), (100, 7)])
def test_folds_down_columns_are_right(code: str, shape: tuple[int, int]) -> None:
    a = np.random.default_rng(shape).integers(-50, 50, shape).astype(FOLDS[code].base.replace("int", "int32"))
    for j in range(shape[1]):
        (found,) = agree(down_a_column(code), a, j, options=Options())
        assert found == {"add": np.sum, "min": np.min, "max": np.max}[code](a[:, j])
