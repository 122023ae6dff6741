"""`python -m benchmarks kernels`: what kernels do, counted on the interpreter of PTX, beside CUDA C by hand.

In: names of kernels. Out: a table for each, rows with limits, and whether something is over its limit. Nothing but a
call from Python (`calls`) is timed: the other numbers are the same on every machine.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.kernels import calls
from benchmarks.kernels.programs import USE, Classic, classics
from benchmarks.measure import Row, aligned, as_json, table
from sacpy.jit.emission import toolchain
from tests.ptx.counts import Counts
from tests.ptx.direct import run
from tests.ptx.driver import PtxCuda
from tests.ptx.sessions import session
from tests.ptx.validation import compiled

ARCHITECTURE = "sm_90"
FRONTS = ("libnvvm", "nvptx")
FRONTS_APART = 1.1  # instructions by one front end over those by the other, at most
BY_HAND = Path(__file__).with_name("by_hand.cu")


@dataclass
class Found:
    """What the launches of one version do. `instructions`: of threads, per element; `sectors`: those asked for over the
    least that the accesses need; `asked`: the bytes of these per element; `passes`: of shared memory, over the least;
    `dram`: the bytes touched, over the least; `registers`, `spilled` (bytes): by ptxas, of the kernel that needs most;
    `barriers`: that a block comes to, of all launches."""

    version: str
    instructions: float
    sectors: float
    asked: float
    passes: float
    dram: float
    registers: int
    spilled: int
    barriers: float
    launches: int


def show(only: Sequence[str]) -> tuple[dict[str, Any], bool]:
    """Counts the chosen kernels, prints tables. Raises ValueError for a name that none has."""
    chosen = [c for c in classics() if not only or any(fnmatch(c.name, f"*{o}*") for o in only)]
    calling = not only or any(fnmatch(calls.NAME, f"*{o}*") for o in only)
    if not chosen and not calling:
        names = [*(c.name for c in classics()), calls.NAME]
        raise ValueError(f"there is no kernel {only[0]}; there are {'; '.join(names)}")
    by_hand = compiled(BY_HAND, ARCHITECTURE) if toolchain.program("nvcc") else None
    needs = {} if by_hand is None else resources(by_hand)
    report: dict[str, Any] = {}
    rows: list[Row] = []
    for c in chosen:
        found = [counted(c, front) for front in FRONTS]
        peer = None if by_hand is None else counted_by_hand(c, by_hand, needs)
        print(_table(c, [*found, *([peer] if peer else [])]), flush=True)
        rows += limits(c, found, peer)
        report[c.name] = [asdict(f) for f in (*found, *([peer] if peer else []))]
    rows += [calls.row()] if calling else []
    print(table("\nlimits", rows))
    if by_hand is None:
        print("left out: the kernels by hand (there is no nvcc)")
    return {"kernels": report, "limits": [as_json(r) for r in rows]}, any(r.verdict == "OVER" for r in rows)


def counted(c: Classic, front: str) -> Found:
    """sacpy's kernels by a front end. Raises `AssertionError` where the result or an access is wrong."""
    gpu = PtxCuda(
        ARCHITECTURE,
        front,
        races=False,
        counting=True,
        memory=1 << 26,
        most_blocks=c.most_blocks,
        processors=c.processors,
    )
    result = session(gpu).compile(USE + c.source).f(*c.args)
    if c.most_blocks is None:
        assert gpu.findings.lines() == [], gpu.findings.lines()
        assert np.isfinite(np.asarray(result)).all()
    launched = [(code.decode(), n) for code, n in gpu.counts.items()]
    needs = [need for code, _ in launched for need in resources(code).values()]
    return _found(c, front, [n for _, n in launched], needs)


def counted_by_hand(c: Classic, ptx: str, needs: dict[str, tuple[int, int]]) -> Found:
    """The kernel by hand."""
    counts = Counts()
    given = [np.int32(n) for n in c.given]
    result = np.zeros(c.result, c.args[0].dtype)
    args = [*given, *(np.ascontiguousarray(a) for a in c.args), result]
    found = run(ptx, c.entry, c.grid, c.block, args, races=False, counts=counts, most_blocks=c.most_blocks)
    if c.most_blocks is None:
        assert found.lines() == [], found.lines()
    return _found(c, "by hand", [counts], [needs[c.entry]])


