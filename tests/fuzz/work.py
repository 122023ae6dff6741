"""Some seeds, examined one by one.

In: seeds. Out: `Findings`: what differed, and what was covered. A program that makes the compiler fail with an
exception counts as one that differs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from sacpy.jit.cache import Cache
from tests.fuzz.coverage import Coverage, recording
from tests.fuzz.devices import EMULATOR
from tests.fuzz.differential import (
    DEFAULT,
    QUICK_DEFAULT,
    QUICK_STRICT,
    STRICT,
    Outcome,
    Ways,
    compare,
    native,
    same,
    small_chunks,
)
from tests.fuzz.paces import wandering
from tests.fuzz.seeds import case


@dataclass
class Findings:
    """What came of some programs. `failures`: a line for each way of each that differs. `verdicts`: how the results of
    calls compare with the interpreter's."""

    programs: int = 0
    calls: int = 0
    errors: int = 0
    refused: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    coverage: Coverage = field(default_factory=Coverage)

    def add(self, seed: int, outcome: Outcome | str) -> None:
        """One more."""
        self.programs += 1
        if isinstance(outcome, str):
            self.failures.append(f"seed {seed}: {outcome}")
            return
        self.calls += len(outcome.expected)
        self.errors += sum(isinstance(e, str) for e in outcome.expected)
        self.refused += bool(outcome.refused_before)
        self.verdicts += outcome.verdicts
        for engine in outcome.engines.values():
            self.coverage.engine(engine)
        self.failures += [f"seed {seed}: {way}: {_first(outcome, way)}" for way in outcome.different]

    def merge(self, other: Findings) -> None:
        """Adds what another has found."""
        self.programs += other.programs
        self.calls += other.calls
        self.errors += other.errors
        self.refused += other.refused
        self.verdicts += other.verdicts
        self.failures += other.failures
        self.coverage.merge(other.coverage)


def _first(outcome: Outcome, way: str) -> str:
    for (name, _), a, b in zip(outcome.case.calls, outcome.expected, outcome.different[way]):
        if not same(a, b):
            return f"{name} gives {_short(b)} instead of {_short(a)}"
    return ""


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) < 120 else text[:117] + "..."


def ways(seed: int) -> Ways:
    """How a seed's program is run: strict and not. In most programs LLVM does as little as it may, in many all that it
    does for users in one of the two; some go to the emulator of a GPU as well, and some enter and leave their loops in
    the middle."""
    r = Random(f"ways {seed}")
    chosen = r.choices(
        (QUICK_STRICT | QUICK_DEFAULT, STRICT | QUICK_DEFAULT, QUICK_STRICT | DEFAULT, STRICT | DEFAULT), (10, 4, 5, 1)
    )[0]
    if r.random() < 1 / 6:
        chosen = chosen | wandering(seed)
    return chosen | EMULATOR if r.random() < 1 / 24 else chosen


def examined(seed: int, more: Ways | None = None) -> Outcome | str:
    """What comes of a seed's program, in its ways and some more; a text where something failed that should not."""
    try:
        return compare(case(seed), ways(seed) | (more or {}))
    except Exception as error:  # whatever the compiler may fail with is a finding
        return f"{type(error).__name__}: {_short(error)}"


def each(seeds: range) -> Iterator[Findings]:
    """Examines seeds, one after the other. Some programs are also compiled into a cache, and run out of it."""
    with small_chunks(), TemporaryDirectory() as folder:
        kept = {
            way: (lambda: native(strict_fp=True, threads=2, cache=Cache(Path(folder))))
            for way in ("strict, kept", "strict, from the cache")
        }
        for seed in seeds:
            findings = Findings()
            with recording(findings.coverage):
                findings.add(seed, examined(seed, kept if seed % 24 == 0 else None))
            yield findings


def work(seeds: range) -> Findings:
    """What comes of some seeds, together."""
    findings = Findings()
    for found in each(seeds):
        findings.merge(found)
    return findings
