"""`python -m benchmarks.capture.first NAME (sacpy|numba)`: the seconds of the first call of a function in this process.

What is imported beforehand does not count, for neither of them; the caches are where the environment says.
"""

from __future__ import annotations

import sys
import time

from benchmarks.capture.cases import CASES, arguments
from benchmarks.capture.numba_versions import compiled


def main() -> None:
    name, who = sys.argv[1:]
    function = next(f for f in CASES if f.__name__ == name)
    given = arguments(function, 1)
    action = compiled(function) if who == "numba" else function
    begin = time.perf_counter()
    action(*given)
    print(time.perf_counter() - begin)


if __name__ == "__main__":
    main()
