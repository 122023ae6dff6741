"""How the with-loops of a compiled function are laid out on a device: the part of `--explain` and `sacpy explain` that
is about GPUs.

In: a version of a function that ran on a device, or the graph of one that did not. Out: `LoopReport`s, and lines of
text: place, partitions, the chain of combinators with where it came from, grid and block, idle threads, bytes,
registers and shared memory, time; and for a with-loop that stays on the CPU, why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import TYPE_CHECKING

from sacpy.interp.memory import in_words
from sacpy.interp.values import dtype_of
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import place_of
from sacpy.jit.kernels import KernelOptions, Launch, Refused, build
from sacpy.jit.kernels.weights import weigh
from sacpy.jit.passes.mappings import is_program, stands
from sacpy.jit.reports.host_loops import host_loops
from sacpy.lang.source import NOWHERE, Span
from sacpy.nodes import Node
from sacpy.withloop.devices import DeviceLimits
from sacpy.withloop.errors import MappingError
from sacpy.withloop.occupancy import Occupancy, occupancy
from sacpy.withloop.rates import Estimate, Work, estimate

if TYPE_CHECKING:
    from sacpy.jit.device.loops import DeviceLoop
    from sacpy.jit.device.program import DeviceProgram, Placed
    from sacpy.jit.emission.assemble import Resources
    from sacpy.jit.ir.kernel import Kernel

Assembler = Callable[["Kernel"], "Resources | str"]  # what a kernel needs; or why that is not known
WORDS = {
    "partition": "partition",
    "default": "default element",
    "copy": "copied from the source",
    "pieces": "all pieces in one launch",
    "fold": "fold",
    "partials": "partial folds",
    "total": "fold of the partial ones",
    "rows": "folds of rows",
}


class LaunchReport(Node):
    """One launch. `what` it does; `space`, `chain` and `reasons` of its mapping, "" where it has none; `grid` and
    `block` as z, y, x; `threads` of all of them, with `each` cells, `idle` the cells without an index; `bits` of its
    indices; `resources` as the assembler says, or why that is unknown; `busy`: how much of the device it keeps so;
    `work`: what it does, and `least`: about how long the slowest part of that takes."""

    what: str
    space: str
    chain: str
    reasons: tuple[str, ...]
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    threads: int
    idle: int
    bits: int
    resources: Resources | str
    each: int = 1
    busy: Occupancy | None = None
    work: Work | None = None
    least: Estimate | None = None


class LoopReport(Node):
    """One with-loop. `span`: of its first partition; `operators`: what it makes; `partitions`: how many; `device` and
    `host`: its runs there, `seconds` of those on the device; `reason` for the last run on the host, or for all of them;
    `launches` for the shape it had last, one of `shapes`; `read` and `written`: bytes of the arrays that they touch.
    `gone`: the passes left nothing of it; `inside`: a pragma asks for a kernel, and it is computed in the body of
    another with-loop; `plain`: it is a loop, and no with-loop."""

    span: Span
    operators: str
    partitions: int
    device: int = 0
    host: int = 0
    seconds: float = 0.0
    reason: str = ""
    launches: tuple[LaunchReport, ...] = ()
    shapes: int = 0
    read: int = 0
    written: int = 0
    gone: bool = False
    inside: bool = False
    plain: bool = False


def of_program(program: DeviceProgram, assemble: Assembler, strict: bool) -> list[LoopReport]:
    """The with-loops of a function that ran on a device, those that stay on the host last, then its loops. `strict`:
    floating point keeps its order."""
    runtime = program.runtime
    found = [_loop(loop, placed, assemble) for loop, placed in zip(runtime.loops, runtime.placed)]
    stays = {id(s.span): s for s in program.plan.stays}
    found += [LoopReport(s.span, "", 0, reason=s.reason) for s in stays.values()]
    loops = host_loops(program.plan.unit, strict)
    return [
        *found,
        *inside(program.plan.unit),
        *(LoopReport(span, "", 0, reason=why, plain=True) for span, why in loops.items()),
    ]


def of_unit(unit: g.Unit, options: KernelOptions) -> list[LoopReport]:
    """The outer with-loops of a graph that did not run on a device, with why they cannot; or as they could."""
    functions = {f.name: f for f in unit.functions}
    found = []
    for f in unit.functions:
        for s in g.statements(f.body):
            if isinstance(s, g.Let) and isinstance(s.rhs, g.WithLoop):
                reason = "it was not run on the device"
                try:
                    build(s.rhs, s.targets, functions, options)
                except Refused as refusal:
                    reason = refusal.reason
                except MappingError as error:
                    reason = error.message
                found.append(LoopReport(place_of(s), _operators(s.rhs), len(s.rhs.partitions), reason=reason))
    return found


def gone(before: g.Unit, after: g.Unit) -> list[LoopReport]:
    """The with-loops of a graph that the passes left nothing of: fused into those that use them, unrolled, or found to
    be needless."""
    left = {_place(place_of(s)) for s in _with_loops(after)}
    found = {_place(place_of(s)): s for s in _with_loops(before) if place_of(s).source is not NOWHERE.source}
    return [
        LoopReport(place_of(s), _operators(s.rhs), len(s.rhs.partitions), gone=True)
        for place, s in found.items()
        if place not in left and isinstance(s.rhs, g.WithLoop)
    ]


def inside(unit: g.Unit) -> list[LoopReport]:
    """The with-loops in the bodies of others that a pragma asks for a kernel of: they may have come there with the
    function that they stand in."""
    found: dict[tuple[str, int, int], LoopReport] = {}
    for outer in _with_loops(unit):
        assert isinstance(outer.rhs, g.WithLoop)
        if is_program(outer.rhs):  # its with-loops are stages
            continue
        for p in outer.rhs.partitions:
            for s in g.statements(p.body):
                if isinstance(s, g.Let) and isinstance(s.rhs, g.WithLoop) and stands(s.rhs):
                    found.setdefault(
                        _place(place_of(s)),
                        LoopReport(place_of(s), _operators(s.rhs), len(s.rhs.partitions), inside=True),
                    )
    return list(found.values())


def _with_loops(unit: g.Unit) -> Iterator[g.Let]:
    """Inner ones too."""
    for f in unit.functions:
        yield from (s for s in g.statements(f.body) if isinstance(s, g.Let) and isinstance(s.rhs, g.WithLoop))


def _place(span: Span) -> tuple[str, int, int]:
    return span.source.name, span.start, span.end


def _operators(w: g.WithLoop) -> str:
    names: dict[type, str] = {g.Genarray: "genarray", g.Modarray: "modarray", g.Fold: "fold"}
    return ", ".join(o.word if isinstance(o, g.Propagate) else names[type(o)] for o in w.operators)


def _loop(loop: DeviceLoop, placed: Placed, assemble: Assembler) -> LoopReport:
    last = loop.last
    launches: tuple[LaunchReport, ...] = ()
    read = written = 0
    w = loop.placed.with_loop
    if last is not None:
        numbers = dict(zip(loop.template.inputs, last.numbers))
        device = loop.template.options.device
        launches = tuple(_launch(ready.launch, assemble, device, numbers) for ready in last.launches)
        written = sum(b.size * dtype_of(b.base).itemsize for b in last.plan.results)
        read = sum(_size(v.type, numbers) for v in loop.placed.inputs if isinstance(v.type, g.ArrayType))
    return LoopReport(
        place_of(loop.placed.let),
        _operators(w),
        len(w.partitions),
        placed.device,
        placed.host,
        placed.seconds,
        placed.reason,
        launches,
        len({numbers for numbers, _ in loop.prepared}),
        read,
        written,
    )


def _size(type: g.ArrayType, numbers: Mapping[str, int]) -> int:
    """The bytes of an array, extents that no launch needs to know counted as 1."""
    return int(dtype_of(type.base).itemsize) * prod(_number(e, numbers) for e in type.extents)


def _number(e: g.Atom, numbers: Mapping[str, int]) -> int:
    return int(e.value) if isinstance(e, g.Const) else numbers.get(e.name, 1)


def _launch(launch: Launch, assemble: Assembler, device: DeviceLimits, numbers: Mapping[str, int]) -> LaunchReport:
    what = WORDS.get(launch.purpose, launch.purpose) + ("" if launch.partition is None else f" {launch.partition + 1}")
    m = launch.mapping
    laid_out = launch.laid_out
    idle = laid_out.idle if laid_out is not None else 0
    each = 1 if laid_out is None else prod(laid_out.placement.each)
    needs = assemble(launch.kernel)
    busy = None
    if not isinstance(needs, str):
        from sacpy.jit.emission.geometry import fixed_dynamic_bytes

        shared = needs.shared_bytes + fixed_dynamic_bytes(launch.kernel)
        busy = occupancy(device, prod(launch.block), needs.registers, shared, prod(launch.grid))
    work = weigh(launch, numbers)
    return LaunchReport(
        what, "" if m is None else f"{m.space}, {m.space.size} {'index' if m.space.size == 1 else 'indices'}",
        "" if m is None else str(m.chain), launch.reasons,
        launch.grid, launch.block, launch.threads if laid_out is None else laid_out.threads // each, idle,
        launch.kernel.bits,
        needs, each, busy, work, estimate(device, work, prod(launch.grid), prod(launch.block), busy),
    )  # fmt: skip


# ---------------------------------------------------------------- text


def lines(reports: list[LoopReport], home: Callable[[Span], str]) -> Iterator[str]:
    """The reports as text, each with-loop with the function whose text it stands in."""
    for r in reports:
        what = "loop" if r.plain else "with-loop"
        yield f"  {what} in {home(r.span).removeprefix('_MAIN::')}, line {r.span.line}" + (
            f": {r.operators} of {r.partitions} partition{'s' * (r.partitions != 1)}" if r.operators else ""
        )
        if r.gone:
            yield "    no longer there: fused into those that use it, unrolled, or needless"
            continue
        if r.inside:
            yield (
                "    its pragmas lay out nothing: it is computed in the body of another with-loop, all of it by the "
                "thread that has the index there"
            )
            continue
        if not r.launches and r.device:
            yield f"    {_runs(r.device)} on the device, the last one with nothing to launch"
            continue
        if not r.launches:
            yield f"    stays on the CPU: {r.reason or 'it has not run yet'}"
            continue
        host = f", {r.host} on the CPU ({r.reason})" if r.host else ""
        others = f", for {r.shapes} shapes, the last one:" if r.shapes > 1 else ""
        yield (
            f"    {_runs(r.device)} on the device in {r.seconds:.4f} s{host}; reads {in_words(r.read)}, writes "
            f"{in_words(r.written)}{others}"
        )
        for launch in r.launches:
            yield from _launch_lines(launch)


def _runs(count: int) -> str:
    return f"{count} run{'s' * (count != 1)}"


def _launch_lines(launch: LaunchReport) -> Iterator[str]:
    yield f"    {launch.what}" + (f": {launch.space}" if launch.space else "")
    if launch.chain:
        yield f"      {launch.chain}"
    yield from (f"        {reason}" for reason in launch.reasons)
    cells = launch.threads * launch.each
    idle = f", {launch.idle} of them idle ({launch.idle / cells:.0%})" if launch.idle and cells else ""
    if launch.each > 1:
        idle = f" with {launch.each} cells each{idle.replace('idle', 'not there')}"
    yield (
        f"      grid {_extents(launch.grid)}, block {_extents(launch.block)}: {launch.threads} threads{idle}; "
        f"{launch.bits}-bit indices"
    )
    needs = launch.resources
    if isinstance(needs, str):
        yield f"      registers unknown: {needs}"
    else:
        spilled = (
            f", {needs.spill_stores + needs.spill_loads} bytes spilled"
            if needs.spill_stores + needs.spill_loads
            else ""
        )
        yield (
            f"      {needs.registers} registers a thread, {needs.shared_bytes} bytes of shared memory a block{spilled}"
        )
    if launch.busy is not None:
        b = launch.busy
        yield (
            f"      {b.warps} of {b.most} warps on a multiprocessor, in {b.blocks} blocks, limited by {b.limit}; "
            f"{b.waves:.2f} waves"
        )
    if launch.work is not None:
        yield f"      {_work(launch.work)}"
    if launch.least is not None:
        t = launch.least
        yield (
            f"      about {_time(t.seconds)}, as {t.limit} takes so long; "
            f"multiprocessors have blocks for {t.tail:.0%} of that"
        )


def _work(w: Work) -> str:
    kinds = (
        (w.double, "doubles"),
        (w.single, "floats"),
        (w.multiplied_double, "doubles by tensor cores"),
        (w.multiplied_single, "floats by tensor cores"),
    )
    reals = "".join(f", {n:.3g} operations on {what}" for n, what in kinds if n)
    about = "about " if w.guessed else ""
    return (
        f"{about}{w.instructions:.3g} instructions{reals}; {in_words(round(w.touched))} of memory touched, "
        f"{in_words(round(w.requested))} asked for in sectors"
    )


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:.3g} us" if seconds < 1e-3 else f"{seconds * 1e3:.3g} ms"


def _extents(extents: tuple[int, int, int]) -> str:
    return " x ".join(map(str, extents))


__all__ = ["LaunchReport", "LoopReport", "lines", "of_program", "of_unit"]
