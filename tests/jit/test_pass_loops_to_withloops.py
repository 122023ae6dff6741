"""Nests of counting loops that set each element once: which become with-loops, and that nothing changes by it."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.interp.evaluator import Evaluator
from sacpy.interp.world import World
from sacpy.jit.ir.graph import Unit
from sacpy.jit.passes import dead_code, loops_to_withloops
from sacpy.workspace import Workspace
from tests.fuzz.differential import native
from tests.jit.graph_evaluator import CheckFailed, evaluate
from tests.jit.graph_text import unit
from tests.jit.pass_tools import after, check, outcome

NEST = """
function f(int n, int m, double[n,m] a, double[n,m] v, int first, int last)
    double[n,m] r = for i from first to last step 1 with double[n,m] b := a
        double h = tod i
        double[n,m] c = for j from 0 to m step 1 with double[n,m] d := b
            double x = load v[i,j]
            double y = load d[i,j]
            double z = add x, y
            double w = mul z, h
            double[n,m] e = update d[i,j] with w
            next e
        next c
    return n, m, r
"""

BRANCHES = """
function f(int n, double[n] a, double[n] v)
    double[n] r = for i from 0 to n step 1 with double[n] b := a
        double x = load v[i]
        bool t = lt x, 0.0
        double[n] u = if t
            double[n] c = update b[i] with x
            give c
        else
            double y = load b[i]
            bool s = lt y, x
            double[n] d = if s
                double q = mul x, y
                double[n] e = update b[i] with q
                give e
            else
                give b
            give d
        next u
    return n, r
"""

TWO = """
function f(int n, double[n] a, double[n] v)
    double[n] r, double[n] s = for i from 0 to n step 1 with double[n] b := a, double[n] c := v
        double x = load b[i]
        double y = load c[i]
        double[n] d = update b[i] with y
        double[n] e = update c[i] with x
        next d, e
    return n, r, s
"""

SEVERAL = """
function f(int n, double[n] a, double[n] c, double[n] v)
    double[n] r, double[n] s = for i from 0 to n step 1 with double[n] b := a, double[n] e := c
        double x = load v[i]
        double[n] d = update b[i] with 2.0
        bool t = lt x, 0.0
        double[n] g, double h = if t
            double z = load d[i]
            double y = mul x, z
            double[n] o = update d[i] with y
            double p = load o[i]
            double q = add p, 1.0
            double[n] u = update o[i] with q
            give u, z
        else
            give d, x
        bool w = lt h, 1.0
        double k = if w
            double l = load g[i]
            give l
        else
            give 3.0
        double m = load g[i]
        double j = add m, k
        double[n] ee = update e[i] with j
        double[n] gg = update g[i] with k
        double mm = load gg[i]
        double jj = sub mm, j
        double[n] ff = update ee[i] with jj
        next gg, ff
    return n, r, s
"""

BESIDE = """
function f(int n, int m, double[n,m] a, double x)
    double s, double[n,m] r, double t = for i from 0 to n step 1 with double o := x, double[n,m] b := a, \
double l := -1.0
        double oo, double[n,m] c, double ll = for j from 0 to m step 1 with double p := o, double[n,m] d := b, \
double k := l
            double y = load d[i,j]
            double z = sub y, x
            double[n,m] e = update d[i,j] with z
            double w = load e[i,j]
            double q = sub p, w
            double g = mul k, y
            next q, e, g
        next oo, c, ll
    return s, n, m, r, t
"""

GREATEST = """
function f(int n, double[n] v, double[n] a, double x)
    double[n] r, double t = for i from 0 to n step 1 with double[n] b := a, double p := x
        double y = load v[i]
        double z = mul y, 2.0
        double[n] e = update b[i] with z
        bool c = lt p, z
        double q = select c, z, p
        next e, q
    return n, r, t
"""

TURNED = """
function f(int n, int m, double[n,m] a)
    double[n,m] r = for j from 0 to m step 1 with double[n,m] b := a
        double[n,m] c = for i from 1 to n step 1 with double[n,m] d := b
            int k = add i, j
            double x = tod k
            double[n,m] e = update d[i,j] with x
            next e
        next c
    return n, m, r
