"""Sets of addresses with strides: against enumeration, against the sets of the examples they were made for, and with
names in them against an integer set library."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacpy.withloop.linear import NOTHING, Bounds, Linear, Number, name
from sacpy.withloop.lmads import EMPTY, Lmad, apart, generator, injective, row_major

STRIDES = (-12, -7, -3, -1, 0, 1, 1, 2, 3, 4, 5, 6, 8, 10, 12, 24)


def any_lmad(random: Random) -> Lmad:
    axes = tuple(
        (random.choice((0, 1, 2, 2, 3, 3, 4, 5, 7)), random.choice(STRIDES)) for _ in range(random.randint(0, 3))
    )
    return Lmad(random.randint(-20, 40), axes)


def interleaved(random: Random) -> Lmad:
    """One that is not empty, and near to others."""
    axes = tuple(
        (random.randint(2, 5), random.choice((1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 20)))
        for _ in range(random.randint(1, 3))
    )
    return Lmad(random.randint(0, 10), axes)


def proved(make: Callable[[Random], Lmad], pairs: int, seed: int = 1) -> float:
    """Which part of the random pairs that have nothing in common are proved to; none may be that have."""
    random, known, found = Random(seed), 0, 0
    for _ in range(pairs):
        a, b = make(random), make(random)
        common = set(a.addresses()) & set(b.addresses())
        answer = apart(a, b)
        assert not (answer and common), (a, b, common)
        known += not common
        found += answer
    return found / known


@pytest.mark.parametrize("make", [any_lmad, interleaved])
def test_pairs_that_are_said_to_be_apart_are(make: Callable[[Random], Lmad]) -> None:
    assert proved(make, 2500) > 0.97


@pytest.mark.long
@pytest.mark.parametrize("make", [any_lmad, interleaved])
def test_a_hundred_thousand_pairs_that_are_said_to_be_apart_are(make: Callable[[Random], Lmad]) -> None:
    assert proved(make, 100_000, seed=2) > 0.99


def test_the_normal_form_is_the_same_set_and_injectivity_is_told() -> None:
    random = Random(3)
    for _ in range(2500):
        a = any_lmad(random)
        n = a.normal()
        assert set(n.addresses()) == set(a.addresses()), a
        strides = [stride for _, stride in n.axes]
        assert n == EMPTY or (strides == sorted(set(strides), reverse=True) and all(s > 0 for s in strides))
        addresses = list(a.addresses())
        assert injective(a) == (len(set(addresses)) == len(addresses)), a
        assert n == EMPTY or n.last() == max(addresses)


# ---------------------------------------------------------------- the blocks of two algorithms


def wavefronts(q: int, b: int) -> Iterator[tuple[Lmad, Lmad]]:
    """Needleman and Wunsch, by blocks: what each diagonal of blocks writes, and what it reads."""
    n = q * b + 1
    for i in range(2 * q - 1):
        start, count = (i * b, i + 1) if i < q else ((i - q + 1) * b * n + (q - 1) * b, 2 * q - 1 - i)
        written = Lmad(start + n + 1, ((count, n * b - b), (b, n), (b, 1)))
        for read in (Lmad(start, ((count, n * b - b), (b + 1, n))), Lmad(start + 1, ((count, n * b - b), (b, 1)))):
            yield written, read


def decomposed(q: int, b: int) -> Iterator[tuple[Lmad, Lmad]]:
    """LU decomposition, by blocks: the block on the diagonal, those in its row and column, and the rest."""
    n = q * b
    for k in range(q):
        m = q - k - 1
        row, column = k * b * n + (k + 1) * b, (k + 1) * b * n + k * b
        parts = (
            Lmad(k * b * (n + 1), ((b, n), (b, 1))),
            Lmad(row, ((m, b), (b, n), (b, 1))),
            Lmad(column, ((m, b * n), (b, n), (b, 1))),
            Lmad((k + 1) * b * (n + 1), ((m, b * n), (m, b), (b, n), (b, 1))),
        )
        yield from combinations(parts, 2)


@pytest.mark.parametrize("pairs", [wavefronts, decomposed])
def test_the_blocks_of_algorithms_are_apart(pairs: Callable[[int, int], Iterator[tuple[Lmad, Lmad]]]) -> None:
    for q, b in product(range(2, 6), range(2, 7)):
        for x, y in pairs(q, b):
            assert not set(x.addresses()) & set(y.addresses())
            assert apart(x, y) and apart(y, x), (q, b, x, y)


# ---------------------------------------------------------------- what is wrong in the source


def test_an_axis_is_turned_round_by_its_last_index() -> None:
    """Not by `count * stride + 1`, which is right for a stride of -1 only."""
    assert Lmad(20, ((4, -3),)).normal() == Lmad(11, ((4, 3),))
    assert Lmad(20, ((4, -1),)).normal() == Lmad(17, ((4, 1),))


def test_a_range_ends_with_its_last_address() -> None:
    """A count is no length: {3} is in {0, 3}, though 3 is above 0 + 2."""
    assert not apart(Lmad(3, ()), Lmad(0, ((2, 3),)))
    assert apart(Lmad(4, ()), Lmad(0, ((2, 3),))) and apart(Lmad(0, ((2, 3),)), Lmad(4, ()))


def test_it_is_an_inner_axis_that_is_cut() -> None:
    """Blocks in a wavefront overlap in their rows; to cut the axis of blocks would never end."""
    written, read = Lmad(8, ((2, 10), (2, 7), (3, 1))), Lmad(0, ((2, 10), (3, 7)))
    assert apart(written, read) == (not set(written.addresses()) & set(read.addresses()))
    for x, y in wavefronts(2, 2):
        assert apart(x, y)


def test_indices_begin_at_zero() -> None:
    assert list(row_major((2, 3), 5).addresses()) == [5, 6, 7, 8, 9, 10]
    assert row_major((2, 3)).at((0, 0)) == 0


def test_equal_strides_may_overlap_themselves() -> None:
    assert not injective(Lmad(0, ((3, 2), (2, 2))))
    assert not apart(Lmad(0, ((3, 2), (2, 2))), Lmad(6, ()))
    assert apart(Lmad(0, ((3, 2), (2, 2))), Lmad(7, ()))


# ---------------------------------------------------------------- views


SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=4)


def viewed(a: Lmad) -> Any:
    return np.array(list(a.addresses()), int).reshape(a.shape)  # type: ignore[arg-type]


@given(SHAPES, st.data())
def test_views_of_views_are_numpys(shape: list[int], data: st.DataObject) -> None:
    mine = row_major(shape, data.draw(st.integers(0, 9)))
    theirs = viewed(mine)
    for _ in range(data.draw(st.integers(1, 4))):
        rank = len(mine.axes)
        match data.draw(st.sampled_from(["transposed", "reversed", "sliced", "fixed"])):
            case "transposed":
                order = data.draw(st.permutations(range(rank)))
                mine, theirs = mine.transposed(order), theirs.transpose(order)
            case "reversed" if rank:
                axis = data.draw(st.integers(0, rank - 1))
                mine, theirs = mine.reversed(axis), np.flip(theirs, axis)
            case "fixed" if rank > 1 and theirs.size:
                axis = data.draw(st.integers(0, rank - 1))
                at = data.draw(st.integers(0, theirs.shape[axis] - 1))
                mine, theirs = mine.fixed(axis, at), theirs.take(at, axis)
            case "sliced":
                starts = [data.draw(st.integers(0, max(n - 1, 0))) for n in theirs.shape]
                steps = [data.draw(st.integers(1, 3)) for _ in theirs.shape]
                parts = tuple(slice(a, None, s) for a, s in zip(starts, steps))
                counts = theirs[parts].shape
                mine, theirs = mine.sliced(starts, counts, steps), theirs[parts]
        assert np.array_equal(viewed(mine), theirs)


@given(st.permutations((2, 3, 2, 2)), st.data())
def test_a_reshape_is_a_view_where_numpy_makes_one(shape: list[int], data: st.DataObject) -> None:
    array = np.arange(24).reshape(shape).transpose(order := data.draw(st.permutations(range(4))))
    wanted = data.draw(
        st.sampled_from([(24,), (6, 4), (4, 6), (2, 12), (1, 3, 8), (8, 1, 3), (2, 2, 6), (24, 1), (2, 3, 2, 2)])
    )
    found = row_major(shape).transposed(order).reshaped(wanted)
    made = array.reshape(wanted)
    assert (found is not None) == np.shares_memory(made, array)
    assert found is None or np.array_equal(viewed(found), made)


def test_reshapes_of_nothing_and_of_one_element() -> None:
    assert row_major((0, 3)).reshaped((7, 0)) == Lmad(0, ((7, 0), (0, 0)))
    assert row_major((1, 1), 4).reshaped(()) == Lmad(4, ())
    assert Lmad(4, ()).reshaped((1, 1)) == Lmad(4, ((1, 0), (1, 0)))


def test_one_that_selects_from_another() -> None:
    every_third = Lmad(2, ((10, 3),))
    assert list(every_third.through(Lmad(1, ((2, 4), (2, 1)))).addresses()) == [5, 8, 17, 20]


# ---------------------------------------------------------------- generators


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 12), st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=3
    )
)
def test_generators_are_exact(axes: list[tuple[int, int, int, int]]) -> None:
    axes = [(low, high, step, min(width, step)) for low, high, step, width in axes]
    strides = row_major([13] * len(axes))
    lower, upper, step, width = zip(*axes)
    found = generator(lower, upper, step, width, [s for _, s in strides.axes], 7)
    indices = product(*([i for i in range(low, high) if (i - low) % s < w] for low, high, s, w in axes))
    expected = sorted(7 + int(strides.at(i)) for i in indices)  # type: ignore[arg-type]
    assert sorted(a for part in found for a in part.addresses()) == expected
    assert all(apart(a, b) for a, b in combinations(found, 2))


# ---------------------------------------------------------------- with names


def bounded(**ranges: tuple[Number | None, Number | None]) -> Bounds:
    bounds = Bounds()
    for text, (low, high) in ranges.items():
        bounds.learn(text, [] if low is None else [low], [] if high is None else [high])
    return bounds


H, K, B, N = name("h"), name("k"), name("b"), name("n")


def test_forms_are_added_and_multiplied() -> None:
    assert H + K - H == K and H - H == 0 and 3 * H - H * 2 == H and Linear(5, {"h": -1}) == 5 - H and H * 0 == 0
    assert hash(H + 1) == hash(1 + H) and H != K and repr(2 * H + 1) == "2 h + 1"


def test_what_is_never_negative() -> None:
    bounds = bounded(h=(1, None), k=(0, H - 1))
    assert bounds.never_negative(H - 1) and bounds.never_negative(H - K - 1) and bounds.never_negative(2 * H - K)
    assert not bounds.never_negative(H - 2) and not bounds.never_negative(K - H) and not bounds.never_negative(N)
    assert NOTHING.never_negative(0) and not NOTHING.never_negative(-1)


@pytest.mark.parametrize(
    ("a", "b", "bounds", "expected"),
    [
        (Lmad(0, ((H, 1),)), Lmad(H, ((H, 1),)), NOTHING, True),  # one half, and the other
        (Lmad(0, ((H, 1),)), Lmad(H - 1, ((H, 1),)), NOTHING, False),
        (Lmad(K, ((B, 1),)), Lmad(K + B, ((N, 1),)), NOTHING, True),
        (Lmad(0, ((N, 2),)), Lmad(1, ((N, 2),)), NOTHING, True),  # the odd ones and the even ones
        (Lmad(2 * K, ((N, 2),)), Lmad(2 * H + 1, ((N, 4),)), NOTHING, True),
        (Lmad(K, ((N, 2),)), Lmad(K + 2, ((N, 4),)), NOTHING, False),
        (
            Lmad(8 * K, ((N, 8), (3, 1))),
            Lmad(8 * H + 3, ((N, 8), (5, 1))),
            NOTHING,
            True,
        ),  # the beginnings of rows, and what is left of them
        (Lmad(8 * K, ((N, 8), (4, 1))), Lmad(8 * H + 3, ((N, 8), (5, 1))), NOTHING, False),
        (Lmad(K, ()), Lmad(H, ((N, 1),)), bounded(h=(0, None), k=(0, H - 1)), True),
        (Lmad(K, ()), Lmad(H, ((N, 1),)), bounded(h=(0, None), k=(0, H)), False),
        (Lmad(0, ((N, -1),)), Lmad(1, ((N, 1),)), NOTHING, True),
    ],
)
def test_sets_with_names_in_them(a: Lmad, b: Lmad, bounds: Bounds, expected: bool) -> None:
    assert apart(a, b, bounds) == expected and apart(b, a, bounds) == expected


def written(n: Number) -> str:
    return (
        str(n) if isinstance(n, int) else " + ".join([str(n.constant), *(f"{c}*{text}" for text, c in n.terms.items())])
    )


def symbolic(random: Random) -> Lmad:
    def number(*constants: int) -> Number:
        return random.choice(constants) + sum(
            (random.choice((0, 0, 0, 1, 1, 2, -1, 4)) * name(text) for text in "nmk"), 0
        )

    axes = tuple((number(0, 1, 2, 3), random.choice((-4, -1, 1, 1, 2, 3, 4, 8))) for _ in range(random.randint(0, 2)))
    return Lmad(number(-3, 0, 0, 1, 2), axes)


@pytest.mark.parametrize("pairs", [400, pytest.param(20_000, marks=pytest.mark.long)])
def test_sets_with_names_that_are_said_to_be_apart_are_so_for_all_values(pairs: int) -> None:
    isl = pytest.importorskip("islpy")
    random, known, found = Random(5), 0, 0
    bounds = bounded(n=(0, None), m=(1, name("n")), k=(0, name("m") - 1))
    for _ in range(pairs):
        sets, lmads = [], (symbolic(random), symbolic(random))
        for a in lmads:
            indices = [f"i{k}" for k in range(len(a.axes))]
            address = " + ".join([written(a.offset), *(f"{stride}*{i}" for i, (_, stride) in zip(indices, a.axes))])
            inside = " and ".join(
                [
                    "n >= 0 and 1 <= m <= n and 0 <= k < m",
                    *(f"0 <= {i} < {written(count)}" for i, (count, _) in zip(indices, a.axes)),
                ]
            )
            exists = f"exists {', '.join(indices)} : " if indices else ""
            sets.append(isl.Set(f"[n, m, k] -> {{ [x] : {exists}x = {address} and {inside} }}"))
        common, answer = not sets[0].intersect(sets[1]).is_empty(), apart(*lmads, bounds)
        assert not (answer and common), lmads
        known += not common
        found += answer
    assert found > 0.6 * known
