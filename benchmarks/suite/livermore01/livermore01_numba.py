import numpy as np
from numba import njit, prange


@njit(parallel=True, fastmath=True, cache=True)
def run(y, z, q, r, t):
    x = np.empty_like(y)
    for k in prange(len(y)):
        x[k] = q + y[k] * (r * z[k + 10] + t * z[k + 11])
    return x
