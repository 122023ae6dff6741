"""Functions on the emulator, every access checked, against the interpreter: control flow, updates, what stays on the
host and why, and that no array of anybody else is ever changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sacpy.jit.cache import Cache
from sacpy.jit.device.context import Device, Hardware
from sacpy.jit.device.emulated import EmulatorMachine
from sacpy.jit.device.program import DeviceProgram
from sacpy.jit.device.weigh import Policy
from sacpy.jit.ir.graph import ArrayType
from sacpy.jit.run.on_demand import OnDemand
from sacpy.lang.diagnostics import SacError
from sacpy.session import Session
from sacpy.withloop.devices import DEVICES


class Both:
    """The same definitions interpreted, and on the emulator. `policy`: which with-loops go there, by default all;
    `memory`: the bytes that the device has; `order`: in which blocks run; `strict`: of reals,
    too."""

    def __init__(
        self,
        source: str,
        policy: Policy | None = None,
        memory: int | None = None,
        order: str = "ascending",
        strict: bool = False,
    ) -> None:
        text = f"use Array: all;\nuse Math: all;\n{source}"
        self.plain = Session(target="interp").define(text)
        self.session = Session(target="emulator")
        engine = OnDemand(
            "emulator", eager=True, defects=True, verify=True, threads=2, cache=Cache(None), strict_fp=strict
        )
        self.device = Device(
            Hardware(EmulatorMachine(DEVICES["sm_90"], check=True, memory=memory, order=order)),
            policy or Policy(always=True),
        )
        engine.engine.tools.device = self.device
        self.session._workspace.use(engine)
        self.engine = engine.engine
        self.there = self.session.define(text)

    def same(self, name: str, *args: Any) -> Any:
        """Calls both; gives the result, which is the same, and changes no argument."""
        before = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        wanted, found = self.plain[name](*before), self.there[name](*args)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
        for a, b in zip(args, before):
            assert np.array_equal(a, b)
        return found

    def programs(self) -> list[DeviceProgram]:
        return [v.device for s in self.engine.entered() for v in s.versions.values() if v.device is not None]

    def program(self) -> DeviceProgram:
        (found,) = self.programs()
        return found


def test_steps_in_time_keep_their_arrays_on_the_device() -> None:
    both = Both("""
double[n] heat(double[n] v, int rounds)
{
  for (k = 0; k < rounds; k++) {
    v = { [i] -> (v[i - 1] + v[i + 1]) * 0.5 + tod(k) | [1] <= [i] < [n - 1]; [i] -> v[i] | [i] < [n] };
  }
  return v;
}""")
    both.same("heat", np.arange(300.0) ** 2, 7)
    t = both.device.memory.transfers
    assert (t.times_in, t.times_out) == (1, 1)
    assert t.allocated <= 3
    both.same("heat", np.arange(5.0), 0)


def test_arrays_that_are_the_same_all_over_are_made_where_they_are_needed() -> None:
    both = Both(
        """
double[.] zeros(int n) { return genarray([n], -0.0); }
int[.] counts(int[n] k, int m) { h = genarray([m], 3); for (i = 0; i < n; i++) { h[k[i]] = h[k[i]] + 1; } return h; }
int[.] changed(int n, int x) { a = genarray([n], x); b = a; a[3] = 1; return a + b; }
""",
        policy=Policy(),
    )
    found = both.same("zeros", 70_000)
    assert found.dtype == np.float64 and np.signbit(found).all()
    t = both.device.memory.transfers
    assert (t.bytes_in, t.bytes_out) == (0, 0)
    both.same("counts", (np.arange(50_000) % 777).astype(np.int32), 900)
    assert (t.times_in, t.bytes_in, t.times_out, t.bytes_out) == (1, 200_000, 1, 3600)
    loops = [o for q in both.programs() for o in q.runtime.loops]
    assert [len(p.plan.launches) for o in loops for p in o.prepared.values()] == [1, 1]
    both.same("changed", 60_000, -7)
    both.same("changed", 5, 9)


def test_a_loop_that_ends_when_a_sum_says_so() -> None:
    both = Both("""
double[.] settle(double[n] v, double limit)
{
  do {
    old = v;
    v = { [i] -> (old[max(i - 1, 0)] + old[min(i + 1, n - 1)]) * 0.5 | [i] < [n] };
    change = sum({ [i] -> abs(v[i] - old[i]) | [i] < [n] });
  } while (change > limit);
  return v;
}""")
    both.same("settle", np.arange(40.0) % 7, 0.5)


def test_a_loop_that_starts_from_an_array_and_uses_it_in_every_round() -> None:
    both = Both("""
