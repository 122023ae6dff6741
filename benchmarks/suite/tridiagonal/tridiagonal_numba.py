import numpy as np
from numba import njit


@njit(fastmath=True, cache=True)
def run(below, diagonal, above, right):
    n = len(right)
    c, x = np.empty(n), np.empty(n)
    c[0] = above[0] / diagonal[0]
    x[0] = right[0] / diagonal[0]
    for i in range(1, n):
        f = 1.0 / (diagonal[i] - below[i] * c[i - 1])
        c[i] = above[i] * f
        x[i] = (right[i] - below[i] * x[i - 1]) * f
    for i in range(n - 2, -1, -1):
        x[i] -= c[i] * x[i + 1]
    return x
