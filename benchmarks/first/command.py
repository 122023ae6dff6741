"""All of it: chooses cases, measures, prints tables.

In: names, how often, how long. Out: the report, and whether something is over a limit or wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatch
from typing import Any

from benchmarks.first import report, rules
from benchmarks.first.cases import Case, cases
from benchmarks.first.measuring import STATES, Measurements, measure
from benchmarks.measure import as_json, table

MOST = 3  # repetitions


def show(only: Sequence[str], repetitions: int, seconds: float, quick: bool) -> tuple[dict[str, Any], bool]:
    """Measures the chosen cases, prints as it goes, and gives what was found. Raises ValueError for a name that no
    case has."""
    chosen = choose(only)
    times = 1 if quick else min(repetitions, MOST)
    print(f"\nfirst, {len(chosen)} cases, {times} repetitions", flush=True)
    found = measure(chosen, times, seconds, lambda case, m: print(f"  {report.line(case, m)}", flush=True))
    for state in STATES:
        print(report.table(chosen, found, state))
    for problem in report.problems(found):
        print(problem)
    judged = list(rules.rows(found, chosen))
    if judged:
        print(table("\nlimits", judged))
    failed = report.wrong(found) or any(rules.over(found, c.name, s) for c in chosen for s in STATES)
    failed |= any(row.verdict == "OVER" for row in judged)
    print(_summary(chosen, found))
    return {"cases": report.as_json(chosen, found), "limits": [as_json(r) for r in judged], "load": found.load}, failed


def choose(only: Sequence[str]) -> list[Case]:
    """The cases of these names, groups or patterns, with those that they are compared with; all of them where no name
    is given."""
    known = cases()
    if not only:
        return list(known.values())
    names: set[str] = set()
    for name in only:
        some = {n for n, case in known.items() if name == case.group or any(fnmatch(p, name) for p in (n, case.short))}
        if not some:
            raise ValueError(f"there is no case {name}; there are {', '.join(known)}")
        names |= some
    return [case for name, case in known.items() if name in rules.needed(names)]


def _summary(chosen: Sequence[Case], found: Measurements) -> str:
    """How many are over the limit that all have."""
    counts = [f"{state} {sum(rules.over(found, c.name, state) for c in chosen)}" for state in STATES]
    return f"over {rules.FACTOR} x the better target + {rules.SLACK} s: {', '.join(counts)} of {len(chosen)}"
