import numpy as np
from numba import njit, prange


@njit(parallel=True, fastmath=True, cache=True)
def run(x, w):
    (n, m), (p, q) = x.shape, w.shape
    out = np.zeros((n - p + 1, m - q + 1))
    for i in prange(n - p + 1):
        for a in range(p):
            for b in range(q):
                for j in range(m - q + 1):
                    out[i, j] += w[a, b] * x[i + a, j + b]
    return out
