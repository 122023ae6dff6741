"""Runs tests, on one target or on several that must agree.

In: cases, and a workspace for each target. Out: results, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from time import perf_counter

from sacpy.nodes import replace
from sacpy.testing.cases import Case, Outcome, Result
from sacpy.workspace import Workspace

ALL = ("interp", "cpu", "emulator")
"""The targets of `--target all`, the one that defines the meaning first."""


def workspaces(workspace: Workspace, target: str) -> dict[str, Workspace]:
    """A workspace for each target that is meant. Compiled ones compile whatever they can: tests do little work."""
    names = ALL if target == "all" else (target,)
    return {name: replace(workspace, target=name, eager=name not in ("auto", "interp"), _engine=None) for name in names}


def results(cases: Iterable[Case], spaces: Mapping[str, Workspace]) -> Iterator[Result]:
    """Runs cases, each on all targets."""
    for case in cases:
        start = perf_counter()
        outcome = _compared({name: case.run(space) for name, space in spaces.items()})
        yield Result(case, outcome, perf_counter() - start)


def _compared(outcomes: Mapping[str, Outcome]) -> Outcome:
    """What is to be said of one case on all targets."""
    if len(outcomes) == 1:
        return next(iter(outcomes.values()))
    first = next(iter(outcomes))
    if all(o.status == "passed" for o in outcomes.values()):
        other = next((n for n, o in outcomes.items() if o.seen != outcomes[first].seen), None)
        if other is None:
            return outcomes[first]
        texts = "\n".join(f"on {name}: {outcomes[name].seen!r}" for name in (first, other))
        return Outcome("failed", f"{first} and {other} differ", f"it passes on both, but is not the same:\n{texts}")
    groups: dict[tuple[str, str], list[str]] = {}
    for name, outcome in outcomes.items():
        groups.setdefault((outcome.status, outcome.text), []).append(name)
    wrong = next(o for o in outcomes.values() if o.status != "passed")
    if len(groups) == 1:
        return wrong
    parts = [
        f"on {', '.join(names)}: {'passed' if status == 'passed' else text}" for (status, text), names in groups.items()
    ]
    bad = ", ".join(n for n, o in outcomes.items() if o.status != "passed")
    return Outcome(wrong.status, f"on {bad}: {wrong.summary}", "\n".join(parts), wrong.output)
