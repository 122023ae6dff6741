"""Cases on all targets, and their peers, again and again.

In: cases, how often, and how long each may take. Out: `Measurements`, which know the runs of each case by what ran
it and by the state of the cache: `cold` is a process that finds no compiled code, `warm` one that finds what that
process left, and what it had begun to compile when it ended.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.clib import NoCompiler
from benchmarks.first.cases import START, Case
from benchmarks.first.processes import Run, run_case, run_peer, settle

TARGETS = ("cpu", "auto", "interp")
STATES = ("cold", "warm")
BEYOND = 4.0  # times the time of the better target so far: so long the interpreter may take; more would tell nothing


@dataclass
class Measurements:
    """The runs: by case, by target or kind of peer, by state."""

    runs: dict[tuple[str, str, str], list[Run]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    load: float = 0.0

    def of(self, case: str, who: str, state: str) -> list[Run]:
        return self.runs.get((case, who, state), [])

    def good(self, case: str, who: str, state: str) -> bool:
        """Whether there are runs, and all of them ended with what they should print."""
        runs = self.of(case, who, state)
        return bool(runs) and all(r.good for r in runs)

    def seconds(self, case: str, who: str, state: str) -> float | None:
        """The median; None where a run is missing, went wrong or was late."""
        return self._median(case, who, state, lambda r: r.seconds)

    def memory(self, case: str, who: str, state: str) -> float | None:
        """The median of the most bytes held."""
        return self._median(case, who, state, lambda r: float(r.memory))

    def measure(self, case: str, who: str, state: str, name: str) -> float | None:
        """The median of what the runs tell under that name."""
        return self._median(case, who, state, lambda r: r.measures[name])

    def better(self, case: str, state: str) -> float | None:
        """Seconds of the better of cpu and interp."""
        times = [self.seconds(case, target, state) for target in ("cpu", "interp")]
        return min((t for t in times if t is not None), default=None)

    def _median(self, case: str, who: str, state: str, value: Callable[[Run], float]) -> float | None:
        if not self.good(case, who, state):
            return None
        return statistics.median(value(r) for r in self.of(case, who, state))


def measure(
    cases: Iterable[Case], repetitions: int, most: float, tell: Callable[[Case, Measurements], None]
) -> Measurements:
    """All cases, each so often, each process for at most so many seconds; `tell` is told of each case when it is
    through."""
    found = Measurements()
    for case in cases:
        for _ in range(repetitions):
            _once(case, most, found)
        tell(case, found)
    found.load = os.getloadavg()[0]
    return found


def _once(case: Case, most: float, found: Measurements) -> None:
    """One repetition of everything. What was late once is not tried again."""
    for who in (*TARGETS, *case.peers):
        with tempfile.TemporaryDirectory() as folder:
            for state in STATES:
                runs = found.runs.setdefault((case.name, who, state), [])
                cold = found.of(case.name, who, STATES[0])
                if any(r.late for r in runs):
                    continue
                if state == STATES[1] and cold and _same(who, cold[-1]):
                    runs.append(cold[-1])
                    continue
                try:
                    runs.append(_run(case, who, Path(folder), _patience(case, who, state, most, found)))
                except (ImportError, NoCompiler) as reason:
                    found.missing[who] = str(reason)
                settle(Path(folder))


def _same(who: str, cold: Run) -> bool:
    """Whether what the cache holds makes no difference."""
    return cold.late if who == "interp" else who not in (*TARGETS, "numba")


def _run(case: Case, who: str, cache: Path, most: float) -> Run:
    return run_case(case, who, cache, most) if who in TARGETS else run_peer(case, who, cache, most)


def _patience(case: Case, who: str, state: str, most: float, found: Measurements) -> float:
    """How long a process may take."""
    if who != "interp" or case.name == START:
        return most
    times = [r.seconds for target in ("cpu", "auto") for r in found.of(case.name, target, state) if r.good]
    return min(most, 2.0 + BEYOND * min(times)) if times else most
