"""Who makes versions while a program is interpreted: a process forked from this one, or a thread.

In: a unit and a kind of arguments. Out: a `Job`, which is looked at now and then. One process serves all units of the
programs that were there when it was forked; one that was forked early, before there was any program, is told of those
that come. For other programs that came later there is another. What such a process does: `making`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING
from weakref import ref

from sacpy.jit.beside import Job
from sacpy.jit.kinds import Kind

if TYPE_CHECKING:
    from sacpy.jit.run.contract import CompileContext
    from sacpy.jit.run.fork import Asked, Fork
    from sacpy.jit.run.making import FirstCall
    from sacpy.jit.run.program_state import ProgramState
    from sacpy.jit.run.versions import Version, Versions
    from sacpy.lang import ast
    from sacpy.lang.core import CheckedProgram, Program
    from sacpy.lang.elaborate.program import ElaboratedProgram

FORKS = 2  # processes that compile for one engine at most


class Makers:
    """`tools`: what compiling takes; `units`: all units that there are; `make`: makes a version, or takes one that has
    been delivered (`CompileContext.delivered`). `may_fork`: whether processes may make any; `meanwhile`: what is done
    here while one does."""

    def __init__(
        self,
        tools: CompileContext,
        units: Callable[[], Iterable[Versions]],
        make: Callable[[Versions, Kind], Version],
        may_fork: bool,
        meanwhile: Callable[[], None],
    ) -> None:
        self._tools = tools
        self._units = units
        self._make = make
        self._may_fork = may_fork
        self._meanwhile = meanwhile
        self._forks: list[Fork] = []  # the last one knows so many programs:
        self._known = 0
        self._programs = 0
        self._told: list[tuple[ref[CheckedProgram], int]] = []  # those that the last fork was told or begun with
        self._hears = False  # whether that was made early
        self._hint = ""  # what the cache is to know when it is asked for something
        self._job: Job[Version] | None = None

    def number(self, program: Program) -> int:
        """The number of a program that is new, unless it has been told."""
        inner = getattr(program, "program", program)
        for told, number in self._told:
            if told() is inner:
                return number
        self._programs += 1
        return self._programs - 1

    def early(self, hint: str, read: Callable[[ast.Module], ElaboratedProgram]) -> None:
        """Programs will come: has a process ready, where there may be one. `hint`: a name in the cache by which it is
        known that what comes is there; `read`: makes programs of trees."""
        if self._forks or self._programs or self._tools.cache.has(hint):
            return
        if self._new_fork(read) is not None:
            self._hears, self._hint = True, hint

    def tell(self, program: ElaboratedProgram, tree: ast.Module, call: FirstCall | None) -> None:
        """A program has come about, of a tree: a process that was made early had better know it. `call`: what will be
        called first, if that is known; its version is begun before this process asks for it."""
        fork = self._forks[-1] if self._hears and self._forks else None
        if fork is not None and not fork.ended:
            from sacpy.lang.modules import packing

            if fork.tell((self._programs, packing().packed(tree), call)):
                self._told.append((ref(program), self._programs))
                self._programs += 1

    def take(self, fork: Fork, program: CheckedProgram) -> None:
        """There is a process already, which knows this program."""
        self._forks.append(fork)
        self._told.append((ref(program), self._programs))
        self._programs += 1
        self._known = self._programs

    def has_ready(self, room: ProgramState) -> bool:
        """Whether a process that was made for what is called first would begin with something of a program now."""
        return self._hears and self._is_told(room) and self.backlog == 0.0

    def _is_told(self, room: ProgramState) -> bool:
        return any(number == room.number for _, number in self._told)

    @property
    def has_process(self) -> bool:
        """Whether there is a process, which has loaded, or is loading, what compiling takes."""
        return bool(self._forks) and not self._forks[-1].ended

    @property
    def backlog(self) -> float:
        """Seconds, about, until a process would begin."""
        return self._forks[-1].backlog if self._forks else 0.0

    def begin(self, unit: Versions, kind: Kind, sure: bool) -> Job[Version] | None:
        """Has a version made, if that can be. `sure`: it is worth its price; in a process it may wait for its turn
        then, and in a thread, which slows the program down, it is not made."""
        busy = self._job is not None and not self._job.over
        if busy and not sure:
            return None
        asked = self.ask(unit, kind, is_awaited=False)
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

    def ask(self, unit: Versions, kind: Kind, is_awaited: bool) -> Asked[Version] | None:
        """Has a process make a version, if there may be one. `is_awaited`: nothing else is done here until then."""
        fork = self._fork_for(unit.room)
        if fork is None:
            return None
        from sacpy.jit.run.fork import Asked
        from sacpy.lang.core_data import packed

        name = unit.room.fingerprints.digest(unit.key, kind, self._tools.options)
        function = packed(unit.function) if unit.is_part else b""
        request = unit.room.number, unit.key, kind, name, function, is_awaited
        if self._hint:
            self._tools.cache.write(self._hint, b"")
            self._hint = ""
        seconds = unit.prices.get(kind) or unit.engine.usual_price(unit)
        return Asked(fork, request, partial(self._delivered, unit, kind, name), self._meanwhile, seconds).start()

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
        if self._forks and not self._forks[-1].ended and (room.number < self._known or self._is_told(room)):
            return self._forks[-1]
        self._forks = [fork for fork in self._forks if fork.is_busy]
        return self._new_fork(None)

    def _new_fork(self, read: Callable[[ast.Module], ElaboratedProgram] | None) -> Fork | None:
        """A process that knows all programs of now, if there may be one. `read`: makes programs of trees, if it is to
        be told of some."""
        from sacpy.jit.run.fork import Fork, may_fork
        from sacpy.jit.run.making import Making, load, rehearsal

        if not self._may_fork or len(self._forks) >= FORKS or self._tools.device is not None or not may_fork():
            return None
        try:
            making = Making(self._tools, self._program, read)
            self._forks.append(Fork(making.answer, load, making.hear, None if read is None else rehearsal))
        except OSError:
            self._may_fork = False
            return None
        self._known, self._told, self._hears, self._hint = self._programs, [], False, ""
        return self._forks[-1]

    def _program(self, number: int) -> Program:
        return next(unit.room.program for unit in self._units() if unit.room.number == number)

    def _delivered(self, unit: Versions, kind: Kind, name: str, data: bytes) -> Version:
        if data:  # otherwise it has failed, which is found out here
            self._tools.delivered[name] = data
        return self._make(unit, kind)
