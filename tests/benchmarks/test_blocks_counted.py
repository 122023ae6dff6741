"""Programs of a block are counted as the table in `benchmarks/README.md` has it: barriers and bytes are those of every
machine."""

from __future__ import annotations

import pytest

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
