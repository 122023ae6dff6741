import numpy as np
from numba import njit, prange


@njit(parallel=True, fastmath=True, cache=True)
def advance(x, y, z, vel, mass, dt):
    n = len(mass)
    for i in prange(n):
        ax = ay = az = 0.0
        for j in range(n):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            r2 = dx * dx + dy * dy + dz * dz + 0.01
            f = mass[j] / (r2 * np.sqrt(r2))
            ax += f * dx
            ay += f * dy
            az += f * dz
        vel[i, 0] += ax * dt
        vel[i, 1] += ay * dt
        vel[i, 2] += az * dt
    for i in prange(n):
        x[i] += vel[i, 0] * dt
        y[i] += vel[i, 1] * dt
        z[i] += vel[i, 2] * dt


@njit(cache=True)
def run(pos, vel, mass, dt, steps):
    x, y, z, vel = pos[:, 0].copy(), pos[:, 1].copy(), pos[:, 2].copy(), vel.copy()
    for _ in range(steps):
        advance(x, y, z, vel, mass, dt)
    return np.stack((x, y, z), axis=1), vel
