import numpy as np
from numba import njit, prange


@njit(parallel=True, fastmath=True, cache=True)
def run(q, k, v):
    n, d = q.shape
    m = len(k)
    out = np.zeros((n, d))
    for i in prange(n):
        s = np.empty(m)
        for j in range(m):
            x = 0.0
            for c in range(d):
                x += q[i, c] * k[j, c]
            s[j] = x / np.sqrt(d)
        s = np.exp(s - s.max())
        s /= s.sum()
        for j in range(m):
            for c in range(d):
                out[i, c] += s[j] * v[j, c]
    return out
