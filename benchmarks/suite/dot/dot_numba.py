from numba import njit, prange


@njit(parallel=True, fastmath=True, cache=True)
def run(a, b):
    s = 0.0
    for i in prange(len(a)):
        s += a[i] * b[i]
    return s
