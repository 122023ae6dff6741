"""Who makes versions while a program is interpreted: a process forked from this one, or a thread.

In: a unit and a kind of arguments. Out: a `Job`, which is looked at now and then. One process serves all units of the
programs that were there when it was forked: functions it knows by their keys, parts of functions, which come about
while a program runs, are sent to it. For programs that came later there is another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from sacpy.jit.beside import Job
from sacpy.jit.kinds import Kind

if TYPE_CHECKING:
    from sacpy.jit.run.contract import CompileContext
    from sacpy.jit.run.fork import Asked, Fork
    from sacpy.jit.run.program_state import ProgramState
    from sacpy.jit.run.versions import Version, Versions

FORKS = 2  # processes that compile for one engine at most


class Makers:
    """`tools`: what compiling takes; `units`: all units that there are; `make`: makes a version, or takes one that has
    been delivered (`CompileContext.delivered`). `may_fork`: whether processes may make any."""

    def __init__(
        self,
        tools: CompileContext,
        units: Callable[[], Iterable[Versions]],
        make: Callable[[Versions, Kind], Version],
        may_fork: bool,
    ) -> None:
        self._tools = tools
        self._units = units
        self._make = make
        self._may_fork = may_fork
        self._forks: list[Fork] = []  # the last one knows so many programs:
        self._known = 0
        self._programs = 0
        self._job: Job[Version] | None = None

    def number(self) -> int:
        """The number of a program that is new."""
        self._programs += 1
        return self._programs - 1

    @property
    def is_idle(self) -> bool:
        """Whether a process would begin at once."""
        return not self._forks or not self._forks[-1].is_busy

    def begin(self, unit: Versions, kind: Kind, sure: bool) -> Job[Version] | None:
        """Has a version made, if that can be. `sure`: it is worth its price; in a process it may wait for its turn
        then, and in a thread, which slows the program down, it is not made."""
        busy = self._job is not None and not self._job.over
        if busy and not sure:
            return None
        asked = self.ask(unit, kind)
        if asked is not None:
            self._job = asked
            return asked
        if sure or busy:
            return None
        job = Job(lambda: self._make(unit, kind))
        try:
            job.start()
        except RuntimeError:  # there are no more threads, or none at all
            return None
        self._job = job
        return job

    def ask(self, unit: Versions, kind: Kind) -> Asked[Version] | None:
        """Has a process make a version, if there may be one."""
        fork = self._fork_for(unit.room)
        if fork is None:
            return None
        from sacpy.jit.run.fork import Asked
        from sacpy.lang.core_data import packed

        name = unit.room.fingerprints.digest(unit.key, kind, self._tools.options)
        function = packed(unit.function) if unit.is_part else b""
        request = unit.room.number, unit.key, kind, name, function
        return Asked(fork, request, lambda data: self._delivered(unit, kind, name, data)).start()

    def prepare(self, room: ProgramState) -> None:
        """Has a process ready for a program, if there may be one."""
        self._fork_for(room)

    def settle(self) -> None:
        """Nothing is at work any more that would ask for a program."""
        if self._job is not None:
            self._job.settle()

    def forget(self) -> None:
        """In a forked process: there is none of the others, and no thread."""
        self._job, self._forks = None, []

    def _fork_for(self, room: ProgramState) -> Fork | None:
        """A process that knows a program."""
        if not self._may_fork:
            return None
        from sacpy.jit.run.fork import Fork, may_fork

        if self._forks and not self._forks[-1].ended and room.number < self._known:
            return self._forks[-1]
        self._forks = [fork for fork in self._forks if fork.is_busy]
        if len(self._forks) >= FORKS or self._tools.device is not None or not may_fork():
            return None
        try:
            self._forks.append(Fork(self._answered, _load))
        except OSError:
            self._may_fork = False
            return None
        self._known = self._programs
        return self._forks[-1]

    def _answered(self, request: tuple[int, str, Kind, str, bytes]) -> bytes:
        """In the other process: what it is asked for."""
        from sacpy.jit.run.compiler import made_apart
        from sacpy.lang.core_data import unpacked

        number, key, kind, name, function = request
        room = next(u.room for u in self._units() if u.room.number == number)
        if function:
            room.add(unpacked(function))
        return made_apart(room.program, key, kind, name, self._tools)

    def _delivered(self, unit: Versions, kind: Kind, name: str, data: bytes) -> Version:
        if data:  # otherwise it has failed, which is found out here
            self._tools.delivered[name] = data
        return self._make(unit, kind)


def _load() -> None:
    """In the other process, before it is asked for anything."""
    from sacpy.jit.run.compiler import load

    load()
