"""A debug adapter: obeys an editor's requests by a `Debugger`.

In: requests on one stream. Out: responses and events on another. A program is launched once in a session, and runs
interpreted: compiled code keeps no variables to look at. What it prints becomes events of output.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sacpy.dap.messages import Broken, Connection, Message
from sacpy.interp.debugger import Breakpoints, Debugger, Done, Mode, Stop, normal
from sacpy.interp.evaluator import Evaluator
from sacpy.interp.notation import notation
from sacpy.interp.tracing import FrameView, statement_spans
from sacpy.interp.values import Value, shape_of
from sacpy.interp.world import World
from sacpy.lang.diagnostics import SacError, render_text
from sacpy.lang.elaborate.program import ElaboratedProgram, elaborate
from sacpy.lang.modules import parse_file
from sacpy.workspace import Workspace, call_main, main_key

THREAD = 1  # SaC programs have one, as far as a user is concerned
FEW = 12  # rows of an array that are shown in one line
LONGEST = 200  # characters of a value
MOST = 1000  # elements of an array that are listed at once
MODES: dict[str, Mode] = {"next": "next", "stepIn": "into", "stepOut": "out", "continue": "continue"}
REASONS = {"entry": "entry", "step": "step", "breakpoint": "breakpoint", "error": "exception"}


class _Output(io.RawIOBase):
    """A stream whose bytes become events."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__()
        self._tell = tell

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._tell(bytes(data).decode("utf-8", "backslashreplace"))
        return len(data)


