import numpy as np
from numba import njit, prange


@njit(fastmath=True, inline="always")
def normal(x):
    k = 1.0 / (1.0 + 0.2316419 * abs(x))
    poly = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = 0.3989422804014327 * np.exp(-0.5 * x * x) * poly
    return tail if x < 0.0 else 1.0 - tail


@njit(parallel=True, fastmath=True, cache=True)
def run(spot, strike, years, rate, volatility):
    n = len(spot)
    calls, puts = np.empty(n), np.empty(n)
    for i in prange(n):
        spread = volatility * np.sqrt(years[i])
        d1 = (np.log(spot[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]) / spread
        discounted = strike[i] * np.exp(-rate * years[i])
        calls[i] = spot[i] * normal(d1) - discounted * normal(d1 - spread)
        puts[i] = calls[i] + discounted - spot[i]
    return calls, puts
