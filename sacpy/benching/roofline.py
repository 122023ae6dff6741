"""With-loops against what the machine can: a line for each, of how long it takes and what limits it.

In: a subject that runs compiled. Out: `Roofline`: of each with-loop its time, the bytes that it must move at least
once, its operations on reals, and what the machine does of both in the same time. The idea is that of S. Williams, A.
Waterman and D. Patterson, Roofline, CACM 52(4), 2009; bandwidth is measured for as many bytes as the loop touches, so
that what lies in a cache is compared with the cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from sacpy.benching.machine import Rates, rates, tick
from sacpy.benching.reports import duration
from sacpy.benching.subjects import Subject
from sacpy.jit.host.watched import OPERATIONS, READ, RUNS, TICKS, WRITTEN, Watched
from sacpy.lang.source import NOWHERE
from sacpy.nodes import Node, replace

CALLS = 5  # at least
TINY = 1e-6  # seconds of a with-loop from which on it is shown


class Loop(Node):
    """A with-loop. `seconds` of all its runs in a call; `bytes`, `operations` likewise; `machine`: what could be done
    in a second. `guessed`: some of it depends on data, and is a guess."""

    place: str
    makes: str
    runs: int
    seconds: float
    bytes: float
    operations: float
    machine: Rates
    guessed: bool

    @property
    def moving(self) -> float:
        """The seconds that it would take if nothing but moving bytes took time."""
        return self.bytes / self.machine.bytes

    @property
    def computing(self) -> float:
        """The seconds that it would take if nothing but operations took time."""
        return self.operations / self.machine.operations

    @property
    def limit(self) -> str:
        """What the machine is slower at, for such a loop."""
        return "memory" if self.moving >= self.computing else "arithmetic"

    @property
    def share(self) -> float:
        """Of what the machine can."""
        return max(self.moving, self.computing) / self.seconds if self.seconds > 0 else 0.0


class Roofline(Node):
    """The with-loops that take longest first; the seconds of the whole call."""

    loops: tuple[Loop, ...]
    seconds: float
    threads: int


def roofline(subject: Subject, seconds: float) -> Roofline | str:
    """The with-loops of a call, called over and over for so many seconds; or why nothing can be said of them. Raises
    `SacError`."""
    space = subject.workspace
    if space.target == "interp":
        return "it is interpreted"
    if space.target not in ("cpu", "auto"):
        return "it runs on a device: sacpy explain says what its launches do"
    from sacpy.jit.options import cores
    from sacpy.jit.reports.watching import watching

    engine, compiler = watching(space.target, **space.engine_settings)
    watched = Subject(subject.file, subject.text, space, engine)
    watched.warm(seconds)
    best: dict[tuple[int, int], list[float]] = {}
    whole, calls, start = float("inf"), 0, perf_counter()
    while calls < CALLS or perf_counter() - start < seconds:
        compiler.reset()
        whole = min(whole, watched.sample(1).seconds)
        calls += 1
        for unit, watch in enumerate(compiler.watches):
            for number in range(len(watch.loops)):
                now, before = watch.row(number), best.get((unit, number))
                if now[RUNS] and (before is None or now[TICKS] < before[TICKS]):
                    best[unit, number] = now
    threads = space.threads or cores()
    merged: dict[tuple[object, str], Loop] = {}
    for (unit, number), row in best.items():
        one = compiler.watches[unit].loops[number]
        loop, key = _loop(one, row, threads), (one.span, one.makes)
        merged[key] = loop if key not in merged else _together(merged[key], loop)
    found = sorted((x for x in merged.values() if x.seconds >= TINY), key=lambda x: -x.seconds)
    return Roofline(tuple(found), max(whole, sum(x.seconds for x in found)), threads)


def _loop(one: Watched, row: Sequence[float], threads: int) -> Loop:
    moved, span = row[READ] + row[WRITTEN], one.span
    place = f"{span.source.name.rpartition('/')[2]}:{span.line}" if span is not NOWHERE else "with-loop"
    machine = rates(threads, moved / row[RUNS], row[WRITTEN] < 0.1 * moved)
    runs = round(row[RUNS])
    return Loop(place, one.makes, runs, row[TICKS] * tick(), moved, row[OPERATIONS], machine, one.guessed)


def _together(a: Loop, b: Loop) -> Loop:
    """Two pieces of code for the same with-loop."""
    return replace(
        a if a.bytes >= b.bytes else b, runs=a.runs + b.runs, seconds=a.seconds + b.seconds, bytes=a.bytes + b.bytes,
        operations=a.operations + b.operations, guessed=a.guessed or b.guessed,
    )  # fmt: skip


def lines(found: Roofline) -> list[str]:
    """A line for each with-loop, and one for what is left."""
    rows: list[str] = []
    for x in found.loops:
        about = "about " if x.guessed else ""
        rows.append(
            f"{x.place}, {x.makes}{f', {x.runs} runs' if x.runs != 1 else ''}: {_time(x.seconds)}, "
            f"{x.seconds / found.seconds:.0%}; {about}{_many(x.bytes)}B, {_many(x.bytes / x.seconds)}B/s of "
            f"{_many(x.machine.bytes)}B/s; {about}{_many(x.operations)}op, {_many(x.operations / x.seconds)}op/s of "
            f"{_many(x.machine.operations)}op/s; {x.share:.0%} of what {x.limit} allows"
        )
    rest = found.seconds - sum(x.seconds for x in found.loops)
    rows.append(f"outside of with-loops: {_time(max(rest, 0.0))}, {max(rest, 0.0) / found.seconds:.0%}")
    return rows


def data(found: Roofline) -> list[dict[str, object]]:
    """The same as plain data."""
    return [
        {
            "place": x.place, "makes": x.makes, "runs": x.runs, "seconds": x.seconds, "bytes": x.bytes,
            "operations": x.operations, "machine_bytes": x.machine.bytes, "machine_operations": x.machine.operations,
            "limit": x.limit, "share": x.share, "guessed": x.guessed,
        }
        for x in found.loops
    ]  # fmt: skip


def _time(seconds: float) -> str:
    return duration(seconds) if seconds > 0 else "0 s"


def _many(number: float) -> str:
    """A number with a prefix: "1.2 G"."""
    for size, name in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g} {name}"
    return f"{number:.3g} "


__all__ = ["Loop", "Roofline", "data", "lines", "roofline"]
