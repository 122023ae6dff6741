"""`--emit kernel|nvvm|ptx|sass`: the kernels of a function's with-loops, as text.

In: a function's graph, a stage, options. Out: the text of each kernel, led by what it is for; or why a with-loop has
none. Kernels serve all extents of one form, but which ones a with-loop needs is known only with bounds: extents that no
argument's type gives are taken as `SAMPLE`, and the text says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sacpy.jit.ir.graph import Block, Let, Unit, WithLoop, blocks
from sacpy.jit.ir.kernel import Kernel
from sacpy.jit.ir.rewrite import place_of
from sacpy.jit.kernels import KernelOptions, Refused, Template, build
from sacpy.jit.kernels.residence import Residence
from sacpy.jit.options import Options
from sacpy.withloop.devices import DEVICES
from sacpy.withloop.errors import MappingError

STAGES = ("kernel", "nvvm", "ptx", "sass")
SAMPLE = 1000
EMULATED = "sm_90"
MARKS = {"nvvm": ";"}


def kernels_text(unit: Unit, stage: str, options: Options) -> str:
    """What a stage makes of the kernels of a unit; or which tool it lacks."""
    from sacpy.jit.emission.assemble import emitted
    from sacpy.jit.emission.toolchain import AssemblyError

    device = options.device or EMULATED
    mark = MARKS.get(stage, "//")
    functions = {f.name: f for f in unit.functions}
    templates: dict[int, Template] = {}

    def judge(let: Let) -> str:
        assert isinstance(let.rhs, WithLoop)
        try:
            found = build(let.rhs, let.targets, functions, KernelOptions(DEVICES[device], options.strategy))
        except Refused as refusal:
            return refusal.reason
        except MappingError as error:
            return error.message
        templates[id(let)] = found
        return ""

    residence, texts = Residence(unit, judge), []
    for let in _outer(unit):
        head = f"{mark} with-loop, line {place_of(let).line}"
        reason = residence.reason(let)
        if reason:
            texts.append(f"{head}: stays on the CPU: {reason}\n")
            continue
        try:
            template = templates[id(let)]
            note = f" (for {', '.join(template.inputs)} = {SAMPLE})" if template.inputs else ""
            for kernel, purpose in _kernels(template).items():
                texts.append(
                    f"{head}: {purpose}{note}\n{emitted(kernel, stage, device, strict=options.strict_fp).rstrip()}\n"
                )
        except AssemblyError as failure:
            texts.append(f"{head}: {failure.reason}\n")
        except MappingError as error:
            texts.append(f"{head}: stays on the CPU: {error.message}\n")
    return "\n".join(texts) or f"{mark} no with-loop\n"


def _outer(unit: Unit) -> Iterator[Let]:
    """With-loops that do not stand in another one's body."""

    def inside(block: Block) -> Iterator[Let]:
        for s in block.statements:
            if isinstance(s, Let) and isinstance(s.rhs, WithLoop):
                yield s
            elif isinstance(s, Let):
                for inner in blocks(s.rhs):
                    yield from inside(inner)

    for f in unit.functions:
        yield from inside(f.body)


def _kernels(template: Template) -> Mapping[Kernel, str]:
    """The kernels that a with-loop launches, each once, with what for."""
    plan = template.plan((SAMPLE,) * len(template.inputs))
    found: dict[Kernel, str] = {}
    for launch in plan.launches:
        what = launch.purpose if launch.partition is None else f"{launch.purpose} {launch.partition + 1}"
        reason = f", {launch.mapping.chain}" if launch.mapping is not None else ""
        found.setdefault(launch.kernel, what + reason)
    return found


__all__ = ["STAGES", "kernels_text"]
