"""The benchmark that counts what kernels do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.kernels.command import counted, limits, resources, show
from benchmarks.kernels.programs import classics
from sacpy.jit.emission import toolchain

MAP = next(c for c in classics() if c.name.startswith("map"))


def test_what_is_over_a_limit_is_named() -> None:
    found = counted(MAP, "nvptx")
    assert (found.launches, found.spilled, found.passes) == (1, 0, 0)
    assert found.sectors == found.dram == 1.0
    peer = replace(found, version="by hand")
    assert [r.verdict for r in limits(MAP, [found, found], peer)].count("OVER") == 2  # the same is over 0.85
    worse = replace(found, instructions=2 * found.instructions, sectors=2.0, passes=2.0, spilled=8)
    over = [r.name for r in limits(replace(MAP, limit=1.1), [worse, found], peer) if r.verdict == "OVER"]
    assert [name.rpartition(": ")[2] for name in over] == [
        "instructions",
        "sectors over the least",
        "passes over the least",
        "bytes spilled",
        "one front end over the other",
    ]


def test_a_kernel_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no kernel sorting; there are relaxation, double; "):
        show(["sorting"])


@pytest.mark.long
@pytest.mark.skipif(toolchain.program("nvcc") is None, reason="there is no nvcc")
def test_kernels_by_hand_are_counted_beside(capsys: pytest.CaptureFixture[str]) -> None:
    report, over = show(["row sums"])
    assert not over
    assert [f["version"] for f in report["kernels"]["row sums, double"]] == ["libnvvm", "nvptx", "by hand"]
    assert "registers" in capsys.readouterr().out


def test_resources_are_told_by_kernel() -> None:
    ptx = """.version 7.8
.target sm_90
.address_size 64
.visible .entry one(.param .u64 p) { ret; }
.visible .entry two(.param .u64 p) { ret; }
"""
    assert {name: spilled for name, (_, spilled) in resources(ptx).items()} == {"one": 0, "two": 0}