double[n] mixed(double[n] v, int rounds)
{
  u = { [i] -> v[i] + 1.0 | [i] < [n] };
  w = u;
  for (k = 0; k < rounds; k++) { w = { [i] -> w[i] * 0.5 + u[i] | [i] < [n] }; }
  return w;
}""")
    both.same("mixed", np.arange(60.0), 4)


def test_branches_choose_on_the_host() -> None:
    both = Both("""
double[n] either(double[n] v, bool up)
{
  if (up) { w = { [i] -> v[i] + 1.0 | [i] < [n] }; }
  else { w = v; }
  return { [i] -> w[i] * 2.0 | [i] < [n] };
}""")
    for up in (True, False):
        both.same("either", np.arange(50.0), up)


def test_updates_of_dead_arrays_happen_in_place_others_copy() -> None:
    both = Both("""
double[n], double[n] marks(double[n] v)
{
  w = { [i] -> v[i] * 2.0 | [i] < [n] };
  x = w;
  x[3] = 99.0;
  y = { [i] -> x[i] + w[i] | [i] < [n] };
  y[0] = 1.0;
  y[1] = 2.0;
  return (x, y);
}""")
    x, y = both.there["marks"](np.arange(20.0))
    wx, wy = both.plain["marks"](np.arange(20.0))
    assert (x == wx).all()
    assert (y == wy).all()


TWO = """
int[n], int[n], int[n] two(int[n] v)
{
  x = { [i] -> v[i] * 2 | [i] < [n] };
  y = { [i] -> v[i] * 3 | [i] < [n] };
  a, c = with { PRAGMA ([2] <= iv < [n - 2]) : (x[iv] + 1, y[iv] + 2); } : (modarray(x), modarray(y));
  return (a, c, USE);
}"""


@pytest.mark.parametrize("pragma", ["", "#pragma gpukernel GridBlock(1, SplitLast(32, ShiftLB(Gen)))\n"])
@pytest.mark.parametrize(("use", "allocated"), [("x", 4), ("y", 4), ("v", 3), ("x + y", 6)])
def test_each_result_of_several_modarrays_takes_the_memory_of_its_own_source_where_that_dies(
    pragma: str, use: str, allocated: int
) -> None:
    both = Both(TWO.replace("PRAGMA", pragma).replace("USE", use))
    for n in (40, 4, 0):
        args = np.arange(n, dtype=np.int32)
        for found, wanted in zip(both.there["two"](args), both.plain["two"](args)):
            assert (found == wanted).all()
        if n == 40:
            assert both.device.memory.transfers.allocated == allocated


def test_what_is_computed_in_place_reads_its_own_result() -> None:
    both = Both("""
int[n] steps(int[n] v, int rounds)
{
  for (k = 0; k < rounds; k++) {
    v = with {
      #pragma gpukernel GridBlock(1, SplitLast(32, ShiftLB(Gen)))
      ([1] <= iv < [n - 1]) : v[iv] * 2 + k;
      ([0] <= iv < [1]) : k;
    } : modarray(v);
  }
  return v;
}""")
    both.same("steps", np.arange(50, dtype=np.int32), 4)
    told = str(both.session.explain())
    assert "partition 1" in told and "copied from the source" not in told
    (loop,) = both.program().runtime.loops
    assert sorted(len(taken) for _, taken in loop.prepared) == [0, 1]
    for (_, taken), prepared in loop.prepared.items():
        for one in prepared.launches:
            arrays = [p.name for p in one.launch.kernel.params if isinstance(p.type, ArrayType)]
            assert len(arrays) == (1 if taken or one.launch.partition == 1 else 2)
        assert [one.launch.purpose for one in prepared.launches].count("copy") == (0 if taken else 1)


def test_results_are_not_the_arrays_that_the_device_keeps() -> None:
    both = Both("""
int[n] twice(int[n] v) { return { [i] -> v[i] * 2 | [i] < [n] }; }
int[n] poke(int[n] v) { w = twice(v); x = w; x[0] = 100; z = twice(w); return x + z; }
""")
    both.same("poke", np.arange(30, dtype=np.int32))
    first = both.there["twice"](np.arange(30, dtype=np.int32))
    first[5] = 77
    again = both.there["twice"](first)
    assert again[5] == 154


def test_an_argument_changed_between_calls_is_sent_again() -> None:
    both = Both("int[n] twice(int[n] v) { return { [i] -> v[i] * 2 | [i] < [n] }; }")
    v = np.arange(64, dtype=np.int32)
    both.same("twice", v)
    v[7] = 1000
    assert both.same("twice", v)[7] == 2000


def test_results_that_come_back_are_not_sent_again() -> None:
    both = Both("""
