"""What earlier runs of a program have found out: which of its functions and loops were worth having natively.

In: what an engine has compiled or loaded in a run, and how long it took; and how long functions took that were
interpreted. Out: a file in the cache, by a digest of the program's text; and in the next run, for a function or loop,
that it had better be native from its first call on, and for others, what is to be expected of a call. So a second run
waits for nothing. A record is a hint: whatever it says, the program gives the same.
"""

from __future__ import annotations

import marshal
from collections.abc import Collection, Iterable, Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING

from sacpy.base.digests import new_digest
from sacpy.jit.kinds import Kind
from sacpy.jit.run.versions import LOADING
from sacpy.lang.core import CheckedProgram, Program

if TYPE_CHECKING:
    from sacpy.jit.cache import Cache
    from sacpy.jit.run.dispatch import Site
    from sacpy.jit.run.versions import Versions

# times that native code is at least as fast as interpreted code, of which nobody knows how long it would take
SPEED = 10.0
MOST = 1000  # units that a record may hold
ALIKE = 2  # times the size of what a call was given: so much larger another one's arguments may be, to take as long
LITTLE = 2e-3  # seconds; what takes less is not written again for having taken another time
SHORT = 0.02  # seconds; of a program that takes less nobody needs to know that it has asked for nothing
LONGER = 2  # times what it took in an earlier run: then a program may be up to something else


class Records:
    """The record of one program. `wanted`: seconds that having a unit natively from the beginning saves, by key and
    kind; `saved`: of all of them; `_taken`: the seconds of an interpreted call, and the size of its largest argument;
    `_idle`: the seconds that a run took, of its thread, which had nothing compiled. A program that is typed in,
    statement by statement, has none."""

    def __init__(self, cache: Cache, program: Program) -> None:
        self._cache = cache
        self._name = _name(program)
        self.wanted: dict[str, dict[Kind, float]] = {}
        self._taken: dict[tuple[str, Kind], tuple[float, int]] = {}
        self._idle = 0.0
        self._kept = b""
        data = cache.read(self._name) if self._name else None
        if data is not None:
            (self.wanted, self._taken, self._idle), self._kept = _parsed(data), data
        self.saved = sum(s for kinds in self.wanted.values() for s in kinds.values())
        self._owners = {key.partition("@")[0] for key in self.wanted if "@" in key}

    @property
    def lasting(self) -> bool:
        """Whether there is anything that they are kept under."""
        return bool(self._name)

    def wants(self, key: str, kind: Kind) -> bool:
        """Whether a unit had better be native from its first call on."""
        return kind in self.wanted.get(key, {})

    def kinds(self, key: str) -> Collection[Kind]:
        """The kinds of arguments for which a unit had better be."""
        return self.wanted.get(key, {}).keys()

    def took(self, key: str, kind: Kind, size: int) -> float:
        """The seconds that such a call took interpreted, and would take with what is native in it now from the
        beginning; inf where that is not known. `size`: of its largest argument."""
        seconds, known = self._taken.get((key, kind), (inf, 0))
        return seconds if size <= ALIKE * known else inf

    def may_rove(self, key: str) -> bool:
        """Whether one version of a unit may serve for all extents, as far as is known."""
        kinds = self.wanted.get(key)
        return not kinds or any(e is None for kind in kinds for extents in kind for e in extents)

    def wants_inside(self, owner: str) -> bool:
        """Whether something in a function had."""
        return owner.partition("@")[0] in self._owners

    def is_new(self, seconds: float) -> bool:
        """Whether a run that has taken so many seconds of its thread may soon ask for something to be compiled: it has
        taken longer than one that did not, and none is known that did."""
        return not self.wanted and seconds >= max(SHORT, LONGER * self._idle)

    def keep(self, sites: Sequence[Site], units: Sequence[Versions], seconds: float) -> None:
        """Adds what a run has found out, of functions and of other units. `seconds`: of its thread, so far."""
        if not self._name:
            return
        found = [*_found(sites), *_found(units)]
        left = seconds_of_rests(units)
        for site in sites:
            if site.latest is not None and site.calls > site.is_renewed:
                once = left.get(site.key, site.seconds) / site.calls
                known = self._taken.get((site.key, site.latest))
                if known is None or not _is_as(*known, once, site.latest_size):  # not for nothing
                    self._taken[site.key, site.latest] = once, site.latest_size
        for key, kind, saved in found:
            kinds = self.wanted.setdefault(key, {})
            if saved - LOADING > 2 * kinds.get(kind, 0.0):
                kinds[kind] = saved - LOADING
        rows = [(key, kind, s) for key, kinds in self.wanted.items() for kind, s in kinds.items() if s > LOADING]
        if found:
            self._idle = 0.0
        elif seconds >= SHORT and not seconds <= self._idle <= LONGER * seconds:
            self._idle = seconds
        if not rows and not self._kept and not self._idle:
            return
        taken = [(key, kind, seconds, size) for (key, kind), (seconds, size) in self._taken.items()]
        # a version without references: the same for the same rows
        data = marshal.dumps((rows[-MOST:], taken[-MOST:], self._idle), 2)
        if data != self._kept:
            self._kept = data
            self._cache.write(self._name, data)


def _is_as(seconds: float, size: int, once: float, latest_size: int) -> bool:
    """Whether what is known of a function's calls says the same as what one has taken now."""
    if max(seconds, once) < LITTLE:
        return latest_size <= ALIKE * size
    return latest_size == size and seconds / 2 <= once <= 2 * seconds


def _found(units: Iterable[Versions]) -> Iterator[tuple[str, Kind, float]]:
    """What a run would have saved with native code from the beginning: by what is there, and by what is still being
    made, beside the program, and kept when it is there."""
    for unit in units:
        for version in unit.versions.values():
            if version.calls:
                # who has waited for it has expected more than its price
                least = version.report.seconds if unit.is_renewed else 0.0
                yield unit.key, version.kind, max(unit.seconds + SPEED * version.seconds, least)
        for kind in unit.jobs:
            yield unit.key, kind, unit.taken(kind)


def seconds_of_rests(units: Iterable[Versions]) -> dict[str, float]:
    """Of the functions whose loops went on natively, by key, the seconds that these took then: the next run has them
    native from the beginning."""
    found: dict[str, float] = {}
    for unit in units:
        if unit.versions:
            owner = unit.key.rpartition("@")[0]
            found[owner] = found.get(owner, 0.0) + sum(v.seconds for v in unit.versions.values())
    return found


def _name(program: Program) -> str:
    """What the record is kept under."""
    inner = getattr(program, "program", program)
    text = inner.text() if isinstance(inner, CheckedProgram) else ""
    if not text:
        return ""
    return f"record-{new_digest(text.encode('utf-8', 'surrogateescape')).hexdigest()[:40]}"


def _parsed(data: bytes) -> tuple[dict[str, dict[Kind, float]], dict[tuple[str, Kind], tuple[float, int]], float]:
    """A record that was kept; nothing where it makes no sense."""
    wanted: dict[str, dict[Kind, float]] = {}
    taken: dict[tuple[str, Kind], tuple[float, int]] = {}
    try:
        rows, others, idle = marshal.loads(data)
        for key, kind, saved in rows:
            wanted.setdefault(str(key), {})[_kind(kind)] = float(saved)
        for key, kind, seconds, size in others:
            taken[str(key), _kind(kind)] = float(seconds), int(size)
        return wanted, taken, float(idle)
    except (ValueError, TypeError, EOFError):
        return {}, {}, 0.0


def _kind(kind: Iterable[Iterable[int | None]]) -> Kind:
    return tuple(tuple(extents) for extents in kind)
