"""What earlier runs of a program have found out: which of its functions and loops were worth having natively.

In: what an engine has compiled or loaded in a run, and how long it took. Out: a file in the cache, by a digest of the
program's text; and in the next run, for a function or loop, that it had better be native from its first call on. So a
second run waits for nothing. A record is a hint: whatever it says, the program gives the same.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import TYPE_CHECKING

from sacpy.jit.kinds import Kind
from sacpy.lang.elaborate.program import ElaboratedProgram

if TYPE_CHECKING:
    from sacpy.jit.cache import Cache
    from sacpy.jit.run.versions import Versions
    from sacpy.lang.core import Program

# times that native code is at least as fast as interpreted code, of which nobody knows how long it would take
SPEED = 10.0
LOADING = 0.001  # seconds that code out of the cache takes to load
MOST = 1000  # units that a record may hold


class Records:
    """The record of one program. `wanted`: seconds that having a unit natively from the beginning saves, by key and
    kind; `saved`: of all of them. A program that is typed in, statement by statement, has none."""

    def __init__(self, cache: Cache, program: Program) -> None:
        self._cache = cache
        self._name = _name(program)
        self.wanted: dict[str, dict[Kind, float]] = {}
        self._kept = b""
        data = cache.read(self._name) if self._name else None
        if data is not None:
            self.wanted, self._kept = _parsed(data), data
        self.saved = sum(s for kinds in self.wanted.values() for s in kinds.values())
        self._owners = {key.partition("@")[0] for key in self.wanted if "@" in key}

    @property
    def lasting(self) -> bool:
        """Whether there is anything that they are kept under."""
        return bool(self._name)

    def wants(self, key: str, kind: Kind) -> bool:
        """Whether a unit had better be native from its first call on."""
        return kind in self.wanted.get(key, {})

    def may_rove(self, key: str) -> bool:
        """Whether one version of a unit may serve for all extents, as far as is known."""
        kinds = self.wanted.get(key)
        return not kinds or any(e is None for kind in kinds for extents in kind for e in extents)

    def wants_inside(self, owner: str) -> bool:
        """Whether something in a function had."""
        return owner.partition("@")[0] in self._owners

    def keep(self, units: Iterable[Versions]) -> None:
        """Adds what a run has found out."""
        found = list(_found(units)) if self._name else []
        if not found:
            return
        for key, kind, saved in found:
            kinds = self.wanted.setdefault(key, {})
            if saved - LOADING > 2 * kinds.get(kind, 0.0):
                kinds[kind] = saved - LOADING
        rows = [(key, kind, s) for key, kinds in self.wanted.items() for kind, s in kinds.items() if s > LOADING]
        data = marshal.dumps(rows[-MOST:], 2)  # a version without references: the same for the same rows
        if data != self._kept:
            self._kept = data
            self._cache.write(self._name, data)


def _found(units: Iterable[Versions]) -> Iterator[tuple[str, Kind, float]]:
    """What a run would have saved with native code from the beginning: by what is there, and by what is still being
    made, beside the program, and kept when it is there."""
    for unit in units:
        for version in unit.versions.values():
            if version.calls:
                yield unit.key, version.kind, unit.seconds + SPEED * version.seconds
        for kind in unit.jobs:
            yield unit.key, kind, max(unit.seconds, unit.prices.get(kind, 0.0))


def _name(program: Program) -> str:
    """What the record is kept under."""
    inner = getattr(program, "program", program)
    if not isinstance(inner, ElaboratedProgram) or not inner.main.info.span.source.text:
        return ""
    return f"record-{sha256(inner.main.info.span.source.text.encode('utf-8', 'surrogateescape')).hexdigest()[:40]}"


def _parsed(data: bytes) -> dict[str, dict[Kind, float]]:
    """A record that was kept; nothing where it makes no sense."""
    found: dict[str, dict[Kind, float]] = {}
    try:
        for key, kind, saved in marshal.loads(data):
            found.setdefault(str(key), {})[tuple(tuple(extents) for extents in kind)] = float(saved)
    except (ValueError, TypeError, EOFError):
        return {}
    return found
