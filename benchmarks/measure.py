"""Timing of peers against one another, and the tables that come of it.

In: actions without arguments. Out: `Timing`s, taken in turns so that whatever else the machine does falls on all peers
alike; `Row`s with a value, a limit and a verdict; a table as text.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

BURST = 8  # calls in a row
LONG = 0.1  # seconds after which there are no more
PAUSE = 0.005  # seconds before each burst


@dataclass(frozen=True, slots=True)
class Timing:
    """The wall-clock seconds of each repetition."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table. `value` is the median of the repetitions in `unit` ("x": times the peer's time, "s", "ms",
    "us", "%"); `low` and `high` are the smallest and the largest of them; `limit` is what it may be at most."""

    name: str
    value: float
    unit: str
    low: float
    high: float
    limit: float | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        if self.limit is None:
            return ""
        return "ok" if self.value <= self.limit else "OVER"


def in_turns(
    actions: Mapping[str, Callable[[], object]], repetitions: int, at_least: float = 0.0, pause: float = 0.0
) -> dict[str, Timing]:
    """The time of each action: one of each, then the next of each. Each has run before, unmeasured. Python's garbage
    collector rests meanwhile.

    A repetition lasts `at_least` so many seconds: a short action is done several times in it, and the time is that of
    one. Before each there is a `pause`, in which the threads of the one before come to rest.
    """
    counts = {name: _count(action, at_least) for name, action in actions.items()}

    def seconds(name: str) -> float:
        action, count = actions[name], counts[name]
        time.sleep(pause)
        start = time.perf_counter()
        for _ in range(count):
            action()
        return (time.perf_counter() - start) / count

    return _by_turns(actions, repetitions, seconds)


def in_bursts(actions: Mapping[str, Callable[[], object]], repetitions: int) -> dict[str, Timing]:
    """The time of each action, in turns: of each repetition the shortest of up to `BURST` calls in a row, so that it
    finds its data in the caches as it left them itself. Before each there is a pause, in which the threads of the one
    before come to rest: those of OpenMP go on looking for work for some milliseconds, and take a processor from whoever
    is next. What takes long is called less often in a row."""

    def shortest(name: str) -> float:
        action, best = actions[name], float("inf")
        time.sleep(PAUSE)
        begin = end = time.perf_counter()
        for _ in range(BURST):
            start = end
            action()
            end = time.perf_counter()
            best = min(best, end - start)
            if end - begin > LONG:
                break
        return best

    return _by_turns(actions, repetitions, shortest)


def _by_turns(names: Iterable[str], repetitions: int, seconds: Callable[[str], float]) -> dict[str, Timing]:
    """What is measured of each name: one of each, then the next of each."""
    taken: dict[str, list[float]] = {name: [] for name in names}
    gc.collect()
    gc.disable()
    try:
        for _ in range(repetitions):
            for name, found in taken.items():
                found.append(seconds(name))
    finally:
        gc.enable()
    return {name: Timing(tuple(found)) for name, found in taken.items()}


def _count(action: Callable[[], object], at_least: float) -> int:
    """How often to do something for a repetition of `at_least` so many seconds."""
    action()
    start = time.perf_counter()
    action()
    return max(1, int(at_least / (time.perf_counter() - start)))


def ratio(name: str, ours: Timing, peer: Timing, limit: float | None = None) -> Row:
    """A row with our time over a peer's, repetition by repetition."""
    ratios = [a / b for a, b in zip(ours.seconds, peer.seconds, strict=True)]
    note = f"{seconds_text(ours.median)} against {seconds_text(peer.median)}"
    return Row(name, statistics.median(ratios), "x", min(ratios), max(ratios), limit, note)


def duration(name: str, seconds: Sequence[float], unit: str, limit: float | None = None, note: str = "") -> Row:
    """A row with a time."""
    scale = {"s": 1.0, "ms": 1e3, "us": 1e6}[unit]
    scaled = [s * scale for s in seconds]
    return Row(name, statistics.median(scaled), unit, min(scaled), max(scaled), limit, note)


def seconds_text(seconds: float) -> str:
    """A time with the unit that suits it: 1.23 s, 45.6 ms, 7.8 us."""
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def table(title: str, rows: Sequence[Row]) -> str:
    """The rows as text, with aligned columns."""
    cells = [("", "median", "lowest", "highest", "limit", "", "")]
    for r in rows:
        limit = "" if r.limit is None else f"{r.limit:g} {r.unit}"
        cells.append((r.name, f"{r.value:.3g} {r.unit}", f"{r.low:.3g}", f"{r.high:.3g}", limit, r.verdict, r.note))
    return aligned(title, cells, left=(0, 5, 6))


def aligned(title: str, cells: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    """Rows of texts under a title; the columns in `left` are flush left, the others flush right."""
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    lines = [
        "  ".join(c.ljust(w) if i in left else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))).rstrip()
        for row in cells
    ]
    return "\n".join([title, *(f"  {line}" for line in lines)])


def as_json(row: Row) -> dict[str, Any]:
    """A row for the JSON report."""
    return {**asdict(row), "verdict": row.verdict}
