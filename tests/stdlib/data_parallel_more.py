"""The rest of the library's scans, histograms, segments, statistics and selections: what is the like of a case in
`data_parallel` in another direction, by another operation, or with other data; each branch of `filter` and `nonzero`.

In: nothing. Out: `MORE`, as `CASES`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.stdlib.data_parallel import (
    CUBE,
    DTYPES,
    FLAGS,
    NUMBERS,
    ONE,
    PARTS,
    Array,
    Case,
    by_flags,
    elements,
    exclusive,
    grid,
    keys,
    lowest,
    mask,
    offsets,
    quiet,
    segments,
    signs,
)

TWO = ("int", "double")


def base_of(v: Array) -> str:
    return {np.dtype(d): b for b, d in DTYPES.items()}[v.dtype]


def highest(base: str) -> Any:
    return np.finfo(DTYPES[base]).max if base in ("float", "double") else np.iinfo(DTYPES[base]).max


def sparse(n: int) -> Array:
    """True here and there, twice in a row, at both ends, and nowhere for a long while."""
    p = np.random.default_rng(n).random(n) < 0.02
    p[n // 3 : n // 2] = False
    p[n // 2 : n // 2 + 2] = True
    p[:1] = p[-1:] = n % 2 == 1
    return p


def BOTH(base: str, n: int) -> tuple[Any, ...]:
    return (signs(base, n),)


def signed(base: str, n: int) -> tuple[Any, ...]:
    return (mask(n), signs(base, n))


def with_mask(base: str, n: int) -> tuple[Any, ...]:
    return (sparse(n), elements(base, n))


def extremes(f: Any, v: Array, axis: int, empty: Any) -> Array:
    """Along an axis, that may be empty."""
    return f(v, axis) if v.shape[axis] else np.full(np.delete(v.shape, axis), empty, v.dtype)


MORE: dict[str, Case] = {
    "cummax_reverse": Case(
        "T[.] f(T[.] v) { return cummax_reverse(v); }", ONE, lambda v: np.maximum.accumulate(v[::-1])[::-1]
    ),
    "cummin_reverse": Case(
        "T[.] f(T[.] v) { return cummin_reverse(v); }", ONE, lambda v: np.minimum.accumulate(v[::-1])[::-1]
    ),
    "cummin_exclusive": Case(
        "T[.] f(T[.] v) { return cummin_exclusive(v); }",
        ONE,
        lambda v: exclusive(np.minimum.accumulate(v), highest(base_of(v))),
        NUMBERS,
    ),
    "cummin_flags": Case(
        "T[.] f(bool[.] p, T[.] v) { return cummin_by_flags(p, v); }", FLAGS, lambda p, v: by_flags(p, v, np.minimum)
    ),
    "cumprod_reverse": Case(
        "T[.] f(T[.] v) { return cumprod_reverse(v); }",
        BOTH,
        lambda v: np.cumprod(v[::-1], dtype=v.dtype)[::-1],
        NUMBERS,
    ),
    "cumprod_exclusive": Case(
        "T[.] f(T[.] v) { return cumprod_exclusive(v); }",
        BOTH,
        lambda v: exclusive(np.cumprod(v, dtype=v.dtype), 1),
        NUMBERS,
    ),
    "cumprod_flags": Case(
        "T[.] f(bool[.] p, T[.] v) { return cumprod_by_flags(p, v); }",
        signed,
        quiet(lambda p, v: by_flags(p, v, np.multiply)),
        NUMBERS,
    ),
    "edges": Case(
        "double[.] f(T[.] v) { return histogram_edges(shape(v)[0], -1.5, 2.0); }",
        ONE,
        lambda v: np.linspace(-1.5, 2.0, v.size + 1),
        ("int",),
        least=1,
    ),
    "is_sorted": Case(
        "bool, bool f(T[.] v) { return (is_sorted(v), is_sorted(sort(v))); }",
        ONE,
        lambda v: (_ascends(v), True),
        TWO,
    ),
    "segment_min": Case(
        "T[.] f(int[.] o, T[.] v) { return segment_min(o, v); }",
        PARTS,
        lambda o, v: segments(o, v, lambda s: np.min(s) if s.size else highest(base_of(v))),
        NUMBERS,
    ),
    "segment_lengths": Case(
        "int[.], int[.] f(int[.] o) { l = segment_lengths(o); return (l, segment_offsets(l)); }",
        lambda base, n: (offsets(n),),
        lambda o: (np.diff(o), o),
        ("int",),
    ),
    "sample_var": Case(
        "double f(T[.] v) { return sample_var(v); }",
        lambda base, n: (np.arange(n, dtype=DTYPES[base]) % 8,),
        quiet(lambda v: np.var(v, ddof=1)),
        TWO,
        least=2,
    ),
    "sample_std_axis": Case(
        "double[.,.] f(T[.,.,.] v) { return sample_std(0, v); }",
        lambda base, n: (grid(np.arange(n) % 8).astype(DTYPES[base]),),
        quiet(lambda v: np.std(v, 0, ddof=1)),
        TWO,
    ),
    "prod_axis": Case(
        "T[.,.] f(T[.,.,.] v) { return prod(1, v); }",
        lambda base, n: (grid(signs(base, n)),),
        lambda v: np.prod(v, 1, dtype=v.dtype),
        NUMBERS,
    ),
    "minval_axis": Case(
        "T[.,.] f(T[.,.,.] v) { return minval(1, v); }",
        CUBE,
        lambda v: extremes(np.min, v, 1, highest(base_of(v))),
        NUMBERS,
        least=4,
    ),
    "any_axis": Case("bool[.,.] f(bool[.,.,.] v) { return any(1, v); }", CUBE, lambda v: np.any(v, 1), ("bool",)),
    "all_axis": Case("bool[.,.] f(bool[.,.,.] v) { return all(2, v); }", CUBE, lambda v: np.all(v, 2), ("bool",)),
    "filter_sparse": Case("T[.] f(bool[.] p, T[.] v) { return filter(p, v); }", with_mask, lambda p, v: v[p]),
    "sort_by": Case(
        "T[.], int[.] f(T[.] v) { return (sort_by(v, >), argsort_by(v, >)); }",
        lambda base, n: (keys(n, 99).astype(base),),
        lambda v: (np.sort(v)[::-1], np.argsort(-v, kind="stable")),
        TWO,
    ),
    "filter_rows": Case(
        "T[.,.] f(bool[.] p, T[.,.] v) { return filter(p, v); }",
        lambda base, n: (mask(n), np.resize(elements(base, n), (n, 3))),
        lambda p, v: v[p],
        TWO,
    ),
    "filter_none": Case(
        "T[.], T[.] f(bool[.] p, T[.] v) { return (filter(p & !p, v), filter(p | !p, v)); }",
        with_mask,
        lambda p, v: (v[:0], v),
        TWO,
    ),
    "nonzero_sparse": Case(
        "int[.], int[.] f(bool[.] p, T[.] v) { return (nonzero(p), where(!p)); }",
        with_mask,
        lambda p, v: (np.flatnonzero(p), np.flatnonzero(~p)),
        ("bool",),
    ),
    "greater_flags": Case(
        "T[.] f(bool[.] p, T[.] v) { return cummax_by_flags(p, v); }",
        with_mask,
        lambda p, v: by_flags(p, v, np.maximum),
        ("bool", *TWO),
    ),
    "cummax_axis_exclusive": Case(
        "T[.,.,.] f(T[.,.,.] v) { return cummax_exclusive(1, v); }",
        CUBE,
        lambda v: np.concatenate(
            [np.full_like(v[:, :1], lowest(base_of(v))), np.maximum.accumulate(v, 1)[:, :-1]], axis=1
        )[:, : v.shape[1]],
        NUMBERS,
    ),
}


def _ascends(v: Array) -> bool:
    """With NaN behind all numbers."""
    keys = np.where(np.isnan(v), np.inf, v) if v.dtype.kind == "f" else v
    nan = np.isnan(v) if v.dtype.kind == "f" else np.zeros(v.size, bool)
    return all((keys[i] <= keys[i + 1]) and nan[i] <= nan[i + 1] for i in range(v.size - 1))
