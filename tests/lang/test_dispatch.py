"""Shape classes, specificity, and the choice of an instance."""

from __future__ import annotations

import pytest

from sacpy.lang.dispatch import Ambiguous, Certain, Fit, NoneFits, Possible, choose, fits, resolve, shape_class
from sacpy.lang.lattice import at_least
from sacpy.lang.types import ANY, SCALAR, Shape, known, of_rank
from tests.lang.coretools import sig, slot


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        (None, SCALAR),
        ("", SCALAR),
        ("3,4", known((3, 4))),
        ("3,n", of_rank(2)),
        ("n,m", of_rank(2)),
        (".,.", of_rank(2)),
        ("2:shp", of_rank(2)),
        ("0:shp", SCALAR),
        ("n,d:shp", at_least(1)),
        ("d>0:shp", at_least(1)),
        ("d>2:shp", at_least(3)),
        ("+", at_least(1)),
        ("d:shp", ANY),
        ("o:oshp,i:ishp", ANY),
        ("*", ANY),
    ],
)
def test_shape_class_of_a_pattern(features: str | None, expected: Shape) -> None:
    assert shape_class(slot("int", "a", features)) == expected


@pytest.mark.parametrize(
    ("features", "shape", "expected"),
    [
        ("3,4", known((3, None)), Fit.MAYBE),
        ("3,4", known((2, None)), Fit.NO),
        ("3,4", of_rank(3), Fit.NO),
        ("n,m", at_least(2), Fit.MAYBE),
        ("n,m", at_least(3), Fit.NO),
        ("+", SCALAR, Fit.NO),
        ("+", ANY, Fit.MAYBE),
        ("d>1:shp", known((3,)), Fit.NO),
        ("*", ANY, Fit.YES),
        (None, at_least(1), Fit.NO),
    ],
)
def test_fits(features: str | None, shape: Shape, expected: Fit) -> None:
    assert fits(slot("int", "a", features), shape) is expected


def test_the_elements_own_axes_do_not_count() -> None:
    complex_scalar = slot("double", "c", None, (2,))
    assert fits(complex_scalar, known((2,))) is Fit.YES
    assert fits(complex_scalar, known((5, 2))) is Fit.NO
    assert fits(slot("double", "c", "n", (2,)), known((5, 2))) is Fit.YES


def test_run_time_choice_takes_the_most_specific() -> None:
    candidates = [sig("f", [("double", "a", "+")], [], key="any"), sig("f", [("double", "a", "2,2,2")], [], key="cube")]
    assert choose(candidates, [(2, 2, 2)]) == 1
    assert choose(candidates, [(2, 2, 4)]) == 0
    assert choose(candidates, [()]) == (
        "argument 1 (a) is double but takes double[+]",
        "argument 1 (a) is double but takes double[2,2,2]",
    )


def test_partly_known_shapes_leave_instances_to_test_in_order() -> None:
    candidates = [
        sig("f", [("double", "a", "+")], [], key="any"),
        sig("f", [("double", "a", "2,2,2")], [], key="cube"),
        sig("f", [("double", "a", ".")], [], key="vec"),
    ]
    answer = resolve(candidates, [known((2, None, 2))])
    assert isinstance(answer, Possible) and answer.exact
    assert [s.key for s in answer.signatures] == ["cube", "any"]
    answer = resolve(candidates, [known((5,))])
    assert answer == Certain(candidates[2])


def test_a_single_instance_that_may_fit_is_still_to_be_tested() -> None:
    candidate = sig("f", [("int", "a", ".")], [])
    assert resolve([candidate], [ANY]) == Possible((candidate,), True)


def test_instances_that_tie_are_ambiguous() -> None:
    candidates = [
        sig("f", [("int", "a", "."), ("int", "b", "*")], [], key="l"),
        sig("f", [("int", "a", "*"), ("int", "b", ".")], [], key="r"),
    ]
    assert resolve(candidates, [of_rank(1), of_rank(1)]) == Ambiguous(tuple(candidates))
    assert choose(candidates, [(1,), (1,)]) == [0, 1]
    assert choose(candidates, [(1,), (1, 2)]) == 0
    open_ = resolve(candidates, [ANY, of_rank(1)])
    assert isinstance(open_, Possible) and not open_.exact


def test_a_more_specific_third_instance_settles_a_tie() -> None:
    candidates = [
        sig("f", [("int", "a", "."), ("int", "b", "*")], [], key="l"),
        sig("f", [("int", "a", "*"), ("int", "b", ".")], [], key="r"),
        sig("f", [("int", "a", "."), ("int", "b", ".")], [], key="both"),
    ]
    assert resolve(candidates, [of_rank(1), of_rank(1)]) == Certain(candidates[2])


def test_of_the_same_shape_classes_the_later_definition_wins() -> None:
    candidates = [sig("f", [("int", "a", "n,n")], [], key="square"), sig("f", [("int", "a", "n,m")], [], key="any")]
    assert resolve(candidates, [of_rank(2)]) == Certain(candidates[1])
    assert choose(candidates, [(2, 2)]) == 1


def test_a_replaced_instance_is_not_left_to_run_time() -> None:
    earlier, later, other = (sig("f", [("int", "a", features)], [], key=features) for features in (".,.", "2,.", "."))
    found = resolve([earlier, later, other], [ANY])
    assert isinstance(found, Possible)
    assert set(map(id, found.signatures)) == {id(later), id(other)}


def test_reasons_name_the_argument_as_the_programmer_counts() -> None:
    candidate = sig("f", [("double", "p.x", None), ("double", "p.y", None), ("int", "b", ".,.")], [])
    answer = resolve([candidate], [SCALAR, SCALAR, known((3,))])
    assert answer == NoneFits(("argument 2 (b) is int[3] but takes int[.,.]",))
