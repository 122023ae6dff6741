"""What the stages behind the graph make of functions of `docs/how-it-works.md`: mappings, kernels, launches, the host's
part, what the emulator finds.

In: graphs, and what the document says of a stage. Out: text. `stages` calls these.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sacpy.jit.cache import Cache
from sacpy.jit.device.context import Device, Hardware
from sacpy.jit.device.emulated import EmulatorMachine
from sacpy.jit.device.weigh import Policy
from sacpy.jit.emission.assemble import emitted
from sacpy.jit.emission.emulator import Emulated
from sacpy.jit.ir import kernel as k
from sacpy.jit.ir.graph import ArrayType, Const, Let, Unit, WithLoop, statements
from sacpy.jit.ir.kernel_printer import print_kernel
from sacpy.jit.kernels import KernelOptions, Launch, Template, build
from sacpy.jit.run.contract import CompileContext
from sacpy.jit.run.device_compiler import device_program
from sacpy.jit.run.on_demand import OnDemand
from sacpy.nodes import replace
from sacpy.withloop.devices import DEVICES
from sacpy.withloop.pragmas import GpuKernel, parse
from sacpy.withloop.spaces import IndexSpace

DEVICE = "sm_90"


def chain(words: str) -> str:
    """The spaces that a chain goes through, and the way back of one thread: `LOWER UPPER BLOCK THREAD CHAIN`."""
    lower, upper, block, thread, text = words.split(" ", 4)
    pragma = parse(f"gpukernel {text}")
    assert isinstance(pragma, GpuKernel)
    mapping = pragma.chain.map(IndexSpace.of([int(lower)], [int(upper)]), DEVICES[DEVICE])
    rows = [
        ("Gen", mapping.space),
        *((f"{s.combinator.name}({s.combinator.arguments()})".removesuffix("()"), s.after) for s in mapping.stages),
    ]
    lines = [f"{name:<14} {list(space.lower)} <= iv < {list(space.upper)}" for name, space in rows]
    lines.append(
        f"{f'GridBlock({mapping.chain.grid_block.axes})':<14} grid {' x '.join(map(str, mapping.grid))}, block "
        f"{' x '.join(map(str, mapping.block))}: {mapping.threads} threads, {mapping.idle} of them idle"
    )
    index = next(i for b, t, i in mapping if b[-1] == int(block) and t[-1] == int(thread))
    lines.append(f"thread {thread} of block {block} has the index {list(index) if index is not None else 'none'}")
    return "".join(f"{line}\n" for line in lines)


def launches(unit: Unit, extent: int) -> str:
    """What is launched for a vector of so many elements."""
    lines = []
    for launch in _launches(_template(unit), extent):
        what = launch.purpose if launch.partition is None else f"{launch.purpose} {launch.partition}"
        lines.append(
            f"{what}: {launch.mapping.chain if launch.mapping else ''}, grid {' x '.join(map(str, launch.grid))}, "
            f"block {' x '.join(map(str, launch.block))}"
        )
        lines.append(f"    {launch.kernel.name}({', '.join(map(str, launch.arguments))})")
    return "".join(f"{line}\n" for line in lines)


def kernel(unit: Unit, extent: int) -> str:
    """The first kernel for a vector of so many elements, each piece of a with-loop in a launch of its own."""
    return print_kernel(_first(unit, extent).kernel)


def nvvm(unit: Unit, extent: int) -> str:
    """The same as NVVM IR."""
    return emitted(_first(unit, extent).kernel, "nvvm", DEVICE)


def without_barrier(unit: Unit, extent: int) -> str:
    """What check mode finds first in that kernel when its first barrier is left out."""
    launch = _first(unit, extent)
    body, gone = _without_barrier(launch.kernel.body)
    assert gone
    broken = replace(launch.kernel, body=body)
    outcome = Emulated(broken, check=True).launch(list(_arguments(broken, launch, extent)))
    return f"{outcome.findings[0]}\n"


def host(unit: Unit) -> str:
    """The host's part of a device program."""
    device, tools = _emulator(EmulatorMachine(DEVICES[DEVICE]))
    made = device_program(unit, tools, device)
    assert made is not None
    return f"{made.text.strip()}\n"


def moved(unit: Unit, extent: int, rounds: int) -> str:
    """What a call with a vector and a number moves and launches."""
    machine = EmulatorMachine(DEVICES[DEVICE])
    device, tools = _emulator(machine)
    made = device_program(unit, tools, device)
    assert made is not None
    made.call((np.zeros(extent), rounds))
    counts = device.memory.transfers
    rows = (
        f"to the device  {counts.bytes_in} bytes in {counts.times_in} transfers",
        f"launches       {machine.launches}",
        f"to the host    {counts.bytes_out} bytes in {counts.times_out} transfers",
        f"blocks         {counts.allocated} allocated, {counts.reused} used again",
    )
    return "".join(f"{row}\n" for row in rows)


def _emulator(machine: EmulatorMachine) -> tuple[Device, CompileContext]:
    engine = OnDemand("emulator", eager=True, defects=True, cache=Cache(None)).engine
    device = Device(Hardware(machine), Policy(always=True))
    engine.tools.device = device
    return device, engine.tools


def _template(unit: Unit, *, merge: bool = True) -> Template:
    """The function's with-loop as launches."""
    (let,) = (s for s in statements(unit.root.body) if isinstance(s, Let) and isinstance(s.rhs, WithLoop))
    return build(
        let.rhs,
        let.targets,
        {f.name: f for f in unit.functions},
        KernelOptions(DEVICES[DEVICE], merge=merge),
        unit.root.name,
    )


def _first(unit: Unit, extent: int) -> Launch:
    return _launches(_template(unit, merge=False), extent)[0]


def _launches(template: Template, extent: int) -> tuple[Launch, ...]:
    """For a vector of so many elements; what else bounds depend on is its last index."""
    return template.plan(tuple(extent if name.endswith("n") else extent - 1 for name in template.inputs)).launches


def _without_barrier(body: tuple[k.BlockStmt, ...]) -> tuple[tuple[k.BlockStmt, ...], bool]:
    for at, s in enumerate(body):
        if isinstance(s, k.Barrier):
            return (*body[:at], *body[at + 1 :]), True
        if isinstance(s, k.BlockFor):
            inner, gone = _without_barrier(s.body)
            if gone:
                return (*body[:at], replace(s, body=inner), *body[at + 1 :]), True
    return body, False


def _arguments(kernel: k.Kernel, launch: Launch, extent: int) -> Iterator[Any]:
    numbers = {p.name: a if isinstance(a, int) else extent for p, a in zip(kernel.params, launch.arguments)}
    for p in kernel.params:
        yield (
            np.zeros([int(e.value) if isinstance(e, Const) else numbers[e.name] for e in p.type.extents])
            if isinstance(p.type, ArrayType)
            else numbers[p.name]
        )
