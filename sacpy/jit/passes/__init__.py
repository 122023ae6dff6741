"""Passes: graphs in, better graphs out. Each file has one pass, a pure function `run(unit) -> unit`; `optimise` runs them in the order that pays."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sacpy.jit.beside import checkpoint
from sacpy.jit.graph import Unit
from sacpy.jit.options import Options
from sacpy.jit.passes import (
    accumulating,
    aside,
    assigning,
    carried,
    choosing,
    colours,
    counting,
    dead_code,
    detach,
    disjoint,
    flatten,
    fold_withloops,
    fuse,
    independent,
    interchange,
    invariant,
    jam,
    peel,
    private,
    ranges,
    reductions,
    rounds,
    scatter,
    sharing,
    split,
    stepping,
    unroll,
)
from sacpy.jit.passes.costs import size
from sacpy.jit.passes.facts import LARGE

Pass = Callable[[Unit], Unit]
MODEST = 4 * LARGE  # statements of a function from which on that is worth a word
ROUNDS = 4  # how often the first passes run at most; each round may lay open something for the next

REDUCING: tuple[Pass, ...] = (unroll.run, dead_code.run)
COUNTING: tuple[Pass, ...] = (counting.run, dead_code.run, independent.run, reductions.run)
LOOPING: tuple[Pass, ...] = (rounds.run,)
JOINING: tuple[Pass, ...] = (sharing.run, jam.run)  # for the CPU alone
SHAPING: tuple[Pass, ...] = (flatten.run, fuse.run, invariant.run)
COLOURING: tuple[Pass, ...] = (colours.run,)  # for the CPU alone
DIVIDING: tuple[Pass, ...] = (disjoint.run,)
SPLITTING: tuple[Pass, ...] = (split.run,)
WRAPPING: tuple[Pass, ...] = (split.run_wrapping, peel.run)  # instead, for the CPU alone
CLEANING: tuple[Pass, ...] = (ranges.run, dead_code.run)
PLACING: tuple[Pass, ...] = (stepping.run, accumulating.run, interchange.run, assigning.run, private.run, aside.run, carried.run, dead_code.run, scatter.run, choosing.run)
FINISHING: tuple[Pass, ...] = (detach.run,)


def optimise(unit: Unit, options: Options | None = None, host: bool = False) -> Unit:
    """The unit, optimised: same results for the same arguments, bit for bit. A check may fail more often than before, which sends the call to the interpreter. `host`: for the CPU alone, so that what kernels know may become loops."""
    verified = options is not None and options.verify
    for number in range(ROUNDS):
        unit = _after(unit, REDUCING, verified)
        folded = _after(unit, (fold_withloops.run,), verified)
        if number and folded is unit:
            break
        counted = _after(folded, (*COUNTING, *(LOOPING if host and not number else ()), *(JOINING if host else ())), verified)
        if folded is unit and counted == unit:
            break  # another round would find nothing either
        unit = counted
    unit = _after(unit, (*SHAPING, *(COLOURING if host else ()), *DIVIDING, *((*WRAPPING, *COLOURING) if host else SPLITTING), *CLEANING), verified)
    return _after(placed(unit, verified) if host else unit, FINISHING, verified)


def effort(unit: Unit) -> Iterator[str]:
    """What is done with less effort than usual for a unit as large as this, for those who ask."""
    most = max(size(f.body) for f in unit.functions)
    if most > MODEST:
        yield f"large ({most} statements): what is known of indices is looked for in few steps"


def placed(unit: Unit, verified: bool = False) -> Unit:
    """A unit, or what of one is left to the CPU, as that runs it best."""
    return _after(unit, PLACING, verified)


def _after(unit: Unit, passes: tuple[Pass, ...], verified: bool) -> Unit:
    for work in passes:
        checkpoint()
        unit = work(unit)
        if verified:
            from sacpy.jit.graph_verify import verify

            verify(unit)
    return unit
