# ruff: noqa: F821 - names of extents are no names of Python
# mypy: disable-error-code="name-defined, misc, valid-type"
"""Captured functions as they are used: what they say of themselves, sessions, pickling, `out`, tools, importing."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sacpy
from benchmarks.capture.cases import CASES
from benchmarks.capture.loops import lu
from sacpy import Double
from sacpy.lang.parser import parse_module
from sacpy.lang.printer import print_module
from sacpy.lang.source import Source
from sacpy.testing import assert_equal_on_all_targets
from tests.capture.edges import EDGES
from tests.capture.subset import CASES as PARTS
from tests.capture.subset import recursive

MODULE = """/* Things that smooth. */
module smooth;
use Array: all;
export all;

/* The mean of neighbours. */
double[.] mean3(double[.] a) { return { [i] -> (a[i] + a[i+1] + a[i+2]) / 3.0 | [i] < shape(a) - 2 }; }

int, double[*] both(int n, double[*] a, bool b) { return (n, a); }

long twice(long a) { return 2L * a; }

double[n] twice(double[n] a) { return 2.0 * a; }
"""


@sacpy.function(target="interp")
def scaled(a: Double["n"], k: float = 2.0, *, shift: float = 0.0) -> Double["n"]:
    """Each element by k."""
    return a * k + shift


def test_it_says_what_it_is() -> None:
    assert scaled.__doc__ == "Each element by k." and scaled.__name__ == "scaled"
    assert repr(scaled).startswith("<captured function scaled(")
    assert "double[n] scaled(double[n] a, double k, double shift)" in scaled.sac
    assert scaled.python(1.0) == 2.0
    assert "scaled" in scaled.explain() or scaled.explain() != ""


def test_arguments_by_name_and_by_default() -> None:
    a = np.arange(3.0)
    np.testing.assert_array_equal(scaled(a), 2 * a)
    np.testing.assert_array_equal(scaled(a, k=3.0, shift=1), 3 * a + 1)
    np.testing.assert_array_equal(scaled.interpreted(a, 0.5), a / 2)
    with pytest.raises(TypeError):
        scaled(a, 1.0, 2.0)


def test_results_go_where_they_are_wanted() -> None:
    a = np.arange(3.0)
    assert scaled(a, out=a) is a
    np.testing.assert_array_equal(a, [0.0, 2.0, 4.0])
    with pytest.raises(sacpy.SacError, match=r"out is float32\[3\], and scaled gives float64\[3\]"):
        scaled(a, out=np.zeros(3, np.float32))


def test_results_overwrite_nothing_that_they_should_not() -> None:
    @sacpy.function(target="interp")
    def halves(a: Double["n"]) -> tuple[Double["n"], Double["n"]]:
        return a / 2.0, -a

    a, b = np.arange(3.0), np.zeros(3)
    assert halves(a, out=(b, a))[1] is a and b.tolist() == [0.0, 0.5, 1.0] and a.tolist() == [0.0, -1.0, -2.0]
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    whole = np.zeros(4)
    for out, message in (
        ((b, fixed), "out cannot be written"),
        ((b, np.zeros(4)), r"out is float64\[4\]"),
        ((b,), "out has 1 arrays, and halves gives 2 results"),
        (b, "out has 1 arrays"),
        ((whole[1:], whole[:-1]), "share memory"),
    ):
        with pytest.raises(sacpy.SacError, match=message):
            halves(a, out=out)
    assert b.tolist() == [0.0, 0.5, 1.0] and not whole.any()


def test_a_session_runs_its_own() -> None:
    session = sacpy.Session(target="interp", limits=sacpy.Limits(memory=1 << 20))

    @session.function
    def large(n: int) -> float:
        return np.sum(np.ones(n) * 2.0)

    assert large(10) == 20.0
    with pytest.raises(sacpy.SacError, match="out of memory"):
        large(10**7)


def test_a_constant_is_that_of_the_first_use() -> None:
    factor = 2.0

    @sacpy.function(target="interp")
    def times(x: float) -> float:
        return factor * x

    assert times(3.0) == 6.0
    factor = 5.0
    assert times(3.0) == 6.0


def test_a_function_within_another_has_its_place() -> None:
    @sacpy.function(target="interp")
    def inner(a: Double["n"], i: int) -> float:
        """Text that
        reaches to the margin."""
        # a comment there
        return a[i]

    with pytest.raises(sacpy.SacError) as caught:
        inner(np.zeros(2), 5)
    span = caught.value.diagnostics[0].span
    assert span.text == "a[i]" and span.source.line(span.line) == "        return a[i]"


def test_whole_numbers_wrap_at_64_bits() -> None:
    @sacpy.function(target="interp")
    def product(a: int, b: int) -> int:
        return a * b

    assert product(2**40, 2**20) == 2**60
    assert product(2**40, 2**24) == 0  # in Python 2**64


def test_it_is_pickled_by_name() -> None:
    again = pickle.loads(pickle.dumps(recursive))
    assert again is recursive and again(2, 1.0) == 6.0


def test_what_is_no_function() -> None:
    with pytest.raises(TypeError):
        sacpy.function(3)  # type: ignore[call-overload]
    with pytest.raises(sacpy.SacError, match="cannot be had"):
        exec("import sacpy\n@sacpy.function\ndef f(n: int) -> int:\n    return n\n", {})


def test_the_targets_are_compared() -> None:
    assert assert_equal_on_all_targets(scaled, np.arange(5.0), 3.0)[4] == 12.0

    @sacpy.function
    def wraps(n: int) -> int:
        return n * 4

    with pytest.raises(AssertionError, match="wraps"):
        assert_equal_on_all_targets(wraps, 2**62, targets=("interp",))


def test_files_of_sac_are_imported(tmp_path: Path) -> None:
    (tmp_path / "smooth.sac").write_text(MODULE, encoding="utf-8")
    (tmp_path / "broken.sac").write_text("module broken;\nint f( { return 1; }\n", encoding="utf-8")
    script = (
        "import sacpy; sacpy.install_importer(); sacpy.install_importer()\n"
        "import smooth\nfrom smooth import twice\n"
        "print(smooth.mean3([1.0, 2.0, 6.0]), twice(4), 'smooth' in smooth.__doc__, sorted(smooth.__all__))\n"
        "try:\n    import broken\nexcept sacpy.SacError as error: print(error.diagnostics[0].span.source.name[-10:])\n"
        "try:\n    import nowhere\nexcept ModuleNotFoundError: print('none')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True, env=None
    )
    assert done.stdout == "[3.] 8 True ['both', 'mean3', 'twice']\nbroken.sac\nnone\n"


def test_tools_of_python_see_files_of_sac(tmp_path: Path) -> None:
    from sacpy.cli import main

    (tmp_path / "smooth.sac").write_text(MODULE, encoding="utf-8")
    assert main(["stubs", str(tmp_path / "smooth.sac"), "-o", str(tmp_path / "smooth.pyi")]) == 0
    text = (tmp_path / "smooth.pyi").read_text(encoding="utf-8")
    assert "def both(n: int, a: float | npt.ArrayLike, b: bool) -> tuple[int, Any]: ..." in text
    assert 'def mean3(a: npt.ArrayLike) -> npt.NDArray[np.float64]:\n    """The mean of neighbours."""' in text
    assert text.count("@overload") == 2
    assert "Packed" not in text
    compile(text, "smooth.pyi", "exec")
    (tmp_path / "rows.sac").write_text("int[i<n, i+1] same(int[i<n, i+1] a) { return a; }", encoding="utf-8")
    assert main(["stubs", str(tmp_path / "rows.sac"), "-o", str(tmp_path / "rows.pyi")]) == 0
    text = (tmp_path / "rows.pyi").read_text(encoding="utf-8")
    assert "\nfrom sacpy import Packed\n" in text and "def same(a: Packed) -> Packed: ..." in text
    assert main(["stubs", str(tmp_path / "nowhere.sac")]) == 1


def test_the_sac_that_is_shown_is_sac() -> None:
    session = sacpy.Session(target="interp")
    for function in (*CASES, *(f for f, _ in (*PARTS, *EDGES))):
        whole = print_module(function.program.tree())
        found = parse_module(Source("shown", whole))
        assert not found.diagnostics, (found.diagnostics, whole)
    a = np.diag([4.0, 5.0]) + 1.0
    np.testing.assert_array_equal(session.compile(lu.sac).lu(a), lu.interpreted(a))
