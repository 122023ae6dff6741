"""What compiled code costs beyond its work: a call on scalars, and memory.

In: how often. Out: rows with limits. The memory is that of `sum(a * b + c)` on 10^8 doubles (on fewer where the machine
lacks the room), in a fresh process, beyond its inputs and in percent of them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from benchmarks import probe
from benchmarks.measure import Row, duration
from benchmarks.sac import SacProgram

PROGRAM = """
use Array: all;

double total(double[.] a, double[.] b, double[.] c) { return sum(a * b + c); }

int steps(int n)
{
  s = 0;
  for (i = 0; i < n; i++) {
    s = s + i * i % 7;
  }
  return s;
}
"""
LIMIT_CALL = 5.0  # microseconds
LIMIT_MEMORY = 5.0  # percent of the inputs
CALLS = 2000
# of the function that is called: native in a fraction of a microsecond, and slow enough interpreted that the engine
# does not prefer that
ROUNDS = 100


def measure(repetitions: int) -> list[Row]:
    """A call of a compiled function on scalars; peak memory of a fold."""
    program = SacProgram.from_text(PROGRAM, "cpu")
    steps = program.function("steps")
    steps(100_000)
    direct = program.entry("steps")
    calls = [_each(lambda: direct(ROUNDS)) for _ in range(repetitions)]
    embedded = [_each(lambda: steps(ROUNDS)) for _ in range(repetitions)]
    return [
        duration("a call of a compiled function on a scalar", calls, "us", LIMIT_CALL),
        duration("the same from Python, through the evaluator", embedded, "us"),
        _memory(),
    ]


def _each(action: Callable[[], object]) -> float:
    """Seconds of one of many."""
    start = time.perf_counter()
    for _ in range(CALLS):
        action()
    return (time.perf_counter() - start) / CALLS


def _memory() -> Row:
    command = [sys.executable, "-m", "benchmarks.native"]
    found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    percent = 100.0 * found["peak"] / found["inputs"]
    return Row(
        "peak memory of sum(a * b + c) beyond its inputs",
        percent,
        "%",
        percent,
        percent,
        LIMIT_MEMORY,
        f"inputs of {found['inputs'] / 2**20:.0f} MiB",
    )


def _sum() -> int:
    """What the fresh process does."""
    room = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    n = 100_000_000 if room > 6 * 2**30 else 10_000_000
    inputs = [np.full(n, x) for x in (1.5, 2.5, 0.5)]
    total = SacProgram.from_text(PROGRAM, "cpu").function("total")
    total(*(x[:100_000] for x in inputs))
    before = probe.reset_peak()
    result = total(*inputs)
    after = probe.status("VmHWM")
    assert before is not None and after is not None and abs(result - 4.25 * n) < 1e-6 * n
    print(json.dumps({"peak": max(after - before, 0), "inputs": sum(x.nbytes for x in inputs)}))
    return 0


if __name__ == "__main__":
    sys.exit(_sum())
