"""Kernels on the emulator: results, and what check mode finds."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.emission.emulator import Emulated
from tests.jit.kernel_programs import PROGRAMS, Program, faulty


def run(p: Program, *, check: bool = False, threads: int = 1) -> None:
    args = [a.copy() if isinstance(a, np.ndarray) else a for a in p.args]
    outcome = Emulated(p.kernel, check=check).launch(args, cover=p.cover if check else None, threads=threads)
    assert (outcome.failed, outcome.findings) == (None, ())
    names = [v.name for v in p.kernel.params]
    for name, wanted in p.wanted.items():
        np.testing.assert_array_equal(args[names.index(name)], wanted)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("check", [False, True])
def test_kernels_give_what_numpy_gives(name: str, check: bool) -> None:
    run(PROGRAMS[name](), check=check)
