"""Calls that have come to know their compiled code and go there directly: nobody can tell, but by the time they
take."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import sacpy
from sacpy.embedding.runner import MISSED, Runner, no_gate
from sacpy.jit.host.gate_text import ENTRY
from sacpy.jit.run import versions

SOURCE = """use Array: all;
double[.] same(double[n] a) { s = 0.0; for (i = 0; i < n; i++) { s += a[i] * s; } if (s > 1.0e300) { a[0] = s;
  } return a; }
double total(double[.] a) { return sum(a * a); }
double[.], int, double split(double[n] a) { s = 0.0; for (i = 0; i < n; i++) { s += a[i] * a[i]; } return (a + s, n, s);
  }
double at(double[.] a, int i) { s = 0.0; for (k = 0; k < 40; k++) { s += a[i + k]; } return s; }
"""


@pytest.fixture(autouse=True)
def on_a_busy_machine_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """No version is given up because something else has kept the machine busy while it was called."""
    monkeypatch.setattr(versions, "SLOW", 1.0)


@pytest.fixture
def module() -> sacpy.Module:
    return sacpy.Session(target="cpu").compile(SOURCE)


def directly(f: Any, *args: Any, tries: int = 50) -> Any:
    """The result of a call once the function has been called often enough to be compiled; nearly all calls do not go
    the usual way then."""
    for _ in range(tries):  # how many calls it takes depends on how fast they are
        for _ in range(2000):
            f(*args)
        with patch.object(Runner, "run", autospec=True, side_effect=Runner.run) as usual:
            for _ in range(20):
                result = f(*args)
        if usual.call_count < 5:
            return result
    raise AssertionError("these went the usual way")


def test_results_are_the_same(module: sacpy.Module) -> None:
    a = np.arange(50.0)
    assert directly(module.total, a) == float((a * a).sum())
    more, n, s = directly(module.split, a)
    assert s == (a * a).sum() and np.array_equal(more, a + s) and n == 50


def test_no_result_is_an_argument_or_an_earlier_result(module: sacpy.Module) -> None:
    a = np.arange(50.0)
    one, two = directly(module.same, a), directly(module.same, a)
    one[:] = -1.0
    assert np.array_equal(a, np.arange(50.0)) and np.array_equal(two, a)


def test_other_shapes_and_types_go_elsewhere(module: sacpy.Module) -> None:
    directly(module.total, np.ones(50))
    assert module.total(np.ones(3)) == 3.0
    assert module.total([1.0, 2.0]) == 5.0
    with pytest.raises(sacpy.SacError):
        module.total(np.ones((5, 5)))


def test_packed_arrays_go_there_in_parts() -> None:
    module = sacpy.Session(target="cpu").compile("""use Array: all;
