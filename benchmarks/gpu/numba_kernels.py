"""The cases as Numba's users write them: a kernel written out for each. Imported only where Numba is there."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import cuda, float32, float64

Array = Any
Function = Callable[..., Array]
ROW = 256  # threads that share a row


def axpy() -> Function:
    """2.5 x + y."""

    @cuda.jit
    def kernel(x: Array, y: Array, z: Array) -> None:
        i = cuda.grid(1)
        if i < z.size:
            z[i] = np.float32(2.5) * x[i] + y[i]

    def run(x: Array, y: Array) -> Array:
        z = cuda.device_array(x.shape, x.dtype)
        kernel[(x.size + 255) // 256, 256](x, y, z)
        return z

    return run


def total() -> Function:
    """The sum on the host, by Numba's own reduction."""
    add = cuda.reduce(lambda a, b: a + b)
    return lambda x: float(add(x))


def relax() -> Function:
    """One step of relaxation."""

    @cuda.jit
    def kernel(a: Array, z: Array) -> None:
        j, i = cuda.grid(2)
        m, n = a.shape
        if i < m and j < n:
            if 0 < i < m - 1 and 0 < j < n - 1:
                z[i, j] = np.float32(0.25) * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
            else:
                z[i, j] = a[i, j]

    def run(a: Array) -> Array:
        z = cuda.device_array(a.shape, a.dtype)
        kernel[((a.shape[1] + 63) // 64, (a.shape[0] + 3) // 4), (64, 4)](a, z)
        return z

    return run


def rows() -> Function:
    """Row sums: a block for each row."""

    @cuda.jit
    def kernel(a: Array, z: Array) -> None:
        part = cuda.shared.array(ROW, float32)
        t, i = cuda.threadIdx.x, cuda.blockIdx.x
        own = float32(0.0)
        for j in range(t, a.shape[1], ROW):
            own += a[i, j]
        part[t] = own
        cuda.syncthreads()
        half = ROW // 2
        while half > 0:
            if t < half:
                part[t] += part[t + half]
            cuda.syncthreads()
            half //= 2
        if t == 0:
            z[i] = part[0]

    def run(a: Array) -> Array:
        z = cuda.device_array(a.shape[0], a.dtype)
        kernel[a.shape[0], ROW](a, z)
        return z

    return run


def columns() -> Function:
    """Column sums: a thread for each column and piece of 256 rows, added up atomically."""

    @cuda.jit
    def clear(z: Array) -> None:
        j = cuda.grid(1)
        if j < z.size:
            z[j] = 0.0

    @cuda.jit
    def kernel(a: Array, z: Array) -> None:
        j = cuda.grid(1)
        if j < a.shape[1]:
            own = float32(0.0)
            first = cuda.blockIdx.y * 256
            for i in range(first, min(first + 256, a.shape[0])):
                own += a[i, j]
            cuda.atomic.add(z, j, own)

    def run(a: Array) -> Array:
        z = cuda.device_array(a.shape[1], a.dtype)
        blocks = (a.shape[1] + 255) // 256
        clear[blocks, 256](z)
        kernel[(blocks, (a.shape[0] + 255) // 256), 256](a, z)
        return z

    return run


def convolve() -> Function:
    """A thread for each cell."""

    @cuda.jit
    def kernel(a: Array, w: Array, z: Array) -> None:
        j, i = cuda.grid(2)
        if i < z.shape[0] and j < z.shape[1]:
            own = float32(0.0)
            for k in range(w.shape[0]):
                for q in range(w.shape[1]):
                    own += a[i + k, j + q] * w[k, q]
            z[i, j] = own

    def run(a: Array, w: Array) -> Array:
        z = cuda.device_array((a.shape[0] - w.shape[0] + 1, a.shape[1] - w.shape[1] + 1), a.dtype)
        kernel[((z.shape[1] + 63) // 64, (z.shape[0] + 3) // 4), (64, 4)](a, w, z)
        return z

    return run


def pull() -> Function:
    """A thread for each body, the others in tiles of shared memory."""

    @cuda.jit
    def kernel(p: Array, m: Array, z: Array) -> None:
        tile = cuda.shared.array((128, 4), float64)
        i, t, n = cuda.grid(1), cuda.threadIdx.x, m.size
        x, y, w = 0.0, 0.0, 0.0
        if i < n:
            x, y, w = p[i, 0], p[i, 1], p[i, 2]
        fx, fy, fz = 0.0, 0.0, 0.0
        for start in range(0, n, 128):
            j = start + t
            if j < n:
                tile[t, 0], tile[t, 1], tile[t, 2], tile[t, 3] = p[j, 0], p[j, 1], p[j, 2], m[j]
            cuda.syncthreads()
            for k in range(min(128, n - start)):
                dx, dy, dz = tile[k, 0] - x, tile[k, 1] - y, tile[k, 2] - w
                d = dx * dx + dy * dy + dz * dz + 0.01
                f = tile[k, 3] / (d * math.sqrt(d))
                fx, fy, fz = fx + f * dx, fy + f * dy, fz + f * dz
            cuda.syncthreads()
        if i < n:
            z[i, 0], z[i, 1], z[i, 2] = fx, fy, fz

    def run(p: Array, m: Array) -> Array:
        z = cuda.device_array(p.shape, p.dtype)
        kernel[(m.size + 127) // 128, 128](p, m, z)
        return z

    return run


def mandel() -> Function:
    """A thread for each point."""

    @cuda.jit
    def kernel(re: Array, im: Array, out: Array) -> None:
        j, i = cuda.grid(2)
        if i < out.shape[0] and j < out.shape[1]:
            a, b, x, y, k = re[i, j], im[i, j], 0.0, 0.0, 0
            while k < 200 and x * x + y * y < 4.0:
                x, y, k = x * x - y * y + a, 2.0 * x * y + b, k + 1
            out[i, j] = k

    def run(re: Array, im: Array) -> Array:
        out = cuda.device_array(re.shape, np.int32)
        kernel[((re.shape[1] + 31) // 32, (re.shape[0] + 7) // 8), (32, 8)](re, im, out)
        return out

    return run


def price() -> Function:
    """Black-Scholes, a thread for each option."""

    @cuda.jit(device=True)
    def phi(x: float) -> float:
        return 0.5 * (1.0 + math.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))

    @cuda.jit
    def kernel(s: Array, k: Array, z: Array) -> None:
        i = cuda.grid(1)
        if i < z.size:
            q = math.log(s[i] / k[i])
            z[i] = s[i] * phi((q + 0.07) / 0.3) - k[i] * math.exp(-0.02) * phi((q - 0.02) / 0.3)

    def run(s: Array, k: Array) -> Array:
        z = cuda.device_array(s.shape, s.dtype)
        kernel[(s.size + 255) // 256, 256](s, k, z)
        return z

    return run
