from numba import njit, prange

SIDE = 64


@njit(fastmath=True, cache=True)
def diagonal(a, top):
    for k in range(top, top + SIDE):
        for i in range(k + 1, top + SIDE):
            a[i, k] /= a[k, k]
            for j in range(k + 1, top + SIDE):
                a[i, j] -= a[i, k] * a[k, j]


@njit(fastmath=True, parallel=True, cache=True)
def beside(a, top):
    for block in prange(top // SIDE + 1, len(a) // SIDE):
        at = block * SIDE
        for i in range(top + 1, top + SIDE):
            for k in range(top, i):
                for j in range(at, at + SIDE):
                    a[i, j] -= a[i, k] * a[k, j]
        for i in range(at, at + SIDE):
            for k in range(top, top + SIDE):
                a[i, k] /= a[k, k]
                for j in range(k + 1, top + SIDE):
                    a[i, j] -= a[i, k] * a[k, j]


@njit(fastmath=True, parallel=True, cache=True)
def inner(a, top):
    n = len(a)
    for i in prange(top + SIDE, n):
        for k in range(top, top + SIDE):
            for j in range(top + SIDE, n):
                a[i, j] -= a[i, k] * a[k, j]


@njit(cache=True)
def run(a, side):
    a = a.copy()
    for top in range(0, len(a), side):
        diagonal(a, top)
        beside(a, top)
        inner(a, top)
    return a
