"""The prompt as a process: on a terminal of its own, on one without a cursor, and with a pipe for input."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sacpy.commands.progress import Progress
from sacpy.interp.world import World
from sacpy.repl.engine import Engine
from sacpy.repl.prompt import Talker
from sacpy.workspace import Workspace
from tests.repl.terminal import CTRL_C, CTRL_D, ENTER, PATIENCE, Terminal

Open = Callable[..., Terminal]


def test_a_conversation(open_terminal: Open, tmp_path: Path) -> None:
    terminal = open_terminal()
    assert terminal.enter("x = iota(4)") == ""
    assert terminal.enter("x + 1") == "int[4] [1, 2, 3, 4]"
    terminal.type("int f(int a)\r{\rreturn a + 1;\r}\r")
    terminal.wait(r"}\n>>>\Z")
    assert terminal.enter("f(41)") == "int 42"
    terminal.type("half a line" + CTRL_C)
    terminal.wait(r"half a line\n>>>\Z")
    assert "E0307" in terminal.enter("nothing(x)")
    assert terminal.enter("x[3]") == "int 3"
    assert terminal.end() == 0
    history = (tmp_path / "sacpy/history").read_text()
    assert "int f(int a)" in history and "half" not in history


def test_the_next_session_knows_what_was_typed_and_can_look_for_it(open_terminal: Open) -> None:
    first = open_terminal()
    first.enter("thirteen = 13")
    first.enter("1 + 1")
    assert first.end() == 0
    second = open_terminal()
    second.type("thi\x1b[A")
    second.wait(r">>> thirteen = 13\Z")


def test_the_exit_status_is_that_of_the_program(open_terminal: Open) -> None:
    terminal = open_terminal()
    terminal.type('use RuntimeError: all; error(7, "over")' + ENTER)
    assert terminal.status() == 7


def test_what_is_typed_before_everything_is_loaded_gets_its_signature_too(open_terminal: Open) -> None:
    terminal = open_terminal()
    terminal.type("take([1], ")
    terminal.wait(r">>> take\(\[1\],\n+T.* take\(int")


def test_ctrl_d_in_a_text_does_not_leave(open_terminal: Open) -> None:
    terminal = open_terminal()
    terminal.type("1 + 2" + CTRL_D + ENTER)
    terminal.wait(r"int 3\n>>>\Z")
    assert terminal.end() == 0


def test_a_history_that_cannot_be_kept_is_no_obstacle(open_terminal: Open, tmp_path: Path) -> None:
    (tmp_path / "sacpy").write_text("a file where the folder should be")
    terminal = open_terminal()
    assert terminal.enter("1 + 1") == "int 2"
    assert terminal.end() == 0


def test_a_terminal_without_a_cursor_gets_plain_lines(open_terminal: Open) -> None:
    terminal = open_terminal(TERM="dumb")
    terminal.type("int f(int a)\n")
    terminal.wait(r">>> int f\(int a\)\n\.\.\.\Z")
    terminal.type("{ return a + 1; }\n")
    terminal.wait(r"}\n>>>\Z")
    terminal.type("f(1)\n")
    terminal.wait(r">>> f\(1\)\nint 2\n>>>\Z")
    terminal.type("f(true)\n")
    terminal.wait(r"E0403[\s\S]*>>>\Z")
    terminal.type("half")
    terminal.wait(r">>> half\Z")  # the prompt before it would do for the next wait
    terminal.interrupt()
    terminal.wait(r"half(\^C)?\n>>>\Z")
    terminal.type("print(17); while (true) { }\n")
    terminal.wait(r"\n *17\Z")  # it runs
    terminal.interrupt()
    terminal.wait(r"E0702[\s\S]*>>>\Z")
    assert b"\x1b" not in terminal.raw
    assert terminal.end() == 0


def test_ctrl_c_before_the_first_plain_line_is_no_defect(open_terminal: Open) -> None:
    terminal = open_terminal(TERM="dumb")
    terminal.wait(r">>>\Z")
    terminal.interrupt()
    terminal.wait(r">>>(.|\n)*\n>>>\Z")
    terminal.type("1 + 1\n")
    terminal.wait(r"int 2\n>>>\Z")
    assert terminal.end() == 0


def piped(text: str, **environment: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "sacpy"],
        input=text,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env={**os.environ, **environment},
    )
    return done.returncode, done.stdout, done.stderr


def test_a_pipe_gets_no_prompt() -> None:
    text = "x = 3\nint f(int a)\n{\n  return a * 2;\n}\nf(x)\n:type x + 1\n"
    assert piped(text) == (0, "int 6\nint\n", "")


def test_a_pipe_goes_on_after_a_mistake_and_tells_with_its_status() -> None:
    status, out, err = piped("x = 3\ny = x + 1.5\nx\nint f(")
    assert (status, out) == (1, "int 3\n")
    assert "E0403" in err and err.count("error[") == 2 and "\x1b" not in err


def test_quit_in_a_pipe() -> None:
    assert piped("1\n:quit\n2\n")[:2] == (0, "int 1\n")


def test_a_pipe_never_gets_a_sign_of_life_or_remarks() -> None:
    status, out, err = piped("int f() { return 1; }\nint f() { return 2; }\nf()\n")
    assert (status, out, err) == (0, "int 2\n", "")


def test_a_defect_of_sacpy_does_not_end_the_session(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = Engine(Workspace(), World.captured())
    talker = Talker(engine, Progress(engine.world), debug=False)
    talker.take_all("x = 3")
    with monkeypatch.context() as patched:
        patched.setattr(engine, "enter", lambda text, name: 1 // 0)
        assert talker.take_all("x = 4") is None
    assert "error[E0799]: sacpy itself failed: ZeroDivisionError" in capsys.readouterr().err
    talker.take_all("x")
    assert engine.world.out() == b"int 3\n"
