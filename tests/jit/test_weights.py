"""The model of devices: what launches do is what the interpreter of PTX counts, and the order of times is that of
published figures: STREAM (McCalpin), the ladder of matrix products ("How to Optimize a CUDA Matmul Kernel", Boehm
2022: uncoalesced, coalesced, tiles in shared memory, tiles in registers, 1 : 6 : 10 : 50 on an A6000), transpositions
in shared memory ("An Efficient Matrix Transpose in CUDA C/C++", Harris 2013), sums of rows by warps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from benchmarks.kernels.programs import BODIES, MAP, PRODUCT, RELAXATION, ROWS, SUM, TRANSPOSITION, USE, VECTORS
from sacpy.jit.ir import graph as g
from sacpy.jit.kernels import KernelOptions, build
from sacpy.jit.kernels.weights import weigh
from sacpy.jit.passes import optimise
from sacpy.withloop.devices import DEVICES
from sacpy.withloop.rates import RATES, REACHED, Work, estimate
from tests.jit.specialise_tools import Subject, shapes_of
from tests.ptx.driver import PtxCuda
from tests.ptx.sessions import session

TILES = "\n#pragma gpumem shared(a, b)\n"
NAIVE = "\n#pragma gpumem global\n"


def works(source: str, shapes: tuple[tuple[int, ...], ...], size: int, base: str, **options: Any) -> list[Any]:
    """The launches of a with-loop whose integers are all `size`, with what they do."""
    device = DEVICES[options.pop("device", "sm_90")]
    args = [np.broadcast_to(np.zeros((), base), s) for s in shapes]  # of any size
    unit = optimise(Subject(USE + source).unit(*shapes_of(args, fixed=-1)))
    functions = {f.name: f for f in unit.functions}
    found = []
    for s in unit.root.body.statements:
        if isinstance(s, g.Let) and isinstance(s.rhs, g.WithLoop):
            template = build(s.rhs, s.targets, functions, KernelOptions(device=device, **options))
            numbers = dict.fromkeys(template.inputs, size)
            plan = template.plan(tuple(numbers.values()))
            found += [(launch, weigh(launch, numbers), device) for launch in plan.launches]
    return found


def seconds(*args: Any, **options: Any) -> float:
    """About how long that takes."""
    total = 0.0
    for launch, work, device in works(*args, **options):
        least = estimate(device, work, math.prod(launch.grid), math.prod(launch.block), None)
        assert least is not None and not work.guessed
        total += least.seconds
    return total


CLASSICS = {
    "relaxation": (RELAXATION.format(t="double", k="0.25"), ((512, 512),), "float64", 2.0),
    "sum": (SUM.format(t="float", z="0f"), ((1 << 18,),), "float32", 2.0),
    "map": (MAP, ((1 << 16,), (1 << 16,)), "float32", 1.5),
    "transposition": (TRANSPOSITION.format(t="double"), ((256, 256),), "float64", 2.0),
    "rows": (ROWS, ((512, 512),), "float64", 2.0),
}


@pytest.mark.parametrize("name", CLASSICS)
def test_what_is_weighed_is_what_is_counted(name: str) -> None:
    source, shapes, base, most = CLASSICS[name]
    found = [work for _, work, _ in works(source, shapes, shapes[0][0], base)]
    gpu = PtxCuda("sm_90", "nvptx", races=False, counting=True)
    session(gpu).compile(USE + source).f(*(np.ones(s, base) for s in shapes))
    sectors = sum(t.units for n in gpu.counts.values() for t in n.traffic.values() if t.space != "shared") * 32
    executed = sum(n.threads.total() for n in gpu.counts.values())
    assert sum(w.requested for w in found) == pytest.approx(sectors, rel=0.15)
    assert executed / most < sum(w.instructions for w in found) < executed * most


@pytest.mark.parametrize("arch", RATES)
def test_streams_take_what_memory_takes(arch: str) -> None:
    n = 1 << 26
    took = seconds(MAP, ((n,), (n,)), n, "float32", device=arch)
    assert took == pytest.approx(12 * n / RATES[arch].memory / REACHED, rel=0.1)


# what the launches took on an H100 (`make gpu`, see benchmarks/README.md), in us
TOOK = {
    "relaxation, float": (RELAXATION.format(t="float", k="0.25f"), ((8192, 8192),), "float32", 209),
    "relaxation, double": (RELAXATION.format(t="double", k="0.25"), ((8192, 8192),), "float64", 383),
    "product, float": (PRODUCT.format(t="float", z="0f"), ((4096, 4096), (4096, 4096)), "float32", 3030),
    "product, double": (PRODUCT.format(t="double", z="0.0"), ((4096, 4096), (4096, 4096)), "float64", 6430),
    "sum": (SUM.format(t="float", z="0f"), ((1 << 27,),), "float32", 179),
    "transposition": (TRANSPOSITION.format(t="float"), ((8192, 8192),), "float32", 193),
    "map": (MAP, ((1 << 26,), (1 << 26,)), "float32", 272),
    "n-body": (BODIES, ((32768, 3), (32768,)), "float64", 5310),
    "vectors of 3": (VECTORS, ((1 << 24, 3),), "float64", 274),
}


@pytest.mark.parametrize("name", TOOK)
def test_times_are_about_what_a_card_took(name: str) -> None:
    source, shapes, base, took = TOOK[name]
    assert 0.5 * took < seconds(source, shapes, shapes[0][0], base) * 1e6 < 1.5 * took


@pytest.mark.parametrize("arch", RATES)
def test_products_are_ordered_as_published(arch: str) -> None:
    n = 2048

    def product(pragma: str, **options: Any) -> float:
        source = PRODUCT.format(t="float", z="0f").replace("with { ([0,0]", f"with {{ {pragma}([0,0]", 1)
        return seconds(source, ((n, n), (n, n)), n, "float32", device=arch, **options)

    uncoalesced, coalesced = (product(NAIVE, strategy=s) for s in ("jing_printed", "jing"))
    tiles, registers = product(TILES, strategy="jing"), product("")
    assert uncoalesced > 3 * coalesced and coalesced > tiles > 2 * registers
    # no faster than the data sheet lets it be, and no slower than a fifth of that
    least = 2 * n**3 / RATES[arch].single
    assert least <= registers < 5 * least


def test_transpositions_and_sums_of_rows_are_ordered_as_published() -> None:
    n = 4096
    turned = TRANSPOSITION.format(t="float")
    assert seconds(turned, ((n, n),), n, "float32", strategy="jing") > 1.5 * seconds(turned, ((n, n),), n, "float32")
    one_each = seconds(ROWS, ((n, n),), n, "float64", strategy="jing")
    assert one_each > 1.5 * seconds(ROWS, ((n, n),), n, "float64")


def test_a_device_without_figures_has_no_times_and_few_blocks_take_longer() -> None:
    work = Work(instructions=1e9)
    assert estimate(DEVICES["sm_75"], work, 10, 256, None) is None
    few, many = (estimate(DEVICES["sm_90"], work, blocks, 256, None) for blocks in (13, 132 * 8))
    assert few is not None and many is not None
    assert few.limit == "each thread by itself" and few.seconds > 5 * many.seconds and many.tail == 1
