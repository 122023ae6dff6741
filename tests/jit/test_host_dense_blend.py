"""Partitions that step along their axes: those that are run through without gaps, and those that take turns, give what
they give one by one."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.host.lowering import lower
from sacpy.jit.ir.graph import Let, Partition, Unit, WithLoop, integer, statements
from sacpy.jit.schedule import dense_blend
from sacpy.jit.schedule.loops import IntoArray
from sacpy.jit.schedule.rows import _meshes, grouped, takes_turns
from tests.fuzz.differential import small_chunks
from tests.jit.graph_text import unit as parsed
from tests.jit.native_tools import STRICT, agree_on, on_threads

RNG = np.random.default_rng(3)

# Points of one colour, in the array that they read: their neighbours have the other colour.
CHESS = """
function f(int n, int m, {base}[n,m] u, int rounds)
    int h = add! n, -1
    int v = add! m, -1
    {base}[n,m] r = for k from 0 to rounds step 1 with {base}[n,m] a := u
        {base}[n,m] b = with [n,m] disjoint
            modarray a
            part [1,1] <= [i,j] < [h,v] step [2,2] width [1,1]
                int before = add! j, -1
                int after = add! 1, j
                {base} x = load a[i,before]
                {base} y = load a[i,after]
                int row = add! i, -1
                {base} z = load a[row,j]
                {base} xy = add x, y
                {base} xyz = sub xy, z
                yield xyz
            part [2,2] <= [i.1,j.1] < [h,v] step [2,2] width [1,1]
                int before.1 = add! j.1, -1
                {base} x.1 = load a[i.1,before.1]
                {base} o.1 = load a[i.1,j.1]
                {base} xo = mul x.1, o.1
                yield xo
        next b
    return n, m, r
"""

SHAPES = ((3, 3), (4, 4), (2, 5), (5, 2), (9, 8), (6, 67), (7, 530), (4, 1100), (0, 4), (4, 0), (1, 1))


def parts(u: Unit) -> list[list[Partition]]:
    return [
        list(s.rhs.partitions) for s in statements(u.root.body) if isinstance(s, Let) and isinstance(s.rhs, WithLoop)
    ]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("base", "dtype"), [("double", "f8"), ("float", "f4"), ("int", "i4"), ("ulong", "u8")])
def test_points_of_one_colour(base: str, dtype: str) -> None:
    u = parsed(CHESS.format(base=base))
    assert [len(g) for g in grouped(parts(u)[0], ())] == [2]
    assert f"[{dense_blend.STRIP} x" in lower(u, STRICT)
    agree_on(u, [[RNG.integers(0, 9, shape).astype(dtype), rounds] for shape in SHAPES for rounds in (0, 1, 3)])


def test_threads_give_the_same() -> None:
    on_threads(parsed(CHESS.format(base="double")), RNG.standard_normal((403, 401)), 2)


COMB = """
function f(int n, double[n] a, int first, int end)
    double[n] r = with [n] disjoint
        {operator}
        part [first] <= [i] < [end] step [{step}] width [1]
            {body}
    return n, r
