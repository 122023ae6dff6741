"""How much of a device a launch keeps busy.

In: a device's limits; the threads of a block, what the assembler says that it needs, how many blocks there are. Out:
how many blocks a multiprocessor holds at a time, what keeps it from holding more, and how often the device is filled.
After "Hardware Multithreading" and "Technical Specifications per Compute Capability" in NVIDIA's CUDA Programming
Guide: registers are given to warps in pieces of 256, to four warps at a time; shared memory to blocks in pieces of 128
bytes, with a kilobyte for the driver.
"""

from __future__ import annotations

from sacpy.nodes import Node
from sacpy.withloop.devices import DeviceLimits

_REGISTERS = 256  # that a warp gets at a time
_PARTITIONS = 4  # of a multiprocessor, each with its own registers
_SHARED = 128  # bytes of shared memory that a block gets at a time
RESERVED = 1024  # bytes of each block that the driver keeps


class Occupancy(Node):
    """`blocks`: on a multiprocessor at a time; `warps`: of these, of `most`; `limit`: what keeps others away; `waves`:
    how often all multiprocessors are filled."""

    blocks: int
    warps: int
    most: int
    limit: str
    waves: float


def occupancy(device: DeviceLimits, threads: int, registers: int, shared: int, blocks: int) -> Occupancy:
    """Of a launch. `registers`: of a thread; `shared`: bytes of a block, dynamic ones included; `blocks`: of the
    grid."""
    warps = max(1, -(-threads // device.warp))
    most = device.threads_per_processor // device.warp
    limits = {"the number of threads": most // warps, "the number of blocks": device.blocks_per_processor}
    if registers:
        each = -(-registers * device.warp // _REGISTERS) * _REGISTERS
        there = device.registers_per_processor // _PARTITIONS // each * _PARTITIONS
        limits["registers"] = there // warps
    if shared:
        taken = -(-shared // _SHARED) * _SHARED + RESERVED
        limits["shared memory"] = device.shared_per_processor // taken
    limit = min(limits, key=lambda name: limits[name])
    held = limits[limit]
    waves = blocks / (held * device.processors) if held else 0.0
    return Occupancy(held, held * warps, most, limit, waves)
