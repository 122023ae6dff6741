# ruff: noqa: F821 - names of extents are no names of Python
# mypy: ignore-errors
"""NumPy's functions that repeat elements, take some, join matrices, compare and count: each with empty arrays, NaN and
odd shapes."""

import numpy as np

import sacpy
from sacpy import Bool, Complex, Double, Int, UInt8

PARTS = []
V, W = np.array([3.0, -1.0, 2.5]), np.array([0.5, np.nan, -0.0, 7.0])
NO, ONE = np.zeros(0), np.array([4.0])
GRID, WIDE, TALL = np.arange(6.0).reshape(3, 2), np.arange(12.0).reshape(2, 6), np.arange(5.0).reshape(5, 1)
FLAT, NARROW = np.zeros((0, 3)), np.zeros((3, 0))
MATRICES = [(a,) for a in (GRID, WIDE, TALL, FLAT, NARROW)]
VECTORS = [(v,) for v in (V, W, NO, ONE)]
PAIRS = [(V, W), (W, V), (ONE, V), (V, ONE), (ONE, ONE)]


def part(*arguments):
    """Registers a function with several lists of arguments."""

    def register(function):
        PARTS.append((sacpy.Captured(function, target="interp"), arguments))
        return function

    return register


@part(*((v, n) for (v,) in VECTORS for n in (0, 1, 3)))
def tiled(a: Double["n"], k: int) -> tuple[Double[:], Double[:, :], Double[:]]:
    return np.tile(a, k), np.tile(a, (2, k)), np.tile(2.5, k)


@part(*MATRICES)
def tiled_matrices(a: Double["n", "m"]) -> tuple[Double[:, :], Double[:, :], Double[:, :, :]]:
    return np.tile(a, 2), np.tile(a, (3, 1)), np.tile(a, (2, 1, 2))


@part(*((v, n) for (v,) in VECTORS for n in (0, 1, 3)))
def repeated(a: Double["n"], k: int) -> tuple[Double[:], Double[:], Double[:]]:
    return np.repeat(a, k), a.repeat(k, axis=0), np.repeat(a[:1] * 2, 2)


@part(*((a, n) for (a,) in MATRICES for n in (0, 1, 3)))
def repeated_rows(a: Double["n", "m"], k: int) -> tuple[Double[:, :], Double[:, :], Double[:], Double[:]]:
    return np.repeat(a, k, axis=0), np.repeat(a, 2, axis=-1), np.repeat(a, k), np.repeat(1.5, k)


@part((np.ones((1, 3)),), (np.ones((1, 0)),))
def squeezed(a: Double["n", "m"]) -> tuple[Double[:], Double[:], Double[:]]:
    return np.squeeze(a, axis=0), a.squeeze(axis=0) + 1.0, np.squeeze(a[:, :, None], axis=(0, 2))


@part((ONE, np.full((1, 1), 2.0)))
def squeezed_to_numbers(a: Double["n"], b: Double["m", "k"]) -> tuple[float, float]:
    return np.squeeze(a, axis=0) * 2.0, np.squeeze(b, axis=(0, 1)) * 3.0


@part(*MATRICES)
def diagonals(a: Double["n", "m"]) -> tuple[Double[:], Double[:], Double[:], float, float]:
    return np.diag(a), np.diagonal(a, 1), a.diagonal(offset=-2), np.trace(a), a.trace(offset=1)


@part(*VECTORS)
def from_diagonals(v: Double["n"]) -> tuple[Double[:, :], Double[:, :], Double[:, :]]:
    return np.diag(v), np.diag(v, 2), np.diag(v, k=-1)


@part((np.arange(4).reshape(2, 2), np.array([True, False])), (np.zeros((0, 0), np.int64), np.zeros(0, np.bool_)))
def of_other_types(a: Int["n", "n"], b: Bool["k"]) -> tuple[int, Int[:, :], Bool[:, :], Bool[:]]:
    return np.trace(a), np.triu(a, 1), np.diag(b), np.tile(b, 2)


@part(*MATRICES)
def triangles(a: Double["n", "m"]) -> tuple[Double[:, :], Double[:, :], Double[:, :], Double[:, :]]:
    return np.triu(a), np.tril(a), np.triu(a, -1), np.tril(a, k=1)


@part(*MATRICES)
def turned_over(a: Double["n", "m"]) -> tuple[Double[:, :], Double[:, :], Double[:]]:
    return np.flipud(a), np.fliplr(a), np.flipud(a[:, 0] if a.shape[1] > 0 else a.ravel())


@part(*VECTORS, (np.array([1.0, np.nan, 1.0, np.nan, -np.inf, 0.0, -0.0, np.inf]),))
def each_once(v: Double["n"]) -> tuple[Double[:], int]:
    u = np.unique(v)
    return u + 0.0, len(np.unique(u))


@part((np.array([[5, 3], [3, -5]]), np.array([3, 0, 255, 3], np.uint8)), (np.zeros((0, 2), np.int64), np.uint8([])))
def each_once_of_whole_numbers(a: Int["n", "m"], b: UInt8["k"]) -> tuple[Int[:], UInt8[:], Int[:]]:
    return np.unique(a), np.unique(b), np.unique(7)


