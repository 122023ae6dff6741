import numpy as np
from numba import njit, prange


@njit(parallel=True, fastmath=True, cache=True)
def step(v, t, watts):
    n, m = t.shape
    for i in prange(n):
        up, down = max(i - 1, 0), min(i + 1, n - 1)
        for j in range(m):
            left, right = t[i, max(j - 1, 0)], t[i, min(j + 1, m - 1)]
            here = t[i, j]
            across, along = left + right - 2.0 * here, t[up, j] + t[down, j] - 2.0 * here
            v[i, j] = here + watts[i, j] + 0.12 * across + 0.1 * along + 0.004 * (80.0 - here)


@njit(cache=True)
def run(t, watts, steps):
    v, w = np.empty_like(t), np.empty_like(t)
    step(v, t, watts)
    for _ in range(steps - 1):
        step(w, v, watts)
        v, w = w, v
    return v
