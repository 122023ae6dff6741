"""Inference: statements, branches, loops, and what is certain to fail."""

from __future__ import annotations

import pytest

from sacpy.lang.core import Bind, Let, Prim, Rhs, Stmt, Var
from sacpy.lang.infer import Inference, Inferrer, infer
from sacpy.lang.infer_primitives import RULES
from sacpy.lang.lattice import at_least, constant, scalar, vector
from sacpy.lang.primitives import PRIMITIVES
from sacpy.lang.source import Source, Span
from sacpy.lang.types import ANY, SCALAR, Shape, Type, known, of_rank
from tests.lang.coretools import Operand, SlotSpec, Table, block, branch, c, check, cons, fun, let, loop, prim, sig, v


def run(
    statements: list[Stmt],
    *returns: Operand,
    params: list[SlotSpec] | None = None,
    results: list[SlotSpec] | None = None,
    args: list[Shape] | None = None,
) -> Inference:
    function = fun(sig("main", params or [], results or [("int", "", "*")] * len(returns)), statements, *returns)
    return infer(function, args, Table(function))


def value_of(rhs: Rhs, params: list[SlotSpec] | None = None, args: list[Shape] | None = None) -> Shape:
    found = run([let("int x", rhs)], params=params, args=args)
    assert not found.diagnostics, found.diagnostics
    return found.types["x"].shape


def codes(found: Inference) -> list[str]:
    return [d.code for d in found.diagnostics]


def error_of(rhs: Rhs, params: list[SlotSpec] | None = None, args: list[Shape] | None = None) -> tuple[str, str]:
    (diagnostic,) = run([let("int x", rhs)], params=params, args=args).diagnostics
    return diagnostic.code, diagnostic.message


def test_no_primitive_lacks_a_rule() -> None:
    assert set(RULES) == set(PRIMITIVES)


# ---------------------------------------------------------------- primitives

A: list[SlotSpec] = [("int", "a", "*")]


@pytest.mark.parametrize(
    ("rhs", "expected"),
    [
        (prim("add", [3, 4], 1), vector(2, [4, 5])),
        (prim("sub", 1, [[1, 2], [3, 4]]), constant((2, 2), [0, -1, -2, -3])),
        (prim("add", c([]), 1), vector(0, [])),
        (prim("add", 2147483647, 1), scalar(-2147483648)),
        (prim("eq", [1, 2], [1, 3]), vector(2, [True, False])),
        (prim("dim", [[1]]), scalar(2)),
        (prim("shape", [[1, 2]]), vector(2, [1, 2])),
        (prim("shape", 7), vector(0, [])),
        (prim("shape", [[1.0, 2.0], [3.0, 4.0]], cell=1), vector(1, [2])),
        (prim("dim", [[1.0, 2.0]], cell=1), scalar(1)),
        (prim("sel", [1], [[1, 2], [3, 4]]), vector(2, [3, 4])),
        (prim("sel", c([]), [1, 2]), vector(2, [1, 2])),
        (prim("sel", 1, [5, 6]), scalar(6)),
        (prim("sel", [1, 0], [[1, 2], [3, 4]]), scalar(3)),
        (prim("modarray", [1, 2, 3], [1], 9), vector(3, [1, 9, 3])),
        (prim("modarray", [[1, 2], [3, 4]], [0], [7, 8]), constant((2, 2), [7, 8, 3, 4])),
        (prim("reshape", [2, 3], [1, 2, 3, 4, 5, 6]), constant((2, 3), [1, 2, 3, 4, 5, 6])),
        (prim("reshape", c([]), [5]), scalar(5)),
        (prim("reshape", [0, 5], c([])), constant((0, 5), [])),
        (prim("cat", [1], [2, 3]), vector(3, [1, 2, 3])),
        (prim("cat", c([]), c([])), vector(0, [])),
        (prim("take", 2, [1, 2, 3]), vector(2, [1, 2])),
        (prim("take", -2, [1, 2, 3]), vector(2, [2, 3])),
        (prim("drop", 1, [1, 2, 3]), vector(2, [2, 3])),
        (prim("drop", -1, [1, 2, 3]), vector(2, [1, 2])),
        (prim("drop", 3, [1, 2, 3]), vector(0, [])),
        (prim("take", 1, [[1, 2], [3, 4]]), constant((1, 2), [1, 2])),
        (prim("all", c([], "bool")), scalar(True)),
        (prim("maxval", c([], "short")), scalar(32767)),
        (prim("zero", 1.5), scalar(0.0)),
        (prim("ravel", 4), vector(1, [4])),
        (prim("hideValue", 0, [1, 2]), known((2,))),
        (prim("hideShape", 0, [1, 2]), of_rank(1)),
        (prim("hideDim", 0, [1, 2]), ANY),
        (prim("slice", [[1, 2], [3, 4], [5, 6]], 1, attrs=(".i",)), known((3,))),
        (prim("slice", [[[1, 2, 3], [4, 5, 6]]], 0, 2, attrs=("i*i",)), known((2,))),
        (prim("slice", [[[1, 2, 3], [4, 5, 6]]], 0, attrs=("i",)), known((2, 3))),
        (prim("place", [[1, 2, 3], [4, 5, 6]], attrs=(".i",)), known((3, 2))),
        (prim("place", [[[1, 2, 3]]], attrs=("*i",)), known((1, 3, 1))),
        (prim("div", c([]), 0), vector(0, [])),
    ],
)
def test_primitives_fold(rhs: Rhs, expected: Shape) -> None:
    assert value_of(rhs) == expected


