"""The debugger of a prompt: runs that stand still, the values behind an error, and where a value came from.

In: an engine, inputs, breakpoints. Out: where a run stands, and what is to be seen there. Behind an error nothing has
been kept, so that nothing is spent on errors that nobody asks about: the input runs again, traced and interpreted, in
a world of its own that prints nothing, reads nothing and reaches no files; if it does not come to the same error, it
says so. The names of the prompt are as they were before that input. In the same way the inputs that have led to a value
run again to tell what made one of its elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from sacpy.interp.debugger import Breakpoints, Debugger, Done, Mode, Stop
from sacpy.interp.errors import Exit
from sacpy.interp.evaluator import Evaluator
from sacpy.interp.inspection import evaluated, holds
from sacpy.interp.origins import Origin, Recorder, same
from sacpy.interp.tracing import FrameView
from sacpy.interp.values import Value, shape_of
from sacpy.interp.world import World
from sacpy.lang import ast
from sacpy.lang.diagnostics import SacError
from sacpy.lang.elaborate.freenames import assigned, mentioned
from sacpy.lang.elaborate.usertypes import BUILTINS, opaque
from sacpy.lang.source import Span
from sacpy.repl.commands.command import refused
from sacpy.repl.diagnostics import THE_INPUT
from sacpy.repl.engine import ANSWER, Engine
from sacpy.repl.inputs import PREFIX
from sacpy.repl.outcomes import Failure, Paused, Variable, gist, made_of
from sacpy.repl.runs import Run, entered, evaluator_of, traced_program

OTHERWISE = "what has led to it depends on input, files, clocks or random numbers, or has been defined anew since"
SHOWN = 3  # lines of a statement that are shown
MARGIN = 8  # columns before a line
Changes = tuple[tuple[Variable, ...], dict[str, Variable]]


class Debugging:
    """What stands still at a prompt, if anything does, and which frame of it is looked at."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.breakpoints = Breakpoints()
        self._debugger: Debugger | None = None
        self._run: Run | None = None
        self._stop: Stop | None = None
        self._failed: Failure | None = None  # what `_stop` is about, if it is behind an error
        self._shown: tuple[Run, int | None] | None = None  # of `_stop` the run, and how far it had come
        self._at = 0
        self._seen: dict[str, str] = {}
        self._notes: list[str] = []  # what breakpoints had to say since the last stop

    @property
    def stands_still(self) -> bool:
        """Whether a run does, that may go on."""
        return self._debugger is not None

    # ------------------------------------------------------------ running

    def run(self, node: ast.Expr | ast.Stmt) -> Changes:
        """Runs an input up to a breakpoint, or to its end. Raises `Paused` at a breakpoint."""
        return self._began(node, "continue")

    def step(self, node: ast.Expr) -> list[str]:
        """Starts an expression, and says where it stands: at its beginning."""
        try:
            results, changed = self._began(node, "into")
        except Paused as paused:
            return paused.lines
        self.engine.done(node, results, changed)
        return []

    def go(self, mode: Mode) -> list[str]:
        """Goes on, and says where the run stands now; a run that ends shows its values. Raises `SacError`, `Exit`."""
        debugger, run = self._debugger, self._run
        if debugger is None or run is None:
            raise refused(
                "E0736",
                "no run stands still",
                "",
                "",
                ":step EXPR starts one, :break FUNCTION lets inputs stop at a function",
            )
        try:
            results, changed = self._came(debugger.go(mode))
        except Paused as paused:
            return paused.lines
        self.engine.done(run.node, results, changed)
        return []

    def _began(self, node: ast.Expr | ast.Stmt, mode: Mode) -> Changes:
        self.abandon()
        self._debugger = Debugger(self.breakpoints)
        run = self._run = Run(self.engine, node, self._debugger, self.engine.world)
        self._debugger.tell = self._notes.append
        self._debugger.judge = lambda frame, text: holds(frame, text, run.program, lambda: self._evaluator(run))
        return self._came(self._debugger.start(self._run.evaluator, self._run.call, mode))

    def abandon(self) -> None:
        """Ends the run that stands still."""
        if self._debugger is not None:
            self._debugger.abandon()
        self._debugger = self._run = self._stop = self._failed = None
        self._seen = {}

    def _came(self, came: Stop | Done) -> Changes:
        """What is to be made of a run that stands still or has ended. Raises `Paused`, `SacError`, `Exit`."""
        run = self._run
        assert run is not None
        self.engine.world.flush()
        error = came.error
        if isinstance(came, Stop):
            self._shown = run, None if error is not None or self._debugger is None else self._debugger.passed
        if isinstance(came, Stop) and error is None:
            self._stop, self._at = came, len(came.frames) - 1
            what = "breakpoint: " if came.reason == "breakpoint" else ""
            notes, self._notes[:] = [f"breakpoint: {note}" for note in self._notes], []
            raise Paused([*notes, what + self._place(came.frames[-1], self._at), *self._changes(came.frames[-1])])
        self._debugger = self._run = None
        self._seen = {}
        if error is not None:
            self._stop = came if isinstance(came, Stop) else None
            self._at = 0 if self._stop is None else len(self._stop.frames) - 1
            self.engine.failed = self._failed = run.node, gist(error)
            raise error
        assert isinstance(came, Done)
        self._stop = None
        if came.status is not None:
            raise Exit(came.status)
        values, alone = came.result
        self.engine.evaluator.globals.update(run.evaluator.globals)
        return made_of(run.entered, values, alone)

    # ------------------------------------------------------------ looking

    def stop(self) -> Stop:
        """Where the run stands, or where the last error came about. Raises `SacError` where there is neither."""
        failed = self.engine.failed
        if self._debugger is None and failed is not None and self._failed is not failed:
            self._replay(*failed)
            self._failed = failed
        elif self._debugger is None and failed is None:
            self._stop = None  # what came after it went well
        if self._stop is None:
            raise refused(
                "E0736",
                "no run stands still, and there has been no error",
                "",
                "",
                ":step EXPR starts a run, :break FUNCTION lets inputs stop at a function",
            )
        return self._stop

    def _replay(self, node: ast.Expr | ast.Stmt, wanted: tuple[str, str]) -> None:
        """Runs an input that has failed again, up to its error. Raises `SacError` where it does not come to it."""
        debugger = Debugger(Breakpoints())
        world = World.captured(b"", allowed=False)
        try:
            run = Run(self.engine, node, debugger, world)
            came = debugger.start(run.evaluator, run.call, "continue")
        except SacError as refusal:
            came = Done(error=refusal)  # before it ran: there are no frames
        finally:
            world.finish()
        if not isinstance(came, Stop) or came.error is None or gist(came.error) != wanted:
            what = "ends well" if came.error is None else f"comes to this error: {came.error.diagnostics[0].message}"
            raise refused(
                "E0737",
                f"run again, the input {what}",
                "",
                "",
                "it was refused before it ran, or depends on input, files, clocks or random numbers; :step EXPR runs "
                "it in the world as it is",
            )
        self._stop, self._at, self._seen = came, len(came.frames) - 1, {}
        self._shown = run, None

    def move(self, by: int) -> list[str]:
        """Looks at another frame: -1, the caller's; 1, the one that it calls. Raises `SacError`."""
        frames = self.stop().frames
        at = self._at + by
        if not 0 <= at < len(frames):
            which = "outermost" if by < 0 else "innermost"
            raise refused("E0738", f"this is the {which} frame", "", "", ":where lists them all")
        self._at = at
        return [self._place(frames[at], at)]

    def where(self) -> list[str]:
        """The frames, innermost first; the one that is looked at is marked."""
        stop = self.stop()
        lines: list[str] = []
        for i in range(len(stop.frames) - 1, -1, -1):
            mark = ">" if i == self._at else " "
            lines.append(f"{mark} {_name(stop.frames[i])} {_position(self._span(stop, i))}")
        return lines

    def locals(self) -> list[str]:
        """The variables of the frame that is looked at, with their values."""
        frame = self.stop().frames[self._at]
        return [self._value(*one) for one in frame.variables()] or ["no variables yet"]

    def _value(self, name: str, base: str, value: Value) -> str:
        type = BUILTINS.get(base) or opaque(base)
        shown = Variable(type, (value,)).shown(self.engine.page)
        return f"{name}  {shown}" if "\n" not in shown else f"{name}  " + shown.replace("\n", "\n   ")

    def _changes(self, frame: FrameView) -> list[str]:
        """What is another variable or value than at the last stop."""
        now = {f"{frame.function} {name}": self._value(name, base, value) for name, base, value in frame.variables()}
        lines = [line for key, line in now.items() if self._seen.get(key) != line]
        self._seen = {**self._seen, **now}
        return [f"    {line}" for line in lines]

    def _span(self, stop: Stop, at: int) -> Span:
        frame = stop.frames[at]
        return frame.site.span if stop.error is None and at == len(stop.frames) - 1 else frame.span

    def _place(self, frame: FrameView, at: int) -> str:
        stop = self._stop
        span = frame.site.span if stop is None else self._span(stop, at)
        return f"{_name(frame)} {_position(span)}\n{_excerpt(span, self.engine.page.columns)}"

    def here(self, text: str) -> list[str]:
        """The values of an expression among the variables of the frame that is looked at. Raises `SacError`."""
        frame = self.stop().frames[self._at]
        assert self._shown is not None
        run = self._shown[0]
        types, values = evaluated(frame, text, run.program, lambda: self._evaluator(run))
        parts = iter(values)
        return [Variable(t, tuple(islice(parts, len(t.components)))).shown(self.engine.page) for t in types]

    def _evaluator(self, run: Run) -> Evaluator:
        """What evaluates beside a run, and can do no harm."""
        made = evaluator_of(self.engine, run.program, World.captured(b"", allowed=False), None)
        made.globals.update(run.evaluator.globals)
        return made

    # ------------------------------------------------------------ where a value came from

    def variable(self, name: str) -> tuple[str, Value] | None:
        """Base type and value of a variable of the frame that is looked at; None where nothing stands still, or it has
        no such variable."""
        if self._stop is None or (self._debugger is None and self.engine.failed is not self._failed):
            return None
        found = self._stop.frames[self._at].variables()
        return next(((base, value) for n, base, value in found if n == name), None)

    def why_here(self, name: str, index: tuple[int, ...]) -> list[str]:
        """What made an element of a variable of the frame that is looked at. Raises `SacError`."""
        found = self.variable(name)
        assert found is not None and self._shown is not None
        run, passed = self._shown
        recorder = Recorder(index, passed)
        again = Run(self.engine, run.node, recorder, World.captured(b"", allowed=False), run.variables)
        failed = False
        try:
            again.call()
        except Exit:
            pass
        except SacError:
            failed = True
        if not (failed if passed is None else recorder.reached):
            raise refused("E0737", "run again, the input does not come to this place", name, "", OTHERWISE)
        origin = recorder.origin(found[1], again.evaluator, self._at + 1)
        given = next((n for n, v in run.variables.items() if any(same(x, origin.given) for x in v.values)), None)
        if origin.site is None and given is not None:
            return self.why(given, index)
        return self._explained(name, index, origin)

    def why(self, name: str, index: tuple[int, ...]) -> list[str]:
        """What made an element of a named value. Raises `SacError`."""
        steps = [s.node for s in self.engine.steps if s.node is not None]
        values = [s.has_value for s in self.engine.steps if s.node is not None]
        before = len(steps)
        while True:
            last = _setter(steps, values, name, before)
            if last is None:
                raise refused(
                    "E0739", f"nothing here has set {name}", name, "", "it was given to this prompt from outside"
                )
            origin, given = self._traced_back(steps, values, last, name, index)
            if origin.site is not None or given is None:
                return self._explained(name, index, origin)
            name, before = given, last

    def _traced_back(
        self, steps: Sequence[ast.Expr | ast.Stmt], values: Sequence[bool], last: int, name: str, index: tuple[int, ...]
    ) -> tuple[Origin, str | None]:
        """What made it in the input with that number; or the name whose value it was before."""
        program = traced_program(self.engine)
        world = World.captured(b"", allowed=False)
        known: dict[str, Variable] = {}
        for number in _needed(steps, values, last):
            recorder = Recorder(index) if number == last else None
            found = entered(program, steps[number], known, str(number))
            evaluator = evaluator_of(self.engine, program, world, recorder)
            arguments = [v for n in found.parameters for v in known[n].values]
            try:
                results, alone = evaluator.call_giving(found.key, arguments, [False] * len(arguments))
            except SacError as error:
                message = f"run again, what has led to {name} comes to this error: {error.diagnostics[0].message}"
                raise refused("E0737", message, name, "", OTHERWISE) from None
            shown, changed = made_of(found, results, alone)
            if recorder is not None:
                made = (changed | ({ANSWER: shown[-1]} if shown else {}))[name]
                self._compare(made, name, index)
                value = made.values[0]
                origin = recorder.origin(value, evaluator)
                given = next((n for n in found.parameters if any(same(v, origin.given) for v in known[n].values)), None)
                return origin, given
            known |= changed | ({ANSWER: shown[-1]} if shown else {})
        raise AssertionError("the last input is among those that are needed")

    def _compare(self, made: Variable, name: str, index: tuple[int, ...]) -> None:
        """Raises `SacError` where the element is another one this time."""
        before = self.engine.variables.get(name)
        now, then = made.values[0], made.values[0] if before is None else before.values[0]
        if shape_of(now) == shape_of(then) and _same(now, then, index):
            return
        raise refused(
            "E0737",
            f"{name} is another value this time",
            name,
            "",
            OTHERWISE,
        )

    def _explained(self, name: str, index: tuple[int, ...], origin: Origin) -> list[str]:
        element = f"{name}[{', '.join(map(str, index))}]" if index else name
        if origin.site is None:
            return [f"{element} stands in the input as it is"]
        span = origin.site.span
        place = f"{_called(origin.site.function)} {_position(span)}"
        what = {
            "cell": f"{element} was made by a cell of a with-loop, in {place}",
            "default": f"{element} is in no partition of a with-loop: it has the default there, in {place}",
            "update": f"{element} was set in {place}",
            "statement": f"{element} was made by a statement, in {place}",
        }[origin.kind]
        variables = [f"    {self._value(*one)}" for one in origin.variables]
        return [what, _excerpt(span, self.engine.page.columns), *variables]