double f(double[i<n, i+1] a, double[n] x) { return sum({ [i] -> sum(a[i] * take([i+1], x)) | [i] < [n] }); }
double f(double[n] a, int b, double[n] x) { return -1.0; }
double[i<n, i+1] less(double[i<n, i+1] a) { return a - 1.0; }
double, double[i<n, n-i], int[i<m, i/2] several(double[i<n, n-i] a, int m)
{ return (sum(a), 2.0 * a, { [i,j] -> i - j | [i,j] < [m, i/2] }); }
double[i<n, i+1] same(double[i<n, i+1] a)
{ s = 0.0; for (i = 0; i < n; i++) { s += a[i,0] * s; } if (s > 1.0e300) { a[0,0] = s; } return a; }
double[i<n, i+1] made(int n) { return { [i,j] -> tod(i * j) | [i,j] < [n, i+1] }; }
""")
    v, x = np.arange(36.0), np.ones(8)
    p = sacpy.packed("double[i<n, i+1]", v, n=8)
    assert directly(module.f, p, x) == v.sum() and module.f(np.ones(36), 8, np.ones(36)) == -1.0
    assert module.f(p, x + 1) == 2 * v.sum() and module.f(sacpy.packed("double[i<n, i+1]", np.ones(3), n=2), x[:2]) == 3
    with pytest.raises(sacpy.SacError):
        module.f(p, np.ones(7))
    with pytest.raises(sacpy.SacError):
        module.f(p)
    result = directly(module.less, p)
    assert np.array_equal(result.data, v - 1.0) and result.extents.tolist() == [*range(1, 9)] and v[0] == 0.0
    upper = sacpy.packed("double[i<n, n-i]", v, n=8)
    total, twice, table = directly(module.several, upper, 5)
    assert total == v.sum() and np.array_equal(twice.data, 2 * v) and twice.extents[0] == 8
    assert table.data.tolist() == [2, 3, 4, 3] and table.extents.tolist() == [0, 0, 1, 1, 2]
    assert directly(module.made, 4).data.tolist() == [0, 0, 1, 0, 2, 4, 0, 3, 6, 9]
    same = directly(module.same, p)
    same.data[0] = 7.0
    assert v[0] == 0.0 and p.data[0] == 0.0, "a result is no argument"


def test_a_packed_result_goes_through_the_gate() -> None:
    source = "use Array: all; double[i<n, i+1] less(double[i<n, i+1] a) { return a - 1.0; }"
    f = sacpy.Session(target="cpu").compile(source).less
    p = sacpy.packed("double[i<n, i+1]", np.arange(6.0), n=3)
    directly(f, p)
    assert f.gate is not no_gate and f.gate(p).data.tolist() == [-1, 0, 1, 2, 3, 4]
    assert f.gate(p.data) is MISSED and f.gate(sacpy.packed("double[i<n, n-i]", p.data, n=3)) is MISSED


def test_what_is_called_through_a_gate_may_use_threads(module: sacpy.Module) -> None:
    """Code that is told of a stack of its own runs alone, since helpers have small ones."""
    a = np.arange(50.0)
    directly(module.total, a)
    (known,) = module.total._runner.direct.values()
    stacks: list[int] = []

    def entry(control: int, given: int, out: int) -> int:
        stacks.append(ctypes.c_int64.from_address(out).value)
        return 1

    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(entry)
    known._gate._words[ENTRY] = ctypes.cast(callback, ctypes.c_void_p).value
    known._gate.open(1)
    assert known.gate(a) is MISSED and stacks == [0]


DIGITS = "use Array: all; int digits(int n) { s = 0; while (n > 0) { s += n % 10; n /= 10; } return s; }"


def test_ints_that_grow_go_directly_too() -> None:
    """Where brief calls come with larger ints, code is called directly for such; and for those of before."""
    digits = sacpy.Session(target="cpu").compile(DIGITS).digits
    assert directly(digits, 7) == 7
    with patch.object(Runner, "run", autospec=True, side_effect=Runner.run) as usual:
        assert [digits(n) for n in range(20_000)] == [sum(map(int, str(n))) for n in range(20_000)]
    assert usual.call_count < 1000
    assert directly(digits, 2_000_000_000) == 2 and directly(digits, 7) == 7 and directly(digits, -2_000_000_000) == 0


def test_a_long_call_does_not_open_the_way_for_others() -> None:
    """Who calls directly is not interrupted; so no call that took long makes room for more like it."""
    text = "use Array: all; int f(int n) { s = 1; for (i = 0; i < n; i++) { s = s * 31 + i; } return s; }"
    f = sacpy.Session(target="cpu").compile(text).f
    directly(f, 3)
    with patch.object(Runner, "run", autospec=True, side_effect=Runner.run) as usual:
        for _ in range(200):
            f(20_000_000)
    assert usual.call_count == 200


@pytest.mark.parametrize("target", ["auto", "cpu"])
def test_functions_that_only_calls_make_slow_are_compiled(target: str) -> None:
    """A straight line of scalars is interpreted as fast as anything, but for the way there."""
    text = "int add(int a, int b) { return a + b; } bool less(double a, double b) { return a < b && a > 0.0; }"
    module = sacpy.Session(target=target).compile("use Array: all; " + text)
    assert directly(module.add, 3, 4) == 7 and module.add(2**31 - 1, 1) == -(2**31)
    assert directly(module.less, 1.0, 2.0) is True and module.less(float("nan"), 2.0) is False
    with pytest.raises(sacpy.SacError):
        module.add(2**31, 0)


def test_nobody_is_asked_twice_about_a_function() -> None:
    """One that is looked after is not asked about for being called often, though lists are never taken directly."""
    session = sacpy.Session(target="cpu")
    total = session.compile("use Array: all; double total(double[.] a) { return sum(a); }").total
    for _ in range(4000):
        assert total([1.0, 2.0]) == 3.0
    assert [row.where for row in session.stats().rows].count("native") == 1


def test_functions_that_cannot_be_compiled_are_called_as_before() -> None:
    text = 'use Array: all; use StdIO: all; use String: all; string f(string s) { return s + "!"; } '
    session = sacpy.Session(target="auto")
    module = session.compile(text + 'void g(int n) { if (n < 0) { printf("%d", n); } }')
    for _ in range(4000):
        assert module.f("a") == "a!" and module.g(1) is None
    assert session.stats().rows == (), "nobody has thought of compiling them"


def test_arguments_of_numpy_are_converted_on_the_way() -> None:
    module = sacpy.Session(target="cpu").compile("""use Array: all;
