"""What is said of where arrays lie, and the laws of plans."""

from __future__ import annotations

from textwrap import dedent

import pytest

import sacpy
from sacpy.jit.analysis.circuits import Opening, Outside, Plan, circuits
from sacpy.jit.analysis.ints import Ints
from sacpy.jit.analysis.makers import arrays_of
from sacpy.jit.analysis.plan_verify import PlanError, verify_plan
from sacpy.nodes import replace
from tests.jit.graph_text import unit
from tests.jit.test_circuits import SC, TABLE


def plan_of(name: str) -> str:
    return sacpy.Session(target="cpu").emit("memory", "f", SC + TABLE[name][0]).split("\n", 1)[1]


def test_operands_of_plus_plus() -> None:
    expected = """\
        function f(int a_n, double[a_n] a, int b_n, double[b_n] b)
            r.1 = for                           in w at [a_n]
                u = update                          in the memory of r
            r.3 = for                           in w at [0]
                u.1 = update                        in the memory of r.2
            w = with                            new, there before r.1 is
        """
    assert plan_of("sc(..) ++ sc(..)") == dedent(expected)


def test_a_row_that_is_replaced() -> None:
    text = plan_of("a[i] = sc(a[i])")
    assert "t.3 = view                          part of a.1, without a reference of its own" in text
    assert "r.1 = for                           in u.1 at [i,0]" in text
    assert "u.1 = update                        in the memory of a.1; its new part is there" in text


def test_why_not() -> None:
    text = """use Array: all;
double[.], double f(double[n] a) { r = a; for (i = 1; i < n; i++) { r[i] = r[i - 1] + a[i]; }
  w = r ++ a; r[0] = 1.0; s = 0.0; for (i = 0; i < n; i++) { s = 0.5 * s + r[i]; } return (w, s); }"""
    told = sacpy.Session(target="cpu").emit("memory", "f", text)
    assert "r.1 is not made in w                it is needed afterwards" in told


def test_without_short_circuiting_everything_is_made_where_it_is() -> None:
    from sacpy.jit.options import Options
    from sacpy.jit.reports.stages import emission
    from sacpy.workspace import Workspace

    program, _ = Workspace().load_text(SC + TABLE["sc(..) ++ sc(..)"][0])
    told = emission(program, "memory", "f", Options(short_circuit=False))
    assert "in w" not in told and "made in" not in told


GRAPH = """
function f(int n, double[n] a, int m, double[m] b)
    double[n] r = for i from 1 to n step 1 with double[n] s := a
        double x = load a[i]
        double[n] u = update s[i] with x
        next u
    int t = add! n, m
    bool ok = le t, 1073741823
    check ok : an extent is not too large
    double[t] w = with [t] disjoint complete
        genarray double default 0.0
        part [0] <= [j] < [n]
            double y = load r[j]
            yield y
        part [n] <= [k] < [t]
            int l = sub! k, n
            double z = load b[l]
            yield z
    return t, w
"""


def changed(o: Opening, law: str) -> Opening:
    (c,) = o.circuits
    match law:
        case "has two places":
            return replace(o, circuits=(c, c))
        case "is not made between":
            return replace(o, begins=o.begins + 1)
        case "is more than an operation":
            return replace(o, ahead=(0, *o.ahead))
        case "is not there where it is needed ahead":
            return replace(o, ahead=o.ahead[1:])
    raise AssertionError


@pytest.mark.parametrize(
    "law",
    [
        "has two places",
        "is not made between",
        "is more than an operation",
        "is not there where it is needed ahead",
    ],
)
def test_plans_keep_the_laws_and_others_are_refused(law: str) -> None:
    root = unit(GRAPH).root
    plan = circuits(root.body, {"a", "b"}, arrays_of, Ints(root), Outside.of(root, ()))
    ((point, opening),) = plan.openings.items()
    assert opening.ahead == (1, 2, 3) and opening.first == 0
    verify_plan(root.body, plan)
    with pytest.raises(PlanError, match=law):
        verify_plan(root.body, Plan({point: changed(opening, law)}))
