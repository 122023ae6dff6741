"""With-loops that share the cells of an array, on printed graphs."""

from __future__ import annotations

import pytest

from sacpy.jit.passes.sharing import run
from tests.jit.pass_tools import assert_keeps_meaning, check, unchanged

PAIR = """
function f(int n, int m, double[n] x, double[n] u, double[n] v)
    double[n,2] w = with [n]
        genarray double cell [2] default 0.0
        part [0] <= [i] < [n]
            double a = load x[i]
            double b = {work} a
            double c = mul b, b
            double d = mul c, b
            double[2] r = array double[2] of c, d
            yield r
    double[n] y = with [n]
        modarray u
        part [1] <= [j] < [n]
            double e = load w[j,0]
            double g = load {read}[0]
            double h = mul e, g
            yield h
    {between}
    double[n] z = with [n]
        modarray v
        part [{lower}] <= [k] < [n]
            double o = load w[{at},1]
            yield o
    return n, y, n, z
"""
PLAIN = {"work": "exp", "read": "x", "between": "double t = load x[0]", "lower": "1", "at": "k"}


def test_with_loops_that_load_the_same_cells_become_one() -> None:
    check(
        run,
        PAIR.format(**PLAIN),
        """
        function f(int n, int m, double[n] x, double[n] u, double[n] v)
            double[n,2] w = with [n]
                genarray double cell [2] default 0.0
                part [0] <= [i] < [n]
                    double a = load x[i]
                    double b = exp a
                    double c = mul b, b
                    double d = mul c, b
                    double[2] r = array double[2] of c, d
                    yield r
            double t = load x[0]
            double[n] y, double[n] z = with [n]
                modarray u
                modarray v
                part [1] <= [j] < [n]
                    double e = load w[j,0]
                    double g = load x[0]
                    double h = mul e, g
                    double o = load w[j,1]
                    yield h, o
            return n, y, n, z
        """,
    )


@pytest.mark.parametrize(
    ("part", "text"),
    [
        pytest.param("work", "neg", id="the work is little"),
        pytest.param("read", "v", id="the first reads what the second replaces"),
        pytest.param("lower", "2", id="their bounds differ"),
        pytest.param("at", "0", id="they load different cells"),
        pytest.param("between", "double[n] t = view w[0]", id="something else needs the array"),
        pytest.param(
            "between",
            "double[n] t = with [n]\n        modarray x\n        part [2] <= [q] < [n]\n            yield 0.0",
            id="what the first reads is replaced in between",
        ),
    ],
)
def test_others_stay(part: str, text: str) -> None:
    whole = PAIR.format(**{**PLAIN, part: text}).replace("double[n] t = view", "double[2] t = view")
    if part == "work":
        whole = (
            whole.replace("mul b, b", "neg b")
            .replace("mul c, b", "neg b")
            .replace("double[2] of c, d", "double[2] of b, b")
        )
        whole = "\n".join(line for line in whole.splitlines() if " neg b" not in line)
    unchanged(run, whole)


def test_it_keeps_the_meaning() -> None:
    assert assert_keeps_meaning(run, range(40)) > 20
