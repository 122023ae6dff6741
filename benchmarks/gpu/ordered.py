"""What is measured beside maps and folds: scans, reductions by index, sorts, compactions, packed triangles.

In and out: as in `cases`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.gpu.case import Case, vector

SIZES = (1 << 16, 1 << 24, 1 << 27)


def integers(size: int, most: int, seed: int = 7) -> Any:
    """Random ints from 0 on, below `most`."""
    return np.random.default_rng(seed).integers(0, most, size, dtype=np.int32)


SCAN = Case(
    "scan, int", "f", "use Scan: all;\nint[n] f(int[n] v) { return cumsum(v); }",
    SIZES, lambda n: (integers(n, 100),), lambda n: 8.0 * n,
    {"cupy": lambda cupy: lambda v: cupy.cumsum(v, dtype=np.int32), "jax": lambda jax: jax.jit(jax.numpy.cumsum),
        "torch": lambda torch: lambda v: torch.cumsum(v, 0, dtype=torch.int32)},
)  # fmt: skip

REALS = Case(
    "scan, float", "f", "use Scan: all;\nfloat[n] f(float[n] v) { return cumsum(v); }",
    SIZES[:2], lambda n: (vector(n) / np.float32(n),), lambda n: 8.0 * n,
    {"cupy": lambda cupy: cupy.cumsum, "jax": lambda jax: jax.jit(jax.numpy.cumsum),
        "torch": lambda torch: lambda v: torch.cumsum(v, 0)},
)  # fmt: skip

BINS = Case(
    "histogram, 256 bins", "f", "use Histogram: all;\nint[.] f(int[n] k) { return bincount(256, k); }",
    SIZES, lambda n: (integers(n, 256),), lambda n: 4.0 * n,
    {"cupy": lambda cupy: lambda k: cupy.bincount(k, minlength=256).astype(np.int32),
        "jax": lambda jax: jax.jit(lambda k: jax.numpy.bincount(k, length=256)),
        "torch": lambda torch: lambda k: torch.bincount(k, minlength=256)},
)  # fmt: skip

SORT = Case(
    "sort, int", "f", "use Sort: all;\nint[n] f(int[n] v) { return sort(v); }",
    SIZES, lambda n: (integers(n, 1 << 30),), None,
    {"cupy": lambda cupy: cupy.sort, "jax": lambda jax: jax.jit(jax.numpy.sort),
        "torch": lambda torch: lambda v: torch.sort(v).values},
)  # fmt: skip

FILTER = Case(
    "filter", "f", "use Select: all;\nint[.] f(int[n] v) { return filter(v % 3 == 0, v); }",
    SIZES[:2], lambda n: (integers(n, 1 << 30),), None,
    {"cupy": lambda cupy: lambda v: v[v % 3 == 0], "torch": lambda torch: lambda v: v[v % 3 == 0]},
)  # fmt: skip

CASES = (SCAN, REALS, BINS, SORT, FILTER)
