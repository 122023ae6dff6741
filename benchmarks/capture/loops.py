# ruff: noqa: F821, E741 - names of extents are no names of Python
# mypy: ignore-errors
"""Functions written with loops and elements, as for Numba."""

import math

import numpy as np

import sacpy
from sacpy import Bool, Double, Int


@sacpy.function
def nbody(
    p: Double["n", 3], v: Double["n", 3], mass: Double["n"], dt: float, steps: int
) -> tuple[Double["n", 3], Double["n", 3]]:
    """Bodies that attract one another, with Euler's method."""
    pos = p.copy()
    vel = v.copy()
    n = len(mass)
    for _ in range(steps):
        for i in range(n):
            ax = 0.0
            ay = 0.0
            az = 0.0
            for j in range(n):
                dx = pos[j, 0] - pos[i, 0]
                dy = pos[j, 1] - pos[i, 1]
                dz = pos[j, 2] - pos[i, 2]
                d = dx * dx + dy * dy + dz * dz + 0.01
                f = mass[j] / (d * math.sqrt(d))
                ax += f * dx
                ay += f * dy
                az += f * dz
            vel[i, 0] += dt * ax
            vel[i, 1] += dt * ay
            vel[i, 2] += dt * az
        for i in range(n):
            for c in range(3):
                pos[i, c] += dt * vel[i, c]
    return pos, vel


@sacpy.function
def mandelbrot(w: int, h: int, limit: int) -> Int["h", "w"]:
    """How many rounds the orbit of each point stays near."""
    counts = np.zeros((h, w), np.int64)
    for y in range(h):
        for x in range(w):
            cr = -2.0 + 3.0 * x / w
            ci = -1.0 + 2.0 * y / h
            zr = 0.0
            zi = 0.0
            n = 0
            while n < limit and zr * zr + zi * zi <= 4.0:
                zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
                n += 1
            counts[y, x] = n
    return counts


@sacpy.function
def julia(w: int, h: int, cr: float, ci: float, limit: int) -> Int["h", "w"]:
    """The same with another start, left by break."""
    counts = np.zeros((h, w), np.int64)
    for y in range(h):
        for x in range(w):
            z = complex(-1.5 + 3.0 * x / w, -1.5 + 3.0 * y / h)
            n = 0
            for k in range(limit):
                if abs(z) > 2.0:
                    break
                z = z * z + complex(cr, ci)
                n = k + 1
            counts[y, x] = n
    return counts


@sacpy.function
def life(board: Int["n", "m"], steps: int) -> Int["n", "m"]:
    """Conway's game on a torus."""
    now = board.copy()
    n, m = now.shape
    for _ in range(steps):
        new = np.zeros((n, m), np.int64)
        for i in range(n):
            for j in range(m):
                count = 0
                for di in range(-1, 2):
                    for dj in range(-1, 2):
                        if di != 0 or dj != 0:
                            count += now[(i + di) % n, (j + dj) % m]
                if count == 3 or (count == 2 and now[i, j] == 1):
                    new[i, j] = 1
        now = new
    return now


@sacpy.function
def monte_carlo_pi(n: int, seed: int) -> float:
    """Points in a quarter of a circle; the numbers come from a linear congruential generator."""
    state = seed
    inside = 0
    for _ in range(n):
        state = (1103515245 * state + 12345) % 2147483648
        x = state / 2147483648
        state = (1103515245 * state + 12345) % 2147483648
        y = state / 2147483648
        if x * x + y * y <= 1.0:
            inside += 1
    return 4.0 * inside / n


@sacpy.function
def common_subsequence(a: Int["n"], b: Int["m"]) -> int:
    """The length of the longest one."""
    n, m = len(a), len(b)
    best = np.zeros((n + 1, m + 1), np.int64)
    for i in range(n):
        for j in range(m):
            if a[i] == b[j]:
                best[i + 1, j + 1] = best[i, j] + 1
            else:
                best[i + 1, j + 1] = max(best[i, j + 1], best[i + 1, j])
    return best[n, m]


@sacpy.function
def edit_distance(a: Int["n"], b: Int["m"]) -> int:
    """Levenshtein's, with two rows."""
    m = len(b)
    before = np.arange(m + 1)
    for i in range(len(a)):
        now = np.zeros(m + 1, np.int64)
        now[0] = i + 1
        for j in range(m):
            cost = 0 if a[i] == b[j] else 1
            now[j + 1] = min(before[j] + cost, before[j + 1] + 1, now[j] + 1)
        before = now
    return before[m]