double norm(double x, double y) { return x * x + y * y; }
int twice(int n) { return 2 * n; }
bool differs(bool a, bool b) { return a != b; }
double total(double[.] v, double w) { return sum(v) * w; }
int largest(int[.] v) { return maxval(v); }
double[.] scaled(double[.] v) { return 2.0 * v; }
""")
    assert directly(module.norm, np.float64(3.0), 4.0) == 25.0 and directly(module.norm, 3, 4) == 25.0
    assert directly(module.norm, np.float32(0.5), np.float64(0.0)) == 0.25
    assert directly(module.twice, np.int64(21)) == 42 and directly(module.twice, np.uint8(200)) == 400
    assert directly(module.differs, np.bool_(True), False) is True
    for dtype in (np.float32, np.int64, np.int8, np.float16):
        v = np.arange(5).astype(dtype)
        assert directly(module.total, v, np.float64(2.0)) == 20.0
        assert directly(module.scaled, v).tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]
    wide = np.array([3, 7, 5])
    assert directly(module.largest, wide) == 7 and module.largest(wide[::-1]) == 7
    for wrong in (np.array([3, 2**40, 5]), np.array([3.0, 1.0, 2.0])):
        with pytest.raises(sacpy.SacError):
            module.largest(wrong)
    with pytest.raises(sacpy.SacError):
        module.twice(np.int64(2**31))
    with pytest.raises(sacpy.SacError):
        module.norm(2**53 + 1, 0)
    for size in (5, 20_000):  # through a gate, and without one
        large = np.arange(size)
        assert directly(module.scaled, large)[-1] == 2 * size - 2
        large[1] = 2**53 + 1
        with pytest.raises(sacpy.SacError):
            module.scaled(large)


def test_the_types_of_numpy_choose_the_function() -> None:
    """What was called with one type of NumPy's does not tell what is called with another."""
    module = sacpy.Session(target="cpu").compile("""use Array: all;
int sort(int a) { return 1; }          int sort(double a) { return 2; }
int more(int[.] a) { return sum(a) + 30; }     int more(double[.] a) { return toi(sum(a)) + 40; }
int more(float[.] a) { return toi(sum(a)) + 50; }     int more(int[.,.] a) { return sum(a) + 60; }
double total(double a) { return a; }     double total(double[.] a) { return sum(a); }
int less(float[.] a) { return toi(sum(a)) + 50; }    int less(int[.] a) { return sum(a) + 30; }
""")
    v = np.arange(4)
    ones, more = [1.5, np.float64(1.5), 7, np.int32(7), np.int64(7)], [v, v.astype(np.int32), v * 1.0, np.float32(v)]
    more += [v.reshape(2, 2), v.reshape(2, 2).astype(np.int32)]
    for _ in range(2):
        assert [directly(module.sort, k) for k in ones] == [2, 2, 1, 1, 1]
        assert [directly(module.more, k) for k in more] == [36, 36, 46, 56, 66, 66]
    for _ in range(2):
        assert directly(module.less, np.float16(v)) == 56 and module.less(v) == 36
    with pytest.raises(sacpy.SacError):
        module.sort(2**40)
    assert [module.sort(k) for k in ones] == [2, 2, 1, 1, 1]
    assert directly(module.total, v * 1.0) == 6.0 and module.total(1.5) == 1.5 and directly(module.total, v[:2]) == 1.0


