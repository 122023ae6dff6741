"""A run that can be stopped, looked at, and gone on with: what the prompt's debugger and the debug adapter share.

In: something that runs traced code (`tracing`), breakpoints, and commands. Out: a `Stop` each time the run stands
still, with the frames of the SaC call stack and their values, and in the end its result or its error. The run has a
thread of its own, which waits while somebody looks.
"""

from __future__ import annotations

import queue
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Literal

from sacpy.interp.errors import Exit
from sacpy.interp.tracing import FrameView, Site, calls_behind, calls_from, frames_of, is_users
from sacpy.interp.values import Value
from sacpy.lang.core import Function
from sacpy.lang.diagnostics import SacError
from sacpy.nodes import Node, Record

if TYPE_CHECKING:
    from sacpy.interp.evaluator import Evaluator

STACK = 256 * 2**20  # bytes; of which a run takes as many as its recursion is deep
Mode = Literal["into", "next", "out", "continue", "end"]
Reason = Literal["entry", "step", "breakpoint", "error"]


class Stop(Node):
    """The run stands still. `frames`: outermost first; `error`: what has ended it, behind which nothing goes on."""

    reason: Reason
    frames: tuple[FrameView, ...]
    error: SacError | None = None


class Done(Node):
    """The run has ended: with a result, an error, or the status that the program asked for."""

    result: Any = None
    error: SacError | None = None
    status: int | None = None


class Abandoned(BaseException):
    """Ends a run that nobody wants to go on with."""


class Rule(Record):
    """What a breakpoint asks besides: a condition, an expression of the variables there; how often it must have been
    come to, with the condition true; a message, with expressions in braces, that is told instead of a stop. `met`: how
    often that was so far."""

    condition: str = ""
    hits: int = 0
    message: str = ""
    met: int = 0


class Breakpoints:
    """Where runs stop: functions by name, and lines by file. `rules`: by the name of a function, or by file and
    line."""

    def __init__(self) -> None:
        self.functions: set[str] = set()
        self.lines: dict[str, set[int]] = {}
        self.rules: dict[str | tuple[str, int], Rule] = {}

    def __bool__(self) -> bool:
        return bool(self.functions or any(self.lines.values()))

    def at_line(self, site: Site) -> bool:
        """Whether a statement begins on a line with a breakpoint."""
        wanted = self.lines.get(normal(site.span.source.name))
        return wanted is not None and site.span.line in wanted


Judge = Callable[[FrameView, str], bool]
_BRACES = re.compile(r"\{([^{}]*)\}")


def normal(name: str) -> str:
    """One name for each file."""
    return name if name.startswith("<") else str(Path(name).resolve())


