"""A program whose earlier run came to an end before there was anything for the engine to do: it is interpreted without
one, as long as that run took, and a little longer.

In: seconds; functions and loops as the interpreter meets them. Out: as long as the engine rests, the interpreted
functions, and for loops what waits for the end of that time; from then on what the engine makes of both. Loops ask
whether it is over; for what does not, a recursion, a thread sees to it that the next call of a function does. While
code is generated, that time does not pass.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Any

from sacpy.interp.limits import unstruck

if TYPE_CHECKING:
    from sacpy.interp.engine import Asking, Turn
    from sacpy.interp.evaluator import Evaluator
    from sacpy.jit.run.engine import Engine
    from sacpy.lang.core import Function

LONGER = 2  # times the seconds of the earlier run, for which the engine rests
MARGIN = 0.08  # seconds more: to load what was generated, on a machine that does something else too
SOON = 64  # rounds until a loop asks
LOOK = 1e-3  # seconds between two times that it does, about
THREAD = "sacpy resting"


class Resting:
    """The rest of an engine. `wake`: makes the engine, which does what there is to do from now on; `generating`: the
    seconds by the clock that generating code has taken."""

    def __init__(self, seconds: float, wake: Callable[[], Engine]) -> None:
        self.is_over = False
        self._seconds = LONGER * seconds + MARGIN
        self._end = inf
        self._wake = wake
        self.generating: Callable[[], float] = lambda: 0.0
        self._functions: list[tuple[Evaluator, Function, Callable[..., Any]]] = []
        self._lock = threading.Lock()  # of who changes what calls go to
        self._timer = self._timed(self._seconds)

    def begin(self) -> None:
        """The run begins."""
        self._end = perf_counter() + self._seconds

    @property
    def has_lasted(self) -> bool:
        """Whether it has taken its time."""
        return self._left <= 0.0

    @property
    def _left(self) -> float:
        """The seconds to come."""
        return self._end + self.generating() - perf_counter()

    def _timed(self, seconds: float) -> threading.Timer:
        timer = threading.Timer(seconds, self._end_calls)
        timer.name, timer.daemon = THREAD, True
        return timer

    def watch(self, evaluator: Evaluator, function: Function, interpreted: Callable[..., Any]) -> None:
        """Calls of a function go to this one for now."""
        if not self._functions:
            try:
                with unstruck():
                    self._timer.start()
            except RuntimeError:  # there are no more threads
                self._end = 0.0
        with self._lock:
            self._functions.append((evaluator, function, interpreted))

    def end(self) -> Engine:
        """It is over: the engine looks after all functions."""
        engine = self._wake()
        if not self.is_over:
            self.is_over = True
            self._timer.cancel()
            with self._lock:
                for evaluator, function, interpreted in self._functions:
                    name = evaluator.python_name(function.signature.key)
                    evaluator.namespace[name] = engine.wrap(evaluator, function, partial(_same, interpreted))
        return engine

    def _end_calls(self) -> None:
        """In a thread: the next call of a function ends it."""
        left = self._left
        if 0.0 < left < inf and not self.is_over:
            with suppress(RuntimeError):  # there are no more threads
                self._timer = self._timed(left)
                self._timer.start()
                return
        with self._lock:
            for evaluator, function, _ in () if self.is_over else self._functions:
                name = evaluator.python_name(function.signature.key)
                evaluator.namespace[name] = partial(self._call, evaluator, name)

    def _call(self, evaluator: Evaluator, name: str, *args: Any) -> Any:
        self.end()
        return evaluator.namespace[name](*args)


def _same(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


class RestingTurn:
    """What a loop asks, or a with-loop: nothing, until the rest of the engine is over."""

    def __init__(self, resting: Resting, evaluator: Evaluator, key: str, asking: Asking) -> None:
        self._resting = resting
        self._place = evaluator, key, asking
        self._turn: Turn | None = None
        self._at, self._done = 0.0, 0

    @property
    def first(self) -> int:
        """Rounds, or cells, from which on it asks."""
        return SOON if self._turn is None else self._turn.first

    def __call__(self, done: int, left: int, values: tuple[Any, ...]) -> int:
        """As in `Turn`."""
        turn = self._turn or self._woken()
        if turn is not None:
            return turn(done, left, values)
        now = perf_counter()
        each = (now - self._at) / (done - self._done) if self._at and done > self._done else 0.0
        self._at, self._done = now, done
        return max(1, min(max(SOON, done), int(LOOK / each))) if each else SOON

    def begin(self, cells: int, values: tuple[Any, ...]) -> None:
        """As in `Turn`."""
        turn = self._turn or self._woken()
        if turn is not None:
            turn.begin(cells, values)
        self._at, self._done = perf_counter(), 0

    def _woken(self) -> Turn | None:
        """What the engine says, if it does not rest any more."""
        if self._resting.has_lasted:
            self._turn = self._resting.end().turn(*self._place)
        return self._turn
