"""How the loops of a unit run, in short: `--explain`.

In: a unit, and the schedules that were written for it. Out: a line for each loop of which there is more to say than
that it runs index by index, with the reasons.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sacpy.jit.analysis.scans import why_in_order
from sacpy.jit.ir import graph as g
from sacpy.jit.schedule.loops import Loop, LoopNest, Part, Rounds, Rows, Schedule, Written, name_of, nests, size_of
from sacpy.lang.source import NOWHERE

PLAIN = frozenset(["serial", "stretch", "long", "starts"])  # what is not worth a word


def told(unit: g.Unit, written: Written, strict: bool = False) -> tuple[str, ...]:
    """A line for each loop of which there is more to say than that it runs index by index. `strict`: reals keep their
    order."""
    if not written:
        return ()
    found: list[str] = []
    for f in unit.functions:
        for s in g.statements(f.body):
            if isinstance(s, g.Let) and s.targets and (schedules := written.get((f.name, s.targets[0].name))):
                what = list(dict.fromkeys(x for schedule in schedules for x in _special(schedule, strict)))
                if what:
                    place = "" if s.span.source is NOWHERE.source else f"line {s.span.line}: "
                    found.append(f"{place}{s.targets[0].name} = {'; '.join(what)}")
    return tuple(found)


def _special(s: Schedule | Rounds, strict: bool) -> Iterator[str]:
    if isinstance(s, Rounds):
        if s.tag != "serial" and (s.tag != "stretch" or s.ahead is not None):
            way = {"scan": "as a scan", "threads": "on threads"}.get(s.tag, f"in stretches of {s.size}")
            yield f"{s.loop.index.name} {way} ({s.why})"
        if why := why_in_order(s.loop, strict=strict):
            yield f"{s.loop.index.name} one after the other, though it is a scan ({why})"
        return
    for group in s.groups:
        if group.threads is not None:
            yield f"{group.partitions[0].index[0].name} on threads ({group.threads.why})"
        yield from _shared(group.part)
        for nest in nests(group.part):
            yield from _loops(nest, (loop for loop in nest.loops if loop.tag not in PLAIN))


def _shared(part: Part) -> Iterator[str]:
    if isinstance(part, Rows):
        name = part.partitions[0].index[part.loop.axis].name
        yield f"{name} once for {len(part.partitions)} partitions ({part.loop.why})"
        for inner in part.parts:
            yield from _shared(inner)


def _loops(nest: LoopNest, loops: Iterable[Loop]) -> Iterator[str]:
    by_why: dict[str, list[Loop]] = {}
    for loop in loops:
        by_why.setdefault(loop.why, []).append(loop)
    for why, some in by_why.items():
        yield ", ".join(f"{name_of(nest, loop)} {_tagged(loop)}" for loop in _last(some)) + f" ({why})"


def _last(loops: Sequence[Loop]) -> Sequence[Loop]:
    """Of a strip and the loop inside it, the latter."""
    return [x for k, x in enumerate(loops) if k + 1 == len(loops) or loops[k + 1].axis != x.axis]


def _tagged(loop: Loop) -> str:
    size = size_of(loop)
    return {
        "tile": f"in tiles of {size}",
        "lanes": f"in {size} lanes",
        "strip": f"in strips of {size}",
        "residues": f"{size} at a time",
        "rows": "row by row",
        "together": f"{size} rows side by side",
        "blend": "without gaps",
        "single": "one by one",
        "cells": "cell by cell",
    }[loop.tag]
