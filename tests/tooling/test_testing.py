"""`sacpy test`: what it finds, what it says, and how it ends."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as tree
from pathlib import Path
from random import Random

import numpy as np
import pytest

from sacpy import cli
from sacpy.testing.arguments import arguments
from sacpy.testing.cases import Outcome
from sacpy.testing.choices import Choices, shrunk
from sacpy.testing.running import results
from sacpy.workspace import Workspace
from tests.tools import ROOT

USES = "use StdIO: all; use Array: all; use Structures: all; use Assert: all; use RuntimeError: all;\n"


def ran(text: str, capsys: pytest.CaptureFixture[str], folder: Path, *options: str) -> tuple[int, str]:
    """Status and output of `sacpy test` on a file, its folder left out."""
    (folder / "t.sac").write_text(USES + text)
    status = cli.main(["test", *options, str(folder / "t.sac")])
    captured = capsys.readouterr()
    return status, (captured.out + captured.err).replace(f"{folder}/", "").replace(
        str(ROOT / "sacpy/stdlib"), "LIBRARY"
    )


def without_time(text: str) -> str:
    lines = text.rstrip("\n").split("\n")
    return "\n".join([*lines[:-1], lines[-1].rpartition(" in ")[0]])


FAILING = """
/* >>> twice(3)
   6
   >>> twice(4)
   9 */
int twice(int x) { return x + x; }
void inner(int[*] a, int[*] b) { equal(a, b); }
void test_equal() { printf("printed"); inner([1, 2], [1, 3]); }
bool test_right() { return twice(2) == 4; }
"""

SAID = """t.sac FF.

_____________________________ t.sac::twice (examples) _____________________________
t.sac:7
>>> twice(4)
should print:
9
prints:
8

________________________________ t.sac::test_equal ________________________________
t.sac:9
error[E0670]: the values differ at [1]: 2 and 3
 --> t.sac:8:34
  |
8 | void inner(int[*] a, int[*] b) { equal(a, b); }
  |                                  ^^^^^^^^^^^
  |
  = note: 1 of 2 elements differ
  = note: the value is int[2] [1, 2]
  = note: expected is int[2] [1, 3]
  = help: correct the function that gives the value, or what the test expects
  = in Assert::equal at LIBRARY/Assert.sac:13:28
  = in inner at t.sac:8:34
  = in test_equal at t.sac:9:40
----------------------------------- it printed -----------------------------------
printed

================================ what is wrong =================================
FAILED t.sac::twice (examples) - 1 of 2 examples wrong
FAILED t.sac::test_equal - E0670: the values differ at [1]: 2 and 3
2 failed, 1 passed"""


def plain(text: str) -> str:
    """Without the rulers around titles, whose lengths tell where the file is."""
    return "\n".join(line.strip("_- ") if line[-1:] in ("_", "-", " ") else line for line in text.split("\n"))


def test_failures_show_values_shapes_places_and_calls(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out = ran(FAILING, capsys, tmp_path)
    assert status == 1
    assert plain(without_time(out)) == plain(SAID)


MESSAGES = {
    "int test_a() { return 1; }": ("E0770", "test_a gives int, but a test gives bool or nothing"),
    "void test_a(File f) { }": ("E0771", "test_a has the parameter f of type File, of which no values can be made"),
    "void test_a(int a) | (a > 5 && a < 5) { }": (
        "E0772",
        "none of 2000 cases satisfies the conditions and patterns of test_a",
    ),
    "bool test_a() { return false; }": ("E0773", "test_a gives false"),
    'void test_a() { error(3, "x"); }': ("E0774", "test_a ends the program, with status 3"),
}


@pytest.mark.parametrize(("text", "said"), MESSAGES.items())
def test_messages(text: str, said: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out = ran(text, capsys, tmp_path)
    assert status == 1
    kind = "error" if said[0] in ("E0770", "E0771", "E0772") else "failed"
    assert f"{kind.upper()} t.sac::test_a - {said[0]}: {said[1]}\n" in out
    assert f"error[{said[0]}]: {said[1]}\n --> t.sac:2:" in out
    assert "= help: " in out


def test_a_failing_property_is_made_smaller(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out = ran("void test_a(int[n,m] a, int[m] b) | (n > 1) { holds(m < 3); }", capsys, tmp_path)
    assert status == 1
    assert "the simplest that fails is\n\n    a = [[0, 0, 0], [0, 0, 0]]\n    b = [0, 0, 0]\n\nerror[E0671]" in out


PACKED = """
void test_rows(double[i<n, i+1] a, double[n] x, int[q<2, k<n, k+1] b, int[i<m, i/2] h, int m) {
  holds(dim(b) == 3); equal(shape(x), [n]);
  for (i = 0; i < n; i++) { equal(shape(a[i]), [i + 1]); }
  for (i = 0; i < m; i++) { equal(shape(h[i]), [i / 2]); } }
