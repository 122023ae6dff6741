import numpy as np
from numba import njit, prange


@njit(parallel=True, fastmath=True, cache=True)
def distances(records, place):
    found = np.empty(len(records))
    for i in prange(len(records)):
        x, y = records[i, 0] - place[0], records[i, 1] - place[1]
        found[i] = np.sqrt(x * x + y * y)
    return found


@njit(cache=True)
def run(records, place, k):
    distance = distances(records, place)
    found, far = np.empty(k, np.int32), np.full(k, np.inf)
    for i in range(len(distance)):
        if distance[i] < far[k - 1]:
            r = k - 1
            while r > 0 and far[r - 1] > distance[i]:
                far[r], found[r] = far[r - 1], found[r - 1]
                r -= 1
            far[r], found[r] = distance[i], i
    return found, far
