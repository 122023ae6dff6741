"""Every kernel that programs of the corpus emit becomes a cubin: for three generations of GPUs, through libNVVM and through NVPTX. A sample by default."""

from __future__ import annotations

from pathlib import Path

import pytest

from sacpy.interp.world import World
from sacpy.jit.cache import Cache
from sacpy.jit.device.context import Device, Hardware
from sacpy.jit.device.cubins import Cubins
from sacpy.jit.device.emulated import EmulatorMachine
from sacpy.jit.device.weigh import Policy
from sacpy.jit.emission.assemble import FRONT_ENDS, cubin
from sacpy.jit.kernel import Kernel
from sacpy.jit.on_demand import OnDemand
from sacpy.lang.diagnostics import SacError
from sacpy.withloop.devices import DEVICES
from sacpy.workspace import Workspace
from tests.jit.test_corpus_cpu import PROGRAMS
from tests.test_programs import PROGRAMS as LONGER
from tests.test_programs import beside, name_of

ARCHITECTURES = ("sm_80", "sm_90", "sm_100")
SAMPLE = ("kernel-hotspot", "kernel-nas-is", "kernel-pathfinder")


def kernels_of(program: Path) -> list[Kernel]:
    """The distinct kernels that a run of a program launches."""
    engine = OnDemand("emulator", eager=True, defects=True, cache=Cache(None))
    machine = EmulatorMachine(DEVICES["sm_90"])
    engine.engine.tools.device = Device(Hardware(machine), Policy(always=True))
    workspace = Workspace(target="emulator")
    workspace.use(engine)
    try:
        loaded, found = workspace.load(program)
        given = beside(program, ".stdin")
        workspace.run(loaded, World.captured(given.read_bytes() if given.exists() else b""), found)
    except SacError:
        pass  # what it emitted until then counts
    return [ready.kernel for ready in machine.loaded]


@pytest.mark.parametrize("program", [pytest.param(p, marks=() if p.stem in SAMPLE else pytest.mark.long, id=name_of(p)) for p in (*PROGRAMS, *LONGER)])
def test_kernels_are_assembled(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kernels = kernels_of(program)
    assert kernels or program.stem not in SAMPLE
    for kernel in kernels:
        for architecture in ARCHITECTURES:
            for front in FRONT_ENDS:
                assert cubin(kernel, architecture, front=front).code[:4] == b"\x7fELF"


def test_cubins_are_kept(tmp_path: Path) -> None:
    (program,) = (p for p in PROGRAMS if p.stem == SAMPLE[-1])
    (kernel,) = kernels_of(program)
    cache = Cache(tmp_path)
    made = Cubins(cache)(kernel, "sm_90")
    assert made.code[:4] == b"\x7fELF"
    assert made.resources.registers > 0
    files = cache.info().files
    assert Cubins(cache)(kernel, "sm_90") == made
    assert cache.info().files == files
    assert Cubins(cache)(kernel, "sm_80").code != made.code
