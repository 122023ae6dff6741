import numpy as np
from numba import njit, prange

NU, BETA = 0.6, 0.5


@njit(cache=True)
def weights(x):
    w = np.zeros((len(x), 3))
    for i in range(1, len(x) - 1):
        before, behind = x[i] - x[i - 1], x[i + 1] - x[i]
        both = before + behind
        w[i, 0], w[i, 1], w[i, 2] = 2.0 / before / both, -2.0 / before / behind, 2.0 / behind / both
    return w


@njit(fastmath=True, cache=True)
def value(x, y, wx, wy, strike, times):
    n, m, nu = len(x), len(y), NU * NU
    v, u, c = np.empty((n, m)), np.empty((n, m)), np.empty((n, m))
    along, variance = np.zeros((n, m)), np.empty((n, m))
    above, factor = np.empty(m), np.empty(m)
    for i in range(n):
        for j in range(m):
            v[i, j] = max(x[i] - strike, 0.0)
    for k in range(len(times) - 2, -1, -1):
        rate = 1.0 / (times[k + 1] - times[k])
        for i in range(n):
            for j in range(m):
                variance[i, j] = np.exp(2.0 * (BETA * np.log(x[i]) + y[j] - 0.5 * nu * times[k]))
        for i in range(n):
            for j in range(1, m - 1):
                along[i, j] = 0.5 * nu * (wy[j, 0] * v[i, j - 1] + wy[j, 1] * v[i, j] + wy[j, 2] * v[i, j + 1])
            before, behind = v[max(i - 1, 0)], v[min(i + 1, n - 1)]
            for j in range(m):
                across = wx[i, 0] * before[j] + wx[i, 1] * v[i, j] + wx[i, 2] * behind[j]
                u[i, j] = rate * v[i, j] + along[i, j] + 0.25 * variance[i, j] * across
        for j in range(m):
            f = 1.0 / (rate - 0.25 * variance[0, j] * wx[0, 1])
            c[0, j] = -0.25 * variance[0, j] * wx[0, 2] * f
            u[0, j] *= f
        for i in range(1, n):
            for j in range(m):
                q = -0.25 * variance[i, j]
                f = 1.0 / (rate + q * wx[i, 1] - q * wx[i, 0] * c[i - 1, j])
                c[i, j] = q * wx[i, 2] * f
                u[i, j] = (u[i, j] - q * wx[i, 0] * u[i - 1, j]) * f
        for i in range(n - 2, -1, -1):
            for j in range(m):
                u[i, j] -= c[i, j] * u[i + 1, j]
        for j in range(m):
            left = 0.25 * nu * wy[j, 0] * above[j - 1] if j > 0 else 0.0
            factor[j] = 1.0 / (rate - 0.25 * nu * wy[j, 1] + left)
            above[j] = -0.25 * nu * wy[j, 2] * factor[j]
        for i in range(n):
            v[i, 0] = (rate * u[i, 0] - 0.5 * along[i, 0]) * factor[0]
            for j in range(1, m):
                right = rate * u[i, j] - 0.5 * along[i, j] + 0.25 * nu * wy[j, 0] * v[i, j - 1]
                v[i, j] = right * factor[j]
            for j in range(m - 2, -1, -1):
                v[i, j] -= above[j] * v[i, j + 1]
    return v[n // 2, m // 2]


@njit(parallel=True, cache=True)
def run(x, y, strike, times):
    wx, wy = weights(x), weights(y)
    prices = np.empty(len(strike))
    for s in prange(len(strike)):
        prices[s] = value(x, y, wx, wy, strike[s], times)
    return prices
