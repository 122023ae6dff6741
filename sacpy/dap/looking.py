"""What a debug adapter tells of a program that stands still: frames, variables, expressions, where values came from.

In: where the program stands, and an editor's requests. Out: responses.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from sacpy.dap.messages import Connection, Message
from sacpy.interp.debugger import Breakpoints, Debugger, Stop, normal
from sacpy.interp.errors import Exit
from sacpy.interp.evaluator import Evaluator
from sacpy.interp.inspection import evaluated
from sacpy.interp.notation import notation
from sacpy.interp.origins import Recorder
from sacpy.interp.tracing import FrameView, Tracer
from sacpy.interp.values import Value, shape_of
from sacpy.interp.world import World
from sacpy.lang.diagnostics import Diagnostic, SacError, render_text
from sacpy.lang.elaborate.program import ElaboratedProgram
from sacpy.lang.source import NOWHERE
from sacpy.workspace import Workspace, call_main

THREAD = 1  # SaC programs have one, as far as a user is concerned
FEW = 12  # rows of an array that are shown in one line
LONGEST = 200  # characters of a value
MOST = 1000  # elements of an array that are listed at once
_WHY = re.compile(r":?why\s+(\w+)\s*(\[.*\])?")


class Looking:
    """Of a session with an editor: what stands still, and what it may ask about it."""

    def __init__(self, connection: Connection, workspace: Workspace) -> None:
        self.connection = connection
        self.workspace = workspace
        self.debugger = Debugger(Breakpoints())
        self.program: ElaboratedProgram | None = None
        self._given: tuple[bytes, tuple[bytes, ...]] = b"", ()  # standard input, and the words of the command line
        self._stop: Stop | None = None
        self._parts: list[tuple[str, Value]] = []  # arrays that can be opened, by their reference

    def _program(self) -> ElaboratedProgram:
        assert self.program is not None
        return self.program

    def _evaluator(self, world: World | None = None, tracer: Tracer | None = None) -> Evaluator:
        """What interprets the program; without a world, beside the run, and in a world where it can do no harm."""
        depth = self.workspace.limits.depth
        aside = world is None
        world = World.captured(b"", allowed=False) if world is None else world
        made = Evaluator(self._program(), world, depth_limit=depth, always_copy=True, tracer=tracer)
        if aside and self.debugger.evaluator is not None:
            made.globals.update(self.debugger.evaluator.globals)
        return made

    # ------------------------------------------------------------ looking

    def on_threads(self, request: Message, arguments: Message) -> None:
        """There is one."""
        self.connection.respond(request, {"threads": [{"id": THREAD, "name": "main"}]})

    def on_stackTrace(self, request: Message, arguments: Message) -> None:
        """The frames, innermost first."""
        frames = self._frames()
        first = int(arguments.get("startFrame") or 0)
        count = int(arguments.get("levels") or len(frames))
        found: list[Message] = []
        for number in range(len(frames) - 1 - first, max(len(frames) - 1 - first - count, -1), -1):
            frame = frames[number]
            innermost = number == len(frames) - 1 and self._stop is not None and self._stop.error is None
            span = frame.site.span if innermost else frame.span
            end = span.source.position(span.end)
            found.append(
                {
                    "id": number + 1, "name": frame.function, "line": span.line, "column": span.column,
                    "endLine": end[0], "endColumn": end[1],
                    "source": {"name": Path(span.source.name).name, "path": normal(span.source.name)},
                }
            )  # fmt: skip
        self.connection.respond(request, {"stackFrames": found, "totalFrames": len(frames)})

    def _frames(self) -> tuple[FrameView, ...]:
        return () if self._stop is None else self._stop.frames

    def on_scopes(self, request: Message, arguments: Message) -> None:
        """The variables of a frame are one scope."""
        number = int(arguments.get("frameId") or 0)
        if not 1 <= number <= len(self._frames()):
            self.connection.refuse(request, "there is no such frame")
            return
        scope = {"name": "Variables", "variablesReference": number, "expensive": False, "presentationHint": "locals"}
        self.connection.respond(request, {"scopes": [scope]})

    def on_variables(self, request: Message, arguments: Message) -> None:
        """The variables of a frame, or the elements of an array along its first axis."""
        reference, frames = int(arguments.get("variablesReference") or 0), self._frames()
        if 1 <= reference <= len(frames):
            shown = [self._variable(n, base, value) for n, base, value in frames[reference - 1].variables()]
        elif 0 <= (at := reference - len(frames) - 1) < len(self._parts):
            base, array = self._parts[at]
            start = int(arguments.get("start") or 0)
            count = min(int(arguments.get("count") or MOST), MOST)
            rows = range(start, min(start + count, len(array)))
            shown = [self._variable(f"[{i}]", base, _row(array[i])) for i in rows]
        else:
            self.connection.refuse(request, "there are no such variables")
            return
        self.connection.respond(request, {"variables": shown})

    def on_evaluate(self, request: Message, arguments: Message) -> None:
        """The value of an expression among the variables of a frame; of `why x[1]`, what made an element."""
        text, frames = str(arguments.get("expression", "")).strip(), self._frames()
        number = int(arguments.get("frameId") or len(frames))
        if not 1 <= number <= len(frames):
            self.connection.refuse(request, "the program does not stand still")
            return
        why = _WHY.fullmatch(text)
        try:
            if why is not None:
                self.connection.respond(
                    request, {"result": self._why(number, why[1], why[2] or ""), "variablesReference": 0}
                )
                return
            shown = self._shown(frames[number - 1], text)
        except SacError as error:
            self.connection.refuse(request, error.diagnostics[0].message)
            return
        self.connection.respond(
            request,
            {"result": shown["value"], "type": shown["type"], "variablesReference": shown["variablesReference"]},
        )

    def _shown(self, frame: FrameView, text: str) -> Message:
        """A variable, by its name, or the value of an expression. Raises `SacError`."""
        one = next((v for v in frame.variables() if v[0] == text.strip()), None)
        if one is not None:
            return self._variable(*one)
        types, values = evaluated(frame, text, self._program(), self._evaluator)
        if len(types) != 1 or len(values) != 1:
            message = f"{text} has {len(values) or 'no'} value{'s' * (len(values) != 1)}, and one can be shown"
            raise SacError(Diagnostic("E0732", message, NOWHERE))
        return self._variable(text, types[0].key, values[0])

    def _why(self, number: int, name: str, index: str) -> str:
        """What made an element of a variable of a frame: the program runs again to here, in a world in which it reads
        what it has been given, and nothing else. Raises `SacError`."""
        assert self._stop is not None
        frame = self._stop.frames[number - 1]
        value = next((v for n, _, v in frame.variables() if n == name), None)
        if value is None:
            raise SacError(Diagnostic("E0739", f"{name} is no variable here", NOWHERE))
        at: tuple[int, ...] = ()
        if index:
            _, found = evaluated(frame, index, self._program(), self._evaluator)
            at = tuple(int(i) for i in np.atleast_1d(found[0]))
        shape = shape_of(value)
        if len(at) != len(shape) or not all(0 <= i < n for i, n in zip(at, shape)):
            message = f"{name} has the shape [{','.join(map(str, shape))}], and an element the index of one"
            raise SacError(Diagnostic("E0739", message, NOWHERE))
        failed = self._stop.error is not None
        recorder = Recorder(at, None if failed else self.debugger.passed)
        world = World.captured(self._given[0], self._given[1], allowed=False)
        evaluator = self._evaluator(world, recorder)
        ended = False
        try:
            call_main(self._program(), evaluator, self._program().main_key())
        except Exit:
            pass
        except SacError:
            ended = True
        if not (ended if failed else recorder.reached):
            message = "run again, the program does not come to this place: it depends on files, clocks or chance"
            raise SacError(Diagnostic("E0737", message, NOWHERE))
        origin = recorder.origin(value, evaluator, number)
        if origin.site is None:
            return f"{name}{index} was given to the program"
        span, kinds = origin.site.span, {"cell": "by a cell of a with-loop", "default": "as the default of a with-loop"}
        variables = "".join(f"\n  {n} = {self._variable(n, base, v)['value']}" for n, base, v in origin.variables)
        how = kinds.get(origin.kind, "by an update" if origin.kind == "update" else "by a statement")
        place = f"{Path(span.source.name).name}:{span.line}"
        return f"{name}{index} was made {how}, in {origin.site.function} at {place}: {span.text}{variables}"

    def on_exceptionInfo(self, request: Message, arguments: Message) -> None:
        """What the program has failed with."""
        error = None if self._stop is None else self._stop.error
        if error is None:
            self.connection.refuse(request, "the program has not failed")
            return
        first = error.diagnostics[0]
        text = render_text(error.diagnostics)
        body = {"exceptionId": first.code, "description": first.message, "breakMode": "always"}
        self.connection.respond(request, {**body, "details": {"message": first.message, "stackTrace": text}})

    def _variable(self, name: str, base: str, value: Value) -> Message:
        """A variable as editors show it: type with shape, elements, and whether it can be opened."""
        shape = shape_of(value)
        type_ = base.rpartition("::")[2] + (f"[{','.join(map(str, shape))}]" if shape else "")
        reference = 0
        if shape and shape[0]:
            self._parts.append((base, value))
            reference = len(self._frames()) + len(self._parts)
        few = value[:FEW] if shape and shape[0] > FEW else value
        text = notation(few, base)
        text = text if len(text) <= LONGEST and few is value else f"{text[:LONGEST].rstrip(']')} .."
        shown: Message = {"name": name, "type": type_, "value": f"{type_} {text}", "variablesReference": reference}
        return shown | ({"indexedVariables": shape[0]} if reference else {})


def _row(value: Any) -> Value:
    return value if isinstance(value, np.ndarray) else value.item() if isinstance(value, np.generic) else value


__all__ = ["THREAD", "Looking"]
