"""What is known of ints that rounds of a loop add numbers to."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.analysis.carried_ints import changes
from sacpy.jit.ir.graph import For, Unit
from sacpy.jit.ir.rewrite import rights
from sacpy.jit.passes.ranges import run
from tests.jit.graph_evaluator import evaluate
from tests.jit.graph_text import unit
from tests.jit.pass_tools import after

KEPT = """
function f(int n, int m, double[n] x, int b)
    int first = {first}
    int last = sub n, 1
    double[n] z = with [n]
        genarray double default 0.0
    int j, double[n] r, int o = for k from {bounds} with int i := first, double[n] s := z, int h := 5
        double e = load x[k]
        bool p = lt e, 0.5
        int a, double[n] t = if p
            {checks}
            double[n] u = update s[i] with e
            int c = {step}
            give c, u
        else
            {otherwise}
            give {same}, s
        next {next}
    bool l1 = {behind}
    check l1 : behind
    return j, n, r, o
"""
PLAIN = {
    "first": "add 0, 0",
    "bounds": "0 to n step 1",
    "checks": "\n            ".join(("bool q1 = le 0, i", "check q1 : low", "bool q2 = lt i, n", "check q2 : high")),
    "step": "add i, 1",
    "otherwise": "int d = add 1, 2",
    "same": "i",
    "next": "a, t, h",
    "behind": "le j, n",
}


GROWING = {"otherwise": "int d = add i, 1", "same": "d"}


def only(check: str) -> dict[str, str]:
    return {"checks": f"bool q1 = {check}\n            check q1 : one"}


def kept(**changed: str) -> str:
    return after(run, KEPT.format(**{**PLAIN, **changed}))


def test_a_count_is_an_index_in_each_round_and_an_extent_behind_the_loop() -> None:
    found = kept()
    assert "check" not in found and "add! i, 1" in found


def test_an_index_from_the_end() -> None:
    found = kept(first="sub n, 1", step="add i, -1", behind="le -1, j")
    assert "check" not in found


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"step": "add i, 2"}, id="it goes faster than the counter"),
        pytest.param({"step": "add i, -1"}, id="it goes below its first value"),
        pytest.param({"first": "add b, 0"}, id="it begins anywhere"),
        pytest.param({"first": "add 2147483000, 0"}, id="it may wrap"),
        pytest.param({"first": "add -2147483000, 0", "step": "add i, -1", **only("le i, 5")}, id="it may wrap below"),
        pytest.param(
            {"bounds": "0 to n step 2", **GROWING, **only("le k, i")}, id="the counter goes two steps at once"
        ),
        pytest.param({"bounds": "last to -1 step -1", **only("le i, 0")}, id="the counter goes down"),
        pytest.param({"step": "select p, h, i", "next": "a, t, a"}, id="it may be another one's value"),
        pytest.param({"step": "add i, b"}, id="it grows by anything"),
        pytest.param({"next": "h, t, a"}, id="another one takes its place"),
        pytest.param({"same": "d"}, id="it is set in a branch"),
        pytest.param({"otherwise": "int d = mul i, 2", "same": "d"}, id="it is doubled in a branch"),
        pytest.param(
            {
                "otherwise": "int d = for l from 0 to m step 1 with int w := i\n"
                "                int w2 = add w, 1\n                next w2",
                "same": "d",
            },
            id="a loop adds to it in a branch",
        ),
    ],
)
def test_checks_of_others_stay(changed: dict[str, str]) -> None:
    assert "check q" in kept(**changed)


def test_rounds_of_a_counter_that_goes_down() -> None:
    assert "check" not in kept(bounds="last to -1 step -1")


@pytest.mark.parametrize(
    ("changed", "stays"),
    [
        ({"behind": "le 0, j", "bounds": "0 to b step 1"}, False),
        ({"behind": "le j, b", "bounds": "0 to b step 1"}, True),  # b may be negative
        ({"behind": "le 0, j", "bounds": "0 to b step 1", **GROWING}, False),
        ({"behind": "le 1, j", "bounds": "0 to b step 1", **GROWING}, True),
        ({"behind": "lt j, n"}, True),
        ({"behind": "le 1, j"}, True),
        ({"behind": "le j, 0", "step": "add i, -1", "checks": "bool q1 = le 0, m"}, False),
    ],
)
def test_behind_the_loop(changed: dict[str, str], stays: bool) -> None:
    assert ("check l1" in kept(**changed)) == stays


def test_a_loop_with_steps_says_nothing_of_rounds() -> None:
    assert "check q" in kept(bounds="0 to n step 2", step="add i, 2")


def change(text: str) -> tuple[int, int] | None:
    """Of `i`, by a body that ends with its next value, `z`."""
    body = "\n".join(f"        {line}" for line in text.splitlines())
    u: Unit = unit(f"""
function f(int n, bool c)
    int j = for k from 0 to n step 1 with int i := 0
{body}
        next z
    return j
""")
    (loop,) = rights(u.root.body, For)
    return changes(loop).get("i")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int z = add i, 0", (0, 0)),
        ("int a = add i, 3\nint z = add a, -5", (-2, -2)),
        ("int a = add i, 7\nint b = add i, -2\nint z = select c, a, b", (-2, 7)),
        ("int a = add i, 7\nint z = select c, a, k", None),
        ("int z = if c\n    int a = add i, 4\n    give a\nelse\n    give i", (0, 4)),
        ("int z = sub 3, i", None),
        ("int z = add k, 1", None),
        ("int z = max i, 3", None),
    ],
)
def test_changes(text: str, expected: tuple[int, int] | None) -> None:
    assert change(text) == expected


@pytest.mark.parametrize("n", [0, 1, 6])
def test_the_meaning_stays(n: int) -> None:
    x = (np.arange(n) * 7 % 4) / 4.0
    before = unit(KEPT.format(**PLAIN))
    for expected, found in zip(evaluate(before, [n, x, 3]), evaluate(run(before), [n, x, 3])):
        assert np.array_equal(np.asarray(expected), np.asarray(found))