"""
PLAIN = "double x = load a[i]\n            double y = mul x, 2.0\n            yield y"


@pytest.mark.parametrize("operator", ["modarray a", "genarray double default 0.5"])
@pytest.mark.parametrize("step", [2, 3, 4, 5])
def test_steps_and_ends(operator: str, step: int) -> None:
    u = parsed(COMB.format(operator=operator, step=step, body=PLAIN))
    assert (f"[{dense_blend.STRIP} x" in lower(u, STRICT)) == (step <= dense_blend.MOST_STEP)
    ends = [(0, 1), (0, 2), (1, 9), (3, 3), (5, 2), (2, 30), (29, 30)]
    agree_on(
        u,
        [[RNG.standard_normal(30), first, end] for first, end in ends]
        + [[RNG.standard_normal(1400), first, 1400 - first] for first in (0, 1, 2)],
    )


def test_on_threads_chunks_meet_at_steps() -> None:
    a = RNG.standard_normal(400_001)
    expected = np.full(400_001, 0.5)
    expected[1:400_000:3] = 2 * a[1:400_000:3]
    assert np.array_equal(
        on_threads(parsed(COMB.format(operator="genarray double default 0.5", step=3, body=PLAIN)), a, 1, 400_000),
        expected,
    )


@pytest.mark.parametrize(
    "body",
    [
        # elsewhere for points in between
        "int k = mul! i, 2\n            int l = min k, 3\n            double y = load a[l]\n            yield y",
        "int k = div i, 2\n            double y = load a[k]\n            yield y",
        "bool c = lt i, n\n            check c : it is in range\n            double y = load a[i]\n            yield y",
        "double x = load a[i]\n            double y = exp x\n            yield y",  # too dear to be computed in vain
    ],
)
def test_what_does_not_pay_or_may_not_be_there_is_computed_point_by_point(body: str) -> None:
    u = parsed(COMB.format(operator="modarray a", step=2, body=body))
    assert f"[{dense_blend.STRIP} x" not in lower(u, STRICT)
    agree_on(u, [[RNG.standard_normal(30), first, 30] for first in (0, 1)])


TURNS = """
function f(int n, int m, double[n,m] a)
    double[n,m] r = with [n,m] disjoint
        genarray double default 0.5
        part [2,0] <= [i,j] < [n,m] step [3,1] width [1,1]
            double x = load a[i,j]
            yield x
        part [0,0] <= [i.1,j.1] < [n,m] step [3,2] width [1,1]
            double y = neg 1.5
            yield y
        part [0,1] <= [i.2,j.2] < [n,m] step [3,2] width [1,1]
            double x.2 = load a[i.2,j.2]
            double y.2 = neg x.2
            yield y.2
        part [1,0] <= [i.3,j.3] < [n,m] step [3,3] width [1,2]
            double x.3 = load a[i.3,j.3]
            yield x.3
        part [0,0] <= [i.4,j.4] < [0,m] step [3,2] width [2,1]
            yield 9.0
    return n, m, r
"""


def test_rows_between_one_another_take_turns() -> None:
    u = parsed(TURNS)
    (all_parts,) = parts(u)
    groups = grouped(all_parts, ())
    assert [[p.lower[0] for p in g] for g in groups] == [[integer(0), integer(0), integer(1), integer(2)], [integer(0)]]
    assert [takes_turns(p, 0) for p in all_parts] == [True, True, True, True, False]
    agree_on(
        u,
        [[RNG.standard_normal(shape)] for shape in ((1, 1), (2, 9), (3, 4), (4, 5), (6, 7), (11, 40), (0, 3), (3, 0))],
    )
    on_threads(u, RNG.standard_normal((500, 301)))


def test_cells_that_an_earlier_partition_has_set_stay() -> None:
    text = """
        function f(int n, int m, int h, int v)
            int[n,m] r = with [n,m]
                genarray int default 7
                part [0,0] <= [i,j] < [h,v]
                    int x = add i, j
                    yield x
                part [1,1] <= [k,l] < [n,m] step [1,2] width [1,1]
                    bool t = lt k, 3
                    check t : the index lies in the array
                    yield 2
            return n, m, r
        """
    agree_on(parsed(text), [[3, 9, 2, 5], [3, 4, 3, 4], [2, 3, 1, 2]])


FAR = """
function f(int n, int m, double[n,m] a)
    double[n,m] r = with [n,m] disjoint
        genarray double default 0.5
        part [3,1] <= [i,j] < [n,m] step [2,2] width [1,1]
            double x = load a[i,j]
            yield x
        part [1,0] <= [i.1,j.1] < [n,m] step [2,2] width [1,1]
            double y = neg 1.5
            yield y
        part [4,0] <= [i.2,j.2] < [n,m] step [2,1] width [1,1]
            double z = neg 2.5
            yield z
    return n, m, r
