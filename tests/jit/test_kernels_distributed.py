"""Loops that put values where counters say, as kernels: compactions, and passes of radix sorts. Results as the
interpreter has them, every access checked, blocks in any order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pytest

from sacpy.jit.emission.emulator import ORDERS
from sacpy.jit.kernels import distributed, distribution_phases, scan_phases
from sacpy.lang.diagnostics import SacError
from sacpy.session import Session
from tests.jit.mutation import Mutant, mutated
from tests.jit.test_device_programs import Both
from tests.jit.test_kernels_ordered import launches
from tests.jit.test_kernels_scanned import parts

SIZES = (0, 63, 64, 65, 777)
COUNTED = """
    next = genarray([K], 0);
    for (i = 0; i < n; i++) { d = DIGIT; next[d] = next[d] + 1; }
    total = 0;
    for (d = 0; d < K; d++) { many = next[d]; next[d] = total; total = total + many; }
"""


def counting(counters: int, digit: str = "v[i] & KM", after: str = "", result: str = "b") -> str:
    """A pass of a radix sort by so many counters."""
    text = (
        "int[.] f(int[n] v) {" + COUNTED + "b = v; for (i = 0; i < n; i++) { d = DIGIT; p = next[d]; b[p] = v[i];"
        "next[d] = p + 1; AFTER } return RESULT; }"
    )
    text = text.replace("DIGIT", digit).replace("AFTER", after).replace("RESULT", result)
    return text.replace("KM", str(counters - 1)).replace("K", str(counters)).replace("&", "BITAND")


CASES = {
    "where": """int[.], int f(int[n] v) { a = v; k = 0;
        for (i = 0; i < n; i++) { if (v[i] % 3 == 0) { a[k] = i; k = k + 1; } } return (a, k); }""",
    "two arrays": """double[.], int[.], int f(int[n] v) { a = tod(v); b = v * 2; k = 0;
        for (i = 0; i < n; i++) { if (v[i] > 20) { a[k] = tod(v[i]) / 2.0; b[k] = i - k; k = k + 1; } }
        return (a, b, k); }""",
    "not those": """int[.], int f(int[n] v) { a = v; k = 0;
        for (i = 0; i < n; i++) { if (v[i] % 3 == 0) { } else { a[k] = v[i]; k = k + 1; } } return (a, k); }""",
    "writes in any case": """int[.], int f(int[n] v) { a = genarray([n + 1], -7); k = 0;
        for (i = 0; i < n; i++) { a[k] = v[i] + 1000; k = k + toi(v[i] % 2 == 0); } return (a, k); }""",
    "from a place on": """int[.], int f(int[n] v) { a = v; k = n / 3;
        for (i = n / 3; i < n; i++) { if (v[i] % 5 < 2) { a[k] = v[i]; k = k + 1; } } return (a, k); }""",
    "all of them": """int[.], int f(int[n] v) { a = genarray([n + 5], 3); k = 2;
        for (i = 0; i < n; i++) { a[k] = v[i] * k; k = k + 1; } return (a, k); }""",
    "in place": """int[.], int f(int[n] v) { a = { [i] -> v[i] * 2 | [i] < [n] }; k = 0;
        for (i = 0; i < n; i++) { if (v[i] % 7 == 1) { a[k] = -v[i]; k = k + 1; } } return (a, k); }""",
    "one counter in an array": counting(1, "v[i] % 1"),
    "two counters": counting(2, "v[i] % 2"),
    "three counters": counting(3, "v[i] % 3"),
    "four counters": counting(4, "v[i] % 4"),
    "sixteen counters": counting(16),
    "counters of no power": counting(37, "v[i] % 37"),
    "many counters": counting(300, "v[i] % 300"),
    "pairs": """long[.], byte[.], int[.] f(int[n] v) { k = tol(v) * 3l; c = { [i] -> tob(i % 100) | [i] < [n] };
        next = genarray([10], 0);
        for (i = 0; i < n; i++) { next[v[i] % 10] = next[v[i] % 10] + 1; }
        total = 0;
        for (d = 9; d >= 0; d--) { many = next[d]; next[d] = total; total = total + many; }
        a = k; b = c;
        for (i = 0; i < n; i++) { d = v[i] % 10; p = next[d]; a[p] = k[i]; b[p] = c[i]; next[d] = p + 1; }
        return (a, b, next); }""",
    "some of them by digits": """int[.], int[.] f(int[n] v) { next = genarray([8], 0); a = genarray([8 * n], -1);
        for (d = 0; d < 8; d++) { next[d] = (d * 3 % 8) * n; }
        for (i = 0; i < n; i++) { if (v[i] > 30) { d = v[i] % 8; p = next[d]; a[p] = v[i]; next[d] = p + 1; } }
        return (a, next); }""",
}
OFTEN = ("writes in any case", "pairs")


@contextmanager
def small_tiles() -> Iterator[None]:
    """Tiles of 64 rounds."""
    with (
        patch.object(distribution_phases, "BLOCK", 16),
        patch.object(distribution_phases, "EACH", 4),
        patch.object(distribution_phases, "ROW", 2),
        patch.object(scan_phases, "BLOCK", 32),
    ):
        yield


def argument(n: int) -> np.ndarray:
    return np.random.default_rng(n).integers(0, 1000, n).astype(np.int32)


def put(both: Both) -> list[str]:
    """What was said of launches that put values."""
    return [r for launch in launches(both) for r in launch.reasons if "in the order of their counters" in r]


def agree(both: Both, *arguments: np.ndarray) -> None:
    wanted, found = both.plain.f(*(a.copy() for a in arguments)), both.there.f(*arguments)
    for x, y in zip(parts(wanted), parts(found), strict=True):
        np.testing.assert_array_equal(x, y, err_msg=str(len(arguments[0])))


@pytest.mark.parametrize(
    ("case", "order"),
    [
        pytest.param(c, order, marks=() if c in OFTEN and order == ORDERS[at % 3] else pytest.mark.long)
        for at, c in enumerate(CASES)
        for order in ORDERS
    ],
)
def test_an_element_is_where_the_interpreter_puts_it(case: str, order: str) -> None:
    with small_tiles():
        both = Both(CASES[case].replace("BITAND", "%"), order=order)
        for n in SIZES:
            agree(both, argument(n))
        assert len(put(both)) >= len(SIZES) - 1  # of vectors as short as that the types tell the length


CLASH = """int[.] f(int[n] v, int[k] from) { a = genarray([n], -1); next = from;
    for (i = 0; i < n; i++) { d = v[i] % 4; p = next[d]; a[p] = i; next[d] = p + 1; } return a; }"""


def test_counters_that_count_to_the_same_place_are_left_to_the_interpreter() -> None:
    with small_tiles():
        both = Both(CLASH)
        v = np.arange(100, dtype=np.int32)

        def agrees(*begin: int) -> None:
            agree(both, v, np.array([*begin, *[7] * 40], np.int32))  # more than four, which would be no array

        agrees(75, 0, 50, 25)
        assert put(both)
        agrees(60, 40, 20, 0)  # 0 to 25, 20 to 45: who comes last has the place
        v *= 4
        agrees(0, 1, 1, 1)  # three of them are never taken


def test_a_place_outside_is_told_as_the_interpreter_tells_it() -> None:
    text = """int[.] f(int[n] v, int m) { a = genarray([m], 0); k = 0;
        for (i = 0; i < n; i++) { if (v[i] > 0) { a[k] = v[i]; k = k + 1; } } return a; }"""
    with small_tiles():
        both = Both(text)
        v = np.tile(np.array([0, 3], np.int32), 100)
        np.testing.assert_array_equal(both.there.f(v, 100), np.full(100, 3))
        told = []
        for there in (both.plain, both.there):
            with pytest.raises(SacError) as error:
                there.f(v, 99)
            told.append(str(error.value))
        assert told[0] == told[1] and "99" in told[0]


STAY = {
    "the condition follows from what was put": """int[.] f(int[n] v) { a = v; k = 0;
        for (i = 0; i < n; i++) { if (v[i] > k) { a[k] = v[i]; k = k + 1; } } return a; }""",
    "what was put is read": """int[.] f(int[n] v) { a = v; k = 0;
        for (i = 0; i < n; i++) { if (v[i] > 20) { a[k] = a[i] + 1; k = k + 1; } } return a; }""",
    "it counts by twos": """int[.] f(int[n] v) { a = v ++ v; k = 0;
        for (i = 0; i < n; i++) { if (v[i] > 20) { a[k] = i; k = k + 2; } } return a; }""",
    "the digit follows from a counter": """int[.] f(int[n] v) { a = v; next = [0, n / 2];
        for (i = 0; i < n / 2; i++) { d = next[0] % 2; p = next[d]; a[p] = v[i]; next[d] = p + 1; } return a; }""",
    "it puts elsewhere, too": """int[.] f(int[n] v) { a = v; b = v; k = 0;
        for (i = 0; i < n; i++) { if (v[i] > 20) { a[k] = i; b[i] = 0; k = k + 1; } } return a + b; }""",
}


@pytest.mark.long
@pytest.mark.parametrize("case", ["pairs", "writes in any case", "from a place on", "where"])
def test_indices_may_be_long(case: str) -> None:
    with small_tiles(), patch.object(distributed, "array_sizes", return_value=[1 << 40]):
        both = Both(CASES[case])
        agree(both, argument(777))
        assert all(
            launch.kernel.bits == 64
            for launch in launches(both)
            if launch.kernel.name.startswith(("kernel.places", "kernel.counts", "kernel.rows", "kernel.rest"))
        )
        assert put(both)


@pytest.mark.parametrize("why", STAY)
def test_other_loops_stay_and_are_right(why: str) -> None:
    both = Both(STAY[why])
    for n in (1, 40, 777):
        agree(both, argument(n))
    assert not put(both)


PHASES, PUT = "sacpy.jit.kernels.distribution_phases", "sacpy.jit.kernels.distribution_places"
ANALYSIS = "sacpy.jit.analysis.distribution"
MUTANTS = {
    Mutant("strips forget those before", PHASES, "Rows.kernel", "self.add(b.load(so_far, ZERO), whole)", "whole"): (
        "where"
    ),
    Mutant("elements left over are others", PHASES, "Rest.kernel", "j, self.add(j, inside)", "j, j"): "where",
    Mutant("threads read sums before all have set theirs", PHASES, "Kernel.scanned", "*body, k.Barrier()", "*body"): (
        "where"
    ),
    Mutant("rounds begin with the first", PHASES, "OfTile.bind", "self.add(self.lower, round_)", "round_"): (
        "from a place on"
    ),
    Mutant("what does not hold holds", PHASES, "OfTile.holds", "if self.found.unless", "if False"): "not those",
    Mutant("a counter begins with each round", PUT, "Places.begins", 'b.op("neq", digit, other)', "g.TRUE"): "pairs",
    Mutant("the last round never writes", PUT, "Places.kernel", "if found.rests:", "if False:"): "writes in any case",
    Mutant("digits are not moved", PUT, "Places.split", "b.word_const(shift)", "b.word_const(0)"): "many counters",
    Mutant("places are not asked", PHASES, "Apart.kernel", "b.add(k.Check(apart", "(lambda _: None)(k.Check(apart"): "",
    Mutant("what was put may be read", ANALYSIS, "_settled", "or used & (gone - {place.name})", "or False"): (
        "what was put is read"
    ),
}


@pytest.mark.parametrize(
    "mutant",
    [pytest.param(m, marks=() if at in (1, 2) else pytest.mark.long, id=m.name) for at, m in enumerate(MUTANTS)],
)
def test_a_bug_is_found(mutant: Mutant) -> None:
    case = MUTANTS[mutant]
    text = CASES.get(case) or STAY.get(case) or CLASH
    n = np.int32(2500)  # of strips, too
    arguments = (argument(n),) if case else (np.arange(n), np.array([9, 7, 5, 0] * 9))
    with small_tiles(), mutated(mutant):
        both = Both(text)
        with pytest.raises((AssertionError, SacError)):
            agree(both, *(a.astype(np.int32) for a in arguments))


def test_too_many_counters_stay_and_say_so() -> None:
    both = Both(counting(1500, "v[i] % 1500"))
    agree(both, argument(777))
    reasons = [p.reason for program in both.programs() for p in program.runtime.placed]
    assert "distributes values by 1500 counters, and a block has room for 1 to 1024" in reasons


def test_what_is_shown_of_a_library_function_is_what_a_device_runs() -> None:
    text = Session(target="emulator").emit("kernel", "f", "use Sort: all; int[.] f(int[n] v) { return sort(v); }")
    assert text.count("partials") == 3 and "total 1" not in text  # which bits differ is only looked at on the CPU


def test_few_counters_are_looked_at_together() -> None:
    """Where the next begin is added up on the host, with what was counted fetched once, and sent once."""
    both = Both(counting(4, "v[i] % 4"))
    agree(both, argument(777))
    moved = both.device.memory.transfers
    assert (moved.bytes_out, moved.times_out) == (16 + 4 * 777, 2)
    assert moved.times_in == 3  # the values, counters of nothing, where they begin


def test_a_sort_moves_nothing() -> None:
    both = Both("use Sort: all; int[.] f(int[n] v) { return sort(v); }")
    v = np.random.default_rng(1).integers(-(2**31), 2**31, 5000).astype(np.int32)
    there = both.device.memory.of(v, "int")
    there.address()
    both.there.f(v)  # compiled
    moved = both.device.memory.transfers
    before = (moved.bytes_in, moved.times_in, moved.bytes_out, moved.times_out)
    program = both.program()
    (found,) = program.results((there,))[-1:]
    after = (moved.bytes_in, moved.times_in, moved.bytes_out, moved.times_out)
    assert tuple(b - a for a, b in zip(before, after)) == (0, 0, 0, 0)
    np.testing.assert_array_equal(found.numpy(), np.sort(v))
