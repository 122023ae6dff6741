"""`%sac` and `%%sac` in an IPython shell."""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

import sacpy
from sacpy.notebook.magic import SacCellError


class Python:
    """A notebook of Python."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
        self.names = shell.user_ns

    def run(self, code: str) -> tuple[Any, str, list[dict[str, Any]]]:
        """The cell's value, its text output, and what it displayed. Nothing may go wrong."""
        with capture_output() as output:
            result = self.shell.run_cell(code)
        result.raise_error()
        return result.result, output.stdout, [shown.data for shown in output.outputs]

    def fails(self, code: str) -> tuple[SacCellError, str]:
        """The error, and what is shown of it, without colours."""
        with capture_output() as output:
            error = self.shell.run_cell(code).error_in_exec
        assert isinstance(error, SacCellError)
        return error, re.sub(r"\x1b\[[0-9;]*m", "", output.stdout + output.stderr)


@pytest.fixture(scope="module")
def shell() -> Iterator[InteractiveShell]:
    settings = Config()
    settings.HistoryManager.enabled = False
    settings.IPCompleter.use_jedi = False
    yield InteractiveShell.instance(config=settings)
    InteractiveShell.clear_instance()


@pytest.fixture
def python(shell: InteractiveShell) -> Iterator[Python]:
    shell.reset(new_session=False)
    shell.run_line_magic("load_ext" if "sacpy" not in shell.extension_manager.loaded else "reload_ext", "sacpy")
    yield Python(shell)


def test_python_s_arrays_are_sac_s_and_the_other_way_round(python: Python) -> None:
    python.names["a"] = np.arange(6.0).reshape(2, 3)
    python.run("%%sac\nb = a + 1.0;\ntotal = sum(a);\n")
    assert np.array_equal(python.names["b"], np.arange(1.0, 7.0).reshape(2, 3))
    assert python.names["total"] == 15.0


def test_what_a_cell_sets_anew_is_new_in_python(python: Python) -> None:
    python.names["a"] = before = np.arange(3)
    python.run("%%sac\na[1] = 50l;\n")
    assert python.names["a"].tolist() == [0, 50, 2]
    assert before.tolist() == [0, 1, 2]


def test_python_s_changes_are_seen_and_sac_s_values_stay(python: Python) -> None:
    python.run("%%sac\na = iota(3);\nb = a;\n")
    python.names["a"][0] = 99
    assert python.names["b"].tolist() == [0, 1, 2]
    assert python.run("%sac a[0] + b[0]")[0] == 99


def test_a_constant_of_the_program_is_no_part_of_python(python: Python) -> None:
    python.run("%%sac\nint[3] fixed() { return [1, 2, 3]; }\na = fixed();\n")
    python.names["a"][0] = 99
    assert python.run("%sac fixed()")[0].tolist() == [1, 2, 3]


def test_a_line_gives_python_a_value(python: Python) -> None:
    python.names["n"] = 4
    python.run("squares = %sac { [i] -> i * i | [i] < [n] }")
    assert python.names["squares"].tolist() == [0, 1, 4, 9]
    assert python.run("%sac 3; ")[0] is None


def test_braces_and_dollars_are_sac_s_own(python: Python) -> None:
    python.run("%%sac\nstruct Pair { int a; int b; };\n")
    python.names["x"] = 3
    assert python.run("%sac Pair{x, x}.b")[0] == 3


def test_types_that_python_does_not_know_are_kept(python: Python) -> None:
    python.run("%%sac\nsingle = 1.5f;\nunsigned = 3u;\nletter = 'x';\n")
    assert python.run("%sac single * 2.0f")[0] == 3.0
    assert python.run("%sac unsigned + 1u")[0] == 4
    assert python.run("%sac letter == 'x'")[0] is True
    python.names["single"] = 2.5
    assert python.run("%sac single * 2.0")[0] == 5.0


def test_structs_come_back(python: Python) -> None:
    python.run("%%sac\nstruct Ball { double mass; double[2] place; };\nball = Ball{2.0, [0.0, 1.0]};\n")
    python.names["ball"]["mass"] = 8.0
    assert python.run("%sac ball.mass + ball.place[1]")[0] == 9.0


def test_the_values_of_a_cell_are_shown_with_tables(python: Python) -> None:
    _, _, shown = python.run("%%sac\n1 + 1\niota(3)\n")
    assert [data["text/plain"] for data in shown] == ["int 2", "int[3] [0, 1, 2]"]
    assert "<table" in shown[1]["text/html"]