def test_errors_have_their_place(module: sacpy.Module) -> None:
    a = np.ones(50)
    assert directly(module.at, a, 3) == 40.0
    with pytest.raises(sacpy.SacError) as caught:
        module.at(a, 20)
    (d,) = caught.value.diagnostics
    assert d.code == "E0601"
    assert d.span is not None and SOURCE[d.span.start : d.span.end] == "a[i + k]"
    assert module.at(a, 10) == 40.0


def test_with_limits_everything_is_watched() -> None:
    module = sacpy.Session(target="cpu", limits=sacpy.Limits(seconds=60.0)).compile(SOURCE)
    with pytest.raises(AssertionError, match="usual way"):
        directly(module.total, np.ones(50), tries=5)


def test_what_is_defined_anew_is_called() -> None:
    session = sacpy.Session(target="cpu")
    head = "use Array: all; double f(double[n] a) { s = 0.0; for (i = 0; i < n; i++) { s += a[i] * a[i]; } return s"
    first = session.define(f"{head}; }}").f
    a = np.ones(50)
    assert directly(first, a) == 50.0
    second = session.define(f"{head} + 1.0; }}").f
    assert second(a) == 51.0
    assert directly(second, a) == 51.0


KINDS = """use Array: all;
int, double, bool, long numbers(int a, double b, bool c, long d) { for (k = 0; k < 60; k++) { a += 1; b = -b; d -= 1L; }
  return (a, b, !c, d); }
int[2] two(int[2] a, int b) { for (k = 0; k < 60; k++) { b = (b * 5 + a[0]) % 11; } return [a[0] + b, a[1] - b]; }
float[3] scaled(float[3] a) { s = 0f; for (k = 0; k < 60; k++) { s = a[1] - s; } return [a[2], a[1] * 2f + s, a[0]]; }
bool[.], ubyte[.], double[.,.] arrays(bool[n] a, ubyte[n] b, double[n,m] c) { s = 0; for (k = 0; k < 60; k++) {
  s = (s + k) % 7; } return (with { ([0] <= iv < [n]) : a[iv] != (s > 7); } : genarray([n]), b, c + tod(s / 9)); }
int[.] below(int[n] a, int limit) { s = 0; for (i = 0; i < n; i++) { s += a[i] > limit ? 1 : 0; } return iota(s); }
double deep(double[2,2,1,2,1,2,2] a) { s = 0.0; for (k = 0; k < 60; k++) { i = k % 2; s += a[i,0,0,1,0,1,i]; }
  return s; }
"""


def through(f: Any, *args: Any) -> Any:
    """The result of a call that has gone through a gate in machine code."""
    directly(f, *args)
    found = f.gate(*args)
    return f.gate(*args) if found is MISSED and f(*args) is not None else found


def test_results_of_every_kind_come_through_a_gate() -> None:
    f = sacpy.Session(target="cpu").compile(KINDS)
    assert through(f.numbers, 3, -0.5, False, 1 << 40) == (63, -0.5, True, (1 << 40) - 60)
    two = through(f.two, np.array([5, -7], np.int32), 3)
    assert two.dtype == np.int32 and two.tolist() == [8, -10]
    scaled = through(f.scaled, np.array([0.1, 1.5, -0.0], np.float32))
    assert scaled.dtype == np.float32 and str(scaled.tolist()) == "[-0.0, 3.0, 0.10000000149011612]"
    given = np.array([True, False, True]), np.array([1, 255, 0], np.uint8), np.full((3, 2), np.nan)
    for got, wanted in zip(through(f.arrays, *given), given):
        assert got.dtype == wanted.dtype and np.array_equal(got, wanted, equal_nan=wanted.dtype.kind == "f")
        assert got is not wanted and not np.shares_memory(got, wanted)
    empty = np.array([], bool), np.array([], np.uint8), np.zeros((0, 3))
    assert [a.shape for a in through(f.arrays, *empty)] == [(0,), (0,), (0, 3)]
    numbers = np.arange(9, dtype=np.int32)
    assert [through(f.below, numbers, k).tolist() for k in (6, 8, -1)] == [[0, 1], [], list(range(9))]
    deep = np.arange(32.0).reshape(2, 2, 1, 2, 1, 2, 2)
    assert through(f.deep, deep) == 30 * (deep[0, 0, 0, 1, 0, 1, 0] + deep[1, 0, 0, 1, 0, 1, 1])


