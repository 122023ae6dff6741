"""Words of other languages: what SaC has for them is SaC."""

import pytest

from sacpy.interp.world import World
from sacpy.repl.commands import obey
from sacpy.repl.elsewhere import ELSEWHERE
from sacpy.repl.engine import Engine
from sacpy.workspace import Workspace


@pytest.fixture(scope="module")
def engine() -> Engine:
    made = Engine(Workspace(), World.captured())
    assert not made.enter("v = [1.0, 4.0, 9.0]; m = [[1.0, 2.0], [3.0, 4.0]]; n = 3; b = true;").failed
    return made


@pytest.mark.parametrize("text", dict.fromkeys(ELSEWHERE.values()))
def test_what_is_proposed_works(engine: Engine, text: str) -> None:
    outcome = obey(engine, text)[1] if text.startswith(":") else engine.enter(text)
    assert not outcome.diagnostics


@pytest.mark.parametrize("word", ELSEWHERE)
def test_the_words_are_unknown_to_sac(engine: Engine, word: str) -> None:
    (found,) = engine.enter(f"{word}(m)").diagnostics
    assert found.code == "E0307" and found.help.endswith(ELSEWHERE[word]) and found.edit is None


def test_own_functions_of_such_a_name_win(engine: Engine) -> None:
    assert not engine.enter("int len(double[n] a) { return n; }").failed
    assert not engine.enter("len(v)").failed
    engine.clear()
