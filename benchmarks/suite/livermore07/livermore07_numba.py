import numpy as np
from numba import njit, prange


@njit(parallel=True, fastmath=True, cache=True)
def run(u, y, z, q, r, t):
    x = np.empty_like(y)
    for k in prange(len(y)):
        outer = u[k + 6] + q * (u[k + 5] + q * u[k + 4])
        x[k] = u[k] + r * (z[k] + r * y[k]) + t * (u[k + 3] + r * (u[k + 2] + r * u[k + 1]) + t * outer)
    return x
