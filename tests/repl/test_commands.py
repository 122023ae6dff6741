"""The lines that begin with a colon."""

import pytest

from sacpy.interp.world import World
from sacpy.repl.commands import is_command, obey
from sacpy.repl.engine import Engine
from sacpy.workspace import Workspace


@pytest.fixture
def engine() -> Engine:
    return Engine(Workspace(), World.captured())


def text_of(engine: Engine, command: str) -> str:
    text, outcome = obey(engine, command)
    assert not outcome.diagnostics, outcome.diagnostics
    return text


def code_of(engine: Engine, command: str) -> str:
    text, outcome = obey(engine, command)
    assert text == "" and outcome.failed
    (found,) = outcome.diagnostics
    return found.code


def test_what_is_a_command() -> None:
    assert is_command(":help") and is_command("  :q")
    assert not is_command("x = 1")


def test_vars(engine: Engine) -> None:
    assert text_of(engine, ":vars") == "no names yet"
    engine.enter("b = iota(3) * 1; alpha = 1.5;")
    assert text_of(engine, ":vars") == "alpha  double\nb      int[3]"


def test_type(engine: Engine) -> None:
    assert text_of(engine, ":type [1.0, 2.0]") == "double[2]"
    assert code_of(engine, ":type") == "E0730"
    assert code_of(engine, ":type x = 3") == "E0730"
    assert code_of(engine, ":type nothing") == "E0305"


def test_type_evaluates_nothing(engine: Engine) -> None:
    engine.enter("int f() { print(1); return 2; }")
    assert text_of(engine, ":type f()") == "int"
    assert engine.world.out() == b""


def test_help_lists_every_command(engine: Engine) -> None:
    text = text_of(engine, ":help")
    assert all(word in text for word in (":help", ":type", ":vars", ":clear", ":quit"))


def test_help_on_a_name(engine: Engine) -> None:
    engine.enter("int twice(int a) { return 2 * a; } struct P { int x; }; v = 3;")
    assert text_of(engine, ":help twice").startswith("int twice(int a)\n{")
    assert text_of(engine, ":help P").startswith("struct P")
    assert text_of(engine, ":help v") == "v is a variable: int"
    assert "in ArrayBasics" in text_of(engine, ":help iota")
    assert code_of(engine, ":help nothing_of_that_name") == "E0734"


def test_clear(engine: Engine) -> None:
    engine.enter("x = 1;")
    text_of(engine, ":clear")
    assert not engine.variables


@pytest.mark.parametrize("word", [":quit", ":q", ":exit"])
def test_quit(engine: Engine, word: str) -> None:
    assert obey(engine, word)[1].status == 0


def test_unknown_command(engine: Engine) -> None:
    assert code_of(engine, ":tpye x") == "E0733"