def test_pictures_and_plots_are_shown(python: Python) -> None:
    python.names["a"] = np.random.default_rng(1).random((8, 8))
    _, _, shown = python.run("%%sac\n:img a\n:plot a[0]\n")
    assert "image/png" in shown[0] and "image/svg+xml" in shown[1]


def test_functions_of_cells_are_python_s(python: Python) -> None:
    python.run("%%sac\nint twice(int a) { return 2 * a; } // Two of them.\nint[.] twice(int[.] a) { return 2 * a; }\n")
    twice = python.names["twice"]
    assert twice(21) == 42 and twice(np.arange(3, dtype=np.int32)).tolist() == [0, 2, 4]
    python.run("%%sac\nint twice(int a) { return 20 * a; }\n")
    assert twice(21) == 420 and python.names["twice"] is twice  # what is defined by now
    assert python.run("%sac twice(2) + 1")[0] == 41
    with pytest.raises(sacpy.SacError, match="E0709"):
        twice("x")


def test_a_function_that_fails_can_be_called_again(python: Python) -> None:
    python.run("%%sac\nint first(int[.] v) { return v[0]; }\n")
    python.names["v"] = np.array([7, 8], np.int32)
    assert python.run("first(v) + 1")[0] == 8
    with pytest.raises(sacpy.SacError, match=r"\[0\]"):
        python.names["first"](np.zeros(0, np.int32))
    assert python.run("first(v)")[0] == 7


def test_words_of_python_s_own_are_not_taken_by_functions(python: Python) -> None:
    functions = ("int sum(int a)", "int lambda(int a)", "int + (int a, bool b)")
    python.run("\n".join(["%%sac", *(f"{head} {{ return a; }}" for head in functions)]))
    assert "sum" not in python.names and "lambda" not in python.names
    assert python.run("%sac sum(3)")[0] == 3


def test_options_hold_from_their_cell_on(python: Python) -> None:
    engine = python.shell.magics_manager.magics["cell"]["sac"].__self__.engine
    python.run("%%sac --target cpu --threads 2 -DN=5\nint f(int a) { return a + N; }\n")
    assert (engine.workspace.target, engine.workspace.threads) == ("cpu", 2)
    assert python.names["f"](1) == 6
    python.run("%%sac --seconds 0.5\nx = f(2)\n")
    assert (engine.workspace.target, engine.workspace.limits.seconds, python.names["x"]) == ("cpu", 0.5, 7)
    error, _ = python.fails("%%sac\ny = 0; while (y >= 0) { y = y ^ 1; }\n")
    assert [d.code for d in error.diagnostics] == ["E0704"]
    with pytest.raises(sacpy.SacError, match="E0704"):
        python.run("%%sac\nint forever(int a) { while (a >= 0) { a = a ^ 1; } return a; }\n")
        python.names["forever"](1)
    python.run("%%sac --target auto --seconds 100\nx\n")
    assert engine.workspace.target == "auto"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--abacus", "there is no option --abacus"),
        ("--target abacus", "invalid choice: 'abacus'"),
        ("--threads", "expected one argument"),
        ("--options 'x", "No closing quotation"),
        ("--help", "--target"),
    ],
)
def test_wrong_options_are_told(python: Python, line: str, said: str) -> None:
    error, shown = python.fails(f"%%sac {line}\nnever = 1;\n")
    assert said in shown and "Traceback" not in shown and error.diagnostics == ()
    assert "never" not in python.names


