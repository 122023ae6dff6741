"""Some cases in Triton, on tensors of PyTorch. Imported only where both are there."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

Array = Any


@triton.jit
def _axpy(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(z + at, 2.5 * tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def _relax(a, z, m, n, BLOCK: tl.constexpr):
    i = tl.program_id(1)
    j = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = j < n
    row = a + i.to(tl.int64) * n
    inner = (i > 0) & (i < m - 1) & (j > 0) & (j < n - 1)
    around = (
        tl.load(row - n + j, mask=inner)
        + tl.load(row + n + j, mask=inner)
        + tl.load(row + j - 1, mask=inner)
        + tl.load(row + j + 1, mask=inner)
    )
    tl.store(z + i.to(tl.int64) * n + j, tl.where(inner, 0.25 * around, tl.load(row + j, mask=inside)), mask=inside)


@triton.jit
def _rows(a, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        j = start + tl.arange(0, BLOCK)
        total += tl.load(a + i.to(tl.int64) * n + j, mask=j < n, other=0.0)
    tl.store(z + i, tl.sum(total))


def axpy(x: Array, y: Array) -> Array:
    """2.5 x + y."""
    z = torch.empty_like(x)
    _axpy[(triton.cdiv(x.numel(), 1024),)](x, y, z, x.numel(), BLOCK=1024)
    return z


def relax(a: Array) -> Array:
    """One step of relaxation."""
    z = torch.empty_like(a)
    m, n = a.shape
    _relax[(triton.cdiv(n, 1024), m)](a, z, m, n, BLOCK=1024)
    return z


def rows(a: Array) -> Array:
    """Row sums."""
    z = torch.empty(a.shape[0], dtype=a.dtype, device=a.device)
    _rows[(a.shape[0],)](a, z, a.shape[1], BLOCK=1024)
    return z
