"""The benchmarks of the suite in SaC, against C, NumPy and Numba, in one process run.

In: benchmarks, a size, and what runs the SaC side. Out: for each a `Comparison`: warm times taken in turns, and, from
fresh processes, the time to the first result and the peak memory; as tables and as JSON; and what is over its limit.
Versions that this machine cannot run are left out, with the reason.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.clib import NoCompiler
from benchmarks.compiling import Compiling, compile_times, medians
from benchmarks.measure import Row, Timing, aligned, duration, in_turns, ratio, seconds_text
from benchmarks.suite import VERSIONS, Benchmark

ROOT = Path(__file__).resolve().parent.parent
PEERS = VERSIONS[1:]
AT_LEAST = 0.002  # seconds of a repetition
PAUSE = 0.01  # seconds between two, longer than the threads of OpenMP spin


@dataclass(frozen=True, slots=True)
class First:
    """A first result in a fresh process: seconds with empty caches, seconds with what that left in the caches on disk;
    and the most bytes that a further call took, its result included."""

    cold: float
    warm: float
    peak: int | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was measured of one benchmark, by version."""

    name: str
    size: int
    warm: dict[str, Timing]
    first: dict[str, First]
    missing: dict[str, str]
    compiling: Compiling | None = None


def compare(benchmark: Benchmark, label: str, target: str, repetitions: int) -> Comparison:
    """Measures a benchmark at one size. Raises AssertionError if two versions disagree."""
    size = benchmark.size(label)
    inputs = benchmark.inputs(size)
    runs: dict[str, Any] = {}
    missing: dict[str, str] = {}
    for version in VERSIONS:
        try:
            runs[version] = benchmark.version(version, target)
        except (ImportError, NoCompiler) as reason:
            missing[version] = str(reason)
    wanted = runs["numpy"](*inputs)
    for run in runs.values():
        benchmark.check(run(*inputs), wanted)
    actions = {version: (lambda run=run: run(*inputs)) for version, run in runs.items()}
    warm = in_turns(actions, repetitions, AT_LEAST, PAUSE)
    first = {v: _first(benchmark, v, label, target) for v in runs}
    compiling = None if target == "interp" else compile_times(benchmark, label, target, min(repetitions, 5))
    return Comparison(benchmark.name, size, warm, first, missing, compiling)


def _first(benchmark: Benchmark, version: str, label: str, target: str) -> First:
    with tempfile.TemporaryDirectory() as cache:
        cold = _probe(benchmark, version, label, target, cache)
        warm = _probe(benchmark, version, label, target, cache)
    return First(cold["first"], warm["first"], warm["peak"])


