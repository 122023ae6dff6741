"""What this machine can do: how many bytes it moves in a second, and how many operations on doubles it makes.

In: how many threads, and how much memory is gone through. Out: rates, measured now. Bytes are moved as b + s * c is put
into a, for large arrays (J. D. McCalpin's STREAM triad), or only read; of as many bytes as a loop touches, since what
fits into a cache moves faster. Operations are those of fused multiplications and additions that do not wait for one
another. The best of several short runs counts.
"""

from __future__ import annotations

import ctypes
import functools
import threading
from collections.abc import Callable
from time import perf_counter

import numpy as np

from sacpy.jit.host.compile import compile_object
from sacpy.jit.host.loading import Library
from sacpy.jit.llvm.processor import register_sizes
from sacpy.jit.options import Options
from sacpy.nodes import Node

CHAINS = 10  # of operations beside one another
SHORT = 0.001  # seconds of a run
TIMES = 100  # runs
CALIBRATION = 0.02  # seconds
LEAST, MOST = 1 << 14, 1 << 28  # bytes that are gone through


class Rates(Node):
    """Per second: bytes, operations on doubles."""

    bytes: float
    operations: float


def rates(threads: int, touched: float, reads_only: bool) -> Rates:
    """What so many threads do, for loops that touch so many bytes; `reads_only`: and write hardly any."""
    size = 1 << max(int(max(touched, 1.0)) - 1, 1).bit_length()
    return Rates(_bandwidth(threads, min(max(size, LEAST), MOST), reads_only), _operations(threads))


@functools.cache
def tick() -> float:
    """Seconds of a tick of the processor's clock, as code reads it."""
    ticks: Callable[[], int] = ctypes.CFUNCTYPE(ctypes.c_int64)(_library().address("ticks"))
    start, first = perf_counter(), ticks()
    while perf_counter() - start < CALIBRATION:
        pass
    return (perf_counter() - start) / max(ticks() - first, 1)


@functools.cache
def _operations(threads: int) -> float:
    wide = _lanes()
    function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)(_library().address("operations"))

    def run(rounds: int) -> Callable[[int], None]:
        return lambda thread: function(rounds) and None

    rounds = _fitting(lambda n: run(n)(0))
    return threads * rounds * CHAINS * wide * 2 / _best(run(rounds), threads)


