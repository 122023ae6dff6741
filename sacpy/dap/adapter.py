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

from sacpy.dap.looking import THREAD, Looking
from sacpy.dap.messages import Broken, Connection, Message
from sacpy.interp.debugger import Done, Mode, Rule, Stop, normal
from sacpy.interp.inspection import holds
from sacpy.interp.tracing import statement_spans
from sacpy.interp.world import World
from sacpy.lang.diagnostics import SacError, render_text
from sacpy.lang.elaborate.program import elaborate
from sacpy.lang.modules import parse_file
from sacpy.workspace import Workspace, call_main

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


class Adapter(Looking):
    """A session with an editor."""

    def __init__(self, connection: Connection, workspace: Workspace) -> None:
        super().__init__(connection, workspace)
        self.breakpoints = self.debugger.breakpoints
        self.debugger.judge = lambda frame, text: holds(frame, text, self._program(), self._evaluator)
        self.debugger.shows = lambda frame, text: self._shown(frame, text)["value"]
        self.debugger.tell = lambda text: self._say("console", f"{text}\n")
        self.world: World | None = None
        self._on_entry = False
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
            try:
                if command in MODES:
                    self._go(request, MODES[command])
                elif handler is None:
                    self.connection.refuse(request, f"sacpy dap does not know the request {command}")
                else:
                    handler(request, arguments)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                self.connection.refuse(request, f"the request {command} lacks something, or has it wrong: {error!r}")
            if command in ("disconnect", "terminate"):
                break
        self.debugger.abandon()
        return 0

    # ------------------------------------------------------------ beginning and end

    def on_initialize(self, request: Message, arguments: Message) -> None:
        """What the adapter can do."""
        able = (
            "supportsConfigurationDoneRequest", "supportsFunctionBreakpoints", "supportsEvaluateForHovers",
            "supportsTerminateRequest", "supportsConditionalBreakpoints", "supportsHitConditionalBreakpoints",
            "supportsLogPoints", "supportsExceptionInfoRequest",
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
            program.main_key()
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
        words = tuple(w.encode(errors="surrogateescape") for w in (str(path), *map(str, arguments.get("args") or ())))
        self._given = text, words
        self.world = World(
            io.BytesIO(text),
            _Output(lambda out: self._say("stdout", out)),
            _Output(lambda out: self._say("stderr", out)),
            words,
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
        evaluator = self._evaluator(self.world, self.debugger)
        self._say("console", "this run is interpreted: compiled code keeps no variables to look at\n")
        mode: Mode = "into" if self._on_entry else "continue"
        key = program.main_key()

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
        rules: dict[str | tuple[str, int], Rule] = {}
        for one in arguments.get("breakpoints") or ():
            line = next((n for n in lines if n >= int(one["line"])), None)
            rule, wrong = _rule(one)
            if line is None or rule is None:
                taken.append({"verified": False, "message": wrong or "no statement begins there or below"})
            else:
                wanted.add(line)
                rules[name, line] = rule
                taken.append({"verified": True, "line": line})
        for key in [k for k in self.breakpoints.rules if isinstance(k, tuple) and k[0] == name]:
            del self.breakpoints.rules[key]
        self.breakpoints.rules.update(rules)
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
        for key in [k for k in self.breakpoints.rules if isinstance(k, str)]:
            del self.breakpoints.rules[key]
        for one in arguments.get("breakpoints") or ():
            rule, _ = _rule(one)
            if rule is not None:
                self.breakpoints.rules[str(one["name"])] = rule
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


def _rule(wanted: Message) -> tuple[Rule | None, str]:
    """What a breakpoint asks besides its place; or what is wrong with that."""
    hits = str(wanted.get("hitCondition") or "0").strip().removeprefix(">=").strip()
    if not hits.isdigit():
        return None, f"{wanted['hitCondition']} is no number of times"
    return Rule(str(wanted.get("condition") or ""), int(hits), str(wanted.get("logMessage") or "")), ""


__all__ = ["Adapter"]
