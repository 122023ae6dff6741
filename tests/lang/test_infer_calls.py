"""Calls in inference: declared and inferred results, recursion, violated patterns and conditions."""

from __future__ import annotations

from sacpy.lang.core import Block, Function, Native, Signature, Stmt
from sacpy.lang.dispatch import Certain, Possible
from sacpy.lang.infer import Inference, Inferrer, infer
from sacpy.lang.infer_frame import Frame
from sacpy.lang.lattice import at_least, scalar, vector
from sacpy.lang.source import Source, Span
from sacpy.lang.types import ANY, SCALAR, Shape, known, of_rank
from sacpy.nodes import replace
from tests.lang.coretools import (
    Operand,
    SlotSpec,
    Table,
    block,
    branch,
    c,
    call,
    entry,
    fun,
    genarray,
    let,
    part,
    prim,
    sig,
    with_,
)

SHAPE = fun(
    sig("shape", [("int", "a", "*")], [("int", "", ".")], inlining="inline"), [let("int s", prim("shape", "a"))], "s"
)
DIM = fun(
    sig("dim", [("int", "a", "*")], [("int", "", None)], inlining="inline"), [let("int s", prim("dim", "a"))], "s"
)
PLUS = fun(
    sig("plus", [("int", "a", "d>0:shp"), ("int", "b", "d>0:shp")], [("int", "", "d>0:shp")], inlining="inline"),
    [
        let(
            "int r",
            with_(
                [genarray("shp", 0)],
                part(
                    None,
                    None,
                    block(
                        let("int x", prim("sel", "iv", "a")),
                        let("int y", prim("sel", "iv", "b")),
                        let("int z", prim("add", "x", "y")),
                    ),
                    "z",
                    inclusive=(True, True),
                ),
            ),
        )
    ],
    "r",
)
IOTA = fun(
    sig("iota", [("int", "n", None)], [("int", "", "n")], inlining="inline"),
    [let("int i", with_([genarray("n", 0)], part(0, "n", block(), "iv0", scalars=1)))],
    "i",
)


def run(
    statements: list[Stmt],
    *functions: Function,
    params: list[SlotSpec] | None = None,
    args: list[Shape] | None = None,
    natives: tuple[Signature, ...] = (),
) -> Inference:
    function = fun(sig("main", params or [], []), statements)
    return infer(function, args, Table(function, SHAPE, DIM, PLUS, IOTA, *functions, natives=natives))


def shape_of(
    keys: str,
    *args: Operand,
    functions: tuple[Function, ...] = (),
    params: list[SlotSpec] | None = None,
    shapes: list[Shape] | None = None,
) -> Shape:
    found = run([let("int x", call(keys, *args))], *functions, params=params, args=shapes)
    assert not found.diagnostics, found.diagnostics
    return found.types["x"].shape


def errors(
    keys: str,
    *args: Operand,
    functions: tuple[Function, ...] = (),
    params: list[SlotSpec] | None = None,
    shapes: list[Shape] | None = None,
) -> list[tuple[str, str]]:
    found = run([let("int x", call(keys, *args))], *functions, params=params, args=shapes)
    return [(d.code, d.message) for d in found.diagnostics]


A: list[SlotSpec] = [("int", "a", "*")]


def test_small_functions_are_followed() -> None:
    assert shape_of("shape", [[1, 2, 3]]) == vector(2, [1, 3])
    assert shape_of("dim", "a", params=A, shapes=[of_rank(4)]) == scalar(4)
    assert shape_of("plus", [3, 4], [1, 1]) == known((2,))


def test_declared_results_are_instantiated() -> None:
    assert shape_of("plus", "a", "a", params=A, shapes=[known((3, None))]) == known((3, None))
    assert shape_of("iota", 3) == known((3,))
    assert shape_of("iota", "n", params=[("int", "n", None)]) == known((None,))


def test_a_violated_pattern_names_both_sides() -> None:
    ((code, message),) = errors("plus", "a", [1, 2], params=A, shapes=[known((3,))])
    assert code == "E0503"
    assert (
        message
        == "the arguments of plus do not match its patterns: argument 1 (a) and argument 2 (b) must have the same "
        "shape, but they are int[3] and int[2]"
    )


def test_no_instance_fits() -> None:
    ((code, message),) = errors("plus", 1, [1, 2])
    assert (code, message) == (
        "E0501",
        "plus does not take (int, int[2]): argument 1 (a) is int but takes int[d>0:shp]",
    )


