import numpy as np
from numba import njit, prange


@njit(parallel=True, fastmath=True, cache=True)
def colour(u, f, h2, other):
    n = len(u)
    for i in prange(1, n - 1):
        for j in range(1 + (i + 1 + other) % 2, n - 1, 2):
            u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] + h2 * f[i, j])


@njit(cache=True)
def smooth(u, f, h2, sweeps):
    for _ in range(sweeps):
        colour(u, f, h2, 0)
        colour(u, f, h2, 1)


@njit(parallel=True, fastmath=True, cache=True)
def residual(r, u, f, h2):
    n = len(u)
    for i in prange(1, n - 1):
        for j in range(1, n - 1):
            r[i, j] = f[i, j] - (4.0 * u[i, j] - u[i - 1, j] - u[i + 1, j] - u[i, j - 1] - u[i, j + 1]) / h2


@njit(parallel=True, fastmath=True, cache=True)
def coarse(g, r):
    m = len(g)
    for i in prange(1, m - 1):
        for j in range(1, m - 1):
            a, b = 2 * i, 2 * j
            g[i, j] = (
                0.25 * r[a, b]
                + 0.125 * (r[a - 1, b] + r[a + 1, b] + r[a, b - 1] + r[a, b + 1])
                + 0.0625 * (r[a - 1, b - 1] + r[a - 1, b + 1] + r[a + 1, b - 1] + r[a + 1, b + 1])
            )


@njit(parallel=True, fastmath=True, cache=True)
def correct(u, e):
    n = len(u)
    for i in prange(n):
        a, b = i // 2, (i + 1) // 2
        for j in range(0, n - 1, 2):
            k = j // 2
            u[i, j] += 0.5 * (e[a, k] + e[b, k])
            u[i, j + 1] += 0.25 * (e[a, k] + e[b, k] + e[a, k + 1] + e[b, k + 1])
        u[i, n - 1] += 0.5 * (e[a, n // 2] + e[b, n // 2])


@njit("void(float64[:,::1], float64[:,::1], float64)", cache=True)  # as for quicksort
def cycle(u, f, h2):
    n = len(u)
    if n == 3:
        smooth(u, f, h2, 1)
    else:
        smooth(u, f, h2, 2)
        r, g, e = np.zeros((n, n)), np.zeros((n // 2 + 1, n // 2 + 1)), np.zeros((n // 2 + 1, n // 2 + 1))
        residual(r, u, f, h2)
        coarse(g, r)
        cycle(e, g, 4.0 * h2)
        correct(u, e)
        smooth(u, f, h2, 2)


@njit(cache=True)
def run(f, cycles):
    u = np.zeros_like(f)
    for _ in range(cycles):
        cycle(u, f, 1.0 / (len(f) - 1) ** 2)
    return u
