"""The numbers of the validation: integers, conversions, reals and functions of what nvcc makes of CUDA C."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from tests.ptx.direct import run

Check = Callable[..., None]


def ulps(x: Any, y: Any, t: Any) -> Any:
    x, y = np.asarray(x).astype(t), np.asarray(y).astype(t)
    with np.errstate(all="ignore"):
        d = np.abs(x.astype(np.float64) - y.astype(np.float64)) / np.spacing(
            np.maximum(np.abs(y), np.finfo(t).tiny)
        ).astype(np.float64)
    return np.where((x == y) | (np.isnan(x) & np.isnan(y)), 0, np.where(np.isfinite(d), d, 1e30))


def whole(ptx: str, check: Check) -> None:
    """Integers, against Python's."""
    rng = np.random.default_rng(3)
    n = 256
    a, b = (rng.integers(-(2**31), 2**31, n).astype(np.int32) for _ in range(2))
    a[:9], b[:9] = [0, 1, -1, -(2**31), 2**31 - 1, -(2**31), 5, -7, 100], [1, -1, 1, 1, -1, 7, -3, 2, 100]
    b[20:60] = rng.integers(1, 20, 40)
    c, d = (rng.integers(-(2**63), 2**63 - 1, n) for _ in range(2))
    d[20:90] = rng.integers(1, 1000, 70)
    c[:3], d[:3] = [0, -(2**63), -1], [1, 1, -(2**63)]
    r = np.zeros((39, n), np.int64)
    f = run(ptx, "ints", (2,), (128,), [a, b, c, d, r])
    check("ints: findings", not f, str(f.lines()))

    def s(v: int, bits: int) -> int:
        v &= (1 << bits) - 1
        return v - (1 << bits) if v >> (bits - 1) else v

    def q(x: int, y: int) -> int:
        return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)

    for i in range(n):
        x, y, u, v = int(a[i]), int(b[i]), int(c[i]), int(d[i])
        ux, uy, uu, uv = x & 0xFFFFFFFF, y & 0xFFFFFFFF, u & (2**64 - 1), v & (2**64 - 1)
        both = ux | uy << 32
        perm = 0
        for k in range(4):
            pick = (u >> (4 * k)) & 15
            byte = (both >> (8 * (pick & 7))) & 255
            perm |= byte << (8 * k)
        c8, e8 = s(x, 8), s(y | 1, 8)
        m24 = [s(z << 8, 32) >> 8 for z in (x, y)]
        w, sw = uu * uv + uu, u * v - x
        want = [
            q(x, y),
            x - q(x, y) * y,
            ux // uy,
            ux % uy,
            q(u, v),
            u - q(u, v) * v,
            uu // uv,
            uu % uv,
            x * y >> 32,
            ux * uy >> 32,
            u * v >> 64,
            uu * uv >> 64,
            32 - ux.bit_length(),
            64 - uu.bit_length(),
            bin(ux).count("1"),
            bin(uu).count("1"),
            int(f"{ux:032b}"[::-1], 2),
            int(f"{uu:064b}"[::-1], 2),
            (ux & -ux).bit_length(),
            perm,
            ((uy << 32 | ux) << (v & 31)) >> 32 & 0xFFFFFFFF,
            (uy << 32 | ux) >> min(v & 63, 32) & 0xFFFFFFFF,
            abs(x - y) + 5,
            s(m24[0] * m24[1], 32),
            s(x, 16) * s(y, 16),
            q(c8, e8),
            s(x << (v & 31), 32),
            u >> (v & 63),
            ux >> (v & 31),
            min(x, y),
            max(uu, uv),
            abs(x | 1),
            s((x ^ y) & ~x | 77, 32),
            s(x >> 3, 16),
            (x >> 5) & 255,
            u if x < 0 else v,
            w >> 64,
            w - uv,
            sw >> 70,
        ]
        if x == -(2**31) and y == -1:
            want[0:2] = [s(2**31, 32), 0]
        unsigned32 = {16, 19, 20, 21, 22}
        for k, good in enumerate(want):
            got = int(r[k, i])
            if (got & (0xFFFFFFFF if k in unsigned32 else 2**64 - 1)) != (
                good & (0xFFFFFFFF if k in unsigned32 else 2**64 - 1)
            ):
                check(f"ints {k}", False, f"{x} {y} {u} {v}: {got} for {good}")
                return


