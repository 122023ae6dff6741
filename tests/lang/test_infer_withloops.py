"""With-loops in inference: index sets, cells, folds, propagation."""

from __future__ import annotations

import pytest

from sacpy.lang.core import Modarray, Operator, Partition, Propagate, Stmt
from sacpy.lang.infer import Inference, infer
from sacpy.lang.lattice import at_least
from sacpy.lang.types import ANY, SCALAR, Shape, known, of_rank
from tests.lang.coretools import (
    Operand,
    SlotSpec,
    Table,
    atom,
    bind,
    block,
    c,
    cons,
    fold,
    fun,
    genarray,
    let,
    part,
    prim,
    sig,
    with_,
)

NONE = block()
A: list[SlotSpec] = [("int", "a", "*")]


def run(
    operators: list[Operator],
    *partitions: Partition,
    params: list[SlotSpec] | None = None,
    args: list[Shape] | None = None,
    before: list[Stmt] | None = None,
) -> Inference:
    function = fun(sig("main", params or [], []), [*(before or []), let("int x", with_(operators, *partitions))])
    return infer(function, args, Table(function))


def result(
    operators: list[Operator],
    *partitions: Partition,
    params: list[SlotSpec] | None = None,
    args: list[Shape] | None = None,
) -> Shape:
    found = run(operators, *partitions, params=params, args=args)
    assert not found.diagnostics, found.diagnostics
    return found.types["x"].shape


def codes(found: Inference) -> list[str]:
    return [d.code for d in found.diagnostics]


def modarray(array: Operand) -> Modarray:
    return Modarray(atom(array))


def test_genarray_is_its_shape_and_the_cell() -> None:
    assert result([genarray([3, 4])], part(None, None, NONE, [1, 2], inclusive=(True, True))) == known((3, 4, 2))
    assert result([genarray([3, 4], 0)]) == known((3, 4))
    assert result([genarray(c([]), 0)], part(c([]), c([]), NONE, 5)) == SCALAR
    assert result([genarray("a", 0)], params=[("int", "a", "n")], args=[known((3,))]) == of_rank(3)
    assert result([genarray("a", [1])], params=A) == at_least(1)
    assert result([genarray(5, 0)]) == known((5,))


def test_the_index_has_the_length_of_the_shape() -> None:
    found = run([genarray([3, 4], 0)], part(0, 3, NONE, 1))
    assert found.types["iv"].shape == known((2,))
    assert not found.diagnostics


def test_index_names_tell_the_length() -> None:
    found = run([fold(0, "int", "add")], part(0, 3, NONE, "iv0", scalars=2))
    assert found.types["iv"].shape == known((2,))
    assert found.types["iv0"].shape == SCALAR
    assert not found.diagnostics


@pytest.mark.parametrize(
    ("partition", "code"),
    [
        (part([0], [3], NONE, 1), "E0518"),
        (part([0, 0, 0], None, NONE, 1), "E0518"),
        (part([0, 0], [3, 4], NONE, 1, scalars=1), "E0518"),
        (part([0, 0], [3, 4], NONE, 1, step=[1]), "E0518"),
        (part([[0, 0]], None, NONE, 1), "E0518"),
        (part([0, 0], [3, 5], NONE, 1), "E0519"),
        (part([-1, 0], [3, 4], NONE, 1), "E0519"),
        (part([0, 0], [3, 4], NONE, 1, inclusive=(True, True)), "E0519"),
        (part([0, 0], [3, 6], NONE, 1, step=[1, 4], width=[1, 2]), "E0519"),
        (part([0, 0], [3, 4], NONE, 1, step=[0, 1]), "E0520"),
        (part([0, 0], [3, 4], NONE, 1, step=2, width=0), "E0520"),
    ],
)
def test_bad_generators(partition: Partition, code: str) -> None:
    assert codes(run([genarray([3, 4], 0)], partition)) == [code]


@pytest.mark.parametrize(
    "partition",
    [
        part([0, 9], [0, 20], NONE, 1),
        part([0, 0], [3, 5], NONE, 1, step=[1, 5]),
        part([-1, 0], [3, 4], NONE, 1, inclusive=(False, False)),
        part([0, 0], "a", NONE, 1),
        part(None, None, NONE, 1, inclusive=(False, False)),
    ],
)
def test_generators_that_stay_inside(partition: Partition) -> None:
    assert codes(run([genarray([3, 4], 0)], partition, params=[("int", "a", "2")])) == []


