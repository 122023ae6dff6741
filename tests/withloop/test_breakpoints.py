"""Rows whose length is defined by cases: between the places that are found each is longer than the one before it by the
number that is said."""

from __future__ import annotations

import random

import pytest

from sacpy.withloop import piecewise as pw
from sacpy.withloop.breakpoints import Cases, cases
from sacpy.withloop.piecewise import ONE, ZERO, Poly
from sacpy.withloop.sums import Extents, position

N, M, K = pw.name("p0"), pw.name("p1"), pw.name("p2")
X = pw.name(position(0))
BAND = pw.minimum(N, X + M + ONE) - pw.maximum(ZERO, X - K)


@pytest.mark.parametrize(
    ("length", "growths"),
    [
        (BAND, (1, 0, -1)),
        (pw.maximum(ZERO, X - M), (0, 1)),
        (pw.minimum(X, M).scaled(3), (3, 0)),
        (pw.minimum(X, M) + pw.maximum(ZERO, X - K).scaled(2), (1, 3, 0, 2)),
    ],
)
def test_places_and_growths(length: Poly, growths: tuple[int, ...]) -> None:
    found = cases(Extents((N, length)))
    assert found is not None and sorted(found.growths) == sorted(growths) and found.growths[0] == growths[0]
    assert len(found.places) == (1 if len(growths) == 2 else 2)
    rng = random.Random(str(length))
    for _ in range(20):
        values = {"p0": rng.randint(0, 9), "p1": rng.randint(0, 9), "p2": rng.randint(0, 9)}
        grows_as_said(found, length, values)


def grows_as_said(found: Cases, length: Poly, values: dict[str, int]) -> None:
    places = [pw.value_at(p, values) for p in found.places]
    for row in range(1, values["p0"]):
        before, now = (pw.value_at(length, {**values, position(0): i}) for i in (row - 1, row))
        passed = [row - 1 >= p for p in places]
        if any(passed) and not all(passed) and len(found.growths) == 4:
            growth = found.growths[1 if passed[0] else 2]
        else:
            growth = found.growths[0] if not any(passed) else found.growths[-1] if all(passed) else found.growths[1]
        if [row >= p for p in places] == passed:  # both rows lie between the same places
            assert now - before == growth, (values, row)


@pytest.mark.parametrize(
    "length",
    [
        X + ONE,  # no cases
        pw.minimum(X.scaled(2), M),  # the place is no whole number
        pw.minimum(X, M) * X,  # no one number from row to row
        pw.minimum(X, M) + pw.maximum(X, K) + pw.minimum(X, pw.number(3)),  # three places
        pw.quotient("div", X, pw.number(2)),  # no closed form
    ],
)
def test_others(length: Poly) -> None:
    assert cases(Extents((N, length))) is None


def test_rows_of_arrays_are_as_long_as_their_elements_are_many() -> None:
    found = cases(Extents((N, pw.maximum(ZERO, X - M), pw.number(3))))
    assert found is not None and found.growths == (0, 3)
