"""What a device allows, as plain numbers.

In: nothing; a runtime that sees a real device makes a `DeviceLimits` from what it reports. Out: the limits that
mappings must keep, with a table of the GPU generations for machines without one.
"""

from __future__ import annotations

from sacpy.nodes import Node, replace


class DeviceLimits(Node):
    """Limits of one device. Extents are written as index spaces are: z, y, x. Memory in bytes; `shared_per_block` is
    what a kernel may ask for at most. `processors` is the number of multiprocessors."""

    name: str
    processors: int
    threads_per_processor: int
    blocks_per_processor: int
    shared_per_block: int
    shared_per_processor: int
    registers_per_processor: int = 65536
    threads_per_block: int = 1024
    block: tuple[int, int, int] = (64, 1024, 1024)
    grid: tuple[int, int, int] = (65535, 65535, 2**31 - 1)
    warp: int = 32

    def with_processors(self, processors: int) -> DeviceLimits:
        """The same generation on a card with so many multiprocessors."""
        return replace(self, processors=processors)


def _generation(
    name: str, processors: int, threads: int, blocks: int, shared_per_block: int, shared_per_processor: int
) -> DeviceLimits:
    return DeviceLimits(name, processors, threads, blocks, shared_per_block << 10, shared_per_processor << 10)


# Compared on 2026-11-21 with NVIDIA's own table of architectures, `arch_traits` in libcu++ (NVIDIA/cccl,
# libcudacxx/include/cuda/__device/arch_traits.h), which has the figures of "Technical Specifications per Compute
# Capability" in the CUDA Programming Guide; a block may have a kilobyte less shared memory than a multiprocessor has,
# as the driver keeps that, but for sm_75. Processors: of a common card (T4, A100, A10, Jetson AGX Orin, L40, H100,
# B200), which no architecture fixes.
DEVICES: dict[str, DeviceLimits] = {
    limits.name: limits
    for limits in (
        _generation("sm_75", 40, 1024, 16, 64, 64),
        _generation("sm_80", 108, 2048, 32, 163, 164),
        _generation("sm_86", 72, 1536, 16, 99, 100),
        _generation("sm_87", 16, 1536, 16, 163, 164),
        _generation("sm_89", 142, 1536, 24, 99, 100),
        _generation("sm_90", 132, 2048, 32, 227, 228),
        _generation("sm_100", 148, 2048, 32, 227, 228),
    )
}
