"""How many arrays programs make that change a part of an array by what lies outside of it: on the CPU and on a device,
by one rule; and over how many indices kernels are launched for that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sacpy.jit.cache import Cache
from sacpy.jit.run.on_demand import OnDemand
from sacpy.session import Session
from tests.jit.test_circuits import SC, TABLE
from tests.jit.test_device_programs import Both

HEAD = "use Array: all;\nuse Math: all;\n"


def on_host(text: str, name: str, *args: Any, threads: int = 1) -> int:
    """How many arrays a call makes natively, once its code is there; the result is the interpreter's."""
    session = Session(target="cpu")
    engine = OnDemand("cpu", eager=True, defects=True, verify=True, threads=threads, cache=Cache(None))
    session._workspace.use(engine)
    native = session.define(HEAD + text)[name]
    wanted = Session(target="interp").define(HEAD + text)[name](*args)
    before = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    native(*args)
    context = engine.engine.tools.context
    start = context.allocations
    np.testing.assert_allclose(native(*args), wanted, rtol=1e-10)
    for a, b in zip(args, before):
        assert np.array_equal(a, b)
    return int(context.allocations - start)


def on_device(text: str, name: str, *args: Any) -> int:
    """The same on the emulator, which looks for races."""
    both = Both(text)
    moved = both.device.memory.transfers
    both.same(name, *args)
    return moved.allocated + moved.reused


