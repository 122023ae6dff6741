"""How fast devices are, and about how long a launch takes on one.

In: what a launch does: instructions, operations on reals, bytes, blocks. Out: a time, from the slowest of what has to
be done, and a word for that. What a launch waits for beside, and the launch itself, are not in it, so times serve to
compare mappings, not to promise something.

Rates are those of data sheets, of the SXM modules: NVIDIA A100 Tensor Core GPU (2020; 40 GB), NVIDIA H100 Tensor Core
GPU (2023), NVIDIA Blackwell Datasheet (2024; HGX B200). Multiprocessors issue four instructions for whole warps a
clock, and shared memory gives 32 banks of four bytes a clock (CUDA C++ Programming Guide, "Compute Capabilities"). What
the second-level cache gives is said in NVIDIA A100 Tensor Core GPU Architecture (2020), and taken to be so of the
others; that first-level ones spare it some is left out. Of memory's rate, copies on an H100 reached 0.9; of a chain of
operations, each waits four clocks for the one before (Citadel: Dissecting the NVIDIA Volta GPU Architecture, 2018).
"""

from __future__ import annotations

from sacpy.nodes import Node
from sacpy.withloop.devices import DeviceLimits
from sacpy.withloop.occupancy import Occupancy

LANES = 128  # threads of a multiprocessor whose instructions are issued in a clock: four warps
BANKS = 128  # bytes that shared memory gives a multiprocessor in a clock
SECOND = 48  # the same of the second-level cache: 5120 bytes a clock for the 108 of an A100
REACHED = 0.9  # of the memory's rate, by copies
CHAIN = 4  # clocks from one instruction of a thread to the next that needs its result
LATENCY = 600e-9  # seconds that memory lets wait, about: what is asked for meanwhile is in flight

_PROCESSOR = 16384.0  # bytes that a multiprocessor has in flight then, where there are no figures


class Rates(Node):
    """Of a card: bytes of memory and operations on reals a second (a multiply-add is two, and so is an addition or a
    product alone, which takes its place), `clock` in Hz,
    `processors`: the multiprocessors that the figures are for. `multiplied_single`, `multiplied_double`: operations of
    tensor cores, on tf32 (of dense matrices) and on doubles. `card`: its name."""

    card: str
    processors: int
    memory: float
    single: float
    double: float
    clock: float
    multiplied_single: float
    multiplied_double: float


RATES = {
    "sm_80": Rates("A100", 108, 1.555e12, 19.5e12, 9.7e12, 1.41e9, 156e12, 19.5e12),
    "sm_90": Rates("H100", 132, 3.35e12, 67e12, 34e12, 1.98e9, 494e12, 67e12),
    "sm_100": Rates("B200", 148, 7.7e12, 75e12, 37e12, 1.98e9, 1100e12, 37e12),
}


class Work(Node):
    """What a launch does in all: `instructions` of threads; operations on reals, `single` and `double`; `requested`:
    bytes that warps ask caches and memory for, in whole sectors; `touched`: bytes that must come from memory or go
    there at least; `shared`: bytes of shared memory; `in_flight`: bytes that a thread asks for in a row. `guessed`:
    something was not known before the launch, such as the number of a loop's rounds, and was taken to be one.
    `multiplied_single`, `multiplied_double`: operations on reals that tensor cores do."""

    instructions: float = 0.0
    single: float = 0.0
    double: float = 0.0
    requested: float = 0.0
    touched: float = 0.0
    shared: float = 0.0
    in_flight: float = 0.0
    guessed: bool = False
    multiplied_single: float = 0.0
    multiplied_double: float = 0.0


class Estimate(Node):
    """`seconds`, as `limit` takes so long; `tail`: the share of the device's time in which it has blocks for
    all multiprocessors."""

    seconds: float
    limit: str
    tail: float


def keeps_busy(device: DeviceLimits, threads: int, each: float) -> bool:
    """Whether so many threads, each of which asks for so many bytes at a time, keep the memory of a device busy."""
    rates = RATES.get(device.name)
    processor = _PROCESSOR if rates is None else rates.memory * LATENCY / rates.processors
    return min(threads, device.processors * device.threads_per_processor) * each >= device.processors * processor


def estimate(device: DeviceLimits, work: Work, blocks: int, threads: int, busy: Occupancy | None) -> Estimate | None:
    """How long a launch of so many blocks takes; None for a device without figures. `threads`: of a block; `busy`: what
    a multiprocessor holds of them, all that fit where that is not known."""
    rates = RATES.get(device.name)
    if rates is None or not blocks:
        return None
    share = device.processors / rates.processors
    held = busy.blocks if busy is not None else max(1, device.threads_per_processor // max(threads, 1))
    if not held:
        return None
    waves = blocks / (held * device.processors)
    # of the last wave some multiprocessors have nothing; of less than one, those that have a block at all
    tail = waves / -(-waves // 1) if waves > 1 else min(1.0, blocks / device.processors)
    computing = tail * share
    clocks = device.processors * rates.clock * tail
    resident = min(blocks, held * device.processors) * threads
    reach = resident * max(work.in_flight, 1.0) / LATENCY
    times = {
        "memory": work.touched / (REACHED * rates.memory * share),
        "what is in flight": work.touched / reach,
        "arithmetic": work.single / (rates.single * computing) + work.double / (rates.double * computing),
        "tensor cores": work.multiplied_single / (rates.multiplied_single * computing)
        + work.multiplied_double / (rates.multiplied_double * computing),
        "instructions": work.instructions / (LANES * clocks),
        "each thread by itself": work.instructions / (blocks * threads) * max(1.0, waves) * CHAIN / rates.clock,
        "caches": work.requested / (SECOND * clocks),
        "shared memory": work.shared / (BANKS * clocks),
    }
    limit = max(times, key=lambda name: times[name])
    return Estimate(times[limit], limit, tail)
