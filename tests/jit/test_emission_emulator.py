"""Kernels on the emulator: results, and what check mode finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sacpy.jit.emission import findings as f
from sacpy.jit.emission.emulator import MOST_FINDINGS, Emulated, Outcome
from sacpy.jit.emission.geometry import geometry
from sacpy.jit.ir import kernel as k
from sacpy.jit.ir.graph import FALSE, Const, Op, ScalarType, Var
from sacpy.nodes import replace
from sacpy.withloop.devices import DEVICES
from tests.jit.kernel_programs import PROGRAMS, P, Program, T, faulty


def run(p: Program, *, check: bool = False, threads: int = 1) -> None:
    """Asserts that a program gives what it should, without a finding."""
    args = [a.copy() if isinstance(a, np.ndarray) else a for a in p.args]
    outcome = Emulated(p.kernel, check=check).launch(args, cover=p.cover if check else None, threads=threads)
    assert (outcome.failed, outcome.findings) == (None, ())
    names = [v.name for v in p.kernel.params]
    for name, wanted in p.wanted.items():
        np.testing.assert_array_equal(args[names.index(name)], wanted)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("check", [False, True])
def test_kernels_give_what_numpy_gives(name: str, check: bool) -> None:
    run(PROGRAMS[name](), check=check)


@pytest.mark.parametrize("name", ["elementwise", "tree_sum", "scratch_array", "matmul"])
def test_blocks_may_be_spread_over_threads_of_the_host(name: str) -> None:
    run(PROGRAMS[name](), threads=3)


def found_in_variant(p: Program, kernel: k.Kernel) -> tuple[Outcome, bool]:
    """What check mode finds, and whether a result is wrong."""
    args = [a.copy() if isinstance(a, np.ndarray) else a for a in p.args]
    outcome = Emulated(kernel, check=True).launch(args, cover=p.cover)
    names = [v.name for v in p.kernel.params]
    return outcome, any(not np.array_equal(args[names.index(n)], wanted) for n, wanted in p.wanted.items())


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n != "strided_grid"])
def test_a_missing_barrier_guard_or_bound_is_found(name: str) -> None:
    p = PROGRAMS[name]()
    variants = faulty(p.kernel)
    assert variants
    for what, kernel in variants[:: max(1, len(variants) // 3)]:
        assert found_in_variant(p, kernel)[0].findings, what


@pytest.mark.long
@pytest.mark.parametrize("name", [n for n in PROGRAMS if n != "strided_grid"])
def test_every_missing_barrier_guard_or_bound_is_found(name: str) -> None:
    p = PROGRAMS[name]()
    for what, kernel in faulty(p.kernel):
        outcome, is_wrong = found_in_variant(p, kernel)
        # one element more of memory that has been written is no fault that can be seen but by its sum
        assert outcome.findings or (what.startswith("a bound too wide") and is_wrong), what
        if what.startswith("no barrier"):
            assert {x.kind for x in outcome.findings} & {f.READ_AFTER_WRITE, f.WRITE_AFTER_READ, f.WRITE_WRITE}, what


# ---------------------------------------------------------------- one fault each


Body = Callable[[T, Var, Var], None]


def one_phase(body: Body, *, blocks: int = 1, threads: int = 4, once: bool = True, word: str = "int") -> k.Kernel:
    """A kernel of one phase over an array r of n elements; the body gets the code, r and the thread's index."""
    p = P("faulty", [blocks], [threads], word)
    n = p.scalar("n")
    r = p.result("r", "int", n, once=once)
    with p.forall(threads) as (t, x):
        body(t, r, t.op("add", t.op("mul", p.block_index[0], threads), x))
    return p.kernel()


def check(kernel: k.Kernel, size: int = 8, **options: Any) -> tuple[Outcome, np.ndarray[Any, Any]]:
    r = np.full(size, 7, np.int32)
    return Emulated(kernel, check=True).launch([size, r], **options), r


def test_a_finding_names_kernel_array_index_thread_phase_and_statement() -> None:
    outcome, r = check(one_phase(lambda t, r, i: t.store(r, t.op("sub", i, 1), 5)))
    assert list(r) == [5, 5, 5, 7, 7, 7, 7, 7]
    (x,) = outcome.findings
    assert (x.kernel, x.kind, x.array, x.index, x.block, x.thread, x.phase) == (
        "faulty",
        f.OUT_OF_RANGE,
        "r",
        (-1,),
        0,
        0,
        1,
    )
    assert x.statement == "r[t.3] := 5"
    assert (
        str(x)
        == "kernel faulty: r[-1] is out of range: index -1 on axis 0, extent 8, by thread 0 of block 0 in phase 1: "
        "r[t.3] := 5"
    )