@part(*((v, v + 1.0) for (v,) in VECTORS))
def joined_vectors(a: Double["n"], b: Double["n"]) -> tuple[Double[:, :], Double[:], Double[:, :], Double[:, :]]:
    return np.vstack((a, b, a)), np.hstack((a, b)), np.column_stack((a, b)), np.vstack([a])


@part(*((a, a[:1]) for (a,) in MATRICES))
def joined_matrices(a: Double["n", "m"], b: Double["k", "m"]) -> tuple[Double[:, :], Double[:, :], Double[:, :]]:
    return np.vstack((a, b)), np.hstack((a, a)), np.column_stack((a, np.ones(len(a)), a))


@part((1.0, 2.0))
def joined_numbers(a: float, b: float) -> tuple[Double[:], Double[:, :]]:
    return np.hstack((a, b)), np.vstack((a, b))


@part(*MATRICES, (np.array([[np.nan, 0.0], [-0.0, 1.0]]),))
def counted(a: Double["n", "m"]) -> tuple[int, Int[:], Int[:], int, int]:
    return (np.count_nonzero(a), np.count_nonzero(a, axis=0), np.count_nonzero(a, axis=-1), np.count_nonzero(a > 1),
            np.count_nonzero(2.5))  # fmt: skip


@part((V, GRID, np.array([4, -2])), (W, TALL, np.array([7])))
def ranges(v: Double["n"], a: Double["m", "k"], w: Int["l"]) -> tuple[float, Double[:], int]:
    return np.ptp(v), np.ptp(a, axis=0), np.ptp(w)


@part(*((v,) for v in (V, W, ONE)), (np.array([np.inf, -np.inf, np.inf]),))
def close(v: Double["n"]) -> tuple[Bool[:], bool, bool, bool, Bool[:]]:
    return (np.isclose(v, v * (1 + 1e-6)), np.allclose(v, v[0]), np.allclose(v, v), np.isclose(v[0], np.inf),
            np.isclose(v, 1.0, rtol=0.5, atol=1))  # fmt: skip


@part((NO, V), (V, W), (np.array([-9.0, -1.0, 0.5, np.nan, 3.0, 9.0, np.inf]), V))
def interpolated(x: Double["n"], y: Double["m"]) -> tuple[Double[:], float, Double[:]]:
    points = np.arange(len(y)) * 1.5 - 1.0
    return np.interp(x, points, y), np.interp(0.25, points, y), np.interp(x, points[:1], y[:1])


@part((np.array([0.0, 1.0, 1.5]),))
def interpolated_at_infinity(x: Double["n"]) -> tuple[Double[:], Double[:]]:
    points = np.array([0.0, 1.0, np.inf])
    return np.interp(x, points, np.array([1.0, 2.0, 2.0])), np.interp(x, np.array([0.0, 1.0, 2.0]), points)


@part(*PAIRS)
def convolved(a: Double["n"], v: Double["m"]) -> tuple[Double[:], Double[:], Double[:]]:
    return np.convolve(a, v), np.convolve(a, v, mode="same"), np.convolve(a, v, "valid")


@part((np.array([1, 2, 3, 4]), np.array([1, -1])), (np.array([5]), np.array([7])))
def of_whole_numbers(a: Int["n"], v: Int["m"]) -> tuple[Int[:], int]:
    return np.convolve(a, v), np.inner(a[:1], v[:1])


@part(*VECTORS)
def areas(v: Double["n"]) -> tuple[float, float, float]:
    return np.trapezoid(v), np.trapezoid(v, np.arange(len(v)) ** 2.0), np.trapezoid(v, dx=0.25)


@part((V, V + 1.0), (NO, NO))
def inner(a: Double["n"], b: Double["n"]) -> float:
    return np.inner(a, b)


@part((np.array([1j, 2.0]), np.array([[1 + 1j, 2.0], [0.0, 1j]])), (np.zeros(0, complex), np.zeros((0, 2), complex)))
def complex_numbers(z: Complex["k"], a: Complex["n", "m"]) -> tuple[Complex[:], Complex[:, :], complex, Complex[:, :]]:
    return np.repeat(z, 2), np.diag(z), np.trace(a), np.triu(np.vstack((a, a)))


@part(*MATRICES)
def differences(a: Double["n", "m"]) -> tuple[Double[:, :], Double[:, :], Double[:, :], Double[:, :]]:
    return np.diff(a), np.diff(a, axis=0), np.diff(a, n=2), np.diff(a, 0)


@part(*((np.asfortranarray(a),) for (a,) in MATRICES if a.size), (np.array([[2.0, 2.0], [2.0, 1.0]]),))
def best_along(a: Double["n", "m"]) -> tuple[Int[:], Int[:], Int[:], int]:
    return np.argmin(a, axis=0), np.argmax(a, axis=1), a.argmin(axis=-1), np.argmax(a)