@functools.cache
def _bandwidth(threads: int, size: int, reads_only: bool) -> float:
    """`size`: bytes of all arrays together."""
    count = max(size // (8 * threads * (1 if reads_only else 3)), 64) // 64 * 64  # elements of an array of a thread
    arrays = [np.zeros(count * (1 if reads_only else 3) + 8) for _ in range(threads)]
    starts = [a.ctypes.data + -a.ctypes.data % 64 for a in arrays]
    name = "total" if reads_only else "triad"
    signature = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    function = signature(_library().address(name))

    def run(rounds: int) -> Callable[[int], None]:
        return lambda thread: function(starts[thread], count, rounds) and None

    for thread in range(threads):
        run(1)(thread)  # pages come into being
    rounds = _fitting(lambda n: run(n)(0))
    return threads * count * (1 if reads_only else 3) * 8 * rounds / _best(run(rounds), threads)


def _fitting(run: Callable[[int], None]) -> int:
    """So many rounds that a run is as short as it should be."""
    rounds = 1
    while True:
        start = perf_counter()
        run(rounds)
        spent = perf_counter() - start
        if spent > SHORT / 2 or rounds > 1 << 40:
            return max(1, int(rounds * SHORT / max(spent, 1e-9)))
        rounds *= 4


def _best(run: Callable[[int], None], threads: int) -> float:
    """The least seconds from when the first thread begins a run to when the last has ended it."""
    gate = threading.Barrier(threads)
    times: list[list[tuple[float, float]]] = [[] for _ in range(threads)]  # of each thread, of each run

    def work(thread: int) -> None:
        for _ in range(TIMES):
            gate.wait()
            start = perf_counter()
            run(thread)
            times[thread].append((start, perf_counter()))

    workers = [threading.Thread(target=work, args=(k,), daemon=True) for k in range(1, threads)]
    for worker in workers:
        worker.start()
    work(0)
    for worker in workers:
        worker.join()
    turns: list[tuple[tuple[float, float], ...]] = list(zip(*times))
    return min(max(end for _, end in turn) - min(start for start, _ in turn) for turn in turns)


def _lanes() -> int:
    """Doubles in a vector register."""
    return (register_sizes() or (16,))[-1] // 8


@functools.cache
def _library() -> Library:
    return Library(compile_object(_text(_lanes()), Options()), ("operations", "triad", "total", "ticks"), {})


def _text(lanes: int) -> str:
    """The code that is measured."""
    vector = f"<{lanes} x double>"
    first = "\n".join(
        f"  %p{k} = phi {vector} [ {_splat(lanes, k + 1.0)}, %entry ], [ %n{k}, %loop ]" for k in range(CHAINS)
    )
    steps = "\n".join(
        f"  %n{k} = call {vector} @llvm.fma.v{lanes}f64({vector} %p{k}, {vector} {_splat(lanes, 0.5)}, "
        f"{vector} {_splat(lanes, 0.25)})"
        for k in range(CHAINS)
    )
    sums = "\n".join(f"  %s{k + 1} = fadd {vector} %s{k}, %n{k + 1}" for k in range(1, CHAINS - 1))
    return f"""
declare {vector} @llvm.fma.v{lanes}f64({vector}, {vector}, {vector})

declare i64 @llvm.readcyclecounter()

define i64 @ticks() {{
  %t = call i64 @llvm.readcyclecounter()
  ret i64 %t
}}

define double @operations(i64 %rounds) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
{first}
{steps}
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %rounds
  br i1 %more, label %loop, label %done
done:
  %s1 = fadd {vector} %n0, %n1
{sums}
  %r = extractelement {vector} %s{CHAINS - 1}, i32 0
  ret double %r
}}

define double @triad(ptr %start, i64 %count, i64 %rounds) {{
entry:
  %b = getelementptr double, ptr %start, i64 %count
  %c = getelementptr double, ptr %b, i64 %count
  br label %round
round:
  %k = phi i64 [ 0, %entry ], [ %k1, %ended ]
  br label %loop
loop:
  %i = phi i64 [ 0, %round ], [ %next, %loop ]
{_each(lanes, _moved(vector))}
  %next = add i64 %i, {4 * lanes}
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %ended
ended:
  %k1 = add i64 %k, 1
  %again = icmp slt i64 %k1, %rounds
  br i1 %again, label %round, label %done
done:
  ret double 0.0
}}

define double @total(ptr %start, i64 %count, i64 %rounds) {{
entry:
  br label %round
round:
  %k = phi i64 [ 0, %entry ], [ %k1, %ended ]
  br label %loop
loop:
  %i = phi i64 [ 0, %round ], [ %next, %loop ]
{_each(lanes, f"  %a@ = load volatile {vector}, ptr %q@, align 8")}
  %next = add i64 %i, {4 * lanes}
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %ended
ended:
  %k1 = add i64 %k, 1
  %again = icmp slt i64 %k1, %rounds
  br i1 %again, label %round, label %done
done:
  ret double 0.0
}}
"""


def _splat(lanes: int, value: float) -> str:
    return "<" + ", ".join(f"double {value!r}" for _ in range(lanes)) + ">"


def _each(lanes: int, body: str) -> str:
    """Four vectors of a round; `%q@` is the address in the first array."""
    parts = []
    for k in range(4):
        parts.append(f"  %j{k} = add i64 %i, {k * lanes}\n  %q{k} = getelementptr double, ptr %start, i64 %j{k}")
        parts.append(body.replace("@", str(k)).replace("FMA", "@llvm.fma"))
    return "\n".join(parts)


def _moved(vector: str) -> str:
    lanes = vector[1 : vector.index(" ")]
    return f"""  %bq@ = getelementptr double, ptr %b, i64 %j@
  %cq@ = getelementptr double, ptr %c, i64 %j@
  %bv@ = load {vector}, ptr %bq@, align 8
  %cv@ = load {vector}, ptr %cq@, align 8
  %av@ = call {vector} FMA.v{lanes}f64({vector} %cv@, {vector} {_splat(int(lanes), 0.5)}, {vector} %bv@)
  store {vector} %av@, ptr %q@, align 8"""


__all__ = ["Rates", "rates"]
