"""Engines and sessions of sacpy whose GPU is the interpreter of PTX."""

from __future__ import annotations

from typing import Any

from sacpy.jit.cache import Cache
from sacpy.jit.device.context import Device, Hardware
from sacpy.jit.device.emulated import EmulatorMachine
from sacpy.jit.device.weigh import Policy
from sacpy.jit.run.engine import Engine
from sacpy.jit.run.on_demand import OnDemand
from sacpy.session import Session
from sacpy.withloop.devices import DEVICES
from tests.ptx.driver import PtxCuda


def engine(gpu: PtxCuda, *, strategy: str = "auto", verify: bool = False) -> Engine:
    """An engine on that GPU, where everything runs that can."""
    made = Engine(
        "cuda",
        threads=1,
        strict_fp=gpu.strict,
        strategy=strategy,
        verify=verify,
        eager=True,
        defects=True,
        cache=Cache(None),
    )
    made.tools.device = Device(Hardware(gpu.machine()), Policy(always=True))
    return made


def on_demand(gpu: PtxCuda, **options: Any) -> OnDemand:
    """The same, as a workspace wants it."""
    made = OnDemand("cuda")
    made._engine = engine(gpu, **options)
    return made


def session(gpu: PtxCuda, **options: Any) -> Session:
    """A session on that GPU."""
    made = Session(target="cuda", strict_fp=gpu.strict)
    made._workspace.use(on_demand(gpu, **options))
    return made


def emulated(processors: int, *, strict: bool = False) -> Session:
    """A session on the emulator of a GPU with so many multiprocessors, which checks every access."""
    made = Engine("emulator", strict_fp=strict, verify=True, eager=True, defects=True, cache=Cache(None))
    machine = EmulatorMachine(DEVICES["sm_90"].with_processors(processors), check=True)
    made.tools.device = Device(Hardware(machine), Policy(always=True))
    session = Session(target="emulator", strict_fp=strict)
    demand = OnDemand("emulator")
    demand._engine = made
    session._workspace.use(demand)
    return session
