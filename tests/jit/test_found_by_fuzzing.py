"""What random programs have found, each in the fewest words that show it: interpreted and compiled, strict and not, it
is the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.fuzz.devices import EMULATOR
from tests.fuzz.differential import QUICK_DEFAULT, QUICK_STRICT, WAYS, compare
from tests.fuzz.programs import HEAD, Case

INTS = np.arange(1, 4, dtype=np.int32)
DOUBLES = np.array([1.5, -2.0, 4.0])

FOUND: dict[str, tuple[str, tuple[Any, ...]]] = {
    "a small fold with a width that is not known": (
        "double run(double x, int[1] q) { return with { ([0] <= [i] < [3] step [4] width q) : x; } : fold(+, 0.0); }",
        (6.0, np.array([2], np.int32)),
    ),
    "a small genarray with a step that is not known": (
        "int[.] run(int[1] q) { return with { ([0] <= [i] < [5] step q) : i + 1; } : genarray([5]); }",
        (np.array([2], np.int32),),
    ),
    "a tile of vectors that stay in memory": (
        "double[n,m] run(double[n,k] a, double[k,m] b) { return { [i,j] -> sum(a[i] * transpose(b)[j]) | [i,j] < "
        "[n,m] }; }",
        (np.arange(35.0).reshape(5, 7), np.arange(21.0).reshape(7, 3)),
    ),
    "a sum of numbers of which one is NaN wherever it is computed": (
        "double[2] run(int n) { return with { ([0] <= iv < [n]) : atanh([4.9, -0.5]); } : fold(+, [1.0, 2.0]); }",
        (3,),
    ),
    "a fold on threads in code that is written twice": (
        "double run(int k, int l, int[3] n) { return with { ([0,0,4] <= iv < [2,2,4]) : 1.0; ([1,2,0] <= iv < n) : "
        "min(with { ([k] <= [i] < [l]) : -4.5; } : fold(*, 1.0), 3.2); } : fold(min, 1.0); }",
        (0, 4, np.array([1, 5, 2], np.int32)),
    ),
    "a scan without a round, its bounds outside of the vector": (
        "double[n] run(double[n] v, int k, int m) { for (i = k; i < m; i++) { v[i] = v[i - 1] - v[i]; } return v; }",
        (np.ones(9), 100_000, 1),
    ),
    "the remainder of a large number, whose periods were taken off one by one": (
        "int[n] run(int[n] v) { return { [i] -> 200000000 % ((v[i] & 7) + 1) + (i + 200000000) % ((v[i] & 3) + 5) | "
        "[i] < [n] }; }",
        (INTS,),
    ),
    "a product in order beside an extreme that may be regrouped": (
        "double run(double[n] v) { return minval(abs(v)) + prod(v); }",
        (1.0 + 0.01 * np.random.default_rng(1).uniform(0, 1, 300),),
    ),
}


def test_of_cells_that_cannot_be_computed_the_shape_is_not_known() -> None:
    text = (
        "int[*] run(int[2] q, int n) { return with { ([0,1] <= [i,j] < [1,1]) : (genarray([4], n))[4]; } : "
        "genarray(q); }"
    )
    outcome = compare(Case(0, HEAD + text, (("run", (INTS[:2], 1)),)), WAYS | QUICK_STRICT)
    assert "E0614" in str(outcome.expected)
    assert not outcome.different


@pytest.mark.parametrize(("text", "args"), FOUND.values(), ids=FOUND)
def test_compiled_is_interpreted(text: str, args: Sequence[Any]) -> None:
    outcome = compare(Case(0, HEAD + text, (("run", tuple(args)),)), WAYS | QUICK_STRICT | QUICK_DEFAULT)
    assert not outcome.refused_before
    assert not outcome.different, outcome.expected
    assert all(
        engine.entered() and all(site.versions for site in engine.entered()) for engine in outcome.engines.values()
    )


def test_an_index_outside_of_an_array_in_registers_in_a_branch_that_is_not_taken() -> None:
    text = (
        "int g(int a) { return a; } int g(int[.] a) { return sum(a); } int g(int[.,.] x) { return with { ([0] <= [i] < "
        "[shape(x)[0]]) : g(x[i]); } : fold(+, 0); } int[.,.] run(int[.,.] a, int[.] b, int n, int m) { return { [i,j] "
        "-> i <= j ? a[i,j] * b[i] : g({ [q] -> q + b[i] | [q] < [i+1] }) | [i,j] < [n,m] }; }"
    )
    matrix = np.arange(20, dtype=np.int32).reshape(4, 5)
    calls = tuple(("run", (matrix, INTS[[0, 1, 2, 0]], n, m)) for n, m in ((4, 5), (1, 1), (0, 5), (3, 0)))
    outcome = compare(Case(0, HEAD + text, calls), WAYS | EMULATOR)
    assert not outcome.refused_before
    assert not outcome.different, outcome.expected


def test_llvm_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """Loops that LLVM cannot vectorise are not asked to be: it would complain on standard error."""
    for body in (
        "v[at[i]]",
        "v[i] * v[at[i]]",
        "i < 5 ? v[i] : 0.5",
        "atanh(4.9)",
        "(0.0/0.0) * v[i]",
        "0.0/0.0 - v[i]",
    ):
        for operation in ("+", "max"):
            text = (
                f"double run(double[n] v, int[n] at) {{ return with {{ ([0] <= [i] < [n] step [at[1]]) : {body}; "
                f"([0] <= [i] < [n]) : {body}; }} : fold({operation}, 0.0); }}"
            )
            outcome = compare(Case(0, HEAD + text, (("run", (DOUBLES, INTS - 1)),)))
            assert not outcome.different and not outcome.refused_before
    assert capfd.readouterr().err == ""
