"""How many blocks a multiprocessor holds: figures as NVIDIA's occupancy calculator has them."""

from __future__ import annotations

import pytest

from sacpy.withloop.devices import DEVICES
from sacpy.withloop.occupancy import occupancy


@pytest.mark.parametrize(
    ("device", "threads", "registers", "shared", "blocks", "warps", "limit"),
    [
        ("sm_90", 256, 32, 0, 8, 64, "the number of threads"),
        ("sm_90", 32, 16, 0, 32, 32, "the number of blocks"),
        ("sm_80", 256, 64, 8448, 4, 32, "registers"),
        ("sm_80", 128, 168, 0, 3, 12, "registers"),
        ("sm_80", 256, 32, 48 << 10, 3, 24, "shared memory"),
        ("sm_86", 1024, 40, 0, 1, 32, "the number of threads"),
        ("sm_75", 33, 20, 0, 16, 32, "the number of threads"),
        ("sm_90", 1024, 128, 0, 0, 0, "registers"),
    ],
)
def test_blocks_of_a_multiprocessor(
    device: str, threads: int, registers: int, shared: int, blocks: int, warps: int, limit: str
) -> None:
    found = occupancy(DEVICES[device], threads, registers, shared, 1000)
    assert (found.blocks, found.warps, found.limit) == (blocks, warps, limit)


def test_waves_are_counted_over_all_multiprocessors() -> None:
    assert occupancy(DEVICES["sm_90"], 256, 32, 0, 132 * 8 * 3).waves == 3.0
    assert occupancy(DEVICES["sm_90"], 1024, 128, 0, 5).waves == 0.0
