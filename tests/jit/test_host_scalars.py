"""Scalar operations of compiled code: each for each base type, on edge values, equal to the interpreter's bit by
bit."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from sacpy.interp.arithmetic import limits
from sacpy.interp.errors import Fault
from sacpy.interp.runtime.elementwise import scalar_version
from sacpy.interp.values import DTYPES
from sacpy.jit.ir.graph import Op
from sacpy.jit.ir.operations import PLACES, ROUNDED
from sacpy.jit.llvm.legal import memory_type
from sacpy.jit.llvm.scalars import ROWS
from sacpy.jit.options import Options
from sacpy.lang.primitives import PRIMITIVES
from sacpy.lang.types import BITS, BUILTIN
from tests.jit.builder import B, arguments, unit
from tests.jit.native_tools import compiled, same

FLOAT_EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999999999999994, 3.7, -3.7, 1e-300, 5e-324, 1e300,
    math.inf, -math.inf, math.nan, 127.0, 128.0, -129.0, 255.5, 65536.0, 2.0**31, -(2.0**31), -(2.0**31) - 0.5,
    -(2.0**31) - 1, 2.0**31 - 0.5, 2.0**32, 2.0**63, -(2.0**63), 1.5 * 2.0**63, 2.0**64, 20.0, -20.0, 171.5, 710.0,
    4503599627370497.5]  # fmt: skip


def edges(base: str) -> list[int | float | bool]:
    """Values of a base type at which operations go wrong."""
    if base == "bool":
        return [False, True]
    if base == "float":
        with np.errstate(all="ignore"):
            return [float(np.float32(x)) for x in FLOAT_EDGES] + [3.4028234663852886e38, 1.1754943508222875e-38]
    if base == "double":
        return list(FLOAT_EDGES)
    low, high = limits(base)
    return sorted(
        {
            low,
            low + 1,
            max(low, -7),
            max(low, -2),
            max(low, -1),
            0,
            1,
            2,
            3,
            7,
            31,
            min(high, 63),
            high // 2,
            high - 1,
            high,
            *([2**53 + 1, 2**62 + 2**38] if high > 2**60 else []),
        }
    )


ELEMENTWISE = [op for op, row in PRIMITIVES.items() if not row.structural and op != "ravel"]


def test_no_primitive_lacks_a_row() -> None:
    assert sorted(ROWS) == sorted([*ELEMENTWISE, *PLACES, *ROUNDED])


def cases(op: str) -> list[str]:
    row = PRIMITIVES[op]
    return [b for b in BUILTIN if b in row.over] if "T" in row.args else ["bool"]


@pytest.mark.sample(2)
@pytest.mark.parametrize("op", [op for op in ELEMENTWISE if op not in ("mask", "all", "any")])
def test_every_base_on_edge_values(op: str) -> None:
    arity = len(PRIMITIVES[op].args)
    for base in cases(op):
        values = list(itertools.product(edges(base), repeat=arity))
        expected = []
        rows = []
        version = scalar_version(op, base)
        for args in values:
            try:
                with np.errstate(all="ignore"):
                    expected.append(version(*args))
            except Fault:  # refused by the language: only that compiled code survives it is asserted
                expected.append(None)
            rows.append(args)
        for found, wanted, args in zip(run(op, base, rows), expected, rows):
            assert wanted is None or same(found, wanted), (op, base, args, found, wanted)


def run(op: str, base: str, rows: list[tuple[int | float | bool, ...]]) -> list[int | float | bool]:
    """The results of an operation for many operands, computed by one compiled with-loop (vectorised where LLVM can)."""
    b = B()
    arity = len(PRIMITIVES[op].args)
    params, arrays, inputs = arguments(b, *[(base, 1)] * arity)
    n = params[0]
    result = base if PRIMITIVES[op].result == "T" else PRIMITIVES[op].result
    r = b.genarray(
        result, [n], [b.partition([0], [n], lambda c, i: c.op(op, *[c.load(a, i) for a in arrays]))], complete=True
    )
    columns = [np.array([row[k] for row in rows], DTYPES[base]) for k in range(arity)]
    (found,) = compiled(unit(b, params, inputs, [r])).call(tuple(columns))
    return [x.item() for x in found]


@pytest.mark.parametrize("base", BUILTIN)
def test_scalars_pass_in_and_out_unchanged(base: str) -> None:
    b = B()
    params, (x, c), inputs = arguments(b, (base, 0), ("bool", 0))
    chosen = b.let(Op("select", (c, x, x)), (base, None))[0]
    f = compiled(unit(b, params, inputs, [chosen]))
    for value in edges(base):
        assert same(f.call((value, True))[0], value)
    assert memory_type(base)


@pytest.mark.parametrize("base", BITS)
def test_division_by_constants(base: str) -> None:
    from sacpy.jit.ir.graph import Const

    low, _ = limits(base)
    for op, divisor in itertools.product(("div", "mod", "aplmod"), (1, 2, 7, *((-1, -3) if low else ()))):
        b = B()
        params, (x,), inputs = arguments(b, (base, 0))
        f = compiled(unit(b, params, inputs, [b.op(op, x, Const(base, divisor))]))
        for value in edges(base):
            assert f.call((value,))[0] == scalar_version(op, base)(value, divisor), (op, value, divisor)


@pytest.mark.parametrize(
    "op", [op for op in ELEMENTWISE if PRIMITIVES[op].over == ("float", "double") and PRIMITIVES[op].result == "T"]
)
def test_default_mathematics_is_within_a_few_units_in_the_last_place(op: str) -> None:
    arity = len(PRIMITIVES[op].args)
    points = np.linspace(0.05, 0.95, 37) if op in ("asin", "acos", "atanh") else np.linspace(1.1, 9.3, 37)
    for base in ("double", "float"):
        b = B()
        params, arrays, inputs = arguments(b, *[(base, 1)] * arity)
        n = params[0]
        r = b.genarray(
            base,
            [n],
            [b.partition([0], [n], lambda c, i, arrays=arrays: c.op(op, *[c.load(a, i) for a in arrays]))],
            complete=True,
        )
        columns = [points.astype(DTYPES[base]), (points[::-1] / 2).astype(DTYPES[base])][:arity]
        (found,) = compiled(unit(b, params, inputs, [r]), Options()).call(tuple(columns))
        expected = np.array([scalar_version(op, base)(*map(float, row)) for row in zip(*columns)], DTYPES[base])
        assert (
            np.abs(found - expected)
            <= 8 * np.spacing(np.maximum(np.abs(expected), DTYPES[base].type(1 if op == "lgamma" else 0)))
        ).all(), (op, base, found, expected)
