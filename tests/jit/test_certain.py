"""Where conditions are decided along an axis, against all indices one by one."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from sacpy.jit.analysis.certain import Certain, certain, extremes
from sacpy.jit.analysis.facts import Sum

SMALL = st.integers(-6, 6)
AXIS = range(-40, 41)


def value(s: Sum, at: dict[str, int]) -> int:
    return s.constant + sum(c * at[name] for name, c in s.terms.items())


def indices(ends: dict[str, tuple[Sum, Sum]], at: dict[str, int]) -> list[dict[str, int]]:
    """All places of the loops inside, the bounds of inner ones following from outer ones."""
    found = [at]
    for name, (first, last) in ends.items():
        found = [{**a, name: q} for a in found for q in range(value(first, a), value(last, a) + 1)]
    return found


@st.composite
def questions(draw: st.DrawFn) -> tuple[Sum, dict[str, tuple[Sum, Sum]], dict[str, int]]:
    """A sum of the index `i`, of indices of up to two loops, and of variables from outside; what those are."""
    outside = {"n": draw(st.integers(0, 12)), "r": draw(st.integers(0, 4))}
    ends: dict[str, tuple[Sum, Sum]] = {}
    around = ["r"]
    for name in ("p", "q")[: draw(st.integers(0, 2))]:
        lower = Sum(draw(SMALL), {draw(st.sampled_from(around)): draw(st.sampled_from([-1, 1]))})
        ends[name] = lower, lower.offset(draw(st.integers(0, 4)))
        around.append(name)
    terms = {"i": draw(st.sampled_from([-3, -2, -1, 1, 2, 3]))}
    for name in (*ends, *outside):
        c = draw(st.integers(-2, 2))
        if c:
            terms[name] = c
    return Sum(draw(SMALL), terms), ends, outside


@settings(max_examples=400, deadline=None)
@given(questions())
def test_a_condition_is_decided_outside_of_the_band_and_in_doubt_in_it(question: tuple[Sum, dict, dict]) -> None:
    f, ends, outside = question
    found = certain(f, "i", ends)
    if found is None:
        assert abs(f.terms["i"]) > 1
        return
    before, after = value(found.before, outside), value(found.after, outside)
    assert before <= after
    for i in AXIS:
        holds = {value(f, at) >= 0 for at in indices(ends, {**outside, "i": i})}
        if i < before:
            assert holds == {not found.rising}
        elif i >= after:
            assert holds == {found.rising}
        else:
            assert holds == {True, False}


@settings(max_examples=200, deadline=None)
@given(questions())
def test_extremes_are_taken(question: tuple[Sum, dict, dict]) -> None:
    f, ends, outside = question
    least, greatest = extremes(f, ends)
    values = [value(f, at) for at in indices(ends, {**outside, "i": 5})]
    assert (value(least, {**outside, "i": 5}), value(greatest, {**outside, "i": 5})) == (min(values), max(values))


def test_a_clamp_of_a_window() -> None:
    """`n - 1 - (i + p - r) >= 0` for 0 <= p <= 2 * r: up to n - r always, from n + r on never."""
    f = Sum(-1, {"n": 1, "i": -1, "p": -1, "r": 1})
    assert certain(f, "i", {"p": (Sum(0), Sum(0, {"r": 2}))}) == Certain(
        Sum(0, {"n": 1, "r": -1}), Sum(0, {"n": 1, "r": 1}), False
    )


def test_every_question_has_an_answer_for_single_steps() -> None:
    for c, constant in product((-1, 1), (-3, 0, 3)):
        assert certain(Sum(constant, {"i": c, "q": 5}), "i", {"q": (Sum(1), Sum(2))}) is not None
