"""Arrays that loops compute anew from themselves are changed in place, on printed graphs; the results are the same."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.passes import carried, optimise
from tests.jit.graph_text import unit
from tests.jit.native_tools import agree_on
from tests.jit.pass_tools import check, unchanged

STEPS = """
function f(int n, int m, double[m] x, double[m] y)
    double[m] b = for t from 0 to n step 1 with double[m] a := x
        {before}
        double[m] c = with [m] disjoint{complete}
            {operator}
            part [{lower}] <= [i] < [m]
                double z = load {read}
                double u = load y[i]
                double v = add z, u
                yield v
        {after}
        next {result}
    return m, b
"""
FINE = {
    "before": "double w = load a[0]",
    "complete": " complete",
    "operator": "genarray double default 0.0",
    "lower": "0",
    "read": "a[i]",
    "after": "double q = load c[0]",
    "result": "c",
}


def steps(**changed: str) -> str:
    return STEPS.format(**(FINE | changed))


def test_an_array_is_changed_where_it_lies() -> None:
    check(carried.run, steps(), steps(operator="modarray a"))


@pytest.mark.parametrize(
    "changed",
    [
        {"read": "a[0]"},
        {"read": "y[i]"},
        {"after": "double q = load a[0]"},
        {"result": "a"},
        {"complete": "", "lower": "1"},
        {"operator": "modarray y"},
    ],
)
def test_what_may_be_needed_stays(changed: dict[str, str]) -> None:
    unchanged(carried.run, steps(**changed))


def test_a_loop_with_a_condition_and_two_arrays() -> None:
    text = """
        function f(int m, double[m] x, double[m] y)
            double[m] b, double[m] d, int l = loop double[m] a := x, double[m] c := y, int k := 9
                while
                    bool more = lt 0, k
                    test more
                round
                    double[m] e, double[m] g = with [m] disjoint complete
                        {first}
                        {second}
                        part [0] <= [i] < [m]
                            double v = load a[i]
                            double w = load c[i]
                            double u = sub w, v
                            yield u, v
                    int j = sub k, 1
                    next e, g, j
            return m, b, m, d
        """
    new = "genarray double default 0.0"
    check(carried.run, text.format(first=new, second=new), text.format(first="modarray a", second="modarray c"))
    x, y = np.random.default_rng(2).standard_normal((2, 77))
    (found,) = agree_on(unit(text.format(first="modarray a", second="modarray c")), [[x, y]])
    (expected,) = agree_on(unit(text.format(first=new, second=new)), [[x, y]])
    assert all(np.array_equal(a, b) for a, b in zip(found, expected))


@pytest.mark.parametrize("rounds", [0, 1, 2, 7])
def test_arguments_stay_and_results_are_the_same(rounds: int) -> None:
    x, y = np.random.default_rng(1).standard_normal((2, 1003))
    u = optimise(unit(steps()), host=True)
    agree_on(u, [[rounds, x[:n], y[:n]] for n in (1, 5, 1003)])


def test_of_another_type_there_is_nothing_to_overwrite() -> None:
    unchanged(
        carried.run,
        """
        function f(int n, int m, double[m] x)
            int k, double[k] b = for t from 0 to n step 1 with int j := m, double[j] a := x
                double[n] c = with [n] disjoint complete
                    genarray double default 0.0
                    part [0] <= [i] < [n]
                        double z = load a[i]
                        yield z
                next n, c
            return k, b
        """,
    )
