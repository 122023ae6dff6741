"""The price of an option on several underlyings by quasi-random paths. Size: paths."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 50, "cached": 4_000, "large": 200_000}
DATES, UNDERLYINGS = 8, 3
MIDDLE = (
    [2.506628277459239, -30.66479806614716, 138.3577518672690, -275.9285104469687, 220.9460984245205,
     -39.69683028665376],
    [1.0, -13.28068155288572, 66.80131188771972, -155.6989798598866, 161.5858368580409, -54.47609879822406],
)  # fmt: skip
TAIL = (
    [2.938163982698783, 4.374664141464968, -2.549732539343734, -2.400758277161838, -0.3223964580411365,
     -0.007784894002430293],
    [1.0, 3.754408661907416, 2.445134137142996, 0.3224671290700398, 0.007784695709041462],
)  # fmt: skip


def inputs(n: int) -> tuple[Any, ...]:
    cholesky = np.linalg.cholesky(0.5 + 0.5 * np.eye(UNDERLYINGS))
    drift, volatility = np.linspace(-0.01, 0.01, UNDERLYINGS), np.linspace(0.05, 0.09, UNDERLYINGS)
    return n, _directions(DATES * UNDERLYINGS), *_bridge(DATES), cholesky, drift, volatility, 0.95


def _directions(axes: int) -> Any:
    """Numbers like Sobol's, a row for each axis: each of 30 bits is set first by one of them, and others below it."""
    found = np.empty((axes, 30), np.int64)
    state = np.arange(1, axes + 1, dtype=np.int64)
    for b in range(30):
        state = (state * 1103515245 + 12345) % (1 << 31)
        below = (state >> 1) & ((1 << (29 - b)) - 1)
        found[:, b] = (1 << (29 - b)) | (below if b else 0)
    return found.astype(np.int32)


def _bridge(dates: int) -> tuple[Any, Any]:
    """The last point first, then halves of what is left."""
    places, weights, waiting = [(dates - 1, -1, -1)], [(np.sqrt(dates), 0.0, 0.0)], [(-1, dates - 1)]
    while waiting:
        before, behind = waiting.pop(0)
        if behind - before > 1:
            here = (before + behind) // 2
            left, right, whole = here - before, behind - here, behind - before
            places.append((here, before, behind))
            weights.append((np.sqrt(left * right / whole), right / whole, left / whole))
            waiting += [(before, here), (here, behind)]
    return np.array(places, np.int32), np.array(weights)


def numpy_version(
    paths: int, directions: Any, places: Any, weights: Any, cholesky: Any, drift: Any, volatility: Any, strike: float
) -> Any:
    at = np.arange(1, paths + 1, dtype=np.int32)
    gray = at ^ (at >> 1)
    x = np.zeros((len(directions), paths), np.int32)
    for b in range(30):
        x ^= (gray >> b & 1) * directions[:, b, None]
    p = (x + 0.5) / 1073741824.0
    q, s = p - 0.5, np.sqrt(-2.0 * np.log(np.minimum(p, 1.0 - p)))
    r = q * q
    middle, tail = q * _ratio(MIDDLE, r), _ratio(TAIL, s)
    z = np.where(p < 0.02425, tail, np.where(p > 0.97575, -tail, middle)).reshape(len(places), -1, paths)
    path, origin = np.zeros_like(z), np.zeros_like(z[0])
    for k, (here, before, behind) in enumerate(places):
        ends = (origin if at < 0 else path[at] for at in (before, behind))
        path[here] = weights[k, 0] * z[k] + sum(w * end for w, end in zip(weights[k, 1:], ends, strict=True))
    steps = np.diff(path, axis=0, prepend=0.0)
    shocks = np.einsum("ij,djp->dip", cholesky, steps)
    prices = np.exp(np.cumsum(drift[:, None] + volatility[:, None] * shocks, axis=0))
    return np.maximum(prices.sum(0).min(0) / len(places) - strike, 0.0).sum() / paths


def _ratio(terms: Any, x: Any) -> Any:
    above, below = (np.polynomial.polynomial.polyval(x, c) for c in terms)
    return above / below


def c_version(
    lib: Any, paths: int, directions: Any, places: Any, weights: Any, cholesky: Any, drift: Any, volatility: Any,
    strike: float,
) -> Any:  # fmt: skip
    price = np.empty(1)
    bound = np.array([strike])
    shape = len(places), len(drift)
    lib.option_pricing(price, paths, directions, places, weights, cholesky, drift, volatility, bound, *shape)
    return price[0]