@sacpy.function
def knapsack(weight: Int["n"], value: Int["n"], limit: int) -> int:
    """The greatest value that can be carried."""
    best = np.zeros(limit + 1, np.int64)
    for i in range(len(weight)):
        for w in range(limit, weight[i] - 1, -1):
            with_it = best[w - weight[i]] + value[i]
            if with_it > best[w]:
                best[w] = with_it
    return best[limit]


@sacpy.function
def time_warp(a: Double["n"], b: Double["m"]) -> float:
    """Dynamic time warping."""
    n, m = len(a), len(b)
    cost = np.full((n + 1, m + 1), np.inf)
    cost[0, 0] = 0.0
    for i in range(n):
        for j in range(m):
            d = abs(a[i] - b[j])
            cost[i + 1, j + 1] = d + min(cost[i, j + 1], cost[i + 1, j], cost[i, j])
    return cost[n, m]


@sacpy.function
def kmeans(points: Double["n", "d"], start: Double["k", "d"], steps: int) -> Double["k", "d"]:
    """Lloyd's method."""
    centre = start.copy()
    n, d = points.shape
    k = len(start)
    for _ in range(steps):
        total = np.zeros((k, d))
        count = np.zeros(k)
        for i in range(n):
            best = 0
            nearest = math.inf
            for c in range(k):
                dist = 0.0
                for j in range(d):
                    diff = points[i, j] - centre[c, j]
                    dist += diff * diff
                if dist < nearest:
                    nearest = dist
                    best = c
            count[best] += 1.0
            for j in range(d):
                total[best, j] += points[i, j]
        for c in range(k):
            if count[c] > 0.0:
                for j in range(d):
                    centre[c, j] = total[c, j] / count[c]
    return centre


@sacpy.function
def convolve(signal: Double["n"], kernel: Double["k"]) -> Double[:]:
    """One axis, where the kernel fits."""
    n, k = len(signal), len(kernel)
    out = np.zeros(max(n - k + 1, 0))
    for i in range(n - k + 1):
        total = 0.0
        for j in range(k):
            total += signal[i + j] * kernel[k - 1 - j]
        out[i] = total
    return out


@sacpy.function
def convolve2d(image: Double["n", "m"], kernel: Double["a", "b"]) -> Double[:, :]:
    """Two axes, where the kernel fits."""
    n, m = image.shape
    a, b = kernel.shape
    out = np.zeros((n - a + 1, m - b + 1))
    for i in range(n - a + 1):
        for j in range(m - b + 1):
            total = 0.0
            for k in range(a):
                for l in range(b):
                    total += image[i + k, j + l] * kernel[k, l]
            out[i, j] = total
    return out


@sacpy.function
def lorenz(steps: int, dt: float) -> Double["steps1", 3]:
    """An attractor, by Runge and Kutta's method of order 4."""
    out = np.zeros((steps + 1, 3))
    x, y, z = 1.0, 1.0, 1.0
    out[0, 0] = x
    out[0, 1] = y
    out[0, 2] = z
    for i in range(steps):
        kx = np.zeros(4)
        ky = np.zeros(4)
        kz = np.zeros(4)
        for s in range(4):
            f = 0.0 if s == 0 else 0.5 * dt if s < 3 else dt
            before = max(s - 1, 0)
            a = x + f * kx[before]
            b = y + f * ky[before]
            c = z + f * kz[before]
            kx[s] = 10.0 * (b - a)
            ky[s] = a * (28.0 - c) - b
            kz[s] = a * b - 8.0 / 3.0 * c
        x += dt / 6.0 * (kx[0] + 2.0 * kx[1] + 2.0 * kx[2] + kx[3])
        y += dt / 6.0 * (ky[0] + 2.0 * ky[1] + 2.0 * ky[2] + ky[3])
        z += dt / 6.0 * (kz[0] + 2.0 * kz[1] + 2.0 * kz[2] + kz[3])
        out[i + 1, 0] = x
        out[i + 1, 1] = y
        out[i + 1, 2] = z
    return out


@sacpy.function
def newton_roots(a: Double["n"]) -> Double["n"]:
    """Cube roots by Newton's method, each until it stays."""
    out = np.zeros(len(a))
    for i in range(len(a)):
        x = max(a[i], 1.0)
        for _ in range(100):
            new = x - (x * x * x - a[i]) / (3.0 * x * x)
            if abs(new - x) <= 1e-12 * abs(x):
                x = new
                break
            x = new
        out[i] = x
    return out


