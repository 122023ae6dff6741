"""Every distinct kernel that programs of the corpus and of `programs/` emit is assembled by ptxas: for the generations
of GPUs from Turing to Blackwell, through libNVVM and through NVPTX. By default a sample, for three of them."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from sacpy.commands.options import parse
from sacpy.commands.settings import workspace_of
from sacpy.interp.world import World
from sacpy.jit.cache import Cache
from sacpy.jit.device.context import Device, Hardware
from sacpy.jit.device.cubins import Cubins
from sacpy.jit.device.emulated import EmulatorMachine
from sacpy.jit.device.weigh import Policy
from sacpy.jit.emission import toolchain
from sacpy.jit.emission.assemble import FRONT_ENDS, cubin
from sacpy.jit.ir.kernel import Kernel
from sacpy.jit.ir.kernel_printer import print_kernel
from sacpy.jit.run.on_demand import OnDemand
from sacpy.lang.diagnostics import SacError
from sacpy.withloop.devices import DEVICES
from tests.jit.test_corpus_cpu import PROGRAMS
from tests.test_programs import PROGRAMS as LONGER
from tests.test_programs import beside, name_of
from tests.tools import first_directive, read_directives

ARCHITECTURES = ("sm_80", "sm_90", "sm_100")
OTHERS = ("sm_75", "sm_86", "sm_89", "sm_120")
SAMPLE = ("kernel-product", "kernel-hotspot", "kernel-nas-is", "kernel-pathfinder")


KNOWN: set[tuple[str, str]] = set()  # kernels that were assembled in this process already, by text and generation


def kernels_of(program: Path) -> list[Kernel]:
    """The distinct kernels that a run of a program launches. It gets the arguments, flags and input that its comments
    name, or the input beside it."""
    directives = read_directives(program)
    flags = [flag.replace("{here}", str(program.parent)) for flag in shlex.split(first_directive(directives, "flags"))]
    args = shlex.split(first_directive(directives, "args"))
    stdin = first_directive(directives, "stdin")
    given = program.parent / stdin if stdin else beside(program, ".stdin")
    engine = OnDemand("emulator", eager=True, defects=True, cache=Cache(None))
    machine = EmulatorMachine(DEVICES["sm_90"])
    engine.engine.tools.device = Device(Hardware(machine), Policy(always=True))
    workspace = workspace_of(parse(["run", *flags, "--target", "emulator", str(program.resolve()), *args]))
    workspace.use(engine)
    try:
        loaded, found = workspace.load(program)
        workspace.run(
            loaded,
            World.captured(
                given.read_bytes() if given.exists() else b"", tuple(a.encode() for a in (str(program), *args))
            ),
            found,
        )
    except SacError:
        pass  # what it emitted until then counts
    return [ready.kernel for ready in machine.loaded]


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("program", "architectures"),
    [
        pytest.param(p, wanted, marks=marks, id=f"{name_of(p)}-{wanted[0]}")
        for p in (*PROGRAMS, *LONGER)
        for wanted, marks in (
            (ARCHITECTURES, () if p.stem in SAMPLE else pytest.mark.long),
            (OTHERS, pytest.mark.long),
        )
    ],
)
def test_kernels_are_assembled(
    program: Path, architectures: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kernels = {print_kernel(kernel): kernel for kernel in kernels_of(program)}
    assert kernels or program.stem not in SAMPLE
    back = "ptxas" if toolchain.program("ptxas") else None
    for text, kernel in kernels.items():
        for architecture in architectures:
            if (text, architecture) not in KNOWN:
                for front in FRONT_ENDS:
                    assert cubin(kernel, architecture, front=front, back=back).code[:4] == b"\x7fELF"
                KNOWN.add((text, architecture))


def test_cubins_are_kept(tmp_path: Path) -> None:
    (program,) = (p for p in PROGRAMS if p.stem == SAMPLE[-1])
    kernel, *_ = kernels_of(program)
    cache = Cache(tmp_path)
    made = Cubins(cache)(kernel, "sm_90")
    assert made.code[:4] == b"\x7fELF"
    assert made.resources.registers > 0
    files = cache.info().files
    assert Cubins(cache)(kernel, "sm_90") == made
    assert cache.info().files == files
    assert Cubins(cache)(kernel, "sm_80").code != made.code
