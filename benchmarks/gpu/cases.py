"""What is measured: functions in SaC, with the same in the words of other libraries.

In: a size. Out: arguments, NumPy arrays made from a seed, the bytes that have to be moved (reads and writes of each element once), and by peer a maker of the same function. Peers are given their own arrays on the device, and are to be as fast as a user who knows them would make them: CuPy with fused kernels, JAX jitted, PyTorch compiled, Numba with a kernel written out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = Any
Maker = Callable[[Any], Callable[..., Any]]  # a peer's module to the function

HEAD = "use Array: all;\nuse Math: all;\n"


@dataclass(frozen=True)
class Case:
    """`function` of `source` at `sizes`; `arguments(size)`; `traffic`: bytes of a call, where its time is that of the memory. `peers`: by module."""

    name: str
    function: str
    source: str
    sizes: tuple[int, ...]
    arguments: Callable[[int], tuple[Any, ...]]
    traffic: Callable[[int], float] | None = None
    peers: dict[str, Maker] = field(default_factory=dict)
    small: int = 1 << 12  # the size at which it is compared with the interpreter


def vector(size: int, seed: int = 1) -> Array:
    """Random floats in [0.5, 1.5)."""
    return np.random.default_rng(seed).random(size, np.float32) + np.float32(0.5)


def matrix(size: int) -> Array:
    """A square matrix of about so many elements, with a pitch that no power of two divides."""
    n = int(size**0.5) | 1
    return vector(n * n).reshape(n, n)


MAP = Case(
    "map", "axpy", "float[n] axpy(float[n] x, float[n] y) { return { [i] -> 2.5f * x[i] + y[i] | [i] < [n] }; }",
    (1 << 16, 1 << 24, 1 << 28), lambda n: (vector(n), vector(n, 2)), lambda n: 12.0 * n,
    {
        "cupy": lambda cupy: cupy.fuse(lambda x, y: np.float32(2.5) * x + y),
        "jax": lambda jax: jax.jit(lambda x, y: np.float32(2.5) * x + y),
        "torch": lambda torch: torch.compile(lambda x, y: 2.5 * x + y),
        "numba": lambda _: _numba_map(),
    },
)  # fmt: skip

FOLD = Case(
    "sum", "total", "float total(float[n] x) { return sum(x); }",
    (1 << 16, 1 << 24, 1 << 28), lambda n: (vector(n),), lambda n: 4.0 * n,
    {"cupy": lambda cupy: cupy.sum, "jax": lambda jax: jax.jit(jax.numpy.sum), "torch": lambda torch: torch.sum},
)  # fmt: skip

STENCIL = Case(
    "relaxation", "relax",
    """float[m,n] relax(float[m,n] a)
{
  return { [i,j] -> 0.25f * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]) | [1,1] <= [i,j] < [m - 1, n - 1];
           [i,j] -> a[i, j] | [i,j] < [m, n] };
}""",
    (1 << 16, 1 << 24, 1 << 28), lambda n: (matrix(n),), lambda n: 8.0 * n,
    {"cupy": lambda cupy: lambda a: _relax_slices(a.copy(), a), "jax": lambda jax: jax.jit(lambda a: a.at[1:-1, 1:-1].set(np.float32(0.25) * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]))),
     "torch": lambda torch: torch.compile(lambda a: _relax_slices(a.clone(), a)), "numba": lambda _: _numba_relax()},
)  # fmt: skip

ROWS = Case(
    "row sums", "rows", "float[m] rows(float[m,n] a) { return { [i] -> with { ([0] <= [j] < [n]) : a[i, j]; } : fold(+, 0.0f) | [i] < [m] }; }",
    (1 << 24, 1 << 28), lambda n: (matrix(n),), lambda n: 4.0 * n,
    {"cupy": lambda cupy: lambda a: a.sum(axis=1), "jax": lambda jax: jax.jit(lambda a: a.sum(axis=1)), "torch": lambda torch: lambda a: a.sum(dim=1)},
)  # fmt: skip

COLUMNS = Case(
    "column sums", "columns", "float[n] columns(float[m,n] a) { return { [j] -> with { ([0] <= [i] < [m]) : a[i, j]; } : fold(+, 0.0f) | [j] < [n] }; }",
    (1 << 24, 1 << 28), lambda n: (matrix(n),), lambda n: 4.0 * n,
    {"cupy": lambda cupy: lambda a: a.sum(axis=0), "jax": lambda jax: jax.jit(lambda a: a.sum(axis=0)), "torch": lambda torch: lambda a: a.sum(dim=0)},
)  # fmt: skip

CONVOLUTION = Case(
    "convolution", "convolve",
    """float[.,.] convolve(float[m,n] a, float[p,q] w)
{
  return { [i,j] -> with { ([0,0] <= [k,l] < [p,q]) : a[i + k, j + l] * w[k, l]; } : fold(+, 0.0f) | [i,j] < [m - p + 1, n - q + 1] };
}""",
    (1 << 20, 1 << 24), lambda n: (matrix(n), vector(25, 3).reshape(5, 5)), None,
    {"torch": lambda torch: lambda a, w: torch.nn.functional.conv2d(a[None, None], w[None, None])[0, 0], "jax": lambda jax: jax.jit(lambda a, w: jax.lax.conv(a[None, None], w[None, None], (1, 1), "VALID")[0, 0])},
)  # fmt: skip

BODIES = Case(
    "n-body", "pull",
    """double[n,3] pull(double[n,3] p, double[n] m)
{
  ax = { [i] -> with { ([0] <= [j] < [n]) { dx = p[j,0] - p[i,0]; dy = p[j,1] - p[i,1]; dz = p[j,2] - p[i,2]; d = dx * dx + dy * dy + dz * dz + 0.01; } : m[j] * dx / (d * sqrt(d)); } : fold(+, 0.0) | [i] < [n] };
  ay = { [i] -> with { ([0] <= [j] < [n]) { dx = p[j,0] - p[i,0]; dy = p[j,1] - p[i,1]; dz = p[j,2] - p[i,2]; d = dx * dx + dy * dy + dz * dz + 0.01; } : m[j] * dy / (d * sqrt(d)); } : fold(+, 0.0) | [i] < [n] };
  az = { [i] -> with { ([0] <= [j] < [n]) { dx = p[j,0] - p[i,0]; dy = p[j,1] - p[i,1]; dz = p[j,2] - p[i,2]; d = dx * dx + dy * dy + dz * dz + 0.01; } : m[j] * dz / (d * sqrt(d)); } : fold(+, 0.0) | [i] < [n] };
  return { [i,k] -> k == 0 ? ax[i] : k == 1 ? ay[i] : az[i] | [i,k] < [n,3] };
}""",
    (1 << 10, 1 << 14), lambda n: (vector(3 * n).astype(np.float64).reshape(n, 3), vector(n, 4).astype(np.float64)), None,
    {"cupy": lambda cupy: lambda p, m: _pull(cupy, p, m), "jax": lambda jax: jax.jit(lambda p, m: _pull(jax.numpy, p, m)), "torch": lambda torch: torch.compile(lambda p, m: _pull(torch, p, m))}, 70,
)  # fmt: skip

MANDELBROT = Case(
    "mandelbrot", "mandel",
    """int[n,n] mandel(double[n,n] re, double[n,n] im)
{
  return { [i,j] -> escape(re[i,j], im[i,j]) | [i,j] < [n,n] };
}
inline int escape(double a, double b)
{
  x = 0.0; y = 0.0; k = 0;
  while (k < 200 && x * x + y * y < 4.0) { t = x * x - y * y + a; y = 2.0 * x * y + b; x = t; k++; }
  return k;
}""",
    (1 << 16, 1 << 22), lambda n: tuple(np.meshgrid(np.linspace(-2, 1, int(n**0.5)), np.linspace(-1.5, 1.5, int(n**0.5)))), None,
    {"numba": lambda _: _numba_mandelbrot()},
)  # fmt: skip

OPTIONS = Case(
    "Black-Scholes", "price",
    """inline double phi(double x) { return 0.5 * (1.0 + tanh(0.7978845608 * (x + 0.044715 * x * x * x))); }
