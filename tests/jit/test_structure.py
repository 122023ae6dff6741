"""What the passes leave of programs as people write them: how many loops, arrays and checks, and what is in the
innermost loop."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from sacpy.jit.ir.graph import (
    ArrayType,
    Check,
    For,
    Genarray,
    If,
    Let,
    Load,
    Modarray,
    Op,
    Partition,
    Unit,
    Update,
    Var,
    WithLoop,
    blocks,
    integer,
    operands,
    statements,
)
from sacpy.jit.ir.graph_verify import verify
from sacpy.jit.options import Options
from sacpy.jit.passes import optimise
from sacpy.jit.run.measure import count
from tests.jit.specialise_tools import Subject

Extents = tuple[int | None, ...]
V, M, C = (None,), (None, None), (None, None, None)


@dataclass(frozen=True)
class Left:
    """What is left: with-loops, those of them that make an array, and checks inside loops."""

    with_loops: int
    arrays: int
    checks: int = 0


PROGRAMS: dict[str, tuple[str, tuple[Extents, ...], Left]] = {
    "a chain under a sum": ("double f(double[.] a, double[.] b, double[.] c) { return sum(a * b + c); }", (V, V, V),
        Left(1, 0)),
    "a longer chain of vectors": ("double[.] f(double[.] a, double[.] b) { t = a * 2.0; u = t + b; w = sqrt(abs(u)); "
        "return w - t; }", (V, V), Left(1, 1)),
    "a matrix product": ("double[.,.] f(double[n,k] a, double[k,m] b) { return { [i,j] -> sum({ [l] -> a[i,l] * "
        "b[l,j] }) | [i,j] < [n,m] }; }", (M, M), Left(2, 1)),
    "a matrix product with a transposed matrix": (
        "double[.,.] f(double[n,k] a, double[k,m] b) { bt = transpose(b); return { [i,j] -> sum(a[i] * bt[j]) | [i,j] "
            "< [n,m] }; }", (M, M), Left(2, 1),
    ),
    "a matrix product by rows and columns": ("double[.,.] f(double[n,k] a, double[k,m] b) { return { [i,j] -> "
        "sum(a[i] * b[., j]) | [i,j] < [n,m] }; }", (M, M), Left(2, 1)),
    "two reversals": ("double[.] f(double[n] a) { return reverse(0, reverse(0, a)) + a; }", (V,), Left(1, 1)),
    "a transpose of a transpose": ("double[.,.] f(double[.,.] a) { return transpose(transpose(a) * 2.0); }", (M,),
        Left(1, 1)),
    "take, drop, and a sum": ("double f(double[n] a) | (n > 4) { return sum(drop([1], a) - take([n - 1], a)); }", (V,),
        Left(1, 0)),
    "a matrix that is shifted": ("double[.,.] f(double[n,m] a) { return a + shift([1, 0], 0.0, a); }", (M,),
        Left(1, 1)),
    "index vectors": ("double[.,.] f(double[.,.] a) { shp = shape(a); return with { (0 * shp <= iv < shp) : a[mod(iv "
        "+ [1, 0] - 2 * [0, 1], shp)]; } : genarray(shp, 0.0); }", (M,), Left(1, 1)),
    "a small kernel": (
        "double[.,.] f(double[n,m] a) { w = [[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]];"
        " return { iv -> sum({ ov -> w[ov] * a[mod(iv + ov - 1, shape(a))] | ov < [3, 3] }) | iv < [n, m] }; }", (M,),
        Left(1, 1),
    ),
    "neighbours on a ring, by conditions": ("double[.] f(double[n] v) { return { [i] -> v[i + 1 == n ? 0 : i + 1] - "
        "v[i == 0 ? n - 1 : i - 1] | [i] < [n] }; }", (V,), Left(1, 1)),
    "neighbours on a ring, by the last index": ("double[.] f(double[n] v) { return { [i] -> v[i == n - 1 ? 0 : i + 1] "
        "- v[i == 0 ? n - 1 : i - 1] | [i] < [n] }; }", (V,), Left(1, 1)),
    "loops that set each element once": (
        "double[.,.] f(double[n,m] a) { b = a; for (i = 0; i < n; i++) { for (j = 0; j < m; j++) { b[i,j] = a[mod(i + "
            "1, n), j] + a[i, mod(j - 1, m)]; } } return b; }", (M,), Left(1, 1),
    ),
    "a ring from somewhere else": ("double[.] f(double[n] v) { return { [i] -> v[i + 1 < n ? i + 1 : 0] + v[i > 0 ? i "
        "- 1 : n - 1] | [i] < [n] }; }", (V,), Left(1, 1)),
    "structs": (
        "struct P { double x; double y; }; inline struct P moved(struct P p) { return P{p.x + 1.0, p.y * 2.0}; }"
        " double f(double[n] x, double[n] y) { p = { [i] -> moved(P{x[i], y[i]}) | [i] < [n] }; return sum(p.x) + "
            "sum(p.y); }", (V, V), Left(2, 0),
    ),
    "complex numbers": ("double f(complex[n] z) { return sum({ [i] -> real(z[i] * conj(z[i])) | [i] < [n] }); }",
        ((None, 2),), Left(1, 0)),
    "a mean and a variance": ("double f(double[n] a) | (n > 0) { mean = sum(a) / tod(n); return sum((a - mean) * (a - "
        "mean)); }", (V,), Left(2, 0)),
    "two results over one index space": ("double[.], double[.] f(double[n] a) { return (a + 1.0, a * 2.0); }", (V,),
        Left(1, 2)),
}  # fmt: skip


HOST_PROGRAMS: dict[str, tuple[str, tuple[Extents, ...], Left]] = {
    "forces between bodies, from arrays of what lies between them": (
        "double[.,.] f(double[n,3] x, double[n] m) { d = { [i,j] -> x[j] - x[i] | [i,j] < [n,n] }; r = { [i,j] -> "
            "sum(d[i,j] * d[i,j]) + 0.1 };"
        " f = { [i,j] -> m[j] / (r[i,j] * sqrt(r[i,j])) }; return { [i,c] -> sum(f[i] * d[i,.,c]) | [i,c] < [n,3] }; }",
        ((None, 3), V), Left(2, 1),
    ),
    "parts of vectors into arrays of their own": (
        "double[.], double[.] f(double[n] a, double[n] b) | (n > 2) { u = { [i] -> [a[i], b[i]] }; w = with { ([1] <= "
            "[i] < [n - 1]) : u[i - 1] * sum(u[i] * u[i + 1]); } : modarray(u);"
        " c = with { ([1] <= [i] < [n - 1]) : w[i,0]; } : genarray([n], 0.0); d = with { ([1] <= [i] < [n - 1]) : "
            "w[i,1]; } : genarray([n], 1.0); return (c, d); }", (V, V), Left(1, 2),
    ),
}  # fmt: skip


def optimised(text: str, *shapes: Extents, host: bool = False) -> Unit:
    unit = optimise(Subject(text).unit(*shapes), Options(verify=True), host)
    verify(unit)
    return unit


def with_loops(unit: Unit) -> list[WithLoop]:
    return [
        s.rhs for f in unit.functions for s in statements(f.body) if isinstance(s, Let) and isinstance(s.rhs, WithLoop)
    ]


def checks_inside(unit: Unit) -> int:
    return sum(isinstance(s, Check) for w in with_loops(unit) for b in blocks(w) for s in b.statements)


@pytest.mark.parametrize(("text", "shapes", "left"), PROGRAMS.values(), ids=PROGRAMS)
def test_what_is_left(text: str, shapes: tuple[Extents, ...], left: Left) -> None:
    is_left(optimised(text, *shapes), left)


@pytest.mark.parametrize(("text", "shapes", "left"), HOST_PROGRAMS.values(), ids=HOST_PROGRAMS)
def test_what_is_left_for_the_cpu(text: str, shapes: tuple[Extents, ...], left: Left) -> None:
    is_left(optimised(text, *shapes, host=True), left)


def is_left(unit: Unit, left: Left) -> None:
    loops = with_loops(unit)
    arrays = sum(isinstance(o, Genarray | Modarray) for w in loops for o in w.operators)
    assert Left(len(loops), arrays, checks_inside(unit)) == left
    assert count(unit).calls == 0


def largest(unit: Unit) -> Partition:
    """The partition of the interior: its body is the shortest."""
    (loop,) = with_loops(unit)
    return min(loop.partitions, key=lambda p: len(list(statements(p.body))))


@pytest.mark.parametrize(
    "text",
    [
        "double[.,.] f(double[n,m] a) { return { [i,j] -> a[mod(i - 1, n), j] + a[mod(i + 1, n), j] + a[i, mod(j - 1, "
        "m)] + a[i, mod(j + 1, m)] | [i,j] < [n,m] }; }",
        "double[.,.] f(double[n,m] a) { return { [i,j] -> a[max(i - 1, 0), j] + a[i, min(j + 1, m - 1)] | [i,j] < "
        "[n,m] }; }",
        "double[.,.] f(double[n,m] a) { return { iv -> a[mod(iv + [1, 1], [n, m])] - a[mod(iv - [1, 1], [n, m])] | iv "
        "< [n, m] }; }",
        "double[.,.] f(double[n,m] a) { return rotate([1, -1], a) + rotate([-1, 0], a) - rotate(1, 1, a); }",
        "double[.,.] f(double[n,m] a) { return with { ([-1, -1] <= o <= [1, 1]) : rotate(o, a); } : fold(+, "
        "genarray([n, m], 0.0)); }",
        "double[.,.] f(double[n,m] a) { return { [i,j] -> a[(i + 1) % n, (j + m - 1) % m] - a[(i - 1 + n) % n, (j + m "
        "+ 1) % m] | [i,j] < [n,m] }; }",
        "double[.,.] f(double[n,m] a) { return { [i,j] -> a[i,j] + (i > 0 ? a[i - 1, j] : 0.0) + (j < m - 1 ? a[i, j "
        "+ 1] : 0.0) | [i,j] < [n,m] }; }",
    ],
)
def test_the_interior_of_a_relaxation_only_loads_and_adds(text: str) -> None:
    interior = largest(optimised(text, M))
    body = list(statements(interior.body))
    assert not any(isinstance(s, Check) or isinstance(s.rhs, If) for s in body)
    operations = [s for s in body if isinstance(s, Let) and isinstance(s.rhs, Op)]
    along = {interior.index[-1].name}  # what depends on the last index
    for s in operations:
        if any(isinstance(a, Var) and a.name in along for a in s.rhs.args):
            along.add(s.targets[0].name)
            assert s.rhs.code in ("add", "sub"), s.rhs.code
            assert s.rhs.exact
    assert not any(s.rhs.code in ("mod", "aplmod", "div") for s in operations)


def test_a_rotation_by_any_count_copies_two_stretches() -> None:
    (loop,) = with_loops(optimised("double[.] f(double[n] a, int count) { return rotate([count], a); }", V, ()))
    assert len(loop.partitions) == 2
    for p in loop.partitions:
        assert {s.rhs.code for s in statements(p.body) if isinstance(s, Let) and isinstance(s.rhs, Op)} <= {
            "add",
            "sub",
        }


def test_a_sieve_strikes_out_without_a_width() -> None:
    (loop,) = with_loops(
        optimised(
            "bool[.] f(bool[n] s, int i) { return with { ([i * i] <= iv < [n] step [i]) : false; } : modarray(s); }",
            V,
            (),
        )
    )
    assert loop.partitions[0].width == (integer(1),)


def test_fields_that_are_updated_one_after_the_other_need_no_old_array() -> None:
    text = """double[n,4] f(double[n,4] p, double[.] b) | (shape(b)[0] > n) {
        for (i = 0; i < n; i++) { p[i,2] += b[i]; p[i,3] += b[i + 1]; p[i,0] += p[i,2]; p[i,1] += p[i,3]; p[i,0] += 1.0;
          }
        return p; }"""
    unit = optimised(text, (None, 4), V)
    (body,) = [s.rhs.body for s in statements(unit.root.body) if isinstance(s, Let) and isinstance(s.rhs, For)]
    updated: set[str] = set()
    for s in body.statements:
        if isinstance(s, Let):
            assert updated.isdisjoint(a.name for a in operands(s.rhs) if isinstance(a, Var))
            if isinstance(s.rhs, Update):
                updated.add(s.rhs.array.name)
    assert len(updated) == 5


def test_index_vectors_leave_no_array_behind() -> None:
    unit = optimised(
        "int f(double[.,.,.] a) { return with { (0 * shape(a) <= iv < shape(a)) : prod(iv + 1) - sum(iv * [1, 2, 3]); "
        "} : fold(+, 0); }",
        C,
    )
    made = [
        t
        for f in unit.functions
        for s in statements(f.body)
        if isinstance(s, Let)
        for t in s.targets
        if isinstance(t.type, ArrayType)
    ]
    assert made == []


def test_a_small_fold_is_unrolled() -> None:
    (loop,) = with_loops(
        optimised("double[.] f(double[n,4] a) { return { [i] -> sum(a[i]) | [i] < [n] }; }", (None, 4))
    )
    loads = [s for s in statements(loop.partitions[0].body) if isinstance(s, Let) and isinstance(s.rhs, Load)]
    assert len(loads) == 4
