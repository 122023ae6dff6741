"""Expressions, definitions, named values, programs."""

import pickle
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import sacpy


@pytest.fixture
def session() -> sacpy.Session:
    return sacpy.Session()


def codes(caught: pytest.ExceptionInfo[sacpy.SacError]) -> list[str]:
    return [d.code for d in caught.value.diagnostics]


def test_expressions(session: sacpy.Session) -> None:
    assert session.eval("1 + 2") == 3
    assert session.eval("[1,2] + 1").tolist() == [2, 3]
    assert session.eval("sum(iota(n) * n)", n=4) == 24
    assert session.eval("{ [i,j] -> i * 10 + j | [i,j] < [2,2] }").tolist() == [[0, 1], [10, 11]]
    assert session.eval('strlen("abc")') == 3
    assert session.eval("frexp(8.0)") == (0.5, 4)


def test_an_expression_without_a_value(session: sacpy.Session, capsys: pytest.CaptureFixture[str]) -> None:
    assert session.eval('printf("%d %s\\n", 3, "x")') is None
    assert capsys.readouterr().out == "3 x\n"


def test_named_values(session: sacpy.Session) -> None:
    session["x"] = [1, 2, 3]
    session["y"] = 2
    assert session.eval("sum(x) * y") == 12
    assert (list(session), len(session), "x" in session, "z" in session) == (["x", "y"], 2, True, False)
    del session["y"]
    with pytest.raises(sacpy.SacError):
        session.eval("y")
    with pytest.raises(KeyError):
        _ = session["y"]
    with pytest.raises(KeyError):
        del session["y"]


def test_a_named_value_changes_type_with_what_is_assigned(session: sacpy.Session) -> None:
    session["x"] = 1
    assert session.eval("x + 1") == 2
    session["x"] = 1.5
    assert session.eval("x + 1.0") == 2.5
    session["x"] = [1.5]
    assert session.eval("x + 1.0").tolist() == [2.5]


def test_named_arrays_are_the_sessions_own(session: sacpy.Session) -> None:
    mine = np.arange(3.0)
    session["x"] = mine
    mine[0] = 100.0
    assert session["x"].tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        session["x"][0] = 1.0
    result = session.eval("x")
    result[0] = 5.0
    assert session["x"].tolist() == [0.0, 1.0, 2.0]
    assert session.eval("modarray(x, [0], 9.0)").tolist() == [9.0, 1.0, 2.0]
    assert session["x"].tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("name", ["while", "int", "true", "_", "a b", "ä", "1x", ""])
def test_names_that_are_none(session: sacpy.Session, name: str) -> None:
    with pytest.raises(sacpy.SacError) as caught:
        session[name] = 1
    assert codes(caught) == ["E0717"]


@pytest.mark.parametrize(
    "name",
    [
        "",
        "while",
        "int",
        "_",
        "a b",
        "ä",
        "1x",
        "a.b",
        "f()",
        "::f",
        "M::",
        "M::while",
        "M:f",
        "M::N::",
        "=",
        ".",
        "+ +",
        "a+",
        "::",
    ],
)
def test_names_that_no_external_function_has(session: sacpy.Session, name: str) -> None:
    with pytest.raises(sacpy.SacError) as caught:
        session.bind(name, abs)
    assert codes(caught) == ["E0717"]
    with pytest.raises(sacpy.SacError):
        session.bind(name)(abs)


def test_names_of_external_functions(session: sacpy.Session) -> None:
    for name in ("f", "M::f", "_f", "+", "M::+++", "<=", "f1"):
        session.bind(name, abs)
    session.bind("+*+", lambda a, b: a * 10 + b)
    assert session.compile("external int +*+(int a, int b); int g(int x) { return x +*+ 2; }").g(1) == 12
    with pytest.raises(TypeError, match="a name must be str, not int"):
        session.bind(1, abs)  # type: ignore[call-overload]


def test_values_without_a_type(session: sacpy.Session) -> None:
    for value in (object(), None, {"no": 1}, 1 << 70, [1, "a"]):
        with pytest.raises(sacpy.SacError):
            session["x"] = value
    assert "x" not in session


