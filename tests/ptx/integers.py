"""Integer arithmetic of PTX on arrays of NumPy: products and their halves, divisions, shifts, fields of bits,
carries."""

from __future__ import annotations

import numpy as np

from tests.ptx.kinds import TYPES, A


def _parts(a: A) -> tuple[A, A]:
    return a & np.uint64(0xFFFFFFFF), a >> np.uint64(32)


def mulhi(a: A, b: A, t: str) -> A:
    """The upper half of a product."""
    if t[1] in "24":
        wide = {"2": np.int64, "4": np.int64}[t[1]] if t[0] == "i" else np.uint64
        return ((np.asarray(a).astype(wide) * np.asarray(b).astype(wide)) >> wide(8 * int(t[1]))).astype(TYPES[t])
    x, y = np.asarray(a).view(np.uint64), np.asarray(b).view(np.uint64)
    (xl, xh), (yl, yh) = _parts(x), _parts(y)
    s = np.uint64(32)
    mid = xh * yl + ((xl * yl) >> s)
    low, high = _parts(mid)
    low = low + xl * yh
    r = xh * yh + high + (low >> s)
    if t == "i8":
        r = r - np.where(x >> np.uint64(63), y, np.uint64(0)) - np.where(y >> np.uint64(63), x, np.uint64(0))
        return r.view(np.int64)
    return r


def wide(a: A, b: A, t: str) -> A:
    to = TYPES[t[0] + str(2 * int(t[1]))]
    return np.asarray(a).astype(to) * np.asarray(b).astype(to)


def _magnitude(x: A, t: str) -> A:
    u = np.asarray(x).view(TYPES["u" + t[1]])
    return np.where(np.asarray(x) < 0, (~u) + u.dtype.type(1), u)


