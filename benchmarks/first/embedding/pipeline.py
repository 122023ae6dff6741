"""A pipeline of functions on a large vector, in turns with NumPy."""

import sys
from pathlib import Path

import numpy as np

import sacpy
from benchmarks.first.timing import Watch

watch = Watch()
module = sacpy.Session(target=sys.argv[1]).load(Path(__file__).with_suffix(".sac"))
signal = np.arange(1_000_000.0) * 7.0 % 101.0
with watch.over("pipeline"):
    for _ in range(5):
        signal = module.clipped(np.sqrt(module.mean3(signal)) * 4.0, 2.0, 90.0)
    total = module.energy(signal)
print(f"{len(signal)} {total:.4g}")
watch.tell()
