import numpy as np
from numba import njit, prange


@njit(parallel=True, fastmath=True, cache=True)
def run(b, c, s):
    a = np.empty_like(b)
    for i in prange(len(b)):
        a[i] = b[i] + s * c[i]
    return a
