"""What threads of a warp hand on: the laws that `Shuffle` has to keep, and that check mode looks at what it reads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sacpy.jit.emission.emulator import Emulated
from sacpy.jit.ir import kernel as k
from sacpy.jit.ir.kernel_printer import print_kernel
from sacpy.jit.ir.operations import GraphError
from tests.jit.kernel_programs import P


def warp(threads: int = 32, distance: int = 1, space: str = "private", extent: int = 1, base: str = "int") -> P:
    """One warp whose threads pass their numbers on; the first half of them only where `distance` is 16."""
    p = P("warp", [1], [threads])
    r = p.result("r", "int", threads)
    own, other = p.allocate(space, "int", extent), p.allocate(space, base, extent)
    with p.forall(threads if distance != 16 else 16) as (t, x):
        t.store(own, 0, x)
    p.body.append(k.Shuffle(other, own, distance))
    if base == "int":
        with p.forall(threads) as (t, x):
            t.store(r, x, t.load(other, 0))
    return p


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"threads": 48}, "no whole warps"),
        ({"distance": 32}, "no thread of a warp is 32 further"),
        ({"distance": 0}, "no thread of a warp is 0 further"),
        ({"space": "shared"}, "is no private array"),
        ({"space": "scratch"}, "is no private array"),
        ({"extent": 2}, "has not one element"),
        ({"base": "double"}, "differ in type"),
    ],
)
def test_what_is_no_shuffle(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        warp(**changes).kernel()


def test_it_is_printed() -> None:
    assert "private.1 := private of the thread 3 further in the warp" in print_kernel(warp(distance=3).kernel())


def test_reading_of_a_thread_that_has_set_nothing_is_found() -> None:
    assert not Emulated(warp().kernel(), check=True).launch([np.zeros(32, np.int32)]).findings
    found = Emulated(warp(distance=16).kernel(), check=True).launch([np.zeros(32, np.int32)]).findings
    assert found and {f.thread for f in found} == set(range(16, 32))
    assert "of the thread 16 further" in found[0].statement