@pytest.mark.parametrize(
    ("rhs", "arg", "expected"),
    [
        (prim("add", "a", 1), ANY, ANY),
        (prim("add", "a", [1, 2]), ANY, known((2,))),
        (prim("add", "a", [1, 2]), known((None,)), known((2,))),
        (prim("add", "a", "a"), at_least(2), at_least(2)),
        (prim("dim", "a"), at_least(2), SCALAR),
        (prim("shape", "a"), of_rank(3), known((3,))),
        (prim("shape", "a"), ANY, of_rank(1)),
        (prim("sel", [1], "a"), known((3, None)), known((None,))),
        (prim("sel", [1], "a"), at_least(3), at_least(2)),
        (prim("sel", "a", [[1, 2]]), of_rank(1), ANY),
        (prim("reshape", "a", [1, 2]), known((2,)), of_rank(2)),
        (prim("cat", "a", [1, 2]), known((None,)), known((None,))),
        (prim("take", "a", [1, 2]), SCALAR, known((None,))),
        (prim("add", "a", 1, form="VS"), ANY, of_rank(1)),
        (prim("like", "a", [1, 2]), ANY, known((2,))),
        (prim("mask", c([True, False]), "a", 0), ANY, known((2,))),
    ],
)
def test_primitives_of_partly_known_shapes(rhs: Rhs, arg: Shape, expected: Shape) -> None:
    assert value_of(rhs, A, [arg]) == expected


@pytest.mark.parametrize(
    ("rhs", "arg", "code", "words"),
    [
        (prim("add", "a", [1, 2]), known((3,)), "E0505", "int[3] and int[2]"),
        (prim("add", "a", [1, 2]), at_least(2), "E0505", "int[.,.,*]"),
        (prim("sel", [3], "a"), known((3,)), "E0506", "axis 0 has the indices 0 to 2"),
        (prim("sel", [-1], "a"), of_rank(1), "E0506", "[-1]"),
        (prim("sel", [0], "a"), known((0, 4)), "E0506", "axis 0 is empty"),
        (prim("sel", [0, 0], "a"), of_rank(1), "E0507", "too long"),
        (prim("sel", [[0]], "a"), ANY, "E0507", "vector"),
        (prim("sel", [0], 5), ANY, "E0507", "rank 0"),
        (prim("modarray", "a", [0], 1), known((3, 3)), "E0516", "int[3]"),
        (prim("modarray", "a", [5], 1), known((3,)), "E0506", "[5]"),
        (prim("div", "a", 0), SCALAR, "E0508", "division by zero"),
        (prim("mod", "a", [1, 0]), ANY, "E0508", "remainder by zero"),
        (prim("shl", "a", 32), SCALAR, "E0509", "32 bits"),
        (prim("reshape", [2, -1], "a"), ANY, "E0510", "negative"),
        (prim("reshape", [2, 2], "a"), known((3,)), "E0511", "3 elements"),
        (prim("reshape", [2], "a"), SCALAR, "E0511", "1 elements"),
        (prim("cat", "a", 1), ANY, "E0512", "scalar"),
        (prim("cat", "a", [[1, 2]]), known((5, 3)), "E0512", "cannot be joined"),
        (prim("take", -4, "a"), known((3,)), "E0513", "only 3"),
        (cons("a", [1, 2]), known((3,)), "E0514", "element 0 is int[3] and element 1 is int[2]"),
        (cons("a", [1, 2]), at_least(2), "E0514", "element 1"),
        (prim("add", "a", 1, form="SS"), at_least(1), "E0517", "scalar"),
        (prim("slice", "a", 0, 0, 0, attrs=("i.ii",)), known((3, 3, 3)), "E0507", "too many"),
        (prim("slice", "a", 3, attrs=("*i",)), known((2, 3)), "E0506", "axis 1"),
        (prim("like", "a", [1]), SCALAR, "E0505", "int[1]"),
    ],
)
def test_what_is_certain_to_fail(rhs: Rhs, arg: Shape, code: str, words: str) -> None:
    found = error_of(rhs, A, [arg])
    assert found[0] == code
    assert words in found[1]


