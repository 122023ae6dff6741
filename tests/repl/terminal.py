"""A terminal with somebody at it: a process in a pseudo terminal, and the screen it draws.

Escape sequences are obeyed by a terminal emulator, so tests compare what a person sees; questions about the cursor are
answered as terminals do.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable, Sequence
from itertools import dropwhile
from pathlib import Path

import pexpect
import pyte

from tests.tools import ROOT

PATIENCE = 10.0  # seconds; reached only when something is wrong
ENTER, TAB, CTRL_A, CTRL_C, CTRL_D, CTRL_E, CTRL_R, ESCAPE, UP, RIGHT, LEFT = (
    "\r",
    "\t",
    "\x01",
    "\x03",
    "\x04",
    "\x05",
    "\x12",
    "\x1b",
    "\x1b[A",
    "\x1b[C",
    "\x1b[D",
)
WHERE = b"\x1b[6n"  # the question where the cursor is
READY = r"(?:\A|\n)>>>\Z"


class Terminal:
    """A command in a terminal of so many columns and lines. `state` is the folder of its history, `folder` that in
    which it runs; `environment` is added to the process's own."""

    def __init__(
        self,
        state: Path,
        columns: int = 80,
        lines: int = 24,
        arguments: Sequence[str] = (),
        folder: Path | None = None,
        **environment: str,
    ) -> None:
        own = {
            k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "PYTHONDONTWRITEBYTECODE", "COLUMNS", "LINES")
        }
        own |= {
            "XDG_STATE_HOME": str(state),
            "TERM": "xterm-256color",
            "PYTHONIOENCODING": "utf-8",
            "PYTHONPATH": str(ROOT),
        } | environment
        self.screen = pyte.HistoryScreen(columns, lines, history=2000, ratio=0.5)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.started = time.perf_counter()
        self.process = pexpect.spawn(
            sys.executable,
            ["-m", "sacpy", *arguments],
            env=own,
            dimensions=(lines, columns),
            timeout=PATIENCE,
            cwd=folder,
            preexec_fn=_hear_interrupts,
        )
        self.process.delaybeforesend = None

    # ------------------------------------------------------------ seeing

    @property
    def text(self) -> str:
        """All lines so far, those that have left the screen too, without trailing spaces."""
        return "\n".join(
            [*(self._line(line) for line in self.screen.history.top), *(line.rstrip() for line in self.screen.display)]
        ).rstrip()

    def _line(self, line: object) -> str:
        return "".join(line[x].data for x in range(self.screen.columns)).rstrip()  # type: ignore[index]

    @property
    def typed(self) -> str:
        """What stands behind the last prompt, line by line, without prompts."""
        lines = self.text.split("\n")
        last = max(i for i, line in enumerate(lines) if line.startswith(">>>"))
        return "\n".join(line[4:] for line in lines[last:] if line.startswith((">>>", "...")))

    def look(self, seconds: float = 0.02) -> None:
        """Takes up what has been written."""
        try:
            data = self.process.read_nonblocking(1 << 16, seconds)
        except pexpect.TIMEOUT:
            return
        self.raw += data
        self._stream.feed(data)
        if WHERE in data:
            self.process.send(f"\x1b[{self.screen.cursor.y + 1};{self.screen.cursor.x + 1}R")

    def until(self, holds: Callable[[], object], what: str = "what was waited for") -> None:
        """Looks until something holds."""
        end = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < end, f"{what} did not come; the screen shows\n{self.text}"
            try:
                self.look()
            except pexpect.EOF:
                assert holds(), f"the process ended; the screen shows\n{self.text}"

    def wait(self, pattern: str) -> str:
        """Looks until the text matches (`re.search`), and gives it."""
        self.until(lambda: re.search(pattern, self.text), repr(pattern))
        return self.text

    # ------------------------------------------------------------ typing

    def type(self, text: str) -> None:
        """Types without waiting."""
        self.process.send(text)

    def enter(self, text: str) -> str:
        """Types an input, waits for the next prompt, and gives what was shown for it, the input left out."""
        self.clear()
        self.type(text)
        end = text.split("\n")[-1].strip()[-20:]
        self.until(lambda: end in self.text, f"{end!r} on the screen")
        self._prompted(ENTER)
        return "\n".join(dropwhile(lambda line: line.startswith((">>>", "...")), self.text.split("\n")[:-1]))

    def cancel(self) -> None:
        """Types Ctrl-C at the prompt, and waits for the next."""
        self._prompted(CTRL_C)

    def clear(self) -> None:
        """Clears the screen, at an empty prompt."""
        self.wait(READY)
        self._prompted("\x0c")
        self.until(
            lambda: (
                self.screen.display[0].rstrip() == ">>>" and not any(line.strip() for line in self.screen.display[1:])
            ),
            "a cleared screen",
        )
        self.screen.history.top.clear()

    def _prompted(self, key: str) -> None:
        """Types a key and waits for the prompt that is drawn then: the editor asks each time where the cursor is."""
        asked = self.raw.count(WHERE)
        self.type(key)
        self.until(lambda: self.raw.count(WHERE) > asked and re.search(READY, self.text), "the next prompt")

    def interrupt(self) -> None:
        """Ctrl-C."""
        self.process.sendintr()

    def end(self) -> int:
        """Leaves with Ctrl-D, and gives the exit status."""
        self.wait(READY)
        self.type(CTRL_D)
        return self.status()

    def status(self) -> int:
        """The exit status, when the process has ended."""
        end = time.monotonic() + PATIENCE
        try:
            while time.monotonic() < end:
                self.look()
        except pexpect.EOF:
            self.process.wait()
        assert not self.process.isalive(), f"the process goes on; the screen shows\n{self.text}"
        status = self.process.exitstatus
        return 128 + self.process.signalstatus if status is None else status

    def kill(self) -> None:
        """Ends the process whatever it does."""
        self.process.close(force=True)


def _hear_interrupts() -> None:
    # a test run in the background ignores them, and hands that on
    signal.signal(signal.SIGINT, signal.default_int_handler)
