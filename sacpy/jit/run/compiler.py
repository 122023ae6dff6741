"""From a function of core to native code that can be called: specialise, optimise, lower, compile, load; or out of the
cache.

In: a program, the key of a function, the kind of its arguments. Out: `Compiled`, with a report of what each stage made
and how long it took. Raises `Unsupported` where the specialiser does not take the function. What comes out of the cache
is only loaded: nothing is specialised then, and no optimiser runs.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias

from sacpy.base.plain import Packing, Unpacked
from sacpy.jit.beside import checkpoint
from sacpy.jit.failures import Unsupported
from sacpy.jit.ir.graph import Unit, statements
from sacpy.jit.kinds import Kind, is_wide
from sacpy.jit.options import Options
from sacpy.jit.run.contract import CompileContext, Compiled
from sacpy.jit.run.report import Counts, Report
from sacpy.lang.core import Program
from sacpy.nodes import replace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sacpy.jit.host.signature import Signature as NativeSignature
    from sacpy.jit.ir.parts import Border
    from sacpy.jit.schedule.loops import Written
    from sacpy.jit.specialise import Specialiser

LARGE = 80  # statements of a graph from which on its code is mostly too large to be translated in this process
LITTLE = "large: translated with little effort"
KERNEL_STAGES = ("kernel", "nvvm", "ptx", "sass")
STAGES = ("core", "graph", "memory", "schedule", "llvm", "asm", *KERNEL_STAGES)


class Clock:
    """Times of stages, in order."""

    def __init__(self) -> None:
        self.stages: list[tuple[str, float]] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Inside, a stage is at work."""
        checkpoint(name)
        start = perf_counter()
        yield
        self.stages.append((name, perf_counter() - start))


def compile_unit(
    program: Program, key: str, kind: Kind, name: str, tools: CompileContext, border: Border | None = None
) -> Compiled:
    """A function for arguments of this kind, ready to be called; kept under that name. `border`: where arrays are not
    all dense that go in and out. Raises `Unsupported`."""
    clock = Clock()
    delivered = tools.delivered.pop(name, None)
    cached = False
    if delivered is not None:
        stages, kept = _packing().unpacked(delivered)
        clock.stages.extend(stages)
    else:
        with clock.stage("look up"):
            kept = _kept(tools.cache.read(name))
        cached = kept is not None
        if not cached:
            from sacpy.jit.host.loading import begin_runtime

            begin_runtime()
            kept = _tried(program, key, kind, tools, clock, border)
    if not cached and delivered is None:
        with clock.stage("keep"):
            tools.cache.write(name, _packing().packed(kept))
    if isinstance(kept, str):
        raise Unsupported(kept)
    code, signature, report = kept
    with clock.stage("load"):
        from sacpy.jit.host.native import load

        function = load(code, signature, tools.options, tools.context)
    return Compiled(
        function.call,
        replace(report, stages=tuple(clock.stages), cached=cached),
        recursive=function.signature.recursive,
        direct=function.like,
        giving=function.giving,
        gate=function.gate,
    )


def made_apart(program: Program, key: str, kind: Kind, name: str, tools: CompileContext) -> bytes:
    """The same in another process, up to what only this one can do (`CompileContext.delivered`)."""
    clock = Clock()
    kept = _tried(program, key, kind, tools, clock)
    tools.cache.write(name, _packing().packed(kept))
    return _packing().packed((tuple(clock.stages), kept))


def load() -> None:
    """Loads what compiling takes, before there is anything to compile."""
    from sacpy.jit.host import compile, lowering  # noqa: F401
    from sacpy.jit.passes import effort  # noqa: F401
    from sacpy.jit.specialise import Specialiser  # noqa: F401


def load_native() -> None:
    """Loads what calling native code takes, before there is any."""
    from sacpy.jit.host import native  # noqa: F401
    from sacpy.jit.host.loading import runtime

    runtime()


def _tried(
    program: Program, key: str, kind: Kind, tools: CompileContext, clock: Clock, border: Border | None = None
) -> Kept:
    try:
        return _made(tools.specialiser(program), program, key, kind, tools.options, clock, border)
    except Unsupported as refusal:
        return refusal.reason


# code with what is needed to call it; or why there is none
Kept: TypeAlias = "tuple[bytes, NativeSignature, Report] | str"


def _kept(data: bytes | None) -> Kept | None:
    """What the cache held."""
    if data is None:
        return None
    try:
        found: Kept = _packing().unpacked(data)
    except Unpacked:
        return None
    return found


@functools.cache
def _packing() -> Packing:
    from sacpy.jit.host.signature import Signature
    from sacpy.jit.ir.graph import Input, Output

    return Packing(Signature, Input, Output, Report, Counts)


