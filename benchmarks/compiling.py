"""How long it takes until there is native code: for each benchmark of the suite, newly compiled, and out of the cache
on disk.

In: a benchmark and a size. Out: the seconds that the engine spends on compiling, from the first call on, passes and
loading included. LLVM has been loaded before.
"""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.suite import Benchmark


@dataclass(frozen=True, slots=True)
class Compiling:
    """Seconds of each repetition; `whole`: what was compiled has loops other than with-loops, or calls itself."""

    new: tuple[float, ...]
    kept: tuple[float, ...]
    whole: bool

    @property
    def limit(self) -> float:
        """Seconds that compiling may take at most, in the median."""
        return WHOLE if self.whole else WITH_LOOP


WITH_LOOP = 0.060
WHOLE = 0.300
KEPT = 0.015


def compile_times(benchmark: Benchmark, label: str, target: str, repetitions: int) -> Compiling:
    """Compiles the SaC version again and again."""
    inputs = benchmark.inputs(benchmark.size(label))
    program = benchmark.program(target)
    new: list[float] = []
    kept: list[float] = []
    whole = False
    for _ in range(repetitions + 1):
        with tempfile.TemporaryDirectory() as folder:
            for times in (new, kept):
                again = program.fresh(target, Path(folder))
                again.function("run")(*inputs)
                times.append(again.compiling)
                whole |= again.has_loops
    return Compiling(tuple(new[1:]), tuple(kept[1:]), whole)


def medians(found: list[Compiling]) -> dict[str, tuple[float, float]]:
    """Over several benchmarks, by what is compiled: the median of their medians, and its limit; in seconds."""
    groups = {
        "compiling a with-loop": ([statistics.median(c.new) for c in found if not c.whole], WITH_LOOP),
        "compiling a whole function": ([statistics.median(c.new) for c in found if c.whole], WHOLE),
        "either out of the cache on disk": ([statistics.median(c.kept) for c in found], KEPT),
    }
    return {name: (statistics.median(times), limit) for name, (times, limit) in groups.items() if times}
