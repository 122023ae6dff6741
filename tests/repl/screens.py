"""What a terminal shows after a session, at three widths.

`python -m tests.repl.screens` writes the files in `screens/` anew, after a look at what has changed.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.repl.terminal import ENTER, READY, TAB, Terminal

FOLDER = Path(__file__).parent / "screens"
WIDTHS = (40, 80, 200)
LINES = 34


def screens(width: int, colour: bool) -> tuple[str, Terminal]:
    """The session's screens below each other, and the terminal (its process has ended)."""
    settings = {} if colour else {"NO_COLOR": "1"}
    with tempfile.TemporaryDirectory() as folder:
        terminal = Terminal(Path(folder), width, LINES, folder=Path(folder), **settings)
        try:
            terminal.wait(READY)
            return "\n".join(f"=== {what}\n{screen}" for what, screen in _session(terminal)), terminal
        finally:
            terminal.kill()


def _session(terminal: Terminal) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []

    def keep(what: str, pattern: str) -> None:
        terminal.wait(pattern)
        found.append((what, terminal.text))

    def fresh() -> None:
        terminal.cancel()
        terminal.clear()

    terminal.clear()
    terminal.type(
        "double[n] blur(double[n] v) | (n > 2)\r{\rreturn { [i] -> HALF(v[i - 1] + v[i + 1]) | [1] <= [i] < [n - "
        "1];\r[i] -> v[i] | [i] < [n] };\r}"
    )
    keep("a definition, before Enter", r"\[n\] };\n[\s\S]*}\Z")
    fresh()
    terminal.enter("x = iota(3) * 2;")
    terminal.clear()
    terminal.type("x + 1" + ENTER)
    keep("a value", r"\]\n>>>\Z")
    terminal.clear()
    terminal.type("x = ; y" + ENTER)
    keep("a mistake", r"E\d[\s\S]*\n>>>\Z")
    terminal.clear()
    terminal.type("resha" + TAB + "([3], x")
    keep("a call, with its signature", r"\[3\], x\n[\s\S]*reshape\(")
    fresh()
    terminal.type("Math::ta" + TAB)
    keep("a menu", r"T tanh\(T x\)")
    fresh()
    terminal.type("\x1b[200~>>> a = 1\n>>> a + 1\nint 2\n\x1b[201~")
    keep("a transcript, pasted", r">>> a \+ 1\Z")
    terminal.type(ENTER)
    keep("and obeyed", r"int 2\n>>>\Z")
    terminal.clear()
    terminal.type('printf("on\\n"); while (true) {}' + ENTER)
    terminal.wait(r"\non\n")
    terminal.interrupt()
    keep("an endless loop, interrupted", r"E0702[\s\S]*\n>>>\Z")
    return found


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for columns in WIDTHS:
        (FOLDER / f"{columns}.txt").write_text(screens(columns, True)[0] + "\n", encoding="utf-8")