class Adapter:
    """A session with an editor."""

    def __init__(self, connection: Connection, workspace: Workspace) -> None:
        self.connection = connection
        self.workspace = workspace
        self.breakpoints = Breakpoints()
        self.debugger = Debugger(self.breakpoints)
        self.program: ElaboratedProgram | None = None
        self.world: World | None = None
        self._stop: Stop | None = None
        self._on_entry = False
        self._parts: list[tuple[str, Value]] = []  # arrays that can be opened, by their reference
        self._running: threading.Thread | None = None

    def serve(self) -> int:
        """Obeys requests up to the end; the exit status."""
        while True:
            try:
                request = self.connection.read()
            except Broken as broken:
                self.connection.event("output", {"category": "stderr", "output": f"sacpy dap: {broken}\n"})
                return 1
            if request is None:
                break
            command = str(request.get("command", ""))
            handler = getattr(self, f"on_{command}", None)
            arguments = request.get("arguments") or {}
            if command in MODES:
                self._go(request, MODES[command])
            elif handler is None:
                self.connection.refuse(request, f"sacpy dap does not know the request {command}")
            else:
                handler(request, arguments)
            if command in ("disconnect", "terminate"):
                break
        self.debugger.abandon()
        return 0

    # ------------------------------------------------------------ beginning and end

    def on_initialize(self, request: Message, arguments: Message) -> None:
        """What the adapter can do."""
        able = (
            "supportsConfigurationDoneRequest", "supportsFunctionBreakpoints", "supportsEvaluateForHovers",
            "supportsTerminateRequest",
        )  # fmt: skip
        self.connection.respond(request, dict.fromkeys(able, True))

    def on_launch(self, request: Message, arguments: Message) -> None:
        """Loads a program: `program`, a path; `args`; `stopOnEntry`; `stdin`, a path."""
        path = Path(str(arguments.get("program", "")))
        try:
            _, found = self.workspace.load(path)
            space = self.workspace
            info = parse_file(path, space.include_path, space.defines, search=space.search)
            program = elaborate(info, space.loader(path.parent))
            program.traced = True
            main_key(program)
        except SacError as error:
            self.connection.refuse(request, render_text(error.diagnostics))
            return
        if found:
            self._say("stderr", render_text(found) + "\n")
        given = arguments.get("stdin")
        try:
            text = Path(given).read_bytes() if given else b""
        except OSError as error:
            self.connection.refuse(request, f"cannot read {given}: {error.strerror}")
            return
        words = (str(path), *map(str, arguments.get("args") or ()))
        self.world = World(
            io.BytesIO(text),
            _Output(lambda out: self._say("stdout", out)),
            _Output(lambda out: self._say("stderr", out)),
            tuple(w.encode(errors="surrogateescape") for w in words),
            environ=World.captured()._environ,
            by_line=True,
        )
        self.program, self._on_entry = program, bool(arguments.get("stopOnEntry"))
        self.connection.respond(request)
        self.connection.event("initialized")

    def on_configurationDone(self, request: Message, arguments: Message) -> None:
        """Starts the program."""
        self.connection.respond(request)
        program = self.program
        if program is None or self.world is None:
            return
        evaluator = Evaluator(
            program, self.world, depth_limit=self.workspace.limits.depth, always_copy=True, tracer=self.debugger
        )
        mode: Mode = "into" if self._on_entry else "continue"
        key = main_key(program)

        def begin() -> Stop | Done:
            return self.debugger.start(evaluator, lambda: call_main(program, evaluator, key), mode)

        self._drive(begin, self._on_entry)

    def on_disconnect(self, request: Message, arguments: Message) -> None:
        """Ends the program, wherever it stands."""
        self.debugger.abandon()
        self.connection.respond(request)

    on_terminate = on_disconnect

    # ------------------------------------------------------------ breakpoints

    def on_setBreakpoints(self, request: Message, arguments: Message) -> None:
        """The breakpoints of a file: each goes to the first line from there on where a statement begins."""
        name = normal(str(arguments["source"].get("path", "")))
        lines = sorted({s.line for s in self._statements() if normal(s.source.name) == name})
        taken: list[Message] = []
        wanted: set[int] = set()
        for one in arguments.get("breakpoints") or ():
            line = next((n for n in lines if n >= int(one["line"])), None)
            if line is None:
                taken.append({"verified": False, "message": "no statement begins there or below"})
            else:
                wanted.add(line)
                taken.append({"verified": True, "line": line})
        self.breakpoints.lines[name] = wanted
        self.connection.respond(request, {"breakpoints": taken})

    def _statements(self) -> Iterator[Any]:
        if self.program is None:
            return
        for scope in list(self.program.world.scopes.values()):
            if not scope.info.library:
                for function in scope.info.functions:
                    for definition in scope.info.definitions(function):
                        yield from statement_spans(definition)

    def on_setFunctionBreakpoints(self, request: Message, arguments: Message) -> None:
        """The functions at which the program stops."""
        names = [str(one["name"]) for one in arguments.get("breakpoints") or ()]
        known = {f for s in self._scopes() for f in s.info.functions}
        self.breakpoints.functions = set(names)
        body = [{"verified": name.rpartition("::")[2] in known} for name in names]
        self.connection.respond(request, {"breakpoints": body})

    def _scopes(self) -> list[Any]:
        return [] if self.program is None else [s for s in self.program.world.scopes.values() if not s.info.library]

    def on_setExceptionBreakpoints(self, request: Message, arguments: Message) -> None:
        """A program always stops where it fails."""
        self.connection.respond(request, {"breakpoints": []})

    # ------------------------------------------------------------ going on

    def on_pause(self, request: Message, arguments: Message) -> None:
        """Stops at the next statement."""
        self.debugger.interrupt()
        self.connection.respond(request)

    def _go(self, request: Message, mode: Mode) -> None:
        stop = self._stop
        if stop is None:
            self.connection.refuse(request, "the program does not stand still")
            return
        self._stop, self._parts = None, []
        body = {"allThreadsContinued": True} if mode == "continue" else None
        self.connection.respond(request, body)
        if stop.error is not None:
            self._ended(1)
        else:
            self._drive(lambda: self.debugger.go(mode), False)

    def _drive(self, action: Callable[[], Stop | Done], on_entry: bool) -> None:
        """Lets the program go on, in a thread, and tells when it stands still or has ended."""

        def run() -> None:
            came = action()
            if self.world is not None:
                self.world.flush()
            if isinstance(came, Stop):
                self._stop = came
                reason = "entry" if on_entry and came.reason == "step" else came.reason
                body: Message = {"reason": REASONS[reason], "threadId": THREAD, "allThreadsStopped": True}
                if came.error is not None:
                    first = came.error.diagnostics[0]
                    body |= {"description": first.code, "text": first.message}
                    self._say("stderr", render_text(came.error.diagnostics) + "\n")
                self.connection.event("stopped", body)
                return
            if came.error is not None:
                self._say("stderr", render_text(came.error.diagnostics) + "\n")
            results: Sequence[Any] = came.result or ()
            status = came.status if came.status is not None else int(results[0]) & 0xFF if len(results) else 0
            self._ended(1 if came.error is not None else status)

        self._running = threading.Thread(target=run, name="sacpy dap", daemon=True)
        self._running.start()

    def _ended(self, status: int) -> None:
        if self.world is not None:
            self.world.finish()
        self.connection.event("exited", {"exitCode": status})
        self.connection.event("terminated")

    def _say(self, category: str, text: str) -> None:
        self.connection.event("output", {"category": category, "output": text})

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
        """The value of a variable by its name, in a frame."""
        name, frames = str(arguments.get("expression", "")).strip(), self._frames()
        number = int(arguments.get("frameId") or len(frames))
        found = [] if not 1 <= number <= len(frames) else frames[number - 1].variables()
        one = next((v for v in found if v[0] == name), None)
        if one is None:
            self.connection.refuse(request, f"{name} is no variable here")
            return
        shown = self._variable(*one)
        self.connection.respond(
            request,
            {"result": shown["value"], "type": shown["type"], "variablesReference": shown["variablesReference"]},
        )

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


__all__ = ["Adapter"]
