"""`:time`: how long an expression takes, and what of it is reading, checking, generating code, running."""

from __future__ import annotations

import re
from statistics import median

from sacpy.repl.commands.command import Command, refused
from sacpy.repl.engine import Engine
from sacpy.repl.outcomes import Timing

MOST = 1_000_000
_ROUNDS = re.compile(r"-n\s*(\S*)\s*(.*)", re.DOTALL)


def _time(engine: Engine, text: str) -> str:
    match = _ROUNDS.fullmatch(text)
    if match is not None and not (match[1].isdecimal() and 1 <= int(match[1]) <= MOST):
        raise refused(
            "E0745",
            f"{match[1] or 'nothing'} is no number of runs",
            match[1],
            "from 1 to 1000000",
            "write it behind -n: :time -n 100 sum(iota(1000))",
        )
    rounds, wanted = (int(match[1]), match[2]) if match else (1, text)
    values, timing = engine.measure(wanted, ":time", rounds)
    shown = [v.shown(engine.page) for v in values] if match is None else []
    return "\n".join([*shown, _report(timing)])


def _report(timing: Timing) -> str:
    parts = [
        f"parse {duration(timing.parse)}",
        f"check {duration(timing.check)}",
        f"compile {duration(timing.compile)}",
    ]
    runs = timing.runs
    if len(runs) == 1:
        return ", ".join([*parts, f"run {duration(runs[0])}"])
    return (
        ", ".join(parts)
        + f"\n{len(runs)} runs: least {duration(min(runs))}, median {duration(median(runs))}, greatest "
        f"{duration(max(runs))}"
    )


def duration(seconds: float) -> str:
    """Seconds in the unit that keeps them short."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.0f} ns"


TIME = Command(
    ":time [-n N] EXPR",
    "the value, and how long it took; with -n, of N runs the least, median and greatest",
    "expression",
    _time,
    details="compile is the generating of code for everything that the expression calls for the first time.",
)
