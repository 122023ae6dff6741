"""A stencil on an 8 x 8 matrix, ten thousand calls from Python."""

import sys
from pathlib import Path

import numpy as np

import sacpy
from benchmarks.first.timing import Watch

CALLS = 10_000
watch = Watch()
module = sacpy.Session(target=sys.argv[1]).load(Path(__file__).with_suffix(".sac"))
a = np.add.outer(np.arange(8.0) ** 2, np.arange(8.0))
with watch.over("first"):
    module.step(a)
with watch.over("each", CALLS):
    for _ in range(CALLS):
        a = module.step(a)
print(f"{a[3, 4]:.6f} {a.sum():.6f}")
watch.tell()
