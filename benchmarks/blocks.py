"""`python -m benchmarks blocks`: programs of a block, counted on the interpreter of PTX, beside the figures of the
thesis that they come from.

In: names of functions in `programs/`. Out: a table, of whose rows each is a function on some rows of a matrix, and
whether one launch was not enough. Nothing is timed: the numbers are the same on every machine. The thesis (Svensson,
Embedded Languages for Data-Parallel Programming, 2013) has milliseconds on the GPUs of its time, and bytes of shared
memory.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.kernels.command import FRONTS, resources
from benchmarks.measure import aligned
from sacpy.jit.emission import toolchain
from tests.ptx.driver import PtxCuda
from tests.ptx.sessions import session

ARCHITECTURE = "sm_90"
ROWS = 4
PROGRAMS = Path(__file__).parents[1] / "programs"
SHARED = re.compile(r"\.shared \.align \d+ \.b8 [\w$.]+\[(\d+)\]")


@dataclass
class Subject:
    """A function of a program on rows of some length. `threads`: of a block; `thesis`: its threads, bytes of shared
    memory and milliseconds there."""

    name: str
    program: str
    length: int
    threads: int
    thesis: str


SUBJECTS = [
    Subject("red1", "reductions", 2048, 1024, "1024, 16384, 2.085"),
    Subject("red2", "reductions", 2048, 1024, "1024, 16384, 1.748"),
    Subject("red3", "reductions", 2048, 1024, "1024, 16384, 1.741"),
    Subject("red4", "reductions", 2048, 256, "256, 2048, 2.113"),
    Subject("red5", "reductions", 2048, 256, "256, 2048, 0.455"),
    Subject("red6", "reductions", 2048, 128, "128, 1024, 0.441"),
    Subject("red7", "reductions", 2048, 64, "64, 512, 0.441"),
    Subject("scan1", "scans", 512, 512, "512, -, 1.06"),
    Subject("scan2", "scans", 512, 256, "256, -, 0.89"),
    Subject("scan3", "scans", 512, 256, "256, -, 0.86"),
    Subject("scan4", "scans", 512, 256, "256, -, 0.79"),
    Subject("tsort", "networks", 512, 256, "256, -, 15.8"),
    Subject("vsort", "networks", 512, 256, "256, -, 9.2"),
    Subject("oesort", "networks", 512, 256, "-"),
]


@dataclass
class Counted:
    """What one launch does. `instructions`: of threads, per element; `passes`: of shared memory, over the least;
    `barriers`: of a block; `shared`: bytes of a block; `registers`: of a thread, by ptxas."""

    front: str
    instructions: float
    sectors: float
    passes: float
    barriers: float
    launches: int
    shared: int
    registers: int | None


def show(only: Sequence[str]) -> tuple[dict[str, Any], bool]:
    """Counts the chosen functions, prints a table. Raises ValueError for a name that none has."""
    from benchmarks import algorithms  # which needs this file

    names = [s.name for s in SUBJECTS] + [a.name for a in algorithms.algorithms(64)]
    if only and not any(fnmatch(name, o) for name in names for o in only):
        raise ValueError(f"there is no function {only[0]}; there are {', '.join(names)}")
    chosen = [s for s in SUBJECTS if not only or any(fnmatch(s.name, o) for o in only)]
    found = {s.name: [counted(s, front) for front in FRONTS] for s in chosen}
    head = ("", *FRONTS, "sectors", "passes", "barriers", "launches", "shared", "threads", "registers", "thesis")
    cells = [
        (
            s.name,
            *(f"{c.instructions:.2f}" for c in found[s.name]),
            f"{found[s.name][0].sectors:.2f}",
            f"{found[s.name][0].passes:.2f}",
            f"{found[s.name][0].barriers:.0f}",
            str(found[s.name][0].launches),
            str(found[s.name][0].shared),
            str(s.threads),
            "-" if found[s.name][0].registers is None else str(found[s.name][0].registers),
            s.thesis,
        )
        for s in chosen
    ]
    title = f"\nblocks: instructions per element, on {ARCHITECTURE}; thesis: threads, bytes of shared memory, ms"
    if chosen:
        print(aligned(title, [head, *cells]), flush=True)
    several = any(c.launches != 1 for many in found.values() for c in many)
    report: dict[str, Any] = {"blocks": {name: [asdict(c) for c in many] for name, many in found.items()}}
    return {**report, "algorithms": algorithms.show(only)}, several


def counted(s: Subject, front: str) -> Counted:
    """A function by a front end. Raises `AssertionError` where the result or an access is wrong."""
    m = np.random.default_rng(7).integers(-99, 99, (ROWS, s.length), dtype=np.int32)
    gpu = PtxCuda(ARCHITECTURE, front, counting=True, memory=1 << 24)
    text = (PROGRAMS / f"{s.program}.sac").read_text(encoding="utf-8")
    result = getattr(session(gpu).define(text), s.name)(m)
    wanted = {"reductions": m.sum(axis=1), "scans": m.cumsum(axis=1), "networks": np.sort(m, axis=1)}[s.program]
    assert np.array_equal(result, wanted), s.name
    assert gpu.findings.lines() == [], gpu.findings.lines()
    launched = [(code.decode(), n) for code, n in gpu.counts.items() if ".shared" in code.decode()]
    ((code, n),) = launched
    shared = [t for t in n.traffic.values() if t.space == "shared"]
    others = [t for t in n.traffic.values() if t.space != "shared"]
    registers = max(r for r, _ in resources(code).values()) if toolchain.program("ptxas") else None
    return Counted(
        front,
        n.threads.total() / m.size,
        sum(t.units for t in others) / max(1, sum(t.least for t in others)),
        sum(t.units for t in shared) / max(1, sum(t.least for t in shared)),
        n.barriers / max(n.ran, 1),
        sum(c.launches for c in gpu.counts.values()),
        sum(int(size) for size in SHARED.findall(code)),
        registers,
    )
