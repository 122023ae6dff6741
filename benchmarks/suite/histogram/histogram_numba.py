import numpy as np
from numba import get_num_threads, njit, prange


@njit(parallel=True, cache=True)
def count(x, bins, parts):
    own = np.zeros((parts, bins), np.int32)
    for p in prange(parts):
        for i in range(len(x) * p // parts, len(x) * (p + 1) // parts):
            own[p, x[i]] += 1
    h = np.zeros(bins, np.int32)
    for p in range(parts):
        h += own[p]
    return h


def run(x, bins):
    return count(x, bins, get_num_threads())
