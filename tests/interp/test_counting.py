"""Loops that count run over a Python range; what they compute, and the counter behind them, stay what C would give."""

from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacpy.interp.intervals import INT
from sacpy.interp.runtime.withloops import down_to, up_to
from tests.interp.tools import failure, main, run


def c_loop(start: int, bound: int, test: str, step: int) -> tuple[int, int]:
    """Rounds and the counter behind the loop."""
    i, rounds = start, 0
    while {"<": i < bound, "<=": i <= bound, ">": i > bound, ">=": i >= bound, "!=": i != bound}[test] and rounds < 50:
        i, rounds = i + step, rounds + 1
    return rounds, i


@settings(max_examples=40, deadline=None)
@given(
    st.integers(-4, 4),
    st.integers(-4, 4),
    st.sampled_from(
        [("<", "i++"), ("<=", "i++"), (">", "i--"), (">=", "i--"), ("<", "i += 1"), ("<", "i = 1 + i"), ("<", "i += 2")]
    ),
    st.booleans(),
)
def test_rounds_and_counter_are_those_of_c(start: int, bound: int, kind: tuple[str, str], constant: bool) -> None:
    test, update = kind
    step = {"i++": 1, "i--": -1, "i += 1": 1, "i = 1 + i": 1, "i += 2": 2}[update]
    head = f"i = {start}; n = {bound};" if constant else f"v = [{start}, {bound}]; i = v[0]; n = v[1];"
    out = main(
        f'{head} r = 0; for (; i {test} n; {update}) {{ r = r + 1; }} printf("%d %d", r, i); return 0;'.replace(
            "for (;", "for (i = i;"
        )
    ).out
    assert tuple(map(int, out.split())) == c_loop(start, bound, test, step)


def test_counters_nest_and_read_each_other() -> None:
    assert (
        main('s = 0; for (i = 0; i < 5; i++) { for (j = i; j < 5; j++) { s = s + j; } } printf("%d", s); return 0;').out
        == "40"
    )


def test_a_counter_changed_in_the_body_is_no_counter() -> None:
    assert (
        main('r = 0; for (i = 0; i < 10; i++) { r++; if (i == 3) { i = 7; } } printf("%d %d", r, i); return 0;').out
        == "6 10"
    )


def test_a_bound_that_the_body_changes_is_no_bound() -> None:
    assert (
        main('n = 10; r = 0; for (i = 0; i < n; i++) { n = n - 1; r++; } printf("%d %d", r, n); return 0;').out == "5 5"
    )


def test_the_step_may_be_read_in_the_body() -> None:
    assert (
        main('s = 0; i = 0; while (i < 4) { k = i + 1; s = s + k; i = k; } printf("%d %d", s, i); return 0;').out
        == "10 4"
    )


def test_the_largest_int_ends_a_loop() -> None:
    assert (
        main('r = 0; for (i = 2147483640; i < 2147483647; i++) { r++; } printf("%d %d", r, i); return 0;').out
        == "7 2147483647"
    )


def test_indices_below_zero_are_still_found() -> None:
    assert failure("int main() { a = [1, 2]; s = 0; for (i = -1; i < 2; i++) { s = s + a[i]; } return s; }").code in (
        "E0601",
        "E0506",
    )


def test_a_range_up_to_the_last_int_has_no_end() -> None:
    assert list(islice(up_to(INT[1] - 1, INT[1]), 5)) == [INT[1] - 1, *[INT[1]] * 4]
    assert list(islice(down_to(INT[0] + 1, INT[0]), 5)) == [INT[0] + 1, *[INT[0]] * 4]
    assert list(up_to(3, 5)) == [3, 4, 5]
    assert list(down_to(5, 3)) == [5, 4, 3]
    assert not list(up_to(3, 2))


def test_a_bound_that_is_computed_in_each_round_may_fail_and_may_read_what_the_loop_changes() -> None:
    assert main('n = 5; s = 0; for (i = 0; i <= n - i; i++) { s = s + i; } printf("%d", s); return 0;').out == "3"
    assert main('v = iota(4); s = 0; for (i = 0; i < v[3] + s; i++) { s = 2; } printf("%d", i); return 0;').out == "5"
    assert failure("int main() { v = iota(2); for (i = 5; i < v[2]; i++) { v = v; } return 0; }").code == "E0601"


@pytest.mark.parametrize("body", ["a[i] = i;", "a = a + 1; a[i] = a[0];"])
def test_arrays_updated_in_such_a_loop_are_right(body: str) -> None:
    text = f"int main() {{ a = iota(6); b = a; for (i = 0; i < 6; i++) {{ {body} }} print(a); print(b); return 0; }}"
    assert run(text).out == run(text, always_copy=True).out