@pytest.mark.parametrize(
    ("rhs", "arg"),
    [
        (prim("div", "a", 0), known((None,))),
        (prim("add", "a", [1, 2]), ANY),
        (prim("sel", [5], "a"), of_rank(2)),
        (prim("cat", "a", [1]), at_least(1)),
        (prim("reshape", [0, 7], "a"), known((None,))),
        (prim("div", 1.0, 0.0), ANY),
    ],
)
def test_what_may_succeed_is_left_to_run_time(rhs: Rhs, arg: Shape) -> None:
    assert not run([let("int x", rhs)], params=A, args=[arg]).diagnostics


def test_values_beyond_the_bound_are_not_followed() -> None:
    assert value_of(prim("add", c([0] * 64), 1)).value is not None
    assert value_of(prim("add", c([0] * 65), 1)) == known((65,))


def test_signed_zeros_are_kept_apart() -> None:
    found = run([branch("p", block(), block(), ("double x", 0.0, -0.0))], params=[("bool", "p", None)])
    assert found.types["x"].shape == SCALAR


# ---------------------------------------------------------------- arguments and results


def test_declared_patterns_give_the_lengths_of_names() -> None:
    found = run([let("int x", prim("cat", "shp", [1]))], params=[("int", "a", "2:shp,n")])
    assert found.types["shp"].shape == known((2,))
    assert found.types["n"].shape == SCALAR
    assert found.types["a"].shape == of_rank(3)
    assert found.types["x"].shape == known((3,))


def test_actual_shapes_bind_the_names() -> None:
    found = run([let("int x", prim("sel", [0], "shp"))], params=[("int", "a", "d:shp")], args=[known((4, 5))])
    assert found.types["x"].shape == scalar(4)
    assert found.types["d"].shape == scalar(2)


def test_a_result_of_another_shape_than_declared() -> None:
    found = run([let("int x", cons(1, 2))], "x", results=[("int", "", "3")])
    assert codes(found) == ["E0524"]
    found = run(
        [let("int x", prim("add", "a", 1))],
        "x",
        params=[("int", "a", "n,m")],
        results=[("int", "", "m,n")],
        args=[known((2, 3))],
    )
    assert codes(found) == ["E0524"]
    found = run([let("int x", prim("add", "a", 1))], "x", params=[("int", "a", "n,m")], results=[("int", "", "m,n")])
    assert codes(found) == []


def test_casts_assert_and_refine() -> None:
    statements: list[Stmt] = [
        let("int x", prim("add", "a", 1)),
        check("x", "3,2", "int[3,2]"),
        let("int y", prim("shape", "x")),
    ]
    assert run(statements, params=A).types["y"].shape == vector(2, [3, 2])
    assert codes(run(statements, params=A, args=[known((3, 3))])) == ["E0523"]


# ---------------------------------------------------------------- control flow

BOOM = let("int boom", prim("sel", [9], [1]))


def test_unreachable_code_is_not_reported() -> None:
    found = run([branch(c(False), block(BOOM), block(let("int y", prim("add", 1, 1))), ("int z", "boom", "y"))])
    assert not found.diagnostics
    assert found.types["z"].shape == scalar(2)
    assert "boom" not in found.types


def test_a_branch_that_may_run_is_reported() -> None:
    assert codes(run([branch("p", block(BOOM), block())], params=[("bool", "p", None)])) == ["E0506"]


def test_branches_join() -> None:
    found = run(
        [branch("p", block(), block(), ("int x", [1, 2], [3, 4, 5]), ("int y", [1, 2], [1, 2]), ("int z", 1, [1]))],
        params=[("bool", "p", None)],
    )
    assert found.types["x"].shape == of_rank(1)
    assert found.types["y"].shape == vector(2, [1, 2])
    assert found.types["z"].shape == ANY


