"""The fast Fourier transform of a vector of complex numbers, with the roots of unity given. Size: points, a power of
two."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 64, "cached": 8_192, "large": 1_048_576}


def inputs(n: int) -> tuple[Any, ...]:
    i = np.arange(2 * n)
    turns = -2.0 * np.pi * np.arange(n // 2) / n
    return np.sin(i * 0.37).reshape(n, 2), np.stack((np.cos(turns), np.sin(turns)), axis=1)


def numpy_version(x: Any, roots: Any) -> Any:
    y = np.fft.fft(x.view(np.complex128)[:, 0])
    return np.ascontiguousarray(y.real), np.ascontiguousarray(y.imag)


def c_version(lib: Any, x: Any, roots: Any) -> Any:
    re, im = np.empty(len(x)), np.empty(len(x))
    lib.fft(re, im, x, roots, len(x))
    return re, im
