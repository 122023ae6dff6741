"""Every kind of statement, compiled and compared with its evaluation in Python; and whether updates happen in place."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from sacpy.jit.failures import CheckFailed, Interrupted, OutOfMemory, TooDeep
from sacpy.jit.host import native
from sacpy.jit.host.native import Context
from sacpy.jit.ir.graph import INT, ArrayType, Call, Cons, Const, Function, Genarray, Let, Reshape, Var, View, integer
from sacpy.jit.options import Options
from tests.jit.builder import B, arguments, unit
from tests.jit.graph_evaluator import evaluate
from tests.jit.graph_text import unit as parsed
from tests.jit.native_tools import STRICT, agree, compiled
from tests.tools import through

SCALAR_CALLS = 1  # functions of sacpy that a call of compiled code on scalars goes through

RNG = np.random.default_rng(7)


def doubles(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape)


def ints(*shape: int) -> np.ndarray:
    return RNG.integers(-9, 10, shape).astype(np.int32)


# ---------------------------------------------------------------- arrays


def test_view_and_reshape_share_and_are_copied_out() -> None:
    b = B()
    params, (a,), inputs = arguments(b, ("double", 2))
    n, m = a.type.extents
    row = b.let(View(a, (integer(1),)), ("double", [m]))[0]
    flat = b.let(Reshape(a, (b.op("mul", n, m, exact=True),)), ("double", [Var("v.1", INT)]))[0]
    (x, y) = agree(unit(b, params, inputs, [row, flat]), doubles(3, 4))
    x[0] = y[0] = 5.0


def test_cons_and_partial_updates() -> None:
    b = B()
    params, (a, k), inputs = arguments(b, ("int", 2), ("int", 0))
    row = b.let(Cons("int", (3,), (k, integer(7), integer(-1))), ("int", [3]))[0]
    new = b.update(a, [1], row)
    new = b.update(new, [0, 2], k)
    agree(unit(b, params, inputs, [b.load(new, 1, 0), b.load(new, 0, 2), b.load(a, 1, 0)]), ints(2, 3), 40)


@pytest.mark.parametrize("base", ["bool", "byte", "float", "long", "char"])
def test_updates_of_every_size_of_element(base: str) -> None:
    b = B()
    params, (a, x), inputs = arguments(b, (base, 1), (base, 0))
    agree(
        unit(b, params, inputs, [b.update(b.update(a, [0], x), [2], x)]),
        np.array([0, 1, 0], {"bool": "?", "byte": "i1", "float": "f4", "long": "i8", "char": "u1"}[base]),
        True if base == "bool" else 1.0 if base == "float" else 1,
    )


def test_an_updated_part_of_itself() -> None:
    b = B()
    params, (a,), inputs = arguments(b, ("int", 2))
    m = a.type.extents[1]
    a1 = b.update(a, [0, 0], 99)
    row = b.let(View(a1, (integer(0),)), ("int", [m]))[0]
    a2 = b.update(a1, [1], row)
    agree(unit(b, params, inputs, [a2, row]), ints(3, 4))


# ---------------------------------------------------------------- control


def test_if_with_arrays_and_scalars() -> None:
    b = B()
    params, (a, x), inputs = arguments(b, ("double", 1), ("int", 0))
    r, s = b.if_(b.op("gt", x, 0), lambda c: [c.update(a, [0], 1.0), c.op("add", x, 1)], lambda c: [a, integer(-1)])
    u = unit(b, params, inputs, [r, s])
    agree(u, doubles(5), 3)
    agree(u, doubles(5), -3)


def test_nested_loops_and_while() -> None:
    b = B()
    params, (n,), inputs = arguments(b, ("int", 0))
    (total,) = b.for_(
        0, n, [0], lambda c, i, t: c.for_(i, -3, [t], lambda d, j, u: [d.op("add", d.op("mul", u, 3), j)], step=-2)
    )
    x, steps = b.loop(
        [n, 0],
        lambda c, v, k: c.op("neq", v, 1),
        lambda c, v, k: [
            *c.if_(
                c.op("eq", c.op("mod", v, 2), 0),
                lambda d: [d.op("div", v, 2)],
                lambda d: [d.op("add", d.op("mul", v, 3), 1)],
            ),
            c.op("add", k, 1),
        ],
    )
    y = b.loop([n], lambda c, v: c.op("lt", v, 5), lambda c, v: [c.op("add", v, 1)], body_first=True)[0]
    u = unit(b, params, inputs, [total, x, steps, y])
    for k in (1, 2, 27, 6):
        agree(u, k)


def test_loops_that_do_not_run_give_their_initial_values() -> None:
    b = B()
    params, (a, n), inputs = arguments(b, ("double", 1), ("int", 0))
    (r,) = b.for_(0, n, [a], lambda c, i, x: [c.update(x, [i], 1.0)])
    agree(unit(b, params, inputs, [r]), doubles(4), 0)
    agree(unit(b, params, inputs, [r]), doubles(4), 3)


def test_a_carried_array_that_changes_its_length() -> None:
    b = B()
    params, (a, rounds), inputs = arguments(b, ("int", 1), ("int", 0))
    n = params[0]
    names, body, test = b.names, b.inner(), b.inner()
    k, size = names.var("k", INT), names.var("size", INT)
    carried = names.var("c", ArrayType("int", (size,)))
    more = body.op("add", size, 1)
    grown = body.genarray("int", [more], [body.partition([0], [size], lambda c, i: c.load(carried, i))], default=7)
    from sacpy.jit.ir.graph import Loop

    loop = Loop(
        (k, size, carried),
        (rounds, n, a),
        test.block(test.op("gt", k, 0)),
        body.block(body.op("sub", k, 1), more, grown),
    )
    m, e = names.var("m", INT), names.var("e", INT)
    last = names.var("last", ArrayType("int", (e,)))
    b.statements.append(Let((m, e, last), loop))
    agree(unit(b, params, inputs, [e, last]), ints(3), 4)


# ---------------------------------------------------------------- calls


def fibonacci() -> tuple[Function, ...]:
    b = B()
    n = b.names.var("n", INT)
    (r,) = b.if_(
        b.op("lt", n, 2),
        lambda c: [n],
        lambda c: [
            c.op(
                "add",
                c.let(Call("fib", (c.op("sub", n, 1),)), ("int", None))[0],
                c.let(Call("fib", (c.op("sub", n, 2),)), ("int", None))[0],
            )
        ],
    )
    return (Function("fib", (n,), b.block(r)),)


def test_recursion() -> None:
    b = B()
    params, (n,), inputs = arguments(b, ("int", 0))
    agree(unit(b, params, inputs, [*b.let(Call("fib", (n,)), ("int", None))], fibonacci()), 15)


def sink(deep: int) -> None:
    b = B()
    n = b.names.var("n", INT)
    (r,) = b.if_(
        b.op("le", n, 0),
        lambda c: [n],
        lambda c: [c.op("add", c.let(Call("down", (c.op("sub", n, 1),)), ("int", None))[0], c.op("mod", n, 7))],
    )
    down = Function("down", (n,), b.block(r))
    b = B()
    params, (n,), inputs = arguments(b, ("int", 0))
    f = compiled(unit(b, params, inputs, [*b.let(Call("down", (n,)), ("int", None))], [down]))
    assert f.call((deep,)) == (sum(k % 7 for k in range(deep + 1)),)


def test_deep_recursion_gets_a_larger_stack() -> None:
    sink(1_000_000)


def test_recursion_without_end_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "LARGE_STACK", 16 << 20)
    with pytest.raises(TooDeep):
        sink(2**31 - 1)


TWICE = {
    "in the beginning": "int[n] a := w, int[n] b := w|b, u",
    "from round to round": "int[n] a := w, int[n] b := v|u, u",
}


@pytest.mark.parametrize("where", TWICE)
def test_an_array_that_a_loop_carries_twice_is_changed_as_one_of_them_alone(where: str) -> None:
    carried, results = TWICE[where].split("|")
    text = f"""
