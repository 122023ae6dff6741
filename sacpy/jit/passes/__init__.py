"""Passes: graphs in, better graphs out. Each file has one pass, a pure function `run(unit) -> unit`; `STEPS` lists them
in the order in which `optimise` runs them, with the reason for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from sacpy.jit.analysis.costs import size
from sacpy.jit.analysis.facts import LARGE
from sacpy.jit.beside import checkpoint
from sacpy.jit.ir.graph import Const, Genarray, Load, Unit, WithLoop
from sacpy.jit.ir.rewrite import rights
from sacpy.jit.options import Options
from sacpy.jit.passes import (
    accumulating,
    argmin_strips,
    array_folds,
    assigning,
    carried,
    counting,
    dead_code,
    detach,
    disjoint,
    flatten,
    fold_withloops,
    fuse,
    invariant,
    jam,
    loops_to_withloops,
    parity_partitions,
    peel,
    private,
    ranges,
    reductions,
    scalar_replacement,
    scatter,
    sharing,
    short_circuit,
    split,
    stepping,
    unroll,
)
from sacpy.nodes import Node

Pass = Callable[[Unit], Unit]
MODEST = 4 * LARGE  # statements of a function from which on that is worth a word
ROUNDS = 4  # how often the first passes run at most; each round may lay open something for the next


class Step(Node):
    """A pass in its place. `why`: what it does there, and for whom that comes later; `on`: "cpu" or "device" where it
    is for that alone; `once`: in the first round alone; `ends`: a later round in which it finds nothing is the last;
    `when`: what the options must allow."""

    name: str
    run: Pass
    why: str
    on: str = ""
    once: bool = False
    ends: bool = False
    when: Callable[[Options], bool] | None = None


def _call_results(unit: Unit) -> Unit:
    """The pass `call_results`, which is loaded where there are calls."""
    if len(unit.functions) == 1:
        return unit
    from sacpy.jit.passes import call_results

    return call_results.run(unit)


def _structure_of_arrays(unit: Unit) -> Unit:
    """The pass `structure_of_arrays`, which is loaded where there are arrays of cells of known extents."""
    operators = (o for f in unit.functions for w in rights(f.body, WithLoop) for o in w.operators)
    if not any(isinstance(o, Genarray) and o.cell and isinstance(o.cell[-1], Const) for o in operators):
        return unit
    from sacpy.jit.passes import structure_of_arrays

    return structure_of_arrays.run(unit)


def _columns(unit: Unit) -> Unit:
    """The pass `columns`, which is loaded where elements of cells are loaded by number."""
    loads = (r for f in unit.functions for r in rights(f.body, Load))
    if not any(len(r.index) > 1 and isinstance(r.index[-1], Const) for r in loads):
        return unit
    from sacpy.jit.passes import columns

    return columns.run(unit)


def _distribute(unit: Unit) -> Unit:
    """The pass `distribute`, which is loaded where there is a device."""
    from sacpy.jit.passes import distribute

    return distribute.run(unit)


def _borders(options: Options) -> bool:
    """Whether borders are cut apart."""
    return options.split_borders


def _circuits(options: Options) -> bool:
    """Whether arrays are made where they end up."""
    return options.short_circuit


def _regrouping(options: Options) -> bool:
    """Whether sums of reals may be regrouped."""
    return not options.strict_fp


def _in_order(options: Options) -> bool:
    """Whether they may not."""
    return options.strict_fp


# In rounds, until nothing changes: fewer arrays, fewer loops.
FOLDING = (
    Step("call_results", _call_results, "what arguments tell of results others know, and before the call"),
    Step("unroll", unroll.run, "small known extents become statements, which every other pass understands"),
    Step("dead_code", dead_code.run, "whoever counts uses counts those that are left"),
    Step("fold_withloops", fold_withloops.run, "an array that is read once is computed where it is read", ends=True),
    Step("unroll_longer", unroll.run_longer, "what sums add up is in their cells now, and tells how they run best"),
    Step("counting", counting.run, "loops with a counter become `For`, which the following look for"),
    Step("dead_code", dead_code.run, "without the counters that `counting` has replaced"),
    Step("loops_to_withloops", loops_to_withloops.run, "loops that set every element can be folded in the next round"),
    Step("reductions", reductions.run, "loops that add up become folds, which may run in lanes and threads"),
    Step("array_folds", array_folds.run, "folds of whole arrays become loops that add in place", "cpu", once=True),
    Step("sharing", sharing.run, "with-loops that load the same cells become one, and these can be folded", "cpu"),
    Step("jam", jam.run, "sums along a short axis that share dear work become one loop", "cpu"),
    Step("structure_of_arrays", _structure_of_arrays, "lanes load elements of cells side by side", "cpu"),
)
# Once: how the loops that are left run.
SHAPING = (
    Step("roll", unroll.run_back, "a sum that was unrolled, and is a matrix product's, has tiles", "cpu"),
    Step("flatten", flatten.run, "cells that are with-loops become axes; folding is done, and wants cells whole"),
    Step("fuse", fuse.run, "with-loops over the same indices become one"),
    Step("invariant", invariant.run, "out of loops, before these are divided and there are more of them"),
    Step("columns", _columns, "what lanes load far apart lies side by side, while partitions are whole", "cpu"),
    Step("parity_partitions", parity_partitions.run, "cells chosen by a remainder get steps, as programmed", "cpu"),
    Step("disjoint", disjoint.run, "partitions that overlap are cut, which `split` and the writers build on"),
    Step("split", split.run, "borders apart from an interior that tests nothing", "device", when=_borders),
    Step("split_wrapping", split.run_wrapping, "the same, and where indices are scaled", "cpu", when=_borders),
    Step("peel", peel.run, "the same for loops in order", "cpu", when=_borders),
    Step("parity_partitions", parity_partitions.run, "in what has been cut, where remainders are known", "cpu"),
    Step("ranges", ranges.run, "tests and remainders that are certain now go"),
    Step("distribute", _distribute, "loops that put values where counters say have kernels, too", "device"),
    Step("into", scatter.run_device, "loops that combine where the data say have kernels as with-loops", "device"),
    Step("into_reals", scatter.run_device_reals, "the same for sums of reals", "device", when=_regrouping),
    Step("scans", stepping.run_scans, "scans are with-loops", "device", when=_regrouping),
    Step("exact_scans", stepping.run_exact_scans, "those of what is exact are", "device", when=_in_order),
    Step("dead_code", dead_code.run, "and what they were computed from"),
)
# Once, for what the CPU runs: where elements are computed.
PLACING = (
    Step("stepping", stepping.run, "scans and reductions by index become loops in order, which the CPU knows", "cpu"),
    Step("behind", stepping.run_around, "maps around a scan are computed where it reads and writes", "cpu"),
    Step("accumulating", accumulating.run, "loops that add to arrays become a sum for each element", "cpu"),
    Step("short_circuit", short_circuit.run, "a part is computed where it goes", when=_circuits),
    Step("assigning", assigning.run, "a part that is assigned is computed where it goes", "cpu"),
    Step("assigning_cells", assigning.run_device, "the same by threads", "device"),
    Step("private", private.run, "scratch that a round fills is its own, so that rounds are independent", "cpu"),
    Step("carried", carried.run, "what a loop computes anew from itself is changed where it lies", "cpu"),
    Step("dead_code", dead_code.run, "without what nobody carries any more", "cpu"),
    Step("scatter", scatter.run, "loops left over that add where the data say: in pieces of their own", "cpu"),
    Step("scatter_reals", scatter.run_reals, "the same for sums of reals", "cpu", when=_regrouping),
    Step("scalar_replacement", scalar_replacement.run, "what a round hands on stays in a register", "cpu"),
    Step("argmin_strips", argmin_strips.run, "last: what it makes of a loop nobody else knows", "cpu"),
)
FINISHING = (Step("detach", detach.run, "nobody holds an array when it is updated, where updates stay"),)
STEPS = (*FOLDING, *SHAPING, *PLACING, *FINISHING)


def optimise(unit: Unit, options: Options | None = None, host: bool = False) -> Unit:
    """The unit, optimised: same results for the same arguments, bit for bit. A check may fail more often than before,
    which sends the call to the interpreter. `host`: for the CPU alone, so that what kernels know may become loops."""
    options = options or Options()
    target = "cpu" if host else "device"
    for number in range(ROUNDS):
        before = unit
        for step in _steps(FOLDING, target, options):
            if step.once and number:
                continue
            found = _done(step, unit, options)
            if step.ends:
                if number and found is unit:
                    return _finished(unit, target, options)
                before = unit
            unit = found
        if unit == before:
            break  # another round would find nothing either
    return _finished(unit, target, options)


def _finished(unit: Unit, target: str, options: Options) -> Unit:
    for step in _steps((*SHAPING, *PLACING, *FINISHING), target, options):
        unit = _done(step, unit, options)
    return unit


def effort(unit: Unit) -> Iterator[str]:
    """What is done with less effort than usual for a unit as large as this, for those who ask."""
    most = max(size(f.body) for f in unit.functions)
    if most > MODEST:
        yield f"large ({most} statements): what is known of indices is looked for in few steps"


def placed(unit: Unit, options: Options) -> Unit:
    """A unit, or what of one is left to the CPU, as that runs it best."""
    for step in _steps(PLACING, "cpu", options):
        unit = _done(step, unit, options)
    return unit


def _steps(steps: Iterable[Step], target: str, options: Options) -> Iterator[Step]:
    """Those for a target that options allow."""
    return (s for s in steps if s.on in ("", target) and (s.when is None or s.when(options)))


def _done(step: Step, unit: Unit, options: Options) -> Unit:
    checkpoint()
    unit = step.run(unit)
    if options.verify:
        from sacpy.jit.ir.graph_verify import verify

        verify(unit)
    return unit
