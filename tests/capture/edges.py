# ruff: noqa: F821 - names of extents are no names of Python
# mypy: ignore-errors
"""What is easily got wrong: names that SaC reserves, loops without rounds, arrays that exchange places, views."""

import math

import numpy as np

import sacpy
from sacpy import Bool, Double, Int

EDGES = []
GRID = np.arange(6.0).reshape(3, 2)


def edge(*arguments):
    """Registers a function with several lists of arguments."""

    def register(function):
        EDGES.append((sacpy.Captured(function, target="interp"), arguments))
        return function

    return register


@edge((1.5, 2, np.arange(3.0), 7))
def names(double: float, with_: int, shape: Double["n"], n: int) -> float:
    sum = 0.0
    void, iv, t1, k1, vvoid = 2, 3, 4, 5, 6
    pair = (7, 8)
    pair_0 = 9
    for use in range(n):
        sum += double * use + shape[use % len(shape)] + void + iv + t1 + k1 + vvoid
    return sum + with_ + pair[0] + pair_0


@edge((2.0,))
def main(x: float) -> float:
    return x * 2


@edge((2.0, 3))
def größe(höhe: float, λ: int) -> float:
    π = 3.0
    return höhe * π + λ


@edge((GRID, 1.0), (GRID, 100.0))
def rows_returned_early(a: Double["n", "m"], x: float) -> Double[:]:
    for i in range(len(a)):
        if a[i, 0] > x:
            return a[i]
    return a[0] * 0


@edge((9,), (1,), (0,))
def growing(n: int) -> Double[:]:
    a = np.zeros(1)
    while len(a) < n:
        a = np.concatenate((a, a + 1))
    return a


@edge((np.array([1.0, 2.0]),), (np.array([np.nan, 2.0]),), (np.array([3.0, np.nan]),), (np.array([0.0, -0.0]),))
def pythons_extremes(v: Double["n"]) -> tuple[float, float, float, float]:
    return min(v), max(v), min(v[0], 1.0), max(v[1], v[0])


@edge((3,), (0,), (-3,))
def tuples_in_loops(n: int) -> tuple[int, float]:
    t = (1, 2.5) if n > 0 else (n, 0.5)
    for i in range(n):
        t = (t[0] + i, t[1] * 2)
    return t


@edge((5,), (0,), (1,))
def nested_jumps(n: int) -> tuple[int, Double[:]]:
    k = 0
    while True:
        k += 1
        for j in range(n):
            if j * k > 20:
                return k, np.ones(j)
            if k > 30:
                break
        if k > 40:
            return -1, np.zeros(3)


@edge((np.arange(6.0) ** 2, 3), (np.zeros(0), 2))
def two_buffers(u: Double["n"], steps: int) -> Double["n"]:
    a = u.copy()
    b = u.copy()
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            b[i] = (a[i - 1] + a[i + 1]) / 2
        a, b = b, a
    return a


@edge((GRID,))
def exchanged(a: Double["n", "m"]) -> Double["n", "m"]:
    b = a.copy()
    b[0], b[1] = b[1].copy(), b[0].copy()
    b[0, 0], b[0, 1] = b[0, 1], b[0, 0]
    return b


@edge((4,), (1,))
def shadowed(n: int) -> int:
    i = 5
    x = [i * 2 for i in range(n)]
    for i in range(3):
        i = i * 3
        x[i % n] += i
    return i + sum(x)


@edge((np.ones(3), 1), (np.ones(3), 0))
def of_other_lengths(a: Double["n"], n: int) -> Double[:]:
    return a if n > 0 else np.zeros(2)


@edge((np.arange(4.0),), (np.arange(1.0),))
def augmented(a: Double["n"]) -> Double["n"]:
    a += 1
    a[1:] *= 2
    a[-1] -= 5
    return a


@edge((GRID,), (np.zeros((0, 2)),))
def through_rows(a: Double["n", "m"]) -> float:
    t = 0.0
    for r in a:
        for x in r:
            t += x
    for i, r in enumerate(a):
        t += i * r[-1]
    return t


@edge((4,))
def through_literals(n: int) -> tuple[Double[:, :], float, int]:
    a = np.zeros((n, n))
    for i, j in [(0, 1), (1, 2)]:
        a[i, j] = 1.0
    for k, x in ((0, 0.5), (n - 1, 2)):
        a[k, k] = x
    t = 0.0
    for x in (1.5, n, 2):
        t += x
    return a, t, sum(k * m for k, m in ((1, 2), (3, n)))


@edge((11,), (0,))
def continued(n: int) -> int:
    s = 0
    while n > 0:
        n -= 1
        if n % 2:
            continue
        if n == 4:
            s += 100
            continue
        s += n
    return s


@edge((True, 5), (False, 1))
def bools_as_numbers(a: bool, n: int) -> int:
    return n * a + (n > 2) + True


@edge((np.arange(24.0).reshape(2, 3, 4),))
def three_axes(a: Double[2, 3, 4]):
    return a[1, 2, 3], a[1][2], a[:, 1, ::2], a[-1, -1], a[..., 0].sum(axis=0)


@edge((np.arange(10.0)[::2], np.arange(4, dtype=np.int32), np.asfortranarray(GRID)))
def layouts(a: Double["n"], b: Int["m"], c: Double["k", "l"]):
    return a.sum(), b.sum(), c[0], c.T


@edge((1.5, -3), (2.0, 0))
def powers_of_any_sign(x: float, n: int) -> tuple[float, float, int]:
    return x**n, 2.0**-1, 2**10


@edge((1,), (2,), (3,), (4,))
def ways(n: int) -> int:
    if n == 1:
        return 10
    elif n == 2:
        return 20
    elif n == 3:
        n = 5
    else:
        return 40
    return n


@edge((6,), (0,))
def bools_set(n: int) -> tuple[Bool[:], int]:
    seen = np.zeros(n, bool)
    for k in range(0, n, 2):
        seen[k] = True
    return seen, sum(1 for s in seen if s)


@edge((0.5,), (-2.0,))
def deep(x: float) -> float:
    return x + (x * (x + (x * (x + (x * (x + (x * (x + (x * (x - (x * (x + (x * math.sin(x))))))))))))))
