"""Extents that depend on positions: sizes, offsets and their inverses against counting."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

import pytest

from sacpy.withloop import piecewise as pw
from sacpy.withloop.piecewise import ONE, ZERO, Poly
from sacpy.withloop.sums import Extents, index_at, inverse, lowest, offset, position, size

N, M = pw.name("n"), pw.name("m")
X = [pw.name(position(k)) for k in range(5)]
MOST = 300  # elements of an array that is counted


def positions(extents: Extents, values: Mapping[str, int]) -> Iterator[tuple[int, ...]]:
    """All positions in row-major order."""

    def below(k: int, index: tuple[int, ...], at: Mapping[str, int]) -> Iterator[tuple[int, ...]]:
        if k == extents.rank:
            yield index
            return
        for t in range(pw.value_at(extents.axes[k], at)):
            yield from below(k + 1, (*index, t), {**at, position(k): t})

    return below(0, (), values)


def affine(rng: random.Random, k: int) -> Poly:
    found = rng.choice([N, M, pw.number(rng.randint(0, 4))])
    for p in X[:k]:
        if rng.random() < 0.6:
            found = found + p.scaled(rng.choice([1, 1, -1, 2]))
    return found + pw.number(rng.randint(-1, 2))


def extent(rng: random.Random, k: int) -> Poly:
    """A random extent of axis k, never negative."""
    kind, found = rng.random(), affine(rng, k)
    if kind < 0.2:
        found = pw.minimum(found, affine(rng, k))
    elif kind < 0.3:
        found = pw.maximum(found, affine(rng, k))
    elif kind < 0.4 and k:
        found = pw.minimum(N, X[0] + pw.number(rng.randint(0, 3))) - pw.maximum(ZERO, X[0] - pw.number(2))
    elif kind < 0.5 and k:
        power = pw.power(2, rng.choice(X[:k]))
        assert power is not None
        return power
    elif kind < 0.55 and k:
        found = pw.quotient("div", found, pw.number(2))
    elif kind < 0.65 and k:
        found = pw.choice(pw.step(rng.choice(X[:k]) - pw.number(2)), found, affine(rng, k))
    return pw.maximum(found, ZERO)


def check(seed: int) -> bool:
    """Counts one random array; tells whether its offsets are closed forms. Arrays that are too large do not count."""
    rng = random.Random(seed)
    rank = rng.choice([1, 2, 2, 3, 3, 4, 5])
    try:
        extents = Extents(tuple(extent(rng, k) for k in range(rank)))
    except pw.TooLarge:
        return False
    values = {"n": rng.randint(0, 6 if rank < 4 else 3), "m": rng.randint(0, 3)}
    found: list[tuple[int, ...]] = []
    for index in positions(extents, values):
        found.append(index)
        if len(found) > MOST:
            return False
    if not extents.closed and (rank > 2 or len(found) > 60):
        return False
    assert size(extents, values) == len(found), (seed, [str(e) for e in extents.axes], values)
    for at in sorted(rng.sample(range(len(found)), min(len(found), 8))):
        assert offset(extents, values, found[at]) == at, (seed, [str(e) for e in extents.axes], values)
        assert index_at(extents, values, at) == found[at], (seed, [str(e) for e in extents.axes], values)
    return extents.closed


def test_random_extents_are_counted_right() -> None:
    assert sum(check(seed) for seed in range(10)) > 3  # enough of them have closed forms


@pytest.mark.long
def test_many_random_extents_are_counted_right() -> None:
    counted = 0
    for seed in range(10_000):
        counted += check(seed)
        if counted == 2000:
            return
    assert counted == 2000


def test_closed_forms() -> None:
    def sums(*axes: Poly) -> list[str]:
        return [str(s) for s in Extents(axes).sums()]

    power = pw.power(2, X[0])
    assert power is not None
    assert sums(N, X[0] + ONE) == ["x0 * x0 / 2 + x0 / 2", "x1"]
    assert sums(N, N - X[0]) == ["n * x0 - x0 * x0 / 2 + x0 / 2", "x1"]
    assert sums(N, power) == ["(1 << x0) - 1", "x1"]
    assert sums(N, X[0] + ONE, X[1] + ONE)[0] == "x0 * x0 * x0 / 6 + x0 * x0 / 2 + x0 / 3"
    assert Extents((N, pw.quotient("div", X[0], pw.number(2)))).sums()[0] is None


@pytest.mark.parametrize(
    ("extent", "growth", "least"),
    [
        (X[0] + ONE, 1, "1"),
        (X[0], 1, "0"),
        (X[0].scaled(2) + N, 2, "n"),
        (N - X[0], -1, "1"),
        (N - X[0] - ONE, -1, "0"),
    ],
)
def test_rows_that_grow(extent: Poly, growth: int, least: str) -> None:
    """Of a triangle the shortest row is known, whichever way it lies."""
    how = inverse(Extents((N, extent)).sums()[0], position(0), N)
    assert (how.kind, how.growth, str(how.least)) == ("rows", growth, least)


def test_band() -> None:
    """The band of the notes: row i begins where H - L says."""
    above, below = 3, 2
    axes = N, pw.minimum(N, X[0] + pw.number(above + 1)) - pw.maximum(ZERO, X[0] - pw.number(below))
    starts = Extents(axes).sums()[0]
    assert starts is not None
    for n in range(12):
        for i in range(n):
            m = min(i, max(0, n - above - 1))
            q = max(0, i - 1 - below)
            high, low = m * (m - 1) // 2 + (above + 1) * m + (i - m) * n, q * (q + 1) // 2
            assert pw.value_at(starts, {"n": n, "x0": i}) == high - low


@pytest.mark.parametrize(
    ("axes", "kinds"),
    [
        ((N, X[0] + ONE), "rows rows"),
        ((N, N - X[0]), "rows rows"),
        ((N, M), "rows rows"),
        ((N, X[0] + ONE, X[1] + ONE), "search rows rows"),
    ],
)
def test_inverses(axes: tuple[Poly, ...], kinds: str) -> None:
    found = [inverse(s, position(k), axes[k]).kind for k, s in enumerate(Extents(axes).sums())]
    assert found == kinds.split()


def test_lowest_extents() -> None:
    p0 = pw.name("p0")
    assert lowest(Extents((p0, X[0] + ONE)), 1) == ONE
    assert lowest(Extents((p0, p0 - X[0])), 1) == ONE
    assert lowest(Extents((p0, X[0] - ONE)), 1) == -ONE
    assert lowest(Extents((p0, pw.maximum(ZERO, X[0] - M))), 1) == ZERO
    assert lowest(Extents((p0, pw.minimum(X[0], M))), 1) is None  # M may be negative


def test_equal_functions_have_one_form() -> None:
    a, b = X[0] + N, M - X[0]
    assert pw.minimum(a, b) == pw.minimum(b, a)
    assert pw.maximum(a, b) == -pw.minimum(-a, -b)
    assert pw.minimum(a, b) + pw.maximum(a, b) == a + b
    assert pw.step(a) * pw.step(a) == pw.step(a)
    assert (a + b) * (a - b) == a * a - b * b