def test_tests_must_be_scalars() -> None:
    assert codes(run([branch("p", block(), block())], params=[("bool", "p", ".")])) == ["E0515"]
    assert codes(run([loop([], block(), "p", block())], params=[("bool", "p", ".")])) == ["E0515"]
    assert codes(run([branch("p", block(), block())], params=[("bool", "p", "*")])) == []


def counting(body: Let, *carried: tuple[str, Operand, Operand]) -> Stmt:
    """`for (i = 0; i < 10; i++) { body }`"""
    return loop(
        [("int i", 0, "next"), *carried],
        block(let("bool go", prim("lt", "i", 10))),
        "go",
        block(body, let("int next", prim("add", "i", 1))),
    )


def test_a_loop_keeps_what_does_not_change() -> None:
    found = run([counting(let("int b", prim("modarray", "a", [0], "i")), ("int a", [1, 2, 3], "b"))])
    assert not found.diagnostics
    assert found.types["i"].shape == SCALAR
    assert found.types["a"].shape == known((3,))


def test_a_growing_array_keeps_its_rank() -> None:
    found = run([counting(let("int b", prim("cat", "a", [1])), ("int a", c([]), "b"))])
    assert found.types["a"].shape == of_rank(1)


def test_a_rank_that_changes_is_unknown() -> None:
    found = run([counting(let("int b", cons("a")), ("int a", 1, "b"))])
    assert found.types["a"].shape == ANY


def test_an_index_that_leaves_the_array_only_later_is_left_to_run_time() -> None:
    assert codes(run([counting(let("int b", prim("sel", "i", [1, 2])))])) == []


def test_errors_in_loops_are_reported_once() -> None:
    assert codes(run([counting(let("int b", prim("sel", [7], "a")), ("int a", [1, 2, 3], [4, 5, 6]))])) == ["E0506"]


def test_a_loop_that_never_runs_reports_nothing() -> None:
    assert codes(run([loop([], block(), c(False), block(BOOM))])) == []
    assert codes(run([loop([], block(), c(False), block(BOOM), body_first=True)])) == ["E0506"]


def test_after_do_while_the_first_value_is_gone() -> None:
    statement = loop([("int a", [1], "b")], block(), "p", block(let("int b", prim("cat", [1], [2]))), body_first=True)
    found = run([statement, let("int x", prim("shape", "a"))], params=[("bool", "p", None)])
    assert found.types["x"].shape == vector(1, [2])


def test_one_mistake_is_reported_once_and_not_again_where_its_result_is_used() -> None:
    assert codes(run([BOOM, let("int x", prim("add", "boom", 1)), let("int y", prim("sel", [1], "x"))])) == ["E0506"]


def test_diagnostics_name_operands_and_where_they_were_set() -> None:
    text = Source("t.sac", "a = [1,2]; b = [1,2,3]; c = a + b;")
    spans = {
        name: Span(text, text.text.index(what), text.text.index(what) + 1)
        for name, what in (("a", "a = "), ("b", "b = "))
    }
    uses = {
        name: Span(text, text.text.index("a + b") + at, text.text.index("a + b") + at + 1)
        for name, at in (("a", 0), ("b", 4))
    }
    whole = Span(text, uses["a"].start, uses["b"].end)
    statements: list[Stmt] = [
        Let((Bind("a", "int", "a", spans["a"]),), c([1, 2]), spans["a"]),
        Let((Bind("b", "int", "b", spans["b"]),), c([1, 2, 3]), spans["b"]),
        Let((Bind("c", "int", "c", whole),), Prim("add", (Var("a", uses["a"]), Var("b", uses["b"]))), whole),
    ]
    (diagnostic,) = run(statements).diagnostics
    assert diagnostic.span == whole
    assert diagnostic.notes == ("axis 0: 2 against 3",)
    assert [(x.span, x.text) for x in diagnostic.labels] == [
        (uses["a"], "a is int[2] = [1,2]"),
        (spans["a"], "a is set here"),
        (uses["b"], "b is int[3] = [1,2,3]"),
        (spans["b"], "b is set here"),
    ]


def test_block_values_with_actual_shapes() -> None:
    body = block(let("int row", prim("sel", [0], "m")), let("int cell", prim("cat", "row", [1])))
    assert Inferrer(Table()).block_values(body, [c(1), v("cell")], {"m": Type("int", known((5, 3)))}) == [
        scalar(1),
        known((4,)),
    ]
