import numpy as np
from numba import njit, prange


@njit(fastmath=True, inline="always")
def steps(x, y, limit):
    re = im = 0.0
    n = 0
    while n < limit and re * re + im * im <= 4.0:
        re, im = re * re - im * im + x, 2.0 * re * im + y
        n += 1
    return n


@njit(parallel=True, fastmath=True, cache=True)
def run(n, limit):
    d = 2.5 / n
    out = np.empty((n, n), np.int32)
    for i in prange(n):
        for j in range(n):
            out[i, j] = steps(j * d - 2.0, i * d - 1.25, limit)
    return out
