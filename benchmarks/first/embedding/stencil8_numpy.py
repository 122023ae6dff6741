"""A stencil on an 8 x 8 matrix, ten thousand calls."""

import numpy as np

from benchmarks.first.timing import Watch

CALLS = 10_000


def step(a: np.ndarray) -> np.ndarray:
    b = a.copy()
    b[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    return b


watch = Watch()
a = np.add.outer(np.arange(8.0) ** 2, np.arange(8.0))
with watch.over("first"):
    step(a)
with watch.over("each", CALLS):
    for _ in range(CALLS):
        a = step(a)
print(f"{a[3, 4]:.6f} {a.sum():.6f}")
watch.tell()
