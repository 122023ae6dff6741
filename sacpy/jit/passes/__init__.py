"""Passes: graphs in, better graphs out. Each file has one pass, a pure function `run(unit) -> unit`; `optimise` runs them in the order that pays."""

from __future__ import annotations

from collections.abc import Callable

from sacpy.jit.graph import Unit
from sacpy.jit.graph_verify import verify
from sacpy.jit.options import Options
from sacpy.jit.passes import counting, dead_code, fold_withloops, invariant, ranges, split, unroll

Pass = Callable[[Unit], Unit]
ROUNDS = 4  # how often the first passes run at most; each round may lay open something for the next

REDUCING: tuple[Pass, ...] = (unroll.run, dead_code.run, fold_withloops.run, counting.run, dead_code.run)
SHAPING: tuple[Pass, ...] = (invariant.run, split.run, ranges.run, dead_code.run)


def optimise(unit: Unit, options: Options | None = None) -> Unit:
    """The unit, optimised: same results for the same arguments, bit for bit."""
    verified = options is not None and options.verify
    for _ in range(ROUNDS):
        before = unit
        unit = _after(unit, REDUCING, verified)
        if unit == before:
            break
    return _after(unit, SHAPING, verified)


def _after(unit: Unit, passes: tuple[Pass, ...], verified: bool) -> Unit:
    for work in passes:
        unit = work(unit)
        if verified:
            verify(unit)
    return unit
