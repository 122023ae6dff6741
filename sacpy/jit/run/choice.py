"""Which compiler a target has.

In: the name of a target. Out: the host's compiler, or the devices'. The device itself is made once for an engine, when
something is compiled for it; under "auto" only where there is a GPU, and then a function is native on the host as well,
and each call takes the one that suits it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sacpy.jit.failures import Unsupported
from sacpy.jit.kinds import Kind
from sacpy.lang import core

if TYPE_CHECKING:
    from sacpy.jit.device.context import Device
    from sacpy.jit.device.program import DeviceProgram
    from sacpy.jit.run.contract import CompileContext, Compiled, Compiler


def compiler_for(target: str) -> Compiler:
    """The compiler of a target."""
    from sacpy.jit.run.compiler import compile_unit

    match target:
        case "cuda" | "emulator":
            return lambda program, key, kind, name, tools: _on_device(target, program, key, kind, name, tools)
        case "auto":
            return _either
    return compile_unit


def device_of(target: str, tools: CompileContext) -> Device | None:
    """The device of an engine. Raises `SacError` where the target needs a GPU and there is none."""
    if tools.device is None and target in ("cuda", "emulator"):
        from sacpy.jit.device import context
        from sacpy.jit.device.machine import DeviceFailure

        try:
            tools.device = (
                context.emulator(tools.options, always=tools.eager, check=tools.check)
                if target == "emulator"
                else context.gpu(tools.options, tools.cache, always=tools.eager)
            )
        except DeviceFailure as failure:
            raise context.missing(failure) from failure
        tools.device.limit(tools.memory)
    return tools.device


def _on_device(target: str, program: core.Program, key: str, kind: Kind, name: str, tools: CompileContext) -> Compiled:
    from sacpy.jit.run.device_compiler import compile_for_device

    device = device_of(target, tools)
    assert device is not None
    return compile_for_device(program, key, kind, name, tools, device)


def _either(program: core.Program, key: str, kind: Kind, name: str, tools: CompileContext) -> Compiled:
    from sacpy.jit.run.compiler import compile_unit
    from sacpy.jit.run.contract import Compiled

    host = compile_unit(program, key, kind, name, tools)
    if not _gpu_is_there(tools):
        return host
    from sacpy.jit.run.device_compiler import HostOrDevice, compile_for_device

    def make() -> DeviceProgram | None:
        device = _gpu(tools)
        try:
            return None if device is None else compile_for_device(program, key, kind, name, tools, device).device
        except Unsupported:
            return None

    return Compiled(HostOrDevice(host, make), host.report, owned=False, recursive=host.recursive)


def _gpu_is_there(tools: CompileContext) -> bool:
    from sacpy.jit.device.presence import present

    if tools.gpu is None:
        tools.gpu = present()
    return tools.gpu


def _gpu(tools: CompileContext) -> Device | None:
    """The GPU, or None where it turns out that it cannot be used."""
    from sacpy.jit.device import context
    from sacpy.jit.device.machine import DeviceFailure

    if tools.device is None and tools.gpu:
        try:
            tools.device = context.gpu(tools.options, tools.cache, transfers=True)
        except DeviceFailure:
            tools.gpu = False
    return tools.device