"""


def run(u: Unit) -> Unit:
    return dead_code.run(loops_to_withloops.run(u))


def test_a_nest_becomes_one_with_loop_over_the_elements_that_it_sets() -> None:
    check(
        run,
        NEST,
        """
        function f(int n, int m, double[n,m] a, double[n,m] v, int first, int last)
            bool fits = le 0, first
            check fits : the index lies in the array
            bool fits.1 = le last, n
            check fits.1 : the index lies in the array
            bool fits.2 = le 0, 0
            check fits.2 : the index lies in the array
            bool fits.3 = le m, m
            check fits.3 : the index lies in the array
            double[n,m] r = with [n,m] disjoint
                modarray a
                part [first,0] <= [i,j] < [last,m]
                    double h = tod i
                    double x = load v[i,j]
                    double y = load a[i,j]
                    double z = add x, y
                    double w = mul z, h
                    yield w
            return n, m, r
        """,
    )


RNG = np.random.default_rng(8)


@pytest.mark.parametrize(
    ("text", "args"),
    [
        (NEST, (RNG.uniform(size=(5, 4)), RNG.uniform(size=(5, 4)), 1, 4)),
        (NEST, (RNG.uniform(size=(5, 0)), RNG.uniform(size=(5, 0)), 4, 1)),
        (BRANCHES, (RNG.uniform(-1, 1, 40), RNG.uniform(-1, 1, 40))),
        (TWO, (RNG.uniform(size=9), RNG.uniform(size=9))),
        (SEVERAL, (RNG.uniform(size=9), RNG.uniform(size=9), RNG.uniform(-2, 2, 9))),
        (BESIDE, (RNG.uniform(size=(6, 3)), 0.5)),
        (GREATEST, (RNG.uniform(-1, 1, 30), RNG.uniform(-1, 1, 30), 0.0)),
        (TURNED, (RNG.uniform(size=(6, 3)),)),
    ],
)
def test_the_results_are_the_same(text: str, args: tuple[object, ...]) -> None:
    changed = run(unit(text))
    assert "for" not in after(run, text).split()
    assert outcome(changed, args) == outcome(unit(text), args)


def test_bounds_that_leave_the_array_are_found() -> None:
    a = np.ones((5, 4))
    with pytest.raises(CheckFailed):
        evaluate(run(unit(NEST)), [a, a, 0, 6])
    with pytest.raises(CheckFailed):
        evaluate(run(unit(NEST)), [a, a, -1, 3])


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(NEST.replace("load d[i,j]", "load d[i,0]"), id="another element is read"),
        pytest.param(NEST.replace("update d[i,j]", "update d[i,0]"), id="an element is set in several rounds"),
        pytest.param(NEST.replace("update d[i,j]", "update d[j,j]"), id="not all loops count in the index"),
        pytest.param(NEST.replace("for j from 0 to m step 1", "for j from 0 to m step 2"), id="a step"),
        pytest.param(NEST.replace("for j from 0", "for j from i"), id="bounds that depend on an outer loop"),
        pytest.param(NEST.replace("double h = tod i", "double h = load b[0,0]"), id="the array is read outside"),
        pytest.param(
            SEVERAL.replace("double m = load g[i]", "double m = load b[i]"),
            id="what the element was is read after it was set",
        ),
        pytest.param(SEVERAL.replace("give d, x", "give b, x"), id="what the array was is given after it was set"),
        pytest.param(SEVERAL.replace("update ee[i]", "update e[i]"), id="an update is lost"),
        pytest.param(
            SEVERAL.replace("double l = load g[i]", "double l = load g[0]"),
            id="another element is read in a branch that sets none",
        ),
        pytest.param(SEVERAL.replace("next gg, ff", "next gg, gg"), id="two arrays become one"),
        pytest.param(
            BESIDE.replace("update d[i,j]", "update d[j,i]")
            .replace("load d[i,j]", "load d[j,i]")
            .replace("load e[i,j]", "load e[j,i]"),
            id="a sum in another order than that of the elements",
        ),
        pytest.param(BESIDE.replace("mul k, y", "mul k, k"), id="a scalar that is no sum"),
        pytest.param(BESIDE.replace("mul k, y", "mul k, p"), id="a scalar that depends on another"),
        pytest.param(BESIDE.replace("double z = sub y, x", "double z = sub y, k"), id="a scalar is read"),
        pytest.param(GREATEST.replace("load v[i]", "load b[i]"), id="an extreme of what is overwritten"),
        pytest.param(
            BRANCHES.replace("double y = load b[i]", "double y = load b[0]"), id="another element is read in a branch"
        ),
        pytest.param(TWO.replace("load b[i]", "load b[0]"), id="another element of one of two arrays"),
    ],
)
def test_what_stays_a_loop(text: str) -> None:
    assert "for" in after(run, text).split()


def test_what_costs_much_is_not_done_for_every_element() -> None:
    text = NEST.replace(
        "        double h = tod i\n",
        "        double h = with\n            fold from 0.0 by (double acc), (double val)\n"
        "                double g = add acc, val\n                give g\n            part [0] <= [k] < [m]\n"
        "                double p = load v[i,k]\n                yield p\n",
    )
    assert "for i from first" in after(run, text)


def test_scalars_are_accumulated_beside_the_elements() -> None:
    check(
        run,
        BESIDE,
        """
        function f(int n, int m, double[n,m] a, double x)
            bool fits = le 0, 0
            check fits : the index lies in the array
            bool fits.1 = le n, n
            check fits.1 : the index lies in the array
            bool fits.2 = le 0, 0
            check fits.2 : the index lies in the array
            bool fits.3 = le m, m
            check fits.3 : the index lies in the array
            double[n,m] r, double s, double t = with [n,m] disjoint complete
                modarray a
                fold from x, -1.0 by (double p, double k), (double val, double val.1)
                    double q = add p, val
                    double g = mul k, val.1
                    give q, g
                part [0,0] <= [i,j] < [n,m]
                    double y = load a[i,j]
                    double z = sub y, x
                    double w = z
                    double minus = neg w
                    yield z, minus, y
            return s, n, m, r, t
        """,
    )


@pytest.mark.parametrize(
    ("text", "operators"),
    [
        (GREATEST, "genarray double default 0.0"),
        (GREATEST.replace("from 0 to n", "from 1 to n"), "modarray a"),
        (TWO, "modarray a\n        modarray v"),
        (BRANCHES, "modarray a"),
        (
            BRANCHES.replace("b := a", "b := g").replace(
                "    double[n] r =",
                "    double[n] g = with [n] disjoint complete\n        genarray double default 0.0\n"
                "        part [0] <= [k] < [n]\n            double f = load v[k]\n            yield f\n"
                "    double[n] r =",
            ),
            "genarray double default 0.0",
        ),
    ],
)
def test_an_array_that_is_all_replaced_is_a_new_one_unless_it_may_be_changed_in_place(
    text: str, operators: str
) -> None:
    """It may be where it is read, and not made by a with-loop, whose elements could be computed where they are
    needed."""
    loop = after(run, text).split(" = with")[-1]
    assert operators in loop
    assert ("complete" in loop) == ("from 1" not in text)


def test_a_border_that_is_split_off_is_still_updated_in_place() -> None:
    text = """use Array: all;
double[n,m] f(double[n,m] x, double[n,m] v, int steps)
{
  for (s = 0; s < steps; s++) { for (i = 0; i < n; i++) { for (j = 0; j < m;
    j++) { x[i,j] = x[i,j] + v[i, mod(j - 1, m)]; } } }
  return x;
}
"""
    engine = native(strict_fp=True, threads=1)
    program, _ = Workspace().load_text(text)
    evaluator = Evaluator(program, World.captured(), engine=engine)
    x, v = RNG.uniform(size=(6, 9)), RNG.uniform(size=(6, 9))
    (found,) = evaluator.call(program.key(program.main.own("f")[0], ()), (x, v, 10))
    expected = x
    for _ in range(10):
        expected = expected + np.roll(v, 1, axis=1)
    assert (found == expected).all()
    assert engine.tools.context.allocations == 1  # the argument is copied once
