import numpy as np
from numba import njit, prange


@njit(parallel=True, fastmath=True, cache=True)
def stage(to, x, roots, half, count):
    for p in prange(half):
        w = roots[p * count]
        for q in range(count):
            a, b = x[q + count * p], x[q + count * (p + half)]
            to[q + count * 2 * p] = a + b
            to[q + count * (2 * p + 1)] = (a - b) * w


@njit(cache=True)
def transform(x, roots):
    x = x.copy()
    to = np.empty_like(x)
    half, count = len(x) // 2, 1
    while half >= 1:
        stage(to, x, roots, half, count)
        x, to = to, x
        half, count = half // 2, count * 2
    return x.real.copy(), x.imag.copy()


def run(x, roots):
    return transform(x.view(np.complex128)[:, 0], roots.view(np.complex128)[:, 0])
