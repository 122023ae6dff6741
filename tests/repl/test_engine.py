"""What a prompt remembers and shows, without a terminal."""

from pathlib import Path

import numpy as np
import pytest

from sacpy.interp.limits import Limits
from sacpy.interp.runtime.calls import Copies
from sacpy.interp.world import World
from sacpy.lang.elaborate.usertypes import BUILTINS
from sacpy.repl.engine import Engine
from sacpy.repl.outcomes import Outcome, Variable
from sacpy.workspace import Workspace


class Talk:
    """An engine and what it has shown."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.world = World.captured()
        self.engine = Engine(Workspace() if limits is None else Workspace(limits=limits), self.world)

    def outcome(self, text: str) -> tuple[str, Outcome]:
        before = len(self.world.out())
        outcome = self.engine.enter(text)
        return self.world.out()[before:].decode(), outcome

    def says(self, text: str) -> str:
        """What is shown; nothing may be wrong."""
        shown, outcome = self.outcome(text)
        assert not outcome.failed, outcome.diagnostics
        return shown

    def codes(self, text: str) -> list[str]:
        return [d.code for d in self.outcome(text)[1].diagnostics if d.severity != "note"]


@pytest.fixture
def talk() -> Talk:
    return Talk()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1 + 2", "int 3\n"),
        ("1 + 2;", ""),
        ("1.0 / 3.0", "double 0.3333333333333333\n"),
        ("true && false", "bool false\n"),
        ("'x'", "char 'x'\n"),
        ('"a\\"b"', 'string "a\\"b"\n'),
        ("255ub + 1ub", "ubyte 0\n"),
        ("0.5f", "float 0.5\n"),
        ("iota(5)", "int[5] [0, 1, 2, 3, 4]\n"),
        ("[:double]", "double[0] []\n"),
        ("reshape([0,3], [:int])", "int[0,3] []\n"),
        ("[[1,-20],[3,4]]", "int[2,2]\n  1  -20\n  3    4\n"),
        ("[0.0, -0.0] * 1.0", "double[2] [0.0, -0.0]\n"),
        ("['a', 'b']", 'char[2] "ab"\n'),
        ("[true, false]", "bool[2] [true, false]\n"),
        ("toc(1.0, 2.0)", "complex [1.0, 2.0]\n"),
        ("[toc(1.0, 2.0)]", "complex[1] [[1.0, 2.0]]\n"),
        ("print(7)", "Dimension:  0\nShape    : < >\n 7\n"),
        ("", ""),
        ("// nothing", ""),
    ],
)
def test_values_are_shown(talk: Talk, text: str, shown: str) -> None:
    assert talk.says(text) == shown


def test_of_a_large_array_the_ends_are_shown(talk: Talk) -> None:
    lines = talk.says("iota(2000)").split("\n")
    assert lines[:2] == ["int[2000]", "   [0]" + "".join(f"{i:6}" for i in range(10))]
    assert len(lines) < 30 and " [...]  1770 more" in lines
    assert lines[-2] == "[1990]" + "".join(f"{i:6}" for i in range(1990, 2000))


def test_statements_keep_names(talk: Talk) -> None:
    assert talk.says("x = 3; y = tod(x)") == ""
    talk.says("for (i = 0; i < 3; i++) { x *= 2; }")
    talk.says("if (y > 1.0) { z = [1, 2]; } else { z = [3, 4]; }")
    talk.says("z[1] = 9;")
    assert talk.says("x") == "int 24\n"
    assert talk.says("z") == "int[2] [1, 9]\n"
    assert talk.says("i") == "int 3\n"
    assert {n: v.type_text for n, v in talk.engine.variables.items()} == {
        "x": "int",
        "y": "double",
        "i": "int",
        "z": "int[2]",
        "ans": "int",
    }


def test_values_are_values(talk: Talk) -> None:
    talk.says("a = [1, 2, 3]; b = a; b[0] = 100; a[2] += 1;")
    assert talk.says("a") == "int[3] [1, 2, 4]\n"
    assert talk.says("b") == "int[3] [100, 2, 3]\n"


def test_a_name_may_get_another_type(talk: Talk) -> None:
    talk.says("x = 3; x = [1.5]")
    assert talk.says("x") == "double[1] [1.5]\n"


def test_structs(talk: Talk) -> None:
    talk.says("struct Body { double[2] pos; int id; }; b = Body{[1.0, 2.0], 7};")
    assert talk.says("b.pos += 1.0; b") == "struct Body\n  .pos double[2] [2.0, 3.0]\n  .id int 7\n"
    assert talk.engine.type_of("b") == "struct Body"


def test_definitions_in_any_order(talk: Talk) -> None:
    assert talk.codes("int f(int n) { return n == 0 ? 0 : g(n - 1); }") == ["W0732"]
    assert talk.codes("f(3)") == ["E0307"]
    assert talk.codes("int g(int n) { return n == 0 ? 1 : f(n - 1); }") == []
    assert talk.says("f(3)") == "int 1\n"
    assert talk.says("int twice(int a) { return twice2(a); } int twice2(int a) { return 2 * a; } twice(4)") == "int 8\n"


def test_redefinition_replaces(talk: Talk) -> None:
    talk.says("int f(int a) { return a; } int f(double a) { return 7; }")
    talk.says("int f(int a) { return a + 100; }")
    assert talk.says("f(1)") == "int 101\n"
    assert talk.says("f(1.0)") == "int 7\n"
    assert talk.says("int g() { return 1; } int h() { return g(); }") == ""
    talk.says("int g() { return 2; }")
    assert talk.says("h()") == "int 2\n"


def test_values_of_a_type_that_is_redefined_are_forgotten(talk: Talk) -> None:
    talk.says("struct S { int a; }; s = S{1}; k = 5;")
    assert talk.codes("struct S { double a; };") == ["W0731"]
    assert list(talk.engine.variables) == ["k"]


def test_wrong_definitions_change_nothing(talk: Talk) -> None:
    talk.says("int f(int a) { return a; }")
    assert talk.codes("int f(int a) { return a + 1.5; }") == ["E0403"]
    assert talk.says("f(3)") == "int 3\n"
    assert talk.codes("use Nowhere: all;") == ["E0301"]
    assert talk.says("1") == "int 1\n"


def test_modules_are_used(talk: Talk) -> None:
    assert talk.codes("toXYZ(1)") == ["E0307"]
    talk.says("use Constants: all")
    assert talk.says("maxint()") == "int 2147483647\n"


def test_objects_keep_their_state(talk: Talk) -> None:
    talk.says("use List: all; l = cons(3, nil());")
    assert talk.says("hd(l)") == "int 3\n"
    assert talk.says("l") == "list <list>\n"


def test_user_operators(talk: Talk) -> None:
    talk.says("int +++(int a, int b) { return a * 10 + b; }")
    assert talk.says("3 +++ 4") == "int 34\n"


def test_macros(talk: Talk) -> None:
    talk.says("#define N 3\n")
    assert talk.says("N + N") == "int 6\n"


def test_what_stands_before_a_mistake_is_done(talk: Talk) -> None:
    assert talk.codes("x = 1; y = x + 1.5; z = 2;") == ["E0403"]
    assert list(talk.engine.variables) == ["x"]


def test_errors_keep_names(talk: Talk) -> None:
    talk.says("a = [1, 2, 3]; i = 7;")
    talk.says("int at(int[.] v, int i) { return v[i]; }")
    assert talk.codes("a = [at(a, i)];") == ["E0601"]
    assert talk.codes("b = a[3];") == ["E0506"]
    assert talk.codes("c = [1, 2] +") == ["E0205"]
    assert talk.says("a") == "int[3] [1, 2, 3]\n"
    assert list(talk.engine.variables) == ["a", "i", "ans"]


def test_limits_keep_names() -> None:
    talk = Talk(Limits(seconds=0.3))
    talk.says("n = 5;")
    (code,) = talk.codes("while (true) { n = n; }")
    assert code.startswith("E07")
    assert talk.says("n") == "int 5\n"


@pytest.mark.parametrize("text", ["int f(int a) {", "x = (1 +", "if (true) {", "struct S {"])
def test_incomplete(talk: Talk, text: str) -> None:
    assert talk.engine.incomplete(text)


@pytest.mark.parametrize("text", ["x = 1", "f(", "int f() { return 1; }", ")", ""])
def test_types_of_known_names_and_complete_texts(talk: Talk, text: str) -> None:
    assert talk.engine.incomplete(text) == (text == "f(")


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("iota(3) + 1", "int[3]"),
        ("v", "double[2,2]"),
        ("v[0]", "double[2]"),
        ("toc(1.0, 0.0)", "complex"),
        ("print(1)", "void"),
        ("sum(v) > 1.0", "bool"),
    ],
)
def test_type_of(talk: Talk, text: str, type: str) -> None:
    talk.says("v = [[1.0, 2.0], [3.0, 4.0]];")
    assert talk.engine.type_of(text) == type


def test_clear_forgets(talk: Talk) -> None:
    talk.says("x = 1; int f() { return 1; }")
    talk.engine.clear()
    assert talk.codes("x") == ["E0305"]
    assert talk.codes("f()") == ["E0307"]


def test_interrupted_while_checking(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    talk.says("x = 1; int f() { return 1; }")

    def interrupted(program: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("sacpy.lang.elaborate.program.ElaboratedProgram.check", interrupted)
        assert talk.codes("int f() { return 2; }") == ["E0702"]
    assert talk.says("f() + x") == "int 2\n"


@pytest.mark.parametrize(("word", "command"), [("quit", ":quit"), ("exit()", ":quit"), ("help;", ":help")])
def test_words_of_other_prompts_are_told_the_command_here(talk: Talk, word: str, command: str) -> None:
    outcome = talk.outcome(word)[1]
    assert outcome.diagnostics[-1].help.startswith(command)
    assert talk.says("quit = 3") == "" and talk.says("quit") == "int 3\n"


def test_ans_is_the_last_value(talk: Talk) -> None:
    talk.says("[1, 2, 3]")
    assert talk.says("sum(ans)") == "int 6\n"
    assert talk.says("ans + 1;") == "" and talk.says("ans") == "int 7\n"
    talk.says("x = 9; print(x);")
    assert talk.says("ans") == "int 7\n"


def test_a_semicolon_is_silent(talk: Talk) -> None:
    talk.says("int f(int a) { return a + 1; }")
    assert talk.says("1 + 1; [2, 3]; f(1);") == ""
    assert talk.says("1 + 1; [2, 3]; f(1)") == "int 2\n"


def test_macros_with_parameters_are_kept(talk: Talk) -> None:
    talk.says("#define SQ(x) ((x) * \\\n  (x))")
    assert talk.says("SQ(3)") == "int 9\n"
    _, outcome = talk.outcome("#define SQ(x) 0\n")
    assert not outcome.diagnostics and outcome.remarks == ("SQ replaces the macro of input 1",)
    assert talk.says("SQ(3)") == "int 0\n"
    talk.says("#undef SQ\n")
    assert talk.codes("SQ(3)") == ["E0307"]
    talk.says("#if 0\n#define NEVER 1\n#endif\n")
    assert talk.codes("NEVER") == ["E0305"]


def test_a_mistake_defines_no_macro(talk: Talk) -> None:
    talk.codes("#define N 3\n1 + )")
    assert talk.codes("N") == ["E0305"]


@pytest.mark.parametrize(
    ("before", "again", "remark"),
    [
        (
            "int f(int a) { return a; }",
            "int f(int b) { return 1; }",
            "int f(int b) replaces int f(int a) of input 1, line 1",
        ),
        ("struct S { int a; };", "\nstruct S { int b; };", "the type S replaces that of input 1, line 1"),
        ("typedef int[2] pair;", "struct pair { int a; };", "the type pair replaces that of input 1, line 1"),
        (
            "objdef int[.] o = f(); int[.] f() { return [1]; }",
            "objdef int[.] o = f();",
            "the object o replaces that of input 1, line 1",
        ),
    ],
)
def test_a_redefinition_says_what_it_replaces(talk: Talk, before: str, again: str, remark: str) -> None:
    assert talk.outcome(before)[1].remarks == ()
    assert talk.outcome(again)[1].remarks == (remark,)


def test_another_instance_and_a_refused_one_replace_nothing(talk: Talk) -> None:
    talk.says("int f(int a) { return a; }")
    assert talk.outcome("int f(int[.] a) { return 1; }")[1].remarks == ()
    assert talk.outcome("int f(int a) { return 1.5; }")[1].remarks == ()


def copies(talk: Talk, text: str) -> int:
    before = Copies.count
    talk.says(text)
    return Copies.count - before


@pytest.mark.parametrize("update", ["a[0] = 5;", "a[1] += a[0];", "a[[2]] = sum(a);", "a[[2]] = 1"])
def test_an_update_copies_nothing_that_only_this_name_has(talk: Talk, update: str) -> None:
    talk.says("a = genarray([1000], 0) + 1;")
    assert copies(talk, update) == 0
    assert copies(talk, update) == 0


@pytest.mark.parametrize("update", ["s.f[0] = 5;", "s.f[[1]] += 2.0 * s.f[0];", "s.f[3] = tod(s.n);"])
def test_an_update_within_a_struct_copies_nothing(talk: Talk, update: str) -> None:
    talk.says("struct S { int n; double[1000] f; int m; }; s = S{1, tod(iota(1000)), 2};")
    update = update.replace("= 5;", "= 5.0;")
    talk.says(update)
    assert copies(talk, update) == 0
    talk.says(f"t = s; {update} t.f[0] = 100.0;")
    assert talk.says("s.f[0] < 100.0") == "bool true\n"


@pytest.mark.parametrize(
    "holder",
    [
        "b = a;",
        "b = [0]; b = a;",
        "a",
        "b = reshape([10, 100], a);",
        "struct S { int[1000] f; }; b = S{a};",
        "b = drop([0], a);",
    ],
)
def test_an_update_leaves_other_names_alone(talk: Talk, holder: str) -> None:
    talk.says("a = genarray([1000], 0) + 1;")
    talk.says(holder)
    talk.says("a[0] = 7;")
    name = "ans" if holder == "a" else "b"
    assert talk.says(f"sum({name}.f)" if "struct" in holder else f"sum({name})") == "int 1000\n"
    assert talk.says("sum(a)") == "int 1006\n"
    assert copies(talk, "a[1] = 2;") == 0


def test_an_update_of_what_a_global_object_holds(talk: Talk) -> None:
    talk.says("objdef int[.] o = first(); int[.] first() { return genarray([3], 1); } int[.] get() { return o; }")
    talk.says("a = get(); a[0] = 5;")
    assert talk.says("get()") == "int[3] [1, 1, 1]\n"


def test_an_update_of_an_array_that_python_holds(talk: Talk) -> None:
    array = np.zeros(3, np.int32)
    talk.engine.variables["a"] = Variable(BUILTINS["int"], (array,))
    talk.says("a[0] = 5; a[1] = 5;")
    assert array.tolist() == [0, 0, 0] and talk.says("a") == "int[3] [5, 5, 0]\n"


def test_updates_that_fail_half_way_change_nothing(talk: Talk) -> None:
    talk.says("a = genarray([3], 0) + 1; int[.] put(int[.] a) { a[0] = 9; a[1] = a[a[0]]; return a; }")
    talk.codes("for (i = 0; i < 9; i++) { a[i] = 7; }")
    talk.codes("a = put(a);")
    talk.codes("a[1] = put(a)[0];")
    talk.codes("a[7] = 1;")
    assert talk.says("a") == "int[3] [1, 1, 1]\n"


def test_constants_are_not_overwritten(talk: Talk) -> None:
    talk.says("int[3] one() { return [1, 1, 1]; } a = one(); a[0] = 5; b = one();")
    assert talk.says("b") == "int[3] [1, 1, 1]\n"


def test_a_file_is_loaded(talk: Talk, tmp_path: Path) -> None:
    (tmp_path / "Helper.sac").write_text(
        "module Helper; export all; use Array: all; int +++(int a, int b) { return 10 * a + b; } int help1() { return "
        "5; }"
    )
    (tmp_path / "p.sac").write_text(
        'use Array: all;\nuse Helper: all;\n#include "m.h"\nint twice(int a) { return 2 * a; }\n'
        "int main() { return twice(N) +++ 1; }\n"
    )
    (tmp_path / "m.h").write_text("#define N 4\n")
    outcome = talk.engine.load(tmp_path / "p.sac")
    assert not outcome.failed, outcome.diagnostics
    assert talk.says("main()") == "int 81\n"
    assert talk.says("3 +++ N") == "int 34\n"


def test_a_module_is_loaded(talk: Talk, tmp_path: Path) -> None:
    (tmp_path / "Own.sac").write_text("// mine\nmodule Own; export all; int own() { return 5; }")
    assert not talk.engine.load(tmp_path / "Own.sac").failed
    assert talk.says("own()") == "int 5\n"


def test_reload_reads_files_and_modules_again(talk: Talk, tmp_path: Path) -> None:
    module, program = tmp_path / "Own.sac", tmp_path / "p.sac"
    module.write_text("module Own; export all; int own() { return 5; }")
    program.write_text("use Own: all; int f() { return own(); } int gone() { return 1; }")
    assert not talk.engine.load(program).failed
    talk.says("x = f(); int mine() { return f() + 1; }")
    module.write_text("module Own; export all; int own() { return 6; }")
    program.write_text("use Own: all; int f() { return own() * 10; }")
    assert not talk.engine.reload().failed
    assert talk.says("[x, f(), mine()]") == "int[3] [5, 60, 61]\n"
    assert talk.codes("gone()") == ["E0307"]


def test_reload_reads_included_files_again(talk: Talk, tmp_path: Path) -> None:
    header, program = tmp_path / "m.h", tmp_path / "p.sac"
    header.write_text("#ifndef M\n#define M\n#define N 4\nint g() { return 1; }\nint gone() { return 1; }\n#endif\n")
    program.write_text('#include "m.h"\nint f() { return N + g(); }\n')
    assert not talk.engine.load(program).failed
    assert talk.says("f() + N") == "int 9\n"
    talk.says("#define MINE 1\n")
    header.write_text("#ifndef M\n#define M\n#define N 10\nint g() { return 2; }\n#endif\n")
    for again in (talk.engine.reload, lambda: talk.engine.load(program)):
        outcome = again()
        assert not outcome.failed and not [d for d in outcome.diagnostics if d.severity == "warning"]
        assert talk.says("f() + N + MINE") == "int 23\n"
    assert talk.codes("gone()") == ["E0307"]
    program.write_text("int f() {")
    assert talk.engine.reload().failed
    header.write_text("#define N 20\n")
    program.write_text('#include "m.h"\nint f() { return N; }\n')
    assert not talk.engine.reload().failed
    assert talk.says("f()") == "int 20\n" and talk.codes("g()") == ["E0307"]


def test_a_reload_that_fails_changes_nothing(talk: Talk, tmp_path: Path) -> None:
    program = tmp_path / "p.sac"
    program.write_text("int f() { return 5; }")
    talk.engine.load(program)
    talk.says("x = 1;")
    for wrong in ("int f() { return 5.0; }", "int f() {", "use Nowhere: all;"):
        program.write_text(wrong)
        assert talk.engine.reload().failed
        assert talk.says("f() + x") == "int 6\n"
    program.write_text("#define x 7\nx = 5;\n")
    assert talk.engine.reload().failed
    program.write_text("a[0] = 7; a[9] = 1;")
    talk.says("a = genarray([3], 1) + 1;")
    assert talk.engine.reload().failed
    assert talk.says("a[0] + x") == "int 3\n"
    program.unlink()
    assert [d.code for d in talk.engine.reload().diagnostics] == ["E0303"]
    assert talk.says("f() + x") == "int 6\n"


def test_an_interrupted_reload_changes_nothing(talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "p.sac"
    program.write_text("int f() { return 5; }")
    talk.engine.load(program)

    def interrupted(engine: Engine, path: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Engine, "load", interrupted)
        with pytest.raises(KeyboardInterrupt):
            talk.engine.reload()
    assert talk.says("f()") == "int 5\n"


def test_a_value_is_kept_though_showing_it_is_interrupted() -> None:
    def interrupted(shown: Variable) -> None:
        raise KeyboardInterrupt

    engine = Engine(Workspace(), World.captured(), interrupted)
    engine.enter("x = 1;")
    assert [d.code for d in engine.enter("x + 1").diagnostics] == ["E0702"]
    assert engine.variables["ans"].text == "int 2"


def test_call_stacks_name_the_input_only_where_it_calls_something(talk: Talk) -> None:
    talk.says("int f(int n) { return iota(n)[n]; }")
    _, outcome = talk.outcome("f(3)")
    assert [(frame.function, frame.span.source.name) for frame in outcome.diagnostics[0].stack] == [
        ("f", "<input 1>"),
        ("the input", "<input 2>"),
    ]
    _, outcome = talk.outcome("{ [i] -> iota(3)[i] | [i] < [5] }")
    assert outcome.diagnostics[0].code == "E0601" and outcome.diagnostics[0].stack == ()


def test_inputs_of_several_statements_run_each(talk: Talk) -> None:
    talk.says("x = 0; for (i = 0; i < 3; i++) { x = x + i; } y = { [i] -> i + x | [i] < [2] };")
    assert talk.says("y; y") == "int[2] [3, 4]\n"


def test_names_of_earlier_inputs_are_not_said_to_be_set_by_this_one(talk: Talk) -> None:
    talk.says("table = [1, 2];")
    _, outcome = talk.outcome("z = table[0, 0];")
    assert outcome.diagnostics[0].code == "E0507"
    assert not any("set here" in label.text for label in outcome.diagnostics[0].labels)


def test_structs_without_fields(talk: Talk) -> None:
    talk.says("struct Empty {}; e = Empty{}; int f(struct Empty e) { return 3; }")
    assert talk.says("e") == "struct Empty\n" and talk.says("f(e)") == "int 3\n"


def test_a_module_without_its_symbols_is_a_mistake_not_a_beginning(talk: Talk) -> None:
    for text in ("use Math", " import  Math \n"):
        assert not talk.engine.incomplete(text)
        (found,) = talk.outcome(text)[1].diagnostics
        assert found.code == "E0201" and found.edit is not None and found.edit.text == ": all"
    assert talk.engine.incomplete("use Math: {") and talk.engine.incomplete("use Math:")
