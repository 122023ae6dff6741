import numpy as np
from numba import njit, prange

TAU, FORCE = 0.9, 1e-3
DY, DX = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1]), np.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
WEIGHTS = np.array([16, 4, 4, 4, 4, 1, 1, 1, 1]) / 36.0
OPPOSITE = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6])


@njit(parallel=True, fastmath=True, cache=True)
def step(f, wall, out):
    n, m = wall.shape
    for i in prange(n):
        for j in range(m):
            rho = 0.0
            for k in range(9):
                rho += f[k, i, j]
            down = f[2, i, j] - f[4, i, j] + f[5, i, j] + f[6, i, j] - f[7, i, j] - f[8, i, j]
            right = f[1, i, j] - f[3, i, j] + f[5, i, j] - f[6, i, j] - f[7, i, j] + f[8, i, j]
            energy = (down * down + right * right) / (rho * rho)
            for k in range(9):
                along = (DY[k] * down + DX[k] * right) / rho
                rest = WEIGHTS[k] * rho * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * energy)
                moved = f[k, i, j] + (rest - f[k, i, j]) / TAU + 3.0 * FORCE * WEIGHTS[k] * DX[k]
                to = f[OPPOSITE[k], i, j] if wall[i, j] else moved
                out[k, (i + DY[k] + n) % n, (j + DX[k] + m) % m] = to


@njit(cache=True)
def run(f, wall, steps):
    v, w = np.empty_like(f), np.empty_like(f)
    step(f, wall, v)
    for _ in range(steps - 1):
        step(v, wall, w)
        v, w = w, v
    return v
