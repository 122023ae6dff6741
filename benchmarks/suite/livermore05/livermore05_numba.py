from numba import njit


@njit(fastmath=True, cache=True)
def run(x, y, z):
    x = x.copy()
    for i in range(1, len(x)):
        x[i] = z[i] * (y[i] - x[i - 1])
    return x
