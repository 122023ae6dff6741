"""Every scalar operation in kernels: on the emulator equal to the interpreter's bit by bit, on GPUs assembled for
several generations through both ways to PTX."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from sacpy.interp.errors import Fault
from sacpy.interp.runtime.elementwise import scalar_version
from sacpy.interp.values import DTYPES
from sacpy.jit.emission import toolchain
from sacpy.jit.emission.assemble import cubin
from sacpy.jit.emission.emulator import Emulated
from sacpy.jit.emission.libdevice import DEVICE_ROWS
from sacpy.jit.ir import kernel as k
from sacpy.jit.ir.operations import PLACES, ROUNDED
from sacpy.lang.primitives import PRIMITIVES
from sacpy.lang.types import BUILTIN
from tests.jit.kernel_programs import operation
from tests.jit.native_tools import same
from tests.jit.test_host_scalars import ELEMENTWISE, cases, edges

ARCHITECTURES = ("sm_80", "sm_90", "sm_100")
FRONTS = ("libnvvm", "nvptx")
needs_assembler = pytest.mark.skipif(
    not (toolchain.libnvvm() and toolchain.libdevice() and toolchain.program("ptxas")),
    reason="needs libNVVM, libdevice and ptxas: pip install nvidia-nvvm nvidia-cuda-nvcc",
)


def operand_bases(op: str, base: str) -> list[str]:
    if op == "select":
        return ["bool", base, base]
    return [base if a == "T" else a for a in PRIMITIVES[op].args]


def bases(op: str) -> list[str]:
    return list(BUILTIN) if op == "select" else cases(op)


def kernel_of(op: str) -> k.Kernel:
    return operation(op, [(base, operand_bases(op, base), 0) for base in bases(op)])


def test_no_operation_lacks_a_row() -> None:
    assert sorted(DEVICE_ROWS) == sorted([*ELEMENTWISE, *PLACES, *ROUNDED])


@pytest.mark.sample(2)
@pytest.mark.parametrize("op", [*ELEMENTWISE, "select"])
def test_the_emulator_computes_what_the_interpreter_does(op: str) -> None:
    args: list[object] = []
    rows: dict[str, list[tuple[int | float | bool, ...]]] = {}
    for base in bases(op):
        rows[base] = list(itertools.product(*[edges(b) for b in operand_bases(op, base)]))
        args.append(len(rows[base]))
        args += [np.array([row[at] for row in rows[base]], DTYPES[b]) for at, b in enumerate(operand_bases(op, base))]
        result = base if op == "select" or PRIMITIVES[op].result == "T" else PRIMITIVES[op].result
        args.append(np.zeros(len(rows[base]), DTYPES[result]))
    Emulated(kernel_of(op)).launch(args)  # type: ignore[arg-type]
    results = iter(a for p, a in zip(kernel_of(op).params, args) if p.name.endswith("_r"))
    for base, found in zip(bases(op), results):
        for row, one in zip(rows[base], found):  # type: ignore[call-overload]
            wanted = reference(op, base, row)
            assert wanted is None or same(one.item(), wanted), (op, base, row, one, wanted)


def reference(op: str, base: str, row: Sequence[int | float | bool]) -> int | float | bool | None:
    """What the interpreter gives; None where the language refuses."""
    if op in ("select", "mask"):
        return row[1] if row[0] else row[2]
    if op in ("all", "any"):
        return row[0]
    try:
        with np.errstate(all="ignore"):
            found: int | float | bool = scalar_version(op, base)(*row)
            return found
    except Fault:
        return None


@pytest.mark.sample(2)
@needs_assembler
@pytest.mark.parametrize("op", [*ELEMENTWISE, "select"])
def test_gpus_take_it(op: str) -> None:
    at = [*ELEMENTWISE, "select"].index(op)
    made = cubin(kernel_of(op), ARCHITECTURES[at % 3], front=FRONTS[at % 2])
    assert made.code[:4] == b"\x7fELF" and made.resources.registers > 0


@needs_assembler
@pytest.mark.long
@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("op", [*ELEMENTWISE, "select"])
def test_gpus_of_all_generations_take_it_through_both_ways(op: str, arch: str, front: str) -> None:
    for strict in (False, True):
        assert cubin(kernel_of(op), arch, front=front, back="ptxas", strict=strict).code[:4] == b"\x7fELF"