external void hold(int[*] v);
double[n] grow(double[n] v) { return { [i] -> v[i] + 1.0 | [i] < [n] }; }
double[n] twice(double[n] v) { w = grow(v); hold([1]); return grow(w); }
""")
    both.session.bind("hold", lambda v: None)
    both.there["twice"](np.arange(200.0))
    assert both.device.memory.transfers.times_in == 1


def test_modarray_of_a_dead_array_takes_its_memory() -> None:
    both = Both("""
double[n] scaled(double[n] v, int rounds)
{
  w = { [i] -> v[i] + 0.5 | [i] < [n] };
  for (k = 0; k < rounds; k++) {
    w = with { ([1] <= [i] < [n - 1]) : w[i] * 1.5; } : modarray(w);
  }
  return w;
}""")
    both.same("scaled", np.arange(400.0), 6)
    assert both.device.memory.transfers.allocated <= 2


def test_modarray_that_reads_its_neighbours_does_not() -> None:
    both = Both("""
double[n] shifted(double[n] v, int rounds)
{
  w = { [i] -> v[i] + 0.5 | [i] < [n] };
  for (k = 0; k < rounds; k++) {
    w = with { ([1] <= [i] < [n - 1]) : w[i - 1]; } : modarray(w);
  }
  return w;
}""")
    both.same("shifted", np.arange(400.0), 6)


@pytest.mark.parametrize("n", [0, 1, 2, 255, 256, 257])
def test_extents_around_the_size_of_a_block(n: int) -> None:
    both = Both(
        "double[n] squares(int n) { return { [i] -> tod(i * i) | [i] < [n] }; }\n"
        "double whole(double[n] v) { return sum({ [i] -> v[i] * 2.0 | [i] < [n] }); }"
    )
    both.same("squares", n)
    both.same("whole", np.linspace(0, 1, n))


def test_errors_are_the_interpreters() -> None:
    both = Both("int[m] at(int[n] v, int[m] w) { return { [i] -> v[w[i]] | [i] < [m] }; }")
    v = np.arange(100, dtype=np.int32)
    both.same("at", v, v)
    w = v.copy()
    w[50] = 100
    messages = []
    for module in (both.plain, both.there):
        with pytest.raises(SacError) as error:
            module["at"](v, w)
        messages.append(str(error.value))
    assert messages[0] == messages[1]
    both.same("at", v, v)


def test_recursion_on_the_host_around_loops_on_the_device() -> None:
    both = Both("""
double[n] halved(double[n] v, int k)
{
  if (k == 0) { w = v; }
  else { w = halved({ [i] -> v[i] * 0.5 | [i] < [n] }, k - 1); }
  return w;
}""")
    both.same("halved", np.arange(100.0), 5)


def test_small_loops_stay_on_the_host_large_ones_do_not() -> None:
    both = Both("double[n] roots(double[n] v) { return { [i] -> sqrt(v[i]) | [i] < [n] }; }", Policy())
    both.same("roots", np.arange(10.0))
    both.same("roots", np.arange(100_000.0))
    (placed,) = both.program().runtime.placed
    assert (placed.device, placed.host) == (1, 1)
    assert placed.reason.startswith("too small for a launch: ")


def test_transfers_are_weighed_against_work() -> None:
    source = (
        "double[n] next(double[n] v) { return { [i] -> v[i] + 1.0 | [i] < [n] }; }\n"
        "double[n] many(double[n] v) { return { [i] -> sin(v[i]) + cos(v[i]) + exp(sin(v[i])) + tan(v[i]) + log(v[i] "
        "+ 2.0) | [i] < [n] }; }"
    )
    both = Both(source, Policy(transfers=True))
    v = np.arange(1_000_000.0) / 1e6
    both.there["next"](v)
    both.there["many"](v)
    placed = {p.plan.unit.root.name: p.runtime.placed[0] for p in both.programs()}
    assert placed["next"].host == 1
    assert "the CPU needs" in placed["next"].reason
    assert placed["many"].device == 1


def test_a_device_without_room_leaves_the_loop_to_the_cpu_and_says_so() -> None:
    both = Both("double[n] next(double[n] v) { return { [i] -> v[i] + 1.0 | [i] < [n] }; }", memory=50_000)
    both.same("next", np.arange(1000.0))
    both.same("next", np.arange(10_000.0))
    assert both.device.account.notes == ["a with-loop ran on the CPU: the device had no room for 80000 bytes"]
    both.same("next", np.arange(10_000.0) + 1)
    assert len(both.device.account.notes) == 1
    both.same("next", np.arange(1000.0))


def test_what_cannot_run_there_has_a_reason_and_runs_on_the_host() -> None:
    both = Both("""
