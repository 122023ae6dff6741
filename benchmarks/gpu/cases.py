"""What is measured: functions in SaC, with the same in the words of other libraries.

In: a size. Out: arguments, NumPy arrays made from a seed, the bytes that have to be moved (reads and writes of each
element once), and by peer a maker of the same function. Peers are given their own arrays on the device, and are to be
as fast as a user who knows them would make them: CuPy with fused kernels, JAX jitted, PyTorch compiled, Numba and
Triton with kernels written out, n-body in CUDA C++.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.gpu import ordered
from benchmarks.gpu.case import HEAD, Array, Case, Maker, matrix, vector


def written_out(name: str) -> dict[str, Maker]:
    """The kernel of that name for Numba."""
    return {"numba": lambda _: getattr(import_module("benchmarks.gpu.numba_kernels"), name)()}


def in_triton(name: str) -> dict[str, Maker]:
    """The function of that name in Triton."""
    return {"triton": lambda _: getattr(import_module("benchmarks.gpu.triton_kernels"), name)}


MAP = Case(
    "map", "axpy", "float[n] axpy(float[n] x, float[n] y) { return { [i] -> 2.5f * x[i] + y[i] | [i] < [n] }; }",
    (1 << 16, 1 << 24, 1 << 28), lambda n: (vector(n), vector(n, 2)), lambda n: 12.0 * n,
    {
        "cupy": lambda cupy: cupy.fuse(lambda x, y: np.float32(2.5) * x + y),
        "jax": lambda jax: jax.jit(lambda x, y: np.float32(2.5) * x + y),
        "torch": lambda torch: torch.compile(lambda x, y: 2.5 * x + y),
        **written_out("axpy"),
        **in_triton("axpy"),
    },
)  # fmt: skip

FOLD = Case(
    "sum", "total", "float total(float[n] x) { return sum(x); }",
    (1 << 16, 1 << 24, 1 << 28), lambda n: (vector(n),), lambda n: 4.0 * n,
    {"cupy": lambda cupy: lambda x: cupy.sum(x).item(), "jax": lambda jax: _on_host(jax.jit(jax.numpy.sum)),
        "torch": lambda torch: lambda x: torch.sum(x).item(), **written_out("total")},
)  # fmt: skip

_RELAX = """float[m,n] relax(float[m,n] a)
{
  return { [i,j] -> 0.25f * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]) | [1,1] <= [i,j] < [m - 1, n - 1];
           [i,j] -> a[i, j] | [i,j] < [m, n] };
}"""
_RELAX_PEERS: dict[str, Maker] = {
    "cupy": lambda cupy: _cupy_relax(cupy),
    "jax": lambda jax: jax.jit(lambda a: a.at[1:-1,
            1:-1].set(np.float32(0.25) * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]))),
    "torch": lambda torch: torch.compile(lambda a: _relax_slices(a.clone(), a)),
    **written_out("relax"),
    **in_triton("relax"),
}  # fmt: skip

STENCIL = Case(
    "relaxation",
    "relax",
    _RELAX,
    (1 << 16, 1 << 24, 1 << 28),
    lambda n: (matrix(n, 0),),
    lambda n: 8.0 * n,
    _RELAX_PEERS,
)
ODD = Case(
    "relaxation, odd pitch",
    "relax",
    _RELAX,
    (1 << 24, 1 << 28),
    lambda n: (matrix(n),),
    lambda n: 8.0 * n,
    _RELAX_PEERS,
)

ROWS = Case(
    "row sums", "rows", "float[m] rows(float[m,n] a) { return { [i] -> with { ([0] <= [j] < [n]) : a[i, j]; } : "
        "fold(+, 0.0f) | [i] < [m] }; }",
    (1 << 24, 1 << 28), lambda n: (matrix(n),), lambda n: 4.0 * n,
    {"cupy": lambda cupy: lambda a: a.sum(axis=1), "jax": lambda jax: jax.jit(lambda a: a.sum(axis=1)),
        "torch": lambda torch: lambda a: a.sum(dim=1), **written_out("rows"), **in_triton("rows")},
)  # fmt: skip

COLUMNS = Case(
    "column sums", "columns", "float[n] columns(float[m,n] a) { return { [j] -> with { ([0] <= [i] < [m]) : a[i, j]; "
        "} : fold(+, 0.0f) | [j] < [n] }; }",
    (1 << 24, 1 << 28), lambda n: (matrix(n),), lambda n: 4.0 * n,
    {"cupy": lambda cupy: lambda a: a.sum(axis=0), "jax": lambda jax: jax.jit(lambda a: a.sum(axis=0)),
        "torch": lambda torch: lambda a: a.sum(dim=0), **written_out("columns")},
)  # fmt: skip

CONVOLUTION = Case(
    "convolution", "convolve",
    """float[.,.] convolve(float[m,n] a, float[p,q] w)
{
  return { [i,j] -> with { ([0,0] <= [k,l] < [p,q]) : a[i + k, j + l] * w[k, l];
    } : fold(+, 0.0f) | [i,j] < [m - p + 1, n - q + 1] };
}""",
    (1 << 20, 1 << 24), lambda n: (matrix(n), vector(25, 3).reshape(5, 5)), None,
    {"cupy": lambda cupy: lambda a, w: import_module("cupyx.scipy.signal").correlate2d(a, w, mode="valid"),
        **written_out("convolve"),
     "torch": lambda torch: lambda a, w: torch.nn.functional.conv2d(a[None, None], w[None, None])[0, 0],
     "jax": lambda jax: jax.jit(lambda a, w: jax.lax.conv(a[None, None], w[None, None], (1, 1), "VALID")[0, 0])},
)  # fmt: skip

_BODIES_PEERS: dict[str, Maker] = {
    "cupy": lambda cupy: lambda p, m: _pull(cupy, p, m),
    "jax": lambda jax: jax.jit(lambda p, m: _pull(jax.numpy, p, m)),
    "torch": lambda torch: torch.compile(lambda p, m: _pull(torch, p, m)),
    **written_out("pull"),
    "cuda c++": lambda compiled: compiled.pull(),
}


def bodies(n: int) -> tuple[Any, ...]:
    """Places and masses."""
    return vector(3 * n).astype(np.float64).reshape(n, 3), vector(n, 4).astype(np.float64)


BODIES = Case(
    "n-body", "pull",
    """double[n,3] pull(double[n,3] p, double[n] m)
{
  return { [i] -> with {
                    ([0] <= [j] < [n]) {
                      dx = p[j,0] - p[i,0]; dy = p[j,1] - p[i,1]; dz = p[j,2] - p[i,2];
                      d = dx * dx + dy * dy + dz * dz + 0.01;
                      f = m[j] / (d * sqrt(d));
                    } : [f * dx, f * dy, f * dz];
                  } : fold(+, [0.0, 0.0, 0.0])
         | [i] < [n] };
}""",
    (1 << 12, 1 << 14, 1 << 16), bodies, None, _BODIES_PEERS, 70, {"cupy": 1 << 14, "jax": 1 << 14, "torch": 1 << 14},
)  # fmt: skip

SCALARS = Case(
    "n-body, three sums", "pull",
    """double[n,3] pull(double[n,3] p, double[n] m)
{
  x, y, z = with {
    ([0] <= [i] < [n]) {
      fx, fy, fz = with {
        ([0] <= [j] < [n]) {
          dx = p[j,0] - p[i,0]; dy = p[j,1] - p[i,1]; dz = p[j,2] - p[i,2];
          d = dx * dx + dy * dy + dz * dz + 0.01;
          f = m[j] / (d * sqrt(d));
        } : (f * dx, f * dy, f * dz);
      } : (fold(+, 0.0), fold(+, 0.0), fold(+, 0.0));
    } : (fx, fy, fz);
  } : (genarray([n], 0.0), genarray([n], 0.0), genarray([n], 0.0));
  return { [i,k] -> k == 0 ? x[i] : k == 1 ? y[i] : z[i] | [i,k] < [n,3] };
}""",
    (1 << 12, 1 << 14, 1 << 16), bodies, None,
    {name: make for name, make in _BODIES_PEERS.items() if name in ("numba", "cuda c++")}, 70,
)  # fmt: skip

PRODUCT = Case(
    "matrix product", "product", "float[m,n] product(float[m,l] a, float[l,n] b) { return { [i,j] -> with { ([0] <= "
        "[k] < [l]) : a[i, k] * b[k, j]; } : fold(+, 0.0f) | [i,j] < [m,n] }; }",
    (1 << 16, 1 << 20, 1 << 24), lambda n: (matrix(n), matrix(n)), None,
    {"cupy": lambda cupy: cupy.matmul, "jax": lambda jax: jax.jit(lambda a,
            b: jax.numpy.matmul(a, b, precision="highest")), "torch": lambda torch: torch.matmul},
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
    (1 << 16, 1 << 22), lambda n: tuple(np.meshgrid(np.linspace(-2, 1, int(n**0.5)),
            np.linspace(-1.5, 1.5, int(n**0.5)))), None,
    {**written_out("mandel"), "cupy": lambda cupy: _cupy_mandel(cupy), "jax": lambda jax: _jax_mandel(jax)},
)  # fmt: skip

OPTIONS = Case(
    "Black-Scholes", "price",
    """inline double phi(double x) { return 0.5 * (1.0 + tanh(0.7978845608 * (x + 0.044715 * x * x * x))); }
