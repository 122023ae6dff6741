# ruff: noqa: F821, RUF007 - names of extents are no names of Python
# mypy: ignore-errors
"""Small functions for each part of the subset: numbers, indices, NumPy. Each is a captured function with arguments."""

import cmath
import math

import numpy as np

import sacpy
from sacpy import Bool, Complex, Double, Float, Int, Int32, UInt8

CASES = []
RNG = np.random.default_rng(5)
A = np.arange(12.0).reshape(3, 4) - 5.5
V = np.array([3.0, -1.0, 2.5, 0.0, -0.0, 7.25])
NANS = np.array([1.0, np.nan, -2.0])
INTS = np.array([5, -3, 0, 12, -7])
NONE = np.zeros(0)
SCALE, TABLE, PAIR = 2.5, np.array([1, 10, 100]), (3, 0.5)


def case(*arguments):
    """Registers a function with several lists of arguments."""

    def register(function):
        CASES.append((sacpy.Captured(function, target="interp"), arguments))
        return CASES[-1][0]

    return register


# ---------------------------------------------------------------- numbers


@case((7, 2), (-7, 2), (7, -2), (-7, -2), (2**40, 3), (-(2**62), 7), (1, 2**62))
def whole_numbers(a: int, b: int) -> tuple[int, int, int, int, int, int, bool, bool, float]:
    return a + b, a - b, a // b, a % b, -a, abs(a), a < b, a == b, a / b


@case((7.5, 2.0), (-7.5, 2.0), (7.5, -2.0), (-7.5, -2.0), (0.5, 2.0), (0.0, 3.0), (-0.0, 3.0), (1e30, 1e-3), (6.0, 3.0))
def reals(a: float, b: float) -> tuple[float, float, float, float, float, float]:
    return a // b, a % b, a**b, a**2, a**-1.5 if a > 0 else 0.0, math.copysign(1.0, a % b)


@case((3, 4), (-3, 5), (2, 62), (-2, 63), (0, 0), (10, 18))
def powers(a: int, n: int) -> tuple[int, int, int]:
    return a**2, a**3, a ** abs(n)


@case((12, 10), (-12, 10), (2**40 + 5, 3), (0, 0))
def bits(a: int, b: int) -> tuple[int, int, int, int, int, int]:
    return a & b, a | b, a ^ b, ~a, (a & 255) << 3, a >> 2


@case((2.5,), (3.5,), (-2.5,), (-0.4,), (1e15,), (2.0**40 + 0.5,))
def rounding(x: float) -> tuple[int, int, int, int, float]:
    return round(x), int(x), math.floor(x), math.ceil(x), float(int(x))


@case((0.5, 3), (0.1, -2))
def mixed(x: float, n: int) -> tuple[float, float, float, bool, float]:
    return x + n, n * x - 1, n / 4, n < x <= 2 * x, max(x, float(n), 0.25)


@case((True, False), (False, False), (True, True))
def truth(a: bool, b: bool) -> tuple[bool, bool, bool, bool, int, int]:
    return a and b, a or b, not a, a != b, a + b, (3 if a else 4) * (2 if b else 5)


@case((0.3,), (2.0,))
def mathematics(x: float) -> tuple[float, float, float, float, float, float, float, bool, float]:
    return (
        math.sin(x) + math.cos(x), math.exp(-x), math.log(x + 1.0), math.log(8.0, 2.0), math.sqrt(x), math.atan2(x, 2),
        math.hypot(3.0, 4.0) + math.pi, math.isnan(x) or math.isinf(x), math.degrees(x) - math.radians(x),
    )  # fmt: skip


@case((17, 5), (10**12, 48), (0, 9))
def number_theory(a: int, b: int) -> tuple[int, int, int, int]:
    q, r = divmod(a, b)
    return math.isqrt(a), math.gcd(a, b), q, r


@case((1 + 2j, 0.5), (-3j, 2.0))
def complex_numbers(z: complex, x: float) -> tuple[complex, complex, float, float, complex, complex, bool]:
    return z * z + x, z / (1 + 1j) - 2, abs(z), z.imag + z.real, cmath.exp(z), complex(x, 2) * 3, z == z * 1


@case((2**31 - 1, 2), (2**31, -5), (-(2**31), 3))
def beyond_32_bits(a: int, b: int) -> tuple[int, int]:
    n = 0
    for i in range(3):
        n += a * (i + b)
    return n, (a + 1) * (a - 1)


# ---------------------------------------------------------------- variables, loops, conditionals


@case((10,), (0,), (-4,), (1,))
def ranges(n: int) -> tuple[int, int, int, int]:
    a = 0
    for i in range(n):
        a = a * 3 + i
    b = 0
    for i in range(2, n, 3):
        b = b * 3 + i
    c = 0
    for i in range(n, -3, -2):
        c = c * 3 + i
    d = 0
    step = 4 if n > 5 else -4
    for i in range(1, n, step):
        d = d * 3 + i
    return a, b, c, d


