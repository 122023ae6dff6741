"""A matrix product as one writes it in C: three loops."""

import numba
import numpy as np


@numba.njit(cache=True)
def product(n: int) -> np.ndarray:
    a = np.empty((n, n))
    b = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            a[i, j] = (i * 7 + j * 3) % 11
            b[i, j] = (i * 5 + j * 2) % 13
    c = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for k in range(n):
                c[i, j] += a[i, k] * b[k, j]
    return c


c = product(120)
print(f"{c[0, 0]:.1f} {c[60, 60]:.1f} {c[119, 7]:.1f}")