PROGRAM = """
double[n,n] eliminate(double[n,n] a)
{
  for (k = 0; k < n - 1; k++) {
    a = with { ([k + 1, k + 1] <= [i, j] < [n, n]) : a[i,j] - a[i,k] * a[k,j] / a[k,k]; } : modarray(a);
  }
  return a;
}
double[n,n] redblack(double[n,n] u, int rounds)
{
  for (r = 0; r < rounds; r++) {
    u = with { ([1,1] <= [i,j] < [n-1,n-1] step [2,2]) : 0.25 * (u[i-1,j] + u[i+1,j] + u[i,j-1] + u[i,j+1]);
               ([2,2] <= [i,j] < [n-1,n-1] step [2,2]) : 0.25 * (u[i-1,j] + u[i+1,j] + u[i,j-1] + u[i,j+1]);
    } : modarray(u);
    u = with { ([1,2] <= [i,j] < [n-1,n-1] step [2,2]) : 0.25 * (u[i-1,j] + u[i+1,j] + u[i,j-1] + u[i,j+1]);
               ([2,1] <= [i,j] < [n-1,n-1] step [2,2]) : 0.25 * (u[i-1,j] + u[i+1,j] + u[i,j-1] + u[i,j+1]);
    } : modarray(u);
  }
  return u;
}
double[.] summed(double[m] v) { s = 0.0; for (i = 0; i < m; i++) { s = 0.5 * s + v[i]; v[i] = s; } return v; }
double[n,m] sums(double[n,m] u)
{
  for (d = 1; d < n; d++) { u = with { ([d] <= [e] < [d + 1]) : summed(u[e - 1]); } : modarray(u); }
  return u;
}
int[.,.] block(int[b,b] up, int[b,b] left, int[b,b] corner, int bi)
{
  h = genarray([b,b], 0);
  for (i = 0; i < b; i++) {
    for (j = 0; j < b; j++) {
      u = i > 0 ? h[i-1,j] : up[b-1,j];
      l = j > 0 ? h[i,j-1] : left[i,b-1];
      d = i > 0 && j > 0 ? h[i-1,j-1] : (i > 0 ? left[i-1,b-1] : (j > 0 ? up[b-1,j-1] : corner[b-1,b-1]));
      h[i,j] = max(max(u, l) - 1, d + (i * 7 + j * 3 + bi) % 5 - 2);
    }
  }
  return h;
}
int[D,n,b,b] skewed(int[D,n,b,b] u)
{
  for (d = 2; d < D; d++) {
    u = with { ([d,1] <= [e,bi] < [d+1,n]) : block(u[d-1,bi-1], u[d-1,bi], u[d-2,bi-1], bi); } : modarray(u);
  }
  return u;
}
double[n,m] halves(double[n,m] a, int h, int rounds)
{
  for (r = 0; r < rounds; r++) {
    a = with { ([h,0] <= [i,j] < [2 * h,m]) : 0.5 * a[i - h,j] + 1.0; } : modarray(a);
  }
  return a;
}
double[n,m] shifted(double[n,m] a, int h, int low, int high, int rounds)
{
  for (r = 0; r < rounds; r++) {
    a = with { ([low,0] <= [i,j] < [high,m]) : 0.5 * a[i - h,j] + 1.0; } : modarray(a);
  }
  return a;
}
double[n,n] blocked(double[n,n] a, int b)
{
  for (k0 = 0; k0 < n; k0 += b) {
    last = min(k0 + b, n);
    for (k = k0; k < last; k++) {
      a = with { ([k + 1, k] <= [i,j] < [n, k + 1]) : a[i,j] / a[k,k]; } : modarray(a);
      a = with { ([k + 1, k + 1] <= [i,j] < [n, last]) : a[i,j] - a[i,k] * a[k,j]; } : modarray(a);
    }
    for (k = k0; k < last; k++) {
      a = with { ([k + 1, last] <= [i,j] < [last, n]) : a[i,j] - a[i,k] * a[k,j]; } : modarray(a);
    }
    a = with { ([last, last] <= [i,j] < [n, n]) : a[i,j] - sum({ [k] -> a[i,k0+k] * a[k0+k,j] | [k] < [last-k0] }); }
        : modarray(a);
  }
  return a;
}
"""
RANDOM = np.random.default_rng(3)
MATRIX = RANDOM.random((24, 24)) + 24.0 * np.eye(24)
SMALL = MATRIX[:9, :9].copy()
BLOCKS = RANDOM.integers(0, 9, (7, 3, 3, 3)).astype(np.int32)
CASES = {
    "eliminate": (SMALL,),
    "redblack": (SMALL, 3),
    "sums": (SMALL,),
    "skewed": (BLOCKS,),
    "halves": (MATRIX, 12, 5),
    "shifted": (MATRIX, 6, 12, 18, 5),
    "blocked": (SMALL, 4),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", CASES)
def test_an_argument_is_copied_once_and_then_changed_in_place(name: str) -> None:
    assert on_host(PROGRAM, name, *CASES[name]) == 1
    assert on_device(PROGRAM, name, *CASES[name]) <= 2  # the argument that was sent, and what was made of it


@pytest.mark.parametrize("low", [11, 12])
def test_where_what_is_read_may_change_the_code_looks_when_it_runs(low: int) -> None:
    args = (MATRIX, 6, low, 18, 5)
    assert on_host(PROGRAM, "shifted", *args) == (1 if low >= 12 else 6)
    assert on_device(PROGRAM, "shifted", *args) <= (2 if low >= 12 else 6)


@pytest.mark.parametrize(
    "name",
    ["elimination", *(pytest.param(k, marks=pytest.mark.long) for k in ("Needleman and Wunsch", "red and black"))],
)
def test_no_step_copies_an_array_on_a_device_either(name: str) -> None:
    text, given, _, _ = TABLE[name]
    args = tuple(a[:25, :25].copy() if isinstance(a, np.ndarray) else a for a in given)
    assert on_device(SC.partition("\n")[2] + text, "f", *args) <= 2


INSIDE = """
double[m] one(double[m] v, int s, int low, int high)
{
  v[0] = 1.0;
  return with { ([low] <= [j] < [high]) : v[j - s] + 1.0; } : modarray(v);
}
double[n,m] rounds(double[n,m] a, double[q] c, int low, int high)
{
  s = m - q;
  for (i = 0; i < n; i++) {
    w = one({ [j] -> a[i,j] + 1.0 | [j] < [m] }, s, low, high);
    for (j = 0; j < m; j++) { a[i,j] = w[j] + w[m - 1 - j]; }
  }
  return a;
}
"""


@pytest.mark.parametrize("s", [12, 5])
def test_conditions_are_about_what_the_code_knows_where_it_looks(s: int) -> None:
    args = (MATRIX, np.zeros(24 - s), 12, 24)
    on_host(INSIDE, "rounds", *args, threads=3)
    on_device(INSIDE, "rounds", *args)


PART = """
double[n,m] part(double[n,m] v, int k)
{
  w = { [i,j] -> v[i,j] + 1.0 | [i,j] < [n,m] };
  return with { ([3,4] <= [i,j] < [k,k]) : w[i,j] * 2.0; MORE } : modarray(w);
}
"""


@pytest.mark.parametrize(
    ("more", "written"),
    [
        ("", [16 * 15]),
        ("([3,k] <= [i,j] < [k,m]) : 1.0;", [16 * 51]),  # which makes one box
        ("([k,0] <= [i,j] < [n,m] step [2,2]) : 1.0;", [16 * 15, 11 * 28]),
    ],
)
def test_in_place_launches_are_over_what_is_written_whatever_the_size(more: str, written: list[int]) -> None:
    both = Both(PART.replace("MORE", more))
    both.same("part", np.arange(41 * 55.0).reshape(41, 55), 19)
    loop = both.program().runtime.loops[-1]
    (((_, taken), prepared),) = loop.prepared.items()
    sizes = [launch.mapping.space.size for launch in prepared.plan.launches if launch.mapping is not None]
    assert len(taken) == 1 and sorted(sizes) == sorted(written)


ROWS = """
double[n,m] halo(double[n,m] a, int rounds)
{
  for (r = 0; r < rounds; r++) { a[0] = a[n - 2]; a[n - 1] = a[1]; }
  return a;
}
double[n,m], double[m] held(double[n,m] a)
{
  a[0,0] = 5.0;
  t = a[1];
  a[0] = t;
  a[1,1] = 7.0;
  return (a, t);
}
"""


def test_rows_that_move_within_an_array_do_not_copy_it() -> None:
    assert on_host(ROWS, "halo", MATRIX, 4) == 1
    assert on_device(ROWS, "halo", MATRIX, 4) <= 2
    plain, native = (Session(target=t).define(HEAD + ROWS) for t in ("interp", "cpu"))
    for found, wanted in zip(native["held"](MATRIX), plain["held"](MATRIX)):
        assert np.array_equal(found, wanted)


REUSE = """
double[.] summed(double[n] a, int k) { for (i = k; i < n; i++) { a[i] = a[i - k] + a[i]; } return a; }
double[n] plusTwo(double[n] a, int k) { b = summed(a, k); return b + 2.0; }
double[n] plusBorrowed(double[n] a, int k) { b = summed(a, k); return b + a; }
double[n] plusBoth(double[n] a, int k) { b = summed(a, k); c = summed(b, k + 1); return c * b + c; }
"""


@pytest.mark.parametrize(("name", "arrays"), [("plusTwo", 1), ("plusBorrowed", 1), ("plusBoth", 2)])
def test_a_result_takes_the_first_memory_that_nobody_else_holds(name: str, arrays: int) -> None:
    assert on_host(REUSE, name, RANDOM.random(50), 3) == arrays
