"""Addresses that go on from one another: the sums that indices are, and the way from a known element to another."""

from __future__ import annotations

from sacpy.jit.emission.addresses import Addresses, Form, Step


def noted(*operations: tuple[str, str, tuple[str, str], bool]) -> Addresses:
    found = Addresses(lambda: 0)
    for text, code, args, exact in operations:
        found.note(text, code, args, exact)
    return found


def test_sums_are_terms_and_a_constant_whatever_their_brackets() -> None:
    found = noted(("%a", "add", ("%i", "3"), True), ("%b", "add", ("%j", "%a"), True), ("%c", "sub", ("%b", "5"), True))
    assert found.form("%c") == Form(("%i", "%j"), -2)


def test_what_may_wrap_is_a_term_by_itself() -> None:
    found = noted(("%a", "add", ("%i", "3"), False), ("%b", "sub", ("3", "%i"), True), ("%c", "mul", ("%i", "2"), True))
    assert [found.form(t) for t in ("%a", "%b", "%c")] == [Form((t,), 0) for t in ("%a", "%b", "%c")]


def test_the_same_operation_is_the_same_term() -> None:
    found = noted(("%a", "mul", ("%i", "4"), True), ("%b", "mul", ("%i", "4"), True), ("%c", "add", ("%b", "1"), True))
    assert found.form("%c") == Form(found.form("%a").terms, 1)


def test_neighbours_in_rows_and_columns_are_reached_from_one_another() -> None:
    found = noted(("%a", "add", ("%i", "1"), True), ("%b", "add", ("%j", "-1"), True))
    extents = ("%m", "%n")
    assert found.step("%p", ("%i", "%j"), extents) is None
    found.keep("%p", ("%i", "%j"), "%q")
    step = found.step("%p", ("%a", "%b"), extents)
    assert isinstance(step, Step) and (step.start.pointer, step.constant, step.rows) == ("%q", -1, ((0, 1),))
    assert found.step("%other", ("%a", "%b"), extents) is None and found.step("%p", ("%b", "%a"), extents) is None
    fixed = found.step("%p", ("%a", "%b"), ("%m", "8"))
    assert fixed is not None and (fixed.constant, fixed.rows) == (7, ())


def test_another_block_knows_nothing() -> None:
    block = 0
    found = Addresses(lambda: block)
    found.keep("%p", ("%i",), "%q")
    assert found.step("%p", ("%i",), ("%n",)) is not None
    block = 1
    assert found.step("%p", ("%i",), ("%n",)) is None
