"""Scans, histograms, sorts, segments, statistics and selections of the library give what NumPy gives, at sizes around
vectors, blocks and chunks: interpreted, on the CPU with one thread and with two, and on the emulator with every access
checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from sacpy.jit.cache import Cache
from sacpy.jit.device.context import Device, Hardware
from sacpy.jit.device.emulated import EmulatorMachine
from sacpy.jit.device.weigh import Policy
from sacpy.jit.emission.emulator import ORDERS
from sacpy.jit.run.on_demand import OnDemand
from sacpy.session import Session
from sacpy.withloop.devices import DEVICES
from tests.fuzz.differential import small_chunks
from tests.stdlib.data_parallel import CASES as MOST
from tests.stdlib.data_parallel import DTYPES, REALS
from tests.stdlib.data_parallel_more import MORE

CASES = {**MOST, **MORE}
SIZES = (0, 1, 2, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025)
OTHERS = (0, 1, 33, 257)  # where only the type of the elements is another
ROUNDED = ("mean", "var", "std_axis", "quantile", "edges", "sample_var", "sample_std_axis")
FEW = ("int", "double")  # where compiling takes its time
HEAD = """
use Array: all; use Scan: all; use Histogram: all; use Sort: all; use Segmented: all; use Statistics: all;
use Select: all;
"""
EACH = [(name, base) for name, case in CASES.items() for base in case.bases]
COMPILED = [(name, base) for name, base in EACH if base in FEW or len(CASES[name].bases) == 1]


def sampled(every: int, *others: Any) -> list[Any]:
    """One of so many, the rest with the tests that take long."""
    return [
        pytest.param(
            name,
            base,
            *others,
            marks=() if at % (every if name in MOST else 8 * every) == 0 else pytest.mark.long,
            id="-".join(map(str, (name, base, *others))),
        )
        for at, (name, base) in enumerate(COMPILED)
    ]


def text(names: Iterator[tuple[str, str]]) -> str:
    found = HEAD
    for name, base in names:
        conversion = {"int": "toi", "long": "tol", "float": "tof", "double": "tod"}.get(base, "")
        found += (
            CASES[name]
            .text.replace(" f(", f" {name}_{base}(", 1)
            .replace("T_(", f"{conversion}(")
            .replace("T[", f"{base}[")
            .replace("T f", f"{base} f")
            + "\n"
        )
    return found


@cache
def library(target: str, threads: int = 2, order: str = ORDERS[0]) -> Any:
    """The functions on a target. On the emulator everything that can runs on the device, blocks in this order."""
    session = Session(target=target, threads=threads)
    if target != "interp":
        engine = OnDemand(target, eager=True, defects=True, verify=True, threads=threads, cache=Cache(None))
        if target == "emulator":
            engine.engine.tools.device = Device(
                Hardware(EmulatorMachine(DEVICES["sm_90"], check=True, threads=threads, order=order)),
                Policy(always=True),
            )
        session._workspace.use(engine)
    return session.define(text(iter(EACH)))


def agrees(there: Any, name: str, base: str, n: int) -> None:
    case = CASES[name]
    arguments = case.arguments(base, n)
    found, wanted = there[f"{name}_{base}"](*arguments), case.wanted(*arguments)
    for x, y in zip(found, wanted) if isinstance(found, tuple) else [(found, wanted)]:
        x, y = np.asarray(x), np.asarray(y)
        assert x.shape == y.shape, (name, base, n, x.shape, y.shape)
        if name in ROUNDED:
            np.testing.assert_allclose(x, y, 1e-12, 1e-12, err_msg=f"{name} {base} {n}")
        else:
            np.testing.assert_array_equal(x, y, err_msg=f"{name} {base} {n}")


@pytest.mark.parametrize(("name", "base"), EACH, ids=lambda x: x)
def test_interpreted(name: str, base: str) -> None:
    there = library("interp")
    for n in SIZES if base in FEW else OTHERS:
        if n >= CASES[name].least:
            agrees(there, name, base, n)


@pytest.mark.sample(4)
@pytest.mark.parametrize(("name", "base", "threads"), [*sampled(3, 2), *sampled(21, 1)])
def test_on_the_cpu(name: str, base: str, threads: int) -> None:
    there = library("cpu", threads)
    with small_chunks():
        for n in SIZES:
            if n >= CASES[name].least:
                agrees(there, name, base, n)


@pytest.mark.sample(6)
@pytest.mark.parametrize(("name", "base"), sampled(11))
def test_on_the_emulator(name: str, base: str) -> None:
    there = library("emulator")
    for n in SIZES[:-4]:
        if n >= CASES[name].least:
            agrees(there, name, base, n)


@pytest.mark.long
@pytest.mark.parametrize("order", ORDERS[1:])
@pytest.mark.parametrize("name", [name for name, base in COMPILED if base in ("int", "bool")])
def test_on_the_emulator_with_blocks_in_another_order(name: str, order: str) -> None:
    there = library("emulator", order=order)
    for n in (33, 257, 1025):
        agrees(there, name, "int" if (name, "int") in EACH else "bool", n)


LARGE = (
    "cumsum", "cummax", "segment_sum", "filter_sparse", "nonzero_sparse", "scatter_max", "sort",
    "argsort", "unique", "filter", "argmax",
)  # fmt: skip


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", [c if c in LARGE else pytest.param(c, marks=pytest.mark.long) for c in CASES])
def test_large(name: str) -> None:
    bases = CASES[name].bases
    agrees(library("cpu", 2), name, next((base for base in FEW if base in bases), bases[0]), 1_000_003)


@pytest.mark.parametrize("base", REALS)
def test_sort_puts_minus_zero_before_zero(base: str) -> None:
    v = np.array([0.0, -0.0, 1.0, -0.0, -1.0], DTYPES[base])
    found = np.asarray(library("interp")[f"sort_{base}"](v))
    assert np.signbit(found).tolist() == [True, True, True, False, False]
