"""The debugger in a terminal."""

from collections.abc import Callable

from tests.repl.terminal import Terminal

FUNCTION = "int total(int[n] v) { t = 0; t += sum(v); return t; }"
FOREVER = "int forever(int k) { while (k != 0) { k = k % 7 + 1; } return k; }"


def test_steps_breakpoints_and_values_behind_an_error(open_terminal: Callable[..., Terminal]) -> None:
    terminal = open_terminal()
    terminal.enter(FUNCTION)
    assert "total([4, 5])" in terminal.enter(":step total([4, 5])")
    assert "v  int[2] [4, 5]" in terminal.enter(":into")
    assert "t  int 0" in terminal.enter(":next")
    assert "int 9" in terminal.enter(":continue")
    assert "inputs stop at total" in terminal.enter(":break total")
    assert "breakpoint: total at input 1:1" in terminal.enter("total([1])")
    assert "> total" in terminal.enter(":where")
    assert "int 1" in terminal.enter(":continue")


def test_ctrl_c_stops_a_run_that_is_looked_at_at_its_next_statement(open_terminal: Callable[..., Terminal]) -> None:
    terminal = open_terminal()
    terminal.enter(FOREVER)
    terminal.enter(":step forever(3)")
    terminal.clear()
    terminal.type(":continue\r")
    terminal.wait(r"\d\.\d s")  # it has begun
    terminal.interrupt()
    terminal.wait(r"forever at input 1:1")
    assert "k  int" in terminal.enter(":locals")