def _found(c: Classic, version: str, counts: Sequence[Counts], needs: Sequence[tuple[int, int]]) -> Found:
    total = asked = least = passes = least_passes = touched = barriers = 0.0
    for n in counts:
        whole = n.blocks / max(n.ran, 1)  # of a launch, perhaps only some blocks were executed
        total += whole * n.threads.total()
        barriers += n.barriers / max(n.ran, 1)
        touched += sum(len(s) for s in n.sectors.values()) * 32
        for t in n.traffic.values():
            if t.space == "shared":
                passes += t.units
                least_passes += t.least
            else:
                asked += whole * t.units
                least += whole * t.least
    sampled = c.most_blocks is not None
    return Found(
        version,
        total / c.elements,
        asked / max(least, 1),
        asked * 32 / c.elements,
        passes / max(least_passes, 1),
        float("nan") if sampled else touched / c.least,
        max(registers for registers, _ in needs),
        max(spilled for _, spilled in needs),
        barriers,
        sum(n.launches for n in counts),
    )


def resources(ptx: str, architecture: str = ARCHITECTURE) -> dict[str, tuple[int, int]]:
    """Registers of a thread and bytes spilled, by kernel, as ptxas has it. Raises `FileNotFoundError` where there is
    none, `CalledProcessError` where it refuses the text."""
    ptxas = toolchain.program("ptxas")
    if ptxas is None:
        raise FileNotFoundError("ptxas")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "kernel.ptx")
        source.write_text(ptx)
        command = [str(ptxas), "-v", f"-arch={architecture}", "-o", str(source.with_suffix(".cubin")), str(source)]
        log = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    found: dict[str, tuple[int, int]] = {}
    for part in re.split(r"Compiling entry function '", log)[1:]:
        spilled = sum(int(n) for n in re.findall(r"(\d+) bytes spill", part))
        used = re.search(r"Used (\d+) registers", part)
        assert used is not None, part
        found[part.partition("'")[0]] = (int(used[1]), spilled)
    return found


def limits(c: Classic, found: Sequence[Found], peer: Found | None) -> list[Row]:
    """What may not be more."""
    rows: list[Row] = []
    for f in found:
        name = f"{c.name}, {f.version}"
        if peer is not None:
            note = f"{f.instructions:.2f} against {peer.instructions:.2f} instructions"
            ratio = f.instructions / peer.instructions
            rows.append(Row(f"{name}: instructions", ratio, "x", ratio, ratio, c.limit, note))
        rows.append(Row(f"{name}: sectors over the least", f.sectors, "x", f.sectors, f.sectors, c.sectors))
        if f.passes:
            rows.append(Row(f"{name}: passes over the least", f.passes, "x", f.passes, f.passes, c.passes))
        if f.spilled:
            rows.append(Row(f"{name}: bytes spilled", f.spilled, "", f.spilled, f.spilled, 0))
    low, high = sorted(f.instructions for f in found)
    rows.append(Row(f"{c.name}: one front end over the other", high / low, "x", high / low, high / low, FRONTS_APART))
    return rows


def _table(c: Classic, found: Sequence[Found]) -> str:
    head = (
        "", "instructions", "sectors/least", "bytes asked", "passes/least", "DRAM/least", "registers", "spilled",
        "barriers", "launches",
    )  # fmt: skip
    cells = [
        (
            f.version,
            f"{f.instructions:.2f}",
            f"{f.sectors:.2f}",
            f"{f.asked:.2f}",
            f"{f.passes:.2f}",
            f"{f.dram:.2f}",
            str(f.registers),
            str(f.spilled),
            f"{f.barriers:.1f}",
            str(f.launches),
        )
        for f in found
    ]
    return aligned(f"\n{c.name}: per element, on {ARCHITECTURE}", [head, *cells])
