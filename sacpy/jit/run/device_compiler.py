"""The device targets' compiler, with the face of the host's: from a function of core to something that is called with
values.

In: a program, the key of a function, the kind of its arguments. Out: `Compiled`. What comes out of the passes is kept,
so that a second run starts there; kernels are made when a shape first needs them, and kept too. A function without a
with-loop that can run on the device is the host target's as a whole.
"""

from __future__ import annotations

import functools
from typing import Any

from sacpy.base.digests import new_digest
from sacpy.base.plain import Packing, Unpacked
from sacpy.interp.ownership import protocol
from sacpy.interp.values import Value
from sacpy.jit.analysis.ints import Ints
from sacpy.jit.device.context import Device
from sacpy.jit.device.loops import DeviceLoop
from sacpy.jit.device.placement import place
from sacpy.jit.device.program import DeviceProgram, stays
from sacpy.jit.failures import Unsupported
from sacpy.jit.ir import graph as graphs
from sacpy.jit.ir.graph import Fold, Let, Unit, WithLoop, statements
from sacpy.jit.kernels import KernelOptions, Refused, Template, build
from sacpy.jit.kernels.by_index import reorders
from sacpy.jit.kernels.launches import ONE_THREAD
from sacpy.jit.kinds import Kind
from sacpy.jit.passes.mappings import multiplies
from sacpy.jit.run.compiler import Clock, compile_unit, optimised, specialised
from sacpy.jit.run.contract import CompileContext, Compiled
from sacpy.jit.run.measure import count
from sacpy.jit.run.report import Counts, Report
from sacpy.lang.ast import Pragma
from sacpy.lang.core import Program
from sacpy.lang.source import STDLIB, Source, Span, library_place, library_source
from sacpy.lang.types import REAL
from sacpy.nodes import replace
from sacpy.withloop.errors import MappingError

LARGE = 1 << 20  # bytes of arguments from which on a call may be worth the GPU
LONG = 512  # an int argument that may be a large extent
_LIBRARY = str(STDLIB)


def compile_for_device(
    program: Program, key: str, kind: Kind, name: str, tools: CompileContext, device: Device
) -> Compiled:
    """A function for arguments of this kind on a device. Raises `Unsupported`."""
    clock = Clock()
    with clock.stage("look up"):
        graph = f"{name}-{_of_text(program, key)}"
        kept = _kept(tools.cache.read(graph))
    cached = kept is not None
    if kept is None:
        kept = _graph(program, key, kind, tools, clock)
        with clock.stage("keep"):
            tools.cache.write(graph, packing().packed(kept))
    if isinstance(kept, str):
        raise Unsupported(kept)
    unit, report = kept
    with clock.stage("place"):
        gives = protocol(program.signature(key)).gives
        # of a wide unit there may be more indices along an axis than kernels count
        made = None if unit.root.wide else device_program(unit, tools, device, gives)
    if made is None:
        return compile_unit(program, key, kind, name, tools)
    return Compiled(made.call, replace(report, stages=tuple(clock.stages), cached=cached), owned=False, device=made)


def _of_text(program: Program, key: str) -> str:
    """What else a kept graph depends on: its with-loops know their places, which is the file with its text."""
    source = program.signature(key).span.source
    whole = f"{source.name}\0{source.text}".encode("utf-8", "surrogateescape")
    return f"graph-{new_digest(whole).hexdigest()[:16]}"


def _graph(program: Program, key: str, kind: Kind, tools: CompileContext, clock: Clock) -> tuple[Unit, Report] | str:
    """A function's graph after the passes, or why there is none."""
    try:
        before = specialised(tools.specialiser(program), program, key, kind, tools.options, clock, device=True)
    except Unsupported as refusal:
        return refusal.reason
    unit = optimised(before, tools.options, clock, device=True)
    return unit, Report(key, kind, (), count(before), count(unit), 0, 0)


@functools.cache
def packing() -> Packing:
    """What packs graphs. Sources are packed with their texts, as those that come from Python or a prompt are in no
    file; the library's are read again."""
    from sacpy.jit.ir.associative import Combine

    texts = {Source: ("text", _of_source, _source)}
    return Packing(graphs, Combine, Report, Counts, Pragma, Span, special=texts)


def _of_source(source: Source) -> tuple[str, ...]:
    return (library_place(source),) if source.name.startswith(_LIBRARY) else (source.name, source.text)


def _source(parts: tuple[str, ...]) -> Source:
    return library_source(*parts) if len(parts) == 1 else Source(*parts)


def _kept(data: bytes | None) -> tuple[Unit, Report] | str | None:
    if data is None:
        return None
    try:
        found: tuple[Unit, Report] | str = packing().unpacked(data)
    except Unpacked:
        return None
    return found


_IN_ORDER = "with --strict-fp floating-point numbers are combined in the order that the program says"


def device_program(
    unit: Unit, tools: CompileContext, device: Device, keep: tuple[int, ...] = ()
) -> DeviceProgram | None:
    """A unit as a program for a device; None where none of its with-loops can run there."""
    options = KernelOptions(device.machine.limits, tools.options.strategy)
    if tools.options.strict_fp:
        options = replace(options, row_length=ONE_THREAD)
    functions = {f.name: f for f in unit.functions}
    templates: dict[int, Template] = {}
    around = [(Ints(f), {id(s) for s in statements(f.body)}) for f in unit.functions]

    def judge(let: Let) -> str:
        assert isinstance(let.rhs, WithLoop)
        if tools.options.strict_fp and _reorders(let.rhs):
            return _IN_ORDER
        if tools.options.strict_fp and multiplies(let.rhs):
            return stays(let.rhs, _IN_ORDER, device.policy.transfers)
        try:
            templates[id(let)] = build(
                let.rhs,
                let.targets,
                functions,
                options,
                ints=next(known for known, inside in around if id(let) in inside),
            )
        except Refused as refusal:
            return stays(let.rhs, refusal.reason, device.policy.transfers)
        except MappingError as error:
            return stays(let.rhs, error, device.policy.transfers)
        return ""

    plan = place(unit, judge, tools)
    if not plan.loops:
        return None
    loops = [DeviceLoop(placed, templates[id(placed.let)], device.machine) for placed in plan.loops]
    return DeviceProgram(plan, device, loops, keep)


def _reorders(w: WithLoop) -> bool:
    """Whether threads would combine floating-point numbers in another order than the program says."""
    return any(n.base in REAL for o in w.operators if isinstance(o, Fold) for n in o.neutrals) or reorders(w)


class HostOrDevice:
    """A function under "auto" on a computer with a GPU: native on the host, and a device program as well once a call
    looks large enough."""

    def __init__(self, host: Compiled, make: Any) -> None:
        self.host = host
        self._make = make
        self._device: DeviceProgram | None = None
        self._tried = False

    def __call__(self, values: tuple[Value, ...]) -> tuple[Value, ...]:
        """Calls one of the two."""
        if not _large(values):
            return self.host.call(values)
        if not self._tried:
            self._tried = True
            self._device = self._make()
        return self.host.call(values) if self._device is None else self._device.call(values)


def _large(values: tuple[Value, ...]) -> bool:
    return any(v >= LONG if type(v) is int else getattr(v, "nbytes", 0) >= LARGE for v in values)
