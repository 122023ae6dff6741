"""Scans, histograms, sorts and segments of the library as launches, counted on the interpreter of PTX: the second table
of `python -m benchmarks blocks`.

In: names of algorithms. Out: a table: how many launches, what a block's barriers and shared memory are, the bytes that
are moved between memory and the device for each element, and between host and device beside arguments and results; with
what the thesis and CUB need. Nothing is timed. (Thesis: Svensson, Embedded Languages for Data-Parallel Programming,
2013. CUB: NVIDIA, CCCL 3.0, "Device-wide Primitives": a scan by decoupled look-back moves 2n, a radix sort of 32 bits
has four passes of that kind behind one for all histograms.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from typing import Any

import numpy as np

from benchmarks.blocks import ARCHITECTURE, SHARED
from benchmarks.kernels.command import FRONTS, resources
from benchmarks.measure import aligned
from sacpy.jit.emission import toolchain
from tests.ptx.driver import PtxCuda
from tests.ptx.sessions import session

N = 1 << 16
FEW = 5056  # enough for the same kernels
TARGETS = ("sm_80", "sm_90", "sm_100")
Array = np.ndarray[Any, Any]
HEAD = "use Array: all; use Scan: all; use Histogram: all; use Segmented: all; use Select: all; use Sort: all;\n"
SPLITS = """
int[n] split(int b, int[n] v)
{
  ones = { [i] -> (v[i] >> b) & 1 | [i] < [n] };
  zeros = 1 - ones;
  below = cumsum_exclusive(zeros);
  above = cumsum_exclusive(ones);
  count = sum(zeros);
  place = { [i] -> ones[i] == 0 ? below[i] : count + above[i] | [i] < [n] };
  return scatter_last(v, place, v);
}
int[n] f(int[n] v) { for (b = 0; b < 8; b++) { v = split(b, v); } return v; }
"""


@dataclass
class Algorithm:
    """A function f of the arguments, what NumPy says, and what is known of others. `least`: bytes for each element that
    must be moved: arguments and results once."""

    name: str
    text: str
    arguments: tuple[Any, ...]
    wanted: Callable[..., Any]
    least: float
    others: str


def algorithms(n: int = N) -> list[Algorithm]:
    """All of them, on so many elements."""
    rng = np.random.default_rng(3)
    v = rng.integers(-99, 99, n).astype(np.int32)
    k = rng.integers(0, 256, n).astype(np.int32)
    w = rng.integers(0, 99, n).astype(np.float64)
    rows = np.sort(rng.integers(0, n, n // 16 + 1)).astype(np.int32)
    rows[0], rows[-1] = 0, n
    sums = "int[.] f(int[n] v) { return cumsum(v); }"
    flags = "int[.] f(int[n] v) { return cumsum_by_flags(v > 90, v); }"
    return [
        Algorithm("scan, int", sums, (v,), np.cumsum, 8, "CUB: 2 launches, 8 bytes; thesis: 3 launches"),
        Algorithm("scan, double", sums.replace("int", "double"), (w,), np.cumsum, 16, "CUB: 2 launches, 16 bytes"),
        Algorithm("scan by flags, int", flags, (v,), _by_flags, 8, "CUB (by key): 2 launches"),
        Algorithm(
            "map, scan, map", "int[.] f(int[n] v) { return cumsum(v * v) + v; }", (v,),
            lambda v: np.cumsum(v * v) + v, 8, "-",
        ),
        Algorithm(
            "histogram, 256", "int[.] f(int[n] k) { return bincount(256, k); }", (k,),
            lambda k: np.bincount(k, None, 256), 4, "CUB: 2 launches; thesis: atomics",
        ),
        Algorithm(
            "histogram, 65536", "int[.] f(int[n] k) { return bincount(65536, k * 256); }", (k,),
            lambda k: np.bincount(k * 256, None, 65536), 8, "CUB: 2 launches",
        ),
        Algorithm(
            "weights by key, 256", "double[.] f(int[n] k, double[n] w) { return bincount(256, k, w); }", (k, w),
            lambda k, w: np.bincount(k, w, 256), 12, "CUB: sort by key, then reduce by key",
        ),
        Algorithm(
            "counting sort, 256", "int[.] f(int[n] k) { return segment_ids(segment_offsets(bincount(256, k))); }", (k,),
            np.sort, 8, "thesis: 7 launches",
        ),
        Algorithm(
            "radix sort, 8 bits by splits", SPLITS, (k,), np.sort, 64, "CUB: 3 launches, 12 bytes (a pass of 8 bits)"
        ),
        Algorithm(
            "radix sort, ubyte", "ubyte[.] f(ubyte[n] k) { return sort(k); }", (k.astype(np.uint8),), np.sort, 2,
            "CUB: 3 launches, 3 bytes (a pass of 8 bits)",
        ),
        Algorithm(
            "radix sort, int", "int[.] f(int[n] v) { return sort(v); }", (v * 19088743,), np.sort, 8,
            "CUB: 6 launches, 36 bytes",
        ),
        Algorithm(
            "argsort, int", "int[.] f(int[n] v) { return argsort(v); }", (v * 19088743,),
            lambda v: np.argsort(v, kind="stable"), 8, "CUB (pairs): 6 launches, 68 bytes",
        ),
        Algorithm(
            "filter, int", "int[.] f(int[n] v) { return filter(v > 0, v); }", (v,), lambda v: v[v > 0], 6,
            "CUB: 2 launches, 7 bytes",
        ),
        Algorithm(
            "map, filter, map", "int[.] f(int[n] v) { return filter(v > 0, v * v) + 1; }", (v,),
            lambda v: (v * v)[v > 0] + 1, 6, "-",
        ),
        Algorithm(
            "sums of segments, 16 long", "int[.] f(int[m] o, int[n] v) { return segment_sum(o, v); }", (rows, v),
            _segments, 4.5, "CUB: 1 launch",
        ),
        Algorithm(
            "sort of rows of 32", "int[.,.] f(int[.,.] a) { return sort(1, a); }", (k.reshape(-1, 32),),
            lambda a: np.sort(a, 1), 8, "CUB: 2 launches or more; thesis: `vsort`",
        ),
    ]  # fmt: skip


def _by_flags(v: Array) -> Array:
    begun = np.maximum.accumulate(np.where(v > 90, np.arange(v.size), -1))
    total = np.cumsum(v)
    return total - np.where(begun > 0, total[begun - 1], 0)


def _segments(rows: Array, v: Array) -> Array:
    total = np.concatenate([[0], np.cumsum(v)])
    return total[rows[1:]] - total[rows[:-1]]


@dataclass
class Counted:
    """`instructions`: of threads, per element; `moved`: bytes of global memory touched, all launches, per element;
    `barriers`, `shared`: of the block that has most; `back`: bytes copied to the host beside the result."""

    front: str
    launches: int
    instructions: float
    moved: float
    barriers: float
    shared: int
    registers: int | None
    sent: int
    back: int


def counted(a: Algorithm, front: str) -> Counted:
    """An algorithm by a front end. Raises `AssertionError` where the result or an access is wrong."""
    gpu = PtxCuda(ARCHITECTURE, front, counting=True, races=False, memory=1 << 28)
    there = session(gpu)
    result = np.asarray(there.define(HEAD + a.text).f(*a.arguments))
    assert np.array_equal(result, a.wanted(*a.arguments)), a.name
    assert gpu.findings.lines() == [], gpu.findings.lines()
    counts = [(code.decode(), n) for code, n in gpu.counts.items()]
    size = a.arguments[-1].size
    needs = [r for code, _ in counts for r, _ in resources(code).values()] if toolchain.program("ptxas") else []
    transfers = there._workspace.engine.engine.tools.device.memory.transfers  # type: ignore[union-attr]
    return Counted(
        front,
        sum(n.launches for _, n in counts),
        sum(n.threads.total() for _, n in counts) / size,
        sum(len(s) * 32 for _, n in counts for s in n.sectors.values()) / size,
        max(n.barriers / max(n.ran, 1) for _, n in counts),
        max(sum(int(s) for s in SHARED.findall(code)) for code, _ in counts),
        max(needs) if needs else None,
        transfers.bytes_in - sum(x.nbytes for x in a.arguments),
        transfers.bytes_out - result.nbytes,
    )


def assembled(a: Algorithm, architecture: str, front: str) -> int:
    """How many kernels of an algorithm ptxas has assembled for an architecture. Raises `CalledProcessError` where it
    refuses one."""
    gpu = PtxCuda(architecture, front, races=False, memory=1 << 28)
    session(gpu).define(HEAD + a.text).f(*a.arguments)
    for code in gpu.programs:
        resources(code.decode(), architecture)
    return len(gpu.programs)


def show(only: Sequence[str]) -> dict[str, Any]:
    """Counts the chosen algorithms, prints a table."""
    found = {
        a.name: (a, [counted(a, front) for front in FRONTS])
        for a in algorithms()
        if not only or any(fnmatch(a.name, o) for o in only)
    }
    head = ("", "launches", *FRONTS, "moved", "least", "barriers", "shared", "registers", "to host", "others")
    cells = [
        (
            name,
            str(both[0].launches),
            *(f"{c.instructions:.1f}" for c in both),
            f"{both[0].moved:.1f}",
            f"{a.least:g}",
            f"{both[0].barriers:.0f}",
            str(both[0].shared),
            str(both[0].registers or "-"),
            str(both[0].back),
            a.others,
        )
        for name, (a, both) in found.items()
    ]
    title = f"\nalgorithms on {N} elements: launches; instructions and bytes moved per element, on {ARCHITECTURE}"
    print(aligned(title, [head, *cells]), flush=True)
    if toolchain.program("ptxas"):
        few = [a for a in algorithms(FEW) if a.name in found]
        made = {(where, front): sum(assembled(a, where, front) for a in few) for where in TARGETS for front in FRONTS}
        print("assembled by ptxas: " + ", ".join(f"{n} kernels for {w} by {f}" for (w, f), n in made.items()))
    return {name: [asdict(c) for c in both] for name, (_, both) in found.items()}
