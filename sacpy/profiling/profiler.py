"""Time, calls and allocations by line, measured while a program runs.

In: what traced code tells (`interp.tracing`), and the engine, if there is one. Out: `Profile`. Between two things that
it tells the time goes to the line of the first; native code tells nothing, so its time goes to the line that called it,
and counts as native there. Time in which the system ran other programs instead, without being asked to, goes to none.
Arrays are counted that statements make; those that come and go within an expression of the library are not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import get_ident
from time import perf_counter, thread_time
from typing import TYPE_CHECKING

import numpy as np

from sacpy.interp.ownership import VIEWS
from sacpy.interp.runtime.calls import Copies
from sacpy.interp.tracing import Site, contains, is_users
from sacpy.interp.values import Value
from sacpy.lang.core import ArrayCons, Call, Function, Let, Prim, WithLoop
from sacpy.lang.source import Source
from sacpy.nodes import Node

if TYPE_CHECKING:
    from sacpy.interp.evaluator import Evaluator

if sys.platform == "linux":
    import resource
else:
    resource = None

WORTH = 5e-5  # seconds from which on it is looked at how many of them were native


class Spent(Node):
    """What one place has taken: `seconds`, those of them in native code, how often it was come to, and arrays that were
    made there, with their bytes."""

    seconds: float = 0.0
    native: float = 0.0
    count: int = 0
    arrays: int = 0
    bytes: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.seconds + other.seconds, self.native + other.native, self.count + other.count,
            self.arrays + other.arrays, self.bytes + other.bytes,
        )  # fmt: skip

    @property
    def target(self) -> str:
        """Where it ran, for the most part."""
        return "native" if self.native > self.seconds / 2 else "interpreted"


class Line(Node):
    """A line of a text."""

    source: Source
    number: int
    function: str
    spent: Spent

    @property
    def text(self) -> str:
        return self.source.line(self.number).strip()


class Part(Node):
    """A function or with-loop: what stands in its own text has taken so much. `place`: "p.sac:12"."""

    name: str
    place: str
    spent: Spent


class Profile(Node):
    """`lines`, `functions` and `loops` (with-loops): those that took longest first. `seconds` altogether, of which
    count for no line `preparing`, in which code was made of the program, and `elsewhere`, in which others ran."""

    lines: tuple[Line, ...]
    functions: tuple[Part, ...]
    loops: tuple[Part, ...]
    seconds: float
    preparing: float
    elsewhere: float = 0.0

    @property
    def running(self) -> float:
        """Seconds in which the program itself ran."""
        return max(self.seconds - self.preparing - self.elsewhere, 0.0)


class Compiled(Node):
    """Seconds so far: of native code that ran, and of making it."""

    native: float = 0.0
    compiling: float = 0.0


class Profiler:
    """The tracer that measures. `compiler`: tells what there has been of native code. `evaluator`: what runs the
    program."""

    keeps, records = False, True

    def __init__(self, compiler: Callable[[], Compiled] | None = None) -> None:
        self.sites: list[Site] = []
        self.evaluator: Evaluator | None = None
        self._preparing = self._prepared = 0.0
        self._compiler = compiler
        self._seconds: list[float] = []
        self._natives: dict[int, float] = {}
        self._counts: list[int] = []
        self._arrays: dict[int, list[int]] = {}
        self._stack: list[int] = []
        self._now = -1
        self._copies = Copies.count
        self._native_before = 0.0
        self._elsewhere = 0.0
        self._processor = _Processor()
        self._start = self._since = perf_counter()

    def wants(self, function: Function) -> bool:
        return is_users(function)

    def at(self, site: int) -> None:
        self._take()
        self._come_to(site)

    def enter(self, site: int) -> None:
        self._take()
        self._stack.append(self._now)
        self._come_to(site)

    def leave(self) -> None:
        self._take()
        self._now = self._stack.pop() if self._stack else -1
        self._since = perf_counter()

    def made(self, site: int, values: tuple[Value, ...], operands: tuple[Value, ...]) -> None:
        statement = self.sites[site].statement
        assert isinstance(statement, Let)
        copied, self._copies = Copies.count != self._copies, Copies.count
        if not _makes(statement, copied):
            return
        for value in values:
            if isinstance(value, np.ndarray):
                counted = self._arrays.setdefault(self._now, [0, 0])
                counted[0] += 1
                counted[1] += value.nbytes

    def _come_to(self, site: int) -> None:
        while len(self._counts) <= site:
            self._counts.append(0)
            self._seconds.append(0.0)
        self._counts[site] += 1
        self._now = site
        self._since = perf_counter()

    def _take(self) -> None:
        """The time since the last event goes to the place where the program was."""
        spent, native, at = perf_counter() - self._since, 0.0, self._now
        if spent > WORTH and self.evaluator is not None:
            taken = min(self._processor.taken_away(), spent)
            self._elsewhere += taken
            spent -= taken
            compiled = Compiled() if self._compiler is None else self._compiler()
            native = min(compiled.native - self._native_before, spent)
            self._native_before = compiled.native
            rest = max(self._without_preparation(spent, self.evaluator.generating_since + compiled.compiling), native)
            self._preparing += spent - rest
            spent = rest
        if at < 0:
            return
        self._seconds[at] += spent
        if native > 0:
            self._natives[at] = self._natives.get(at, 0.0) + native

    def _without_preparation(self, spent: float, prepared: float) -> float:
        """Without the time in which code was made."""
        found, self._prepared = prepared - self._prepared, prepared
        return max(spent - found, 0.0)

    # ------------------------------------------------------------ behind the run

    def profile(self) -> Profile:
        """What has been measured."""
        self._take()
        total = perf_counter() - self._start
        lines: dict[tuple[str, int], Line] = {}
        functions: dict[str, Part] = {}
        loops: dict[str, Part] = {}
        spent = {i: self._spent(i) for i in range(len(self._counts)) if self._counts[i]}
        for number, one in spent.items():
            site = self.sites[number]
            at = site.span.source.name, site.span.line
            timed = one if site.kind != "function" else Spent(one.seconds, one.native)
            known = lines.get(at)
            lines[at] = Line(site.span.source, at[1], site.function, timed + (known.spent if known else Spent()))
            key, _, part = site.key.partition("@")  # parts that the engine looks after are no functions of their own
            called = site.kind == "function" and not part
            calls = one if called else Spent(one.seconds, one.native, 0, one.arrays, one.bytes)
            before = functions.get(key)
            place = _place(site) if before is None or called else before.place
            functions[key] = Part(site.function, place, calls + (before.spent if before else Spent()))
        for number in spent:
            site = self.sites[number]
            if site.kind != "cell":
                continue
            inside = [
                s if i == number else Spent(s.seconds, s.native, 0, s.arrays, s.bytes)
                for i, s in spent.items()
                if i == number or (self.sites[i].key == site.key and _within(self.sites[i], site))
            ]
            name = f"{_place(site)}:{site.span.column}"
            taken = sum(inside, Spent())
            loops[name] = Part(site.function, name, taken + (loops[name].spent if name in loops else Spent()))
        return Profile(
            tuple(sorted(lines.values(), key=lambda x: -x.spent.seconds)),
            tuple(sorted(functions.values(), key=lambda x: -x.spent.seconds)),
            tuple(sorted(loops.values(), key=lambda x: -x.spent.seconds)),
            total,
            self._preparing,
            self._elsewhere,
        )

    def _spent(self, site: int) -> Spent:
        arrays, size = self._arrays.get(site, (0, 0))
        return Spent(self._seconds[site], self._natives.get(site, 0.0), self._counts[site], arrays, size)


class _Processor:
    """Of the thread that asks: for how long the system took the processor away. Who waits, as for a file or for other
    threads, gives it away, and that counts as his own time."""

    def __init__(self) -> None:
        self._thread = 0
        self._before = (0.0, 0.0, 0, 0)

    def taken_away(self) -> float:
        """The seconds since the last time that it was asked; 0 in the beginning."""
        now = perf_counter(), thread_time(), *_switches()
        before, self._before = self._before, now
        thread, self._thread = self._thread, get_ident()
        if thread != self._thread or now[2] == before[2] or now[3] != before[3]:
            return 0.0
        return max((now[0] - before[0]) - (now[1] - before[1]), 0.0)


def _switches() -> tuple[int, int]:
    """How often this thread had to leave the processor, and how often it wanted to."""
    usage = None if resource is None else resource.getrusage(resource.RUSAGE_THREAD)
    return (0, 0) if usage is None else (usage.ru_nivcsw, usage.ru_nvcsw)


def _within(inner: Site, cell: Site) -> bool:
    return inner.kind != "function" and inner.span != cell.span and contains(cell.span, inner.span)


def _place(site: Site) -> str:
    return f"{site.span.source.name.rpartition('/')[2]}:{site.span.line}"


def _makes(statement: Let, copied: bool) -> bool:
    """Whether a statement makes a new array itself."""
    match statement.rhs:
        case Prim(op="modarray"):
            return copied
        case Prim(op=op):
            return op not in VIEWS
        case WithLoop() | ArrayCons():
            return True
        case Call(candidates=candidates):
            return all("::" in key and not key.startswith("_MAIN::") for key in candidates)
    return False


__all__ = ["Compiled", "Line", "Part", "Profile", "Profiler", "Spent"]
