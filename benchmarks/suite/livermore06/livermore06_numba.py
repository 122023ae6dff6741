import numpy as np
from numba import njit


@njit(fastmath=True, cache=True)
def run(b):
    n = len(b)
    w = np.full(n, 0.01)
    for i in range(1, n):
        for k in range(i):
            w[i] += b[k, i] * w[i - k - 1]
    return w
