"""A pipeline of functions on a large vector."""

import numpy as np

from benchmarks.first.timing import Watch

watch = Watch()
signal = np.arange(1_000_000.0) * 7.0 % 101.0
with watch.over("pipeline"):
    for _ in range(5):
        signal = np.clip(np.sqrt((signal[:-2] + signal[1:-1] + signal[2:]) / 3.0) * 4.0, 2.0, 90.0)
    total = (signal * signal).sum()
print(f"{len(signal)} {total:.4g}")
watch.tell()
