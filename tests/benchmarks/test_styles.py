"""Computations in the manner of arrays: SaC and C agree, and the limit is judged."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.clib import NoCompiler
from benchmarks.measure import Timing
from benchmarks.sac import SacProgram
from benchmarks.styles.command import HERE, STYLES, agree, judged, show, versions


@pytest.mark.parametrize("target", ["interp", pytest.param("cpu", marks=pytest.mark.long)])
def test_both_agree(target: str) -> None:
    try:
        found = versions(tuple(STYLES))
    except NoCompiler as reason:
        pytest.skip(str(reason))
    program = SacProgram.from_file(HERE / "styles.sac", target)
    for name, both in found.items():
        given = STYLES[name].arguments(np.random.default_rng(1), STYLES[name].extents[1])
        agree(name, {**both, "sac": program.function(name)}, given)


def test_what_is_too_slow_is_over_its_limit() -> None:
    rows = [judged("a", Timing((2.0, 1.5)), Timing((1.0, 9.0))), judged("b", Timing((1.7,)), Timing((1.0,)))]
    assert [r.verdict for r in rows] == ["ok", "OVER"]


def test_there_are_only_these_styles() -> None:
    with pytest.raises(ValueError, match="there is no style odd; there are halved_grids"):
        show(["odd"], 1, True)
