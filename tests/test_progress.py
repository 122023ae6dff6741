"""The sign of life of long runs: on terminals only, and never in what is written."""

import io
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sacpy.commands import progress
from sacpy.commands.progress import ERASE, Progress, elapsed
from sacpy.interp.world import World
from tests.repl.terminal import ENTER, PATIENCE, Terminal

LONG = """use StdIO: all; use Array: all;
int main()
{
  printf("begin\\n");
  n = 0; i = 0;
  while (i >= 0) { i = (i + 1) % 1000; }
  return 0;
}
"""
SPINNER = r"[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] \d\.\d s"


class Tty(io.BytesIO):
    """Bytes that say they are a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Callable[[World], Progress]:
    """A progress whose world writes to a terminal, in a hurry."""
    monkeypatch.setattr(progress, "DELAY", 0.01)
    monkeypatch.setattr(progress, "STEP", 0.005)
    monkeypatch.setenv("TERM", "xterm")

    def make(world: World) -> Progress:
        monkeypatch.setattr(sys, "stderr", Tty())
        monkeypatch.setattr(sys, "stdout", Tty())
        return Progress(world)

    return make


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.001)


def screen_of_both() -> tuple[World, io.BytesIO]:
    """A world whose two streams are one terminal."""
    screen = io.BytesIO()
    return World(io.BytesIO(b"line\n"), screen, screen), screen


def test_it_appears_after_a_while_and_is_erased_at_the_end(shown: Callable[[World], Progress]) -> None:
    world, screen = screen_of_both()
    with shown(world).watching():
        assert screen.getvalue() == b""
        until(lambda: screen.getvalue().count(b" s") > 2)
    assert screen.getvalue().endswith(ERASE)
    after = screen.getvalue()
    time.sleep(0.03)
    assert screen.getvalue() == after


def test_it_is_erased_before_output_and_stays_away_within_a_line(shown: Callable[[World], Progress]) -> None:
    world, screen = screen_of_both()
    with shown(world).watching():
        until(lambda: b" s" in screen.getvalue())
        world.stdout.write(b"open")
        world.flush()
        assert screen.getvalue().endswith(ERASE + b"open")
        time.sleep(0.05)
        assert screen.getvalue().endswith(b"open")
        world.stdout.write(b" end\n")
        world.flush()
        until(lambda: screen.getvalue().endswith(b"s\x1b[K"))
    assert screen.getvalue().endswith(ERASE)


def test_nothing_is_drawn_once_a_process_has_the_terminal(shown: Callable[[World], Progress]) -> None:
    world, screen = screen_of_both()
    with shown(world).watching():
        until(lambda: b" s" in screen.getvalue())
        world.allow_processes("run true")
        before = screen.getvalue()
        assert before.endswith(ERASE)
        time.sleep(0.05)
        assert screen.getvalue() == before


def test_nothing_is_drawn_without_a_terminal_or_on_a_dumb_one(
    shown: Callable[[World], Progress], monkeypatch: pytest.MonkeyPatch
) -> None:
    world, screen = screen_of_both()
    monkeypatch.setenv("TERM", "dumb")
    with shown(world).watching():
        time.sleep(0.05)
    assert screen.getvalue() == b""


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.0 s"), (59.94, "59.9 s"), (60, "1:00 min"), (3599.9, "59:59 min"), (3725, "1:02:05 h")],
)
def test_durations(seconds: float, text: str) -> None:
    assert elapsed(seconds) == text


def test_a_script_shows_it_on_request(tmp_path: Path) -> None:
    (tmp_path / "long.sac").write_text(LONG)
    terminal = Terminal(tmp_path, arguments=["run", "--progress", "--seconds", "1.5", str(tmp_path / "long.sac")])
    terminal.wait(rf"begin\n{SPINNER}\Z")
    assert terminal.status() == 1
    assert not re.search(SPINNER, terminal.text) and "E0704" in terminal.text
    assert re.match(rb"begin\r\n\r[^\r]+ 1\.\d s\x1b\[K", terminal.raw)


def test_not_in_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "long.sac").write_text(LONG)
    done = subprocess.run(
        [sys.executable, "-m", "sacpy", "run", "--progress", "--seconds", "1.3", str(tmp_path / "long.sac")],
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.stdout == b"begin\n" and done.stderr.startswith(b"error[")


def test_the_prompt_shows_it(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.wait(r">>>\Z")
    terminal.type("i = 0; while (true) { i = i + 1; }" + ENTER)
    terminal.wait(rf"}}\n{SPINNER}\Z")
    terminal.interrupt()
    terminal.wait(r"}\nerror\[E0702[\s\S]*\n>>>\Z")
    terminal.kill()
