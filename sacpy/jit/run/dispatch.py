"""One function at run time: whether a call of it runs natively, and in which version.

In: a function of core, how to have it interpreted, and the engine's judgement. Out: a Python function (`Site.entry`)
that takes the place of the interpreted one. First it watches: it counts calls and times the outermost, looks at the
clock while these run (a recursion is hot long before its first call returns), and asks for an estimate when the
arguments have grown. Once the first version is compiled, another takes its place, which looks at the shapes of the
arguments and calls the version for them; a dictionary remembers which. What cannot be compiled is interpreted from then
on, without further ado. Both are generated text (`entries`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import Enum
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from sacpy.base.clocks import thread_time
from sacpy.interp.ownership import protocol
from sacpy.interp.values import Value
from sacpy.jit.failures import NativeFailure, TooDeep
from sacpy.jit.kinds import Detail, Kind
from sacpy.jit.run.entries import dispatcher, watcher
from sacpy.jit.run.judgement import EARLY
from sacpy.jit.run.versions import SURE, UNKNOWN, Anew, Version, Versions
from sacpy.jit.run.worth import is_large
from sacpy.lang.ast import FixedExtent
from sacpy.lang.core import Function, Loop, Slot
from sacpy.lang.walk import calls_itself, statements

if TYPE_CHECKING:
    from sacpy.jit.run.judgement import Judge
    from sacpy.jit.run.program_state import ProgramState

TRIES = 3  # kinds of arguments for which compiling failed, after which it is not tried again
CLOSE = 4  # frames of Python for each call of a recursion, at most
# nested calls of itself that make a function worth compiling: the interpreter goes no deeper than some times that
DEEP = 4096
# a call that calls itself twice and more, once begun, is taken for so many times what it has taken so far
BRANCHING = 8
LIKELY = 1 / 2  # of the price: work that is expected to be so much may be worth a version made beside the program
TELLING = 1e-3  # seconds that an estimate says at least, where what came of it tells something of the next one
AWAIT = 2e-3  # seconds between two looks at one that is being made
# elements of an array, or an int, up to which a call is not worth an estimate: whether it takes long is seen
MODEST = 4096
AROUND = 1e-4  # seconds that a call from outside takes besides what the function does, at most
# seconds of native code that failed, from which on the loops of what is run again are not begun natively as a whole
LATE = 20e-3
RUNS = 8  # in which what is compiled when a program has ended, while nobody waits for it, is to be worth its price


class Heat(Enum):
    """Of a function: interpreted for now; having it natively may be worth the price; it is, as far as can be told from
    what has been spent; it certainly is."""

    COLD = 0
    WARM = 1
    DUE = 2
    HOT = 3


class Site(Versions):
    """A function of a program that may be compiled. `entry` is what calls go to now; `put` is told when that is
    another. `interpreted` runs it interpreted: `make` generates it for the first such call, which never comes where all
    calls run natively. `own`: of `seconds`, those that were not spent in other such functions. `active`: interpreted
    calls in progress, `started`: when the outermost of them began, on a clock that compiling does not move; `ahead`:
    the number of the call at which it is looked at next, `large`: the size of an argument from which on the same.
    `around`: seconds of calls from outside that passed before it was entered, and behind it."""

    def __init__(
        self,
        engine: Judge,
        room: ProgramState,
        function: Function,
        make: Callable[[], Callable[..., Any]],
        put: Callable[[Callable[..., Any]], None],
    ) -> None:
        super().__init__(engine, room, function)
        self.interpreted: Callable[..., Any] = self._first_interpreted
        self.active = 0
        self.started = 0.0
        self.own = 0.0
        self.around = self._outside = 0.0
        self.ahead = 0
        self.large = self._modest = 0 if engine.policy.price is not None else MODEST
        self._make = make
        self._put = put
        self._cooled = 0.0  # of the seconds, those before the last version was made
        self._cooled_calls = 0
        # the kind of the last outermost call that was looked at, and the size of its largest argument
        self.latest: Kind | None = None
        self.latest_size = 0
        # of the seconds, those of long calls, by kind; of others those between such as were looked at and the next ones
        self.spent: dict[Kind, float] = {}
        self._at_once = False  # whether a version was begun with its first call
        self._given: tuple[Value, ...] = ()  # of that call, while it may be begun anew
        # of the last estimate: its seconds, and the interpreted calls and their seconds before; and what part of it
        # such calls have taken, at most 1
        self._estimated: tuple[float, int, float] | None = None
        self._share = 1.0
        self._late = 0  # the rerun in which it was suspected last
        self._too_deep = False  # whether a call is run again that nested too deep
        self._has_rounds = any(isinstance(s, Loop) for s in statements(function.body))
        rules = protocol(function.signature)
        self._shape = (len(function.signature.params), self.arrays, _ints(function))
        self._results = len(function.signature.results), tuple(rules.gives)
        self.is_recursive = calls_itself(function) > 0
        # a recursion over arrays takes them apart, mostly
        if self.is_recursive and any(map(_is_open, function.signature.params)) and room.records.may_rove(self.key):
            self.is_roving, self.detail = True, Detail.RANKS
        self.entry = self._first = watcher(*self._shape, self.is_recursive)(self, engine, perf_counter, np.ndarray)
        self.entry.sac_called = self.called  # type: ignore[attr-defined]

    # ---- while it is interpreted

    def _first_interpreted(self, *args: Any) -> Any:
        """Stands for the generated function until its first call, whose time the generating is not."""
        run, params = self.generated(), self._shape[0]
        values, given = args[:params], any(args[params:])  # what it is given away it may change
        if not self._at_once or given or self.room.awaited is not None or self.kind(values) not in self.jobs:
            return run(*args)
        self.room.awaited, self._given = self, values
        try:
            return run(*args)
        except Anew:
            self.is_renewed = True
            return self.entry(*args)
        finally:
            self.room.awaited, self._given = None, ()

    def generated(self) -> Callable[..., Any]:
        """The generated function, by which it is interpreted."""
        start = perf_counter()
        self._generate()
        self.started += perf_counter() - start
        return self.interpreted

    def come(self) -> None:
        """Looks whether what its call in progress waits for is there. Raises `Anew`."""
        args = self._given
        if not self.is_made(args):
            return
        self.room.awaited = None
        if self.look(args) and self.versions:
            raise Anew

    def within(self, entry: Callable[..., Any] | None) -> None:
        """From now on calls go there, while one is in progress; None: to where they went before."""
        if self.entry is self._first:
            self._put(entry or self._first)

    def _generate(self) -> None:
        if self.interpreted == self._first_interpreted:
            self.interpreted = self._make()

    def look(self, args: tuple[Value, ...]) -> bool:
        """Before an interpreted call: whether there is another entry from now on. Whoever has kept the first one comes
        here every time."""
        if self.entry is not self._first:
            self.ahead = 0
            return True
        if self.refused and self.kind(args) in self.refused:
            self._put_aside(args)
            return False
        if (self.engine.reruns and self.is_suspect()) or not self._is_due(args):
            return False
        self._find(args)
        if self.versions:
            make = dispatcher(self._shape[0], self.arrays, *self._results)
            self.entry = make(self, self.memo, self.engine, perf_counter, np.ndarray, NativeFailure, UNKNOWN)
            self.entry.sac_native = self.known  # type: ignore[attr-defined]
        elif len(self.refused) >= (TRIES if self.arrays else 1):
            self._generate()
            self.entry = self.interpreted
        else:
            return False
        self._put(self.entry)
        return True

    def called(self, seconds: float) -> None:
        """A call from outside has taken so many seconds in all: what it takes besides what the function does, compiled
        code would be called without."""
        inside, self._outside = self.seconds - self._outside, self.seconds
        self.around += min(max(seconds - inside, 0.0), AROUND)

    def _put_aside(self, args: tuple[Value, ...]) -> None:
        """There is nothing to be had for such arguments: looks again when larger ones come, or after twice as many
        calls, which may be of another kind by then."""
        self.large = max(self.large, max(map(_size, args), default=0))
        self.ahead = 2 * max(self.calls, 1)

    def busy(self) -> float:
        """Seconds that interpreted calls have taken since the last version was made, that in progress included, without
        those of the functions they called that are looked after themselves; but with them of a recursion, whose version
        does all that in one call."""
        spent, inner = (self.seconds, 0.0) if self.is_recursive else (self.own, self.engine.inner)
        running = perf_counter() - self.engine.compiling - self.started - inner if self.active else 0.0
        return spent + self.around - self._cooled + max(running, 0.0)

    def _is_due(self, args: tuple[Value, ...]) -> bool:
        """Whether a version for these arguments is to be had now. One that may not be worth it is made beside the
        program, and had when it is there."""
        if not self.active:
            self._share_out()
            self.latest, self.latest_size = self.kind(args), max((_size(a) for a in args), default=0)
        if self.waits(args):
            self._put_off(AWAIT)
            return False
        if self.is_made(args):
            return True
        if not self.calls and self._begins_at_once(args):
            self.begin(args, sure=True)
        before, start = self.engine.busy, thread_time()
        if not self.room.foreseen:
            self.engine.foresee(self.room)
        heat = self._heat(args)
        self.engine.busy = before + thread_time() - start
        if heat is Heat.WARM or (heat is Heat.DUE and self.begin(args, sure=True)):
            if heat is Heat.WARM:
                self.begin(args)
            self._put_off(AWAIT)
            return False
        return heat in (Heat.DUE, Heat.HOT)

    def _begins_at_once(self, args: tuple[Value, ...]) -> bool:
        """Whether a version for its first call is made while that is interpreted, since somebody has nothing else to
        do. The call is begun anew when it is there, if it can be: nothing that it does can be seen."""
        engine, room = self.engine, self.room
        if self._at_once or engine.policy.pace is not None or not engine.is_ready(room):
            return False
        engine.price(self, args, inf)
        self._at_once = engine.is_to_be_made(self, args) and room.is_pure(self.function)
        return self._at_once

    def _put_off(self, seconds: float) -> None:
        """Looks again after about so many seconds of such calls, and after twice as many calls at the latest."""
        calls = self.calls - self._cooled_calls
        once = self.busy() / calls if calls else 0.0
        self.ahead = self.calls + max(1, min(calls, int(seconds / once) if once else 1))

    def _heat(self, args: tuple[Value, ...]) -> Heat:
        """Whether it is time to have a version for these arguments."""
        policy = self.engine.policy
        if policy.pace is not None:
            wanted = policy.pace.calls()
            return Heat.HOT if wanted is not None and self.calls >= wanted else Heat.COLD
        if policy.eager or self._is_deep() or (not self.calls and self.engine.wanted(self, args)):
            return Heat.HOT
        size = max((_size(a) for a in args), default=0)
        if size > self.large or (not self.calls and (not self._modest or is_large(self.function, MODEST))):
            if not self.calls and self._modest and self.room.has_effects(self.function):
                return Heat.COLD  # as a whole it could hardly be compiled; its parts are looked at by themselves
            self.large = max(2 * size, self._modest)
            expected = self._expected(args, size)
            price = self.engine.price(self, args, expected, waits=True)
            if expected >= SURE * price:
                return Heat.HOT
            # for this call, which begins now, a version would come too late
            if expected >= price * LIKELY and self.calls:
                return Heat.WARM
        busy = self.busy()
        branches = self.active > 0 and self.room.branches(self.function)
        if branches:
            busy *= BRANCHING
        price = self.engine.price(self, args, busy)
        if busy >= price:
            return Heat.DUE if self.engine.is_to_be_made(self, args) else Heat.HOT
        early = price * EARLY
        self._put_off((price - busy) / BRANCHING if branches else max(early - busy, 0.0))
        return Heat.WARM if busy >= early and not branches else Heat.COLD

    def _expected(self, args: tuple[Value, ...], size: int) -> float:
        """Seconds that a call is expected to take: an estimate, and what came of the last one. Estimates count the
        rounds of a loop that nobody can see the end of, and may be far above what happens."""
        if self._estimated is not None and not self.active and self.calls > self._estimated[1]:
            before, calls, seconds = self._estimated
            if before >= TELLING:
                self._share = min((self.seconds - seconds) / (self.calls - calls) / before, 1.0)
        expected = self.engine.expected(self, args, size)
        self._estimated = (expected, self.calls, self.seconds)
        return expected * self._share

    def _is_deep(self) -> bool:
        """Whether many interpreted calls are in progress, each within another."""
        if not self.is_recursive:
            return self.active >= DEEP
        code = getattr(self.interpreted, "__code__", None)
        frame, found = sys._getframe(), 0
        for _ in range(CLOSE * DEEP):
            if frame.f_back is None or found == DEEP:
                break
            frame = frame.f_back
            found += frame.f_code is code
        return found == DEEP

    # ---- versions

    def find(self, args: tuple[Value, ...]) -> Version | None:
        """The version for arguments; None: interpret them. Remembers it for their shapes."""
        decided = self.decided(args)
        if not decided and self.calls < self.ahead and not any(_size(a) > self.large for a in args):
            return None
        version = self._find(args) if decided or self._is_due(args) else None
        if version is not None and version.trial:
            return self.tried(version)
        if version is not None or self.decided(args):  # otherwise it may get one, later
            self.remember(args, version)
        return version

    def forced(self, args: tuple[Value, ...]) -> Version | None:
        """The version for arguments, hot or not."""
        return self._find(args)

    def _find(self, args: tuple[Value, ...]) -> Version | None:
        before = len(self.versions) + len(self.refused)
        found = self.get(args)
        if len(self.versions) + len(self.refused) != before:
            self._cooled += self.busy()
            self._cooled_calls, self.large, self.ahead = self.calls, self._modest, self.calls + 1
        return found

    def took(self, args: tuple[Value, ...], seconds: float) -> None:
        """An outermost call has taken so long."""
        kind = self.kind(args)
        if kind is not None:
            self.spent[kind] = self.spent.get(kind, 0.0) + seconds

    def _share_out(self) -> None:
        """What brief calls have taken since the last look is put down to the kind that was met then."""
        if self.latest is not None:
            self.spent[self.latest] = self.spent.get(self.latest, 0.0) + self.seconds - sum(self.spent.values())

    def slow(self) -> dict[Kind, float]:
        """The seconds that its interpreted calls took, by kind, most first; without kinds that there is a version for,
        or that there can be none for."""
        self._share_out()
        kinds = [k for k in self.spent if k not in self.versions and k not in self.refused]
        return {k: self.spent[k] for k in sorted(kinds, key=self.spent.__getitem__, reverse=True)}

    def taken(self, kind: Kind) -> float:
        """As in `Versions`."""
        return self.slow().get(kind, 0.0)

    def look_ahead(self, native: float) -> bool:
        """After a run: has versions made beside whatever comes, for the kinds of arguments of which all that its calls
        took was worth the price in a few runs, for the next call or the next run. Whether there is one. `native`:
        seconds of its calls that were spent in native code."""
        price, interpreted = self.engine.usual_price(self), self.seconds - native
        if RUNS * interpreted < price or not self.room.is_pure(self.function):  # nor could it be compiled
            return False
        for kind, seconds in self.slow().items():
            if RUNS * seconds * interpreted / self.seconds >= price:
                self._has_made(kind, True)
        return bool(self.jobs)

    # ---- when native code does not come to an end

    def failed(self, version: Version, failure: NativeFailure, elapsed: float) -> None:
        """As in `Versions`."""
        super().failed(version, failure, elapsed)
        self._too_deep = isinstance(failure, TooDeep)

    def again(self, elapsed: float) -> None:
        """A call that failed after so many seconds is about to be run again, interpreted."""
        if not self.engine.reruns and elapsed >= LATE:
            self.engine.late += 1
        self.engine.reruns += 1

    def is_suspect(self) -> bool:
        """Whether this call, while another is run again, may well be the one that failed late in there: the first of a
        function with loops. It is interpreted then, and its loops find the failure by stretches (`turns`). So are all
        calls of a recursion that had no room: an inner one goes as deep again, but for one call."""
        if self._too_deep:
            return True
        if self._late == self.engine.late:
            return False
        self._late = self.engine.late
        return self._has_rounds

    def rerun(self) -> None:
        """The interpreter is through with such a call."""
        self.engine.reruns -= 1
        self._too_deep = False


def _size(value: Value) -> int:
    """What an estimate depends on: the elements of an array, the value of an int."""
    return value.size if type(value) is np.ndarray else value if type(value) is int else 0


def _is_open(slot: Slot) -> bool:
    """Whether a parameter is an array whose extents the head leaves open."""
    return slot.pattern is not None and not any(isinstance(f, FixedExtent) for f in slot.pattern)


def _ints(function: Function) -> tuple[int, ...]:
    """The parameters that are scalar ints, on which the work of a call may depend."""
    params = enumerate(function.signature.params)
    return tuple(
        i
        for i, slot in params
        if slot.pattern is None and not slot.cell and slot.base not in ("float", "double", "bool")
    )