def test_a_gate_refuses_what_it_was_not_made_for() -> None:
    f = sacpy.Session(target="cpu").compile(KINDS)
    through(f.numbers, 3, 0.5, False, 7)
    others: list[tuple[Any, ...]] = [
        (3, 0.5, False), (3, 0.5, False, 7, 8), (3.0, 0.5, False, 7), (3, 1, False, 7), (3, 0.5, 0, 7),
        (True, 0.5, False, 7), (np.int32(3), 0.5, False, 7), (1 << 70, 0.5, False, 7),
        (3, 0.5, False, -(1 << 70)), (None,) * 4,
    ]  # fmt: skip
    assert all(f.numbers.gate(*args) is MISSED for args in others)
    a = np.arange(4, dtype=np.int32)
    through(f.two, a[:2], 1)
    unaligned = np.frombuffer(b"\0" * 9, np.uint8)[1:].view(np.int32)
    swapped, column = a[:2].astype(">i4"), np.zeros((2, 1), np.int32)
    for other in (a, a[::2], a[:1], a[:0], unaligned, swapped, column, a[:2].astype(np.int64), [1, 2], a[:2].view(Sub)):
        assert f.two.gate(other, 1) is MISSED
    assert f.two(a[::2], 1).tolist() == [1, 1]


class Sub(np.ndarray):
    """Somebody's own kind of array."""


def test_gates_neither_keep_nor_lose_anything() -> None:
    f = sacpy.Session(target="cpu").compile(KINDS)
    given = np.ones(3, bool), np.ones(3, np.uint8), np.ones((3, 2))
    through(f.arrays, *given)
    gate, dtype = f.arrays.gate, np.dtype(np.float64)
    before = [sys.getrefcount(x) for x in (*given, dtype, True, MISSED)]
    for _ in range(600):
        if gate(*given) is MISSED:
            f.arrays(*given)
        assert gate(*given[:2]) is MISSED
    assert [sys.getrefcount(x) for x in (*given, dtype, True, MISSED)] == before
    a, _, c = through(f.arrays, *given)
    assert a.flags.owndata and c.flags.owndata and c.flags.writeable


def test_calls_through_a_gate_are_counted() -> None:
    session = sacpy.Session(target="cpu")
    f = session.compile(KINDS)
    for _ in range(1000):
        f.numbers(3, 0.5, False, 7)
    assert sum(row.calls for row in session.stats().rows if row.function == "numbers") == 1000


def test_a_gate_is_used_by_several_threads_and_outlives_its_session() -> None:
    session = sacpy.Session(target="cpu")
    f = session.compile(KINDS).below
    numbers = np.arange(2000, dtype=np.int32)
    through(f, numbers, 5)
    with ThreadPoolExecutor(4) as pool:
        assert {len(r) for r in pool.map(f, [numbers] * 400, [5] * 400)} == {1994}
    gate = f.gate
    del session, f
    gc.collect()
    found = gate(numbers, 5)
    assert found is MISSED or len(found) == 1994


LONG = """
import signal, sys, threading, sacpy

session = sacpy.Session(target="cpu")
module = session.compile(
    "use Array: all; int f(int n) { s = 0; for (i = 0; i < n; i++) { s = (s * 31 + i) % 1000003; } return s; }"
)
for _ in range(300):
    module.f(1000)
assert module._runner.direct
threading.Timer(0.3, signal.raise_signal, (signal.SIGINT,)).start()
try:
    module.f(2000000000)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_a_long_call_after_brief_ones_is_interrupted() -> None:
    done = subprocess.run([sys.executable, "-c", LONG], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")
