"""Places of shared arrays: they overlap only where a barrier parts them."""

from __future__ import annotations

from sacpy.jit.analysis.shared_planner import plan_shared
from sacpy.jit.ir.graph import INT, ArrayType, Const, ScalarType, Var, integer
from sacpy.jit.ir.kernel import Allocate, Barrier, BlockFor, BlockIf, BlockStmt, ForAll, Kernel, LastBlock, Store


def array(name: str, n: int, base: str = "double") -> Var:
    return Var(name, ArrayType(base, (integer(n),)))


def touch(*arrays: Var) -> ForAll:
    touch.count = getattr(touch, "count", 0) + 1  # type: ignore[attr-defined]
    t = Var(f"t.{touch.count}", INT)  # type: ignore[attr-defined]
    return ForAll((t,), (integer(4),), tuple(Store(a, (t,), Const(a.base, 0)) for a in arrays))


def kernel(*body: BlockStmt) -> Kernel:
    return Kernel("k", (), (), (), (), (integer(4),), body, ())


A, B, C = array("a", 4), array("b", 3), array("c", 5, "bool")
ALLOCATE = tuple(Allocate(v, "shared") for v in (A, B, C))


def test_arrays_that_live_together_lie_side_by_side_and_aligned() -> None:
    plan = plan_shared(kernel(*ALLOCATE, touch(A, B, C)))
    assert plan.offsets == {"a": 0, "b": 32, "c": 64} and plan.size == 69


def test_a_barrier_lets_an_array_take_the_place_of_another() -> None:
    assert plan_shared(kernel(*ALLOCATE[:2], touch(A), Barrier(), touch(B))).offsets == {"a": 0, "b": 0}
    assert plan_shared(kernel(*ALLOCATE[:2], touch(A), touch(B))).offsets == {"a": 0, "b": 32}


def test_a_barrier_that_may_not_be_reached_parts_nothing() -> None:
    inner = BlockIf(Const("bool", True), (Barrier(),))
    assert plan_shared(kernel(*ALLOCATE[:2], touch(A), inner, touch(B))).size == 56


def test_what_the_last_block_is_told_in_has_a_place_of_its_own() -> None:
    flag = Var("flag", ArrayType("int", (integer(1),)))
    body = (*ALLOCATE[:2], Allocate(flag, "shared"), touch(A), LastBlock(flag, (touch(B), Barrier(), touch(B))))
    plan = plan_shared(kernel(*body))
    assert plan.offsets == {"a": 0, "b": 0, "flag": 32}
    plan = plan_shared(
        kernel(*ALLOCATE[:1], SHARED := Allocate(flag, "shared"), touch(A), Barrier(), LastBlock(flag, ()))
    )
    assert SHARED and plan.offsets == {"a": 0, "flag": 0}


def test_arrays_of_a_loop_live_through_all_of_it() -> None:
    loop = BlockFor(Var("i", INT), integer(0), integer(3), integer(1), (touch(A), Barrier(), touch(B), Barrier()))
    assert plan_shared(kernel(*ALLOCATE[:2], loop)).offsets == {"a": 0, "b": 32}
    assert plan_shared(kernel(*ALLOCATE, loop, Barrier(), touch(C))).offsets["c"] == 0


def test_extents_may_be_parameters() -> None:
    n = Var("n", ScalarType("int"))
    v = Var("v", ArrayType("int", (n,)))
    assert plan_shared(Kernel("k", (n,), (), (), (), (n,), (Allocate(v, "shared"), touch(v)), ()), {"n": 7}).size == 28


def test_what_is_never_used_takes_no_room() -> None:
    assert plan_shared(kernel(*ALLOCATE)).size == 0