def test_definitions(session: sacpy.Session) -> None:
    module = session.define("int f(int x) { return x + 1; } int g(int x) { return f(x) * 10; }")
    assert session.eval("g(1)") == 20
    assert module.g(2) == 30
    session.define("int f(int y) { return y + 2; }")
    assert session.eval("g(1)") == 30
    assert module.g(1) == 30
    session.define("double f(double x) { return x; }")
    assert session.eval("f(1.5)") == 1.5
    assert session.eval("f(1)") == 3


def test_a_definition_that_fails_changes_nothing(session: sacpy.Session) -> None:
    session.define("int f(int x) { return x + 1; }")
    session["x"] = 5
    for bad in (
        "int f(int x) { return x + 1.0; }",
        "int f(int x) { return }",
        "module M; export all;",
        "use NoSuchModule: all;",
    ):
        with pytest.raises(sacpy.SacError):
            session.define(bad)
        assert session.eval("f(x)") == 6


def test_an_operator_of_its_own(session: sacpy.Session) -> None:
    session.define("int +-+(int a, int b) { return a * 10 + b; }")
    assert session.eval("1 +-+ 2") == 12
    session.define("int twice(int a) { return a +-+ a; }")
    assert session.eval("twice(3)") == 33


def test_types_and_records(session: sacpy.Session) -> None:
    session.define("struct P { int x; int y; }; int norm1(struct P p) { return p.x + p.y; }")
    session["p"] = {"x": 1, "y": 2}
    assert session.eval("norm1(p)") == 3
    assert session.eval("p.y") == 2
    assert session.eval("P{3, 4}")["y"] == 4
    session.define("struct P { int x; int y; int z; };")
    with pytest.raises(sacpy.SacError) as caught:
        session.eval("p.x")
    assert codes(caught) == ["E0716"]
    session["p"] = {"x": 1, "y": 2, "z": 3}
    assert session.eval("p.z") == 3


def test_global_objects_survive_definitions(session: sacpy.Session, tmp_path: Path) -> None:
    (tmp_path / "Counter.sac").write_text(
        "class Counter; classtype int; export all; use ScalarArith: all; Counter make() { return to_Counter(0); } int "
        "next(Counter &c) { n = from_Counter(c) + 1; c = to_Counter(n); return n; } objdef Counter it = make();"
    )
    session = sacpy.Session(search=[tmp_path])
    session.define("use Counter: all;")
    assert session.eval("next(it)") == 1
    session.define("int f() { return 0; }")
    assert session.eval("next(it)") == 2


def test_an_object_that_an_expression_changes(session: sacpy.Session) -> None:
    session.define("void grow(int[.] &a) { a = a ++ [0]; }")
    session["a"] = [1]
    session.eval("grow(a)")
    assert session["a"].tolist() == [1, 0]


def test_errors_in_an_expression(session: sacpy.Session) -> None:
    session["n"] = np.int64(3)
    for source, code in (
        ("1 +", "E02"),
        ("nope", "E0305"),
        ("1 + 1.0", "E0403"),
        ("n + 1", "E0403"),
        ("[1,2][5]", "E0"),
    ):
        with pytest.raises(sacpy.SacError) as caught:
            session.eval(source)
        assert codes(caught)[0].startswith(code)
        assert caught.value.diagnostics[0].span.source.name == "<expression>"


def test_many_expressions_do_not_pile_up(session: sacpy.Session) -> None:
    for i in range(600):
        assert session.eval(f"{i} + 1") == i + 1
    assert len(session._runner.plans) < 300


def test_macros_and_includes(tmp_path: Path) -> None:
    (tmp_path / "head.h").write_text("#define TWICE(x) (2 * (x))\n")
    session = sacpy.Session(defines={"N": "7"}, include_path=[tmp_path])
    assert session.eval("N + 1") == 8
    module = session.compile('#include "head.h"\nuse ScalarArith: all; int f(int x) { return TWICE(x) + N; }')
    assert module.f(1) == 9


