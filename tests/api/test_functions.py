"""SaC functions as Python callables."""

import inspect
import pydoc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sacpy

SOURCE = """
use Array: all;
use StdIO: all;

/* Halves a number. */
double half(double x) { return x / 2.0; }

// Of ints.
int kind(int x) { return 1; }
// Of doubles.
int kind(double x) { return 2; }
int kind(bool x) { return 3; }
int kind(long x) { return 4; }
int kind(float[.] x) { return 5; }
int kind(int[.] x) { return 6; }
int kind(int[.,.] x) { return 7; }
int kind(int[2] x) { return 8; }
int kind(char[.] x) { return 9; }
int kind(double[*] x) { return 10; }

int, double two(int x, double y) { return (x + 1, y + 1.0); }
void nothing(int x) { printf("%d\\n", x); }
int count(int[.] &a) { a = a ++ [1]; return shape(a)[0]; }
int either(int a, double b) { return 1; }
int either(double a, int b) { return 2; }
int +++(int a, int b) { return a * 100 + b; }
int lambda(int is) { return is; }
int[n] same(int[n] a, int[n] b) { return a + b; }
int positive(int x) | (x > 0) { return x; }
int fails(int[.] a) { return a[[shape(a)[0]]]; }
"""


@pytest.fixture(scope="module")
def m() -> sacpy.Module:
    return sacpy.Session().compile(SOURCE, "functions.sac")


def error(call: Callable[..., Any], *args: Any, **named: Any) -> sacpy.Diagnostic:
    """The one diagnostic that a call ends with."""
    with pytest.raises(sacpy.SacError) as caught:
        call(*args, **named)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


@pytest.mark.parametrize(
    ("value", "instance"),
    [
        (1, 1), (2.0, 2), (True, 3), (2**31, 4), (np.int64(1), 4), (np.int32(1), 1), (np.zeros(3, np.float32), 5),
        ([1, 2, 3], 6), ([1, 2], 8), ([[1]], 7), (np.zeros((1, 1), np.int32), 7), (b"ab", 9), ("ab", 9),
        ([1.5], 10), (np.zeros((2, 2)), 10), ([], 6), (np.float64(1.0), 2),
    ],
)  # fmt: skip
def test_arguments_choose_the_instance(m: sacpy.Module, value: Any, instance: int) -> None:
    assert m.kind(value) == instance
    assert m.kind(value) == instance


def test_results(m: sacpy.Module, capsys: pytest.CaptureFixture[str]) -> None:
    assert m.two(1, 2.0) == (2, 3.0)
    assert m.nothing(5) is None
    assert capsys.readouterr().out == "5\n"


def test_a_reference_parameter_comes_back_after_the_results(m: sacpy.Module) -> None:
    array = np.array([5, 6], np.int32)
    count, changed = m.count(array)
    assert (count, changed.tolist(), array.tolist()) == (3, [5, 6, 1], [5, 6])


def test_a_tie_is_an_error(m: sacpy.Module) -> None:
    assert m.either(1, 2.0) == 1
    assert m.either(1.0, 2) == 2
    assert error(m.either, 1, 2).code == "E0710"


def test_operators_and_qualified_names(m: sacpy.Module) -> None:
    assert m["+++"](1, 2) == 102
    assert m["+"](1, 2) == 3
    assert m["+"]([1, 2], 3).tolist() == [4, 5]
    assert m["Array::sum"]([1, 2, 3]) == 6
    assert m["lambda"](4) == 4
    assert "sum" not in list(m)
    assert "sum" in m
    assert "nope" not in m


def test_names_that_are_not_there(m: sacpy.Module) -> None:
    with pytest.raises(AttributeError, match="did you mean half"):
        _ = m.haf
    with pytest.raises(KeyError):
        _ = m["Nope::f"]


def test_arguments_by_name(m: sacpy.Module) -> None:
    assert m.two(y=2.0, x=1) == (2, 3.0)
    assert m.two(1, y=2.0) == (2, 3.0)
    assert error(m.two, 1, z=2.0).code == "E0709"


def test_documentation_and_signature(m: sacpy.Module) -> None:
    assert m.half.__doc__ == "Halves a number."
    assert m.kind.__doc__ == "Of ints.\n\nOf doubles."
    assert m.two.__doc__ == "int, double two(int x, double y)"
    assert str(inspect.signature(m.half)) == "(x: 'double') -> 'double'"
    assert str(inspect.signature(m.two)) == "(x: 'int', y: 'double') -> 'int, double'"
    assert str(inspect.signature(m["lambda"])) == "(arg1: 'int', /) -> 'int'"
    assert list(inspect.signature(m.kind).parameters) == ["x"]
    assert inspect.getdoc(m.half) == "Halves a number."


def test_help_lists_the_functions_of_a_module() -> None:
    source = """/* Heat, in two dimensions. */
        use Array: all;
        /* One step;
           the rim stays. */
        double[n,m] step(double[n,m] u) { return u; }
        // The largest change.
        double change(double[*] a) { return maxval(a); }
        float change(float[*] a) { return maxval(a); }
        int plain(int a) { return a; }"""
    module = sacpy.Session().compile(source, "heat.sac")
    shown = pydoc.render_doc(module, renderer=pydoc.plaintext)
    for text in (
        "SaC program heat.sac",
        "\n    Heat, in two dimensions.\n",
        "\n        double change(double[*] a)\n        float change(float[*] a)\n            The largest change.\n",
        "\n        double[n,m] step(double[n,m] u)\n            One step;\n            the rim stays.\n",
        "\n        int plain(int a)\n",
    ):
        assert text in shown
    assert "__getitem__" not in shown
    alone = sacpy.Session().compile("/* Once. */ int f(int a) { return a; }")
    assert (alone.__doc__ or "").count("Once.") == 1
    assert sacpy.Session().define("").__doc__ == "no functions"


