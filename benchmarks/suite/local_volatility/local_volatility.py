"""Option prices where volatility depends on price and time, by alternating directions. Size: points on the axis of
prices; half as many volatilities, and a few strikes and times."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 10, "cached": 64, "large": 512}
NU, BETA = 0.6, 0.5


def inputs(n: int) -> tuple[Any, ...]:
    return (
        np.linspace(0.5, 2.0, n) ** 1.5,
        np.linspace(-0.5, 0.5, n // 2),
        0.8 + np.arange(4) / 10.0,
        np.linspace(0.0, 1.0, 8),
    )


def _weights(x: Any) -> Any:
    w = np.zeros((len(x), 3))
    before, behind = x[1:-1] - x[:-2], x[2:] - x[1:-1]
    w[1:-1] = np.stack((2 / before / (before + behind), -2 / before / behind, 2 / behind / (before + behind)), 1)
    return w


def _tridiagonal(below: Any, diagonal: Any, above: Any, right: Any) -> Any:
    """Systems along the first axis, all at once."""
    c, x = above.copy(), right.copy()
    c[0] /= diagonal[0]
    x[0] /= diagonal[0]
    for i in range(1, len(x)):
        f = 1.0 / (diagonal[i] - below[i] * c[i - 1])
        c[i] *= f
        x[i] = (x[i] - below[i] * x[i - 1]) * f
    for i in range(len(x) - 2, -1, -1):
        x[i] -= c[i] * x[i + 1]
    return x


def numpy_version(x: Any, y: Any, strike: Any, times: Any) -> Any:
    wx, wy = _weights(x).T[:, :, None, None], _weights(y).T[:, None, :, None]
    v = np.maximum(x[:, None, None] - strike, 0.0) * np.ones((len(x), len(y), len(strike)))
    nu = NU * NU
    for k in range(len(times) - 2, -1, -1):
        rate = 1.0 / (times[k + 1] - times[k])
        variance = np.exp(2.0 * (BETA * np.log(x)[:, None] + y - 0.5 * nu * times[k]))[:, :, None]
        along, across = np.zeros_like(v), np.zeros_like(v)
        w = wy[:, :, 1:-1]
        along[:, 1:-1] = 0.5 * nu * (w[0] * v[:, :-2] + w[1] * v[:, 1:-1] + w[2] * v[:, 2:])
        w = wx[:, 1:-1]
        across[1:-1] = 0.25 * variance[1:-1] * (w[0] * v[:-2] + w[1] * v[1:-1] + w[2] * v[2:])
        v = _tridiagonal(
            -0.25 * variance * wx[0],
            rate - 0.25 * variance * wx[1],
            -0.25 * variance * wx[2],
            rate * v + across + along,
        )
        u = (rate * v - 0.5 * along).transpose(1, 0, 2)
        w = [part.transpose(1, 0, 2) for part in wy]
        v = _tridiagonal(-0.25 * nu * w[0], rate - 0.25 * nu * w[1], -0.25 * nu * w[2], u).transpose(1, 0, 2)
    return v[len(x) // 2, len(y) // 2].copy()


def c_version(lib: Any, x: Any, y: Any, strike: Any, times: Any) -> Any:
    prices = np.empty_like(strike)
    lib.local_volatility(prices, x, y, strike, times, len(x), len(y), len(strike), len(times))
    return prices
