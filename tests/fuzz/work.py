"""Some seeds, examined in a process of their own.

In: seeds. Out: `Findings`: what differed, and what was covered. A program that makes the compiler fail with an exception counts as one that differs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from sacpy.jit.cache import Cache
from tests.fuzz.coverage import Coverage, recording
from tests.fuzz.devices import EMULATOR
from tests.fuzz.differential import WAYS, Outcome, Ways, compare, native, same, small_chunks
from tests.fuzz.programs import case

CHUNK = 40


@dataclass
class Findings:
    """What came of some programs. `failures`: a line for each way of each that differs."""

    programs: int = 0
    calls: int = 0
    errors: int = 0
    refused: int = 0
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
        for engine in outcome.engines.values():
            self.coverage.engine(engine)
        self.failures += [f"seed {seed}: {way}: {_first(outcome, way)}" for way in outcome.different]

    def merge(self, other: Findings) -> None:
        """Adds what another has found."""
        self.programs += other.programs
        self.calls += other.calls
        self.errors += other.errors
        self.refused += other.refused
        self.failures += other.failures
        self.coverage.merge(other.coverage)


def _first(outcome: Outcome, way: str) -> str:
    for (name, _), a, b in zip(outcome.case.calls, outcome.expected, outcome.different[way]):
        if not same(a, b, strict="strict" in way):
            return f"{name} gives {_short(b)} instead of {_short(a)}"
    return ""


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) < 120 else text[:117] + "..."


def examined(seed: int, ways: Ways = WAYS) -> Outcome | str:
    """What comes of a seed's program; a text where something failed that should not."""
    try:
        return compare(case(seed), ways)
    except Exception as error:  # whatever the compiler may fail with is a finding
        return f"{type(error).__name__}: {_short(error)}"


def work(seeds: range) -> Findings:
    """Examines seeds. Some programs are also compiled into a cache, and run out of it; some run on the emulator of a GPU."""
    findings = Findings()
    with recording(findings.coverage), small_chunks(), TemporaryDirectory() as folder:
        kept = {way: (lambda: native(strict_fp=True, threads=2, cache=Cache(Path(folder)))) for way in ("strict, kept", "strict, from the cache")}
        for seed in seeds:
            findings.add(seed, examined(seed, WAYS | kept if seed % 8 == 0 else WAYS | EMULATOR if seed % 8 == 4 else WAYS))
    return findings