"""


def test_arrays_whose_extents_depend_on_positions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out = ran(PACKED, capsys, tmp_path)
    assert status == 0, out
    status, out = ran("void test_a(int[i<n, i-1+k] a) { holds(n * k < 6); }", capsys, tmp_path)
    assert status == 1 and "the simplest that fails is" in out and "E0671" in out


def test_conditions_on_results_are_no_refusal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out = ran("bool test_a(int a) | (a > 3), (b) { b = a < 0; return b; }", capsys, tmp_path)
    assert status == 1, out


TYPES = {
    "int[*] a": lambda a: a.dtype == np.int32 if isinstance(a, np.ndarray) else isinstance(a, int),
    "byte[.] a": lambda a: a.dtype == np.int8 and a.ndim == 1,
    "ulong[3,n,n] a": lambda a: a.shape[0] == 3 and a.shape[1] == a.shape[2],
    "double[d>1:shp] a": lambda a: a.ndim > 1,
    "float[2:shp] a": lambda a: a.dtype == np.float32 and a.ndim == 2,
    "bool[+] a": lambda a: a.dtype == np.bool_ and a.ndim > 0,
    "complex[.] a": lambda a: a.shape[1:] == (2,),
    "char[7] a": lambda a: a.shape == (7,),
}


@pytest.mark.parametrize("parameter", TYPES)
def test_arguments_fit_their_types(parameter: str) -> None:
    program, _ = Workspace().load_text(f"{USES} void f({parameter}) {{ }} int main() {{ return 0; }}")
    signature = program.signature("_MAIN::f/0")
    made = [arguments(signature, Choices(random=Random(i)))[0] for i in range(60)]
    assert all(TYPES[parameter](value) for value in made)
    shapes = {np.shape(value) for value in made}
    assert len(shapes) > 4 or parameter == "char[7] a"
    if parameter == "int[*] a":
        assert () in shapes and any(0 in s for s in shapes) and any(len(s) == 7 for s in shapes)


def test_arguments_share_names() -> None:
    text = f"{USES} void f(int n, int[n,m] a, double[d:shp] x, int[.] shp, int d) {{ }} int main() {{ return 0; }}"
    program, _ = Workspace().load_text(text)
    for i in range(50):
        n, a, x, shp, d = arguments(program.signature("_MAIN::f/0"), Choices(random=Random(i)))
        assert n == a.shape[0]
        assert tuple(shp) == np.shape(x)
        assert d == np.ndim(x)


def test_numbers_are_made_fewer_and_smaller() -> None:
    def fails(numbers: list[int]) -> list[int] | None:
        choices = Choices(numbers)
        found = [choices.below(1000) for _ in range(choices.below(10))]
        return choices.drawn if any(n > 17 for n in found) else None

    assert shrunk([7, 3, 500, 2, 999, 0, 4, 800], fails) == [1, 18]


def test_targets_that_differ_are_told() -> None:
    from sacpy.testing.cases import Case

    wrong = {"cpu": Outcome("failed", "E0773: f gives false", "f gives false"), "interp": Outcome(seen=1)}
    spaces = {name: Workspace(target=name) for name in wrong}
    case = Case(Path("t.sac"), "f", 1, lambda workspace: wrong[workspace.target])
    (result,) = results([case], spaces)
    assert (result.outcome.status, result.outcome.summary) == ("failed", "on cpu: E0773: f gives false")
    (result,) = results([Case(Path("t.sac"), "f", 1, lambda w: Outcome(seen=w.target))], spaces)
    assert result.outcome.summary == "cpu and interp differ"


def test_every_target(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "void test_a(double[n] a, double[n] b) { equal(a + b, b + a); }\n"
    text += "/* >>> f(2)\n 4 */ int f(int x) { return x + x; }"
    status, out = ran(text, capsys, tmp_path, "--target", "all", "--cases", "5")
    assert (status, out.splitlines()[0]) == (0, "t.sac ..")


def test_statuses_selection_and_junit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "bool test_one() { return true; } bool test_two() { return false; }"
    assert ran(text, capsys, tmp_path, "-k", "one and not two")[0] == 0
    assert ran(text, capsys, tmp_path, "-k", "(ONE or two) and test")[0] == 1
    assert ran(text, capsys, tmp_path, "-k", "three")[0] == 5
    assert ran(text, capsys, tmp_path, "--list") == (0, "t.sac::test_one\nt.sac::test_two\n")
    with pytest.raises(SystemExit) as stop:
        ran(text, capsys, tmp_path, "-k", "one two")
    assert stop.value.code == 2
    assert "and, or or not is missing before two" in capsys.readouterr().err
    assert cli.main(["test", str(tmp_path / "gone")]) == 1
    assert "error[E0303]" in capsys.readouterr().err
    assert cli.main(["test", f"{tmp_path}/t.sac::test_one"]) == 0
    told = ran(text, capsys, tmp_path, "--durations", "1")[1]
    assert re.search(r"= what took longest =+\n[\d.]+ s  t.sac::test_", told)
    ran(text, capsys, tmp_path, "--junit", str(tmp_path / "out.xml"))
    suite = tree.parse(tmp_path / "out.xml").getroot()[0]
    assert [suite.get(n) for n in ("tests", "failures", "errors")] == ["2", "1", "0"]
    assert [(c.get("name"), [x.tag for x in c]) for c in suite] == [("test_one", []), ("test_two", ["failure"])]


def test_modules_folders_and_programs_with_their_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "M.sac").write_text(
        "module M; use Array: all; export all;\nint one() { return 1; } bool test_one() { return one() == 1; }"
    )
    (tmp_path / "p.sac").write_text('use M: all; use StdIO: all; int main() { printf("%d", one()); return 3; }\n')
    (tmp_path / "p.out").write_text("1")
    (tmp_path / "broken.sac").write_text("int main( { }")
    assert cli.main(["test", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "it ends with status 3, not 0" in out
    assert "1 failed, 1 passed, 1 error in" in out
    with (tmp_path / "p.sac").open("a") as file:
        file.write("// expect-status: 3\n")
    (tmp_path / "broken.sac").unlink()
    assert cli.main(["test", str(tmp_path)]) == 0


def test_a_file_with_mistakes_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out = ran("bool test_a() { return x; }", capsys, tmp_path)
    assert status == 1
    assert "ERROR t.sac::test_a - E0305: " in out


def test_watching_runs_again_after_a_change(tmp_path: Path) -> None:
    file = tmp_path / "t.sac"
    file.write_text("bool test_a() { return true; }")
    command = [sys.executable, "-m", "sacpy", "test", "--watch", str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        try:
            lines = iter(process.stdout.readline, "")
            assert next(line for line in lines if "passed" in line).startswith("1 passed")
            assert "watching 1 file" in next(lines)
            file.write_text("bool test_a() { return false; }")
            assert next(line for line in lines if " in 0" in line).startswith("1 failed")
        finally:
            process.terminate()
