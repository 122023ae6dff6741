from numba import njit, prange


@njit(parallel=True, fastmath=True, cache=True)
def eliminate(a, k):
    n = len(a)
    for i in prange(k + 1, n):
        f = a[i, k] / a[k, k]
        a[i, k] = f
        for j in range(k + 1, n):
            a[i, j] -= f * a[k, j]


@njit(cache=True)
def run(a):
    a = a.copy()
    for k in range(len(a)):
        eliminate(a, k)
    return a
