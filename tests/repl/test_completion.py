"""What could stand at the cursor, without a terminal."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sacpy.interp.world import World
from sacpy.repl.completion import complete
from sacpy.repl.engine import Engine
from sacpy.repl.hints import hint
from sacpy.workspace import Workspace


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder = tmp_path_factory.mktemp("modules")
    (folder / "Mine.sac").write_text(
        "// My own functions. And more.\nmodule Mine;\nexport all;\nint mine(int a) { return a; }\n"
    )
    (folder / "program.sac").write_text("int main() { return 0; }\n")
    made = Engine(Workspace(search=(folder,)), World.captured())
    outcome = made.enter(
        "struct P { double[2] at; int n; }; struct Q { struct P[.] p; double w; };"
        "q = Q{[P{[1.0, 2.0], 3}], 1.0}; lone = 1; xs = iota(5);"
        "int foo(int[.] a) { return sum(a); } double foo(double[.] a, int n) { return sum(a); } typedef int[3] triple;"
    )
    assert not outcome.failed, outcome.diagnostics
    return made


def at_end(engine: Engine, text: str) -> list[str]:
    return [c.text for c in complete(engine, text, len(text)).candidates]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lon", ["lone", "long", "longlong"]),
        ("fo", ["foo", "fopen", "for", "fold"]),
        ("trip", ["triple"]),
        ("IOT", ["iota"]),
        ("eshap", ["reshape"]),
        ("q.", ["p", "w"]),
        ("q.p[0].", ["at", "n"]),
        ("q.p[0].at.", []),
        ("q.zz.", []),
        ("xs.", []),
        ("unknown.", []),
        ("int f(struct P r) { return r.", ["at", "n"]),
        ("int f(double height) { return hei", ["height"]),
        ("use Mi", ["Mine"]),
        ("import Color", ["Color8"]),
        ("use prog", []),
        ("use Array: { tak", ["take", "take_apl"]),
        ("Math::tan", ["tan", "tanh"]),
        ("Mine::", ["mine"]),
        ("Nowhere::", []),
        (":ty", ["type"]),
        (":type lon", ["lone", "long", "longlong"]),
        ("?lon", ["lone", "long", "longlong"]),
        (":nothing lon", []),
        ("#prag", ["pragma"]),
        ("#pragma gpup", ["gpuparam"]),
        ("#pragma gpukernel G", ["GridBlock", "Gen"]),
        ("#pragma gpukernel GridBlock(2, Perm", ["Permute"]),
        ("#pragma gpumem ", ["shared", "global"]),
        ("3.", []),
        ("12lo", []),
        ('"lon', []),
        ("// lon", []),
        ("/* lon", []),
        ('"closed" + lon', ["lone", "long", "longlong"]),
        ("'a", []),
        ("\x00zzz", []),
    ],
)
def test_what_is_offered(engine: Engine, text: str, expected: list[str]) -> None:
    assert at_end(engine, text) == expected


def test_variables_come_before_functions_and_functions_before_words(engine: Engine) -> None:
    kinds = [c.kind for c in complete(engine, "", 0).candidates]
    assert kinds[0] == "variable" and kinds[-1] == "keyword" and kinds.index("function") < kinds.index("type")


def test_candidates_say_what_they_are(engine: Engine) -> None:
    def about(text: str) -> str:
        return complete(engine, text, len(text)).candidates[0].about()

    assert about("xs") == "int[5]"
    assert about("foo") == "int foo(int[.] a)  and 1 more"
    assert about("q.") == "struct P[.]"
    assert about("use Mine") == "My own functions."
    assert about("tripl") == "typedef"
    assert about("#pragma gpukernel ShiftLB") == "Moves the lower bounds to 0."
    assert about(":type").startswith("EXPR|NAME  the type")


def test_the_word_that_is_replaced_ends_at_the_cursor(engine: Engine) -> None:
    found = complete(engine, "xs + fo + lone", 7)
    assert (found.start, found.candidates[0].text) == (5, "foo")


def test_settings_and_their_values(engine: Engine) -> None:
    assert at_end(engine, ":set key") == ["keys"]
    assert at_end(engine, ":set keys ") == ["emacs", "vi"]
    assert at_end(engine, ":set strict-f") == ["strict-fp"]


def test_what_commands_may_be_followed_by(engine: Engine) -> None:
    assert {"auto", "cpu", "interp"} <= set(at_end(engine, ":target ")) and at_end(engine, ":target int") == ["interp"]
    assert at_end(engine, ":threads ") == ["auto"] and "jing" in at_end(engine, ":strategy ")
    assert at_end(engine, ":emit ")[:2] == ["tokens", "tree"] and "xs" in at_end(engine, ":emit core x")
    assert at_end(engine, ":plot ")[:4] == ["lines", "scatter", "hist", "heat"]
    assert "xs" in at_end(engine, ":plot ") and at_end(engine, ":plot x") == ["xs"]


def test_files(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    for name in ("a.sac", "a.txt", ".hidden.sac", "sub/b.sac"):
        (tmp_path / name).write_text("")
    assert at_end(engine, ":load ") == ["a.sac", "sub/"]
    assert at_end(engine, ":load sub/") == ["b.sac"]
    assert at_end(engine, ":load .h") == [".hidden.sac"]
    assert at_end(engine, ":load nowhere/") == []
    assert at_end(engine, '#include "a') == ["a.sac"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("foo(", ("int foo(", "int[.] a", ")", 1)),
        ("foo(xs", ("int foo(", "int[.] a", ")", 0)),
        ("foo(ys, ", ("double foo(double[.] a, ", "int n", ")", 0)),
        ("1 + sum(take([1], ", ("T[o:tshp,i:ishp] take(int[o] v, ", "T[o:oshp,i:ishp] a", ")", 1)),
        ("sum(take([1], xs)", ("T sum(", "T[d:shp] a", ")", 1)),
        ("Mine::mine(", ("int mine(", "int a", ")", 0)),
        ("foo(1, 2, 3", ("int foo(int[.] a)", "", "", 1)),
        ("foo(xs)", None),
        ("unknown(", None),
        ("if (", None),
        ("(", None),
        ("Nowhere::f(", None),
        ('"foo(', None),
        ("// foo(", None),
    ],
)
def test_the_signature_of_the_call_at_the_cursor(
    engine: Engine, text: str, expected: tuple[str, str, str, int] | None
) -> None:
    found = hint(engine, text, len(text))
    assert (None if found is None else (found.before, found.parameter, found.after, found.more)) == expected


@pytest.mark.parametrize(
    "ask", [lambda e, t: complete(e, t, len(t)), lambda e, t: hint(e, t, len(t))], ids=["completion", "hint"]
)
def test_nothing_half_typed_fails(engine: Engine, ask: Callable[[Engine, str], object]) -> None:
    text = (
        '#pragma gpukernel GridBlock(1, Gen)\nuse Array: {a}; q.p[0].at = foo(take([1], "s\\"(", \'x\'), '
        "Math::sin(1.5e-3f) /* c */ ); // end\n:type ?x"
    )
    for start in range(0, len(text), 7):
        for end in range(start, len(text) + 1):
            ask(engine, text[start:end])