double[n] price(double[n] s, double[n] k)
{
  return { [i] -> s[i] * phi((log(s[i] / k[i]) + 0.07) / 0.3) - k[i] * exp(-0.02) * phi((log(s[i] / k[i]) - 0.02) / 0.3)
    | [i] < [n] };
}""",
    (1 << 16, 1 << 24), lambda n: (vector(n).astype(np.float64), vector(n, 5).astype(np.float64)), None,
    {"cupy": lambda cupy: cupy.fuse(lambda s, k: _price(cupy, s, k)),
        "jax": lambda jax: jax.jit(lambda s, k: _price(jax.numpy, s, k)),
        "torch": lambda torch: torch.compile(lambda s, k: _price(torch, s, k)), **written_out("price")},
)  # fmt: skip

CASES = (
    *(MAP, FOLD, STENCIL, ODD, ROWS, COLUMNS, CONVOLUTION, BODIES, SCALARS, PRODUCT, MANDELBROT, OPTIONS),
    *ordered.CASES,
)


def _relax_slices(new: Array, a: Array) -> Array:
    new[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    return new


def _on_host(function: Callable[[Any], Any]) -> Callable[[Any], float]:
    return lambda x: float(function(x))


def _cupy_relax(cupy: Any) -> Callable[..., Array]:
    kernel = cupy.ElementwiseKernel(
        "raw float32 a, int64 m, int64 n",
        "float32 z",
        "long long r = i / n, c = i % n; z = r > 0 && r < m - 1 && c > 0 && c < n - 1 ? 0.25f * (a[i - n] + a[i + n] "
        "+ a[i - 1] + a[i + 1]) : a[i]",
        "relax",
    )
    return lambda a: kernel(a, *a.shape, cupy.empty_like(a))


def _cupy_mandel(cupy: Any) -> Callable[..., Array]:
    kernel = cupy.ElementwiseKernel(
        "float64 a, float64 b",
        "int32 k",
        "double x = 0, y = 0; k = 0; while (k < 200 && x * x + y * y < 4.0) { double t = x * x - y * y + a; y = 2.0 * "
        "x * y + b; x = t; k++; }",
        "mandel",
    )
    return lambda re, im: kernel(re, im)


def _jax_mandel(jax: Any) -> Callable[..., Array]:
    jnp = jax.numpy

    def step(_: Any, state: Any) -> Any:
        x, y, k, a, b = state
        inside = x * x + y * y < 4.0
        return jnp.where(inside, x * x - y * y + a, x), jnp.where(inside, 2.0 * x * y + b, y), k + inside, a, b

    return jax.jit(
        lambda a, b: jax.lax.fori_loop(0, 200, step, (0.0 * a, 0.0 * b, jnp.zeros(a.shape, jnp.int32), a, b))[2]
    )


def _pull(xp: Any, p: Array, m: Array) -> Array:
    d = p[None, :, :] - p[:, None, :]
    r = (d * d).sum(-1) + 0.01
    return ((m[None, :] / (r * xp.sqrt(r)))[:, :, None] * d).sum(1)


def _price(xp: Any, s: Array, k: Array) -> Array:
    def phi(x: Array) -> Array:
        return 0.5 * (1.0 + xp.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))

    return s * phi((xp.log(s / k) + 0.07) / 0.3) - k * 0.9801986733067553 * phi((xp.log(s / k) - 0.02) / 0.3)


__all__ = ["CASES", "HEAD", "Case", "vector"]