@case((INTS, 12), (INTS, 99), (np.array([], int), 1))
def jumps(a: Int["n"], x: int) -> tuple[int, int, int]:
    where = -1
    passed = 0
    for i in range(len(a)):
        if a[i] < 0:
            continue
        passed += 1
        if a[i] == x:
            where = i
            break
        passed += 10
    k = 100
    while True:
        k -= 7
        if k % 5 == 0:
            if k < 50:
                break
            continue
        k -= 1
        if k < -100:
            break
    return where, passed, k


@case((3, 4), (0, 5), (9, 1), (-2, 2))
def early(n: int, m: int) -> int:
    if n < 0:
        return -1
    for i in range(n):
        for j in range(m):
            if i * j > 6:
                return i * 100 + j
            if i + j > 9:
                break
    if n > 5:
        if m > 5:
            return 7
        n = n + 1
    return n


@case((INTS,))
def loop_variables(a: Int["n"]) -> tuple[int, int, int]:
    i = 50
    for i in range(len(a)):
        if a[i] > 6:
            break
    total = 0
    for k, x in enumerate(a):
        total += k * x
    for x, y in zip(a, a[1:]):
        total += x * y
    for x in reversed(range(4)):
        total = total * 2 + x
    n = 0
    for n in range(3):
        n = n * 2
    return i, total, n


@case((4,), (1,))
def tuples(n: int) -> tuple[int, int, float]:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    p = (a, 2.5)
    q, r = p
    (s, t), u = (p, b)
    x = y = 3
    return q + x, b + s + y + u, p[1] + r + t


@case((5,), (-5,))
def constants(n: int) -> tuple[float, int, float, int]:
    count, part = PAIR
    return n * SCALE, TABLE[1] + TABLE[-1], part + PAIR[1], count


@case((0, 3.0), (4, 2.0))
def recursive(n: int, x: float = 1.0) -> float:
    return x if n == 0 else recursive(n - 1, x * 2.0) + 1.0


@case((4.0,))
def calls_others(x: float) -> tuple[float, float]:
    a, b = divided(x, b=3.0)
    return recursive(2) + a, recursive(n=1, x=x) - b


@case((7.0, 2.0))
def divided(a: float, b: float) -> tuple[float, float]:
    return a / b, a - b


# ---------------------------------------------------------------- indices


@case((A,), (np.arange(2.0).reshape(1, 2),))
def slices(a: Double["n", "m"]):
    return a[-1], a[0, -1], a[:, 1], a[::2, ::-1], a[1:, :-1], a[-5:1], a[5:], a[::-1], a[0:9, 1:1], a.T[1], a[..., 0]


@case((V, 2, 4), (V, -3, 100), (V, 4, 2), (V, 0, -1), (NONE, 0, 3))
def slices_at_run_time(v: Double["n"], i: int, j: int):
    return v[i:j], v[i:], v[:j], v[j:i:-1], v[i:j:2], v[::-2], v[-2:], v[:-2], v[i::-1]


@case((A, 9.0))
def elements_set(a: Double["n", "m"], x: float):
    b = a.copy()
    b[0, 0] = x
    b[-1, -1] += 2 * x
    b[1] = 0.5
    c = a.copy()
    c[:, 1] = x
    c[0, 2:] = a[1, :2]
    c[::2] = c[::2] * 2.0
    d = a.copy()
    d[1:, 1:3] = a[:-1, 1:3] + np.array([1.0, 2.0])
    d[d < 0.0] = -1.0
    e = np.zeros((2, 3), int)
    e[0][1] = 5
    e[1, :] = np.arange(3)
    return b, c, d, e


@case((V, INTS))
def by_arrays(v: Double["n"], k: Int["m"]):
    return v[v > 1.0], k[k != 0], v[np.argsort(v)], v[np.abs(k) % 6], v[np.flatnonzero(v < 0.0)]


@case((A, V))
def shapes(a: Double["n", "m"], v: Double["k"]):
    n, m = a.shape
    return n * m, a.size, len(v), a.ndim, v.shape[0] + a.shape[1], len(a)


@case((INTS,), (np.array([2]),))
def comprehensions(a: Int["n"]):
    n = len(a)
    return (
        [x * x for x in a], [i for i in range(n) if a[i] > 0], [[i * j for j in range(3)] for i in range(n)],
        [i * 10 + j for i in range(2) for j in range(i + 2, i + 4)], sum(x for x in a if x > 1), sum([1.5, 2.5]),
        any(x == 12 for x in a), all(x > -8 for x in a), max(a[i] for i in range(n)), min(abs(x) for x in a),
        sum(i * j for i in range(n) for j in range(i)), [float(i) / 2 for i in range(4, 0, -1)], min(3, 1, 2),
    )  # fmt: skip