class Debugger:
    """The tracer of a run. `shows`: the text of an expression's value in a frame, which raises `SacError`; `tell`: what
    is done with the messages of breakpoints; `passed`: how many statements and cells the run has come to."""

    keeps, records = True, False

    def __init__(self, breakpoints: Breakpoints) -> None:
        self.sites: list[Site] = []
        self.breakpoints = breakpoints
        self.judge: Judge | None = None
        self.shows: Callable[[FrameView, str], str] | None = None
        self.tell: Callable[[str], None] | None = None
        self.passed = 0
        self.evaluator: Evaluator | None = None
        self.last: Stop | Done | None = None
        self._mode: Mode = "continue"
        self._depth = 0
        self._base = (0, 0)
        self._entered = ""  # the function with a breakpoint that has just been entered
        self._interrupted = self._abandoned = False
        self._before: tuple[int, int, int] | None = None  # depth, line and number of the site before
        self._answers: queue.SimpleQueue[Stop | Done] = queue.SimpleQueue()
        self._commands: queue.SimpleQueue[Mode] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    # ------------------------------------------------------------ from outside

    def start(self, evaluator: Evaluator, action: Callable[[], Any], mode: Mode) -> Stop | Done:
        """Runs an action, which calls functions of the evaluator, up to the first stop."""
        self.evaluator, self._mode = evaluator, mode
        before = threading.stack_size(STACK)
        try:
            self._thread = threading.Thread(target=self._run, args=(action,), name="sacpy debuggee", daemon=True)
            self._thread.start()
        finally:
            threading.stack_size(before)
        return self._answer()

    def go(self, mode: Mode) -> Stop | Done:
        """Goes on from a stop up to the next."""
        self._commands.put(mode)
        return self._answer()

    def abandon(self) -> None:
        """Ends the run, wherever it stands."""
        if self._thread is not None and self._thread.is_alive():
            self._abandoned = True
            self._commands.put("end")
            self._thread.join()

    def interrupt(self) -> None:
        """The run stops at the next statement. Called from any thread."""
        self._interrupted = True

    def _answer(self) -> Stop | Done:
        try:
            self.last = self._answers.get()
        except KeyboardInterrupt:
            self.interrupt()
            self.last = self._answers.get()
        return self.last

    # ------------------------------------------------------------ inside

    def _run(self, action: Callable[[], Any]) -> None:
        assert self.evaluator is not None
        try:
            done = Done(action())
        except SacError as error:
            cause = error.__context__ or error.__cause__
            frames = [] if cause is None else frames_of(calls_behind(cause), self.evaluator.places, self)
            if frames:
                self._answers.put(Stop("error", tuple(frames), error))
                return
            done = Done(error=error)
        except Exit as stop:
            done = Done(status=stop.status & 0xFF)
        except Abandoned:
            done = Done()
        self._answers.put(done)

    def wants(self, function: Function) -> bool:
        return is_users(function)

    def enter(self, site: int) -> None:
        self._depth += 1
        if self._abandoned:
            raise Abandoned
        if self.sites[site].function in self.breakpoints.functions:
            self._entered = self.sites[site].function

    def leave(self) -> None:
        self._depth -= 1

    def at(self, site: int) -> None:
        mode = self._mode
        self.passed += 1
        if self._abandoned:
            raise Abandoned
        if mode == "continue" and not (self.breakpoints or self._interrupted):
            return
        here = self.sites[site]
        position = (self._depth, here.level)
        reason: Reason | None = None
        if (self._entered and self._is_wanted(self._entered)) or (
            self.breakpoints.at_line(here)
            and self._is_new(site)
            and self._is_wanted((normal(here.span.source.name), here.span.line))
        ):
            reason = "breakpoint"
        elif (
            mode == "into"
            or self._interrupted
            or (mode == "next" and position <= self._base)
            or (mode == "out" and position < self._base)
        ):
            reason = "step"
        self._before, self._entered = (self._depth, here.span.line, site), ""
        if reason is None:
            return
        self._interrupted, self._base = False, position
        self._answers.put(Stop(reason, self._frames(sys._getframe(1))))
        self._mode = self._commands.get()
        if self._abandoned:
            raise Abandoned

    def _frames(self, frame: FrameType) -> tuple[FrameView, ...]:
        assert self.evaluator is not None
        return tuple(frames_of(calls_from(frame), self.evaluator.places, self))

    def _is_wanted(self, where: str | tuple[str, int]) -> bool:
        """Whether the rule of a breakpoint says that the run is to stop. A condition that cannot be evaluated is
        told, and stops it."""
        rule = self.breakpoints.rules.get(where)
        if rule is None:
            return True
        frame = self._frames(sys._getframe(2))[-1]
        try:
            if rule.condition and self.judge is not None and not self.judge(frame, rule.condition):
                return False
        except SacError as error:
            self._say(f"the condition {rule.condition}: {error.diagnostics[0].message}")
            return True
        rule.met += 1
        if rule.met < rule.hits:
            return False
        if rule.message:
            self._say(_BRACES.sub(lambda m: self._shown(frame, m[1]), rule.message))
        return not rule.message

    def _shown(self, frame: FrameView, text: str) -> str:
        try:
            return text if self.shows is None else self.shows(frame, text)
        except SacError as error:
            return f"{{{text}: {error.diagnostics[0].message}}}"

    def _say(self, text: str) -> None:
        if self.tell is not None:
            self.tell(text)

    def _is_new(self, site: int) -> bool:
        """Whether the line has just been come to, or come to again; several statements may stand on it."""
        before = self._before
        return before is None or before[:2] != (self._depth, self.sites[site].span.line) or site <= before[2]

    def made(self, site: int, values: tuple[Value, ...], operands: tuple[Value, ...]) -> None:
        """Nobody asks."""


__all__ = ["Breakpoints", "Debugger", "Done", "Mode", "Rule", "Stop", "normal"]
