"""NVVM IR to PTX by LLVM's NVPTX target, for machines without libNVVM.

In: a module's text, an architecture. Out: PTX.

On some input LLVM ends the process instead of reporting an error, so only modules that call nothing but known
intrinsics and libdevice's functions come near it.
"""

from __future__ import annotations

import functools
from typing import Any

from sacpy.jit.emission import toolchain
from sacpy.jit.emission.libdevice import PREFIX
from sacpy.jit.emission.nvvm import LAYOUT, TRIPLE, DeviceText
from sacpy.jit.emission.toolchain import AssemblyError

# those that every supported LLVM knows; PTX for one runs on later ones
GENERATIONS = (75, 80, 86, 87, 89, 90, 100, 120)
INTRINSICS = (
    "llvm.nvvm.read.ptx.sreg.",
    "llvm.nvvm.barrier",
    "llvm.nvvm.membar.gl",
    "llvm.nvvm.mul.rn.",
    "llvm.nvvm.shfl.sync.",
)


def processor(arch: str) -> str:
    """The newest processor that LLVM knows and that is no newer than this one. Raises `AssemblyError`."""
    digits = "".join(c for c in arch.removeprefix("sm_") if c.isdigit())
    known = [g for g in GENERATIONS if digits and g <= int(digits)]
    if not known:
        raise AssemblyError("ptx", f"{arch} is none of the processors from sm_{GENERATIONS[0]} on")
    return f"sm_{known[-1]}"


def version() -> str:
    """ "NVPTX" and the version of LLVM."""
    import llvmlite.binding as llvm

    return f"NVPTX of LLVM {'.'.join(map(str, llvm.llvm_version_info))}"


def ptx(text: DeviceText, arch: str) -> str:
    """A module's PTX for an architecture ("sm_90"). Raises `AssemblyError`."""
    import llvmlite.binding as llvm

    machine = _target().create_target_machine(cpu=processor(arch), opt=3)
    try:
        module = llvm.parse_assembly(text.text)
        module.verify()
    except RuntimeError as error:
        raise AssemblyError("ptx", str(error)) from None
    _refuse_unknown(module)
    if text.uses_libdevice:
        _link_libdevice(module, text.name)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    builder.getModulePassManager().run(module, builder)
    result: str = machine.emit_assembly(module)
    return result


@functools.cache
def _target() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    # else all threads compute what stands under conditions of few: the places of each level of a tree
    llvm.set_option("sacpy", "-spec-exec-max-speculation-cost=0")
    return llvm.Target.from_triple(TRIPLE)


def _refuse_unknown(module: Any) -> None:
    """Only what is known to be there may be called."""
    for f in module.functions:
        if f.is_declaration and not f.name.startswith((*INTRINSICS, PREFIX)):
            raise AssemblyError("ptx", f"{f.name} is no function that LLVM's NVPTX target is known to take")


def _link_libdevice(module: Any, kept: str) -> None:
    """Links libdevice in. What the kernel does not call goes with the optimiser, since nobody else can."""
    import llvmlite.binding as llvm

    path = toolchain.libdevice()
    if path is None:
        raise toolchain.missing("ptx", "libdevice")
    library = llvm.parse_bitcode(path.read_bytes())
    library.triple, library.data_layout = TRIPLE, LAYOUT
    module.link_in(library)
    for f in module.functions:
        if f.is_declaration and f.name.startswith(PREFIX):
            raise AssemblyError("ptx", f"libdevice has no {f.name}")
        if not f.is_declaration and f.name != kept:
            f.linkage = "internal"
