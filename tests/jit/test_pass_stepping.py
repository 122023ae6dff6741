"""With-loops that hand values from index to index become counting loops, on printed graphs: which do, what they
compute, and that scans and reductions by index of programs are found to be what they are."""

from __future__ import annotations

import pytest

from sacpy.jit.analysis.indices import Facts
from sacpy.jit.analysis.scans import scan_of
from sacpy.jit.ir.graph import For, Let, Unit, WithLoop, statements
from sacpy.jit.ir.graph_printer import print_unit
from sacpy.jit.options import Options
from sacpy.jit.passes import optimise, stepping
from tests.jit.pass_tools import assert_keeps_meaning, check, unchanged
from tests.jit.specialise_tools import Subject

SCAN = """
function f(int n, double[n] v)
    double[n] s, double t = with [n]{flags}
        genarray double default 0.0
        propagate double a := 0.5
        part [0] <= [i] < [n]{grid}
            double x = load v[i]
            double b = add a, x
            yield b, b
    return n, s
"""


def test_a_scan_becomes_a_loop_over_its_array() -> None:
    check(
        stepping.run,
        SCAN.format(flags=" disjoint complete", grid=""),
        """
        function f(int n, double[n] v)
            double[n] start = with [n] disjoint
                genarray double default 0.0
            double[n] s, double t = for i from 0 to n step 1 with double[n] held := start, double a := 0.5
                double x = load v[i]
                double b = add a, x
                double[n] new = update held[i] with b
                next new, b
            return n, s
        """,
    )


def test_one_with_a_step_stays() -> None:
    unchanged(stepping.run, SCAN.format(flags="", grid=" step [2] width [1]"))


def test_one_without_anything_handed_on_stays() -> None:
    unchanged(
        stepping.run,
        """
        function f(int n, double[n] v)
            double[n] s = with [n] disjoint complete
                genarray double default 0.0
                part [0] <= [i] < [n]
                    double x = load v[i]
                    yield x
            return n, s
        """,
    )


TWO = """
function f(int n, double[n] v)
    double[n] s, double[n] r, double t, double c = with [n] disjoint complete
        genarray double default 0.0
        genarray double default 0.0
        propagate double a := 0.5, double m := 1.0
        part [0] <= [i] < [n]
            double x = load v[i]
            double b = add a, x
            double d = mul m, {factor}
            yield b, d, b, d
    return n, s, n, r
"""


def test_values_that_do_not_need_one_another_have_loops_of_their_own() -> None:
    check(
        stepping.run,
        TWO.format(factor="x"),
        """
        function f(int n, double[n] v)
            double[n] start = with [n] disjoint
                genarray double default 0.0
            double[n] s, double t = for i.1 from 0 to n step 1 with double[n] held.1 := start, double a.1 := 0.5
                double x.1 = load v[i.1]
                double b.1 = add a.1, x.1
                double[n] new.1 = update held.1[i.1] with b.1
                next new.1, b.1
            double[n] start.1 = with [n] disjoint
                genarray double default 0.0
            double[n] r, double c = for i.2 from 0 to n step 1 with double[n] held.3 := start.1, double m.1 := 1.0
                double x.2 = load v[i.2]
                double d.1 = mul m.1, x.2
                double[n] new.3 = update held.3[i.2] with d.1
                next new.3, d.1
            return n, s, n, r
        """,
    )


def test_two_arrays_of_values_that_need_one_another_stay() -> None:
    unchanged(stepping.run, TWO.format(factor="b"))


def test_random_units_mean_what_they_meant() -> None:
    assert assert_keeps_meaning(stepping.run, range(100)) > 30


def optimised(text: str, *shapes: tuple[int | None, ...]) -> Unit:
    return optimise(Subject(text).unit(*shapes), Options(verify=True), host=True)


@pytest.mark.parametrize(
    ("operator", "code", "exclusive"),
    [("scan(+, 0)", "add", False), ("exscan(+, 0)", "add", True), ("scan(max, 0)", "max", False)],
)
def test_scans_of_programs_are_found_with_what_makes_their_values_in_them(
    operator: str, code: str, exclusive: bool
) -> None:
    unit = optimised(
        f"int[.] f(int[n] v) {{ w = 2 * v; return with {{ ([0] <= [i] < [n]) : w[i]; }} : {operator}; }}", (None,)
    )
    lets = [s for s in statements(unit.root.body) if isinstance(s, Let)]
    (loop,) = [s.rhs for s in lets if isinstance(s.rhs, For)]
    found = scan_of(loop, Facts.of(unit.root).made, strict=True)
    assert found is not None and (found.code, found.exclusive) == (code, exclusive)
    assert sum(len(s.rhs.partitions) for s in lets if isinstance(s.rhs, WithLoop)) == 0


def test_a_scan_of_structs_is_one_for_each_field() -> None:
    unit = optimised(
        """struct Map { double a; double b; };
        struct Map then(struct Map x, struct Map y) { return Map{x.a * y.a, x.b * y.a + y.b}; }
        double[.], double[.] f(double[n] a, double[n] b) {
            s = with { ([0] <= [i] < [n]) : Map{a[i], b[i]}; } : scan(then, Map{1.0, 0.0});
            return ({ [i] -> s[i].a | [i] < [n] }, { [i] -> s[i].b | [i] < [n] });
        }""",
        (None,),
        (None,),
    )
    made = Facts.of(unit.root).made
    loops = [s.rhs for s in statements(unit.root.body) if isinstance(s, Let) and isinstance(s.rhs, For)]
    found = [scan_of(loop, made, strict=False) for loop in loops]
    assert [scan and (scan.form, scan.code) for scan in found] == [("plain", "mul"), ("affine", "add")]


def test_a_reduction_by_index_is_cut_into_pieces() -> None:
    unit = optimised(
        "int[.] f(int[n] k, int[m] a) { return with { ([0] <= [i] < [n]) : (k[i], 1); } : into(a, +); }",
        (None,),
        (None,),
    )
    assert "parts" in print_unit(unit)
