"""First results as tables and as JSON.

In: cases and their measurements. Out: a table for each state of the cache, with the median time of each target and
peer; lines for what went wrong; and the same for programs to read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.first.cases import Case
from benchmarks.first.measuring import STATES, TARGETS, Measurements
from benchmarks.first.rules import limit, over
from benchmarks.measure import aligned, seconds_text


def line(case: Case, m: Measurements) -> str:
    """A case in a line, for those who wait."""
    parts = [f"{state}: " + ", ".join(f"{who} {_time(m, case, who, state)}" for who in TARGETS) for state in STATES]
    verdicts = ["OVER" for state in STATES if over(m, case.name, state)]
    return f"{case.name}  {'; '.join(parts)}  {' '.join(verdicts)}".rstrip()


def table(cases: Sequence[Case], m: Measurements, state: str) -> str:
    """Medians in one state; `limit`: of `auto`."""
    cells: list[Sequence[str]] = [("", *TARGETS, "to better", "limit", "", "MiB", "beside")]
    for case in cases:
        better, taken = m.better(case.name, state), m.seconds(case.name, "auto", state)
        most = limit(m, case.name, state)
        ratio = "-" if better is None or taken is None else f"{taken / better:.2f}"
        held = m.memory(case.name, "auto", state)
        cells.append((
            case.name,
            *(_time(m, case, who, state) for who in TARGETS),
            ratio,
            "-" if most is None else seconds_text(most),
            "" if most is None else "OVER" if over(m, case.name, state) else "ok",
            "-" if held is None else f"{held / 2**20:.0f}",
            ", ".join(f"{who} {_time(m, case, who, state)}" for who in case.peers if m.of(case.name, who, state)),
        ))  # fmt: skip
    title = f"\nfirst results, {state}: seconds of a fresh process, medians; load {m.load:.1f}"
    return aligned(title, cells, left=(0, 6, 8))


def problems(m: Measurements) -> list[str]:
    """What printed something else than it should, and what was stopped; each once."""
    found: dict[str, None] = {}
    for (case, who, state), runs in m.runs.items():
        for run in runs:
            if run.wrong:
                found[f"WRONG  {case}, {who}, {state}: {run.wrong}"] = None
            elif run.late and who != "interp":
                found[f"late  {case}, {who}, {state}: stopped after {seconds_text(run.seconds)}"] = None
    found |= dict.fromkeys(f"left out: {who} ({reason})" for who, reason in m.missing.items())
    return list(found)


def wrong(m: Measurements) -> bool:
    """Whether something printed what it should not."""
    return any(run.wrong for runs in m.runs.values() for run in runs)


def as_json(cases: Sequence[Case], m: Measurements) -> list[dict[str, Any]]:
    """All runs of all cases."""
    return [
        {
            "name": case.name,
            "runs": {
                f"{who}, {state}": [asdict(r) for r in runs]
                for (name, who, state), runs in m.runs.items()
                if name == case.name
            },
            "over": {state: over(m, case.name, state) for state in STATES},
        }
        for case in cases
    ]


def _time(m: Measurements, case: Case, who: str, state: str) -> str:
    """The median time; of what was late, how long it was waited for."""
    runs = m.of(case.name, who, state)
    if not runs:
        return "-"
    if any(r.wrong for r in runs):
        return "WRONG"
    if any(r.late for r in runs):
        return f"> {seconds_text(max(r.seconds for r in runs))}"
    taken = m.seconds(case.name, who, state)
    assert taken is not None
    return seconds_text(taken)
