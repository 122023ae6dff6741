"""`:target`, `:threads`, `:stats`, `:explain`, and the compiler's stages in `:emit`."""

from collections.abc import Iterator

import pytest

from sacpy.interp.world import World
from sacpy.jit.options import TARGETS as KNOWN
from sacpy.repl.commands import obey
from sacpy.repl.commands.compiling import TARGETS
from sacpy.repl.engine import Engine
from sacpy.workspace import Workspace

SUMS = "int f(int n) { s = 0; for (i = 0; i < n; i++) { s += i % 7; } return s; }"


@pytest.fixture
def engine(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.setenv("SACPY_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "cache"))
    yield Engine(Workspace(), World.captured())


def text_of(engine: Engine, command: str) -> str:
    text, outcome = obey(engine, command)
    assert not outcome.diagnostics, outcome.diagnostics
    return text


def shown(engine: Engine, text: str) -> str:
    before = len(engine.world.out())
    outcome = engine.enter(text)
    assert not outcome.failed, outcome.diagnostics
    return engine.world.out()[before:].decode()


def code_of(engine: Engine, command: str) -> str:
    return obey(engine, command)[1].diagnostics[0].code


def test_targets_are_those_of_the_compiler(engine: Engine) -> None:
    assert TARGETS.keys() == set(KNOWN)
    assert "* interp" in text_of(engine, ":target")
    assert code_of(engine, ":target cpi") == "E0747" and "cpu" in obey(engine, ":target cpi")[1].diagnostics[0].help


def test_changing_the_target_keeps_everything(engine: Engine) -> None:
    engine.enter(
        f"{SUMS} objdef int[.] o = g(); int[.] g() {{ return [1, 2]; }} int[.] use_o() {{ return o; }} x = [1, 2, 3];"
    )
    for target in ("cpu", "auto", "interp"):
        assert text_of(engine, f":target {target}") == f"target is {target}"
        assert engine.workspace.target == target
        assert shown(engine, "f(10) + sum(x) + sum(use_o())") == "int 33\n"


def test_threads(engine: Engine) -> None:
    assert "each of" in text_of(engine, ":threads")
    assert text_of(engine, ":threads 3") == "threads is 3" and engine.workspace.threads == 3
    assert "3 threads" in text_of(engine, ":threads")
    assert [code_of(engine, f":threads {n}") for n in ("0", "-1", "many", "99999")] == ["E0747"] * 4
    assert text_of(engine, ":threads auto") == "threads is auto" and engine.workspace.threads is None


def test_stats_and_explain_without_a_compiler(engine: Engine) -> None:
    engine.enter(SUMS)
    assert shown(engine, "f(10)") == "int 24\n"
    assert "nothing" in text_of(engine, ":stats") and "nothing" in text_of(engine, ":explain")
    assert code_of(engine, ":explain nothing") == "E0305"


def test_stages_of_the_compiler(engine: Engine) -> None:
    engine.enter(f"{SUMS} x = tod(iota(10));")
    assert "function f(int n)" in text_of(engine, ":emit graph f")
    assert "double[" in text_of(engine, ":emit graph x * 2.0 + 1.0")
    assert "define" in text_of(engine, ":emit llvm f(3)")


def test_functions_run_natively_and_say_so(engine: Engine) -> None:
    text_of(engine, ":target cpu")
    engine.enter(SUMS)
    assert shown(engine, "f(1000000)") == "int 2999997\n"
    assert "native" in text_of(engine, ":stats")
    assert "native" in text_of(engine, ":explain f")
    assert text_of(engine, ":emit asm f").strip()


def test_explaining_an_expression_tells_of_nothing_else(engine: Engine) -> None:
    text_of(engine, ":target cpu")
    engine.enter(f"{SUMS} int g(int n) {{ s = 0; for (i = 0; i < n; i++) {{ s += i % 3; }} return s; }}")
    shown(engine, "f(1000000)")
    text = text_of(engine, ":explain g(1000000)")
    assert ("f(" not in text and "g(" in text) or "input_" in text
    assert "f" in text_of(engine, ":stats")


def test_an_update_in_place_is_one_in_native_code_too(engine: Engine) -> None:
    text_of(engine, ":target cpu")
    engine.enter("a = genarray([100000], 1.0) + 0.5; b = a;")
    assert shown(engine, "a[3] = 100.0; a[3] + b[3]") == "double 101.5\n"
    assert shown(engine, "for (i = 0; i < 100000; i++) { a[i] = 0.0; } sum(a) + b[7]") == "double 1.5\n"
    assert engine.enter("for (i = 0; i < 200000; i++) { a[i] = 9.0; }").failed
    assert shown(engine, "sum(a)") == "double 0.0\n"


def test_a_redefinition_is_compiled_anew(engine: Engine) -> None:
    text_of(engine, ":target cpu")
    engine.enter(SUMS)
    assert shown(engine, "f(1000000)") == "int 2999997\n"
    engine.enter(SUMS.replace("% 7", "% 2"))
    assert shown(engine, "f(1000000)") == "int 500000\n"
