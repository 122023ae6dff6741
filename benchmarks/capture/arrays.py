# ruff: noqa: F821, E741 - names of extents are no names of Python
# mypy: ignore-errors
"""Functions written with whole arrays, as for JAX, and with some loops."""

import math

import numpy as np

import sacpy
from sacpy import Double, Int


@sacpy.function
def blur(image: Double["n", "m"]) -> Double["n", "m"]:
    """The mean of nine, but for the rim."""
    out = image.copy()
    n, m = image.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            total = 0.0
            for k in range(-1, 2):
                for l in range(-1, 2):
                    total += image[i + k, j + l]
            out[i, j] = total / 9.0
    return out


@sacpy.function
def sobel(u: Double["n", "m"]) -> Double[:, :]:
    """How steep an image is."""
    gx = (u[:-2, 2:] - u[:-2, :-2]) + 2.0 * (u[1:-1, 2:] - u[1:-1, :-2]) + (u[2:, 2:] - u[2:, :-2])
    gy = (u[2:, :-2] - u[:-2, :-2]) + 2.0 * (u[2:, 1:-1] - u[:-2, 1:-1]) + (u[2:, 2:] - u[:-2, 2:])
    return np.sqrt(gx * gx + gy * gy)


@sacpy.function
def median3(image: Double["n", "m"]) -> Double["n", "m"]:
    """The middle of a cross of five."""
    out = image.copy()
    n, m = image.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            w = np.zeros(5)
            w[0] = image[i, j]
            w[1] = image[i - 1, j]
            w[2] = image[i + 1, j]
            w[3] = image[i, j - 1]
            w[4] = image[i, j + 1]
            for a in range(4):
                for b in range(4 - a):
                    if w[b] > w[b + 1]:
                        w[b], w[b + 1] = w[b + 1], w[b]
            out[i, j] = w[2]
    return out


@sacpy.function
def heat(plate: Double["n", "m"], k: float, steps: int) -> Double["n", "m"]:
    """Steps of heat flow; the rim stays."""
    u = plate.copy()
    for _ in range(steps):
        new = u.copy()
        new[1:-1, 1:-1] = u[1:-1, 1:-1] + k * (
            u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
        )
        u = new
    return u


@sacpy.function
def wave(u0: Double["n"], steps: int) -> Double["n"]:
    """A string with fixed ends."""
    before = u0.copy()
    now = u0.copy()
    n = len(u0)
    for _ in range(steps):
        new = np.zeros(n)
        for i in range(1, n - 1):
            new[i] = 2.0 * now[i] - before[i] + 0.25 * (now[i - 1] - 2.0 * now[i] + now[i + 1])
        before, now = now, new
    return now


@sacpy.function
def jacobi(a: Double["n", "n"], b: Double["n"], steps: int) -> Double["n"]:
    """Linear equations, by repeating."""
    n = len(b)
    x = np.zeros(n)
    for _ in range(steps):
        new = np.zeros(n)
        for i in range(n):
            total = b[i]
            for j in range(n):
                if i != j:
                    total -= a[i, j] * x[j]
            new[i] = total / a[i, i]
        x = new
    return x


@sacpy.function
def gauss_seidel(plate: Double["n", "m"], steps: int) -> Double["n", "m"]:
    """The same for a plate, in place."""
    u = plate.copy()
    n, m = u.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return u


@sacpy.function
def histogram(a: Double["n"], bins: int) -> Int["bins"]:
    """How many of the numbers from 0 to 1 lie in each bin."""
    count = np.zeros(bins, np.int64)
    for i in range(len(a)):
        k = int(a[i] * bins)
        if k >= bins:
            k = bins - 1
        count[k] += 1
    return count


@sacpy.function
def moving_mean(a: Double["n"], width: int) -> Double[:]:
    """Means over a window, by a sum that moves along."""
    n = len(a)
    out = np.zeros(n - width + 1)
    total = 0.0
    for i in range(width):
        total += a[i]
    out[0] = total / width
    for i in range(width, n):
        total += a[i] - a[i - width]
        out[i - width + 1] = total / width
    return out


