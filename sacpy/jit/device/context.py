"""The device of an engine: its machine and memory, made when first needed.

In: a target ("emulator", "cuda", "auto") and options. Out: a `Device`; or the reasons why there is none, as an error
for users (`missing`). Whether a GPU is there at all is looked up in a file, since "auto" asks on every machine.
"""

from __future__ import annotations

import os
from functools import cache as remembered

from sacpy.base.distribution import extra
from sacpy.jit.cache import Cache, native_folder
from sacpy.jit.device.machine import DeviceFailure, Machine
from sacpy.jit.device.memory import Memory
from sacpy.jit.device.residents import Residents
from sacpy.jit.device.storage import Account
from sacpy.jit.device.weigh import Policy
from sacpy.jit.options import Options, cores
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.source import NOWHERE
from sacpy.nodes import Node, Record, field
from sacpy.withloop.devices import DEVICES

EMULATED = "sm_90"  # what the emulator stands for unless told


class Hardware(Record):
    """A machine with what is in its memory. Of a GPU, or of an emulated one, there is one in a process: arrays go from
    session to session without moving."""

    machine: Machine
    memory: Memory = field(init=False)
    residents: Residents = field(default_factory=Residents)

    def __post_init__(self) -> None:
        self.memory = Memory(self.machine)


class Device(Node):
    """What runs kernels for one engine. The hardware is the process's. `policy`: which with-loops run there; `account`:
    what this engine may take of its memory, and what happened there on its behalf."""

    hardware: Hardware
    policy: Policy
    account: Account = field(default_factory=Account)

    @property
    def machine(self) -> Machine:
        return self.hardware.machine

    @property
    def memory(self) -> Memory:
        return self.hardware.memory

    @property
    def residents(self) -> Residents:
        return self.hardware.residents

    def stop(self, stop: bool) -> None:
        """Ends what runs, or lets things run again."""
        self.account.word.value = stop

    def limit(self, memory: int) -> None:
        """How many bytes a run may take for arrays, 0: any. Only the emulator's arrays are in this computer's
        memory."""
        if self.machine.interface[0] == 1:
            self.account.most = memory or None


def emulator(options: Options, *, always: bool = False, check: bool = False) -> Device:
    """The emulator of the device that the options name. `check`: every access to memory is checked."""
    name = options.device or EMULATED
    return Device(_checked(name) if check else emulated(name), Policy(always=always))


@remembered
def emulated(name: str) -> Hardware:
    """The emulator of a GPU generation."""
    from sacpy.jit.device.emulated import EmulatorMachine

    return Hardware(EmulatorMachine(DEVICES[name], threads=cores(), cache=Cache(native_folder())))


def _checked(name: str) -> Hardware:
    from sacpy.jit.device.emulated import EmulatorMachine

    return Hardware(EmulatorMachine(DEVICES[name], check=True))


def gpu(options: Options, cache: Cache, *, always: bool = False, transfers: bool = False) -> Device:
    """The GPU of this computer. Raises `DeviceFailure`."""
    return Device(real(options.strict_fp, cache), Policy(always=always, transfers=transfers, cores=options.threads))


def real(strict: bool = False, cache: Cache | None = None) -> Hardware:
    """The GPU that `SACPY_GPU` numbers, the first one by default. Raises `DeviceFailure`."""
    told = os.environ.get("SACPY_GPU", "0")
    if not told.isdecimal():
        raise DeviceFailure(f"SACPY_GPU is the number of a GPU, from 0, and not {told!r}")
    number = int(told)
    found = _gpus.get((number, strict))
    if found is None:
        from sacpy.jit.device.cubins import Cubins
        from sacpy.jit.device.cuda import CudaMachine

        machine = CudaMachine(number, assemble=Cubins(Cache(native_folder()) if cache is None else cache, strict))
        found = _gpus[number, strict] = Hardware(machine)
    return found


def take_place(hardware: Hardware, strict: bool = False, number: int = 0) -> None:
    """Makes this the GPU of that number, for those who have a stand-in for one."""
    _gpus[number, strict] = hardware


_gpus: dict[tuple[int, bool], Hardware] = {}


def missing(failure: DeviceFailure) -> SacError:
    """The error of a run that was to use a GPU."""
    packages = f"install the driver, and {extra('cuda')}"
    help = f"{packages}; or use --target cpu; --target emulator runs the same kernels without a GPU"
    return SacError(Diagnostic("E0782", f"there is no GPU to run on: {failure.reason}", NOWHERE, help=help))


__all__ = ["Device", "Hardware", "emulated", "emulator", "gpu", "missing", "real", "take_place"]
