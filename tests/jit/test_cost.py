"""How much work a call is taken to be: what is counted of loops, of boxes, and of functions that are called."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.run import cost
from sacpy.jit.run.cost import Costs
from sacpy.lang.core import Let, WithLoop
from sacpy.lang.infer import inferrer_for
from sacpy.lang.walk import statements
from sacpy.workspace import Workspace

PRELUDE = "use Array: all; use Math: all;\n"


def costs(text: str) -> Costs:
    """Those of a program."""
    program, _ = Workspace().load_text(PRELUDE + text)
    return Costs(program, inferrer_for(program))


def call(text: str, *args: object) -> float:
    """The steps of a call of the only function."""
    found = costs(text)
    (key,) = found.program.user_keys([])  # type: ignore[attr-defined]
    return found.call(found.program.function(key), args)  # type: ignore[arg-type]


V = np.arange(1000, dtype=np.int32)
BODY = "s = ((s * 5 + k) * 7 + k * k) % 1001 + (s * k + 3) * (k + 11);"


def loop(bounds: str) -> float:
    """The steps of a function with a loop; `n` and `m` are ints of which nothing is known."""
    start, test = bounds.split("; ")
    text = f"int f(int[.] v) {{ n = v[0]; m = v[1]; s = 0; for (k = {start}; {test}; k++) {{ {BODY} }} return s; }}"
    return call(text, V)


@pytest.mark.parametrize(
    ("bounds", "rounds"),
    [
        ("0; k < 10", 10),
        ("0; k < min(n, 10)", 10),
        ("0; k < min(12, min(n, 5))", 5),
        ("max(n, 3); k < min(m, 10)", 7),
        ("max(0, n - m); k <= min(min(n, 7), m)", 7),
        ("0; k < max(n, 10)", cost.UNKNOWN),
        ("min(n, 3); k < 10", 10),
        ("0; k < n", cost.UNKNOWN),
    ],
)
def test_rounds_are_bounded_by_what_a_bound_is_not_above(bounds: str, rounds: int) -> None:
    each = loop("0; k < 11") - loop("0; k < 10")
    assert each > 10
    assert abs(loop(bounds) - loop("0; k < 10") - (rounds - 10) * each) < each + 3 * rounds, "the bounds count too"


def box(lower: str, upper: str) -> str:
    return (
        "int[.,.] f(int[.,.] a, int[.] v) { t = v[0]; l = v[1]; return with { "
        f"([{lower}] <= [i,j] < [{upper}]) : a[i, j] + 1; }} : modarray(a); }}"
    )


@pytest.mark.parametrize(
    ("lower", "upper", "cells"),
    [
        ("t, l", "t + 8, l + 8", 64),
        ("t, l", "t + 3 + 5, 8 + l", 64),
        ("t - 4, l + 1", "t + 4, l + 9", 64),
        ("t, l", "t - 8, l + 8", 0),
        ("t, 2", "t + 8, 10", 64),
        ("t, l", "l + 8, t + 8", 10_000),
        ("0, 0", "8, 8", 64),
    ],
)
def test_a_box_at_a_place_that_nobody_knows_counts_what_it_has(lower: str, upper: str, cells: int) -> None:
    a = np.zeros((100, 100), np.int32)
    whole = call(box("0, 0", "100, 100"), a, V)
    assert abs(call(box(lower, upper), a, V) / whole - cells / 10_000) < 0.003


def cell(callee: str) -> float:
    """The steps of a cell that is a call, of which nothing is known but the text."""
    found = costs(f"{callee}\ndouble[.] f(double[n] v) {{ return {{ [i] -> g(v[i]) | [i] < [n] }}; }}")
    key = next(k for k in found.program.user_keys([]) if k.startswith("_MAIN::f/"))  # type: ignore[attr-defined]
    (loop,) = (
        s.rhs
        for s in statements(found.program.function(key).body)
        if isinstance(s, Let) and isinstance(s.rhs, WithLoop)
    )
    return found.cell(loop)


def test_a_straight_line_that_is_called_counts_its_operations() -> None:
    brief = cell("double g(double x) { return x + 1.0; }")
    longer = cell("double g(double x) { return exp(x * x + 1.0) * (x < 0.0 ? x : 1.0 - x) + 2.0; }")
    assert longer - brief <= 12, "a step each"
    within = cell("double h(double x) { return x * x + 1.0; }  double g(double x) { return h(x) + h(x + 1.0); }")
    assert within - brief <= 12 + 2 * cost.CALLED


@pytest.mark.parametrize(
    "text",
    [
        "double g(double x) { s = x; while (s < 1000.0) { s = s * 2.0 + 1.0; s = s + x; } return s; }",
        "double h(double[.] a) { b = a * a + a * 3.0 + a / 2.0; return b[0]; }  double g(double x) { return h([x]); }",
    ],
)
def test_what_loops_and_operations_on_arrays_take_is_not_in_the_text(text: str) -> None:
    assert 6 * cost.CALLEE <= cell(text) <= 30 * cost.CALLEE


def test_a_recursion_has_an_end() -> None:
    assert cell("double g(double x) { return x < 1.0 ? x : g(x - 1.0) + g(x - 2.0); }") < cost.MOST