# ---------------------------------------------------------------- NumPy


@case((A, V))
def arithmetic(a: Double["n", "m"], v: Double["k"]):
    return a + 1, 2 * a - a * a, a / 4 - a // 2.5, a % 2, -a, a**2, a > 0, (a > 0) & (a < 3), 1 - v, v != 0, np.abs(v)


@case((A,))
def broadcasting(a: Double["n", "m"]):
    row, column = a[0], a[:, 0]
    return a + row, row * a, a - column[:, None], column[:, None] * row[None, :], a / a.sum(axis=1, keepdims=True)


@case((A, V), (A[:1], V[:1]))
def reductions(a: Double["n", "m"], v: Double["k"]):
    return (
        np.sum(a), a.sum(axis=0), a.sum(axis=-1), a.prod(axis=1), a.min(), np.max(a, axis=0), a.mean(), a.mean(axis=1),
        np.any(a > 5), np.all(a > -9, axis=0), a.std(), np.var(a, axis=0), np.argmax(v), v.argmin(), np.median(v),
        np.linalg.norm(v), np.sum(a > 0), np.mean(v > 0), np.argmax(a, axis=1), np.min(a, axis=1),
    )  # fmt: skip


@case((NANS,))
def not_a_number(v: Double["n"]):
    return np.min(v), np.max(v), np.isnan(v), np.minimum(v, 0.0), np.maximum(0.0, v), np.sum(v), np.where(v > 0, v, 0)


@case((INTS,))
def whole_arrays(a: Int["n"]):
    return (
        a + 1, a * a, a // 2, a % 3, a / 2, a.sum(), a.mean(), a.min(), np.cumsum(a), np.sort(a), np.argsort(a),
        a.astype(float), a**2, abs(a), a * 0.5, np.prod(a[:2]), np.bincount(a % 4, minlength=6), a & 6,
    )  # fmt: skip


@case((4, 0.5), (0, 1.0), (1, 2.0))
def made(n: int, x: float):
    return (
        np.zeros(n), np.zeros((n, 2), int), np.ones((2, n)), np.full((n,), x), np.arange(n), np.arange(1, n + 3, 2),
        np.arange(0.0, 2.0, 0.3), np.linspace(0.0, x, n), np.eye(n), np.full(3, 7), np.array([1.0, x, 3]),
        np.zeros_like(np.arange(n)), np.array([[1, 2], [3, n]]), np.linspace(1, 2, 5), np.ones(n, np.bool_),
    )  # fmt: skip


@case((A, V))
def moved(a: Double["n", "m"], v: Double["k"]):
    return (
        np.roll(v, 2), np.roll(a, -1, axis=1), np.flip(v), np.flip(a, axis=0), np.transpose(a), a.reshape(2, 6),
        a.reshape(-1), np.reshape(a, (4, -1)), np.concatenate((v, v[:2])), np.concatenate([a, a[:1]], axis=0),
        np.concatenate((a, a), axis=1), np.stack((v, v * 2)), np.pad(v, 2), np.pad(a, 1, mode="edge"),
        np.pad(v, (1, 3), mode="wrap"), np.pad(v, 2, mode="reflect"), np.pad(a, ((1, 0), (0, 2)), constant_values=1.5),
        np.diff(v), a.ravel(), a.flatten(), np.outer(v, v), np.searchsorted(np.sort(v), 2.0),
    )  # fmt: skip


@case((A, np.arange(8.0).reshape(4, 2), np.arange(4.0)))
def products(a: Double["n", "m"], b: Double["m", "k"], v: Double["m"]):
    return a @ b, a @ v, v @ b, v @ v, np.dot(a, b), a.dot(v), np.cumsum(a), np.cumsum(a, axis=0), np.sort(a, axis=0)


@case((np.array([0.2, 0.7]),))
def elementary(v: Double["n"]):
    return (
        np.sin(v), np.exp(v), np.log(v), np.sqrt(v), np.floor(v * 3), np.arctan2(v, 1.0), np.tanh(v), np.square(v),
        np.clip(v, 0.3, 0.5), np.hypot(v, v), np.where(v > 0.5, v, -v), np.sign(v - 0.5), np.power(v, 3), np.log1p(v),
        np.where(v[0] > 0.5, v, 2 * v), np.logical_and(v > 0, v < 0.5), np.rint(v * 10), np.maximum(v, v[::-1]),
    )  # fmt: skip


@case((np.array([1.5, 2.5], np.float32), np.array([1, 200], np.uint8), np.array([2**31 - 1, -5], np.int32)))
def other_types(f: Float["n"], u: UInt8["n"], i: Int32["n"]):
    return (
        f * 2, f + f, f.sum() * 1.0, u.astype(int) + 100, i.astype(int) + 1, i + 1, int(u[1]) + 100, int(i[0]) + 1,
        u < 5,
    )  # fmt: skip


