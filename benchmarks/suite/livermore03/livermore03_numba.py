from numba import njit, prange


@njit(parallel=True, fastmath=True, cache=True)
def run(z, x):
    q = 0.0
    for k in prange(len(z)):
        q += z[k] * x[k]
    return q
