"""With-loops, compiled and compared with their evaluation in Python: every operator, ranks 0 to 5, steps and widths,
overlap, empty index spaces, several operators at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacpy.interp.values import DTYPES
from sacpy.jit.host import filling
from sacpy.jit.host.lowering import lower
from sacpy.jit.host.native import Context
from sacpy.jit.ir.graph import Atom, Cons, Const, Fold, Genarray, Modarray, Operator, Propagate, Var, integer
from sacpy.jit.options import Options
from tests.jit.builder import B, arguments, unit
from tests.jit.graph_text import unit as parsed
from tests.jit.native_tools import agree, agree_on, compiled

RNG = np.random.default_rng(3)


def value_of(c: B, index: tuple[Var, ...]) -> Atom:
    """A number that tells indices apart."""
    total: Atom = integer(3)
    for i in index:
        total = c.op("add", c.op("mul", total, 31), i)
    return total


@st.composite
def spaces(
    draw: st.DrawFn, rank: int, frame: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...] | None, tuple[int, ...] | None]:
    """Bounds, step and width of a partition within a frame."""
    lower, upper = [], []
    for e in frame:
        lo = draw(st.integers(0, e))
        lower.append(lo)
        upper.append(draw(st.integers(0, e)))
    if not draw(st.booleans()):
        return tuple(lower), tuple(upper), None, None
    step = tuple(draw(st.integers(1, 4)) for _ in range(rank))
    return tuple(lower), tuple(upper), step, tuple(draw(st.integers(1, s)) for s in step)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_random_genarrays_modarrays_folds_and_propagates(data: st.DataObject) -> None:
    rank = data.draw(st.integers(0, 5))
    frame = tuple(data.draw(st.integers(0, 4)) for _ in range(rank))
    cell = tuple(data.draw(st.lists(st.integers(0, 3), min_size=1 if rank == 0 else 0, max_size=1 if rank == 0 else 2)))
    kinds = data.draw(
        st.lists(
            st.sampled_from(["genarray", "fold", "propagate", *(["modarray"] if rank else [])]), min_size=1, max_size=3
        )
    )
    b = B()
    params, (source, base), inputs = arguments(b, ("int", rank + len(cell)), ("int", 0))
    extents = params[: rank + len(cell)]
    operators: list[Operator] = []
    threaded: list[Var] = []
    for kind in kinds:
        if kind == "genarray":
            operators.append(Genarray("int", b.atoms(extents[rank:]), Const("int", -5)))
        elif kind == "modarray":
            operators.append(Modarray(source))
        elif kind == "fold":
            f = b.inner()
            x, y = f.var("acc", "int"), f.var("val", "int")
            operators.append(Fold((base,), (x,), (y,), f.block(f.op("add", f.op("mul", x, 3), y))))
        else:
            p = b.var("p", "int")
            threaded.append(p)
            operators.append(Propagate((integer(1),), (p,)))
    partitions = []
    for _ in range(data.draw(st.integers(0, 3))):
        lower, upper, step, width = data.draw(spaces(rank, frame))
        salt = data.draw(st.integers(0, 99))

        def body(c: B, *index: Var, salt: int = salt) -> list[Atom]:
            number = c.op("add", value_of(c, index), salt)
            values: list[Atom] = []
            left = list(threaded)
            for kind in kinds:
                if kind in ("genarray", "modarray"):
                    values.append(
                        number
                        if not cell
                        else c.genarray(
                            "int",
                            extents[rank:],
                            [
                                c.partition(
                                    [0] * len(cell), extents[rank:], lambda d, *j: d.op("add", value_of(d, j), number)
                                )
                            ],
                        )
                    )
                else:
                    values.append(number if kind == "fold" else c.op("sub", number, left.pop(0)))
            return values

        # The names of parameters of propagate must be those that the bodies use.
        partitions.append(b.partition(lower, upper, body, step, width))
    framed = any(isinstance(o, Genarray | Modarray) for o in operators)
    results = b.with_loop(extents[:rank] if framed else None, partitions, operators)
    u = unit(b, params, inputs, results)
    shape = (*frame, *cell)
    for options in (Options(strict_fp=True), Options()):
        agree(u, RNG.integers(-99, 99, shape).astype(np.int32), 4, options=options)


@pytest.mark.parametrize("base", ["bool", "byte", "ushort", "long", "float", "double", "char"])
def test_every_base_type_is_stored_and_filled(base: str) -> None:
    b = B()
    params, (a,), inputs = arguments(b, (base, 1))
    n = params[0]
    code = "not" if base == "bool" else "toc" if base == "char" else "neg"
    r = b.genarray(
        base,
        [n],
        [b.partition([1], [b.op("sub", n, 1, exact=True)], lambda c, i: c.op(code, c.load(a, i)))],
        default=True if base == "bool" else 3 if base not in ("float", "double") else 2.5,
    )
    dtype = {"bool": "?", "byte": "i1", "ushort": "u2", "long": "i8", "float": "f4", "double": "f8", "char": "u1"}[base]
    for n_ in (0, 1, 2, 3, 100):
        agree(unit(b, params, inputs, [r]), RNG.integers(0, 2, n_).astype(dtype))


def test_cells_from_conditionals_constructions_and_views() -> None:
    b = B()
    params, (a,), inputs = arguments(b, ("int", 2))
    n = params[0]

    def body(c: B, i: Var) -> Atom:
        from sacpy.jit.ir.graph import View

        (r,) = c.if_(
            c.op("eq", c.op("mod", i, 2), 0),
            lambda d: [d.let(Cons("int", (3,), (i, integer(1), integer(2))), ("int", [3]))[0]],
            lambda d: [d.let(View(a, (i,)), ("int", [3]))[0]],
        )
        return r

    r = b.genarray("int", [n], [b.partition([0], [n], body)], cell=[3], complete=True)
    shape = (7, 3)
    u = unit(b, params, inputs, [r])
    agree(u, RNG.integers(-9, 9, shape).astype(np.int32))


def test_a_cell_is_used_twice() -> None:
    b = B()
    params, (a,), inputs = arguments(b, ("int", 1))
    n = params[0]

    def body(c: B, i: Var) -> list[Atom]:
        v = c.genarray("int", [3], [c.partition([0], [3], lambda d, j: d.op("add", d.load(a, i), j))])
        return [v, v, c.update(v, [0], 7)]

    cell = b.atoms([3])
    rs = b.with_loop([n], [b.partition([0], [n], body)], [Genarray("int", cell, integer(0))] * 3)
    agree(unit(b, params, inputs, rs), RNG.integers(-9, 9, 6).astype(np.int32))


def test_folds_of_arrays() -> None:
    b = B()
    params, (a, neutral), inputs = arguments(b, ("double", 2), ("double", 1))
    n, m = params[0], params[1]
    f = b.inner()
    x, y = f.var("acc", "double", [m]), f.var("val", "double", [m])
    added = f.genarray("double", [m], [f.partition([0], [m], lambda c, j: c.op("add", c.load(x, j), c.load(y, j)))])
    fold = Fold((neutral,), (x,), (y,), f.block(added))

    def body(c: B, i: Var) -> Atom:
        return c.genarray("double", [m], [c.partition([0], [m], lambda d, j: d.op("mul", d.load(a, i, j), 2.0))])

    (r,) = b.with_loop(None, [b.partition([0], [n], body), b.partition([0], [1], body)], [fold])
    u = unit(b, params, inputs, [r])
    agree(u, RNG.standard_normal((5, 4)), RNG.standard_normal(4))


def test_foldfix_stops_each_partition() -> None:
    b = B()
    params, (n, stop), inputs = arguments(b, ("int", 0), ("int", 0))
    fold = b.folding("add", integer(0), (stop,))
    parts = [b.partition([0], [n], lambda c, i: i), b.partition([0, 2], [n, n], lambda c, i, j: c.op("add", i, j))]
    (r,) = b.with_loop(None, parts, [fold])
    u = unit(b, params, inputs, [r])
    for s in (10, 11, 0, 5):
        agree(u, 9, s)


def test_foldfix_beside_another_operator_runs_on() -> None:
    b = B()
    params, (n, stop), inputs = arguments(b, ("int", 0), ("int", 0))
    rs = b.with_loop(
        [n],
        [b.partition([0], [n], lambda c, i: [i, c.op("mul", i, 2)])],
        [b.folding("add", integer(0), (stop,)), Genarray("int", (), integer(1))],
    )
    agree(unit(b, params, inputs, rs), 9, 6)


def test_overlap_with_a_fold_beside() -> None:
    b = B()
    params, (n,), inputs = arguments(b, ("int", 0))
    parts = [
        b.partition([0], [n], lambda c, i: [c.op("mul", i, 10), i], [2], [1]),
        b.partition([1], [n], lambda c, i: [i, c.op("mul", i, 100)]),
    ]
    rs = b.with_loop([n], parts, [Genarray("int", (), integer(-1)), b.folding("sub", integer(0))])
    agree(unit(b, params, inputs, rs), 11)


def test_threaded_arrays_are_freed_as_they_go() -> None:
    b = B()
    params, (a, n), inputs = arguments(b, ("int", 1), ("int", 0))
    m = params[0]
    p = b.var("p", "int", [m])

    def body(c: B, i: Var) -> Atom:
        return c.genarray(
            "int",
            [m],
            [c.partition([0], [m], lambda d, j: d.op("add", d.load(p, d.op("mod", d.op("add", j, 1), m)), i))],
        )

    (r,) = b.with_loop(None, [b.partition([0], [n], body)], [Propagate((a,), (p,))])
    u = unit(b, params, inputs, [r])
    agree(u, RNG.integers(-9, 9, 5).astype(np.int32), 7)
    f = compiled(u, Options(), Context(memory=1 << 18))
    assert f.call((np.zeros(5000, np.int32), 2000))[0].shape == (5000,)


def test_a_check_in_a_covered_cell_does_not_count() -> None:
    b = B()
    params, (a,), inputs = arguments(b, ("int", 1))
    n = params[0]

    def shifted(c: B, i: Var) -> Atom:
        before = c.op("sub", i, 1, exact=True)
        c.check(c.op("ge", before, 0))
        return c.load(a, before)

    r = b.genarray("int", [n], [b.partition([0], [1], lambda c, i: integer(7)), b.partition([0], [n], shifted)])
    u = unit(b, params, inputs, [r])
    for size in (1, 5, 100_000):
        agree(u, RNG.integers(-9, 9, size).astype(np.int32), options=Options(threads=2))


def test_a_sum_over_less_than_half_a_vector_has_no_lanes() -> None:
    """Masked, and added up across, these would take longer than one after the other."""
    text = """
        function f(int n, double[n,{m}] a)
            double[n] r = with [n] disjoint complete
                genarray double default 0.0
                part [0] <= [i] < [n]
                    double s = with disjoint
                        fold from 0.0 by (double acc), (double val)
                            double t = add acc, val
                            give t
                        part [0] <= [j] < [{m}]
                            double x = load a[i,j]
                            yield x
                    yield s
            return n, r
        """
    for m, short in ((3, True), (4, True), (5, False), (100, False)):
        code = lower(parsed(text.format(m=m)), Options())
        assert ("vectorize.enable" in code) == short
        assert ("vectorize.width" in code) != short
        agree(parsed(text.format(m=m)), np.arange(7.0 * m).reshape(7, m), options=Options())


BOX = """
function f({params}{base}[{extents}] a, int lower, int left, int upper, int right)
    {base}[{extents}] r = with [{extents}] disjoint
        {operator}
        part [lower,left] <= [i,j] < [upper,right]
            {base} x = load a[i,j]
            {base} y = {changed}
            yield y
    {base} kept = load a[0,1]
    return {results}r, kept
