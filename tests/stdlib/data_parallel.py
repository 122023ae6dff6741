"""What the library's scans, histograms, sorts, segments, statistics and selections are to give: what NumPy gives.

In: nothing. Out: `CASES`, each a function of SaC with T for its base type, what makes arguments of n elements for it,
and NumPy's answer to them. Arguments have NaN, -0, equal keys, the ends of the types, empty and giant segments.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

DTYPES = {
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
    "float": np.float32,
    "double": np.float64,
    "bool": np.bool_,
}
REALS = ("float", "double")
NUMBERS = tuple(base for base in DTYPES if base != "bool")


class Case:
    """A function of SaC with T for the base type, what makes its arguments of n elements, and what NumPy says."""

    def __init__(
        self,
        text: str,
        arguments: Callable[..., tuple[Any, ...]],
        wanted: Callable[..., Any],
        bases: tuple[str, ...] = tuple(DTYPES),
        least: int = 0,
    ) -> None:
        self.text, self.arguments, self.wanted, self.bases, self.least = text, arguments, wanted, bases, least


def elements(base: str, n: int, seed: int = 1) -> Array:
    """Many of them equal, and the ends of the type; of reals small whole numbers, NaN, infinities and both zeros."""
    rng = np.random.default_rng(seed * 1000 + n)
    dtype = DTYPES[base]
    if base == "bool":
        return rng.integers(0, 2, n).astype(dtype)
    if base in REALS:
        found = rng.integers(-9, 10, n).astype(dtype)
        for value, part in ((np.nan, 40), (np.inf, 50), (-np.inf, 50), (-0.0, 9)):
            found[rng.random(n) < 1 / part] = value
        return found
    info = np.iinfo(dtype)
    found = rng.integers(info.min, info.max, n, dtype, endpoint=True)
    found[rng.random(n) < 0.3] = info.max
    found[rng.random(n) < 0.3] = 3
    return found


def finite(base: str, n: int, seed: int = 1) -> Array:
    """Elements whose sums are exact."""
    rng = np.random.default_rng(seed * 1000 + n)
    return rng.integers(-9, 10, n).astype(DTYPES[base]) if base in REALS else elements(base, n, seed)


def close(base: str, n: int) -> Array:
    """Reals of which a few at a time agree in the upper half of their bits, some in all of them."""
    rng = np.random.default_rng(n)
    return (1.0 + rng.integers(0, n // 4 + 1, n) * 2.0**-20 + rng.integers(0, 4, n) * 2.0**-45).astype(DTYPES[base])


def signs(base: str, n: int) -> Array:
    """Elements whose products are exact."""
    rng = np.random.default_rng(n)
    return rng.choice([-1.0, 1.0], n).astype(DTYPES[base]) if base in REALS else elements(base, n)


def keys(n: int, m: int = 7) -> Array:
    return np.random.default_rng(n).integers(0, m, n).astype(np.int32)


def mask(n: int) -> Array:
    return np.random.default_rng(n + 5).random(n) < 0.4


def offsets(n: int) -> Array:
    """Segments that are empty, of one element, and giant."""
    return np.array([0, 0, min(1, n), min(1, n), n - n // 8, n, n], np.int32)


def exclusive(scanned: Array, neutral: Any) -> Array:
    return np.concatenate([np.array([neutral], scanned.dtype), scanned[:-1]])[: scanned.size]


def by_flags(flags: Array, v: Array, f: Callable[[Any, Any], Any]) -> Array:
    """A scan that begins anew."""
    if not v.size:
        return v
    return np.array(
        [x for _, x in accumulate(zip(flags, v), lambda a, b: (b[0], b[1] if b[0] else f(a[1], b[1])))], v.dtype
    )


def segments(at: Array, v: Array, f: Callable[[Array], Any]) -> Array:
    return np.array([f(v[a:b]) for a, b in pairwise(at)], v.dtype)


def scattered(ufunc: Any, a: Array, k: Array, v: Array) -> Array:
    a = a.copy()
    with np.errstate(invalid="ignore"):
        ufunc.at(a, k, v)
    return a


def lowest(base: str) -> Any:
    return np.finfo(DTYPES[base]).min if base in REALS else False if base == "bool" else np.iinfo(DTYPES[base]).min


def quiet(f: Callable[..., Any]) -> Callable[..., Any]:
    """Without NumPy's warnings about no elements."""

    def called(*args: Any) -> Any:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return f(*args)

    return called