def test_cells_must_agree() -> None:
    one, two, none = part([0], [1], NONE, [1, 2]), part([1], [3], NONE, [1, 2, 3]), part([1], [1], NONE, [1, 2, 3])
    assert codes(run([genarray([3])], one, two)) == ["E0521"]
    assert codes(run([genarray([3], 0)], one)) == ["E0521"]
    assert result([genarray([3])], one, none) == known((3, 2))


def test_parts_that_may_be_empty_do_not_decide_the_cell() -> None:
    sure = part([0], [1], NONE, "a")
    maybe = part([1], "n", NONE, [1, 2])
    params: list[SlotSpec] = [("int", "n", "1"), ("int", "a", ".")]
    assert result([genarray([3])], sure, maybe, params=params) == known((3, None))
    assert result([genarray([3], [1, 2])], sure, maybe, params=params) == known((3, 2))


def test_the_cell_of_an_empty_array_comes_from_the_body() -> None:
    empty = part([0], [0], block(let("int cell", cons(1, 2, 3))), "cell")
    assert result([genarray([0])], empty) == known((0, 3))
    found = run([genarray([0])], part([0], [0], NONE, "a"), params=A)
    assert codes(found) == ["W0530"]
    assert found.types["x"].shape == at_least(1)


def test_nothing_is_reported_in_a_body_that_never_runs() -> None:
    boom = block(let("int boom", prim("sel", [9], [1])))
    assert codes(run([genarray([0], 0)], part([0], [0], boom, "boom"))) == []
    assert codes(run([genarray([1], 0)], part([0], [1], boom, "boom"))) == ["E0506"]


def test_modarray() -> None:
    assert result([modarray([[1, 2], [3, 4]])], part([0], [1], NONE, [7, 8])) == known((2, 2))
    assert codes(run([modarray([[1, 2], [3, 4]])], part([0], [1], NONE, 7))) == ["E0521"]
    assert codes(run([modarray([1, 2])], part([0, 0], [1, 1], NONE, 7))) == ["E0518"]
    assert codes(run([modarray([1, 2])], part([0], [3], NONE, 7))) == ["E0519"]
    assert result([modarray("a")], part(None, None, NONE, 0, inclusive=(True, True)), params=A) == ANY


def test_negative_shapes_and_matrices_as_shapes() -> None:
    assert codes(run([genarray([3, -1], 0)])) == ["E0510"]
    assert codes(run([genarray([[3]], 0)])) == ["E0507"]


def test_fold() -> None:
    add = fold(0, "int", "add")
    assert result([add], part(0, 9, NONE, "iv0", scalars=1)) == SCALAR
    assert result([fold([0, 0], "int", "add")], part(0, 9, NONE, "iv", scalars=2)) == known((2,))
    assert result([fold(c([]), "int", "cat")], part(0, 9, NONE, "iv", scalars=2)) == of_rank(1)
    assert codes(run([fold([0, 0, 0], "int", "add")], part(0, 9, NONE, "iv", scalars=2))) == ["E0505"]


def test_fold_over_nothing_is_the_neutral_element() -> None:
    found = run([fold([0, 0, 0], "int", "add")], part(0, 0, NONE, "iv", scalars=2))
    assert codes(found) == []
    assert found.types["x"].shape.value == (0, 0, 0)


def test_propagate() -> None:
    op = Propagate((atom(c([])),), (bind("int s"),))
    assert result([op], part(0, 4, block(let("int t", prim("cat", "s", [1]))), "t", scalars=1)) == of_rank(1)


def test_several_operators_share_the_index_set() -> None:
    function = fun(
        sig("main", [], []),
        [let("int x,int y", with_([genarray([4], 0), fold(0, "int", "add")], part([0], [4], NONE, [1, 2], 1)))],
    )
    assert codes(infer(function, None, Table(function))) == ["E0521"]
    function = fun(
        sig("main", [], []),
        [let("int x,int y", with_([genarray([4]), fold(0, "int", "add")], part([0], [4], NONE, [1, 2], 1)))],
    )
    found = infer(function, None, Table(function))
    assert (found.types["x"].shape, found.types["y"].shape) == (known((4, 2)), SCALAR)
