import numpy as np
from numba import njit, prange

SIDE, GAP = 64, 3


@njit(cache=True)
def block(t, s, top, left):
    for i in range(top + 1, top + SIDE + 1):
        for j in range(left + 1, left + SIDE + 1):
            t[i, j] = max(t[i - 1, j - 1] + s[i, j], max(t[i - 1, j], t[i, j - 1]) - GAP)


@njit(parallel=True, cache=True)
def diagonal(t, s, d, first, last):
    for k in prange(first, last):
        block(t, s, k * SIDE, (d - k) * SIDE)


@njit(cache=True)
def run(s):
    n = len(s)
    q = (n - 1) // SIDE
    t = np.empty_like(s)
    for i in range(n):
        t[0, i] = -GAP * i
        t[i, 0] = -GAP * i
    for d in range(2 * q - 1):
        diagonal(t, s, d, max(0, d - q + 1), min(d, q - 1) + 1)
    return t
