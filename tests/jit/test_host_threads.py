"""Loops spread over threads: results are the same bits for any number of threads, and strict ones those of the
interpreter; failures, limits and the stop flag work in helpers too."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from sacpy.jit.failures import CheckFailed, Interrupted
from sacpy.jit.host.loading import runtime
from sacpy.jit.host.native import Context
from sacpy.jit.ir.graph import Atom, Const, Genarray, Unit, Var, integer
from sacpy.jit.options import Options
from sacpy.jit.schedule.threads import is_cut
from tests.jit.builder import B, arguments, unit
from tests.jit.native_tools import compiled, same
from tests.tools import ROOT

RNG = np.random.default_rng(11)
N = 300_001


def on_threads(u: Unit, *args: object, options: Options | None = None) -> tuple[object, ...]:
    """The results for 1, 2 and 5 threads, which are equal bit by bit."""
    context = Context()
    f = compiled(u, options or Options(), context)
    results = []
    for threads in (1, 2, 5, 2, 1):
        context.threads = threads
        results.append(f.call(args))
    for other in results[1:]:
        assert all(same(x, y) for x, y in zip(results[0], other))
    return results[0]


def fold_of(code: str, neutral: Const, base: str = "double", rank: int = 1) -> Unit:
    b = B()
    params, (a,), inputs = arguments(b, (base, rank))
    r = b.fold(code, neutral, [b.partition([0] * rank, params[:rank], lambda c, *i: c.load(a, *i))])
    return unit(b, params, inputs, [r])


def test_sums_do_not_depend_on_threads_and_are_accurate() -> None:
    import math

    x = RNG.standard_normal(N) * 10.0 ** RNG.integers(-8, 8, N)
    (found,) = on_threads(fold_of("add", Const("double", 0.0)), x)
    assert abs(found - math.fsum(x)) <= N * 2.0**-52 * np.abs(x).sum()  # type: ignore[operator]
    for shape in ((3, 100_000), (600, 700), (70, 80, 90), (1, 1, 300_000), (100_000, 3)):
        y = RNG.standard_normal(shape)
        (found,) = on_threads(fold_of("add", Const("double", 0.0), rank=len(shape)), y)
        assert abs(found - y.sum()) <= y.size * 2.0**-52 * np.abs(y).sum()


def test_strict_folds_are_those_of_the_interpreter() -> None:
    x = RNG.standard_normal(100_003) * 10.0 ** RNG.integers(-8, 8, 100_003)
    total = 0.25
    for v in x.tolist():
        total = total + v
    (found,) = on_threads(fold_of("add", Const("double", 0.25)), x, options=Options(strict_fp=True))
    assert same(found, total)


def test_a_neutral_that_is_none_counts_once() -> None:
    x = np.ones(N)
    assert on_threads(fold_of("add", Const("double", 10.0)), x) == (N + 10.0,)
    i = np.ones(N, np.int32)
    assert on_threads(fold_of("add", integer(10), "int"), i) == (N + 10,)


@pytest.mark.parametrize(("code", "neutral"), [("min", 5.0), ("max", -5.0), ("mul", 1.0)])
def test_other_folds_on_reals(code: str, neutral: float) -> None:
    x = 1 + RNG.standard_normal(N) * 1e-6
    (found,) = on_threads(fold_of(code, Const("double", neutral)), x)
    expected = {"min": x.min(), "max": x.max(), "mul": np.prod(x)}[code]
    assert found == pytest.approx(expected, rel=1e-12 if code == "mul" else 0)


@pytest.mark.parametrize("code", ["add", "mul", "min", "max", "bitand", "bitor", "bitxor"])
def test_folds_on_integers_are_exact(code: str) -> None:
    for base, dtype in (("int", "i4"), ("ulong", "u8"), ("byte", "i1")):
        x = RNG.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, N, dtype=dtype, endpoint=True)
        if code == "mul":
            x |= np.array(1, dtype)
        ufunc = {
            "add": np.add,
            "mul": np.multiply,
            "min": np.minimum,
            "max": np.maximum,
            "bitand": np.bitwise_and,
            "bitor": np.bitwise_or,
            "bitxor": np.bitwise_xor,
        }[code]
        (found,) = on_threads(fold_of(code, Const(base, 1), base), x)
        assert found == ufunc.reduce(x, dtype=dtype, initial=np.array(1, dtype)).item()


def test_folds_that_are_not_recognised_combine_in_order() -> None:
    """2x2 matrix products of shears, packed into two accumulators: associative, not commutative."""
    b = B()
    params, (a, c0), inputs = arguments(b, ("uint", 1), ("uint", 1))
    from sacpy.jit.ir.graph import Fold

    f = b.inner()
    p, q, r, s = f.var("p", "uint"), f.var("q", "uint"), f.var("r", "uint"), f.var("s", "uint")
    fold = Fold(
        (Const("uint", 1), Const("uint", 0)),
        (p, q),
        (r, s),
        f.block(f.op("mul", p, r), f.op("add", f.op("mul", p, s), q)),
        None,
        False,
    )
    rs = b.with_loop(None, [b.partition([0], [params[0]], lambda c, i: [c.load(a, i), c.load(c0, i)])], [fold])
    x, y = (RNG.integers(0, 2**32, 50_000, dtype=np.uint32) | np.uint32(1) for _ in range(2))
    m, k = 1, 0
    for u, v in zip(x.tolist(), y.tolist()):
        m, k = m * u % 2**32, (m * v + k) % 2**32
    assert on_threads(unit(b, params, inputs, rs), x, y) == (m, k)


def test_nested_and_mixed_with_loops() -> None:
    b = B()
    params, (a,), inputs = arguments(b, ("double", 2))
    n, m = params[0], params[1]

    def row(c: B, i: Var) -> list[Atom]:
        t = c.genarray("double", [m], [c.partition([0], [m], lambda d, j: d.op("mul", d.load(a, i, j), 3.0))])
        total = c.fold("add", Const("double", 0.0), [c.partition([0], [m], lambda d, j: d.load(t, j))])
        return [t, total]

    r, s = b.with_loop(
        [n],
        [b.partition([0], [n], row)],
        [Genarray("double", (m,), Const("double", 0.0)), b.folding("max", Const("double", -1e300))],
    )
    x = RNG.standard_normal((333, 257))
    found = on_threads(unit(b, params, inputs, [r, s]), x)
    assert same(found[0], x * 3)
    assert found[1] == pytest.approx((x * 3).sum(1).max(), rel=1e-12)


@pytest.mark.parametrize("kind", ["lower", pytest.param("upper", marks=pytest.mark.long), "band"])
def test_rows_of_unequal_length_are_dealt_out_by_their_work(kind: str) -> None:
    b = B()
    params, (n, x), inputs = arguments(b, ("int", 0), ("double", 1))

    def row(c: B, i: Var) -> list[Atom]:
        lower: Atom = c.op("sub", i, 9) if kind == "band" else i if kind == "upper" else integer(0)
        lower = c.op("max", lower, 0)
        upper = c.op("min", c.op("add", i, 9), n) if kind == "band" else n if kind == "upper" else c.op("add", i, 1)
        total = c.fold("add", Const("double", 0.0), [c.partition([lower], [upper], lambda d, j: d.load(x, j))])
        return [total, total]

    both = [Genarray("double", (), Const("double", 0.0)), b.folding("max", Const("double", -1.0))]
    r, s = b.with_loop([n], [b.partition([0], [n], row)], both)
    u = unit(b, params, inputs, [r, s])
    for rows in (0, 1, 7, 333, 1500):
        values = RNG.random(rows)
        found = on_threads(u, rows, values)
        ends = {"lower": (0, 1), "upper": (None, rows), "band": (-9, 9)}[kind]
        expected = [
            values[i if ends[0] is None else max(0, i + ends[0]) if kind == "band" else 0 :][:rows].sum()
            - (0.0 if kind == "upper" else values[i + ends[1] :].sum())
            for i in range(rows)
        ]
        sums = np.asarray(found[0])
        assert np.allclose(sums, expected, rtol=1e-9, atol=1e-9) and found[1] == max([-1.0, *sums.tolist()])


def test_chunks_of_equal_work() -> None:
    evenly = ctypes.CFUNCTYPE(ctypes.c_int64, *3 * [ctypes.c_int64], *2 * [ctypes.c_double], ctypes.c_int64)(
        runtime()["sacpy_evenly"]
    )
    for lower, count, first, last in ((0, 1000, 1.0, 1000.0), (5, 1000, 1000.0, 1.0), (0, 800, 3.0, 3.0), (7, 3, 1, 9)):
        ends = [evenly(k, lower, lower + count, first, last, 1) for k in range(lower, lower + count + 1)]
        assert ends[0] == lower and ends[-1] == lower + count and ends == sorted(ends)
        each = first + (last - first) * np.arange(count) / count
        work = np.array([each[: e - lower].sum() for e in ends[:: max(1, count // 10)]])
        assert np.abs(np.diff(work) - work[-1] / (len(work) - 1)).max() <= 1.5 * max(first, last)
        stepped = [evenly(k, lower, lower + count, first, last, 8) for k in range(lower, lower + count)]
        assert all((e - lower) % 8 == 0 for e in stepped)
    for first, last in ((0.0, 0.0), (5.0, 0.0), (0.0, 5.0), (float("nan"), 1.0), (1.0, -9.0)):  # never out of bounds
        ends = [evenly(k, 3, 1003, first, last, 1) for k in range(3, 1004)]
        assert ends[0] == 3 and ends[-1] == 1003 and all(3 <= e <= 1003 for e in ends)


def test_rows_are_cut_into_blocks_that_are_worth_it() -> None:
    class Cut(ctypes.Structure):
        _fields_ = (("in_row", ctypes.c_int64), ("length", ctypes.c_int64))

    def blocks(rows: int, columns: int, work: float) -> tuple[int, int]:
        found = native(rows, columns, 64, work, 5000.0, 256, 64)
        return found.in_row, found.length

    native = ctypes.CFUNCTYPE(Cut, *3 * [ctypes.c_int64], *2 * [ctypes.c_double], *2 * [ctypes.c_int64])(
        runtime()["sacpy_blocks"]
    )
    assert blocks(1, 255, 5.0) == (1, 255)  # a short row stays whole
    assert blocks(64, 100_000, 5.0) == (1, 100_000)  # and so do rows enough
    in_row, length = blocks(2, 100_000, 5.0)
    assert length % 64 == 0 and 32 <= in_row <= 64 and (in_row - 1) * length < 100_000 <= in_row * length
    assert blocks(1, 64, 60_000.0) == (32, 2)  # whole blocks of a matrix as elements: each is a chunk
    assert blocks(1, 3, 1e30) == (3, 1)
    for columns in (*range(-1, 300), 1 << 40):
        for work in (0.0, 1.0, 50.0, 700.0, 1e30, float("inf"), float("nan")):
            in_row, length = blocks(1, columns, work)
            assert in_row >= 1 and length >= 1 and (in_row - 1) * length < max(columns, 1) <= in_row * length


@pytest.mark.parametrize(("columns", "loops", "expected"), [(12, True, True), (12, False, False), (300, False, True)])
def test_short_rows_are_cut_where_there_are_loops_inside(columns: int, loops: bool, expected: bool) -> None:
    b = B()
    _, (x,), _ = arguments(b, ("double", 1))

    def cell(c: B, i: Var, j: Var) -> Atom:
        if not loops:
            return c.load(x, j)
        return c.fold("add", Const("double", 0.0), [c.partition([0], [j], lambda d, k: d.load(x, k))])

    assert is_cut(b.partition([0, 0], [1, columns], cell)) == expected


def test_steps_align_with_chunks() -> None:
    b = B()
    params, (n,), inputs = arguments(b, ("int", 0))
    r = b.genarray("int", [n], [b.partition([5], [n], lambda c, i: c.op("mul", i, 2), [7], [3])], default=-1)
    (found,) = on_threads(unit(b, params, inputs, [r]), N)
    i = np.arange(N)
    assert (found == np.where((i >= 5) & ((i - 5) % 7 < 3), 2 * i, -1)).all()


def test_a_failing_check_in_any_chunk_is_reported() -> None:
    b = B()
    params, (a,), inputs = arguments(b, ("int", 1))
    n = params[0]

    def body(c: B, i: Var) -> Atom:
        x = c.load(a, i)
        c.check(c.op("neq", x, 7))
        return c.op("div", 100, x)

    f = compiled(unit(b, params, inputs, [b.genarray("int", [n], [b.partition([0], [n], body)])]), Options(threads=2))
    x = np.ones(N, np.int32)
    assert (f.call((x,))[0] == 100).all()
    for where in (0, N // 2, N - 1):
        y = x.copy()
        y[where] = 7
        with pytest.raises(CheckFailed):
            f.call((y,))


def test_the_stop_flag_ends_helpers_too() -> None:
    b = B()
    params, (n,), inputs = arguments(b, ("int", 0))

    def forever(c: B, i: Var) -> Atom:
        return c.loop([i], lambda d, v: d.op("ge", v, 0), lambda d, v: [d.op("bitxor", v, 1)])[0]

    context = Context(threads=2)
    f = compiled(
        unit(b, params, inputs, [b.genarray("int", [n], [b.partition([0], [n], forever)])]), Options(), context
    )
    timer = threading.Timer(0.02, lambda: setattr(context, "stop", True))
    timer.start()
    started = time.monotonic()
    with pytest.raises(Interrupted):
        f.call((N,))
    assert time.monotonic() - started < 5


def test_two_python_threads_share_the_pool() -> None:
    u = fold_of("add", integer(0), "int")
    f = compiled(u, Options(threads=2))
    x = np.arange(N, dtype=np.int32)
    wrong: list[object] = []

    def run() -> None:
        wrong.extend(r for r in (f.call((x,)) for _ in range(30)) if r != (np.add.reduce(x, dtype=np.int32).item(),))

    threads = [threading.Thread(target=run) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


HELPERS = """
import os
import sys
import threading
import numpy as np
import sacpy
from sacpy.jit.host import runtime, threads as pool
patience, calls = sys.argv[1], sys.argv[2:]
for usual, now in ((pool.PATIENCE, patience), (pool.REST, 10**11)):
    assert f" {usual}\\n" in runtime.POOL
    runtime.POOL = runtime.POOL.replace(f" {usual}\\n", f" {now}\\n")