def test_a_line_that_is_evaluated_again_is_not_read_again(python: Python, monkeypatch: pytest.MonkeyPatch) -> None:
    python.names["a"] = np.arange(3.0)
    assert python.run("%sac sum(a)")[0] == 3.0
    engine = python.shell.magics_manager.magics["cell"]["sac"].__self__.engine
    with monkeypatch.context() as patched:
        patched.setattr(engine, "_parse", lambda *_: 1 // 0)
        python.names["a"] = np.arange(5.0)  # another length, the same type
        assert python.run("%sac sum(a)")[0] == 10.0
    python.names["a"] = np.arange(4)  # another type
    assert python.run("%sac sum(a)")[0] == 6
    python.run("%%sac\nlong sum(long[.] a) { return 99l; }\n")
    assert python.run("%sac sum(a)")[0] == 99


def test_many_different_lines_do_not_pile_up(python: Python) -> None:
    engine = python.shell.magics_manager.magics["cell"]["sac"].__self__.engine
    for i in range(300):
        assert python.shell.run_line_magic("sac", f"{i} + 1") == i + 1
    assert len(engine.program.initials) < 280


def test_what_a_line_gives_is_python_s_own(python: Python) -> None:
    python.run("%%sac\nint[3] fixed() { return [1, 2, 3]; }\n")
    python.names["v"] = np.arange(3)
    for text in ("fixed()", "v"):
        for _ in range(2):
            given = python.shell.run_line_magic("sac", text)
            given[0] = 50
    assert python.run("%sac fixed()")[0].tolist() == [1, 2, 3] and python.names["v"].tolist() == [0, 1, 2]


def test_a_program_s_display_is_on_the_page(python: Python) -> None:
    code = (
        "use SDLdisplay: all;\nd = initDisplay([2, 3]);\ndrawArray(d, genarray([2, 3], Color8::red()));\n"
        "drawArray(d, genarray([2, 3], Color8::blue()));\n"
    )
    _, _, shown = python.run(f"%%sac\n{code}")
    assert len(shown) == 2 and all("image/png" in data for data in shown)


def test_printed_output_is_the_cell_s(python: Python) -> None:
    assert python.run('%%sac\nprintf("%d\\n", 7);\n')[1] == "7\n"


def test_a_mistake_is_a_message_and_what_stood_before_it_is_done(python: Python) -> None:
    error, shown = python.fails("%%sac\nx = 1;\ny = x + nowhere;\n")
    assert "3 | " not in shown and "2 | y = x + nowhere;" in shown and "^^^^^^^ unknown name" in shown
    assert "Traceback" not in shown and ".py" not in shown
    assert [d.code for d in error.diagnostics] == ["E0305"]
    assert python.names["x"] == 1


def test_a_name_that_sac_cannot_take_says_why(python: Python) -> None:
    python.names["f"] = np.sin
    _, shown = python.fails("%sac f + 1.0")
    assert "in Python f: ufunc has no SaC type" in shown


def test_a_name_that_sac_cannot_take_is_no_matter_where_it_is_not_used(python: Python) -> None:
    python.names["i"] = object()
    assert python.run("%sac { [i] -> i | [i] < [2] }")[0].tolist() == [0, 1]


def test_a_deleted_name_is_gone(python: Python) -> None:
    python.run("%sac gone = 3")
    del python.names["gone"]
    python.fails("%sac gone + 1")


def test_commands_know_the_names(python: Python) -> None:
    python.run("%sac here = 3")
    assert python.run("%sac :vars")[1].split() == ["here", "int"]
    assert "same elements" in python.run("%sac ?reshape")[1]


def test_a_program_that_ends_itself_is_an_error_for_python(python: Python) -> None:
    error, _ = python.fails('%sac RuntimeError::error(3, "over");')
    assert str(error) == "the program ended itself with status 3"


def test_sac_is_completed_where_sac_stands(python: Python) -> None:
    python.run("%%sac\nstruct Ball { double mass; double[2] place; };\nball = Ball{2.0, [0.0, 1.0]};\n")
    completer = python.shell.Completer

    def at_end(text: str) -> set[str]:
        with provisionalcompleter():
            return {c.text for c in completer.completions(text, len(text))}

    assert at_end("%%sac\nx = 1;\ny = resha") == {"reshape"}
    assert at_end("y = %sac ball.") == {"mass", "place"}
    assert at_end("%%sac\n:va") == {"vars"}
    assert "reshape" not in at_end("resha")


def test_an_interrupt_ends_a_cell_and_what_was_set_stays(python: Python) -> None:
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    error, shown = python.fails(
        "%%sac\nset = 1;\nfor (i = 0; i < 2000000; i++) { for (j = 0; j < 10000; j++) { set = set * 1103515245 + (i ^ "
        "set); } }\n"
    )
    timer.join()
    assert [d.code for d in error.diagnostics] == ["E0702"] and "interrupted" in shown
    assert python.names["set"] == 1


def test_unloading_takes_the_magics_away(python: Python) -> None:
    python.run("%unload_ext sacpy")
    assert "sac" not in python.shell.magics_manager.magics["cell"]
    python.run("%load_ext sacpy")
    assert "sac" in python.shell.magics_manager.magics["cell"]
