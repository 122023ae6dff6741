"""What the prompt costs somebody at a terminal: until it is there, and a keystroke in a long definition.

What is measured is the time that one waits, or, if that is less, the time that the prompt's own thread computed: how long it waits for other processes says nothing about it. Left out where there are no pseudo terminals.
"""

from __future__ import annotations

import re
import tempfile
import time
from pathlib import Path

from benchmarks.measure import Row, duration

PROMPT_READY, KEYSTROKE = 300.0, 20.0  # milliseconds
LINES = 197


def definition(lines: int) -> str:
    """The beginning of a function, up to an expression that somebody is about to type."""
    return "int f(int a)\n{\n" + "".join(f"  x{i} = a * {i} + toi(2.5) + sum(iota({i})); // line {i}\n" for i in range(lines)) + "  return "


def measure(repetitions: int) -> list[Row]:
    """Rows; none where a terminal cannot be had."""
    try:
        from tests.repl.terminal import READY, Terminal
    except ImportError:
        return []
    if not Path("/proc/self/schedstat").exists():
        return []
    ready = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(repetitions):
            terminal = Terminal(Path(folder))
            terminal.wait(READY)
            ready.append(min(time.perf_counter() - terminal.started, computed(terminal.process.pid)))
            terminal.kill()
        keys = keystrokes(Path(folder), LINES)
    return [duration("the prompt is ready, in a fresh process", ready, "ms", PROMPT_READY), duration(f"a keystroke in a definition of {LINES} lines", keys, "ms", KEYSTROKE)]


def keystrokes(folder: Path, lines: int) -> list[float]:
    """Seconds that each of some keystrokes takes, in a definition of so many lines."""
    from tests.repl.terminal import READY, Terminal

    terminal = Terminal(folder)
    terminal.wait(READY)
    terminal.enter("1 + 1")
    terminal.type(f"\x1b[200~{definition(lines)}\x1b[201~")
    terminal.wait(r"return\Z")
    taken, typed = [], "return "
    for key in "sum(take([3], iota(5))":
        terminal.look(0.05)
        start, before = time.perf_counter(), computed(terminal.process.pid)
        terminal.type(key)
        typed += key
        terminal.wait(re.escape(typed.rstrip()))
        taken.append(min(time.perf_counter() - start, computed(terminal.process.pid) - before))
    terminal.kill()
    return taken


def computed(process: int) -> float:
    """Seconds that the main thread of a process has computed."""
    return int(Path(f"/proc/{process}/schedstat").read_text().split()[0]) / 1e9
