"""Black-Scholes prices of calls and puts. Size: options."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 100, "cached": 20_000, "large": 4_000_000}


def inputs(n: int) -> tuple[Any, ...]:
    i = np.arange(n)
    return 10.0 + i % 91, 12.0 + i % 83, 0.25 + i % 37 / 4.0, 0.02, 0.3


def normal(x: Any) -> Any:
    k = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    poly = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = 0.3989422804014327 * np.exp(-0.5 * x * x) * poly
    return np.where(x < 0.0, tail, 1.0 - tail)


def numpy_version(spot: Any, strike: Any, years: Any, rate: float, volatility: float) -> Any:
    spread = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / spread
    discounted = strike * np.exp(-rate * years)
    call = spot * normal(d1) - discounted * normal(d1 - spread)
    return call, call + discounted - spot


def c_version(lib: Any, spot: Any, strike: Any, years: Any, rate: float, volatility: float) -> Any:
    calls, puts = np.empty_like(spot), np.empty_like(spot)
    lib.blackscholes(calls, puts, spot, strike, years, rate, volatility, len(spot))
    return calls, puts