def converted(ptx: str, check: Check) -> None:
    rng = np.random.default_rng(4)
    n = 256
    x = np.concatenate(
        [
            [
                0.0,
                -0.0,
                0.5,
                1.5,
                -0.5,
                -1.5,
                2.5,
                np.nan,
                np.inf,
                -np.inf,
                1e10,
                -1e10,
                1e20,
                -1e20,
                2147483647.5,
                2147483648.0,
                -2147483648.5,
                0.1,
                16777217.0,
                1e-40,
                3e38,
                3.5e38,
                1e-320,
            ],
            rng.standard_normal(n - 23) * 10.0 ** rng.integers(-3, 12, n - 23),
        ]
    )
    r = np.zeros((24, n), np.int64)
    run(ptx, "convert", (2,), (128,), [x, r])

    def cut(v: float, low: int, high: int, nan: int) -> int:
        return nan if math.isnan(v) else low if v < low else high if v > high else int(v)

    with np.errstate(all="ignore"):
        f = x.astype(np.float32)
        i4, u4, i8, u8 = (-(2**31), 2**31 - 1), (0, 2**32 - 1), (-(2**63), 2**63 - 1), (0, 2**64 - 1)
        for k, (values, span, nan) in enumerate(
            [
                (np.rint(x), i4, -(2**31)),
                (np.trunc(x), i4, -(2**31)),
                (np.ceil(x), i4, -(2**31)),
                (np.floor(x), i4, -(2**31)),
                (np.trunc(x), u4, 2**31),
                (np.rint(x), i8, -(2**63)),
                (np.trunc(x), u8, 2**63),
                (np.rint(f), i4, 0),
                (np.ceil(f), u4, 0),
                (np.floor(f), i8, -(2**63)),
            ]
        ):
            want = [cut(float(v), *span, nan) & (2**64 - 1) for v in values]
            got = [int(v) & (2**64 - 1) for v in r[k]]
            bad = [j for j in range(n) if got[j] != want[j]]
            check(f"convert {k}", not bad, f"{[(x[j], got[j], want[j]) for j in bad[:3]]}")
        up, zero = r[10].astype(np.int32).view(np.float32), r[11].astype(np.int32).view(np.float32)
        ok = np.isnan(x) | ((up >= x) & (np.nextafter(up, np.float32(-np.inf)) < x)) | np.isinf(x)
        check("convert ru", ok.all(), str(x[~ok]))
        ok = np.isnan(x) | np.isinf(x) | (np.abs(zero.astype(float)) <= np.abs(x))
        check("convert rz", ok.all(), str(x[~ok]))
        for k, want in ((14, np.rint(x)), (15, np.floor(x)), (16, np.trunc(x))):
            got = r[k].view(np.float64)
            check(f"convert {k}", ((got == want) & (np.signbit(got) == np.signbit(want)) | np.isnan(x)).all())
        got = r[23].astype(np.int32).view(np.float32)
        want = np.copysign(np.floor(np.abs(f.astype(np.float64)) + 0.5), f)
        check("convert roundf", ((got == want) | np.isnan(x)).all(), str(x[got != want]))
        sat = r[20].astype(np.int32).view(np.float32)
        check("saturate", (sat == np.where(np.isnan(f), 0, np.clip(f, 0, 1))).all())


def real_numbers(ptx: str, check: Check) -> None:
    rng = np.random.default_rng(5)
    n = 256
    special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-310, 1e308]
    pairs = [(u, v) for u in special for v in special]
    x, y, z = (rng.standard_normal(n) * 10.0 ** rng.integers(-6, 6, n) for _ in range(3))
    x[: len(pairs)], y[: len(pairs)] = [p[0] for p in pairs], [p[1] for p in pairs]
    r = np.zeros((27, n))
    run(ptx, "reals", (2,), (128,), [x, y, z, r])
    with np.errstate(all="ignore"):
        p, q = x.astype(np.float32), y.astype(np.float32)
        fma = ctypes.CDLL("libm.so.6").fma
        fma.restype, fma.argtypes = ctypes.c_double, [ctypes.c_double] * 3
        want = {
            0: [fma(*v) for v in zip(x.tolist(), y.tolist(), z.tolist())],
            5: np.sqrt(np.abs(x)),
            6: 1 / x,
            7: np.fmin(x, y),
            8: np.fmax(x, y),
            9: np.copysign(x, y),
            10: x < y,
            11: ~(x < y),
            12: x != y,
            13: x / y,
            14: np.fmod(x, y),
            15: [
                math.remainder(u, v) if math.isfinite(u) and v and not math.isnan(v) else math.nan
                for u, v in zip(x.tolist(), y.tolist())
            ],
            19: p / q,
            20: np.sqrt(np.abs(p)),
            22: np.fmin(p, q),
            23: np.fmax(p, q),
            24: p < q,
            25: p == q,
            26: np.fmod(p, q),
        }
        for k, w in want.items():
            w = np.asarray(w, np.float64)
            ok = (r[k] == w) | (np.isnan(r[k]) & np.isnan(w))
            check(f"reals {k}", ok.all(), str([(x[j], y[j], r[k][j], w[j]) for j in np.flatnonzero(~ok)[:3]]))
        for k, e, d in (
            (1, [Fraction(u) + Fraction(v) if math.isfinite(u + v) else None for u, v in zip(x, y)], "rz"),
            (
                2,
                [
                    Fraction(u) * Fraction(v) if math.isfinite(u * v) and np.isfinite(u) and np.isfinite(v) else None
                    for u, v in zip(x, y)
                ],
                "rp",
            ),
            (
                3,
                [
                    Fraction(u) / Fraction(v)
                    if v and math.isfinite(u / v) and np.isfinite(u) and np.isfinite(v)
                    else None
                    for u, v in zip(x, y)
                ],
                "rm",
            ),
        ):
            for j in range(n):
                if e[j] is not None and math.isfinite(r[k][j]):
                    g = Fraction(r[k][j])
                    step = Fraction(float(np.spacing(np.abs(r[k][j])))) * 2
                    ok = {"rz": abs(g) <= abs(e[j]), "rp": g >= e[j], "rm": g <= e[j]}[d] and abs(g - e[j]) < step
                    if not ok:
                        check(f"reals {k}", False, f"{x[j]} {y[j]}: {r[k][j]}")
                        break