@case((np.array([1 + 2j, -0.5j]),))
def complex_arrays(z: Complex["n"]):
    return z * z, z + 1, z.real, z.imag, np.abs(z), np.sum(z), z[0] * 2, np.exp(z), z * 0.5


@case((A,), (V,), (np.float64(3.0).reshape(()) + np.zeros((2, 1, 2)),))
def any_rank(a: Double[...]) -> Double[...]:
    return a * 2.0 + np.sin(a)


@case((NONE, np.zeros((0, 3))))
def nothing(v: Double["n"], a: Double["m", 3]):
    return v + 1, v.sum(), a.sum(axis=0), a.sum(axis=1), np.sort(v), v[1:], v[::-1], [x * 2 for x in v], np.cumsum(v)


@case((RNG.random((2, 1, 3, 1, 2, 1, 2)),))
def seven_axes(a: Double["a", "b", "c", "d", "e", "f", "g"]):
    return a[0], a[:, 0, 1], a * 2, a.sum(axis=2), a[..., -1], a.shape[4], a[1, 0, 2, 0, 1, 0, 1]


@case((np.array([True, False, True]),))
def bools(b: Bool["n"]):
    return b & ~b, b | b[::-1], b.any(), b.all(), b.sum(), [not x for x in b], np.where(b, 1, 0), b ^ b


@case((V,))
def methods(v: Double["n"]):
    a = v + 0.5
    a.sort()
    b = v.copy()
    b.fill(2.0)
    b += a
    b *= 2
    return a, b


PAIRS = "ij,jk->ik"


@case(
    (np.ones((2, 3)), np.arange(12.0).reshape(3, 4) - 5.0, np.arange(3.0), np.arange(12.0).reshape(2, 2, 3)),
    (np.zeros((0, 3)), np.ones((3, 1)), np.ones(3), np.zeros((2, 0, 3))),
)
def sums_by_subscripts(a: Double["n", "m"], b: Double["m", "k"], v: Double["m"], t: Double["p", "n", "m"]):
    return (
        np.einsum(PAIRS, a, b), np.einsum("ij, jk", a, b), np.einsum("ij,j", a, v), np.einsum("i,i", v, v),
        np.einsum("ji", a), np.einsum("...ij,...jk->...ik", t, b), np.einsum("i,j->ij", v, v), np.einsum("ij->", a),
        np.einsum("ij,jk,k->i", a, b, np.einsum("kl->l", b)), np.einsum("i...->...", t), np.einsum("...,...", t, 2.0),
        np.einsum("ij,ik->jk", v[:, None], v[None, :]), np.einsum("jij->i", t[:1, :, :1]), np.einsum("i->i", v),
    )  # fmt: skip


@case((np.array([[1, 2], [3, 4]]), np.array([1j, 2.0]), np.array([[0.5, 1.5], [2.5, -1.0]], np.float32)))
def sums_of_other_types(k: Int["n", "n"], z: Complex["n"], f: Float["n", "n"]):
    return (
        np.einsum("ii", k), np.einsum("ii->i", k), np.einsum("ij,j->i", k, z), np.einsum("ij,jk", f, f, optimize=True),
        ~k, z + k[0], z * np.sum(z).real,
    )  # fmt: skip


@case((np.arange(24.0).reshape(2, 3, 4) - 7.0, np.array([1 + 2j, -3j])), (np.zeros((2, 0, 1)), np.zeros(0, complex)))
def axes_in_order(t: Double["p", "n", "m"], z: Complex["k"]):
    return (
        np.transpose(t, (1, 2, 0)), t.transpose(2, 0, 1), t.transpose(), np.swapaxes(t, 0, 1), t.swapaxes(-1, 1),
        np.moveaxis(t, 0, -1), np.moveaxis(t, 2, 0), np.stack((t, -t), axis=1), np.stack([t, t], axis=-1),
        np.expand_dims(t, 1) + t[:, None], np.expand_dims(z, -1), np.conj(z), z.conj() * z, np.conj(t),
        np.sum(t, axis=(0, 2)), t.sum(axis=(-1, 1), keepdims=True), np.all(t > -9.0, axis=(0, 1, 2)),
        np.prod(t, axis=(1, 2)), np.transpose(np.expand_dims(t[0], 0), (1, 0, 2)) + np.expand_dims(t[0], 1),
    )  # fmt: skip


@case((np.arange(24.0).reshape(2, 3, 4) - 7.0,))
def several_axes(t: Double["p", "n", "m"]):
    return np.min(t, axis=(0, 1)), t.max(axis=(1, 2)), np.mean(t, axis=(0, 2)), np.any(t > 0.0, axis=(0, 2))
