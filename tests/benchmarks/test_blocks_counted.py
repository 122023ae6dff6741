"""Programs of a block are counted as the table in `benchmarks/README.md` has it: barriers and bytes are those of every
machine."""

from __future__ import annotations

import pytest

from benchmarks import algorithms
from benchmarks.blocks import SUBJECTS, counted, show


@pytest.mark.parametrize(
    ("name", "barriers", "shared"),
    [("red7", 6, 384), *(pytest.param(*p, marks=pytest.mark.long) for p in (("red2", 10, 6144), ("scan4", 8, 2048)))],
)
def test_barriers_and_bytes_of_a_block(name: str, barriers: int, shared: int) -> None:
    (subject,) = (s for s in SUBJECTS if s.name == name)
    found = counted(subject, "nvptx")
    assert (found.launches, found.barriers, found.shared) == (1, barriers, shared)
    assert found.instructions < 100


def test_a_name_that_none_has_is_told() -> None:
    with pytest.raises(ValueError, match="there is no function red9; there are red1"):
        show(["red9"])


MOVED = {  # launches, bytes moved over those that must be, bytes to the host beside the result
    "scan, int": (2, 1.05, 0),
    "map, scan, map": (2, 1.05, 0),
    "histogram, 256": (2, 1.1, 0),
    "scan, double": (3, 1.6, 0),
    "scan by flags, int": (3, 1.9, 0),
    "weights by key, 256": (4, 15.0, 0),
}


@pytest.mark.parametrize(
    "name", [n if n in ("scan, int", "histogram, 256") else pytest.param(n, marks=pytest.mark.long) for n in MOVED]
)
def test_launches_and_bytes_of_an_algorithm(name: str) -> None:
    (algorithm,) = (a for a in algorithms.algorithms(1 << 14) if a.name == name)
    found = algorithms.counted(algorithm, "nvptx")
    launches, over, back = MOVED[name]
    assert (found.launches, found.sent, found.back) == (launches, 0, back)
    assert found.moved <= over * algorithm.least


@pytest.mark.long
@pytest.mark.parametrize("front", algorithms.FRONTS)
@pytest.mark.parametrize("architecture", algorithms.TARGETS)
def test_all_kernels_are_assembled(architecture: str, front: str) -> None:
    if not algorithms.toolchain.program("ptxas"):
        pytest.skip("there is no ptxas")
    assert all(algorithms.assembled(a, architecture, front) for a in algorithms.algorithms(algorithms.FEW))