def test_representations(m: sacpy.Module) -> None:
    assert repr(m.half) == "<SaC function half, 1 instance:\n  double half(double x)>"
    assert repr(m).startswith("<SaC program functions.sac\n")
    assert "\n  int kind(int[2] x)" in repr(m)
    assert "half" in dir(m)
    assert "+++" in list(m)


LARGE = """
use Complex: all;
int f(int a) { return 1; } int f(double a) { return 2; }
int v(int[.] a) { return 1; } int v(double[.] a) { return 2; }
int k(int a) { return 1; } int k(long a) { return 2; } int k(double a) { return 3; }
int c(int a) { return 1; } int c(complex a) { return 2; }
int r(float a) { return 1; } int r(double a) { return 2; }
int two(int a, double b) { return 1; } int two(double a, double b) { return 2; }
"""


@pytest.mark.parametrize(
    ("name", "args", "instance"),
    [
        ("f", (5,), 1), ("f", (2.0**40,), 2), ("f", (2**31,), 0), ("f", (-(2**31),), 1), ("f", (2**70,), 0),
        ("f", (np.int64(2**40),), 0), ("v", ([2**40, 1],), 0), ("v", ([2**40, 1.0],), 2), ("v", ([1, 2],), 1),
        ("k", (2**40,), 2), ("k", (2**70,), 0), ("c", (2**40,), 0), ("c", (2j,), 2),
        ("r", (2**40,), 2), ("two", (1, 2**40), 1), ("two", (2**40, 1), 0), ("two", (2.0**40, 1), 2),
    ],
)  # fmt: skip
def test_an_int_that_does_not_fit_is_no_real_beside_an_instance_for_ints(
    name: str, args: tuple[Any, ...], instance: int
) -> None:
    function = sacpy.Session().define(LARGE)[name]
    if instance:
        assert function(*args) == instance
        return
    with pytest.raises(sacpy.SacError) as caught:
        function(*args)
    (found,) = caught.value.diagnostics
    assert found.code == "E0707" and "does not fit int" in found.message


def test_no_instance(m: sacpy.Module) -> None:
    diagnostic = error(m.kind, "a", 1)
    assert (diagnostic.code, "1 argument, not 2" in diagnostic.message) == ("E0709", True)
    diagnostic = error(m.kind, {"a": 1})
    assert diagnostic.code == "E0709"
    assert "candidate: int kind(int x)" in diagnostic.notes
    assert error(m.kind, np.zeros((1, 1, 1), np.int32)).code == "E0619"


def test_errors_of_the_program_have_its_places(m: sacpy.Module) -> None:
    assert error(m.same, [1, 2], [1, 2, 3]).code == "E0615"
    assert error(m.positive, 0).code == "E0616"
    diagnostic = error(m.fails, [1, 2])
    assert diagnostic.code == "E0601"
    assert diagnostic.span.text == "a[[shape(a)[0]]]"
    assert [frame.function for frame in diagnostic.stack] == ["fails"]


def test_errors_in_a_source_come_all_at_once() -> None:
    with pytest.raises(sacpy.SacError) as caught:
        sacpy.Session().compile("int f() { return x; } int g() { return y; }")
    assert [d.code for d in caught.value.diagnostics] == ["E0305", "E0305"]


def test_loading_a_module_file_beside_others(tmp_path: Path) -> None:
    (tmp_path / "Low.sac").write_text(
        "module Low; export all; use ScalarArith: all; /* Adds 1. */ int up(int x) { return x + 1; }"
    )
    (tmp_path / "High.sac").write_text(
        "module High; import Low: all; export all; use ScalarArith: all; int upup(int x) { return up(up(x)); }"
    )
    high = sacpy.Session().load(tmp_path / "High.sac")
    assert high.upup(1) == 3
    assert high.up(1) == 2
    assert sorted(high) == ["up", "upup"]
    other = sacpy.Session(search=[tmp_path]).compile("use Low: all; int f(int x) { return up(x); }")
    assert other.f(1) == 2


def test_warnings_are_kept() -> None:
    module = sacpy.Session().compile(
        "use ScalarArith: all; int f(int[n,n] a) { return 1; } int f(int[n,m] a) { return 2; }"
    )
    assert module.f(np.zeros((2, 2), np.int32)) == 2
    assert [d.severity for d in module.warnings] == ["warning"]


def test_global_objects_live_as_long_as_the_module(tmp_path: Path) -> None:
    (tmp_path / "Counter.sac").write_text(
        "class Counter; classtype int; export all; use ScalarArith: all; Counter make() { return to_Counter(0); } "
        "void bump(Counter &c) { c = to_Counter(from_Counter(c) + 1); } int get(Counter &c) { return from_Counter(c); "
        "} objdef Counter it = make();"
    )
    module = sacpy.Session(search=[tmp_path]).compile("use Counter: all; int next() { bump(it); return get(it); }")
    assert [module.next(), module.next(), module.next()] == [1, 2, 3]
