"""The device of an engine: its machine and memory, made when first needed.

In: a target ("emulator", "cuda", "auto") and options. Out: a `Device`; or the reasons why there is none, as an error for users (`missing`). Whether a GPU is there at all is looked up in a file, since "auto" asks on every machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from sacpy.jit.cache import Cache
from sacpy.jit.device.machine import DeviceFailure, Machine
from sacpy.jit.device.memory import Memory
from sacpy.jit.device.residents import Residents
from sacpy.jit.device.weigh import Policy
from sacpy.jit.options import Options
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.source import NOWHERE
from sacpy.withloop.devices import DEVICES

EMULATED = "sm_90"  # what the emulator stands for unless told
DRIVER = Path("/proc/driver/nvidia/version")


@dataclass(slots=True)
class Device:
    """What runs kernels for one engine. `policy`: which with-loops do."""

    machine: Machine
    policy: Policy
    memory: Memory = field(init=False)
    residents: Residents = field(default_factory=Residents)

    def __post_init__(self) -> None:
        self.memory = Memory(self.machine)


Maker = Callable[[], Device]


def emulator(options: Options, *, always: bool = False, check: bool = False) -> Device:
    """The emulator of the device that the options name. `check`: every access to memory is checked."""
    from sacpy.jit.device.emulated import EmulatorMachine

    return Device(EmulatorMachine(DEVICES[options.device or EMULATED], check=check, threads=options.threads), Policy(always=always))


def gpu(options: Options, cache: Cache, *, always: bool = False, transfers: bool = False) -> Device:
    """The GPU of this computer. Raises `DeviceFailure`."""
    from sacpy.jit.device.cubins import Cubins
    from sacpy.jit.device.cuda import CudaMachine

    machine = CudaMachine(int(os.environ.get("SACPY_GPU", "0")), assemble=Cubins(cache))
    return Device(machine, Policy(always=always, transfers=transfers, cores=options.threads))


def present() -> bool:
    """Whether this computer has an NVIDIA driver and the packages that talk to it; nothing is imported."""
    return DRIVER.exists() and find_spec("cuda") is not None and find_spec("cuda.core") is not None


def missing(failure: DeviceFailure) -> SacError:
    """The error of a run that was to use a GPU."""
    return SacError(Diagnostic("E0782", f"there is no GPU to run on: {failure.reason}", NOWHERE, help="install the driver and 'pip install sacpy[cuda]', or use --target cpu; --target emulator runs the same kernels without a GPU"))


__all__ = ["Device", "emulator", "gpu", "missing", "present"]
