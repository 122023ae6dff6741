"""Printing of shapes, widening, and the words for differences."""

from __future__ import annotations

import pytest

from sacpy.lang.lattice import at_least, constant, first_difference, join, meet, scalar, show, size, vector, widen
from sacpy.lang.types import ANY, BOTTOM, SCALAR, Shape, known, of_rank


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        (SCALAR, "int"),
        (known((3, 4)), "int[3,4]"),
        (known((None, 0)), "int[.,0]"),
        (ANY, "int[*]"),
        (at_least(1), "int[+]"),
        (at_least(2), "int[.,.,*]"),
        (BOTTOM, "int[never]"),
        (scalar(3), "int = 3"),
        (constant((2, 2), [1, 2, 3, 4]), "int[2,2] = [[1,2],[3,4]]"),
        (constant((2, 0), []), "int[2,0] = [[],[]]"),
        (constant((0, 2), []), "int[0,2] = []"),
        (vector(2, [True, False]), "int[2] = [true,false]"),
    ],
)
def test_show(shape: Shape, text: str) -> None:
    assert show("int", shape, value=True) == text


def test_size_needs_all_extents_or_one_zero() -> None:
    assert size(known((2, 3))) == 6
    assert size(known((None, 0))) == 0
    assert size(known((None, 3))) is None
    assert size(SCALAR) == 1
    assert size(ANY) is None


def test_the_first_difference_is_named() -> None:
    assert first_difference(known((3, 4)), known((3, 5))) == "axis 1: 4 against 5"
    assert first_difference(known((3,)), known((3, 5))) == "rank 1 against 2"
    assert first_difference(at_least(2), SCALAR) == "rank at least 2 against 0"
    assert first_difference(known((None, 4)), known((3, None))) == ""


def test_values_join_only_if_they_are_the_same_bits() -> None:
    assert join(scalar(0.0), scalar(-0.0)) == SCALAR
    assert join(scalar(float("nan")), scalar(float("nan"))).value is not None
    assert join(scalar(1), scalar(True)) == SCALAR


def test_widening_forgets_value_then_extents_then_rank() -> None:
    states = [vector(3, [1, 2, 3])]
    for round_ in range(5):
        states.append(widen(states[-1], known((4 + round_,)), at_least(1), round_))
    assert states[1] == of_rank(1)
    assert widen(of_rank(1), of_rank(2), at_least(1), 2) == at_least(1)
    assert widen(at_least(2), SCALAR, ANY, 5) == ANY


def test_a_scalar_whose_value_one_side_knows_has_that_value() -> None:
    assert meet(SCALAR, scalar(5)) == meet(scalar(5), SCALAR) == scalar(5)
    assert meet(SCALAR, SCALAR) == SCALAR
    assert meet(scalar(0.0), scalar(-0.0)).value == (0.0,)
