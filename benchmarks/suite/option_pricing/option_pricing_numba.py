import numpy as np
from numba import njit, prange

ABOVE = (2.506628277459239, -30.66479806614716, 138.3577518672690, -275.9285104469687, 220.9460984245205,
         -39.69683028665376)  # fmt: skip
UNDER = (1.0, -13.28068155288572, 66.80131188771972, -155.6989798598866, 161.5858368580409, -54.47609879822406)
TAIL_ABOVE = (2.938163982698783, 4.374664141464968, -2.549732539343734, -2.400758277161838, -0.3223964580411365,
              -0.007784894002430293)  # fmt: skip
TAIL_UNDER = (1.0, 3.754408661907416, 2.445134137142996, 0.3224671290700398, 0.007784695709041462)


@njit(fastmath=True, cache=True)
def horner(c, x):
    value = 0.0
    for i in range(len(c) - 1, -1, -1):
        value = value * x + c[i]
    return value


@njit(fastmath=True, cache=True)
def quantile(p):
    if p < 0.02425 or p > 0.97575:
        s = np.sqrt(-2.0 * np.log(min(p, 1.0 - p)))
        tail = horner(TAIL_ABOVE, s) / horner(TAIL_UNDER, s)
        return tail if p < 0.5 else -tail
    q = p - 0.5
    return q * horner(ABOVE, q * q) / horner(UNDER, q * q)


@njit(fastmath=True, cache=True)
def paid(at, directions, places, weights, cholesky, drift, volatility, strike):
    d, u = len(places), len(drift)
    gray = at ^ (at >> 1)
    z, path = np.empty((d, u)), np.empty((d, u))
    for k in range(d):
        for i in range(u):
            x = 0
            for b in range(30):
                x ^= (gray >> b & 1) * directions[k * u + i, b]
            z[k, i] = quantile((x + 0.5) / 1073741824.0)
    for k in range(d):
        here, before, behind = places[k]
        for i in range(u):
            path[here, i] = weights[k, 0] * z[k, i]
            if before >= 0:
                path[here, i] += weights[k, 1] * path[before, i]
            if behind >= 0:
                path[here, i] += weights[k, 2] * path[behind, i]
    least = np.inf
    for i in range(u):
        price, total = 1.0, 0.0
        for k in range(d):
            shock = 0.0
            for j in range(u):
                shock += cholesky[i, j] * (path[k, j] - (path[k - 1, j] if k > 0 else 0.0))
            price *= np.exp(drift[i] + volatility[i] * shock)
            total += price
        least = min(least, total)
    return max(least / d - strike, 0.0)


@njit(parallel=True, fastmath=True, cache=True)
def run(paths, directions, places, weights, cholesky, drift, volatility, strike):
    total = 0.0
    for p in prange(paths):
        total += paid(p + 1, directions, places, weights, cholesky, drift, volatility, strike)
    return total / paths