@sacpy.function
def bisection(a: Double["n"]) -> Double["n"]:
    """Where x exp(x) is a, by halving."""
    out = np.zeros(len(a))
    for i in range(len(a)):
        low, high = 0.0, 10.0
        while high - low > 1e-10:
            mid = 0.5 * (low + high)
            if mid * math.exp(mid) < a[i]:
                low = mid
            else:
                high = mid
        out[i] = 0.5 * (low + high)
    return out


@sacpy.function
def sparse_product(data: Double["k"], column: Int["k"], begin: Int["n1"], x: Double["m"]) -> Double[:]:
    """A matrix of compressed rows by a vector."""
    n = len(begin) - 1
    out = np.zeros(n)
    for i in range(n):
        total = 0.0
        for k in range(begin[i], begin[i + 1]):
            total += data[k] * x[column[k]]
        out[i] = total
    return out


@sacpy.function
def bootstrap(sample: Double["n"], rounds: int, seed: int) -> Double["rounds"]:
    """Means of samples drawn with replacement."""
    n = len(sample)
    state = seed
    out = np.zeros(rounds)
    for r in range(rounds):
        total = 0.0
        for _ in range(n):
            state = (1103515245 * state + 12345) % 2147483648
            total += sample[(state // 65536) % n]
        out[r] = total / n
    return out


@sacpy.function
def lu(a: Double["n", "n"]) -> Double["n", "n"]:
    """Lower and upper triangle in one, without pivots."""
    m = a.copy()
    n = len(m)
    for k in range(n):
        for i in range(k + 1, n):
            m[i, k] /= m[k, k]
            for j in range(k + 1, n):
                m[i, j] -= m[i, k] * m[k, j]
    return m


@sacpy.function
def cholesky(a: Double["n", "n"]) -> Double["n", "n"]:
    """The lower factor of a positive matrix."""
    n = len(a)
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            total = a[i, j]
            for k in range(j):
                total -= out[i, k] * out[j, k]
            if i == j:
                out[i, j] = math.sqrt(total)
            else:
                out[i, j] = total / out[j, j]
    return out


@sacpy.function
def shortest_paths(weight: Double["n", "n"]) -> Double["n", "n"]:
    """Floyd and Warshall's."""
    d = weight.copy()
    n = len(d)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])
    return d


@sacpy.function
def sieve(n: int) -> Bool[:]:
    """Which numbers below n are prime."""
    prime = np.ones(n, np.bool_)
    prime[:2] = False
    i = 2
    while i * i < n:
        if prime[i]:
            for k in range(i * i, n, i):
                prime[k] = False
        i += 1
    return prime


@sacpy.function
def collatz(n: int) -> tuple[int, int]:
    """The start below n with the longest way to 1, and its length."""
    best, longest = 1, 1
    for start in range(1, n):
        x, length = start, 1
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            length += 1
        if length > longest:
            best, longest = start, length
    return best, longest


@sacpy.function
def fibonacci(n: int) -> int:
    """By its definition."""
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


@sacpy.function
def lookup(table: Double["n"], wanted: Double["m"]) -> Int["m"]:
    """Binary search for each of many."""
    out = np.zeros(len(wanted), np.int64)
    for i in range(len(wanted)):
        low, high = 0, len(table)
        while low < high:
            mid = (low + high) // 2
            if table[mid] < wanted[i]:
                low = mid + 1
            else:
                high = mid
        out[i] = low
    return out


@sacpy.function
def insertion_sort(a: Double["n"]) -> Double["n"]:
    """Small arrays, in order."""
    out = a.copy()
    for i in range(1, len(out)):
        x = out[i]
        j = i - 1
        while j >= 0 and out[j] > x:
            out[j + 1] = out[j]
            j -= 1
        out[j + 1] = x
    return out


@sacpy.function
def viterbi(start: Double["s"], move: Double["s", "s"], emit: Double["s", "o"], seen: Int["n"]) -> Int["n"]:
    """The likeliest states, from logarithms of probabilities."""
    n, s = len(seen), len(start)
    score = np.zeros((n, s))
    came = np.zeros((n, s), np.int64)
    for j in range(s):
        score[0, j] = start[j] + emit[j, seen[0]]
    for t in range(1, n):
        for j in range(s):
            best = -math.inf
            where = 0
            for i in range(s):
                here = score[t - 1, i] + move[i, j]
                if here > best:
                    best = here
                    where = i
            score[t, j] = best + emit[j, seen[t]]
            came[t, j] = where
    path = np.zeros(n, np.int64)
    last = 0
    for j in range(s):
        if score[n - 1, j] > score[n - 1, last]:
            last = j
    path[n - 1] = last
    for t in range(n - 1, 0, -1):
        path[t - 1] = came[t, path[t]]
    return path