double[n] price(double[n] s, double[n] k)
{
  return { [i] -> s[i] * phi((log(s[i] / k[i]) + 0.07) / 0.3) - k[i] * exp(-0.02) * phi((log(s[i] / k[i]) - 0.02) / 0.3) | [i] < [n] };
}""",
    (1 << 16, 1 << 24), lambda n: (vector(n).astype(np.float64), vector(n, 5).astype(np.float64)), None,
    {"cupy": lambda cupy: cupy.fuse(lambda s, k: _price(cupy, s, k)), "jax": lambda jax: jax.jit(lambda s, k: _price(jax.numpy, s, k)), "torch": lambda torch: torch.compile(lambda s, k: _price(torch, s, k))},
)  # fmt: skip

CASES = (MAP, FOLD, STENCIL, ROWS, COLUMNS, CONVOLUTION, BODIES, MANDELBROT, OPTIONS)


def _relax_slices(new: Array, a: Array) -> Array:
    new[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    return new


def _pull(xp: Any, p: Array, m: Array) -> Array:
    d = p[None, :, :] - p[:, None, :]
    r = (d * d).sum(-1) + 0.01
    return ((m[None, :] / (r * xp.sqrt(r)))[:, :, None] * d).sum(1)


def _price(xp: Any, s: Array, k: Array) -> Array:
    def phi(x: Array) -> Array:
        return 0.5 * (1.0 + xp.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))

    return s * phi((xp.log(s / k) + 0.07) / 0.3) - k * 0.9801986733067553 * phi((xp.log(s / k) - 0.02) / 0.3)


def _numba_map() -> Callable[..., Any]:
    from numba import cuda

    @cuda.jit
    def kernel(x: Array, y: Array, z: Array) -> None:
        i = cuda.grid(1)
        if i < z.size:
            z[i] = np.float32(2.5) * x[i] + y[i]

    def run(x: Array, y: Array) -> Array:
        z = cuda.device_array_like(x)
        kernel[(x.size + 255) // 256, 256](x, y, z)
        return z

    return run


def _numba_relax() -> Callable[..., Any]:
    from numba import cuda

    @cuda.jit
    def kernel(a: Array, z: Array) -> None:
        i, j = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y, cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        m, n = a.shape
        if i < m and j < n:
            inside = 0 < i < m - 1 and 0 < j < n - 1
            z[i, j] = np.float32(0.25) * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]) if inside else a[i, j]

    def run(a: Array) -> Array:
        z = cuda.device_array_like(a)
        kernel[((a.shape[1] + 63) // 64, (a.shape[0] + 3) // 4), (64, 4)](a, z)
        return z

    return run


def _numba_mandelbrot() -> Callable[..., Any]:
    from numba import cuda

    @cuda.jit
    def kernel(re: Array, im: Array, out: Array) -> None:
        i, j = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y, cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
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
