"""Floating-point arithmetic of PTX on arrays of NumPy: exact where PTX says so; `approx` instructions are computed
exactly and rounded once, which is within the error that PTX allows."""

from __future__ import annotations

import ctypes
import ctypes.util
from fractions import Fraction
from typing import Any

import numpy as np

from tests.ptx.kinds import A

_libm = ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6")
_libm.fma.restype, _libm.fma.argtypes = ctypes.c_double, [ctypes.c_double] * 3


def two_sum(x: A, y: A) -> tuple[A, A]:
    s = x + y
    b = s - x
    return s, (x - (s - b)) + (y - b)


def _odd(s: A, error: A) -> A:
    """A sum, rounded to odd instead of to nearest."""
    s, error = np.asarray(s, np.float64), np.where(np.isfinite(s), error, 0.0)
    bits = s.view(np.int64)
    step = np.where((error > 0) == (s > 0), 1, -1)
    return np.where((error != 0) & ((bits & 1) == 0), bits + step, bits).view(np.float64)


def directed(r: A, exact: A, mode: str) -> A:
    """A nearest value, moved to where a direction wants it. `exact`: the value with more digits."""
    if mode == "rn":
        return r
    t = r.dtype.type
    wide = r.astype(np.float64)
    down, up = np.nextafter(r, t(-np.inf)), np.nextafter(r, t(np.inf))
    if mode == "rm":
        return np.where(wide > exact, down, r)
    if mode == "rp":
        return np.where(wide < exact, up, r)
    return np.where(np.abs(wide) > np.abs(exact), np.where(r > 0, down, up), r)


def _slowly(f: Any, mode: str, *args: A) -> A:
    """Element by element with fractions: for directions of doubles."""
    arrays = np.broadcast_arrays(*args)
    out = np.empty(arrays[0].shape, np.float64)
    for at, values in enumerate(zip(*[a.reshape(-1).tolist() for a in arrays])):
        exact = f(*map(Fraction, values)) if all(map(np.isfinite, values)) else None
        if exact is None:
            r = f(*map(np.float64, values))
        else:
            try:
                r = float(exact)
            except OverflowError:
                r = np.inf if exact > 0 else -np.inf
            if mode != "rn":
                over = (Fraction(r) if np.isfinite(r) else (exact + 1 if r > 0 else exact - 1)) - exact
                toward = {"rm": -np.inf, "rp": np.inf, "rz": 0.0}[mode]
                if (
                    (mode == "rm" and over > 0)
                    or (mode == "rp" and over < 0)
                    or (mode == "rz" and over * (1 if exact > 0 else -1) > 0)
                ):
                    r = float(np.nextafter(r, toward))
        out.reshape(-1)[at] = r
    return out


def fma64(a: A, b: A, c: A, mode: str = "rn") -> A:
    """Exactly rounded: Boldo and Melquiond's algorithm where nothing under- or overflows, libm's elsewhere."""
    if mode != "rn":
        return _slowly(lambda x, y, z: x * y + z, mode, a, b, c)
    a, b, c = np.broadcast_arrays(a, b, c)
    p = a * b
    size, third = np.abs(p), np.abs(c)
    safe = (
        (np.abs(a) < 2.0**500)
        & (np.abs(b) < 2.0**500)
        & (size > 2.0**-900)
        & ((third > 2.0**-900) | (c == 0))
        & (third < 2.0**1000)
    )
    t, u = 134217729.0 * a, 134217729.0 * b
    ah, bh = t - (t - a), u - (u - b)
    al, bl = a - ah, b - bh
    e = ((ah * bh - p) + ah * bl + al * bh) + al * bl
    th, tl = two_sum(c, e)
    vh, vl = two_sum(p, th)
    r = vh + _odd(*two_sum(tl, vl))
    if safe.all():
        return r
    plain = (a == 0) | (b == 0) | ~np.isfinite(a) | ~np.isfinite(b) | np.isnan(c)
    r = np.where(safe, r, p + c)
    for at in np.flatnonzero(~safe & ~plain):
        r.reshape(-1)[at] = _libm.fma(float(a.reshape(-1)[at]), float(b.reshape(-1)[at]), float(c.reshape(-1)[at]))
    return r


def fma32(a: A, b: A, c: A, mode: str = "rn") -> A:
    exact = _odd(*two_sum(np.asarray(a, np.float64) * np.asarray(b, np.float64), np.asarray(c, np.float64)))
    return directed(exact.astype(np.float32), exact, mode)


def fma(a: A, b: A, c: A, mode: str) -> A:
    return fma32(a, b, c, mode) if np.asarray(a).dtype == np.float32 else fma64(a, b, c, mode)


def fadd(a: A, b: A, mode: str) -> A:
    if mode == "rn":
        return a + b
    return fma(a, np.ones_like(a), b, mode)


def fmul(a: A, b: A, mode: str) -> A:
    if mode == "rn":
        return a * b
    if np.asarray(a).dtype == np.float32:
        exact = np.asarray(a, np.float64) * b
        return directed(exact.astype(np.float32), exact, mode)
    return _slowly(lambda x, y: x * y, mode, a, b)


def fdiv(a: A, b: A, mode: str) -> A:
    if mode == "rn":
        return a / b
    return _slowly(lambda x, y: x / y if y else np.float64(x) / np.float64(y), mode, a, b).astype(np.asarray(a).dtype)


def fsqrt(a: A, mode: str) -> A:
    r = np.sqrt(a)
    if mode == "rn":
        return r
    out, t = r.copy(), r.dtype.type
    for at in np.flatnonzero(np.isfinite(r) & (np.asarray(a) > 0)):
        over = Fraction(float(r[at])) ** 2 - Fraction(float(a[at]))
        if over > 0 and mode in ("rm", "rz"):
            out[at] = np.nextafter(r[at], t(0))
        elif over < 0 and mode == "rp":
            out[at] = np.nextafter(r[at], t(np.inf))
    return out


def ftz(x: A) -> A:
    """Subnormal singles to zero."""
    x = np.asarray(x)
    return np.where(np.abs(x) < np.float32(2.0**-126), np.copysign(np.float32(0), x), x)


def gross(f: Any, x: A) -> A:
    """`rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64`: subnormals are zero, the lower half of the result is."""
    x = np.asarray(x)
    r = np.asarray(f(np.where(np.abs(x) < 2.0**-1022, np.copysign(0.0, x), x)))
    r = np.where(np.abs(r) < 2.0**-1022, np.copysign(0.0, r), r)
    return np.where(np.isfinite(r), (r.view(np.uint64) & np.uint64(0xFFFFFFFF00000000)).view(np.float64), r)


def single(f: Any, x: A) -> A:
    """A function of singles, by way of doubles."""
    return np.asarray(f(np.asarray(x, np.float64)), np.float32)


def least(a: A, b: A, nan: bool) -> A:
    r = np.minimum(a, b) if nan else np.fmin(a, b)
    return np.where((a == 0) & (b == 0), np.where(np.signbit(a), a, b), r).astype(np.asarray(r).dtype)


def greatest(a: A, b: A, nan: bool) -> A:
    r = np.maximum(a, b) if nan else np.fmax(a, b)
    return np.where((a == 0) & (b == 0), np.where(np.signbit(a), b, a), r).astype(np.asarray(r).dtype)


# ---------------------------------------------------------------- integers