def _same(now: Any, then: Any, index: tuple[int, ...]) -> bool:
    a, b = (x[index] if shape_of(x) else x for x in (now, then))
    return bool(np.all((np.asarray(a) == np.asarray(b)) | ((np.asarray(a) != a) & (np.asarray(b) != b))))


def _setter(steps: Sequence[ast.Expr | ast.Stmt], values: Sequence[bool], name: str, before: int) -> int | None:
    """The last input before that number that has set a name."""
    return next((i for i in range(before - 1, -1, -1) if name in _sets(steps[i], values[i])), None)


def _sets(node: ast.Expr | ast.Stmt, has_value: bool) -> set[str]:
    return assigned(node, lambda call: mentioned(call)) | ({ANSWER} if has_value else set())


def _needed(steps: Sequence[ast.Expr | ast.Stmt], values: Sequence[bool], last: int) -> list[int]:
    """The inputs whose values the last one needs, and that one."""
    needed, wanted = [last], _uses(steps[last])
    for number in range(last - 1, -1, -1):
        if _sets(steps[number], values[number]) & wanted:
            needed.append(number)
            wanted |= _uses(steps[number])
    return needed[::-1]


def _uses(node: ast.Expr | ast.Stmt) -> set[str]:
    """The names whose values an input may need; an update needs the old value."""
    return mentioned(node) | assigned(node, lambda call: set())