def _made(
    specialiser: Specialiser,
    program: Program,
    key: str,
    kind: Kind,
    options: Options,
    clock: Clock,
    border: Border | None = None,
) -> tuple[bytes, NativeSignature, Report]:
    """A function's code, what is needed to call it, and the report."""
    from sacpy.jit.host.compile import begin_compiler, compile_object, is_huge
    from sacpy.jit.host.lowering import lower
    from sacpy.jit.host.signature import Signature as NativeSignature
    from sacpy.jit.passes import effort
    from sacpy.jit.run.measure import count, parallel
    from sacpy.jit.schedule.summary import told

    before = specialised(specialiser, program, key, kind, options, clock)
    if sum(1 for f in before.functions for _ in statements(f.body)) >= LARGE:
        begin_compiler()
    unit = optimised(before, options, clock)
    if border is not None:
        unit = _bordered(unit, border, len(program.signature(key).params))
        _verified(unit, options)
    written: Written = {}
    with clock.stage("lower"):
        text = lower(unit, options, written=written)
    with clock.stage("compile"):
        code = compile_object(text, options)
    notes = (*unit.notes, *effort(before), *([LITTLE] if is_huge(text) else []))
    size, loops = len(code), told(unit, written, options.strict_fp)
    report = Report(key, kind, (), count(before), count(unit), size, parallel(text), False, notes, unit.cuts, loops)
    return code, NativeSignature.of(unit), report


def _bordered(unit: Unit, border: Border, count: int) -> Unit:
    """A unit with `count` arguments, for a border. Raises `Unsupported`."""
    if border.views:
        from sacpy.jit.passes.view_results import viewed

        unit = viewed(unit)
    if border.layouts:
        from sacpy.jit.passes.strided_arguments import strided

        unit = strided(unit, dict(border.layouts), count)
    return unit


def specialised(
    specialiser: Specialiser,
    program: Program,
    key: str,
    kind: Kind,
    options: Options,
    clock: Clock,
    device: bool = False,
) -> Unit:
    """The graph of a function for arguments of this kind. Raises `Unsupported`."""
    with clock.stage("specialise"):
        unit = specialiser.specialise(key, arguments(program, key, kind), is_wide(kind), device)
    _verified(unit, options)
    return unit


def optimised(unit: Unit, options: Options, clock: Clock, device: bool = False) -> Unit:
    """The graph after the passes. `device`: with-loops that have a mapping are to run as it says."""
    from sacpy.jit.passes import mappings, optimise

    with clock.stage("optimise"):
        unit = optimise(unit if device else mappings.run(unit), options, host=not device)
    _verified(unit, options)
    return unit


def arguments(program: Program, key: str, kind: Kind) -> Sequence[Any]:
    """A kind as the specialiser wants it."""
    from sacpy.jit.specialise import Argument

    return [Argument(slot.base, extents) for slot, extents in zip(program.signature(key).params, kind)]


def emitted(program: Program, key: str, kind: Kind, options: Options, stage: str) -> str:
    """What a stage makes of a function, as text: "core", "graph", "memory" (where its arrays lie), "schedule"
    (how its loops run), "llvm" (as lowered) or "asm"; of its kernels "kernel", "nvvm", "ptx" or "sass". Raises
    `Unsupported`."""
    if stage == "core":
        from sacpy.lang.core_printer import print_function

        return print_function(program.function(key))
    from sacpy.jit.ir.graph_printer import print_unit

    unit = compiled_unit(program, key, kind, options, device=stage in KERNEL_STAGES)
    if stage == "graph":
        return print_unit(unit)
    if stage == "memory":
        from sacpy.jit.host.memory_plan import memory_text

        return memory_text(unit, options)
    if stage in KERNEL_STAGES:
        from sacpy.jit.emission.stages import kernels_text

        return kernels_text(unit, stage, options)
    from sacpy.jit.host.lowering import lower

    written: Written = {}
    text = lower(unit, options, written=written)
    if stage == "schedule":
        from sacpy.jit.schedule.schedule_printer import schedule_text

        return schedule_text(unit, written)
    if stage == "llvm":
        return text
    from sacpy.jit.host.compile import assembly

    return assembly(text, options)


def compiled_unit(program: Program, key: str, kind: Kind, options: Options, device: bool = False) -> Unit:
    """The graph of a function, behind all passes. Raises `Unsupported`."""
    from sacpy.jit.specialise import Specialiser

    clock = Clock()
    plain = specialised(Specialiser(program), program, key, kind, options, clock, device=device)
    return optimised(plain, options, clock, device=device)


def _verified(unit: Unit, options: Options) -> None:
    if options.verify:
        from sacpy.jit.ir.graph_verify import verify

        verify(unit)
