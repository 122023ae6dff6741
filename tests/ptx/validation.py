"""Checks the interpreter itself: against known results, of what nvcc makes of CUDA C (`validation.cu`).

In: an architecture. Out: what is wrong, in words.
"""

from __future__ import annotations

import ctypes
import math
import subprocess
import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from sacpy.jit.emission import toolchain
from tests.ptx import floats
from tests.ptx.direct import run
from tests.ptx.validation_numbers import converted, functions, real_numbers, whole

Check = Callable[..., None]  # a name, whether it is good, details


def all_of(architecture: str) -> list[str]:
    """Everything. Raises `FileNotFoundError` where there is no nvcc."""
    wrong: list[str] = []

    def check(name: str, good: Any, detail: str = "") -> None:
        if not good:
            wrong.append(f"{architecture}, {name}: {detail}")

    arithmetic(check)
    ptx = compiled(Path(__file__).with_name("validation.cu"), architecture)
    for part in (plain, whole, converted, real_numbers, functions, faults):
        part(ptx, check)
    return wrong


def compiled(source: Path, architecture: str) -> str:
    """What nvcc makes of CUDA C. Raises `FileNotFoundError` where there is none."""
    nvcc = toolchain.program("nvcc")
    if nvcc is None:
        raise FileNotFoundError("nvcc")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "kernels.ptx")
        command = [str(nvcc), "-ptx", f"-arch={architecture}", "-o", str(target), str(source)]
        subprocess.run(command, check=True, capture_output=True)
        return target.read_text(encoding="utf-8")


def arithmetic(check: Check) -> None:
    """fma against libm's, directions against fractions."""
    rng = np.random.default_rng(1)
    n = 5000
    bits = rng.integers(0, 2**64, (3, n), dtype=np.uint64)
    wild = [b.view(np.float64) for b in bits]
    near = [rng.standard_normal(n), rng.standard_normal(n)]
    near.append(-near[0] * near[1] * (1 + rng.integers(-3, 4, n) * 2.0**-53))
    fma = ctypes.CDLL("libm.so.6").fma
    fma.restype, fma.argtypes = ctypes.c_double, [ctypes.c_double] * 3
    fmaf = ctypes.CDLL("libm.so.6").fmaf
    fmaf.restype, fmaf.argtypes = ctypes.c_float, [ctypes.c_float] * 3
    with np.errstate(all="ignore"):
        for name, (a, b, c) in (("wild", wild), ("near", near)):
            got = floats.fma64(a, b, c)
            want = np.array([fma(*v) for v in zip(a.tolist(), b.tolist(), c.tolist())])
            check(
                f"fma64 {name}", ((got.view(np.int64) == want.view(np.int64)) | (np.isnan(got) & np.isnan(want))).all()
            )
        small = [b.astype(np.uint32).view(np.float32) for b in bits]
        for name, (a, b, c) in (("wild", small), ("near", [x.astype(np.float32) for x in near])):
            got = floats.fma32(a, b, c)
            want = np.array([fmaf(*v) for v in zip(a.tolist(), b.tolist(), c.tolist())], np.float32)
            check(
                f"fma32 {name}", ((got.view(np.int32) == want.view(np.int32)) | (np.isnan(got) & np.isnan(want))).all()
            )
        a, b = near[0].astype(np.float32), near[1].astype(np.float32)
        for mode in ("rz", "rm", "rp"):
            for name, got, exact in (
                ("mul", floats.fmul(a, b, mode), [Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a, b)]),
                ("add", floats.fadd(a, b, mode), [Fraction(float(x)) + Fraction(float(y)) for x, y in zip(a, b)]),
            ):
                for g, e in zip(got.tolist(), exact):
                    g32 = np.float32(g)
                    up, down = np.nextafter(g32, np.float32(np.inf)), np.nextafter(g32, np.float32(-np.inf))
                    ok = {
                        "rm": Fraction(g) <= e < Fraction(float(up)),
                        "rp": Fraction(float(down)) < e <= Fraction(g),
                        "rz": abs(Fraction(g)) <= abs(e)
                        and (e == 0 or abs(e) < abs(Fraction(float(up if e > 0 else down)))),
                    }[mode]
                    if not ok:
                        check(f"{name}.{mode}", False, f"{g} {float(e)}")
                        break


