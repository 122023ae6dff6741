"""Conversions and comparisons of PTX on arrays of NumPy."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tests.ptx.floats import directed, ftz
from tests.ptx.kinds import TYPES, A


def _range(t: str) -> tuple[int, int]:
    bits = 8 * int(t[1])
    return (0, (1 << bits) - 1) if t[0] == "u" else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


ROUND = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


def cvt(x: A, to: str, of: str, mods: list[str]) -> A:
    """`cvt`: integers wrap or saturate, floats that are no integers of the type are cut to its range; a NaN becomes 0,
    or, with 64 bits on either side, the top bit alone."""
    x, target = np.asarray(x), TYPES[to]
    rounding = next((m for m in mods if m in ("rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "rna")), "")
    if "ftz" in mods and of == "f4":
        x = ftz(x)
    if of[0] == "f" and to[0] == "f":
        if rounding in ROUND:
            x = ROUND[rounding](x)
        r = x.astype(target)
        if int(to[1]) < int(of[1]):
            r = directed(r, x.astype(np.float64), rounding or "rn")
        if "sat" in mods:
            r = np.where(np.isnan(r), target(0), np.clip(r, target(0), target(1))) + target(0)
        return ftz(r) if "ftz" in mods and to == "f4" else r
    if of[0] == "f":
        low, high = _range(to)
        r = ROUND[rounding](x.astype(np.float64))
        inside = (r >= low) & (r < float(high) + 1 if high > 1 << 52 else r <= high)
        nan = (1 << (8 * int(to[1]) - 1)) if of == "f8" or to[1] == "8" else 0
        nan = nan - (1 << (8 * int(to[1]))) if to[0] == "i" and nan else nan
        good = np.where(inside, r, 0.0).astype(target)
        return np.where(np.isnan(r), target(nan), np.where(inside, good, np.where(r < low, target(low), target(high))))
    if to[0] == "f":
        r = x.astype(target)
        if rounding in ("", "rn"):
            return r
        out = r.copy()
        for at in range(r.size):
            exact, got = int(x.reshape(-1)[at]), Fraction(float(r.reshape(-1)[at]))
            if (
                (rounding == "rm" and got > exact)
                or (rounding == "rz" and abs(got) > abs(exact))
                or (rounding == "rp" and got < exact)
            ):
                out.reshape(-1)[at] = np.nextafter(
                    r.reshape(-1)[at], target({"rm": -np.inf, "rp": np.inf, "rz": 0}[rounding])
                )
        return out
    if "sat" in mods:
        (low, high), (l2, h2) = _range(to), _range(of)
        x = np.clip(x, x.dtype.type(max(low, l2)), x.dtype.type(min(high, h2)))
    return x.astype(target)


TF32_BITS = 13  # at the end of a float that a tf32 does not have


def to_tf32(x: A, mods: list[str]) -> A:
    """The bits of floats, rounded to 10 bits behind the point: to the nearest, ties away from 0 (`rna`)."""
    assert "rna" in mods, mods
    x = np.asarray(x)
    near = (x + np.uint32(1 << (TF32_BITS - 1))) & np.uint32(-(1 << TF32_BITS) & 0xFFFFFFFF)
    nan = (x & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000)
    return np.where(nan, np.uint32(0x7FFFE000), near)


COMPARE = {
    "eq": "({a} == {b})",
    "ne": "({a} != {b})",
    "lt": "({a} < {b})",
    "le": "({a} <= {b})",
    "gt": "({a} > {b})",
    "ge": "({a} >= {b})",
    "lo": "({a} < {b})",
    "ls": "({a} <= {b})",
    "hi": "({a} > {b})",
    "hs": "({a} >= {b})",
}
COMPARE |= {
    "equ": "~(({a} < {b}) | ({a} > {b}))",
    "neu": "({a} != {b})",
    "ltu": "~({a} >= {b})",
    "leu": "~({a} > {b})",
    "gtu": "~({a} <= {b})",
    "geu": "~({a} < {b})",
    "num": "~(np.isnan({a}) | np.isnan({b}))",
    "nan": "(np.isnan({a}) | np.isnan({b}))",
}
FLOAT_NE = "(({a} < {b}) | ({a} > {b}))"  # ordered

TESTP = {
    "finite": "np.isfinite({a})",
    "infinite": "np.isinf({a})",
    "number": "~np.isnan({a})",
    "notanumber": "np.isnan({a})",
    "normal": "(np.isfinite({a}) & (np.abs({a}) >= np.finfo(np.asarray({a}).dtype).tiny))",
    "subnormal": "(({a} != 0) & (np.abs({a}) < np.finfo(np.asarray({a}).dtype).tiny))",
}
