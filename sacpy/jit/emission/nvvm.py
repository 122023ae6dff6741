"""A kernel as NVVM IR: text that libNVVM (the LLVM 7 dialect and the modern one) and LLVM's NVPTX take alike.

In: a kernel. Out: `DeviceText`: the module's text, the name of its function, and what a launch passes: the kernel's
parameters in order (arrays as addresses; bool and char as bytes), one address for each array of scratch memory
(`geometry.scratch_bytes` says how large), the address of the check word and of the count of blocks behind it.
"""

from __future__ import annotations

import re

from sacpy.jit.emission.device_machine import AXES, DeviceMachine
from sacpy.jit.emission.lowering import Lowering, Site
from sacpy.jit.ir.graph import Const
from sacpy.jit.ir.kernel import Kernel
from sacpy.jit.llvm.legal import Module
from sacpy.nodes import Node

LAYOUT = (
    "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-"
    "v32:32:32-v64:64:64-v128:128:128-n16:32:64"
)
TRIPLE = "nvptx64-nvidia-cuda"


class DeviceText(Node):
    """`sites[n - 1]` is the statement that the check word names by n. `uses_libdevice`: whether `__nv_*` functions must
    be linked in. `strict`: products and sums are not contracted."""

    name: str
    text: str
    sites: tuple[Site, ...]
    uses_libdevice: bool
    strict: bool


def device_text(kernel: Kernel, *, strict: bool = False) -> DeviceText:
    """A kernel's module. With `strict`, + - * / and sqrt are bit-equal to the interpreter's; otherwise a product and a
    sum may become one operation."""
    module = Module()
    name = function_name(kernel)
    machine = DeviceMachine(kernel, module, name, strict=strict)
    lowering = Lowering(kernel, machine)
    lowering.bind_parameters()
    lowering.body()
    machine.code.end("ret void")
    machine.code.finish()
    _annotate(module, kernel, name, [type_ for type_, _ in machine.params])
    text = f'target datalayout = "{LAYOUT}"\ntarget triple = "{TRIPLE}"\n{module.text()}'
    return DeviceText(name, text, tuple(lowering.sites), "@__nv_" in text, strict)


def function_name(kernel: Kernel) -> str:
    """The kernel's name as a plain identifier."""
    return "sac_" + re.sub(r"[^A-Za-z0-9_]", "_", kernel.name)


def _annotate(module: Module, kernel: Kernel, name: str, params: list[str]) -> None:
    """Marks the function as a kernel, with the block's extents where they are constants."""
    plain = ", ".join(re.sub(r"(?<=\*) .*", "", p) for p in params)
    function = f"void ({plain})* @{name}"
    notes = [module.node(f'!{{{function}, !"kernel", i32 1}}')]
    if kernel.block and all(isinstance(e, Const) for e in kernel.block):
        bounds = [
            f'!"maxntid{axis}", i32 {int(e.value)}'
            for axis, e in zip(AXES, reversed(kernel.block))
            if isinstance(e, Const)
        ]
        bounds += [f'!"minctasm", i32 {kernel.resident}'] if kernel.resident else []
        notes.append(module.node(f"!{{{function}, {', '.join(bounds)}}}"))
    version = module.node("!{i32 2, i32 0}")
    module.metadata += [f"!nvvm.annotations = !{{{', '.join(notes)}}}", f"!nvvmir.version = !{{{version}}}"]


__all__ = ["DeviceText", "device_text", "function_name"]