function f(int n, int rounds)
    int[n] w = with [n] disjoint complete
        genarray int default 0
        part [0] <= [i] < [n]
            yield i
    int[n] v = with [n] disjoint complete
        genarray int default 0
        part [0] <= [j] < [n]
            yield 7
    int[n] a.1, int[n] b.1 = for k from 0 to rounds step 1 with {carried}
        int t = load b[1]
        int t.1 = add t, k
        int[n] u = update a[0] with t.1
        next {results}
    return n, a.1, n, b.1
"""
    for rounds in range(4):
        agree(parsed(text), 5, rounds)


def test_arrays_through_calls_are_updated_in_place() -> None:
    f = B()
    n, at = f.names.var("n", INT), f.names.var("k", INT)
    a = f.names.var("a", ArrayType("int", (n,)))
    (r,) = f.if_(
        f.op("ge", at, n),
        lambda c: [a],
        lambda c: [
            c.let(Call("fill", (n, c.update(a, [at], c.op("mul", at, 3)), c.op("add", at, 1))), ("int", [n]))[0]
        ],
    )
    fill = Function("fill", (n, a, at), f.block(r))
    b = B()
    params, (x,), inputs = arguments(b, ("int", 1))
    r2 = b.let(Call("fill", (params[0], x, integer(0))), ("int", [params[0]]))[0]
    u = unit(b, params, inputs, [r2], [fill])
    agree(u, ints(20))
    g = compiled(u)
    g.call((ints(50),))
    assert g.context.allocations == 1  # the copy of the borrowed argument


# ---------------------------------------------------------------- ownership


def allocations(u, *args, options: Options = STRICT) -> int:
    f = compiled(u, options)
    f.call(args)
    return f.context.allocations


def test_a_chain_of_updates_copies_once() -> None:
    b = B()
    params, (a,), inputs = arguments(b, ("double", 1))
    x = a
    for k in range(5):
        x = b.update(x, [k], float(k))
    u = unit(b, params, inputs, [x])
    agree(u, doubles(6))
    assert allocations(u, doubles(6)) == 1


def test_updates_in_loops_copy_once() -> None:
    b = B()
    params, (a,), inputs = arguments(b, ("double", 2))
    n = params[0]
    (r,) = b.for_(
        0,
        n,
        [a],
        lambda c, i, x: c.for_(0, n, [x], lambda d, j, y: [d.update(y, [i, j], d.op("mul", d.load(y, j, i), 0.5))]),
    )
    u = unit(b, params, inputs, [r])
    agree(u, doubles(5, 5))
    assert allocations(u, doubles(5, 5)) == 1


def test_an_array_that_is_still_needed_is_not_overwritten() -> None:
    b = B()
    params, (a,), inputs = arguments(b, ("int", 1))
    n = params[0]
    x = b.genarray("int", [n], [b.partition([0], [n], lambda c, i: c.op("mul", c.load(a, i), 2))])
    y = b.update(x, [0], 5)
    z = b.update(x, [1], 6)
    w = b.update(y, [2], 7)
    agree(unit(b, params, inputs, [x, y, z, w]), ints(4))


def test_an_update_in_one_branch_only() -> None:
    b = B()
    params, (a, c0), inputs = arguments(b, ("int", 1), ("bool", 0))
    n = params[0]
    x = b.genarray("int", [n], [b.partition([0], [n], lambda c, i: c.op("mul", c.load(a, i), 2))])
    (y,) = b.if_(c0, lambda c: [c.update(x, [0], 1)], lambda c: [x])
    u = unit(b, params, inputs, [y])
    agree(u, ints(4), True)
    agree(u, ints(4), False)
    assert allocations(u, ints(4), True) == 1


def test_modarray_of_a_dead_array_is_in_place() -> None:
    b = B()
    params, (a,), inputs = arguments(b, ("double", 1))
    n = params[0]
    x = b.genarray("double", [n], [b.partition([0], [n], lambda c, i: c.op("mul", c.load(a, i), 2.0))])
    y = b.modarray(x, [n], [b.partition([1], [b.op("sub", n, 1)], lambda c, i: c.op("add", c.load(x, i), 1.0))])
    u = unit(b, params, inputs, [y])
    agree(u, doubles(9))
    assert allocations(u, doubles(9)) == 1


EXTREME = """
function f(int n, double[n] a)
    double[n] x = with [n] disjoint complete
        genarray double default 0.0
        part [0] <= [i] < [n]
            double y = load a[i]
            double z = mul y, 2.0
            yield z
    double[n] c, double t = with [n] disjoint
        modarray x
        fold from 0.0 by (double acc), (double val)
            double m = max acc, val
            give m
        part [1] <= [j] < [n]
            double b = load ARRAY[j]
            double e = add b, 1.0
            yield e, b
    return n, c, t
