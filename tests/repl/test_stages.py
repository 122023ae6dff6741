"""`:emit`, `:picture`, `:strategy`."""

import pytest

from sacpy.interp.world import World
from sacpy.jit import options
from sacpy.repl.commands import obey
from sacpy.repl.commands.stages import WHAT
from sacpy.repl.engine import Engine
from sacpy.withloop.devices import DEVICES
from sacpy.withloop.strategies import STRATEGIES
from sacpy.workspace import Workspace


@pytest.fixture
def engine() -> Engine:
    made = Engine(Workspace(), World.captured())
    outcome = made.enter(
        "#define N 3\nint f(int[.] a) { return sum(a) + N; } int f(int a) { return a; } struct P { int x; }; m = "
        "reshape([2, 3], iota(6)); n = 70;"
    )
    assert not outcome.failed
    return made


def text_of(engine: Engine, command: str) -> str:
    text, outcome = obey(engine, command)
    assert not outcome.diagnostics, outcome.diagnostics
    return text


def code_of(engine: Engine, command: str) -> str:
    text, outcome = obey(engine, command)
    assert text == ""
    return outcome.diagnostics[0].code


def test_tokens(engine: Engine) -> None:
    assert [line.split() for line in text_of(engine, ":emit tokens N+'a'").split("\n")] == [
        ["1:1", "number", "3", "('int',", "3)"],
        ["1:2", "op", "+"],
        ["1:3", "char", "'a'", "97"],
    ]


def test_tree(engine: Engine) -> None:
    assert (
        text_of(engine, ":emit tree m[0]")
        == "Select\n  array: Name\n    name: m\n  indices: Literal\n    base: int\n    value: 0\n    text: 0"
    )
    assert text_of(engine, ":emit tree f").startswith("FunDef") and text_of(engine, ":emit tree f").count("FunDef") == 2
    assert text_of(engine, ":emit tree P").startswith("StructDef")


def test_core_of_an_expression_and_of_a_function(engine: Engine) -> None:
    text = text_of(engine, ":emit core m + 1")
    assert "= +(m, 1)" in text and text.startswith("int input_")
    text = text_of(engine, ":emit core f")
    assert "int f(int[.] a)" in text and "int f(int a)" in text and "_MAIN" not in text
    assert "with" in text_of(engine, ":emit core ArrayReduce::sum(m)") or "sum(m)" in text_of(
        engine, ":emit core ArrayReduce::sum(m)"
    )


def test_a_variable_hides_a_function_of_its_name(engine: Engine) -> None:
    engine.enter("f = 3;")
    assert "return f" in text_of(engine, ":emit core f")


def test_types_know_the_arguments_at_hand(engine: Engine) -> None:
    assert "int[2,3]" in text_of(engine, ":emit types m + 1")
    assert "int = 71" in text_of(engine, ":emit types n + 1")
    assert "a    int[.]" in text_of(engine, ":emit types f")


def test_python(engine: Engine) -> None:
    text = text_of(engine, ":emit python n * 2")
    assert text.startswith("def ") and "n_" in text
    compile(text, "<emitted>", "exec")
    assert text_of(engine, ":emit python f").count("def ") == 2


def test_emitting_runs_nothing(engine: Engine) -> None:
    for stage in ("tokens", "tree", "core", "types", "python"):
        text_of(engine, f":emit {stage} print(m)")
    assert engine.world.out() == b""


def test_emit_refuses(engine: Engine) -> None:
    assert [
        code_of(engine, f":emit {e}") for e in ("", "cora 1", "core", "core nothing", "python x = 1", "types 1 +")
    ] == ["E0748", "E0748", "E0730", "E0305", "E0730", "E0205"]


def test_a_picture_says_where_how_and_why(engine: Engine) -> None:
    text = text_of(engine, ":picture { [i, j] -> i * j | [i, j] < [2, 3] }")
    head = text.split("\n")[0]
    assert "line 1: [0, 0] <= iv < [2, 3]" in head
    assert "GridBlock(1, SplitLast(32, FoldLast2(ShiftLB(Gen))))" in text and "32 threads, 26 of them idle" in text
    assert "00 01 02\n10 11 12" in text


def test_bounds_come_from_the_values_at_hand(engine: Engine) -> None:
    assert "[0] <= iv < [70]" in text_of(engine, ":picture { [i] -> i | [i] < [n] }")
    assert "[1] <= iv < [70] step [2]" in text_of(
        engine, ":picture with { ([0] < iv < [n] step [2]) : 1; } : genarray([n], 0)"
    )
    assert "[1, 1] <= iv < [1, 2]" in text_of(engine, ":picture with { (. < iv < .) : 1; } : modarray(m)")
    assert "known only when it runs" in text_of(engine, ":picture { [i] -> i | [i] < [f(m[0])] }")


def test_with_loops_of_functions_that_are_called(engine: Engine) -> None:
    text = text_of(engine, ":picture f(m[0])")
    assert text.startswith("ArrayReduce::sum, line ") and "[0] <= iv < [3]" in text
    assert text_of(engine, ":picture n + 1") == "no with-loop that is certain to run"


def test_a_pragma_is_taken_at_its_word(engine: Engine) -> None:
    loop = "with {{ ([0] <= iv < [8]) #pragma gpukernel {} : 7; }} : genarray([8], 1)"
    text = text_of(engine, ":picture " + loop.format("GridBlock(1, SplitLast(4, Gen))"))
    assert "the program's pragma" in text and "grid (1, 1, 2), block (1, 1, 4): 8 threads, 0 of them idle" in text
    assert "SplitLast(4)" in text and "---> 10 11 12 13" in text
    assert "idle" not in text_of(engine, ":picture " + loop.format("GridBlock(3, SplitLast(4, Gen))"))


def test_large_and_empty_spaces(engine: Engine) -> None:
    assert "too many to draw" in text_of(engine, ":picture { [i, j] -> i | [i, j] < [1000, 1000] }")
    assert "(empty)" in text_of(engine, ":picture { [i] -> i | [i] < [0] }")
    assert "line 1: [] <= iv < []" in text_of(
        engine, ":picture with { ([:int] <= iv < [:int]) : 1; } : genarray([:int], 0)"
    )
    assert max(map(len, text_of(engine, ":picture { [i] -> i | [i] < [400] }").split("\n"))) <= engine.page.columns


def test_strategies(engine: Engine) -> None:
    assert WHAT.keys() == STRATEGIES.keys() == set(options.STRATEGIES)
    assert DEVICES.keys() == set(options.GENERATIONS)
    assert text_of(engine, ":strategy").split("\n")[0].startswith("* auto ")
    assert text_of(engine, ":strategy foldall") == "strategy is foldall"
    assert "split into blocks of 32" in text_of(engine, ":picture { [i] -> i | [i] < [70] }")
    assert code_of(engine, ":strategy folall") == "E0747"
    assert text_of(engine, ":set device sm_75") == "device is sm_75"
    assert code_of(engine, ":set device sm_1") == "E0747"
