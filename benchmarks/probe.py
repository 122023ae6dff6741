"""One version of one benchmark in a fresh process: `python -m benchmarks.probe NAME VERSION SIZE TARGET` prints JSON.

`first`: seconds from loading the version (imports and compilation included, the making of the inputs not) to its first
result. `peak`: bytes that the process held at most during a second call, result included, beyond what it held before
that; null where the system does not tell.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from benchmarks.suite import Benchmark


def main() -> int:
    name, version, label, target = sys.argv[1:]
    benchmark = Benchmark(name)
    inputs = benchmark.inputs(benchmark.size(label))
    start = time.perf_counter()
    run = benchmark.version(version, target)
    run(*inputs)
    first = time.perf_counter() - start
    before = reset_peak()
    run(*inputs)
    after = status("VmHWM")
    print(json.dumps({"first": first, "peak": None if before is None or after is None else after - before}))
    return 0


def reset_peak() -> int | None:
    """Makes the system forget the largest size so far; the size now."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return None
    return status("VmRSS")


def status(field: str) -> int | None:
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:")), None)


if __name__ == "__main__":
    sys.exit(main())