def plain(ptx: str, check: Check) -> None:
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal(1000).astype(np.float32), rng.standard_normal(1000).astype(np.float32)
    want = (np.float64(np.float32(1.7)) * x + y).astype(np.float32)
    f = run(ptx, "saxpy", (8,), (128,), [np.int32(1000), np.float32(1.7), x, y])
    check("saxpy", (y == want).all() and not f, str(f.lines()))
    a, b = rng.standard_normal((64, 4)).astype(np.float32), np.zeros((64, 4), np.float32)
    u, v = rng.standard_normal((64, 2)), np.zeros((64, 2))
    f = run(ptx, "vec4", (2,), (32,), [a, b, u, v])
    check("vec4", (b == a[:, ::-1]).all() and (v == u[:, ::-1]).all() and not f)
    d, r = rng.integers(-99, 99, 900).astype(np.float64), np.zeros(4)
    f = run(ptx, "blocksum", (4,), (256,), [np.int32(900), d, r])
    check("blocksum", (r == [d[k : k + 256].sum() for k in range(0, 900, 256)]).all() and not f, str(f.lines()))
    i, r = rng.integers(-99, 99, 64).astype(np.int32), np.zeros(320, np.int32)
    f = run(ptx, "shfls", (1,), (64,), [i, r])
    w, t = i.reshape(2, 32), np.arange(32)
    up = np.where(t >= 3, w[:, t - 3], w)
    down = np.where(t % 8 + 5 < 8, w[:, (t + 5) % 32], w)
    want = np.concatenate([w[:, t * 7 % 32], up, down, w[:, t ^ 6], w[:, t // 8 * 8 + 3]]).reshape(-1)
    check("shfls", (r == want).all() and not f, str(f.lines()))
    r = np.zeros(384, np.uint32)
    f = run(ptx, "votes", (1,), (64,), [i, r])
    ballot = ((w > 0).astype(np.uint64) << t.astype(np.uint64)).sum(1).astype(np.uint32).repeat(32)
    mine = i > 0
    check(
        "votes",
        (r[:64] == ballot).all()
        and (r[64:128] == [bin(b & ((1 << (k % 32)) - 1)).count("1") for k, b in enumerate(ballot.tolist())]).all()
        and (r[128:192] == (2 + (w > 90).any(1)).repeat(32)).all()
        and (r[192:256][mine] == ballot[mine]).all()
        and (r[256:320].view(np.int32) == w.sum(1).repeat(32)).all()
        and (r[320:] == w.view(np.uint32).max(1).repeat(32)).all()
        and not f,
        str(f.lines()),
    )
    c, r, m = rng.integers(0, 256, 1000).astype(np.uint8), np.zeros(16, np.int32), np.zeros(1, np.uint64)
    f = run(ptx, "histogram", (5,), (256,), [np.int32(1000), c, r, m])
    check(
        "histogram",
        (r == np.bincount(c & 15, minlength=16)).all()
        and m[0] == (c.astype(np.int64) * np.arange(1000)).max()
        and not f,
        str(f.lines()),
    )
    x, r, g = (
        rng.integers(-50, 50, 128).astype(np.float32),
        np.array([1000, 0, 0, 1, 0, 0], np.int32),
        np.array([0, -1e9], np.float32),
    )
    run(ptx, "atomics", (2,), (64,), [r, g, x], races=False)
    check(
        "atomics",
        (r == [100 - 127, (1 << 31) - 1, 0, 7, 5, 128 % 10]).all() and (g == [x.sum(), x.max()]).all(),
        str((r, g, x.sum(), x.max())),
    )
    r = np.zeros(300, np.int32)
    f = run(ptx, "collatz", (3,), (100,), [r])

    def steps(k: int) -> int:
        s = 0
        while k != 1:
            k, s = (3 * k + 1 if k % 2 else k // 2), s + 1
        return s

    check("collatz", (r == [steps(k + 1) for k in range(300)]).all() and not f)
    r, w2 = np.zeros(96, np.int32), np.zeros(96)
    f = run(ptx, "calls", (3,), (32,), [r, w2])
    want = []
    for i2 in range(96):
        local = [0] * 8
        for k in range(8):
            local[(k * 3 + i2) % 8] = k * i2
        s = 0
        for k in range(8):
            s = s * 3 + local[(k + i2) & 7]
        s = [s + 5, s * 3, s ^ 99, s - i2, -s, s | 1024, s & 255, s + (s << 4), 1][i2 % 9]
        want.append(s + math.factorial(i2 % 10) + [3, 1, 4, 1][i2 % 4])
    check(
        "calls",
        (r == want).all() and (w2 == np.array([0.5, 0.25, 8.0])[np.arange(96) % 3]).all() and not f,
        str(f.lines()),
    )
    a = rng.standard_normal((45, 37)).astype(np.float32)
    b = np.zeros((37, 45), np.float32)
    f = run(ptx, "transpose", (3, 3), (16, 16), [np.int32(45), np.int32(37), a, b])
    check("transpose", (b == a.T).all() and not f, str(f.lines()))
    a = rng.integers(-9, 9, 500).astype(np.int32)
    b = np.zeros(500, np.int32)
    f = run(ptx, "dynamic", (1,), (64,), [np.int32(500), a, b], dynamic=2000)
    check("dynamic", (b == a[::-1] + np.roll(a[::-1], -1)).all() and not f, str(f.lines()))
    f = run(ptx, "dynamic", (1,), (64,), [np.int32(500), a, b], dynamic=1996)
    check("dynamic, too little", any("out of bounds" in line for line in f.lines()))


def faults(ptx: str, check: Check) -> None:
    """What must be found is found."""
    for name, block, args, wanted in (
        ("f_bounds", 64, [np.zeros(64, np.int32)], "access out of bounds"),
        ("f_align", 64, [np.zeros(80, np.int8), np.zeros(64, np.int32)], "misaligned access"),
        ("f_unset", 64, [np.zeros(64, np.int32)], "uninitialised shared memory is read"),
        ("f_race", 64, [np.zeros(64, np.int32)], "race in shared memory"),
        ("f_war", 64, [np.zeros(64, np.int32)], "race in shared memory"),
        ("f_blocks", 32, [np.zeros(64, np.int32)], "race in global memory"),
        ("f_barrier", 32, [np.zeros(64, np.int32)], "threads of a block at different barriers"),
        ("f_gone", 32, [np.zeros(64, np.int32)], "barrier that not all threads reach"),
        ("f_mask", 32, [np.zeros(64, np.int32)], "lanes of a membermask are not there"),
        ("f_zero", 32, [np.zeros(64, np.int32), np.int32(0)], "integer division by zero"),
        ("f_shared", 64, [np.zeros(64, np.int32), np.int32(1)], "access out of bounds"),
        ("f_store_race", 64, [np.zeros(64, np.int32)], "race in global memory"),
    ):
        f = run(ptx, name, (2,), (block,), args)
        check(name, any(kind == wanted for kind, _ in f.counts), str(f.lines()))
