"""PTX of any origin run on arrays of NumPy, without sacpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ptx.counts import Counts
from tests.ptx.launch import Launch
from tests.ptx.memory import Arena, Findings
from tests.ptx.parse import parse
from tests.ptx.program import Program
from tests.ptx.races import Races


def run(
    ptx: str,
    entry: str,
    grid: tuple[int, ...],
    block: tuple[int, ...],
    args: list[Any],
    *,
    dynamic: int = 0,
    races: bool = True,
    counts: Counts | None = None,
    unset: tuple[int, ...] = (),
    most_blocks: int | None = None,
    memory: int = 1 << 26,
) -> Findings:
    """Launches once (extents: x, y, z). Arrays are copied in, and back; those numbered in `unset` are not copied in.
    Scalars are NumPy's. `dynamic`, `memory`: bytes. Raises `Trapped`."""
    arena, found = Arena(memory), Findings()
    program = Program(parse(ptx), arena, entry)
    data, places = b"", []
    for k, a in enumerate(args):
        value = a
        if isinstance(a, np.ndarray):
            address = arena.allocate(max(a.nbytes, 1))
            if k not in unset:
                arena.write(address, a)
            places.append((address, a))
            value = np.uint64(address)
        data += bytes(-len(data) % value.nbytes) + value.tobytes()
    (gx, gy, gz), (bx, by, bz) = ((*e, 1, 1, 1)[:3] for e in (grid, block))
    with np.errstate(all="ignore"):
        Launch(
            program,
            arena,
            (gx, gy, gz),
            (bx, by, bz),
            data,
            dynamic,
            found,
            races=Races() if races else None,
            counts=counts,
            most_blocks=most_blocks,
        ).run()
    for address, a in places:
        at = address - arena.base
        a.reshape(-1).view(np.uint8)[:] = arena.bytes[at : at + a.nbytes]
    return found
