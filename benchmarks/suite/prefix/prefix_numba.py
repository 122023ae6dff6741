import numpy as np
from numba import get_num_threads, njit, prange


@njit(parallel=True, fastmath=True, cache=True)
def scan(x, parts):
    n = len(x)
    sums = np.zeros(parts)
    for p in prange(parts):
        for i in range(n * p // parts, n * (p + 1) // parts):
            sums[p] += x[i]
    s = np.empty_like(x)
    for p in prange(parts):
        total = 0.0
        for before in range(p):
            total += sums[before]
        for i in range(n * p // parts, n * (p + 1) // parts):
            total += x[i]
            s[i] = total
    return s


def run(x):
    return scan(x, get_num_threads())
