"""What the prompt costs somebody at a terminal: until it is there, from Enter to a value, a keystroke in a long
definition.

What is measured is the time that one waits, or, if that is less, the time that the prompt's own thread computed: how
long it waits for other processes says nothing about it. Left out where there are no pseudo terminals.
"""

from __future__ import annotations

import re
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import Row, duration

if TYPE_CHECKING:
    from tests.repl.terminal import Terminal

PROMPT_READY, FIRST_VALUE, VALUE, KEYSTROKE = 250.0, 60.0, 10.0, 20.0  # milliseconds
VALUES = 6  # inputs to each prompt; the first is measured by itself
LINES = 197


def definition(lines: int) -> str:
    """The beginning of a function, up to an expression that somebody is about to type."""
    return (
        "int f(int a)\n{\n"
        + "".join(f"  x{i} = a * {i} + toi(2.5) + sum(iota({i})); // line {i}\n" for i in range(lines))
        + "  return "
    )


def measure(repetitions: int) -> list[Row]:
    """Rows; none where a terminal cannot be had."""
    try:
        from tests.repl.terminal import READY, Terminal
    except ImportError:
        return []
    if not Path("/proc/self/schedstat").exists():
        return []
    ready, first, later = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(repetitions):
            terminal = Terminal(Path(folder))
            terminal.wait(READY)
            ready.append(min(time.perf_counter() - terminal.started, computed(terminal.process.pid)))
            taken = values(terminal)
            first.append(taken[0])
            later += taken[1:]
            terminal.kill()
        keys = keystrokes(Path(folder), LINES)
    return [
        duration("the prompt is ready, in a fresh process", ready, "ms", PROMPT_READY),
        duration("from Enter to the value of the first 1+1", first, "ms", FIRST_VALUE),
        duration("from Enter to the value of another 1+1", later, "ms", VALUE),
        duration(f"a keystroke in a definition of {LINES} lines", keys, "ms", KEYSTROKE),
    ]


def values(terminal: Terminal) -> list[float]:
    """Seconds from Enter to the value on the screen, for each of some inputs. The first comes when all has been loaded,
    as it has when somebody has typed it."""
    taken = []
    for _ in range(VALUES):
        terminal.clear()
        terminal.type("1+1")
        terminal.wait(r"1\+1\Z")
        settled(terminal)
        start, before = time.perf_counter(), computed(terminal.process.pid)
        terminal.type("\r")
        terminal.until(lambda: "int 2" in terminal.text)
        taken.append(min(time.perf_counter() - start, computed(terminal.process.pid) - before))
        terminal.wait(r"int 2\n>>>\Z")
    return taken


def settled(terminal: Terminal) -> None:
    """Waits until the prompt's process has nothing to do."""
    before = -1.0
    while (now := computed(terminal.process.pid)) != before:
        before = now
        terminal.look(0.3)


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
