"""How a counting loop runs.

In: a loop, and where it stands. Out: `Rounds`: as a scan, on threads, in stretches with checks made ahead, or one round
after the other.
"""

from __future__ import annotations

from sacpy.jit.analysis.recurrences import in_lanes
from sacpy.jit.analysis.scans import chain_of, scan_of
from sacpy.jit.analysis.straight import is_straight
from sacpy.jit.ir import graph as g
from sacpy.jit.schedule import checks_ahead
from sacpy.jit.schedule.loops import Context, Rounds
from sacpy.jit.schedule.threads import ALIGNED

BETWEEN_POLLS = 1 << 16  # rounds of a loop without loops in it

SCANNED = "each round combines a value with the result of the one before"
CHAINED = "the function that combines elements is associative"
INDEPENDENT = "no round reads what another writes"
AHEAD = "checks of numbers that are loaded, for many rounds before these run"
STRETCHED = "neither loops nor calls inside: there is no room for a look at the stop flag"
FEW = "it ends soon"
POLLED = "there are loops or calls inside"
WAITING = "rounds wait for extremes of ints, which are there sooner in a lane of a vector register"


def rounds_of(r: g.For, context: Context) -> Rounds:
    """How a counting loop runs."""
    scan = scan_of(r, context.facts.made, strict=context.strict)
    if scan is not None:
        return Rounds(r, "scan", SCANNED, scan=scan)
    chain = chain_of(r, strict=context.strict)
    if chain is not None:
        return Rounds(r, "scan", CHAINED, scan=chain)
    if context.parallel and _is_independent(r, context):
        single = any(len(g.extents_of(p)) == 1 for p in r.params)
        return Rounds(r, "threads", INDEPENDENT, ALIGNED if single else 1)
    lanes = in_lanes(r)
    if not is_straight(r.body):
        return Rounds(r, "serial", POLLED, polls=True, lanes=lanes)
    if has_few_rounds(r):
        return Rounds(r, "serial", FEW, lanes=lanes)
    ahead = None if r.few else checks_ahead.checked_ahead(r)
    if ahead is None:
        return Rounds(r, "stretch", STRETCHED, BETWEEN_POLLS, lanes=lanes)
    return Rounds(r, "stretch", AHEAD, checks_ahead.STRETCH, ahead=ahead, lanes=lanes)


def _is_independent(r: g.For, context: Context) -> bool:
    """Whether the rounds of a loop may run at once."""
    from sacpy.jit.analysis.depends import independent

    return independent(r, context.facts.ints)


def has_few_rounds(r: g.For) -> bool:
    """Whether a loop is certain to end soon."""
    return (
        isinstance(r.lower, g.Const)
        and isinstance(r.upper, g.Const)
        and abs(int(r.upper.value) - int(r.lower.value)) <= BETWEEN_POLLS * abs(r.step)
    )
