import numpy as np
from numba import njit, prange


@njit(inline="always")
def rule(cell, around):
    return np.int32((around == 3) | ((cell == 1) & (around == 2)))


@njit(parallel=True, fastmath=True, cache=True)
def generation(v, u):
    n, m = u.shape
    for i in prange(n):
        a, b, c = u[(i - 1) % n], u[i], u[(i + 1) % n]
        for j in range(1, m - 1):
            v[i, j] = rule(b[j], a[j - 1] + a[j] + a[j + 1] + b[j - 1] + b[j + 1] + c[j - 1] + c[j] + c[j + 1])
        for j in (0, m - 1):
            left, right = (j - 1) % m, (j + 1) % m
            v[i, j] = rule(b[j], a[left] + a[j] + a[right] + b[left] + b[right] + c[left] + c[j] + c[right])


@njit(cache=True)
def run(world, generations):
    v, w = np.empty_like(world), np.empty_like(world)
    generation(v, world)
    for _ in range(generations - 1):
        generation(w, v)
        v, w = w, v
    return v
