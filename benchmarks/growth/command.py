"""All of it: compiles generated functions in processes of their own, prints tables, holds the times and the memory
against limits.

In: names of families, how often, how long. Out: the report, and rows with limits. The time of a stage is the shortest
of the repetitions: what other work on the machine adds is no growth.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.growth.generated import FAMILIES, Family
from benchmarks.measure import Row, aligned, as_json, table

ROOT = Path(__file__).resolve().parent.parent.parent
STAGES = ("check", "specialise", "optimise", "lower", "compile", "load")
EXPONENT = 1.3  # n log n between 300 and 3000 is an exponent of 1.15; the rest is for what varies
SHORT = 50.0  # milliseconds: shorter stages vary too much to tell a growth
CONSTANT, SLACK = 1.3, 30.0  # an index space may take so many times as long as a small one, plus milliseconds
MEMORY = 300.0  # MiB


@dataclass
class Compiled:
    """What a size of a family took. `stages`: milliseconds; `trouble`: why there is no code, or that it took too
    long."""

    size: int
    stages: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    peak: float = 0.0
    trouble: str = ""

    @property
    def total(self) -> float:
        return sum(self.stages.values())


def show(only: Sequence[str], repetitions: int, seconds: float) -> tuple[dict[str, Any], bool]:
    """Measures the chosen families, prints as it goes. Raises ValueError for a name that no family has."""
    unknown = [name for name in only if not any(name in f.name for f in FAMILIES)]
    if unknown:
        raise ValueError(f"there is no family {unknown[0]}; there are {', '.join(f.name for f in FAMILIES)}")
    chosen = [f for f in FAMILIES if not only or any(name in f.name for name in only)]
    found = {}
    for family in chosen:
        found[family.name] = list(_measured(family, repetitions, seconds))
        print(_table(family, found[family.name]), flush=True)
    judged = [row for family in chosen for row in limits(family, found[family.name])]
    print(table("\nlimits", judged))
    failed = any(row.verdict == "OVER" for row in judged)
    families = {name: [vars(c) for c in sizes] for name, sizes in found.items()}
    return {"families": families, "limits": [as_json(row) for row in judged]}, failed


def _measured(family: Family, repetitions: int, seconds: float) -> Iterator[Compiled]:
    """The sizes, until one takes too long."""
    for size in family.sizes:
        found = Compiled(size)
        for _ in range(repetitions):
            _compile(family, found, seconds)
        yield found
        if found.trouble.startswith("stopped"):
            return


def _compile(family: Family, found: Compiled, seconds: float) -> None:
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "SACPY_CACHE_DIR": cache}
        command = [sys.executable, "-m", "benchmarks.growth.probe", family.name, str(found.size)]
        try:
            done = subprocess.run(
                command, env=environment, stdout=subprocess.PIPE, cwd=ROOT, timeout=seconds, check=True
            )
        except subprocess.TimeoutExpired:
            found.trouble = f"stopped after {seconds:g} s"
            return
    told = json.loads(done.stdout)
    found.stages = {k: min(v, found.stages.get(k, math.inf)) for k, v in told["stages"].items()}
    found.peak = max(found.peak, (told["peak"] or 0) / 2**20)
    found.notes = told["notes"]
    found.trouble = told["refused"]


def exponents(smaller: Compiled, larger: Compiled) -> dict[str, float]:
    """With which power of the size each stage, and the total, has grown; only of what takes long enough to tell."""
    steps = math.log(larger.size / smaller.size)
    pairs = {stage: (smaller.stages.get(stage, 0.0), larger.stages.get(stage, 0.0)) for stage in STAGES}
    pairs["total"] = (smaller.total, larger.total)
    return {stage: math.log(b / max(a, 0.1)) / steps for stage, (a, b) in pairs.items() if b >= SHORT}


def limits(family: Family, found: Sequence[Compiled]) -> Iterator[Row]:
    """What a family must keep to."""
    for c in found:
        if c.trouble:
            yield Row(f"{family.name}, {c.size}: {c.trouble}", math.inf, "ms", math.inf, math.inf, 0.0)
    through = [c for c in found if not c.trouble]
    if not through:
        return
    peak = max(c.peak for c in through)
    yield Row(f"{family.name}: peak memory", peak, "MiB", peak, peak, MEMORY)
    first, last = through[0], through[-1]
    if family.power == 0:
        for stage in STAGES:
            taken, most = last.stages.get(stage, 0.0), CONSTANT * first.stages.get(stage, 0.0) + SLACK
            yield Row(f"{family.name}: {stage}, {last.size:g}", taken, "ms", taken, taken, most)
        grown = last.peak - first.peak
        yield Row(f"{family.name}: memory, growth", grown, "MiB", grown, grown, 10.0)
    elif len(through) > 1:
        for stage, power in exponents(through[-2], last).items():
            title = f"{family.name}: exponent of {stage}, {through[-2].size} to {last.size}"
            yield Row(title, power, "", power, power, EXPONENT)


def _table(family: Family, found: Sequence[Compiled]) -> str:
    cells: list[Sequence[str]] = [("", *STAGES, "total", "MiB", "")]
    for c in found:
        times = [f"{c.stages[s]:.1f}" if s in c.stages else "-" for s in STAGES]
        remarks = "; ".join(filter(None, (c.trouble, *c.notes)))
        cells.append((f"{c.size:g}", *times, f"{c.total:.1f}", f"{c.peak:.0f}", remarks))
    through = [c for c in found if not c.trouble]
    if family.power and len(through) > 1:
        powers = exponents(through[-2], through[-1])
        cells.append(("exponent", *(f"{powers[s]:.2f}" if s in powers else "" for s in (*STAGES, "total")), "", ""))
    return aligned(f"\n{family.name}: milliseconds", cells, left=(0, len(STAGES) + 3))