def functions(ptx: str, check: Check) -> None:
    """Mathematical functions against the host's libm, in units of the last place."""
    rng = np.random.default_rng(6)
    n = 256
    libm = ctypes.CDLL("libm.so.6")

    def host(name: str, *args: Any) -> Any:
        f = getattr(libm, name)
        f.restype, f.argtypes = ctypes.c_double, [ctypes.c_double] * len(args)
        return np.array([f(*map(float, v)) for v in np.broadcast(*args)])

    x = np.concatenate(
        [
            [0.0, 1e-5, -3.0, 1e5, 1e10, 1e15, -1e22, 2.0**100, 1e300, 0.5],
            rng.standard_normal(150) * 3,
            rng.uniform(-20, 20, 96),
        ]
    )
    with np.errstate(all="ignore"):
        r = np.zeros((48, n))
        f = run(ptx, "maths", (2,), (128,), [x, r])
        check("maths: findings", not f, str(f.lines()))
        names = [
            "sin",
            "cos",
            "tan",
            "exp",
            "exp2",
            "expm1",
            "log",
            "log2",
            "log10",
            "log1p",
            "sinh",
            "cosh",
            "tanh",
            "asinh",
            "atan",
            "cbrt",
            "erf",
            "erfc",
            "tgamma",
            "lgamma",
            "pow",
            "atan2",
            "hypot",
            "rsqrt",
        ]
        for k, name in enumerate(names):
            for t, row in ((np.float64, r[k]), (np.float32, r[24 + k])):
                a = x if t == np.float64 else x.astype(np.float32).astype(np.float64)
                absolute = np.abs(a)
                want = (
                    1 / np.sqrt(absolute)
                    if name == "rsqrt"
                    else host(name, absolute, np.float64(t(1.7)))
                    if name == "pow"
                    else host("atan2", a, np.float64(t(0.3)))
                    if name == "atan2"
                    else host("hypot", a, 2.0)
                    if name == "hypot"
                    else host(name, absolute if name in ("log", "log2", "log10", "log1p", "tgamma", "lgamma") else a)
                )
                got = ulps(row, want, t)
                got[np.abs(want) < np.finfo(t).tiny] = 0  # where results are subnormal
                at = int(got.argmax())
                check(
                    f"{name} {t.__name__}",
                    got[at] <= 12 or ("gamma" in name and got[at] < 40),
                    f"at {x[at]!r}: {row[at]!r} for {want[at]!r}, {got[at]:.1f} ulp",
                )
        a, r = rng.uniform(-1, 1, n), np.zeros((8, n))
        run(ptx, "arcs", (2,), (128,), [a, r])
        for k, name in enumerate(["asin", "acos", "atanh", "acosh"] * 2):
            t = np.float64 if k < 4 else np.float32
            b = a if k < 4 else a.astype(np.float32).astype(np.float64)
            want = host(name, (1 + np.abs(b.astype(t))).astype(np.float64) if name == "acosh" else b)
            check(f"{name} {k}", ulps(r[k], want, t).max() <= 6, str(ulps(r[k], want, t).max()))