def _probe(benchmark: Benchmark, version: str, label: str, target: str, cache: str) -> dict[str, Any]:
    environment = {**os.environ, "SACPY_CACHE_DIR": cache, "NUMBA_CACHE_DIR": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # all that is installed is there as byte code
    command = [sys.executable, "-m", "benchmarks.probe", benchmark.name, version, label, target]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, cwd=ROOT, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def warm_table(title: str, found: Sequence[Comparison]) -> str:
    """Medians, and our time over each peer's: the median of the repetitions, the lowest and the highest; geometric
    means at the end."""
    cells = [("", "size", *VERSIONS, *(f"to {peer}" for peer in PEERS))]
    for c in found:
        medians = [seconds_text(c.warm[v].median) if v in c.warm else "-" for v in VERSIONS]
        cells.append((c.name, str(c.size), *medians, *(_ratio_text(c, peer) for peer in PEERS)))
    cells.append(("geometric mean", "", *("" for _ in VERSIONS), *(_mean_text(found, peer) for peer in PEERS)))
    return aligned(title, cells)


def first_table(title: str, found: Sequence[Comparison]) -> str:
    """Time to the first result with empty caches and with those on disk, and the peak memory of a call, its result
    included."""
    versions = ("sac", "numba")
    cells = [
        ("", *(f"{v}, {kind}" for v in versions for kind in ("cold", "from disk")), *(f"{v}, MiB" for v in VERSIONS))
    ]
    for c in found:
        times = [
            seconds_text(s) for v in versions for s in ((c.first[v].cold, c.first[v].warm) if v in c.first else ())
        ]
        times += ["-"] * (4 - len(times))
        peaks = [c.first[v].peak if v in c.first else None for v in VERSIONS]
        cells.append((c.name, *times, *("-" if p is None else f"{p / 2**20:.1f}" for p in peaks)))
    return aligned(title, cells)


def compile_table(title: str, found: Sequence[Comparison]) -> str:
    """Time until there is native code: newly compiled, and out of the cache on disk."""
    cells = [("", "new", "(lowest..highest)", "from disk", "(lowest..highest)", "what")]
    for c in found:
        if c.compiling is not None:
            spans = [
                (seconds_text(statistics.median(t)), f"({seconds_text(min(t))}..{seconds_text(max(t))})")
                for t in (c.compiling.new, c.compiling.kept)
            ]
            cells.append((c.name, *spans[0], *spans[1], "whole function" if c.compiling.whole else "with-loop"))
    return aligned(title, cells, left=(0, 5))


MEAN_TO_C, MOST_TO_C, MATMUL_TO_BLAS, FIRST_TO_NUMBA = 1.1, 1.6, 2.0, 0.2


def limits(found: Sequence[Comparison]) -> list[Row]:
    """What compiled SaC must keep to, against its peers at one size, and what it does; each benchmark that is over the
    limit by itself has a row of its own."""
    rows = []
    for peer, most in (("c", MEAN_TO_C), ("numba", 1.0)):
        mean = geometric_mean(found, peer)
        if mean is not None:
            each = [_median_ratio(c, peer) for c in found if peer in c.warm]
            rows.append(Row(f"geometric mean of the time over that of {peer}", mean, "x", min(each), max(each), most))
            best = [_best_ratio(c, peer) for c in found if peer in c.warm]
            rows.append(
                Row(
                    f"the same of the shortest repetitions, {peer}",
                    statistics.geometric_mean(best),
                    "x",
                    min(best),
                    max(best),
                    most,
                )
            )
    for c in found:
        for peer, most in (("c", MOST_TO_C), *((("numpy", MATMUL_TO_BLAS),) if c.name == "matmul" else ())):
            if peer in c.warm and (_median_ratio(c, peer) > most or peer == "numpy"):
                rows.append(ratio(f"{c.name}, over {peer}", c.warm["sac"], c.warm[peer], most))
            if peer in c.warm and (_best_ratio(c, peer) > most or peer == "numpy"):
                rows.append(
                    Row(
                        f"the same of the shortest repetitions, {c.name}, {peer}",
                        _best_ratio(c, peer),
                        "x",
                        _best_ratio(c, peer),
                        _best_ratio(c, peer),
                        most,
                    )
                )
    for kind, name, most in (("cold", "with empty caches", FIRST_TO_NUMBA), ("warm", "from disk", 1.0)):
        each = [
            getattr(c.first["sac"], kind) / getattr(c.first["numba"], kind)
            for c in found
            if {"sac", "numba"} <= c.first.keys()
        ]
        if each:
            rows.append(
                Row(
                    f"first result {name} over that of numba, geometric mean",
                    statistics.geometric_mean(each),
                    "x",
                    min(each),
                    max(each),
                    most,
                )
            )
    for name, (seconds, most) in medians([c.compiling for c in found if c.compiling is not None]).items():
        rows.append(duration(f"{name}, median over the benchmarks", [seconds], "ms", most * 1e3))
    return rows


def _median_ratio(c: Comparison, peer: str) -> float:
    return ratio(c.name, c.warm["sac"], c.warm[peer]).value


def _best_ratio(c: Comparison, peer: str) -> float:
    """Our shortest repetition over a peer's: what is left where other work on the machine stretches most of them."""
    return min(c.warm["sac"].seconds) / min(c.warm[peer].seconds)


def geometric_mean(found: Sequence[Comparison], peer: str) -> float | None:
    """The geometric mean of our time over a peer's."""
    ratios = [ratio(c.name, c.warm["sac"], c.warm[peer]).value for c in found if peer in c.warm]
    return statistics.geometric_mean(ratios) if ratios else None


def as_json(c: Comparison) -> dict[str, Any]:
    """A comparison for the JSON report."""
    return {
        "name": c.name,
        "size": c.size,
        "seconds": {v: list(t.seconds) for v, t in c.warm.items()},
        "median": {v: t.median for v, t in c.warm.items()},
        "best ratio": {p: _best_ratio(c, p) for p in PEERS if p in c.warm},
        "ratio": {p: ratio(c.name, c.warm["sac"], c.warm[p]).value for p in PEERS if p in c.warm},
        "first": {v: {"cold": f.cold, "from disk": f.warm, "peak": f.peak} for v, f in c.first.items()},
        "missing": c.missing,
        "compiling": None if c.compiling is None else asdict(c.compiling),
    }


def _ratio_text(c: Comparison, peer: str) -> str:
    if peer not in c.warm:
        return "-"
    r = ratio(c.name, c.warm["sac"], c.warm[peer])
    return f"{r.value:.3g} ({r.low:.3g}..{r.high:.3g})"


def _mean_text(found: Sequence[Comparison], peer: str) -> str:
    mean = geometric_mean(found, peer)
    return "-" if mean is None else f"{mean:.3g}"