module = sacpy.Session(target="cpu", threads=3).compile('''
use Array: all;
double once(double[.] a, int n) { return sum(a * (1.0 + tod(n))); }
double several(double[.] a, int n) { for (k = 0; k < n; k++) { a = a * 0.5 + 1.0; } return a[0]; }
inline double halved(double x) { while (x >= 1.0) { x = x * 0.5; } return x; }
double guessed(double[.] a, int n) { return sum({ iv -> halved(a[iv] + tod(n)) | iv < shape(a) }); }
''')
helpers = lambda: len(os.listdir("/proc/self/task")) - threading.active_count()
for call in calls:
    name, elements, rounds = call.split()
    function = getattr(module, name)
    function(np.ones(10), 1)
    before = helpers()
    function(np.ones(int(elements)), int(rounds))
    print(helpers() - before)
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="no list of threads")
@pytest.mark.parametrize(
    ("patience", "calls", "created"),
    [
        (10**11, ("once 60000 1", "once 2000000 1", "once 60000 1"), [0, 2, 0]),
        (10**11, ("several 60000 1", "several 60000 20"), [0, 2]),
        (10**11, ("guessed 2000 1",), [2]),
        (0, ("once 60000 1",), [2]),
    ],
)
def test_helpers_are_created_for_much_work_or_work_that_is_guessed_for_loops_close_together_and_what_takes_long(
    patience: int, calls: tuple[str, ...], created: list[int]
) -> None:
    command = [sys.executable, "-c", HELPERS, str(patience), *calls]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.stderr, done.stdout.split()) == ("", list(map(str, created)))
