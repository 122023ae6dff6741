"""The first result of a benchmark of the suite: `python -m benchmarks.first.suite NAME SIZE TARGET`.

Prints whether the result agrees with that of NumPy's version, and how long it took from the import on; neither the
making of the inputs nor the comparison counts.
"""

from __future__ import annotations

import json
import sys
import time

from benchmarks.suite import Benchmark


def main() -> int:
    name, label, target = sys.argv[1:]
    benchmark = Benchmark(name)
    inputs = benchmark.inputs(benchmark.size(label))
    start = time.perf_counter()
    import sacpy  # which counts

    found = sacpy.Session(target=target).load(benchmark.folder / f"{name}.sac").run(*inputs)
    seconds = time.perf_counter() - start
    benchmark.check(found, benchmark.version("numpy")(*inputs))
    print("agrees")
    print("measured", json.dumps({"seconds": seconds}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