def test_loads_out_of_range_are_not_executed_and_give_zero() -> None:
    outcome, r = check(one_phase(lambda t, r, i: t.store(r, i, t.load(r, t.op("add", i, 1 << 30))), threads=2))
    assert outcome.found == 2 and list(r[:3]) == [0, 0, 7]


def test_a_cell_written_twice_is_found_only_where_once_is_promised() -> None:
    def twice(t: T, r: Var, i: Var) -> None:
        t.store(r, i, 1)
        t.store(r, i, 2)

    outcome, r = check(one_phase(twice))
    assert {x.kind for x in outcome.findings} == {f.TWICE} and outcome.found == 4 and outcome.findings[1].index == (1,)
    assert outcome.findings[1].other == "r[t.2] := 1"
    assert list(r[:4]) == [2, 2, 2, 2]
    assert check(one_phase(twice, once=False))[0].findings == ()


def test_two_threads_that_write_one_cell_race() -> None:
    outcome, _ = check(one_phase(lambda t, r, i: t.store(r, 3, 1), once=False))
    assert [x.kind for x in outcome.findings] == [f.WRITE_WRITE] * 3
    assert (outcome.findings[0].thread, outcome.findings[0].other_thread) == (1, 0)


def test_atomic_accesses_of_any_threads_and_blocks_do_not_race() -> None:
    outcome, r = check(one_phase(lambda t, r, i: t.atomic("add", r, 3, i), blocks=2, once=False))
    assert outcome.findings == () and list(r) == [7, 7, 7, 7 + 28, 7, 7, 7, 7]


@pytest.mark.parametrize(
    ("code", "wanted"), [("min", 0), ("max", 7), ("bitor", 7), ("bitand", 0), ("bitxor", 7), ("add", 35)]
)
def test_what_atomic_accesses_make_of_an_element(code: str, wanted: int) -> None:
    outcome, r = check(one_phase(lambda t, r, i: t.atomic(code, r, 3, i), blocks=2, once=False))
    assert outcome.findings == () and r[3] == wanted


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (lambda t, r, i: (t.atomic("add", r, 3, 1), t.store(r, 3, 1)), f.WRITE_WRITE),
        (lambda t, r, i: (t.store(r, 3, 1), t.atomic("add", r, 3, 1)), f.WRITE_WRITE),
        (lambda t, r, i: (t.atomic("add", r, 3, 1), t.load(r, 3)), f.READ_AFTER_WRITE),
        (lambda t, r, i: (t.load(r, 3), t.atomic("add", r, 3, 1)), f.WRITE_AFTER_READ),
    ],
)
def test_atomic_accesses_and_others_race(body: Body, kind: str) -> None:
    outcome, _ = check(one_phase(body, once=False))
    assert kind in {x.kind for x in outcome.findings}


def atomic_then(read: Callable[[T, Var, Var], None], blocks: int, own: bool) -> k.Kernel:
    """Atomic accesses, a barrier, then code of each thread; `own`: of an element for each block."""
    p = P("then", [blocks], [4])
    n = p.scalar("n")
    r = p.result("r", "int", n, once=False)
    with p.forall(4) as (t, x):
        t.atomic("add", r, p.block_index[0] if own else 0, 1)
    p.barrier()
    with p.forall(4) as (t, x):
        read(t, r, p.block_index[0] if own else t.op("mul", x, 0))
    return p.kernel()


def test_a_barrier_orders_atomic_accesses_of_its_block_and_no_others() -> None:
    load: Body = lambda t, r, x: (t.load(r, x), None)[1]  # noqa: E731
    assert check(atomic_then(load, 2, own=True))[0].findings == ()
    assert f.READ_AFTER_WRITE in {x.kind for x in check(atomic_then(load, 2, own=False))[0].findings}


def test_a_barrier_does_not_order_blocks() -> None:
    p = P("across", [2], [4])
    n = p.scalar("n")
    r = p.result("r", "int", n)
    with p.forall(4) as (t, x):
        t.store(r, t.op("add", t.op("mul", p.block_index[0], 4), x), 1)
    p.barrier()
    with p.forall(4) as (t, x):
        t.load(r, x)
    outcome, _ = check(p.kernel())
    assert [(x.kind, x.block, x.other_block) for x in outcome.findings] == [(f.READ_AFTER_WRITE, 1, 0)] * 4


