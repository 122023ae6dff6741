import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sacpy.withloop.division import Magic, magic

EDGES = {32: 2**31 - 1, 64: 2**63 - 1}


@pytest.mark.parametrize("bits", [32, 64])
def test_every_small_divisor_at_every_place_where_the_quotient_changes(bits):
    top = EDGES[bits]
    for d in [*range(1, 600), *(2**k + e for k in range(9, bits - 1) for e in (-1, 0, 1)), 2 ** (bits - 1)]:
        m = magic(d, bits)
        last = top // d * d
        for n in {0, 1, d - 1, d, d + 1, 2 * d - 1, 2 * d, last - 1, last, top - 1, top}:
            if 0 <= n <= top:
                assert m.quotient(n) == n // d, (n, d)


def test_all_dividends_of_small_divisors():
    for d in range(1, 40):
        m = magic(d, 32)
        assert [m.quotient(n) for n in range(300)] == [n // d for n in range(300)]


@pytest.mark.parametrize("bits", [32, 64])
def test_random_divisors_and_dividends(bits):
    numbers = random.Random(5)
    for _ in range(4000):
        d = numbers.randrange(1, 2 ** numbers.randrange(1, bits))
        n = numbers.randrange(0, 2 ** numbers.randrange(1, bits))
        assert magic(d, bits).quotient(n) == n // d


@given(st.integers(1, 2**31), st.integers(0, 2**31 - 1))
@example(2**31, 2**31 - 1)
@example(1, 2**31 - 1)
def test_the_wide_product_is_the_same(d, n):
    m = magic(d, 32)
    assert 0 < m.multiplier < 2**32 and 0 <= m.shift < 32
    assert (n * m.multiplier) < 2**64
    assert (n * m.multiplier) >> (31 + m.shift) == n // d


def test_powers_of_two_are_shifts():
    for k in range(31):
        m = magic(2**k, 32)
        assert m.power_of_two and m.shift == k and m.multiplier == 2**31
    assert not magic(3, 32).power_of_two


def test_a_multiplier_one_too_small_or_too_large_is_wrong():
    """The table is tight: the tests above would notice."""
    m = magic(7, 32)
    assert Magic(7, m.multiplier - 1, m.shift, 32).quotient(7) != 1
    assert any(
        Magic(641, magic(641, 32).multiplier + 2**10, magic(641, 32).shift, 32).quotient(n) != n // 641
        for n in (2**31 - 1, (2**31 - 1) // 641 * 641 - 1)
    )


@pytest.mark.parametrize(("d", "bits"), [(0, 32), (-3, 32), (2**31 + 1, 32), (2**63 + 1, 64), (3, 16)])
def test_what_is_no_divisor_is_refused(d, bits):
    with pytest.raises(ValueError, match="bits"):
        magic(d, bits)
