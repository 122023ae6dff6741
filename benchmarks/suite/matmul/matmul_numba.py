import numpy as np
from numba import njit, prange


@njit(parallel=True, fastmath=True, cache=True)
def run(a, b):
    n, depth = a.shape
    m = b.shape[1]
    c = np.zeros((n, m))
    for i in prange(n):
        for k in range(depth):
            x = a[i, k]
            for j in range(m):
                c[i, j] += x * b[k, j]
    return c