def test_a_write_behind_another_block_s_read_is_found() -> None:
    outcome, _ = check(one_phase(lambda t, r, i: t.store(r, i, t.load(r, t.op("mod", t.op("add", i, 1), 8))), blocks=2))
    assert f.WRITE_AFTER_READ in {x.kind for x in outcome.findings}


def test_virtual_threads_of_one_phase_are_not_ordered_even_on_one_thread() -> None:
    p = P("virtual", [1], [1])
    n = p.scalar("n")
    r = p.result("r", "int", n)
    with p.forall(8) as (t, x):
        t.store(r, x, t.load(r, t.op("max", t.op("sub", x, 1), 0)))
    outcome, _ = check(p.kernel())
    assert {x.kind for x in outcome.findings} == {f.READ_AFTER_WRITE}


def test_a_thread_may_use_what_it_wrote_itself() -> None:
    def body(t: T, r: Var, i: Var) -> None:
        t.store(r, i, 1)
        t.store(r, i, t.op("add", t.load(r, i), 1))

    outcome, r = check(one_phase(body, once=False))
    assert outcome.findings == () and list(r[:4]) == [2] * 4


@pytest.mark.parametrize("space", ["shared", "private", "scratch"])
def test_what_is_read_before_it_is_set_is_found(space: str) -> None:
    p = P("unset", [2], [2])
    n = p.scalar("n")
    r = p.result("r", "int", n)
    own = p.allocate(space, "int", 2)
    with p.forall(2) as (t, x):
        with t.when(t.op("eq", p.block_index[0], 0)) as g:
            g.store(own, x, 1)
        t.store(r, t.op("add", t.op("mul", p.block_index[0], 2), x), t.load(own, x))
    outcome, _ = check(p.kernel())
    assert [(x.kind, x.block) for x in outcome.findings] == [(f.UNSET, 1)] * 2  # what block 0 left is not block 1's


def test_cells_not_written_and_cells_of_others_are_found() -> None:
    cover = np.array([True, True, True, False, True, False, False, False])
    outcome, _ = check(one_phase(lambda t, r, i: t.store(r, i, 1)), cover={"r": cover})
    assert [(x.kind, x.index, x.thread) for x in outcome.findings] == [
        (f.NOT_WRITTEN, (4,), -1),
        (f.NOT_ITS_CELL, (3,), 3),
    ]


def test_findings_are_counted_beyond_those_that_are_kept() -> None:
    outcome, _ = check(one_phase(lambda t, r, i: t.store(r, t.op("sub", -1, i), 1), blocks=50, threads=4))
    assert (len(outcome.findings), outcome.found) == (MOST_FINDINGS, 200)


# ---------------------------------------------------------------- corner cases


@pytest.mark.parametrize("checked", [False, True])
def test_a_kernel_of_rank_0_runs_one_thread(checked: bool) -> None:
    p = P("scalar", [], [])
    r = p.result("r", "double", 1)
    with p.forall() as (t,):
        t.store(r, 0, 2.5)
    out = np.zeros(1)
    assert Emulated(p.kernel(), check=checked).launch([out], cover={"r": np.ones(1, bool)}).findings == ()
    assert out[0] == 2.5


@pytest.mark.parametrize("checked", [False, True])
def test_empty_grids_phases_and_arrays(checked: bool) -> None:
    p = P("empty", [], [4])
    m, n = p.scalar("m"), p.scalar("n")
    p.grid = [m]
    p.block_index = (p.names.var("b", ScalarType("int")),)
    r = p.result("r", "int", n)
    with p.forall(n) as (t, x):
        t.store(r, x, 1)
    kernel = Emulated(p.kernel(), check=checked)
    for blocks, size in ((0, 5), (-3, 5), (1, 0)):
        out = np.zeros(size, np.int32)
        assert kernel.launch([blocks, size, out]).found == 0 and not out.any()


def test_negative_extents_of_a_phase_are_empty_even_two_of_them() -> None:
    p = P("negative", [1], [4])
    m, n, q = p.scalar("m"), p.scalar("n"), p.scalar("q")
    r = p.result("r", "int", q)
    with p.forall(m, n) as (t, x, _y):
        t.store(r, x, 1)
    out = np.zeros(3, np.int32)
    Emulated(p.kernel()).launch([-2, -3, 3, out])
    assert not out.any()


def test_a_failed_check_names_the_first_and_threads_go_on() -> None:
    def body(t: T, r: Var, i: Var) -> None:
        t.statements.append(k.Check(t.op("neq", i, 2), "the index is not 2"))
        t.statements.append(k.Check(t.op("lt", i, 1), "the index is below 1"))
        t.store(r, i, 1)

    for checked in (False, True):
        r = np.zeros(8, np.int32)
        assert Emulated(one_phase(body), check=checked).launch([8, r]).failed == "the index is below 1"
        assert list(r) == [1, 1, 1, 1, 0, 0, 0, 0]
    assert Emulated(one_phase(lambda t, r, i: t.store(r, i, 1))).launch([8, np.zeros(8, np.int32)]).failed is None


