import numpy as np
from numba import njit, prange


@njit(fastmath=True, inline="always")
def at(u, w, i, j, left, k, right):
    n, m, _ = u.shape
    s = 0.0
    for a in range(3):
        for b in range(3):
            x, y = (i + a - 1) % n, (j + b - 1) % m
            s += w[a, b, 0] * u[x, y, left] + w[a, b, 1] * u[x, y, k] + w[a, b, 2] * u[x, y, right]
    return s


@njit(parallel=True, fastmath=True, cache=True)
def relax(v, u, w):
    n, m, o = u.shape
    for i in prange(n):
        for j in range(m):
            v[i, j, 0] = at(u, w, i, j, o - 1, 0, 1)
            v[i, j, o - 1] = at(u, w, i, j, o - 2, o - 1, 0)
            v[i, j, 1 : o - 1] = 0.0
            for a in range(3):
                for b in range(3):
                    row = u[(i + a - 1) % n, (j + b - 1) % m]
                    w0, w1, w2 = w[a, b, 0], w[a, b, 1], w[a, b, 2]
                    for k in range(1, o - 1):
                        v[i, j, k] += w0 * row[k - 1] + w1 * row[k] + w2 * row[k + 1]


@njit(cache=True)
def run(u, w, steps):
    v, t = np.empty_like(u), np.empty_like(u)
    relax(v, u, w)
    for _ in range(steps - 1):
        relax(t, v, w)
        v, t = t, v
    return v