"""


def test_rows_further_apart_than_a_turn_are_not_one_thread_s() -> None:
    u = parsed(FAR)
    assert [[p.lower[0] for p in g] for g in grouped(parts(u)[0], ())] == [[integer(1)], [integer(3), integer(4)]]
    agree_on(u, [[RNG.standard_normal(shape)] for shape in ((6, 5), (9, 12), (2, 3), (4, 1))])


MESH = """
function f(int n, int m, int end, {base}[n,m] a)
    {base}[n,m] r = with [n,m] disjoint
        {operator}
        part [0,1] <= [i,j] < [n,m] step [1,3] width [1,1]
            {base} x = load a[i,j]
            {base} y = add x, x
            yield y
        part [0,0] <= [i.1,j.1] < [n,end] step [1,3] width [1,1]
            int k = div j.1, 3
            {base} x.1 = load a[i.1,k]
            yield x.1
        part [0,5] <= [i.2,j.2] < [n,m] step [1,3] width [1,1]
            int up = add! j.2, 1
            int l = div up, 3
            int t = mod up, 3
            {base} x.2 = load a[i.2,l]
            {base} w = {of} t
            {base} y.2 = sub x.2, w
            yield y.2
    return n, m, r
"""


@pytest.mark.parametrize(
    ("base", "dtype", "of"), [("double", "f8", "tod"), ("float", "f4", "tof"), ("long", "i8", "tol")]
)
@pytest.mark.parametrize("operator", ["modarray a", "genarray {base} default {zero}"])
def test_columns_between_one_another_are_meshed(base: str, dtype: str, of: str, operator: str) -> None:
    zero = {"double": "0.5", "float": "0.5:float", "long": "7:long"}[base]
    u = parsed(MESH.format(base=base, of=of, operator=operator.format(base=base, zero=zero)))
    found = [[p.lower[1] for p in g] for g in _meshes(parts(u)[0], [IntoArray(base, False)])]
    assert found == [[integer(0), integer(1)], [integer(5)]]  # further apart than a step
    shapes = ((3, 9), (2, 31), (1, 1), (0, 5), (4, 0), (5, 2), (2, 7))
    ends = [(shape, end) for shape in shapes for end in {0, 1, shape[1] // 2, shape[1]} if end <= shape[1]]
    many = [[end, (RNG.standard_normal(shape) * 9).astype(dtype)] for shape, end in ends]
    agree_on(u, many)
    with small_chunks():
        agree_on(u, many)


def bordered(axes: int, work: int) -> str:
    """Cells of an array between its first and last, and these; `work`: operations of a cell."""
    names = "nmlk"[:axes]
    head = ", ".join(f"int {e}" for e in names)
    last = names[-1]
    frame, zeros = f"[{','.join(names)}]", ["0"] * axes
    lines = []
    for number, (low, high) in enumerate((("1", "e"), ("0", "1"), ("e", last))):
        index = ",".join(f"{i}.{number}" for i in "ijqp"[:axes])
        lines.append(f"        part [{','.join([*zeros[:-1], low])}] <= [{index}] < [{','.join([*names[:-1], high])}]")
        lines.append(f"            double x.{number} = load a[{index}]")
        before = f"x.{number}"
        for k in range(work):
            lines.append(f"            double t{k}.{number} = mul {before}, {before}")
            before = f"t{k}.{number}"
        lines.append(f"            yield {before}")
    return "\n".join(
        [
            f"function f({head}, double{frame} a)",
            f"    int e = sub {last}, 1",
            "    bool o = le 1, e",
            "    check o : there are two columns",
            f"    double{frame} r = with {frame} disjoint complete",
            "        genarray double default 0.0",
            *lines,
            f"    return {', '.join(names)}, r",
        ]
    )


@pytest.mark.parametrize(("axes", "work", "groups"), [(2, 3, 1), (2, 80, 3), (3, 80, 1), (4, 80, 1)])
def test_dear_cells_of_matrices_have_loops_of_their_own(axes: int, work: int, groups: int) -> None:
    """With more axes rows are short, and ends of a row that is in the cache are worth more than registers."""
    u = parsed(bordered(axes, work))
    (all_parts,) = parts(u)
    assert len(grouped(all_parts, ())) == groups
    agree_on(u, [[0.5 + RNG.random((2, 3, 5, 4)[:axes])], [0.5 + RNG.random((0, 3, 2, 2)[:axes])]])
