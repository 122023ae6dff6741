"""Compiles hand-written units and compares them with their evaluation in Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sacpy.jit.host.compile import compile_object
from sacpy.jit.host.lowering import lower
from sacpy.jit.host.native import Context, NativeFunction, Signature, load
from sacpy.jit.ir.graph import Unit
from sacpy.jit.ir.graph_verify import verify
from sacpy.jit.options import Options
from tests.jit.graph_evaluator import evaluate

STRICT = Options(strict_fp=True)


def compiled(unit: Unit, options: Options = STRICT, context: Context | None = None) -> NativeFunction:
    """A unit as native code."""
    verify(unit)
    return load(compile_object(lower(unit, options), options), Signature.of(unit), options, context)


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal bit by bit (any NaN equals any other)."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape):
            return False
        if a.dtype.kind == "f":
            nan = np.isnan(a) & np.isnan(b)
            return bool((nan | ((a == b) & (np.signbit(a) == np.signbit(b)))).all())
        return bool((a == b).all())
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    return bool(a == b)


def agree(unit: Unit, *args: Any, options: Options = STRICT) -> tuple[Any, ...]:
    """Runs a unit natively and in Python, on arguments it must not change; gives the results, which are equal."""
    return agree_on(unit, [args], options)[0]


def agree_on(unit: Unit, many: Sequence[Sequence[Any]], options: Options = STRICT) -> list[tuple[Any, ...]]:
    """As `agree`, for several lists of arguments; compiles once."""
    function, results = compiled(unit, options), []
    for args in many:
        before = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        found, expected = function.call(tuple(args)), evaluate(unit, before)
        assert len(found) == len(expected)
        for x, y in zip(found, expected):
            assert same(x, y), (x, y)
        for a, b in zip(args, before):
            assert same(a, b), "an argument was changed"
        results.append(found)
    return results


def on_threads(unit: Unit, *args: Any) -> Any:
    """The last result of a unit, compiled for threads: the same for any number of them."""
    function = compiled(unit, Options(threads=3))
    found = []
    for threads in (1, 2, 3):
        function.context.threads = threads
        found.append(function.call(tuple(args))[-1])
    assert all(same(x, found[0]) for x in found)
    return found[0]