def test_a_loop_that_begins_with_its_body_runs_once_at_least() -> None:
    def body(t: T, r: Var, i: Var) -> None:
        c, condition, inner = Var("c", ScalarType("int")), t.inner(), t.inner()
        test = condition.op("lt", c, 0)
        update = inner.op("add", c, 5)
        t.statements.append(
            k.While((k.Carried(c, i, update),), tuple(condition.statements), test, tuple(inner.statements), True)
        )
        t.store(r, i, c)

    r = np.zeros(8, np.int32)
    Emulated(one_phase(body)).launch([8, r])
    assert list(r[:4]) == [5, 6, 7, 8]


def test_conditions_of_the_block_and_bools_in_memory() -> None:
    p = P("bools", [1], [4])
    wanted, n = p.scalar("wanted", "bool"), p.scalar("n")
    a, r = p.array("a", "bool", n), p.result("r", "bool", n)
    with p.only(wanted), p.forall(n) as (t, x):
        t.store(r, x, t.op("not", t.load(a, x)))
    with p.only(FALSE), p.forall(n) as (t, x):
        t.store(r, t.op("sub", x, 9), False)
    a_in = np.array([True, False, True])
    for flag in (False, True):
        out = np.zeros(3, bool)
        assert Emulated(p.kernel(), check=True).launch([flag, 3, a_in, out]).findings == ()
        assert list(out) == ([False, True, False] if flag else [False] * 3)


def test_arguments_that_do_not_fit_are_refused() -> None:
    kernel = Emulated(PROGRAMS["elementwise"]().kernel)
    good = [4, np.zeros(4), np.zeros(4), np.zeros(4)]
    kernel.launch(good)
    for at, bad in ((1, np.zeros(5)), (2, np.zeros(4, np.float32)), (3, np.zeros(8)[::2]), (1, 3)):
        with pytest.raises(ValueError, match="must be a C-contiguous array of double of extents \\[4\\]"):
            kernel.launch([*good[:at], bad, *good[at + 1 :]])
    with pytest.raises(ValueError, match="4 parameters, but there are 3"):
        kernel.launch(good[:3])


def test_geometry_has_what_a_launch_must_ask_for() -> None:
    p = PROGRAMS["block_parameter"]()
    place = geometry(p.kernel, p.args)
    assert (place.grid, place.block, place.shared_bytes, place.dynamic_bytes) == ((5,), (24,), 32 + 192, 32 + 192)
    q = PROGRAMS["scratch_array"]()
    assert geometry(q.kernel, q.args).scratch_bytes == (5 * 8 * 16,)
    assert geometry(q.kernel, q.args, [7]).scratch_bytes == (7 * 8 * 16,)
    static = PROGRAMS["stencil"]()
    assert (geometry(static.kernel, static.args).shared_bytes, geometry(static.kernel, static.args).dynamic_bytes) == (
        272,
        0,
    )


def test_geometry_says_what_a_device_does_not_allow() -> None:
    kernel = PROGRAMS["elementwise"]().kernel
    limits = DEVICES["sm_75"]

    def over(grid: tuple[int, ...], block: tuple[int, ...]) -> str | None:
        sized = replace(kernel, grid=tuple(Const("int", e) for e in grid), block=tuple(Const("int", e) for e in block))
        return geometry(sized, [1, None, None, None]).over(limits)

    assert over((1,), (1024,)) is None
    assert over((70000, 1), (1,)) == "the grid has 70000 along y, but sm_75 allows 65535"
    assert over((1,), (65, 1, 1)) == "the block has 65 along z, but sm_75 allows 64"
    assert over((1,), (32, 64)) == "a block has 2048 threads, but sm_75 allows 1024"
    p = P("greedy", [1], [1])
    held = p.allocate("shared", "double", 10000)
    with p.forall(1) as (t, x):
        t.store(held, x, 1.0)
    assert geometry(p.kernel(), []).over(limits) == "a block needs 80000 bytes of shared memory, but sm_75 allows 65536"