def idiv(a: A, b: A, t: str) -> A:
    """Towards zero. All ones for a division by zero, which PTX leaves open."""
    a, b = np.broadcast_arrays(a, b)
    safe = np.where(b == 0, b.dtype.type(1), b)
    if t[0] == "u":
        return np.where(b == 0, ~a.dtype.type(0), a // safe)
    q = _magnitude(a, t) // _magnitude(safe, t)
    q = np.where((a < 0) != (safe < 0), (~q) + q.dtype.type(1), q).view(TYPES[t])
    return np.where(b == 0, a.dtype.type(-1), q)


def irem(a: A, b: A, t: str) -> A:
    a, b = np.broadcast_arrays(a, b)
    return np.where(b == 0, a, a - idiv(a, b, t) * b)


def shift(a: A, n: A, right: bool) -> A:
    """Shifts by too much give zero, or the sign."""
    a, n = np.broadcast_arrays(a, np.asarray(n))
    width = a.dtype.itemsize * 8
    count = np.minimum(n, width - 1).astype(a.dtype)
    if right:
        r = a >> count
        return r if a.dtype.kind == "i" else np.where(n >= width, a.dtype.type(0), r)
    return np.where(n >= width, a.dtype.type(0), a << count)


def funnel(lo: A, hi: A, n: A, left: bool, clamp: bool) -> A:
    both = (np.asarray(hi).astype(np.uint64) << np.uint64(32)) | np.asarray(lo).astype(np.uint64)
    count = (np.minimum(n, np.uint32(32)) if clamp else np.asarray(n) & np.uint32(31)).astype(np.uint64)
    return ((both << count) >> np.uint64(32)).astype(np.uint32) if left else (both >> count).astype(np.uint32)


def popc(x: A) -> A:
    return np.bitwise_count(np.asarray(x)).astype(np.uint32)


def _smeared(x: A) -> A:
    x = np.asarray(x)
    for k in (1, 2, 4, 8, 16, 32)[: 5 + (x.dtype.itemsize == 8)]:
        x = x | (x >> x.dtype.type(k))
    return x


def clz(x: A) -> A:
    return (np.asarray(x).dtype.itemsize * 8 - np.bitwise_count(_smeared(x)).astype(np.int64)).astype(np.uint32)


def bfind(x: A, t: str, amount: bool) -> A:
    x = np.where(x < 0, ~x, x).view(TYPES["u" + t[1]]) if t[0] == "i" else np.asarray(x)
    top = np.bitwise_count(_smeared(x)).astype(np.int64) - 1
    return np.where(top < 0, 0xFFFFFFFF, 8 * int(t[1]) - 1 - top if amount else top).astype(np.uint32)


def brev(x: A) -> A:
    x = np.asarray(x)
    u, bits = x.dtype.type, x.dtype.itemsize * 8
    r = np.zeros_like(x)
    for k in range(bits):
        r |= ((x >> u(k)) & u(1)) << u(bits - 1 - k)
    return r


def bfe(a: A, pos: A, length: A, t: str) -> A:
    """Of each element its own field."""
    bits = 8 * int(t[1])
    a, pos, length = np.broadcast_arrays(a, np.asarray(pos) & np.uint32(255), np.asarray(length) & np.uint32(255))
    out = np.zeros(a.shape, TYPES["u" + t[1]])
    for at in range(a.size):
        v, p, n = int(a.reshape(-1)[at]) & ((1 << bits) - 1), int(pos.reshape(-1)[at]), int(length.reshape(-1)[at])
        sign = (v >> min(p + n - 1, bits - 1)) & 1 if t[0] == "i" and n else 0
        r = (v >> p) & ((1 << n) - 1)
        if sign:
            kept = max(min(n, bits - p), 0)
            r |= ((1 << bits) - 1) ^ ((1 << kept) - 1)
        out.reshape(-1)[at] = r & ((1 << bits) - 1)
    return out.view(TYPES[t])


def bfi(a: A, b: A, pos: A, length: A) -> A:
    b = np.asarray(b)
    bits, u = b.dtype.itemsize * 8, b.dtype.type
    a, b, pos, length = np.broadcast_arrays(a, b, np.asarray(pos) & np.uint32(255), np.asarray(length) & np.uint32(255))
    ones = np.where(length >= bits, ~u(0), shift(np.full(b.shape, 1, b.dtype), length, False) - u(1))
    mask = shift(ones, pos, False)
    return (b & ~mask) | (shift(a, pos, False) & mask)


def prmt(a: A, b: A, c: A, mode: str = "") -> A:
    if mode:
        tables = {
            "f4e": (0x3210, 0x4321, 0x5432, 0x6543),
            "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
            "rc8": (0, 0x1111, 0x2222, 0x3333),
            "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
            "ecr": (0, 0x1110, 0x2210, 0x3210),
            "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
        }
        c = np.array(tables[mode], np.uint32)[np.asarray(c) & 3]
    both = np.asarray(a).astype(np.uint64) | (np.asarray(b).astype(np.uint64) << np.uint64(32))
    r = np.zeros(np.broadcast(both, c).shape, np.uint32)
    for k in range(4):
        pick = (np.asarray(c) >> np.uint32(4 * k)) & np.uint32(15)
        byte = (both >> (8 * (pick & 7)).astype(np.uint64)).astype(np.uint32) & np.uint32(255)
        byte = np.where(pick & 8, np.where(byte & 128, np.uint32(255), np.uint32(0)), byte)
        r |= byte << np.uint32(8 * k)
    return r


def lop3(a: A, b: A, c: A, table: int) -> A:
    r = np.zeros(np.broadcast(a, b, c).shape, np.uint32)
    for k in range(8):
        if table >> k & 1:
            r |= (a if k & 4 else ~a) & (b if k & 2 else ~b) & (c if k & 1 else ~c)
    return r


def carry(a: A, b: A, c: A, t: str) -> tuple[A, A]:
    """A sum with a carry in, and the carry out."""
    u = TYPES["u" + t[1]]
    a, b = np.asarray(a).view(u), np.asarray(b).view(u)
    s = a + b
    r = s + np.asarray(c).astype(u)
    return r, (s < a) | (r < s)


def borrow(a: A, b: A, c: A, t: str) -> tuple[A, A]:
    u = TYPES["u" + t[1]]
    a, b, c = np.asarray(a).view(u), np.asarray(b).view(u), np.asarray(c)
    return a - b - c.astype(u), (a < b) | ((a == b) & c)


# ---------------------------------------------------------------- conversions