@sacpy.function
def option_prices(spot: Double["n"], strike: Double["n"], years: Double["n"], rate: float, vol: float) -> Double["n"]:
    """Black and Scholes, with a normal distribution from a polynomial."""
    root = vol * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * vol * vol) * years) / root
    d2 = d1 - root
    k1 = 1.0 / (1.0 + 0.2316419 * np.abs(d1))
    k2 = 1.0 / (1.0 + 0.2316419 * np.abs(d2))
    p1 = np.exp(-0.5 * d1 * d1) * k1 * (0.31938153 - k1 * (0.356563782 - k1 * (1.781477937 - 1.821255978 * k1)))
    p2 = np.exp(-0.5 * d2 * d2) * k2 * (0.31938153 - k2 * (0.356563782 - k2 * (1.781477937 - 1.821255978 * k2)))
    n1 = np.where(d1 > 0.0, 1.0 - 0.3989422804 * p1, 0.3989422804 * p1)
    n2 = np.where(d2 > 0.0, 1.0 - 0.3989422804 * p2, 0.3989422804 * p2)
    return spot * n1 - strike * np.exp(-rate * years) * n2


@sacpy.function
def softmax(a: Double["n", "m"]) -> Double["n", "m"]:
    """Rows that add up to 1."""
    out = np.zeros(a.shape)
    for i in range(a.shape[0]):
        e = np.exp(a[i] - np.max(a[i]))
        out[i] = e / np.sum(e)
    return out


@sacpy.function
def distances(x: Double["n", "d"]) -> Double["n", "n"]:
    """Of all pairs of points."""
    n, d = x.shape
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            total = 0.0
            for k in range(d):
                diff = x[i, k] - x[j, k]
                total += diff * diff
            out[i, j] = math.sqrt(total)
    return out


@sacpy.function
def matrix_product(a: Double["n", "k"], b: Double["k", "m"]) -> Double["n", "m"]:
    """With three loops."""
    n, m = a.shape[0], b.shape[1]
    out = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            out[i, j] = total
    return out


@sacpy.function
def horner(c: Double["k"], x: Double["n"]) -> Double["n"]:
    """A polynomial at many places."""
    out = np.zeros(len(x))
    for i in range(len(c) - 1, -1, -1):
        out = out * x + c[i]
    return out


@sacpy.function
def fourier(x: Double["n"]) -> Double["n"]:
    """How strong each frequency is, by the definition."""
    n = len(x)
    out = np.zeros(n)
    for k in range(n):
        re = 0.0
        im = 0.0
        for t in range(n):
            angle = 2.0 * math.pi * k * t / n
            re += x[t] * math.cos(angle)
            im -= x[t] * math.sin(angle)
        out[k] = math.sqrt(re * re + im * im)
    return out


@sacpy.function
def simpson(n: int) -> float:
    """The integral of exp(-x x) from 0 to 1."""
    h = 1.0 / n
    total = 1.0 + math.exp(-1.0)
    for i in range(1, n):
        x = i * h
        total += (4.0 if i % 2 == 1 else 2.0) * math.exp(-x * x)
    return total * h / 3.0


@sacpy.function
def ising(spins: Int["n", "m"], steps: int, beta: float, seed: int) -> Int["n", "m"]:
    """Metropolis' method for a magnet on a torus."""
    s = spins.copy()
    n, m = s.shape
    state = seed
    for _ in range(steps):
        for i in range(n):
            for j in range(m):
                state = (1103515245 * state + 12345) % 2147483648
                near = s[(i + 1) % n, j] + s[(i - 1) % n, j] + s[i, (j + 1) % m] + s[i, (j - 1) % m]
                gain = 2 * s[i, j] * near
                if gain <= 0 or state < 2147483648.0 * math.exp(-beta * gain):
                    s[i, j] = -s[i, j]
    return s


@sacpy.function
def resize(image: Double["n", "m"], h: int, w: int) -> Double["h", "w"]:
    """Bilinear interpolation."""
    n, m = image.shape
    out = np.zeros((h, w))
    for i in range(h):
        y = i * (n - 1) / (h - 1)
        y0 = min(int(y), n - 2)
        fy = y - y0
        for j in range(w):
            x = j * (m - 1) / (w - 1)
            x0 = min(int(x), m - 2)
            fx = x - x0
            top = image[y0, x0] * (1.0 - fx) + image[y0, x0 + 1] * fx
            low = image[y0 + 1, x0] * (1.0 - fx) + image[y0 + 1, x0 + 1] * fx
            out[i, j] = top * (1.0 - fy) + low * fy
    return out


@sacpy.function
def autocorrelation(a: Double["n"], most: int) -> Double["most"]:
    """How a series resembles itself, shifted."""
    n = len(a)
    mean = np.mean(a)
    out = np.zeros(most)
    for lag in range(most):
        total = 0.0
        for i in range(n - lag):
            total += (a[i] - mean) * (a[i + lag] - mean)
        out[lag] = total / n
    return out
