"""The classic kernels that `benchmarks.kernels` counts, timed: sacpy's beside CUDA C by hand, at sizes that fill a GPU.

In: a session, its hardware, a name. Out: seconds of a call of sacpy's from Python, of its launches alone, and of a
launch of the one by hand; what the GPU moves or computes a second in the launches. All are launched one after the other
into one stream, and waited for at the end of a batch; a call whose result is a number waits for it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.gpu.cuda_cpp import cubin
from benchmarks.gpu.measure import seconds
from benchmarks.kernels import programs as classic

SOURCE = Path(classic.__file__).with_name("by_hand.cu")
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Timed:
    """`source` on arrays of `shapes`; `work`: bytes or floating-point operations of a call, as `unit` says. By hand:
    `entry` on `grid` and `block`, whose arguments are `given`, then the arrays, then the result, of shape `result`;
    `scalar`: the result is one number, the sum of what the kernel gives (which is not launched to be summed)."""

    name: str
    source: str
    base: type
    shapes: tuple[Shape, ...]
    work: float
    unit: str
    entry: str
    grid: Shape
    block: Shape
    given: tuple[int, ...]
    result: Shape
    scalar: bool = False


def timed(scale: int) -> list[Timed]:
    """All of them; extents are divided by `scale`, a power of two up to 128."""
    found: list[Timed] = []
    for letter, base, word, unit in (("d", np.float64, "double", 8), ("f", np.float32, "float", 4)):
        zero, quarter = ("0.0", "0.25") if letter == "d" else ("0f", "0.25f")
        tile = (128, 64 if letter == "d" else 128)
        n, k, long = 8192 // scale, 4096 // scale, (1 << 27) // unit * 4 // scale**2
        found += [
            Timed(
                f"relaxation, {word}", classic.RELAXATION.format(t=word, k=quarter), base, ((n, n),),
                2.0 * unit * n * n, "B", f"relax_{letter}", (n // 32, n // 8), (32, 8), (n, n), (n, n),
            ),
            Timed(
                f"product, {word}", classic.PRODUCT.format(t=word, z=zero), base, ((k, k), (k, k)),
                2.0 * k**3, "flop", f"product_{letter}", (-(-k // tile[1]), -(-k // tile[0])), (256,), (k, k, k),
                (k, k),
            ),
            Timed(
                f"sum, {word}", classic.SUM.format(t=word, z=zero), base, ((long,),),
                1.0 * unit * long, "B", f"sum_{letter}", (1056,), (256,), (long * unit // 16,), (1056,), True,
            ),
            Timed(
                f"transposition, {word}", classic.TRANSPOSITION.format(t=word), base, ((n, n),),
                2.0 * unit * n * n, "B", f"transpose_{letter}", (n // 32, n // 32), (32, 8), (n, n), (n, n),
            ),
        ]  # fmt: skip
    rows, columns, many, bodies = 32768 // scale, 2048 // scale, (1 << 26) // scale**2, 32768 // scale
    three = (1 << 24) // scale**2
    return [
        *found,
        Timed(
            "row sums, double", classic.ROWS, np.float64, ((rows, columns),),
            8.0 * rows * columns, "B", "rows_d", (rows,), (32,), (columns,), (rows,),
        ),
        Timed(
            "map, float", classic.MAP, np.float32, ((many,), (many,)),
            12.0 * many, "B", "map_f", (-(-many // 1024),), (256,), (many // 4,), (many,),
        ),
        Timed(
            "n-body, double", classic.BODIES, np.float64, ((bodies, 3), (bodies,)),
            20.0 * bodies**2, "flop", "bodies", (bodies // 128,), (128,), (bodies,), (bodies, 3),
        ),
        Timed(
            "vectors of 3, double", classic.VECTORS, np.float64, ((three, 3),),
            48.0 * three, "B", "vectors", (three // 256,), (256,), (three,), (three, 3),
        ),
    ]  # fmt: skip


class ByHand:
    """The kernels of `by_hand.cu` on the machine of `hardware`. `tool`: what compiled them. Raises `RuntimeError` where
    nothing does."""

    def __init__(self, hardware: Any) -> None:
        self.hardware, self.core = hardware, hardware.machine._core
        self.tool, code = cubin(self.core, hardware.machine.limits.name, SOURCE.read_text(encoding="utf-8"))
        hardware.machine._device.set_current()
        self.module = self.core.ObjectCode.from_cubin(code)

    def launcher(self, case: Timed, arrays: Sequence[Any]) -> Callable[[], Any]:
        """What launches one, and gives its result."""
        machine, memory = self.hardware.machine, self.hardware.memory
        kernel = self.module.get_kernel(case.entry)
        config = self.core.LaunchConfig(grid=case.grid, block=case.block)
        numbers = [ctypes.c_int32(n) for n in case.given]
        base = "double" if case.base is np.float64 else "float"

        def run() -> Any:
            out = memory.new(base, case.result)
            places = [ctypes.c_uint64(a.address()) for a in (*arrays, out)]
            self.core.launch(machine._stream, config, kernel, *numbers, *places)
            memory.let_go()
            return out.written()

        return run


def compared(session: Any, hardware: Any, case: Timed, peer: Callable[[], ByHand]) -> dict[str, Any]:
    """The row of one. What goes wrong by hand is told in the row; sacpy's own raises."""
    random = np.random.default_rng(5)
    values = [(random.random(shape, np.float32) + np.float32(0.5)).astype(case.base) for shape in case.shapes]
    base = "double" if case.base is np.float64 else "float"
    arrays = [hardware.memory.of(v, base) for v in values]
    function = session.compile(classic.USE + case.source)["f"]

    def wait(_: Any = None) -> None:
        hardware.machine.synchronise()

    row: dict[str, Any] = {"sacpy": seconds(lambda: function(*arrays), wait)}
    row["launches alone"] = launches_alone(hardware.machine, lambda: function(*arrays), wait)
    row["rate"], row["unit"] = case.work / row["launches alone"], case.unit
    row["explain"] = session.explain("f")[-3000:]
    try:
        run = peer().launcher(case, arrays)
        wanted, found = np.asarray(function(*arrays)), run()
        got = found.numpy().sum() if case.scalar else found.numpy()
        if not np.allclose(got, wanted, rtol=1e-3, atol=1e-3):
            row["by hand"] = "another result"
        else:
            row["by hand"] = seconds(run, wait)
    except Exception as error:  # it is a peer
        row["by hand"] = f"left out: {type(error).__name__}: {error}"[:500]
    return row


def launches_alone(machine: Any, call: Callable[[], Any], wait: Callable[[Any], Any]) -> float:
    """Seconds that the launches of a call take, made again and again with the arguments they had. The memory they are
    given stays theirs until then."""
    seen: list[tuple[Any, ...]] = []
    freed: list[Any] = []
    launch, free = machine.launch, machine.free

    def noted(*args: Any) -> None:
        seen.append(args)
        launch(*args)

    machine.launch, machine.free = noted, freed.append
    try:
        kept = call()
        wait(kept)

        def again() -> None:
            for args in seen:
                launch(*args)

        return seconds(again, wait)
    finally:
        del machine.launch, machine.free
        for block in freed:
            free(block)
