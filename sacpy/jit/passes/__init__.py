"""Passes: graphs in, better graphs out. Each file has one pass, a pure function `run(unit) -> unit`; `STEPS` lists them
in the order in which `optimise` runs them, with the reason for it. A file is loaded where a unit has what it is for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module

from sacpy.jit.analysis.costs import size
from sacpy.jit.analysis.facts import LARGE
from sacpy.jit.beside import checkpoint
from sacpy.jit.ir.graph import (
    Call,
    Const,
    For,
    Genarray,
    If,
    Let,
    Load,
    Loop,
    Op,
    Rhs,
    Unit,
    Update,
    WithLoop,
)
from sacpy.jit.ir.operations import ROUTINES
from sacpy.jit.ir.rewrite import rights
from sacpy.jit.options import Options
from sacpy.nodes import Node

Pass = Callable[[Unit], Unit]
MODEST = 4 * LARGE  # statements of a function from which on that is worth a word
ROUNDS = 4  # how often the first passes run at most; each round may lay open something for the next


class Step(Node):
    """A pass in its place. `needs`: what it must find in a unit to change it; `why`: what it does there, and for whom
    that comes later; `on`: "cpu" or "device" where it is for that alone; `by`: its file and function, unless they are
    called `name` and `run`; `once`: in the first round alone; `ends`: a later round in which it finds nothing is the
    last; `when`: what the options must allow."""

    name: str
    needs: Callable[[Unit], bool]
    why: str
    on: str = ""
    by: str = ""
    once: bool = False
    ends: bool = False
    when: Callable[[Options], bool] | None = None

    @property
    def file(self) -> str:
        """The file of the pass."""
        return self.by.partition(".")[0] or self.name

    @property
    def run(self) -> Pass:
        """The pass, loaded."""
        found: Pass = getattr(import_module(f"{__name__}.{self.file}"), self.by.partition(".")[2] or "run")
        return found


def _has(*kinds: type[Rhs]) -> Callable[[Unit], bool]:
    """Whether a unit has right-hand sides of some kinds."""
    return lambda unit: any(True for f in unit.functions for _ in rights(f.body, *kinds))


def _any(_: Unit) -> bool:
    """What simplifies on its way does something for any unit."""
    return True


def _cells(unit: Unit) -> bool:
    """Whether there are arrays of cells of known extents."""
    operators = (o for f in unit.functions for w in rights(f.body, WithLoop) for o in w.operators)
    return any(isinstance(o, Genarray) and o.cell and isinstance(o.cell[-1], Const) for o in operators)


def _columns(unit: Unit) -> bool:
    """Whether elements of cells are loaded by number."""
    loads = (r for f in unit.functions for r in rights(f.body, Load))
    return any(len(r.index) > 1 and isinstance(r.index[-1], Const) for r in loads)


def _choosing(unit: Unit) -> bool:
    """Whether folds choose between values."""
    folds = (w for f in unit.functions for w in rights(f.body, WithLoop) if w.frame is None)
    inside = (s.rhs for w in folds for p in w.partitions for s in p.body.statements if isinstance(s, Let))
    return any(isinstance(r, If) or (isinstance(r, Op) and r.code == "select") for r in inside)


def _repeating(unit: Unit) -> bool:
    """Whether loops have loops in them, or cells routines."""
    cells = [p.body for f in unit.functions for w in rights(f.body, WithLoop) for p in w.partitions]
    rounds = [r.body for f in unit.functions for r in rights(f.body, For)]
    inside = [s.rhs for b in (*cells, *rounds) for s in b.statements if isinstance(s, Let)]
    return any(isinstance(r, WithLoop | For | Loop) or (isinstance(r, Op) and r.code in ROUTINES) for r in inside)


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


CALLS, NESTS, COUNTED, UPDATES = _has(Call), _has(WithLoop), _has(For), _has(Update)
LOOPS, CARRYING, CONDITIONS = _has(WithLoop, For, Loop), _has(For, Loop), _has(If)

# In rounds, until nothing changes: fewer arrays, fewer loops.
FOLDING = (
    Step("call_results", CALLS, "what arguments tell of results others know, and before the call"),
    Step("unroll", _any, "small known extents become statements, which every other pass understands"),
    Step("dead_code", _any, "whoever counts uses counts those that are left"),
    Step("fold_withloops", NESTS, "an array that is read once is computed where it is read", ends=True),
    Step(
        "unroll_longer",
        LOOPS,
        "what sums add up is in their cells now, and tells how they run best",
        by="unroll.run_longer",
    ),
    Step("counting", _any, "loops with a counter become `For`, which the following look for"),
    Step("dead_code", _any, "without the counters that `counting` has replaced"),
    Step("loops_to_withloops", COUNTED, "loops that set every element can be folded in the next round"),
    Step("reductions", COUNTED, "loops that add up become folds, which may run in lanes and threads"),
    Step("array_folds", NESTS, "folds of whole arrays become loops that add in place", "cpu", once=True),
    Step("sharing", NESTS, "with-loops that load the same cells become one, and these can be folded", "cpu"),
    Step("jam", NESTS, "sums along a short axis that share dear work become one loop", "cpu"),
    Step("structure_of_arrays", _cells, "lanes load elements of cells side by side", "cpu"),
)
# Once: how the loops that are left run.
SHAPING = (
    Step("roll", LOOPS, "a sum that was unrolled, and is a matrix product's, has tiles", "cpu", by="unroll.run_back"),
    Step("flatten", NESTS, "cells that are with-loops become axes; folding is done, and wants cells whole"),
    Step("fuse", NESTS, "with-loops over the same indices become one"),
    Step("fold_bounds", _choosing, "folds leave out what changes nothing, before anybody asks how long they are"),
    Step("invariant", LOOPS, "out of loops, before these are divided and there are more of them"),
    Step(
        "axis_invariant",
        _repeating,
        "what a column's cells, or all rounds, have in common: one loop",
    ),
    Step(
        "running_folds",
        _repeating,
        "a cell that folds all before it takes a step from its neighbour",
        "cpu",
        when=_regrouping,
    ),
    Step(
        "running_folds_in_order",
        _repeating,
        "the same, where the order of sums of reals stays",
        "cpu",
        by="running_folds.run_in_order",
        when=_in_order,
    ),
    Step("class_folds", _choosing, "cells that fold what data say is theirs are folded in one go", "cpu"),
    Step("columns", _columns, "what lanes load far apart lies side by side, while partitions are whole", "cpu"),
    Step("parity_partitions", NESTS, "cells chosen by a remainder get steps, as programmed", "cpu"),
    Step("disjoint", NESTS, "partitions that overlap are cut, which `split` and the writers build on"),
    Step("split", NESTS, "borders apart from an interior that tests nothing", "device", when=_borders),
    Step(
        "split_wrapping", NESTS, "the same, and where indices are scaled", "cpu", by="split.run_wrapping", when=_borders
    ),
    Step("peel", COUNTED, "the same for loops in order", "cpu", when=_borders),
    Step("parity_partitions", NESTS, "in what has been cut, where remainders are known", "cpu"),
    Step("ranges", _any, "tests and remainders that are certain now go"),
    Step("distribute", LOOPS, "loops that put values where counters say have kernels, too", "device"),
    Step(
        "into",
        LOOPS,
        "loops that combine where the data say have kernels as with-loops",
        "device",
        by="scatter.run_device",
    ),
    Step("into_reals", LOOPS, "the same for sums of reals", "device", by="scatter.run_device_reals", when=_regrouping),
    Step("scans", LOOPS, "scans are with-loops", "device", by="stepping.run_scans", when=_regrouping),
    Step("exact_scans", LOOPS, "those of what is exact are", "device", by="stepping.run_exact_scans", when=_in_order),
    Step("dead_code", _any, "and what they were computed from"),
)
# Once, for what the CPU runs: where elements are computed.
PLACING = (
    Step("stepping", NESTS, "scans and reductions by index become loops in order, which the CPU knows", "cpu"),
    Step("behind", LOOPS, "maps around a scan are computed where it reads and writes", "cpu", by="stepping.run_around"),
    Step("accumulating", COUNTED, "loops that add to arrays become a sum for each element", "cpu"),
    Step("short_circuit", _any, "a part is computed where it goes", when=_circuits),
    Step("assigning", UPDATES, "a part that is assigned is computed where it goes", "cpu"),
    Step("assigning_cells", UPDATES, "the same by threads", "device", by="assigning.run_device"),
    Step("private", COUNTED, "scratch that a round fills is its own, so that rounds are independent", "cpu"),
    Step(
        "slices", CARRYING, "a row that all cells read is copied, so that the array can be changed where it lies", "cpu"
    ),
    Step("speculation", CONDITIONS, "vectors load what is there without asking whether it is needed", "cpu"),
    Step("carried", LOOPS, "what a loop computes anew from itself is changed where it lies", "cpu"),
    Step("dead_code", _any, "without what nobody carries any more", "cpu"),
    Step("scatter", COUNTED, "loops left over that add where the data say: in pieces of their own", "cpu"),
    Step("scatter_reals", COUNTED, "the same for sums of reals", "cpu", by="scatter.run_reals", when=_regrouping),
    Step("scalar_replacement", COUNTED, "what a round hands on stays in a register", "cpu"),
    Step(
        "branch_checks", CONDITIONS, "branches that differ in operands only become one, without a jump on data", "cpu"
    ),
    Step("carried_loads", COUNTED, "what lies at an index that rounds hand on is handed on with it", "cpu"),
    Step("argmin_strips", LOOPS, "last: what it makes of a loop nobody else knows", "cpu"),
)
FINISHING = (Step("detach", UPDATES, "nobody holds an array when it is updated, where updates stay"),)
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
    if not step.needs(unit):
        return unit
    unit = step.run(unit)
    if options.verify:
        from sacpy.jit.ir.graph_verify import verify

        verify(unit)
    return unit