def test_ambiguous_calls() -> None:
    left = fun(sig("f", [("int", "a", "."), ("int", "b", "*")], [("int", "", None)], key="f.l"), [], 1)
    right = fun(sig("f", [("int", "a", "*"), ("int", "b", ".")], [("int", "", None)], key="f.r"), [], 2)
    ((code, _),) = errors("f.l f.r", [1], [2], functions=(left, right))
    assert code == "E0502"


def test_conditions_that_fold_to_false() -> None:
    even = fun(
        sig("half", [("int", "n", None)], [("int", "", None)]),
        [let("int h", prim("div", "n", 2))],
        "h",
        conditions=(entry("n % 2 == 0", "ok", let("int r", prim("mod", "n", 2)), let("bool ok", prim("eq", "r", 0))),),
    )
    assert shape_of("half", 4, functions=(even,)) == scalar(2)
    ((code, message),) = errors("half", 3, functions=(even,))
    assert (code, message) == ("E0504", "a condition of half is violated: n % 2 == 0")
    assert errors("half", "n", functions=(even,), params=[("int", "n", None)]) == []


def test_an_error_inside_a_callee_is_not_the_callers() -> None:
    broken = fun(sig("f", [("int", "a", "*")], [("int", "", "*")]), [let("int x", prim("sel", [5], "a"))], "x")
    assert errors("f", [1], functions=(broken,)) == []


def test_instances_left_to_run_time_are_joined() -> None:
    vec = fun(sig("f", [("int", "a", ".")], [("int", "", "2")], key="f.v"), [let("int x", prim("add", [1, 2], 1))], "x")
    rest = fun(
        sig("f", [("int", "a", "*")], [("int", "", "3")], key="f.a"), [let("int y", prim("add", [1, 2, 3], 1))], "y"
    )
    statement = let("int x", call("f.v f.a", "a"))
    found = run([statement], vec, rest, params=A)
    assert found.types["x"].shape == of_rank(1)
    resolution = found.resolution(statement.rhs)  # type: ignore[arg-type]
    assert resolution == Possible((vec.signature, rest.signature), True)
    found = run([statement], vec, rest, params=A, args=[of_rank(1)])
    assert found.resolution(statement.rhs) == Certain(vec.signature)  # type: ignore[arg-type]
    assert found.types["x"].shape == vector(2, [2, 3])


def recursion(result: str | None, base_case: Operand, step: Stmt, returned: str) -> Function:
    return fun(
        sig("rec", [("int", "n", None)], [("int", "", result)]),
        [
            let("bool done", prim("le", "n", 0)),
            branch(
                "done",
                block(),
                block(let("int less", prim("sub", "n", 1)), let("int inner", call("rec", "less")), step),
                ("int r", base_case, returned),
            ),
        ],
        "r",
    )


def test_recursion_starts_from_bottom_and_widens() -> None:
    same = recursion("*", [1, 2], let("int up", prim("add", "inner", 1)), "up")
    assert shape_of("rec", "n", functions=(same,), params=[("int", "n", None)]) == known((2,))
    growing = recursion("*", c([]), let("int up", prim("cat", "inner", [1])), "up")
    assert shape_of("rec", "n", functions=(growing,), params=[("int", "n", None)]) == of_rank(1)


def test_recursion_is_bounded_by_the_declared_result() -> None:
    nesting = recursion("+", [1], let("int up", prim("reshape", "any", "inner")), "up")
    nesting = fun(nesting.signature, [let("int any", prim("hideDim", 0, [1])), *nesting.body.statements], "r")
    assert shape_of("rec", "n", functions=(nesting,), params=[("int", "n", None)]) == at_least(1)


def test_recursion_on_known_values_ends() -> None:
    endless = fun(
        sig("rec", [("int", "n", None)], [("int", "", "*")]),
        [let("int more", prim("add", "n", 1)), let("int r", call("rec", "more"))],
        "r",
    )
    found = run([let("int x", call("rec", 0))], endless)
    assert found.types["x"].shape.never


def test_mutual_recursion() -> None:
    def half(name: str, other: str) -> Function:
        return fun(
            sig(name, [("int", "a", "*")], [("int", "", "*")]),
            [
                let("bool p", prim("any", c([True]))),
                let("bool q", prim("hideValue", 0, "p")),
                branch("q", block(), block(let("int inner", call(other, "a"))), ("int r", "a", "inner")),
            ],
            "r",
        )

    assert shape_of("even", [1, 2], functions=(half("even", "odd"), half("odd", "even"))) == vector(2, [1, 2])