def grid(v: Array) -> Array:
    """The elements as an array of rank 3 with an axis of length 3 before and of length 2 behind."""
    return np.resize(v, (3, v.size // 4, 2)).astype(v.dtype) if v.size >= 4 else np.zeros((3, 0, 2), v.dtype)


def ONE(base, n) -> tuple[Any, ...]:
    return (elements(base, n),)


def SAFE(base, n) -> tuple[Any, ...]:
    return (finite(base, n),)


def FLAGS(base, n) -> tuple[Any, ...]:
    return (mask(n), finite(base, n))


def PARTS(base, n) -> tuple[Any, ...]:
    return (offsets(n), finite(base, n))


def CUBE(base, n) -> tuple[Any, ...]:
    return (grid(finite(base, n)),)


CASES: dict[str, Case] = {
    "cumsum": Case("T[.] f(T[.] v) { return cumsum(v); }", SAFE, lambda v: np.cumsum(v, dtype=v.dtype), NUMBERS),
    "cumprod": Case(
        "T[.] f(T[.] v) { return cumprod(v); }",
        lambda base, n: (signs(base, n),),
        lambda v: np.cumprod(v, dtype=v.dtype),
        NUMBERS,
    ),
    "cummax": Case("T[.] f(T[.] v) { return cummax(v); }", ONE, np.maximum.accumulate),
    "cummin": Case("T[.] f(T[.] v) { return cummin(v); }", ONE, np.minimum.accumulate),
    "cumsum_axis": Case(
        "T[.,.,.] f(T[.,.,.] v) { return cumsum(1, v); }", CUBE, lambda v: np.cumsum(v, 1, dtype=v.dtype), NUMBERS
    ),
    "cummax_last": Case("T[.,.,.] f(T[.,.,.] v) { return cummax(2, v); }", CUBE, lambda v: np.maximum.accumulate(v, 2)),
    "cummin_first": Case(
        "T[.,.,.] f(T[.,.,.] v) { return cummin(0, v); }", CUBE, lambda v: np.minimum.accumulate(v, 0)
    ),
    "exclusive": Case(
        "T[.] f(T[.] v) { return cumsum_exclusive(v); }",
        SAFE,
        lambda v: exclusive(np.cumsum(v, dtype=v.dtype), 0),
        NUMBERS,
    ),
    "cummax_exclusive": Case(
        "T[.] f(T[.] v) { return cummax_exclusive(v); }",
        SAFE,
        lambda v: exclusive(np.maximum.accumulate(v), lowest({np.dtype(d): b for b, d in DTYPES.items()}[v.dtype])),
    ),
    "reverse": Case(
        "T[.] f(T[.] v) { return cumsum_reverse(v); }", SAFE, lambda v: np.cumsum(v[::-1], dtype=v.dtype)[::-1], NUMBERS
    ),
    "flags": Case(
        "T[.] f(bool[.] p, T[.] v) { return cumsum_by_flags(p, v); }",
        FLAGS,
        quiet(lambda p, v: by_flags(p, v, np.add)),
        NUMBERS,
    ),
    "cummax_flags": Case(
        "T[.] f(bool[.] p, T[.] v) { return cummax_by_flags(p, v); }", FLAGS, lambda p, v: by_flags(p, v, np.maximum)
    ),
    "bincount": Case(
        "int[.] f(int[.] k, T[.] v) { return bincount(k); }",
        lambda base, n: (keys(n), elements(base, n)),
        lambda k, v: np.bincount(k),
        ("int",),
    ),
    "bincount_m": Case(
        "int[.] f(int[.] k, T[.] v) { return bincount(300, k); }",
        lambda base, n: (keys(n, 300), elements(base, n)),
        lambda k, v: np.bincount(k, minlength=300),
        ("int",),
    ),
    "weights": Case(
        "T[.] f(int[.] k, T[.] v) { return bincount(7, k, v); }",
        lambda base, n: (keys(n), finite(base, n)),
        lambda k, v: scattered(np.add, np.zeros(7, v.dtype), k, v),
        NUMBERS,
    ),
    "histogram": Case(
        "int[.] f(double[.] v) { return histogram(10, -4.5, 4.0, v); }",
        ONE,
        lambda v: np.histogram(v[~np.isnan(v)], 10, (-4.5, 4.0))[0],
        ("double",),
    ),
    "borders": Case(
        "int[.] f(double[.] v) { return histogram([-4.0, -1.0, 0.0, 7.5], v); }",
        ONE,
        lambda v: np.histogram(v[~np.isnan(v)], [-4.0, -1.0, 0.0, 7.5])[0],
        ("double",),
    ),
    "scatter_add": Case(
        "T[.] f(int[.] k, T[.] v) { return scatter_add(take([7], v), k, v); }",
        lambda base, n: (keys(n), finite(base, n)),
        lambda k, v: scattered(np.add, np.resize(np.append(v[:7], np.zeros(7, v.dtype)), 7), k, v),
        NUMBERS,
    ),
    "scatter_min": Case(
        "T[.] f(int[.] k, T[.] v) { return scatter_min(take([7], v), k, v); }",
        lambda base, n: (keys(n), elements(base, n)),
        lambda k, v: scattered(np.minimum, np.resize(np.append(v[:7], np.zeros(7, v.dtype)), 7), k, v),
        NUMBERS,
    ),
    "scatter_max": Case(
        "T[.] f(int[.] k, T[.] v) { return scatter_max(take([7], v), k, v); }",
        lambda base, n: (keys(n), elements(base, n)),
        lambda k, v: scattered(np.maximum, np.resize(np.append(v[:7], np.zeros(7, v.dtype)), 7), k, v),
        NUMBERS,
    ),
    "scatter_last": Case(
        "T[.] f(int[.] k, T[.] v) { return scatter_last(take([7], v), k, v); }",
        lambda base, n: (keys(n), elements(base, n)),
        lambda k, v: np.array(
            [v[np.flatnonzero(k == i)[-1]] if (k == i).any() else v[i] if i < v.size else 0 for i in range(7)], v.dtype
        ),
    ),
    "occurs": Case(
        "bool[.] f(int[.] k) { return occurs(9, k); }",
        lambda base, n: (keys(n),),
        lambda k: np.isin(np.arange(9), k),
        ("int",),
    ),
    "sort": Case("T[.] f(T[.] v) { return sort(v); }", ONE, np.sort),
    "sort_axis": Case("T[.,.,.] f(T[.,.,.] v) { return sort(1, v); }", CUBE, lambda v: np.sort(v, 1)),
    "argsort_close": Case(
        "int[n] f(T[n] v) { return argsort(v); }",
        lambda base, n: (close(base, n),),
        lambda v: np.argsort(v, kind="stable"),
        ("double",),
    ),
    "argsort": Case("int[.] f(T[.] v) { return argsort(v); }", ONE, lambda v: np.argsort(v, kind="stable")),
    "argsort_axis": Case(
        "int[.,.,.] f(T[.,.,.] v) { return argsort(0, v); }", CUBE, lambda v: np.argsort(v, 0, kind="stable")
    ),
    "sort_by_key": Case(
        "T[.], int[.] f(T[.] v, int[.] w) { k, x = sort_by_key(v, w); return (k, x); }",
        lambda base, n: (elements(base, n), keys(n, 99)),
        lambda v, w: (v[np.argsort(v, kind="stable")], w[np.argsort(v, kind="stable")]),
    ),
    "unique": Case("T[.] f(T[.] v) { return unique(v); }", ONE, np.unique),
    "unique_counts": Case(
        "T[.], int[.] f(T[.] v) { u, c = unique_counts(v); return (u, c); }",
        ONE,
        lambda v: np.unique(v, return_counts=True),
    ),
    "unique_inverse": Case(
        "T[.], int[.] f(T[.] v) { u, c = unique_inverse(v); return (u, c); }",
        ONE,
        lambda v: np.unique(v, return_inverse=True),
    ),
    "searchsorted": Case(
        "int[.] f(T[.] v, T[.] x) { return searchsorted(v, x); }",
        lambda base, n: (np.sort(elements(base, n)), elements(base, 20, 2)),
        np.searchsorted,
    ),
    "searchsorted_right": Case(
        "int[.] f(T[.] v, T[.] x) { return searchsorted_right(v, x); }",
        lambda base, n: (np.sort(elements(base, n)), elements(base, 20, 2)),
        lambda v, x: np.searchsorted(v, x, "right"),
    ),
    "group_by": Case(
        "int[.], int[.], T[.] f(int[.] k, T[.] v) { a, b, c = group_by(k, v); return (a, b, c); }",
        lambda base, n: (keys(n), elements(base, n)),
        lambda k, v: (
            np.unique(k),
            np.append(np.unique(np.sort(k), return_index=True)[1], k.size),
            v[np.argsort(k, kind="stable")],
        ),
    ),
    "segment_sum": Case(
        "T[.] f(int[.] o, T[.] v) { return segment_sum(o, v); }",
        PARTS,
        lambda o, v: segments(o, v, lambda s: np.sum(s, dtype=v.dtype)),
        NUMBERS,
    ),
    "segment_prod": Case(
        "T[.] f(int[.] o, T[.] v) { return segment_prod(o, v); }",
        lambda base, n: (offsets(n), signs(base, n)),
        lambda o, v: segments(o, v, lambda s: np.prod(s, dtype=v.dtype)),
        NUMBERS,
    ),
    "segment_max": Case(
        "T[.] f(int[.] o, T[.] v) { return segment_max(o, v); }",
        PARTS,
        lambda o, v: segments(
            o, v, lambda s: np.max(s, initial=lowest({np.dtype(d): b for b, d in DTYPES.items()}[v.dtype]))
        ),
        NUMBERS,
    ),
    "segment_any": Case(
        "bool[.] f(int[.] o, bool[.] v) { return segment_any(o, v); }",
        PARTS,
        lambda o, v: segments(o, v, np.any),
        ("bool",),
    ),
    "segment_all": Case(
        "bool[.] f(int[.] o, bool[.] v) { return segment_all(o, v); }",
        PARTS,
        lambda o, v: segments(o, v, np.all),
        ("bool",),
    ),
    "segment_cumsum": Case(
        "T[.] f(int[.] o, T[.] v) { return segment_cumsum(o, v); }",
        PARTS,
        lambda o, v: np.concatenate([np.cumsum(v[a:b], dtype=v.dtype) for a, b in pairwise(o)]),
        NUMBERS,
    ),
    "segment_ids": Case(
        "int[.] f(int[.] o) { return segment_ids(o); }",
        lambda base, n: (offsets(n)[1:] if n % 2 else offsets(n),),
        lambda at: np.searchsorted(at, np.arange(at[-1]), side="right").astype(np.int32) - 1,
        ("int",),
    ),
    "spmv": Case(
        "T[.] f(int[.] o, int[.] c, T[.] v) { return spmv(o, c, v, [T_(1), T_(2), T_(3), T_(0), T_(1), T_(1), "
        "T_(5)]); }",
        lambda base, n: (offsets(n), keys(n), finite(base, n)),
        quiet(
            lambda o, c, v: segments(
                o, v * np.array([1, 2, 3, 0, 1, 1, 5], v.dtype)[c], lambda s: np.sum(s, dtype=v.dtype)
            )
        ),
        ("int", "long", "float", "double"),
    ),
    "mean": Case("double f(double[.] v) { return mean(v); }", SAFE, quiet(np.mean), ("double",)),
    "var": Case("double f(double[.] v) { return var(v); }", SAFE, quiet(np.var), ("double",)),
    "std_axis": Case(
        "double[.,.] f(T[.,.,.] v) { return std(1, v); }",
        lambda base, n: (grid(keys(n)),),
        quiet(lambda v: np.std(v, 1)),
        ("int",),
    ),
    "median": Case("double f(double[.] v) { return median(v); }", ONE, quiet(np.median), ("double",)),
    "median_axis": Case(
        "double[.,.] f(T[.,.,.] v) { return median(1, v); }", CUBE, quiet(lambda v: np.median(v, 1)), ("double", "int")
    ),
    "quantile": Case(
        "double[.] f(double[.] v) { return quantile([0.0, 0.2, 0.5, 0.99, 1.0], v); }",
        SAFE,
        quiet(lambda v: np.quantile(v, [0.0, 0.2, 0.5, 0.99, 1.0]) if v.size else np.full(5, np.nan)),
        ("double",),
    ),
    "sum_axis": Case(
        "T[.,.] f(T[.,.,.] v) { return sum(1, v); }", CUBE, lambda v: np.sum(v, 1, dtype=v.dtype), NUMBERS
    ),
    "maxval_axis": Case("T[.,.] f(T[.,.,.] v) { return maxval(0, v); }", CUBE, lambda v: np.max(v, 0), NUMBERS),
    "filter": Case(
        "T[.] f(bool[.] p, T[.] v) { return filter(p, v); }",
        lambda base, n: (mask(n), elements(base, n)),
        lambda p, v: v[p],
    ),
    "compress": Case(
        "T[.,.,.] f(bool[.] p, T[.,.,.] v) { return compress(1, p, v); }",
        lambda base, n: (mask(n // 4), grid(finite(base, n))),
        lambda p, v: v[:, p],
    ),
    "nonzero": Case("int[.] f(T[.] v) { return nonzero(v); }", ONE, lambda v: np.flatnonzero(v)),
    "argwhere": Case("int[.,.] f(bool[.,.,.] v) { return argwhere(v); }", CUBE, np.argwhere, ("bool",)),
    "argmax": Case("int f(T[.] v) { return argmax(v); }", ONE, np.argmax, least=1),
    "argmin": Case("int f(T[.] v) { return argmin(v); }", ONE, np.argmin, least=1),
    "argmax_axis": Case("int[.,.] f(T[.,.,.] v) { return argmax(1, v); }", CUBE, lambda v: np.argmax(v, 1), least=4),
    "topk": Case(
        "int[.] f(T[.] v) { return topk_indices(min(5, shape(v)[0]), v); }",
        lambda base, n: (elements(base, n),),
        lambda v: (v.size - 1 - np.argsort(v[::-1], kind="stable")[::-1])[:5],
    ),
    "bottomk": Case(
        "int[.] f(T[.] v) { return bottomk_indices(min(5, shape(v)[0]), v); }",
        lambda base, n: (elements(base, n),),
        lambda v: np.argsort(v, kind="stable")[:5],
        ("double",),
    ),
}
