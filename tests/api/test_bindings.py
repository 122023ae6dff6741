"""External functions: Python functions, and functions in shared libraries."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sacpy

SOURCE = """
use Structures: all;
external double scale(double[*] a, int n);
external int, double[n] pair(int[n] a);
external void note(string s);
external void change(int &x);
external complex turn(complex c);
double use_scale(double[*] a) { return scale(a, 3); }
int, double[.] use_pair(int[.] a) { b, c = pair(a); return (b, c); }
void use_note() { note("hi"); }
int use_change() { x = 1; change(x); return x; }
complex use_turn() { return turn(toc(1.0, 2.0)); }
double[.] update(int[.] a) { b, c = pair(a); c[0] = 100.0; return c; }
"""


@pytest.fixture
def session() -> sacpy.Session:
    return sacpy.Session()


def error(call: Callable[..., Any], *args: Any) -> sacpy.SacError:
    with pytest.raises(sacpy.SacError) as caught:
        call(*args)
    return caught.value


def test_an_array_goes_through_without_a_copy(session: sacpy.Session) -> None:
    m = session.compile(SOURCE)
    seen: list[np.ndarray[Any, Any]] = []

    @session.bind("scale")
    def scale(a: np.ndarray[Any, Any], n: int) -> float:
        seen.append(a)
        return float(a[0, 0] * n)

    array = np.full((1000, 1000), 2.0)
    assert m.use_scale(array) == 6.0
    assert m.scale(array, 2) == 4.0
    for a in seen:
        assert a.__array_interface__["data"][0] == array.__array_interface__["data"][0]
        assert not a.flags.writeable


def test_results_of_all_sorts(session: sacpy.Session) -> None:
    m = session.compile(SOURCE)
    notes: list[str] = []
    session.bind("pair", lambda a: (len(a), a * 0.5))
    session.bind("note", notes.append)
    session.bind("change", lambda x: x + 41)
    session.bind("turn", lambda c: c * 1j)
    count, halves = m.use_pair([1, 2, 3])
    assert (count, halves.tolist()) == (3, [0.5, 1.0, 1.5])
    m.use_note()
    assert notes == ["hi"]
    assert m.use_change() == 42
    assert m.use_turn() == -2 + 1j


def test_an_array_that_python_keeps_is_not_written(session: sacpy.Session) -> None:
    kept = np.array([1.0, 2.0])
    session.bind("pair", lambda a: (0, kept))
    m = session.compile(SOURCE)
    assert m.update([1, 2]).tolist() == [100.0, 2.0]
    assert kept.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda a: 1, "tuple of 2 values"),
        (lambda a: (1.5, [1.0, 2.0]), "result 1"),
        (lambda a: (1, "x"), "result 2"),
        (lambda a: (1, [1.0]), "violates its declaration"),
        (lambda: 1, "cannot be called with 1 argument"),
        (lambda a: None, "tuple of 2 values"),
    ],
)
def test_results_are_checked(session: sacpy.Session, function: Any, words: str) -> None:
    session.bind("pair", function)
    found = error(session.compile(SOURCE).use_pair, [1, 2])
    assert found.diagnostics[0].code == "E0712"
    assert words in found.diagnostics[0].message


def test_an_exception_is_the_cause(session: sacpy.Session) -> None:
    m = session.compile(SOURCE)
    session.bind("note", lambda s: 1 / 0)
    found = error(m.use_note)
    assert found.diagnostics[0].code == "E0711"
    assert isinstance(found.__cause__, ZeroDivisionError)
    assert [f.function for f in found.diagnostics[0].stack] == ["note", "use_note"]


def test_binding_again_and_unbound(session: sacpy.Session) -> None:
    m = session.compile(SOURCE)
    found = error(m.use_change)
    assert found.diagnostics[0].code == "E0618"
    assert 'session.bind("change"' in found.diagnostics[0].help
    for result in (2, 3):
        session.bind("change", lambda x, r=result: r)
        assert m.use_change() == result
    with pytest.raises(TypeError):
        session.bind("change", 5)  # type: ignore[call-overload]


def test_python_and_sac_call_each_other(session: sacpy.Session) -> None:
    m = session.compile(
        "use Array: all; external int other(int n); int f(int n) { return n <= 0 ? 0 : 1 + other(n - 1); }"
    )
    session.bind("other", lambda n: m.f(n))
    assert m.f(20) == 20
    assert error(m.f, 10_000).diagnostics[0].code == "E0701"
    assert m.f(20) == 20


def test_a_module_of_external_functions(session: sacpy.Session, tmp_path: Any) -> None:
    (tmp_path / "Py.sac").write_text(
        "module Py; export all; external int add(int a, int b); external double add(double a, double b);"
    )
    session = sacpy.Session(search=[tmp_path])
    session.bind("Py::add", lambda a, b: a + b)
    session.define("use Py: all;")
    assert session.eval("add(1, 2)") == 3
    assert session.eval("add(1.5, 2.0)") == 3.5


LIBM = """
use Structures: all;
external double cos(double x);
#pragma linkobj "libm.so.6"
external double power(double x, double y);
#pragma linkname "pow"
#pragma linkwith "-lm"
external double floor(double x);
#pragma linkwith "m"
external int nothing(int x);
#pragma linkname "no_such_function_at_all"
#pragma linkobj "libm.so.6"
double both(double x) { return cos(x) + power(x, 2.0); }
int no() { return nothing(1); }
"""


def test_shared_libraries_need_a_grant() -> None:
    for world in (sacpy.World(), sacpy.World(libraries=["libc.so.6"])):
        found = error(sacpy.Session(world=world).compile(LIBM).both, 2.0)
        assert found.diagnostics[0].code == "E0753"


def test_functions_in_shared_libraries() -> None:
    m = sacpy.Session(world=sacpy.World(libraries=True)).compile(LIBM)
    assert m.both(2.0) == np.cos(2.0) + 4.0
    assert m.floor(27.5) == 27.0
    assert error(m.no).diagnostics[0].code == "E0714"


def test_arrays_and_strings_in_c() -> None:
    source = """
use Structures: all;
external int strlen_(string s);
#pragma linkname "strlen"
#pragma linkobj "libc.so.6"
external void qsort_free(int[*] &a, int c, long n);
#pragma linkname "memset"
#pragma linkobj "libc.so.6"
int[.] cleared(int[.] a) { qsort_free(a, 0, 4l); return a; }
int length(string s) { return strlen_(s); }
"""
    m = sacpy.Session(world=sacpy.World(libraries="libc.so.6")).compile(source)
    assert m.length("hello") == 5
    array = np.array([7, 8], np.int32)
    assert m.cleared(array).tolist() == [0, 8]
    assert array.tolist() == [7, 8]
