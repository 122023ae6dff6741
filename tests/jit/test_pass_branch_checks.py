"""Checks of branches are made in front of the condition, where both branches then are the same, on printed graphs; the
results are the same, and what fails fails."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import numpy as np
import pytest

from sacpy import SacError, Session
from sacpy.jit.failures import CheckFailed
from sacpy.jit.options import Options
from sacpy.jit.passes import branch_checks
from tests.jit.graph_text import unit
from tests.jit.native_tools import agree_on, compiled
from tests.jit.pass_tools import after, assert_keeps_meaning, outcome, unchanged

MERGE = """
function f(int n, int[n] a, int m, int[m] b, int[n] r)
    int[n] r.2, int i.1, int j.1 = for k from 0 to n step 1 with int[n] r.1 := r, int i := 0, int j := 0
        int i.2 = add i, 1
        int j.2 = add j, 1
        bool p = lt i, n
        bool q = lt j, m
        int x = load a[k]
        bool c = lt x, 3
        int[n] r.3, int i.3, int j.3 = if c
            {first}
            int y = load a[i]
            int[n] u = update r.1[k] with y
            give u, i.2, j
        else
            {second}
            int z = load b[j]
            int[n] v = update r.1[k] with z
            give v, i, j.2
        next r.3, i.3, j.3
    return n, r.2, i.1, j.1
"""
P, Q, NOTHING = "check p : it is there", "check q : it is there", "int w{} = add i, j"


def merge(first: str = P, second: str = Q) -> str:
    return MERGE.format(first=first.format(1), second=second.format(2))


@pytest.mark.parametrize(
    ("first", "second", "chosen"),
    [(P, Q, ["select c, p, q"]), (P, NOTHING, ["select c, p, true"]), (NOTHING, Q, ["select c, true, q"]),
     (f"{P}\n            {Q}", Q, ["select c, p, q", "select c, q, true"])],
)  # fmt: skip
def test_a_check_is_that_of_the_branch_that_is_taken(first: str, second: str, chosen: list[str]) -> None:
    text = after(branch_checks.run, merge(first, second))
    assert text.count("select c") == len(chosen) == text.count("check ok")
    assert all(c in text for c in chosen)
    assert text.count("check") == len(chosen)
    assert text.index("check") < text.index("if c"), "in front of the condition"


@pytest.mark.parametrize("changed", [True, False])
def test_results_are_the_same_and_what_fails_fails(changed: bool) -> None:
    rng = np.random.default_rng(2)
    inputs = [
        (rng.integers(0, 6, n).astype(np.int32), rng.integers(0, 9, m).astype(np.int32), np.zeros(n, np.int32))
        for n, m in ((0, 0), (1, 1), (6, 6), (6, 2), (20, 20), (20, 3))
    ]
    u = unit(merge(P, f"{Q}\n            {P}" if changed else Q))
    outcomes = [outcome(u, args) for args in inputs]
    assert outcomes == [outcome(branch_checks.run(u), args) for args in inputs]
    assert None in outcomes and any(outcomes)
    fine = [args for args, found in zip(inputs, outcomes) if found is not None]
    agree_on(branch_checks.run(u), fine)
    native = compiled(branch_checks.run(u), Options())
    for args in inputs:
        if not any(args is a for a in fine):
            with pytest.raises(CheckFailed):
                native.call(args)


@pytest.mark.parametrize(
    "text",
    [
        merge(NOTHING, NOTHING),
        merge().replace("int z = load b[j]", "int z = add j, 1"),  # a load here, none there
        merge().replace("update r.1[k] with z", "update r.1[i] with z"),
        merge(P, f"bool s = lt i, m\n            {Q.replace('q', 's')}"),  # what it checks is computed behind
        merge(P, "\n            ".join([Q, *(f"int w{k} = add i, {k}" for k in range(12))])),
    ],
)
def test_others_stay(text: str) -> None:
    unchanged(branch_checks.run, text)


def test_random_units_keep_their_meaning() -> None:
    assert_keeps_meaning(branch_checks.run, range(600, 660))


CHOICE = """
    bool p = lt i, n
    int r = if c
        check p : it is there
        int y = load a[i]
        give y
    else
        int z = load a[0]
        give z
"""
CELLS = """
    int s = for k from 0 to n step 1 with int t := 0
        int[n] w = with [n] disjoint complete
            genarray int default 0
            part [0] <= [i] < [n]
{choice}
                yield r
        int v = load w[k]
        next v
    return s
"""


def test_only_in_loops_in_order() -> None:
    unchanged(branch_checks.run, f"function f(int n, int[n] a, int i, bool c)\n{CHOICE.strip(chr(10))}\n    return r")
    cells = CELLS.format(choice=indent(CHOICE.strip("\n"), 12 * " "))
    unchanged(branch_checks.run, f"function f(int n, int[n] a, bool c)\n{cells.strip(chr(10))}")


SAC = """
use Array: all;
int[.] merged(int[n] a, int[m] b, int most)
{
  r = genarray([most], 0);
  i = 0;
  j = 0;
  for (k = 0; k < most; k++) {
    if (j >= m || (i < n && a[i] <= b[j])) {
      r[k] = a[i];
      i++;
    } else {
      r[k] = b[j];
      j++;
    }
  }
  return r;
}
"""


def test_a_merge(tmp_path: Path) -> None:
    (tmp_path / "merge.sac").write_text(SAC)
    native, meant = (Session(target=t).load(tmp_path / "merge.sac") for t in ("cpu", "interp"))
    rng = np.random.default_rng(8)
    for n, m in ((0, 0), (1, 0), (0, 1), (7, 12), (50, 3)):
        a, b = (np.sort(rng.integers(-20, 20, k)).astype(np.int32) for k in (n, m))
        np.testing.assert_array_equal(native.merged(a, b, n + m), np.sort(np.concatenate([a, b])))
        with pytest.raises(SacError) as found:
            native.merged(a, b, n + m + 1)
        with pytest.raises(SacError) as wanted:
            meant.merged(a, b, n + m + 1)
        assert str(found.value) == str(wanted.value)