PROGRAM = """
use StdIO: all; use CommandLine: all; use Structures: all;
int main() { printf("%d %s\\n", argc(), argv(argc() - 1)); return 300; }
"""


def test_running_a_program(session: sacpy.Session, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.sac"
    path.write_text(PROGRAM)
    assert session.run(path, ["a", "b"]) == 300 % 256
    assert session.run(str(path)) == 44
    assert capsys.readouterr().out == f"3 b\n1 {path}\n"


def test_a_program_that_fails(session: sacpy.Session, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.sac"
    path.write_text(
        'use StdIO: all; use Structures: all; use CommandLine: all; int main() { printf("before\\n"); x = 1 / (argc() '
        "- 1); return x; }"
    )
    with pytest.raises(sacpy.SacError) as caught:
        session.run(path)
    assert codes(caught) == ["E0603"]
    assert capsys.readouterr().out == "before\n"
    with pytest.raises(sacpy.SacError) as caught:
        session.run(tmp_path / "none.sac")
    assert codes(caught) == ["E0303"]


def test_an_unknown_target() -> None:
    with pytest.raises(ValueError, match="interp"):
        sacpy.Session("quantum")


@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        (lambda s: s.eval(3), "source must be str, not int"),
        (lambda s: s.compile(b"int f() { return 1; }"), "source must be str, not bytes"),
        (lambda s: s.define(None), "source must be str, not NoneType"),
        (lambda s: s.__setitem__(3, 1), "a name must be str, not int"),
        (lambda s: s.run("p.sac", "abc"), "args must be a sequence of strings"),
        (lambda s: s.run("p.sac", [1]), "each of args must be str, not int"),
        (lambda s: sacpy.Session(limits=3), "limits must be sacpy.Limits | None, not int"),
        (lambda s: sacpy.Session(world=True), "world must be sacpy.World | None, not bool"),
        (lambda s: pickle.dumps(s), "open one in each process"),
        (lambda s: pickle.dumps(s.define("int f() { return 1; }").f), "open one in each process"),
    ],
)
def test_arguments_of_another_type_are_refused_by_name(
    session: sacpy.Session, mistake: Callable[[sacpy.Session], object], said: str
) -> None:
    with pytest.raises(TypeError, match=re.escape(said)):
        mistake(session)


@pytest.mark.parametrize(
    ("method", "text", "said"),
    [
        ("eval", "int f() { return 1; }", "session.define takes definitions"),
        ("eval", "use Math: all;", "session.define takes definitions"),
        ("eval", "v = 3", "session[name] = "),
        ("eval", "1; 2", "statements stand in functions"),
        ("define", "1 + 2", "session.eval takes an expression"),
        ("define", "v = 3;", "session[name] = "),
    ],
)
def test_a_text_for_another_method_is_told_which(session: sacpy.Session, method: str, text: str, said: str) -> None:
    with pytest.raises(sacpy.SacError) as caught:
        getattr(session, method)(text)
    assert said in caught.value.diagnostics[0].help


def test_completion_offers_the_public_names() -> None:
    assert {"Session", "World", "Limits", "SacError"} <= set(dir(sacpy))


def test_stages_are_shown_of_what_was_loaded_too() -> None:
    session = sacpy.Session()
    older = session.compile("use Array: all; int f(int a) { return a + 1; }")
    newer = session.compile("use Array: all; int f(int a) { return a * 3; }")
    assert "mul" in session.emit("graph", "f") and "add" not in session.emit("graph", "f")
    session.define("int f(int a) { return a - 9; }")
    assert "-9" in session.emit("graph", "f")
    with pytest.raises(sacpy.SacError, match="there is no function g"):
        session.emit("graph", "g")
    assert (older.f(1), newer.f(1)) == (2, 3)


def test_what_sessions_do_is_not_looked_for_in_the_module_in_vain() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'load'; sessions have it: sacpy.Session\(\).load\(\.\.\)"):
        sacpy.load  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'frobnicate'$"):
        sacpy.frobnicate  # type: ignore[attr-defined]  # noqa: B018