"""


@pytest.mark.parametrize(("base", "changed"), [("double", "mul x, 2.0"), ("bool", "not x"), ("int", "sub x, 9")])
@pytest.mark.parametrize("operator", ["modarray a", "genarray"])
@pytest.mark.parametrize("known", [False, True])
def test_what_lies_around_a_box_is_filled_whatever_the_rows_are_as_long_as(
    base: str, changed: str, operator: str, known: bool
) -> None:
    """Short rows as a whole, long ones at both ends."""
    default = {"double": "0.5", "bool": "true", "int": "7"}[base]
    operator = operator if operator != "genarray" else f"genarray {base} default {default}"
    most = filling.SHORT // np.dtype(DTYPES[base]).itemsize
    for width in (2, 5, most - 1, most, most + 1, 2 * most):
        shape = (4, width)
        text = BOX.format(
            base=base, changed=changed, operator=operator,
            params="" if known else "int n, int m, ", extents=f"4,{width}" if known else "n,m",
            results="" if known else "n, m, ",
        )  # fmt: skip
        a = (RNG.random(shape) * 9 > 4).astype(DTYPES[base]) if base == "bool" else RNG.integers(0, 9, shape)
        boxes = [
            (0, 0, 4, width),
            (1, 1, 3, width - 1),
            (0, 1, 4, width),
            (1, 0, 2, width - 1),
            (3, 1, 2, 2),
            (0, 0, 0, 0),
        ]
        agree_on(parsed(text), [[a.astype(DTYPES[base]), *box] for box in boxes])
