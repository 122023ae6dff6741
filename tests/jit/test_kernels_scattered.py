"""Reductions by index as kernels: every element as the interpreter has it, with arrays in shared and in global memory,
every access checked. Those that depend on the order of operands: `test_kernels_ordered`."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

from benchmarks.algorithms import SPLITS
from sacpy.jit.emission import toolchain
from sacpy.jit.emission.assemble import FRONT_ENDS, cubin
from sacpy.jit.emission.emulator import ORDERS
from sacpy.jit.kernels import scattered
from tests.jit.test_device_programs import Both
from tests.jit.test_kernels_ordered import launches

HEAD = "use Histogram: all;\n"
SIZES = (0, 1, 31, 33, 255, 257, 1025, 9000)
CASES = {
    "counts": "int[.] f(int[n] k) { return bincount(7, k); }",
    "weights": "long[.] f(int[n] k) { return bincount(7, k, tol(k) * 3l - 7l); }",
    "most": "int[.] f(int[n] k) { return scatter_max(genarray([7], 3), k, { [i] -> i % 100 | [i] < [n] }); }",
    "least": "uint[.] f(int[n] k) { return scatter_min(genarray([7], 300ui), k, { [i] -> toui(i) | [i] < [n] }); }",
    "bits": """int[.] f(int[n] k) { return with { ([0] <= [i] < [n]) : (k[i], i); } : into(iota(7), ^); }""",
    "less": "int[.] f(int[n] k) { return with { ([0] <= [i] < [n]) : (k[i], 3 * i); } : into(iota(7), -); }",
    "plane": """int[.,.] f(int[n] k) {
        return with { ([0] <= [i] < [n]) : ([k[i], i % 3], i); } : into(genarray([7, 3], 1), +);
    }""",
    "last": "int[.] f(int[n] k) { return scatter_last(iota(7), k, { [i] -> i * i % 1000 | [i] < [n] }); }",
    "which": "bool[.] f(int[n] k) { return occurs(9, k + 1); }",
    "cells": """double[.,.] f(int[n] k) {
        a = genarray([7, 2], 0.5);
        for (i = 0; i < n; i++) { a[[k[i], i % 2]] = tod(i); }
        return a;
    }""",
    "grid": """int[.] f(int[n] k) {
        return with { ([0, 1] <= [i, j] < [n, 5] step [2, 3] width [1, 2]) : (k[i], j); } : into(iota(7), +);
    }""",
    "rows": """int[.,.] f(int[n] k) {
        return scatter_add(genarray([7, 4 + n % 2], 1), k, { [i, j] -> i - j | [i, j] < [n, 4 + n % 2] });
    }""",
    "pairs": """int[.,.] f(int[n] k) {
        return scatter_add(genarray([7, 2], 1), k, { [i, j] -> i - j | [i, j] < [n, 2] });
    }""",
    "nested": """int[.] f(int[n] k) {
        h = iota(7);
        for (i = 0; i < n; i++) {
          for (j = 0; j < 3; j++) {
            h[(k[i] + j) % 7] = min(h[(k[i] + j) % 7], 5 * j - i);
          }
        }
        return h;
    }""",
    "mapped": "int[.] f(int[n] k) { return 2 * bincount(300, (k * 5 + 1) % 300) + 1; }",
}


def keys(n: int) -> np.ndarray:
    return np.random.default_rng(n).integers(0, 7, n).astype(np.int32)


OFTEN = [
    ("counts", scattered.SHARED),
    ("less", scattered.SHARED),
    ("less", 0),
    ("plane", scattered.SHARED),
    ("last", 0),
    ("grid", scattered.SHARED),
    ("rows", 0),
]
EACH = [(case, shared) for case in CASES for shared in (scattered.SHARED, 0)]


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("case", "shared"), [pytest.param(*e, marks=() if e in OFTEN else pytest.mark.long) for e in EACH]
)
def test_an_element_is_what_the_interpreter_says(case: str, shared: int) -> None:
    with patch.object(scattered, "SHARED", shared):
        both = Both(HEAD + CASES[case])
        for n in SIZES:
            both.same("f", keys(n))
    assert any("atomic" in reason for launch in launches(both) for reason in launch.reasons)


@pytest.mark.parametrize("order", [ORDERS[1], pytest.param(ORDERS[2], marks=pytest.mark.long)])
def test_blocks_may_run_in_any_order(order: str) -> None:
    with patch.object(scattered, "EACH", 1):
        Both(HEAD + CASES["plane"], order=order).same("f", keys(3000))


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("text", "copies"),
    [
        ("int[.] f(int[n] k, int[m] a) { return scatter_add(a, k, k); }", 1),
        ("int[.] f(int[n] k, int[m] a) { return scatter_add(a * 3, k, k); }", 0),
        ("int[.] f(int[n] k, int[m] a) { b = cumsum(a); return scatter_add(b, k, k) + b; }", 1),
        (
            "int[.] f(int[n] k, int[m] a) { b = cumsum(a); return scatter_add(b, k, { [i] -> b[k[i]] | [i] < [n] }); }",
            0,
        ),
        ("double[.] f(int[n] k, int[m] a) { return scatter_add(tod(a) * 0.5, k, tod(k)); }", 0),
    ],
)
def test_an_array_that_nobody_needs_is_changed_where_it_lies(text: str, copies: int) -> None:
    both = Both("use Scan: all; use Histogram: all;\n" + text)
    both.same("f", keys(2000), np.arange(40, dtype=np.int32))
    assert sum(launch.purpose == "copy" for launch in launches(both)) == copies


def test_map_into_map_stays_on_the_device() -> None:
    both = Both(HEAD + CASES["mapped"])
    both.same("f", keys(9000))
    transfers = both.device.memory.transfers
    assert (transfers.times_in, transfers.times_out) == (1, 1)


RADIX = "use Scan: all;\n" + SPLITS.replace("b < 8", "b < 13")


def test_a_radix_sort_by_splits_stays_on_the_device() -> None:
    both = Both(HEAD + RADIX)
    v = np.random.default_rng(2).integers(0, 1 << 13, 5000).astype(np.int32)
    assert np.array_equal(both.same("f", v), np.sort(v))
    transfers = both.device.memory.transfers
    assert transfers.bytes_in == v.nbytes
    assert transfers.bytes_out == v.nbytes + 13 * 4  # and how many bits are 0, each time


def test_an_index_outside_of_the_array_is_an_error() -> None:
    both = Both(HEAD + CASES["counts"])
    k = keys(3000)
    k[2000] = 7
    with pytest.raises(Exception, match="out of"):
        both.there.f(k)


@pytest.mark.long
@pytest.mark.parametrize("shared", [scattered.SHARED, 0])
def test_kernels_with_atomic_operations_are_assembled(shared: int) -> None:
    with patch.object(scattered, "SHARED", shared):
        both = Both(HEAD + CASES["weights"])
        both.same("f", keys(3000))
    back = "ptxas" if toolchain.program("ptxas") else None
    for kernel in {launch.kernel for launch in launches(both)}:
        for architecture in ("sm_80", "sm_90", "sm_100"):
            for front in FRONT_ENDS:
                assert cubin(kernel, architecture, front=front, back=back).code[:4] == b"\x7fELF"
