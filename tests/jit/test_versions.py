"""What arrays become in blocks: which results they are, what is read and written of them; and where that is not
known."""

from __future__ import annotations

import pytest

from sacpy.jit.analysis.versions import follow, handed_on
from sacpy.jit.ir.graph import For, Let, Loop
from tests.jit.graph_text import unit

TEXT = """
function f(int n, int k, bool c, double x, double[n] a, double[n] b)
    {code}
    return n, {results}
"""
BRANCH = """double[n] u = if c
        double[n] v = update a[k] with x
        give {then}
    else
        double y = load a[0]
        give {otherwise}"""
ROUNDS = """double[n] u = for i from 0 to n step 1 with double[n] t := {start}
        double y = load {read}[i]
        double[n] v = update t[i] with y
        next {next}"""


@pytest.mark.parametrize(
    ("code", "results", "expected"),
    [
        ("double[n] u = update a[k] with x", "n, u, n, b", ["a", "b"]),
        ("double[n] u = update a[k] with x", "n, b, n, u", ["b", "a"]),
        ("double[n] u = update a[k] with x", "n, a, n, u", None),  # both versions
        ("double[n] u = update a[k] with x\n    double y = load a[0]", "n, u", None),
        ("double y = load a[0]\n    double[n] u = update a[k] with y", "n, u", ["a"]),
        ("double[n] u = a", "n, u", ["a"]),
        ("double[n] u = a\n    double y = load a[0]", "n, u", None),
        ("double[n] u = reshape a to [n]", "n, u", None),
        (BRANCH.format(then="v", otherwise="a"), "n, u", ["a"]),
        (BRANCH.format(then="v", otherwise="b"), "n, u", None),
        (BRANCH.format(then="b", otherwise="b"), "n, a", None),  # one branch has changed it
        (ROUNDS.format(start="a", read="t", next="v"), "n, u", ["a"]),
        (ROUNDS.format(start="a", read="b", next="v"), "n, u, n, b", ["a", "b"]),
        (ROUNDS.format(start="a", read="a", next="v"), "n, u", None),
        (ROUNDS.format(start="a", read="t", next="b"), "n, u", None),
    ],
)
def test_results_are_versions_of_arrays(code: str, results: str, expected: list[str] | None) -> None:
    body = unit(TEXT.format(code=code, results=results)).root.body
    found = follow(body, ("a", "b"))
    arrays = None if found is None else [array for array in found.results if array is not None]
    assert arrays == expected


def test_uses_are_in_the_order_of_the_text() -> None:
    code = "double y = load a[k]\n    double[n] u = update a[0] with y\n    double z = load u[k]"
    found = follow(unit(TEXT.format(code=code, results="n, u")).root.body, ("a",))
    assert found is not None and found.now == {"a": "u"}
    assert [(u.array, u.update is not None) for u in found.uses] == [("a", False), ("a", True), ("a", False)]


WHILE = """
function f(int n, double[n] a, double[n] b)
    double[n] r, double[n] s = loop double[n] u := a, double[n] v := b
    while
        double y = load u[0]
        {test}
        bool c = lt y, 1.0
        test c
    round
        double[n] w = update {updated}[0] with 1.0
        next {next}
    return n, r, n, s
"""


@pytest.mark.parametrize(
    ("test", "updated", "following", "expected"),
    [
        ("double z = load u[1]", "u", "w, v", [True, True]),
        ("double z = load u[1]", "u", "v, w", [False, False]),
        ("double[n] z = update u[1] with 2.0", "v", "u, w", [False, True]),
    ],
)
def test_carried_arrays_that_stay_in_one_place(test: str, updated: str, following: str, expected: list[bool]) -> None:
    (s,) = unit(WHILE.format(test=test, updated=updated, next=following)).root.body.statements
    assert isinstance(s, Let) and isinstance(s.rhs, Loop | For)
    assert [handed_on(s.rhs, k) for k in range(2)] == expected
