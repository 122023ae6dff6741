"""Scans once through memory: tiles that look back over those before. Every element as the interpreter has it, every
access checked, blocks in any order, on threads of the host at once, and as PTX of both front ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from sacpy.jit.cache import Cache
from sacpy.jit.device.context import Device, Hardware
from sacpy.jit.device.emulated import EmulatorMachine
from sacpy.jit.device.weigh import Policy
from sacpy.jit.emission import toolchain
from sacpy.jit.emission.assemble import FRONT_ENDS, cubin
from sacpy.jit.emission.emulator import ORDERS
from sacpy.jit.kernels import scan_phases, scanned
from sacpy.jit.run.on_demand import OnDemand
from sacpy.session import Session
from sacpy.withloop.devices import DEVICES
from tests.jit.test_device_programs import Both
from tests.jit.test_kernels_ordered import launches

HEAD = "use Scan: all;\n"
SIZES = (0, 1, 31, 64, 65, 127, 1025)
AFFINE = """
struct Map { int a; int b; };
struct Map then(struct Map x, struct Map y) { return Map{x.a * y.a, x.b * y.a + y.b}; }
"""
CASES = {
    "sums": "int[.] f(int[n] v) { return cumsum(v) + 1; }",
    "before": "int[.] f(int[n] v) { return cumsum_exclusive(v * v); }",
    "longs": "long[.] f(int[n] v) { return cumsum(tol(v) * 12345678912l); }",
    "bytes": "byte[.] f(int[n] v) { return cumsum(tob(v)); }",
    "unsigned": "ulong[.] f(int[n] v) { return cummax(toul(v) * toul(v)); }",
    "extremes": """double[.] f(int[n] v) {
        w = { [i] -> v[i] == 9 && i > 900 ? 0.0 / 0.0 : v[i] % 2 == 0 ? -0.0 : tod(v[i] - i % 5) | [i] < [n] };
        return cummax(w);
    }""",
    "floats": "float[.] f(int[n] v) { return cummin(tof(v) * 0.1f); }",
    "flags": "int[.] f(int[n] v) { return cumsum_by_flags(v % 7 == 0, v); }",
    "every": "bool[.] f(int[n] v) { return with { ([0] <= [i] < [n]) : v[i] != 9; } : scan(&, true); }",
    "affine": AFFINE
    + """int[.], int[.] f(int[n] v) {
        s = with { ([0] <= [i] < [n]) : Map{v[i], i}; } : scan(then, Map{1, 0});
        return ({ [i] -> s[i].a | [i] < [n] }, { [i] -> s[i].b | [i] < [n] });
    }""",
    "recurrence": """int[.], int f(int[n] v) {
        s = 5;
        for (i = 0; i < n; i++) { s = s * v[i] + i; v[i] = s; }
        return (v, s);
    }""",
    "from the end": "int[.] f(int[n] v) { return cumsum_reverse(v * 3); }",
    "behind": """long[.], long f(int[n] v) {
        s = 7l;
        w = tol(v);
        for (i = n - 1; i >= 0; i--) { x = w[i]; w[i] = s; s = s * tol(v[i]) + x; }
        return (w, s);
    }""",
    "last": """int last(int sofar, int value) { return value % 4 == 0 ? sofar : value; }
    int[.] f(int[n] v) { return with { ([0] <= [i] < [n]) : v[i] * 3; } : exscan(last, 0); }""",
}
OFTEN = ("longs", "extremes", "affine", "behind")


@contextmanager
def small_tiles() -> Iterator[None]:
    """Tiles of 64 values."""
    with patch.object(scan_phases, "BLOCK", 32), patch.object(scan_phases, "BYTES_EACH", 8):
        yield


def argument(n: int) -> np.ndarray:
    return np.random.default_rng(n).integers(-9, 10, n).astype(np.int32)


def parts(x: object) -> tuple[np.ndarray, ...]:
    return tuple(map(np.asarray, x if isinstance(x, tuple) else (x,)))


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("case", "order"),
    [
        pytest.param(c, order, marks=() if c in OFTEN and order == ORDERS[at % 3] else pytest.mark.long)
        for at, c in enumerate(CASES)
        for order in ORDERS
    ],
)
def test_an_element_is_what_the_interpreter_says(case: str, order: str) -> None:
    with small_tiles():
        both = Both(HEAD + CASES[case], order=order)
        for n in SIZES:
            v = argument(n)
            for x, y in zip(parts(both.plain.f(v.copy())), parts(both.there.f(v)), strict=True):
                np.testing.assert_array_equal(x, y, err_msg=str(n))
                if x.dtype.kind == "f":
                    np.testing.assert_array_equal(np.signbit(x), np.signbit(y), err_msg=str(n))
    once = ["once through memory" in reason for launch in launches(both) for reason in launch.reasons]
    assert sum(once) >= len(SIZES) - 2  # of vectors as short as that the types tell the length


GROUPED = {
    "sums": "double[.] f(int[n] v) { return cumsum(tod(v) * 0.1); }",
    "before": "float[.] f(int[n] v) { return cumsum_exclusive(tof(v) * 0.1f); }",
    "flags": "double[.] f(int[n] v) { return cumsum_by_flags(v % 7 == 0, tod(v) * 0.1); }",
    "products, and the last": """double[.], double f(int[n] v) {
        s = 0.5;
        w = { [i] -> 1.0 + 0.01 * tod(v[i]) | [i] < [n] };
        for (i = 0; i < n; i++) { s = s * w[i]; w[i] = s; }
        return (w, s);
    }""",
    "from the end": "double[.] f(int[n] v) { return cumsum_reverse(tod(v) * 0.1); }",
    "affine": """struct Map { double a; double b; };
    struct Map then(struct Map x, struct Map y) { return Map{x.a * y.a, x.b * y.a + y.b}; }
    double[.], double[.] f(int[n] v) {
        s = with { ([0] <= [i] < [n]) : Map{0.1 * tod(v[i]), tod(i)}; } : scan(then, Map{1.0, 0.0});
        return ({ [i] -> s[i].a | [i] < [n] }, { [i] -> s[i].b | [i] < [n] });
    }""",
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("case", GROUPED)
def test_sums_of_reals_are_made_in_the_same_groups_each_time(case: str) -> None:
    with small_tiles():
        ways = [Both(HEAD + GROUPED[case], order=order) for order in (ORDERS if case == "sums" else ORDERS[:1])]
        for n in (*SIZES, 5000):
            v = argument(n)
            found = [parts(both.there.f(v)) for both in ways]
            for x, *others in zip(parts(ways[0].plain.f(v.copy())), *found, strict=True):
                assert x.dtype == others[0].dtype
                np.testing.assert_allclose(x, others[0], rtol=1e-4 if x.dtype == np.float32 else 1e-11, atol=1e-5)
                assert all(np.array_equal(others[0], y) for y in others[1:])
    grouped = [" tiles of " in r for launch in launches(ways[0]) for r in launch.reasons]
    assert sum(grouped) >= 3 * (len(SIZES) - 2)
    with small_tiles():
        strict = Both(HEAD + GROUPED[case], strict=True)
        for x, y in zip(parts(strict.plain.f(v.copy())), parts(strict.there.f(v)), strict=True):
            np.testing.assert_array_equal(x, y)


def test_a_tile_combines_what_those_before_it_tell_of_themselves() -> None:
    tell = scanned._LookBack.tell

    def less(self: scanned._LookBack, tile: Any, element: Any, what: Any) -> None:
        if what is not scanned.ALL:  # so all look back as far as the first tile
            tell(self, tile, element, what)

    with small_tiles(), patch.object(scanned._LookBack, "tell", less):
        both = Both(HEAD + CASES["affine"])
        v = argument(1025)
        for x, y in zip(parts(both.plain.f(v)), parts(both.there.f(v)), strict=True):
            np.testing.assert_array_equal(x, y)


def test_blocks_on_several_threads_of_the_host_look_back_over_one_another() -> None:
    both = Both(HEAD + CASES["affine"])
    machine = EmulatorMachine(DEVICES["sm_90"], threads=2)
    engine = OnDemand("emulator", eager=True, defects=True, cache=Cache(None))
    engine.engine.tools.device = Device(Hardware(machine), Policy(always=True))
    session = Session(target="emulator")
    session._workspace.use(engine)
    f = session.define(f"use Array: all; use Math: all;\n{HEAD}{CASES['affine']}").f
    v = np.random.default_rng(1).integers(-2, 3, 600_000).astype(np.int32) | 1
    first = parts(f(v))
    wanted = parts(Session(target="cpu").define(f"use Array: all;\n{HEAD}{CASES['affine']}").f(v))
    for _ in range(3):
        for x, y, z in zip(first, parts(f(v)), wanted, strict=True):
            np.testing.assert_array_equal(x, y)
            np.testing.assert_array_equal(x, z)
    assert not both.programs() and machine.launches >= 8


def test_a_total_that_nobody_uses_is_not_waited_for() -> None:
    both = Both(HEAD + CASES["sums"])
    both.same("f", argument(5000))
    transfers = both.device.memory.transfers
    assert (transfers.times_in, transfers.times_out) == (1, 1)


@pytest.mark.parametrize(
    ("case", "front"),
    [
        pytest.param(c, front, marks=() if (c, front) == ("affine", "nvptx") else pytest.mark.long)
        for c in ("sums", "longs", "extremes", "affine")
        for front in FRONT_ENDS
    ],
)
def test_as_ptx(case: str, front: str) -> None:
    from tests.ptx.driver import PtxCuda
    from tests.ptx.sessions import session

    with small_tiles():
        gpu = PtxCuda("sm_90", front)
        v = argument(300)
        found = session(gpu, verify=True).compile(f"use Array: all;\n{HEAD}{CASES[case]}").f(v)
        wanted = Session(target="interp").compile(f"use Array: all;\n{HEAD}{CASES[case]}").f(v)
    for x, y in zip(parts(wanted), parts(found), strict=True):
        np.testing.assert_array_equal(x, y)
    assert gpu.findings.lines() == []
    assert any("scan" in code.decode() for code in gpu.programs)


@pytest.mark.long
@pytest.mark.parametrize("case", ["longs", "affine"])
def test_kernels_are_assembled(case: str) -> None:
    both = Both(HEAD + CASES[case])
    both.same("f", argument(5000))
    back = "ptxas" if toolchain.program("ptxas") else None
    for kernel in {launch.kernel for launch in launches(both)}:
        for architecture in ("sm_80", "sm_90", "sm_100"):
            for front in FRONT_ENDS:
                assert cubin(kernel, architecture, front=front, back=back).code[:4] == b"\x7fELF"