def test_exponential_call_trees_stay_cheap() -> None:
    functions = [fun(sig("f0", [("int", "a", "*")], [("int", "", "*")]), [], "a")]
    for k in range(1, 40):
        functions.append(
            fun(
                sig(f"f{k}", [("int", "a", "*")], [("int", "", "*")]),
                [let("int x", call(f"f{k - 1}", "a")), let("int y", call(f"f{k - 1}", "x"))],
                "y",
            )
        )
    found = run([let("int x", call("f12", [1, 2]))], *functions)
    assert found.types["x"].shape.extents == (2,)
    assert shape_of("f39", [1, 2], functions=tuple(functions)) == ANY


def test_a_tree_of_calls_with_other_values_each_stays_cheap() -> None:
    """Each function calls the next one twice, with values that nobody else has; 4096 leaves."""
    tree = [
        fun(
            sig(f"t{k}", [("int", "x", None)], [("int", "", None)]),
            [
                let("int a", prim("add", "x", c(1 << k))),
                let("int b", prim("sub", "x", c(1 << k))),
                let("int u", call(f"t{k + 1}", "a")),
                let("int v", call(f"t{k + 1}", "b")),
                let("int r", prim("add", "u", "v")),
            ],
            "r",
        )
        for k in range(12)
    ]
    leaf = fun(sig("t12", [("int", "x", None)], [("int", "", None)]), [let("int r", prim("add", "x", c(1)))], "r")
    main = fun(sig("main", [], [("int", "", None)]), [let("int r", call("t0", c(1)))], "r")
    inferrer = Inferrer(Table(main, leaf, *tree))
    assert inferrer.infer(main).results == (SCALAR,)
    assert inferrer._analyzer.steps > inferrer.steps // 2
    assert inferrer.infer(tree[9], [scalar(5)]).results == (scalar(8 * 6),), "values of a small tree are followed"


def test_natives_give_what_they_declare() -> None:
    native = replace(sig("get", [], [("int", "", None)]), native=Native("M::get", "", False, False, ()))
    found = run([let("int x", call("get"))], natives=(native,))
    assert found.types["x"].shape == SCALAR


def test_what_goes_wrong_in_an_inline_library_function_is_said_at_the_call() -> None:
    library = Source("Library.sac", "inline int[*] over(int a) { return 1 / a; }")
    division = fun(
        sig("over", [("int", "a", None)], [("int", "", None)], inlining="inline"),
        [let("int r", prim("div", 1, "a"))],
        "r",
    )
    elsewhere = replace(division, signature=replace(division.signature, span=Span(library, 0, 4)))
    assert errors("over", 0, functions=(elsewhere,)) == [("E0508", "division by zero")]
    assert errors("over", 0, functions=(division,)) == []
    assert errors("over", 1, functions=(elsewhere,)) == []


def test_what_may_not_be_reached_in_a_library_function_is_not_said() -> None:
    library = Source("Library.sac", "inline int[*] over(int a, bool p)")
    careful = fun(
        sig("over", [("int", "a", None), ("bool", "p", None)], [("int", "", None)], inlining="inline"),
        [branch("p", block(let("int r", prim("div", 1, "a"))), block(), ("int s", "r", 0))],
        "s",
    )
    elsewhere = replace(careful, signature=replace(careful.signature, span=Span(library, 0, 4)))
    assert errors("over", 0, "p", functions=(elsewhere,), params=[("bool", "p", None)]) == []
    assert errors("over", 0, c(True), functions=(elsewhere,)) == [("E0508", "division by zero")]


def test_signed_zeros_are_other_arguments_of_the_same_call() -> None:
    same = fun(sig("same", [("double", "a", None)], [("double", "", None)], inlining="inline"), [], "a")
    statements: list[Stmt] = [let("double x", call("same", 0.0)), let("double y", call("same", -0.0))]
    found = run(statements, same)
    assert [repr(found.types[name].shape.value) for name in "xy"] == ["(0.0,)", "(-0.0,)"]


def test_instances_are_those_of_all_visits_of_a_call() -> None:
    class Visits(Frame):
        def block(self, block: Block) -> None: ...

    visits, here = Visits(None), call("f", "a")
    first, second = (Certain(sig("f", [("int", "a", text)], [])) for text in ("3", "."))
    for shape, resolution in ((known((3,)), first), (known((3,)), first)):
        visits.record(here, [shape], resolution)
    assert visits.calls[id(here)] == (here, [known((3,))], first)
    visits.record(here, [known((4,))], second)
    assert visits.calls[id(here)] == (here, [of_rank(1)], None)  # neither was asked for all of them
    visits.record(here, [of_rank(1)], second)
    assert visits.calls[id(here)] == (here, [of_rank(1)], second)
