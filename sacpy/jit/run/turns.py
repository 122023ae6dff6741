"""Where interpreted code goes on natively: at the border of a loop's rounds, or in a with-loop (on-stack replacement).

In: a loop or with-loop of a function that is being interpreted, and, whenever it asks, how far it has come and the
values of its variables. Out: how long until it asks again; or `Left`, raised into the code that asked, with the values
that the statement sets.

Core makes this easy: a loop's state between two rounds is its carried variables, so the rest of a loop is the same loop
with these values to begin with, a function like any other (`rests`, `versions`). A with-loop is pure, and what has been
computed of it can be thrown away: it is computed anew as a whole. The clock is looked at after 16 rounds, and again
after as many as seem right; what is left to do is told by the bound where there is one, and is otherwise expected to be
as much as has been done. That is worth the price of compiling, or is not.

Where a check fails late in a loop, the interpreter need not repeat all of it to find the error: stretches of rounds are
run natively, long ones and then shorter ones, up to the last rounds before the failure, which are interpreted. So no
native loop has to keep anything for that case.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from sacpy.base.clocks import thread_time
from sacpy.interp.engine import FEW, Left
from sacpy.interp.values import Value
from sacpy.jit.failures import NativeFailure
from sacpy.jit.run.cost import STEP
from sacpy.jit.run.judgement import EARLY
from sacpy.jit.run.rests import rest_of, stretch_of
from sacpy.jit.run.versions import COPYING, LOADING, SPURIOUS, SURE, Version, Versions
from sacpy.lang.core import Function, Let, Loop, WithLoop

if TYPE_CHECKING:
    from sacpy.interp.engine import Asking
    from sacpy.jit.run.judgement import Judge
    from sacpy.jit.run.program_state import ProgramState

FAR = 1 << 62  # rounds until somebody asks who need not ask again
SOON = 16  # rounds until the first look
# where executions before were brief: rounds until then, at most, or as many as take `BRIEF`; of with-loops `FEW` cells
LATER = 256
LOOK = 1e-3  # seconds between two looks, about; less than that tells nothing
BRIEF = LOOK / 4  # seconds of an execution that need not have been looked at
CALL = 20e-6  # seconds that going over to native code takes, besides the copies of arrays
LATE = 1e-3  # seconds of native code behind which a failure is looked for natively
STRETCH = 5e-3  # seconds that a stretch of rounds takes, about
COPIES = 4  # times what the copies of its arrays take, which it takes at least
RUNS = 2  # that follow, at least, for which something is compiled that comes too late for this one
LAST = 16  # rounds before a failure that are interpreted


class Turn:
    """One loop or with-loop. `first`: rounds of an execution before it asks for the first time; of a with-loop, cells
    from which on it asks."""

    def __init__(self, engine: Judge, room: ProgramState, owner: str, asking: Asking) -> None:
        self.engine = engine
        self.room = room
        self.params = list(asking.bases)
        self._owner = owner
        self._asking = asking
        # whether an earlier run may have found that the rest is worth it
        self._may_be_recorded = (asking.wanted or not asking.kept) and room.records.wants_inside(owner)
        self.first = engine.policy.first(0 if self._may_be_recorded else SOON)
        self._rest: Versions | None = None
        self._stretch: Versions | None = None
        self._wanted: bool | None = None
        self._failures = 0
        self._for_next = False  # whether something has been compiled for the runs that follow
        self._done = FAR  # of this execution, when it was looked at last
        self._at = 0.0  # and when that was, on a clock that compiling does not move
        self._next = FAR  # at which round it is going to be looked at next
        self._began = 0.0  # when this execution began, about
        self._each = 0.0  # seconds that a round takes; of a with-loop, an estimate at first
        if not asking.is_loop:
            if asking.work is None:
                let = asking.later()
                assert isinstance(let, Let) and isinstance(let.rhs, WithLoop)
                asking.work = room.costs.cell(let.rhs)
            self._each = STEP * asking.work

    def __call__(self, done: int, left: int, values: tuple[Value, ...]) -> int:
        """An execution has so many rounds behind it, and so many before it (-1: who knows). The rounds until it is to
        ask again. Raises `Left`."""
        policy = self.engine.policy
        if policy.pace is not None:
            self._paced(values)
            return policy.pace.interpreted()
        now = self._clock()
        if not self.room.foreseen:
            self.engine.foresee(self.room)
        if done <= self._done or self._next != done == self.first:  # another execution
            if self._done != FAR:
                self._put_off(self._at - self._began, LATER)
                if done:  # so many rounds there were at least since the last look, which may have been disturbed
                    self._each = min(self._each, max(now - self._at, 0.0) / done)
            self._began = now - done * self._each
        elif now > self._at:
            self._each = (now - self._at) / (done - self._done)
        self._done = done
        expected = left * self._each if left >= 0 else now - self._began
        awaited = self.room.awaited
        if awaited is not None:
            awaited.come()
        elif (
            policy.eager
            or self._is_wanted(values)
            or (now - self._began >= LOOK and self._is_due(values, expected, now - self._began, left < 0))
        ):
            self._go(values)
            self._done = FAR
        self._at = self._clock()  # what has been thought here is not the loop's
        self._began += self._at - now
        ahead = max(1, min(max(SOON, done), int(LOOK / self._each))) if self._each else SOON
        self._next = done + ahead
        return ahead

    def _clock(self) -> float:
        """Seconds of this thread; neither compiling nor generating code moves it, nor do other processes."""
        return thread_time() - self.engine.busy - self.room.generating

    def begin(self, cells: int, values: tuple[Value, ...]) -> None:
        """A with-loop of so many cells is about to be interpreted. Raises `Left`."""
        policy = self.engine.policy
        if policy.pace is not None:
            if not policy.pace.native():
                self._go(values)
            return
        awaited = self.room.awaited
        if awaited is not None:
            awaited.come()
        elif policy.eager or self._is_wanted(values) or self._is_due_at_once(values, cells * self._each):
            self._go(values)
        else:
            self._put_off(cells * self._each, FEW)
        self._began = self._at = self._clock()
        self._done = 0

    def _put_off(self, seconds: float, most: int) -> None:
        """An execution took so many seconds: where that tells nothing, the next is looked at later. What becomes long
        in there then, a loop or a call, is looked at by itself, and so is what this is in."""
        if self._failures or not SOON <= self.first < FAR:  # who decided that has other reasons
            return
        if seconds >= LOOK:
            self.first = SOON
        elif seconds < BRIEF:
            self.first = min(2 * self.first, max(most, int(BRIEF / self._each)) if self._each else most)

    def _is_wanted(self, values: tuple[Value, ...]) -> bool:
        """Whether an earlier run has found that the rest is worth it, and its code is there."""
        if self._wanted is None:
            unit = self.rest if self._may_be_recorded else None
            self._wanted = unit is not None and self.engine.wanted(unit, values)
            if not self._wanted and self.first == 0:
                self.first = SOON
        return self._wanted

    def _is_due(self, values: tuple[Value, ...], seconds: float, passed: float, guessed: bool) -> bool:
        """Whether the rest is to go on natively now. Where it is a guess that so many seconds of interpreting are left,
        what has to be compiled is compiled beside the program, and the loop is left when that is there. So it is, once,
        for the runs that follow, which would come to the same place: `passed` seconds have been interpreted already."""
        unit = self._rest
        if unit is not None and (unit.waits(values) or unit.is_made(values)):
            return unit.is_made(values)
        if guessed and self._is_worth(values, seconds / EARLY):
            unit = self._rest
            if unit is not None and not unit.decided(values) and unit.begin(values):
                return False
        if self._is_worth(values, seconds):
            return not self._is_begun(values)
        if not self._for_next and self.room.records.lasting and self._is_worth(values, RUNS * (seconds + passed)):
            self._for_next = True
            self._is_begun(values)
        return False

    def _is_due_at_once(self, values: tuple[Value, ...], seconds: float) -> bool:
        """Whether a with-loop that is expected to take so many seconds is not to be begun interpreted. What is computed
        of it meanwhile is of no use later."""
        if not self._is_worth(values, seconds):
            return False
        unit = self._rest
        if unit is not None and seconds >= SURE * self.engine.price(unit, values, seconds, waits=True):
            return True
        return not self._is_begun(values)

    def _is_begun(self, values: tuple[Value, ...]) -> bool:
        """Whether the rest, which is worth it, is being made beside the program."""
        unit = self._rest
        if unit is None or unit.known(values) is not None or unit.decided(values):
            return False
        return unit.begin(values, sure=True)

    def _is_worth(self, values: tuple[Value, ...], seconds: float) -> bool:
        """Whether so many seconds of interpreting had better be spent on native code."""
        if seconds < CALL + _copies(values):
            return False
        if seconds < LOADING and self.engine.policy.price is None and (self._rest is None or not self._rest.versions):
            return False
        unit = self.rest
        if unit is None:
            return False
        if unit.known(values) is not None:
            return True
        if unit.decided(values):
            return unit.kind(values) in unit.versions
        return seconds >= self.engine.price(unit, values, seconds)

    # ---- going over

    def _go(self, values: tuple[Value, ...]) -> None:
        """Has the rest done natively, if that can be. Raises `Left`."""
        if self.engine.reruns and self._creeps:
            self._creep(values)  # a check is known to fail, most likely here
            return
        unit = self.rest
        version = None if unit is None else _version(unit, values)
        if unit is None or version is None:
            if unit is None or len(unit.refused) > len(unit.versions):
                self.first = FAR
            return
        found, elapsed = _run(unit, version, values)
        if found is not None:
            self.first = self.engine.policy.first(0)
            raise Left(found)
        self._failures += 1
        self.first = FAR if self._failures > SPURIOUS else SOON << (4 * self._failures)
        if elapsed >= LATE and self._creeps:
            self._creep(values)

    @property
    def _creeps(self) -> bool:
        """Whether a part of the rounds can be done by itself."""
        return self._asking.is_loop

    def _creep(self, values: tuple[Value, ...]) -> None:
        """Has those rounds done natively in which nothing fails, up to the last few before the failure. Raises
        `Left`."""
        unit = self.stretch
        rounds, state = SOON, values
        while unit is not None:
            version = _version(unit, (*state, rounds))
            if version is None:
                return
            found, elapsed = _run(unit, version, (*state, rounds))
            if found is None:
                if rounds <= LAST:
                    break
                rounds = max(rounds // 8, LAST)
                continue
            *moved, going = found
            if not going:
                raise Left(tuple(moved))
            state = self._after(state, moved)
            if elapsed < STRETCH + COPIES * _copies(state) and rounds < 1 << 30:
                rounds *= 2
        if state is not values:
            raise Left(self._carried(state), over=False)

    def _paced(self, values: tuple[Value, ...]) -> None:
        """In tests: some rounds natively, or all of them, as the pace says. Raises `Left`."""
        pace = self.engine.policy.pace
        assert pace is not None
        rounds = pace.native()
        if not rounds or not self._creeps:
            self._go(values)
            return
        unit = self.stretch
        version = None if unit is None else _version(unit, (*values, rounds))
        if unit is None or version is None:
            self.first = FAR
            return
        found, _ = _run(unit, version, (*values, rounds))
        if found is not None:
            *moved, going = found
            raise Left(tuple(moved), over=not going)

    def _after(self, before: tuple[Value, ...], moved: list[Value]) -> tuple[Value, ...]:
        """The values of what the rest reads, after some rounds."""
        new = dict(zip(self._carries, moved, strict=True))
        return tuple(new.get(name, value) for name, value in zip(self.params, before, strict=True))

    def _carried(self, state: tuple[Value, ...]) -> tuple[Value, ...]:
        """The values of what the loop carries."""
        known = dict(zip(self.params, state, strict=True))
        return tuple(known[name] for name in self._carries)

    @property
    def _carries(self) -> list[str]:
        """The variables that the loop carries."""
        loop = self._asking.statement
        assert isinstance(loop, Loop)
        return [c.target.name for c in loop.carried]

    # ---- units

    @property
    def rest(self) -> Versions | None:
        """The rest as a unit; None where it has effects, or values that native code does not have."""
        if self._rest is None and self.first != FAR:
            self._rest = self._unit(rest_of(self._owner, self._asking))
        return self._rest

    @property
    def stretch(self) -> Versions | None:
        """A stretch of rounds as a unit."""
        if self._stretch is None and self.first != FAR and self._creeps:
            self._stretch = self._unit(stretch_of(self._owner, self._asking))
        return self._stretch

    def _unit(self, function: Function) -> Versions | None:
        if not self.room.is_pure(function):
            self.first = FAR
            return None
        self.room.add(function)
        unit = Versions(self.engine, self.room, function, is_part=True)
        self.room.watch(self.engine, unit)
        return unit


def _version(unit: Versions, values: tuple[Value, ...]) -> Version | None:
    """The version for these values, compiled now if need be."""
    if any(v is None for v in values):  # what a `do` loop has not set yet
        return None
    version = unit.known(values)
    if version is None:
        version = unit.get(values)
        unit.remember(values, version)
    return version


def _run(unit: Versions, version: Version, values: tuple[Value, ...]) -> tuple[tuple[Any, ...] | None, float]:
    """What a version gives, None where a check failed; and the seconds that it took."""
    start = perf_counter()
    try:
        found: tuple[Any, ...] | None = version.call(values)
    except NativeFailure as failure:
        elapsed = perf_counter() - start
        unit.failed(version, failure, elapsed)
        wider = unit.wider(version, failure, values)
        if wider is not None:
            return _run(unit, wider, values)
        found = None
    elapsed = perf_counter() - start
    version.calls += 1
    version.seconds += elapsed
    if found is not None and not version.owned:  # the interpreter is going to change them where they are
        found = tuple([v.copy() if type(v) is np.ndarray else v for v in found])
    return found, elapsed


def _copies(values: tuple[Value, ...]) -> float:
    """The seconds that copying all arrays takes, at least."""
    return sum(v.nbytes for v in values if type(v) is np.ndarray) * COPYING
