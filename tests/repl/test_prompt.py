"""The prompt as a process: on a terminal of its own, and with a pipe for input."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ESCAPE = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\x1b\][^\x07]*\x07")
READY = r">>>\s*$"
PATIENCE = 20.0  # seconds; reached only when something is wrong


def _hear_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a test run in the background ignores them, and hands that on


class Terminal:
    """A prompt in a pseudo-terminal."""

    def __init__(self, state: Path) -> None:
        self.screen, inner = pty.openpty()
        environment = {**os.environ, "XDG_STATE_HOME": str(state), "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
        self.process = subprocess.Popen([sys.executable, "-m", "sacpy"], stdin=inner, stdout=inner, stderr=inner, env=environment, start_new_session=True, preexec_fn=_hear_interrupts)
        os.close(inner)
        self.seen = b""
        self.done = 0  # how much of what was shown has been waited for

    def wait_for(self, pattern: str) -> str:
        """Reads until the pattern has been shown behind what was waited for before; gives what was shown up to its end."""
        end = time.monotonic() + PATIENCE
        while True:
            plain = ESCAPE.sub(b"", self.seen).replace(b"\r", b"").decode(errors="replace")[self.done :]
            match = re.search(pattern, plain)
            if match:
                self.done += match.end()
                return plain[: match.end()]
            assert time.monotonic() < end, f"{pattern!r} was not shown, but {plain!r}"
            if select.select([self.screen], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self.screen, 65536)
                except OSError:
                    assert re.search(pattern, plain), f"the process ended after {plain!r}"

    def type(self, text: str) -> None:
        os.write(self.screen, text.encode())

    def close(self) -> int:
        """Types Ctrl-D at the prompt and gives the exit status."""
        self.wait_for(READY)
        self.type("\x04")
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < end:
            if select.select([self.screen], [], [], 0.1)[0]:
                try:
                    os.read(self.screen, 65536)
                except OSError:
                    break
        status = self.process.wait(PATIENCE)
        os.close(self.screen)
        return status


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    made = Terminal(tmp_path)
    try:
        made.wait_for(READY)
        yield made
    finally:
        made.process.kill()
        made.process.wait()


def test_a_conversation(terminal: Terminal, tmp_path: Path) -> None:
    terminal.type("x = iota(4)\r")
    terminal.wait_for(READY)
    terminal.type("x + 1\r")
    assert "int[4] [1, 2, 3, 4]" in terminal.wait_for(r"4\]\n(.|\n)*>>>\s*$")
    terminal.type("int f(int a)\r{\r")
    terminal.wait_for(r"\.\.\.\s*$")
    terminal.type("return a + 1;\r}\r")
    terminal.wait_for(READY)
    terminal.type("f(41)\r")
    terminal.wait_for(r"int 42")
    terminal.type('printf("no line end")\r')
    terminal.wait_for(r"no line end\n")
    assert terminal.close() == 0
    assert "int f(int a)" in (tmp_path / "sacpy/history").read_text()


def test_ctrl_c_keeps_all_names(terminal: Terminal) -> None:
    terminal.type("x = 7\r")
    terminal.wait_for(READY)
    terminal.type("half a line\x03")
    terminal.wait_for(r"interrupted")
    terminal.type('printf("on\\n"); while (true) { x = x; }\r')
    terminal.wait_for(r"\non\n")
    os.killpg(terminal.process.pid, signal.SIGINT)
    terminal.wait_for(r"E0702")
    terminal.wait_for(READY)
    terminal.type("x + 1\r")
    terminal.wait_for(r"int 8")
    assert terminal.close() == 0


def piped(text: str) -> tuple[int, str, str]:
    done = subprocess.run([sys.executable, "-m", "sacpy"], input=text, capture_output=True, text=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stdout, done.stderr


def test_a_pipe_gets_no_prompt() -> None:
    text = "x = 3\nint f(int a)\n{\n  return a * 2;\n}\nf(x)\n:vars\n"
    assert piped(text) == (0, "int 6\nx  int\n", "")


def test_a_pipe_goes_on_after_a_mistake_and_tells_with_its_status() -> None:
    status, out, err = piped("x = 3\ny = x + 1.5\nx\nint f(")
    assert (status, out) == (1, "int 3\n")
    assert "E0403" in err and err.count("error[") == 2


def test_quit_in_a_pipe() -> None:
    assert piped("1\n:quit\n2\n")[:2] == (0, "int 1\n")