int, int[n] first(int[n] v, int limit)
{
  w = { [i] -> v[i] * 2 | [i] < [n] };
  m = with { ([0] <= [i] < [n]) : w[i]; } : foldfix(max, 0, limit);
  return (m, w);
}""")
    m, w = both.there["first"](np.arange(100, dtype=np.int32), 50)
    assert (m, w[99]) == (50, 198)
    (stays,) = both.program().plan.stays
    assert "foldfix" in stays.reason


def test_a_function_without_with_loops_is_the_host_targets() -> None:
    both = Both("int count(int n) { k = 0; while (n > 1) { n = n % 2 == 0 ? n / 2 : 3 * n + 1; k++; } return k; }")
    both.same("count", 27)
    assert both.programs() == []
    assert [len(s.versions) for s in both.engine.entered()] == [1]


def test_engines_on_one_device_keep_their_own_books() -> None:
    text = "double[n] next(double[n] v) { return { [i] -> v[i] + 1.0 | [i] < [n] }; }"
    one, other = Both(text, memory=50_000), Both(text)
    other.device = other.engine.tools.device = Device(one.device.hardware, other.device.policy)
    one.same("next", np.arange(1000.0))
    other.same("next", np.arange(500.0))
    assert [d.account.transfers.bytes_in for d in (one.device, other.device)] == [8000, 4000]
    assert one.device.memory.transfers.bytes_in == 12_000
    one.same("next", np.arange(10_000.0))
    assert len(one.device.account.notes) == 1 and other.device.account.notes == []


LOOPS = """
int[k] steps(int[n] v, int k)
{
  return with {
    ([0] <= [i] < [k]) {
      s = i;
      while (s < 100) { s = s * 2 + v[s % n] % 2 + 1; }
    } : s;
  } : genarray([k], 0);
}
int[k] pieces(int[n] v, int k)
{
  return with {
    ([0] <= [i] < [k]) {
      s = 1;
      for (j = 50 * i; j < min(50 * i + 50, n); j++) { s = s * 3 + v[j]; }
    } : s;
  } : genarray([k], 0);
}
"""


def test_few_indices_with_loops_of_their_own_stay_on_the_host() -> None:
    both = Both(LOOPS, Policy(least=0.0))
    v = np.arange(700, dtype=np.int32)
    both.same("steps", v, 20)
    (placed,) = both.programs()[0].runtime.placed
    assert placed.reason == "a loop runs at each of only 20 indices, which would leave the device idle"
    both.same("steps", v, 600)
    assert placed.device == 1
    both.same("pieces", v, 14)  # the loop has a few rounds
    assert [p.runtime.placed[0].device for p in both.programs()] == [1, 1]


STRETCHES = """
int[.] f(int[n] v)
{
  w = { [i] -> toi(1000.0 * sin(tod(v[i]))) | [i] < [n] };
  count = genarray([8], 0);
  for (at = 0; at < n / 64; at++) {
    if (with { ([0] <= [i] < [64]) : w[64 * at + i]; } : fold(+, 0) % 2 == 0) {
      count[at % 8] = count[at % 8] * 3 + w[at];
    }
  }
  return count;
}
"""


def test_a_loop_with_many_small_with_loops_is_the_hosts_wherever_its_data_lies() -> None:
    both = Both(STRETCHES, policy=Policy())
    both.same("f", np.arange(40000, dtype=np.int32) % 97)
    counts = {placed.device + placed.host for placed in both.program().runtime.placed}
    assert counts == {0, 1}  # 625 folds are one piece of native code
    assert both.device.memory.transfers.times_out == 1


def test_a_few_rounds_do_not_bring_large_arrays_to_the_host() -> None:
    class There:
        on_device, on_host, nbytes = True, False, 1 << 24

    policy = Policy()
    assert policy.none([64.0], (There(),), 1 << 20)  # type: ignore[arg-type]
    assert not policy.none([64.0], (There(),), 1)  # type: ignore[arg-type]
    assert not policy.none([64.0, 1e9], (There(),), 1 << 20)  # type: ignore[arg-type]
    assert policy.none([64.0], (), 1)