def test_scratch_extents_that_the_kernel_computes_are_told_to_the_launch() -> None:
    p = P("computed", [2], [2])
    n = p.scalar("n")
    r = p.result("r", "int", n)
    width = p.uniform("mul", n, 3)
    own = p.allocate("scratch", "int", width)
    with p.forall(2) as (t, x):
        i = t.op("add", t.op("mul", p.block_index[0], 2), x)
        t.store(own, t.op("sub", width, 1), i)
        t.store(r, i, t.load(own, t.op("sub", width, 1)))
    kernel, out = p.kernel(), np.zeros(4, np.int32)
    with pytest.raises(ValueError, match="extent u is no parameter"):
        Emulated(kernel).launch([4, out])
    for checked in (False, True):
        out[:] = -1
        assert Emulated(kernel, check=checked).launch([4, out], scratch=[12]).findings == ()
        assert list(out) == [0, 1, 2, 3]
    outcome = Emulated(kernel, check=True).launch([4, out], scratch=[11])
    assert {(x.kind, x.index) for x in outcome.findings} == {(f.BEYOND_MEMORY, (11,))}


def test_indices_of_64_bits_do_not_wrap() -> None:
    far = 3_000_000_000
    p = P("far", [1], [2], "long")
    n = p.scalar("n")
    r = p.result("r", "long", n)
    with p.forall(2) as (t, x):
        t.store(r, t.op("sub", t.op("add", x, far), far), t.op("add", x, far))
    out = np.zeros(2, np.int64)
    assert Emulated(p.kernel(), check=True).launch([2, out], cover={"r": np.ones(2, bool)}).findings == ()
    assert list(out) == [far, far + 1]


def test_threads_are_numbered_with_the_last_axis_fastest() -> None:
    p = P("numbered", [2, 3], [2, 3, 4])
    r = p.result("r", "int", 6, 24)
    with p.forall(24) as (t, v):
        t.store(r, t.op("add", t.op("mul", p.block_index[0], 3), p.block_index[1]), v, v)
    with p.forall(2, 3, 4) as (t, z, y, x):
        row = t.op("add", t.op("mul", p.block_index[0], 3), p.block_index[1])
        number = t.op("add", t.op("mul", t.op("add", t.op("mul", z, 3), y), 4), x)
        t.statements.append(k.Check(t.op("eq", t.load(r, row, number), number), "virtual thread v is thread v"))
    out = np.zeros((6, 24), np.int32)
    outcome = Emulated(p.kernel(), check=True).launch([out])
    assert (outcome.failed, outcome.findings) == (None, ())  # a thread reads what it wrote itself, without a barrier


def test_statements_unused_by_the_result_do_not_trap() -> None:
    def body(t: T, r: Var, i: Var) -> None:
        t.let(Op("div", (i, Const("int", 0))), "int")
        t.store(r, i, t.op("div", t.op("sub", -2147483647, 1), -1))

    r = np.zeros(8, np.int32)
    assert Emulated(one_phase(body)).launch([8, r]).failed is None
    assert r[0] == -2147483648


def test_arrays_that_words_of_32_bits_do_not_reach_are_found_before_anything_runs() -> None:
    p = P("beyond", [1], [1])
    r = p.result("r", "ubyte", 2, (1 << 30) + 1)
    with p.forall(1) as (t, x):
        t.store(r, x, x, t.op("toub", x))
    outcome = Emulated(p.kernel(), check=True).launch([np.empty((2, (1 << 30) + 1), np.uint8)])
    assert [(x.kind, x.index) for x in outcome.findings] == [(f.TOO_LARGE, (1, 1 << 30))]


def test_shared_arrays_that_are_not_needed_together_take_one_place() -> None:
    p = P("places", [2], [32])
    r = p.result("r", "long", 2, 32)
    one, two = p.allocate("shared", "long", 32), p.allocate("shared", "int", 32)
    with p.forall(32) as (t, x):
        t.store(one, x, t.op("tol", t.op("mul", x, x)))
    p.barrier()
    with p.forall(32) as (t, x):
        t.store(r, p.block_index[0], x, t.load(one, t.op("sub", 31, x)))
    p.barrier()
    with p.forall(32) as (t, x):
        t.store(two, x, x)
    p.barrier()
    with p.forall(32) as (t, x):
        t.statements.append(
            k.Check(t.op("eq", t.load(two, t.op("sub", 31, x)), t.op("sub", 31, x)), "the other thread's number")
        )
    kernel = p.kernel()
    assert geometry(kernel, [None]).shared_bytes == 256
    for checked in (False, True):
        out = np.zeros((2, 32), np.int64)
        outcome = Emulated(kernel, check=checked).launch([out])
        assert (outcome.failed, outcome.findings) == (None, ())
        np.testing.assert_array_equal(out, [[(31 - x) ** 2 for x in range(32)]] * 2)
