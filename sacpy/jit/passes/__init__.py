"""Passes: graphs in, better graphs out. Each file has one pass, a pure function `run(unit) -> unit`; `optimise` runs them in the order that pays."""

from __future__ import annotations

from collections.abc import Callable

from sacpy.jit.graph import Unit
from sacpy.jit.graph_verify import verify
from sacpy.jit.options import Options
from sacpy.jit.passes import dead_code, fold_withloops, ranges, simplify

Pass = Callable[[Unit], Unit]
ROUNDS = 4  # how often the pipeline runs at most; each round may lay open something for the next


def _pipeline() -> tuple[Pass, ...]:
    return (simplify.run, dead_code.run, fold_withloops.run, ranges.run, dead_code.run)


def optimise(unit: Unit, options: Options | None = None) -> Unit:
    """The unit, optimised: same results for the same arguments, bit for bit."""
    options = options or Options()
    for _ in range(ROUNDS):
        before = unit
        for work in _pipeline():
            unit = work(unit)
            if options.verify:
                verify(unit)
        if unit == before:
            break
    return unit
