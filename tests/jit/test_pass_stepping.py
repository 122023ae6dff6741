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


def test_two_arrays_stay() -> None:
    unchanged(
        stepping.run,
        """
        function f(int n, double[n] v)
            double[n] s, double[n] r, double t = with [n] disjoint complete
                genarray double default 0.0
                genarray double default 0.0
                propagate double a := 0.5
                part [0] <= [i] < [n]
                    double x = load v[i]
                    double b = add a, x
                    yield b, x, b
            return n, s, n, r
        """,
    )


def test_random_units_mean_what_they_meant() -> None:
    assert assert_keeps_meaning(stepping.run, range(300)) > 100


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


def test_a_reduction_by_index_is_cut_into_pieces() -> None:
    unit = optimised(
        "int[.] f(int[n] k, int[m] a) { return with { ([0] <= [i] < [n]) : (k[i], 1); } : into(a, +); }",
        (None,),
        (None,),
    )
    assert "parts" in print_unit(unit)
