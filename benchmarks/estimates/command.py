"""Estimates against what happened, over the programs of the repository: prints both, and how far they are apart.

In: names of cases, the seconds that a process may take. Out: the report, and rows with limits. On a busy machine
everything takes longer than it is expected to; what is to be compared then is how far ratios are apart.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from typing import Any

from benchmarks.first.cases import ROOT, Case, cases
from benchmarks.measure import Row, aligned, as_json, table

WHATS = {
    "compiling": ("statements", (0, 20, 50, 100, 200, 400, 800), 1e-3),
    "calls": ("largest argument", (0, 10, 100, 1000, 10_000, 100_000), 5e-3),
}
"""What is compared: what a size is, sizes from which on a row begins, and the seconds that are worth a row."""
MOST = 2.0  # compiling may be expected to take so many times what it takes, or that fraction, in the geometric mean
FAR = 8  # estimates that are named, of those that are farthest off
Found = tuple[str, str, int, float, float]


def show(only: Sequence[str], seconds: float) -> tuple[dict[str, Any], bool]:
    """Runs the chosen programs, prints tables. Raises ValueError for a name that no program has."""
    known = [c for c in cases().values() if c.source.suffix == ".sac" and not c.code]
    chosen = [c for c in known if not only or any(fnmatch(c.name, n) or n in (c.group, c.short) for n in only)]
    if not chosen:
        raise ValueError(f"there is no program {', '.join(only)}")
    report: dict[str, Any] = {}
    judged: list[Row] = []
    for what, (size, from_, least) in WHATS.items():
        found = [row for case in chosen for row in _run(what, case, seconds) if row[4] >= least]
        report[what] = found
        if found:
            print(_table(f"\n{what}: expected over taken, by {size}", found, from_))
            print(_named(found), flush=True)
    ratios = [expected / took for *_, expected, took in report["compiling"]]
    if ratios:
        mean = statistics.geometric_mean(ratios)
        judged.append(Row("compiling", max(mean, 1 / mean), "x", min(ratios), max(ratios), MOST))
        print(table("\nlimits", judged))
    return report | {"limits": [as_json(row) for row in judged]}, any(row.verdict == "OVER" for row in judged)


def _run(what: str, case: Case, seconds: float) -> Iterator[Found]:
    """A program's rows; none where it takes too long."""
    command = [sys.executable, "-m", "benchmarks.estimates.probe", what, str(case.source)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryDirectory() as folder:  # where programs leave their files
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment, stdout=subprocess.PIPE, timeout=seconds, check=True
            )
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as trouble:
            print(f"left out: {case.name} ({type(trouble).__name__})")
            return
    for key, size, expected, took in json.loads(done.stdout):
        yield case.name, key, size, expected, took


def _table(title: str, found: Sequence[Found], sizes: Sequence[int]) -> str:
    cells = [("from", "rows", "lowest quarter", "median", "highest quarter", "expected, ms", "taken, ms")]
    for low, high in zip(sizes, (*sizes[1:], math.inf)):
        rows = [(expected, took) for _, _, size, expected, took in found if low <= size < high]
        if len(rows) < 4:
            continue
        quarters = statistics.quantiles([expected / took for expected, took in rows], n=4)
        means = [1e3 * statistics.mean(side) for side in zip(*rows)]
        cells.append((f"{low}", f"{len(rows)}", *(f"{q:.2f}" for q in quarters), *(f"{m:.1f}" for m in means)))
    return aligned(title, cells)


def _named(found: Sequence[Found]) -> str:
    """Those that are farthest above what happened: they make somebody wait for nothing."""
    far = sorted(found, key=lambda row: row[3] / row[4], reverse=True)[:FAR]
    cells = [("", "expected, ms", "taken, ms")]
    cells += [(f"{name} {key}", f"{1e3 * expected:.1f}", f"{1e3 * took:.1f}") for name, key, _, expected, took in far]
    return aligned("farthest above:", cells)
