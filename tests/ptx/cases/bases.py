"""Every base type: arithmetic, extremes, conversions, functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ptx.cases.case import Cases

MADE = Cases(13)
case, d, s, n = MADE.add, MADE.doubles, MADE.singles, MADE.integers
CASES, R = MADE.all, MADE.random

INTS: dict[str, Any] = {
    "byte": np.int8,
    "short": np.int16,
    "int": np.int32,
    "long": np.int64,
    "longlong": np.int64,
    "ubyte": np.uint8,
    "ushort": np.uint16,
    "uint": np.uint32,
    "ulong": np.uint64,
    "ulonglong": np.uint64,
}
for base, t in INTS.items():
    low, high = np.iinfo(t).min, np.iinfo(t).max
    v = R.integers(low, high, 200, dtype=t, endpoint=True)
    w = np.where((u := R.integers(1, 100, 200).astype(t)) == 0, 1, u).astype(t)
    case(
        f"{base} arithmetic",
        (
            f"{base}[n] f({base}[n] v, {base}[n] w) {{ return {{ [i] -> (v[i] + w[i]) * v[i] - w[i] | [i] < "
            f"[n] }}; }} {base}[n] g({base}[n] v, {base}[n] w) {{ return {{ [i] -> (v[i] > w[i] ? v[i] / w[i] "
            f": v[i] % w[i]) | [i] < [n] }}; }} {base} h({base}[n] v) {{ return with {{ ([0] <= [i] < [n]) : "
            f"v[i]; }} : fold(+, v[0] - v[0]); }} double[n] k({base}[n] v) {{ return {{ [i] -> tod(v[i]) | "
            f"[i] < [n] }}; }} float[n] q({base}[n] v) {{ return {{ [i] -> tof(v[i]) | [i] < [n] }}; }}"
        ),
        v,
        w,
    )
    CASES[-1].calls = [("f", (v, w)), ("g", (v, w)), ("h", (v,)), ("k", (v,)), ("q", (v,))]
    case(
        f"{base} extremes",
        (
            f"{base}, {base} f({base}[n] v) {{ a = with {{ ([0] <= [i] < [n]) : v[i]; }} : fold(max, v[0]); b "
            f"= with {{ ([0] <= [i] < [n]) : v[i]; }} : fold(min, v[0]); return (a, b); }}"
        ),
        v,
    )
case(
    "bits",
    (
        "int[n] f(int[n] v, int[n] w) { return { [i] -> ((v[i] & w[i]) | (v[i] ^ 85)) + (v[i] << (i % "
        "31)) + (w[i] >> (i % 31)) | [i] < [n] }; }"
    ),
    n(200, low=-(2**31), high=2**31),
    n(200, low=-(2**31), high=2**31),
)
x = np.concatenate([[0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-310, 1e308, 1e5, -1e10, 2.0**80], d(100) * 4])
for base in ("double", "float"):
    arg = x if base == "double" else np.where(np.abs(x) > 3e38, np.copysign(np.inf, x), x).astype(np.float32)
    for names in (
        ("sin", "cos", "tan"),
        ("exp", "sqrt", "abs"),
        ("floor", "ceil", "atan"),
        ("sinh", "cosh", "tanh"),
        ("cbrt", "expm1"),
    ):
        text = " ".join(
            f"{base}[n] {name}_({base}[n] v) {{ return {{ [i] -> {name}(v[i]) | [i] < [n] }}; }}" for name in names
        )
        case(f"{', '.join(names)} of {base}", text, arg)
        CASES[-1].calls = [(f"{name}_", (arg,)) for name in names]
    for names in (("log", "log10", "log2"), ("asin", "acos"), ("log1p",)):
        text = " ".join(
            f"{base}[n] {name}_({base}[n] v) {{ return {{ [i] -> {name}(v[i]) | [i] < [n] }}; }}" for name in names
        )
        case(
            f"{', '.join(names)} of {base}",
            text,
            np.abs(arg) if "asin" not in names else np.clip(np.nan_to_num(arg), -1, 1),
        )
        CASES[-1].calls = [(f"{name}_", CASES[-1].calls[0][1]) for name in names]
    case(
        f"pow of {base}",
        (
            f"{base}[n] f({base}[n] v, {base}[n] w) {{ return {{ [i] -> pow(v[i], w[i]) | [i] < [n] }}; }} "
            f"{base}[n] g({base}[n] v, {base}[n] w) {{ return {{ [i] -> atan2(v[i], w[i]) | [i] < [n] }}; }}"
        ),
        np.abs(arg),
        arg[::-1].copy(),
    )
    CASES[-1].calls.append(("g", (arg, arg[::-1].copy())))
    case(
        f"comparisons of {base}",
        (
            f"int[n] f({base}[n] v, {base}[n] w) {{ return {{ [i] -> (v[i] < w[i] ? 1 : 0) + (v[i] <= w[i] ? "
            f"2 : 0) + (v[i] == w[i] ? 4 : 0) + (v[i] != w[i] ? 8 : 0) + (!(v[i] > w[i]) ? 16 : 0) + (!(v[i] "
            f">= w[i]) ? 32 : 0) | [i] < [n] }}; }} {base}[n] g({base}[n] v, {base}[n] w) {{ return {{ [i] -> "
            f"min(v[i], w[i]) - max(v[i], w[i]) | [i] < [n] }}; }}"
        ),
        arg,
        arg[::-1].copy(),
    )
    CASES[-1].calls.append(("g", (arg, arg[::-1].copy())))
    case(
        f"conversions of {base}",
        (
            f"int[n] f({base}[n] v) {{ return {{ [i] -> toi(v[i]) | [i] < [n] }}; }} long[n] g({base}[n] v) "
            f"{{ return {{ [i] -> tol(v[i]) | [i] < [n] }}; }} float[n] h({base}[n] v) {{ return {{ [i] -> "
            f"tof(v[i]) | [i] < [n] }}; }} double[n] k({base}[n] v) {{ return {{ [i] -> tod(v[i]) | [i] < [n] "
            f"}}; }}"
        ),
        (arg[12:] * 1000).astype(arg.dtype),
    )
    CASES[-1].calls = [("f", CASES[-1].calls[0][1]), ("g", CASES[-1].calls[0][1]), ("h", (arg,)), ("k", (arg,))]
    case(
        f"extremes with NaN of {base}",
        f"{base} f({base}[n] v) {{ return with {{ ([0] <= [i] < [n]) : v[i]; }} : fold(max, v[0]); }}",
        (arg,),
        (arg[12:],),
    )
