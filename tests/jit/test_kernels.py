"""Kernels of genarray and modarray: what they compute, and how pieces become launches."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.graph import Unit
from tests.jit.builder import B, arguments, unit
from tests.jit.kernel_tools import agree, options


def stepped(shape: int = 2) -> Unit:
    """A step in the first axis, a border around: the default and one partition."""
    b = B()
    params, (a,), inputs = arguments(b, ("double", shape))
    frame = a.type.extents  # type: ignore[union-attr]
    p = b.partition([1, 1], [5, 7], lambda b, i, j: b.op("add", b.load(a, i, j), b.op("tod", j)), step=[2, 1])
    return unit(b, params, inputs, [b.genarray("double", frame, [p], 3.0)])


@pytest.mark.parametrize("strategy", ["auto", "jing", "jing_ext", "foldall"])
@pytest.mark.parametrize("merge", [True, False])
def test_a_step_and_its_default(strategy: str, merge: bool) -> None:
    run = agree(stepped(), [np.arange(72.0).reshape(8, 9)], options(strategy=strategy, merge=merge))
    assert [launch.purpose for launch in run.launches] == (["pieces"] if merge else ["partition", *["default"] * 5])


def test_equal_forms_share_a_kernel() -> None:
    run = agree(stepped(), [np.arange(72.0).reshape(8, 9)], options(merge=False))
    assert len({id(launch.kernel) for launch in run.launches}) < len(run.launches)
