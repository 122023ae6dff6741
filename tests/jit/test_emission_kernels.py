"""The kernels that with-loops become, on the emulator in check mode and assembled: random with-loops under random
mappings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from sacpy.interp.values import Value
from sacpy.jit.emission import toolchain
from sacpy.jit.emission.assemble import cubin
from sacpy.jit.emission.emulator import Emulated
from sacpy.jit.ir.kernel import Kernel
from sacpy.jit.ir.kernel_printer import print_kernel
from sacpy.jit.ir.kernel_verify import verify_kernel
from sacpy.jit.kernels import Launch, Plan
from sacpy.withloop.chains import Mapping as Mapped
from sacpy.withloop.combinators import PadLast, SplitLast
from tests.jit import kernel_tools
from tests.jit.graph_generator import random_unit
from tests.jit.kernel_evaluator import spoilt
from tests.jit.kernel_generator import agrees, random_case
from tests.jit.kernel_tools import agree, options

STRATEGIES = ("auto", "jing", "jing_ext", "jing_printed", "foldall")
needs_assembler = pytest.mark.skipif(
    not (toolchain.libnvvm() and toolchain.libdevice() and toolchain.program("ptxas")),
    reason="needs libNVVM, libdevice and ptxas: pip install nvidia-nvvm nvidia-cuda-nvcc",
)


class OnEmulator:
    """Runs plans on the emulator in check mode, and keeps the kernels, each once, by its text."""

    def __init__(self) -> None:
        self.kernels: dict[str, Kernel] = {}
        self.compiled: dict[str, Emulated] = {}

    def run_plan(self, plan: Plan, values: Mapping[str, Value]) -> tuple[dict[str, Value], list[str]]:
        """As the plain evaluator's: results by name, and the checks that failed. No launch may have a finding, and the
        launches of a plan together must write each cell of a result, and none twice."""
        memory: dict[str, Any] = dict(values)
        writes: dict[str, Any] = {}
        for buffer in (*plan.results, *plan.temporaries):
            memory[buffer.name] = spoilt(buffer.base, buffer.extents)
            writes[buffer.name] = np.zeros(buffer.extents, int)
        failed: list[str] = []
        for launch in plan.launches:
            text = print_kernel(launch.kernel)
            if text not in self.compiled:
                verify_kernel(launch.kernel)
                self.kernels[text] = launch.kernel
                self.compiled[text] = Emulated(launch.kernel, check=True)
            args = [
                np.ascontiguousarray(memory[a])
                if isinstance(memory.get(a), np.ndarray)
                else memory[a]
                if isinstance(a, str)
                else a
                for a in launch.arguments
            ]
            self.launched(launch, args)
            outcome = self.compiled[text].launch(args, scratch=[b.size for b in launch.scratch])
            assert outcome.findings == (), f"{outcome.findings[0]}\n{text}"
            failed += [outcome.failed] if outcome.failed is not None else []
            for p, a in zip(launch.kernel.params, launch.arguments):
                if p.name in outcome.writes and isinstance(a, str):
                    writes[a] += outcome.writes[p.name]
        if not failed:
            for buffer in plan.results:
                assert buffer.name not in writes or (writes[buffer.name] >= 1).all(), (buffer, writes[buffer.name])
        return {b.name: memory[b.name].item() if b.scalar else memory[b.name] for b in plan.results}, failed

    def launched(self, launch: Launch, args: list[Any]) -> None:
        """Before each launch: for those who want to know of it."""


@pytest.fixture
def emulator(monkeypatch: pytest.MonkeyPatch) -> Iterator[OnEmulator]:
    """Plans run on the emulator."""
    run = OnEmulator()
    monkeypatch.setattr(kernel_tools, "run_plan", run.run_plan)
    yield run


def mapped(seed: int) -> None:
    case = random_case(seed)
    agrees(
        case,
        options(
            merge=seed % 2 == 0, fold_threads=(1, 2, 4, 32)[seed % 4], strategy=STRATEGIES[seed // 4 % len(STRATEGIES)]
        ),
    )


def bodies(seed: int) -> None:
    unit, arguments = random_unit(seed)
    for args in arguments:
        agree(unit, args, options(merge=seed % 2 == 0))


def assembled(kernels: Mapping[str, Kernel], way: int) -> None:
    for at, (text, kernel) in enumerate(kernels.items()):
        made = cubin(
            kernel, ("sm_80", "sm_90", "sm_100")[(way + at) % 3], front=("libnvvm", "nvptx")[(way + at) // 3 % 2]
        )
        assert made.code[:4] == b"\x7fELF", text


@pytest.mark.sample(2)
@pytest.mark.parametrize("batch", range(4))
def test_random_mappings_run_without_a_finding(batch: int, emulator: OnEmulator) -> None:
    for seed in range(20_000 + 5 * batch, 20_005 + 5 * batch):
        mapped(seed)
    assert emulator.kernels


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", range(200, 212))
def test_random_bodies_run_without_a_finding(seed: int, emulator: OnEmulator) -> None:
    bodies(seed)


@needs_assembler
def test_random_kernels_are_assembled(emulator: OnEmulator) -> None:
    for seed in range(30_000, 30_006):
        mapped(seed)
    assembled(emulator.kernels, 0)


@pytest.mark.long
@pytest.mark.parametrize("batch", range(100))
def test_many_random_mappings_run_without_a_finding(batch: int, emulator: OnEmulator) -> None:
    for seed in range(50 * batch, 50 * (batch + 1)):
        mapped(seed)


def test_many_random_mappings_reach_everything() -> None:
    """Of those 5,000 with-loops at least 200 have each combinator, each strategy, rank 0, an empty space, an extent
    that does not divide."""
    seen: Counter[str] = Counter()
    for seed in range(5000):
        case = random_case(seed)
        has = {step.name for chain in case.chains for step in chain.steps}
        has |= {"GridBlock"} if case.chains else set()
        has |= {STRATEGIES[seed // 4 % len(STRATEGIES)]} if case.unmapped else set()
        for chain, space in zip(case.chains, case.spaces):
            mapping = chain.map(space)
            has |= {"rank 0"} if not space.rank else {"empty"} if not space.size else set()
            has |= {f"{name} of what does not divide" for name in divided_unevenly(mapping)}
        seen.update(has)
    wanted = [
        *STRATEGIES,
        "ShiftLB",
        "CompressGrid",
        "PruneGrid",
        "Permute",
        "FoldLast2",
        "SplitLast",
        "PadLast",
        "GridBlock",
        "rank 0",
        "empty",
        "SplitLast of what does not divide",
        "PadLast of what does not divide",
    ]
    assert {name: seen[name] for name in wanted if seen[name] < 200} == {}


def divided_unevenly(mapping: Mapped) -> set[str]:
    """The steps of a mapping that cut or fill up an extent which their number does not divide."""
    cuts = [(s.combinator, s.before) for s in mapping.stages]
    return {
        type(c).__name__
        for c, before in cuts
        if isinstance(c, SplitLast | PadLast) and before.rank and before.upper[-1] % c.number()
    }


@needs_assembler
@pytest.mark.long
@pytest.mark.parametrize("batch", range(20))
@pytest.mark.parametrize("way", range(6))
def test_many_random_kernels_are_assembled(batch: int, way: int, emulator: OnEmulator) -> None:
    for seed in range(40_000 + 10 * batch, 40_010 + 10 * batch):
        mapped(seed)
    for seed in range(500 + 5 * batch, 505 + 5 * batch):
        bodies(seed)
    assembled(emulator.kernels, way)
