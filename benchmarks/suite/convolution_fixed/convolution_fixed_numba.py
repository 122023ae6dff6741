import numpy as np
from numba import njit, prange


@njit(parallel=True, fastmath=True, cache=True)
def run(x):
    n, m = x.shape
    out = np.empty((n - 2, m - 2))
    for i in prange(n - 2):
        for j in range(m - 2):
            corners = x[i, j] + x[i, j + 2] + x[i + 2, j] + x[i + 2, j + 2]
            edges = x[i, j + 1] + x[i + 1, j] + x[i + 1, j + 2] + x[i + 2, j + 1]
            out[i, j] = (corners + 2.0 * edges + 4.0 * x[i + 1, j + 1]) / 16.0
    return out