def _called(function: str) -> str:
    return THE_INPUT if function.startswith(PREFIX) else function


def _name(frame: FrameView) -> str:
    return _called(frame.function)


def _position(span: Span) -> str:
    return f"at {span.source.name.strip('<>')}:{span.line}"


def _excerpt(span: Span, columns: int) -> str:
    """The lines of a statement, with their numbers; of a line that is wider than the page, the part with the
    statement."""
    first, count, room = span.line, span.text.count("\n") + 1, max(columns - MARGIN, 20)
    whole = [span.source.line(first + i) for i in range(min(count, SHOWN))]
    left = 0 if len(whole[0]) <= room or count > 1 else max(0, min(span.column - 5, len(whole[0]) - room))
    lines = [f"{first + i:>5} | {_clipped(line, left, room)}" for i, line in enumerate(whole)]
    if count == 1 and span.text != whole[0].strip().rstrip(";"):
        at = span.column - 1 - left
        lines.append(f"      | {' ' * at}{'^' * max(min(len(span.text), room - at), 1)}")
    return "\n".join([*lines, *(["    .. |"] if count > SHOWN else [])])


def _clipped(line: str, left: int, room: int) -> str:
    """So much of a line, from a column on."""
    shown = line[left : left + room]
    shown = f"...{shown[3:]}" if left else shown
    return f"{shown[:-3]}..." if len(line) > left + room else shown


def debugging_of(engine: Engine) -> Debugging:
    """The debugger of a prompt."""
    if engine.debugging is None:
        engine.debugging = Debugging(engine)
    return engine.debugging


__all__ = ["Debugging", "debugging_of"]
