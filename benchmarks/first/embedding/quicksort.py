"""A quicksort of 2^20 ints, one call from Python, and a second one."""

import sys
from pathlib import Path

import numpy as np

import sacpy
from benchmarks.first.timing import Watch

watch = Watch()
numbers = np.random.default_rng(7).integers(0, 1 << 30, 1 << 20, dtype=np.int32)
with watch.over("load"):
    module = sacpy.Session(target=sys.argv[1]).load(Path(__file__).with_suffix(".sac"))
with watch.over("first"):
    result = module.qsortc(numbers)
with watch.over("second"):
    again = module.qsortc(numbers)
print(
    (result[1:] >= result[:-1]).all(),
    (result == again).all(),
    int(result.sum(dtype=np.int64) - numbers.sum(dtype=np.int64)),
)
watch.tell()