"""


@pytest.mark.parametrize(("array", "count"), [("a", 1), ("x", 2)])
def test_modarray_beside_an_extreme_which_may_be_computed_twice_is_in_place_where_the_array_is_not_read(
    array: str, count: int
) -> None:
    u = parsed(EXTREME.replace("ARRAY", array))
    for last in (1.5, -0.0, np.nan):
        values = np.r_[np.zeros(40), -np.ones(9), last, -0.0]
        agree(u, values, options=Options())
        assert allocations(u, values, options=Options()) == count


def test_modarray_that_reads_its_neighbours_is_not() -> None:
    b = B()
    params, (a,), inputs = arguments(b, ("double", 1))
    n = params[0]
    x = b.genarray("double", [n], [b.partition([0], [n], lambda c, i: c.op("mul", c.load(a, i), 2.0))])
    y = b.modarray(
        x, [n], [b.partition([1], [n], lambda c, i: c.op("add", c.load(x, c.op("sub", i, 1, exact=True)), 1.0))]
    )
    agree(unit(b, params, inputs, [y]), doubles(9))


def test_cells_are_built_where_they_belong() -> None:
    b = B()
    params, (a,), inputs = arguments(b, ("int", 2))
    n, m = a.type.extents
    r = b.genarray(
        "int",
        [n],
        [
            b.partition(
                [0],
                [n],
                lambda c, i: c.genarray(
                    "int", [m], [c.partition([0], [m], lambda d, j: d.op("add", d.load(a, i, j), i))]
                ),
            )
        ],
        cell=[m],
    )
    u = unit(b, params, inputs, [r])
    agree(u, ints(3, 4))
    assert allocations(u, ints(3, 4)) == 1


def test_arrays_of_bodies_are_freed() -> None:
    b = B()
    params, (n,), inputs = arguments(b, ("int", 0))

    def body(c: B, i: Var) -> Var:
        t = c.genarray("int", [100], [c.partition([0], [100], lambda d, j: d.op("mul", i, j))])
        t = c.update(t, [c.op("mod", i, 100)], 5)
        return c.load(t, 7)

    total = b.fold("add", integer(0), [b.partition([0], [n], body)])
    # far less than all of them together
    f = compiled(unit(b, params, inputs, [total]), context=Context(memory=1 << 16))
    assert f.call((1000,)) == evaluate(unit(b, params, inputs, [total]), (1000,))


# ---------------------------------------------------------------- failures


def test_a_failing_check_ends_the_unit() -> None:
    b = B()
    params, (a, k), inputs = arguments(b, ("int", 1), ("int", 0))
    b.check(b.op("and", b.op("ge", k, 0), b.op("lt", k, params[0])))
    f = compiled(unit(b, params, inputs, [b.load(a, k)]))
    assert f.call((np.array([4, 5], np.int32), 1)) == (5,)
    with pytest.raises(CheckFailed) as caught:
        f.call((np.array([4, 5], np.int32), 2))
    assert caught.value.site == 0


def test_a_check_inside_a_vectorised_loop_guards_its_loads() -> None:
    b = B()
    params, (a, at), inputs = arguments(b, ("double", 1), ("int", 1))
    n, m = params[0], params[2]

    def body(c: B, i: Var) -> Var:
        j = c.load(at, i)
        c.check(c.op("and", c.op("ge", j, 0), c.op("lt", j, n)))
        return c.load(a, j)

    f = compiled(unit(b, params, inputs, [b.genarray("double", [m], [b.partition([0], [m], body)])]))
    good = RNG.integers(0, 50, 300).astype(np.int32)
    values = doubles(50)
    assert (f.call((values, good))[0] == values[good]).all()
    for where in (0, 150, 299):
        bad = good.copy()
        bad[where] = 2**31 - 1
        with pytest.raises(CheckFailed):
            f.call((values, bad))


def test_failures_inside_calls_and_loops_leave_nothing_behind() -> None:
    g = B()
    n = g.names.var("n", INT)
    a = g.names.var("a", ArrayType("int", (n,)))
    g.check(g.op("eq", g.load(a, 0), 0))
    callee = Function("g", (n, a), g.block(a))
    b = B()
    params, (x, k), inputs = arguments(b, ("int", 1), ("int", 0))
    (r,) = b.for_(
        0,
        k,
        [x],
        lambda c, i, y: [c.let(Call("g", (params[0], c.update(y, [0], c.op("div", i, 3)))), ("int", [params[0]]))[0]],
    )
    f = compiled(unit(b, params, inputs, [r], [callee]))
    assert (f.call((ints(4), 3))[0][0]) == 0
    with pytest.raises(CheckFailed):
        f.call((ints(4), 9))


def test_memory_limits_and_absurd_sizes() -> None:
    b = B()
    params, (n,), inputs = arguments(b, ("int", 0))
    r = b.genarray("double", [n, n, n], [])
    u = unit(b, params, inputs, [r])
    with pytest.raises(OutOfMemory):
        compiled(u).call((2**31 - 1,))
    with pytest.raises(OutOfMemory):
        compiled(u, context=Context(memory=1 << 20)).call((100,))
    assert compiled(u, context=Context(memory=1 << 20)).call((10,))[0].shape == (10, 10, 10)


def test_the_stop_flag_ends_a_loop() -> None:
    b = B()
    params, (x,), inputs = arguments(b, ("int", 0))
    (r,) = b.loop([x], lambda c, v: c.op("neq", v, 0), lambda c, v: [c.op("bitxor", v, 2)])
    context = Context()
    f = compiled(unit(b, params, inputs, [r]), Options(), context)
    timer = threading.Timer(0.02, lambda: setattr(context, "stop", True))
    timer.start()
    started = time.monotonic()
    with pytest.raises(Interrupted):
        f.call((1,))
    assert time.monotonic() - started < 5
    context.stop = False
    assert f.call((0,)) == (0,)


def test_several_threads_may_call_at_once() -> None:
    b = B()
    params, (a,), inputs = arguments(b, ("double", 1))
    n = params[0]
    f = compiled(
        unit(
            b,
            params,
            inputs,
            [b.genarray("double", [n], [b.partition([0], [n], lambda c, i: c.op("mul", c.load(a, i), 2.0))])],
        )
    )
    wrong = []

    def run(k: int) -> None:
        for size in range(k, k + 50):
            x = np.full(size, float(k))
            if not (f.call((x,))[0] == 2 * x).all():
                wrong.append(size)

    threads = [threading.Thread(target=run, args=(k,)) for k in (1, 20000)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_overhead_of_a_call_on_scalars() -> None:
    b = B()
    params, (x, y), inputs = arguments(b, ("int", 0), ("double", 0))
    f = compiled(unit(b, params, inputs, [b.op("add", x, 1), b.op("mul", y, y)]))
    f.call((3, 0.5))
    assert through(lambda: f.call((3, 0.5))) <= SCALAR_CALLS


def test_a_result_takes_the_memory_of_an_array_that_dies() -> None:
    b = B()
    params, (a, rounds), inputs = arguments(b, ("double", 1), ("int", 0))
    n = params[0]
    (r,) = b.for_(
        0,
        rounds,
        [a],
        lambda c, i, x: [
            c.genarray(
                "double",
                [n],
                [c.partition([0], [n], lambda d, j: d.op("add", d.op("mul", d.load(x, j), 0.5), 1.0))],
                complete=True,
                disjoint=True,
            )
        ],
    )
    u = unit(b, params, inputs, [r])
    agree(u, doubles(9), 7)
    assert allocations(u, doubles(9), 7) == 1


def test_memory_of_an_array_that_others_hold_is_not_taken() -> None:
    b = B()
    params, (a,), inputs = arguments(b, ("double", 1))
    n = params[0]

    def doubled(x: Var) -> Var:
        return b.genarray(
            "double",
            [n],
            [b.partition([0], [n], lambda c, j: c.op("mul", c.load(x, j), 2.0))],
            complete=True,
            disjoint=True,
        )

    x = doubled(a)
    flat = b.let(Reshape(x, (n,)), ("double", [n]))[0]
    y = doubled(x)
    agree(unit(b, params, inputs, [flat, y]), doubles(9))


def test_cells_that_are_permutations_of_themselves() -> None:
    b = B()
    params, (a,), inputs = arguments(b, ("double", 2))
    n, m = params[0], params[1]
    last = b.op("sub", m, 1, exact=True)

    def reversed_rows(x: Var, kind: str) -> Var:
        def body(c: B, i: Var) -> Var:
            return c.genarray(
                "double",
                [m],
                [c.partition([0], [m], lambda d, j: d.op("add", d.load(x, i, d.op("sub", last, j, exact=True)), 1.0))],
                complete=True,
            )

        parts = [b.partition([0], [n], body)]
        return (
            b.modarray(x, [n], parts)
            if kind == "modarray"
            else b.with_loop([n], parts, [Genarray("double", (m,), Const("double", 0.0))], complete=True)[0]
        )

    agree(
        unit(b, params, inputs, [reversed_rows(reversed_rows(reversed_rows(a, "genarray"), "genarray"), "modarray")]),
        doubles(3, 8),
    )


def test_an_array_that_a_loop_carries_and_also_uses() -> None:
    b = B()
    params, (a, k), inputs = arguments(b, ("double", 1), ("int", 0))
    n = params[0]
    x = b.genarray("double", [n], [b.partition([0], [n], lambda c, j: c.op("mul", c.load(a, j), 2.0))])
    (y, total) = b.for_(0, k, [x, 0.0], lambda c, i, p, t: [x, c.op("add", t, c.load(x, c.op("mod", i, n)))])
    context = Context()
    u = unit(b, params, inputs, [y, total])
    agree(u, doubles(5), 9)
    f = compiled(u, context=context)
    # large blocks are kept: one freed too early would come back
    values = [f.call((doubles(20_000), 9)) for _ in range(20)]
    assert len({v[0].__array_interface__["data"][0] for v in values}) == 20


def test_two_products_that_are_the_same_differ_by_nothing() -> None:
    """Also where other sums are contracted: a cross product tells by its sign on which side of a line a point lies."""
    b = B()
    params, (x, y, again), inputs = arguments(b, ("double", 1), ("double", 1), ("double", 1))
    n = params[0]
    r = b.genarray(
        "double",
        [n],
        [
            b.partition(
                [0],
                [n],
                lambda c, i: c.op(
                    "sub", c.op("mul", c.load(x, i), c.load(y, i)), c.op("mul", c.load(again, i), c.load(x, i))
                ),
            )
        ],
        complete=True,
        disjoint=True,
    )
    values = doubles(2, 1000)
    (found,) = compiled(unit(b, params, inputs, [r]), Options()).call((values[0], values[1], values[1].copy()))
    assert not found.any()
