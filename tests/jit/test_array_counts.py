"""How many arrays programs ask for whose layout operations, concatenations and steps need none of their own: one line
each, on the CPU and on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.jit.circuit_tools import arrays, native
from tests.jit.test_circuits import SC, TABLE
from tests.jit.test_destinations import FUNCTIONS
from tests.jit.test_device_programs import Both
from tests.jit.test_in_place import CASES, PROGRAM, on_device, on_host

M = np.cos(np.arange(1000.0 * 1000)).reshape(1000, 1000)
# What is read of 10^6 elements in another order; with what that is in NumPy.
VIEWS: dict[str, tuple[str, Any]] = {
    "take": ("take([900, 1000], a)", M[:900]),
    "drop": ("drop([100, 0], a)", M[100:]),
    "reverse": ("reverse(1, a)", M[:, ::-1]),
    "transpose": ("transpose(a)", M.T),
    "a reshape whose axes join": ("reshape([500, 2000], a)", M.reshape(500, 2000)),
    "every third": ("{ [i,j] -> a[3 * i,j] | [i,j] < [333,1000] }", M[:999:3]),
    "all of them": ("reverse(transpose(drop([0, 10], reshape([2000, 500], a))))", M.reshape(2000, 500)[:, 10:].T[::-1]),
}
READ = """use Array: all;
double[.] f(double[n,m] a)
{
  b = %s;
  r = genarray([shape(b)[0]], 0.0);
  for (i = 0; i < shape(b)[0]; i++) { x = 0.0; for (j = 0; j < shape(b)[1]; j++) { x = 0.5 * x + b[i,j]; } r[i] = x; }
  return r;
}
"""


@pytest.mark.parametrize("name", VIEWS)
def test_a_million_elements_in_another_order_are_not_moved(name: str) -> None:
    text, b = VIEWS[name]
    f = native(READ % text, "f", (M,))
    found = f.call((M,))[-1]
    x = np.zeros(len(b))
    for column in b.T:
        x = 0.5 * x + column
    assert np.array_equal(found, x)
    assert f.context.allocations == 1  # the result


# Programs, by the table that they are in, with how many arrays they ask for on the CPU, whatever their extents.
COUNTS = {
    "sc(..) ++ sc(..)": 1,
    "three operands": 1,
    "reverse of each row": 1,
    "++ in each row": 1,
    "a[i] = sc(a[i])": 1,
    "Needleman and Wunsch": 1,
    "elimination": 1,
    "red and black": 1,
}


SOME = ("sc(..) ++ sc(..)", "++ in each row", "a[i] = sc(a[i])")


@pytest.mark.parametrize("name", [pytest.param(k, marks=[] if k in SOME else pytest.mark.long) for k in COUNTS])
def test_larger_extents_and_more_rounds_need_no_more(name: str) -> None:
    text, given, count, _ = TABLE[name]
    fewer = tuple(a[: max(1, len(a) // 2)].copy() if isinstance(a, np.ndarray) else a for a in given)
    assert count == COUNTS[name]
    for args in (given, fewer):
        assert arrays(SC + text, "f", *args) == count


@pytest.mark.parametrize("name", ["sc(..) ++ sc(..)", "three operands", "a[i] = sc(a[i])"])
def test_with_a_device_there_is_one_array_in_all(name: str) -> None:
    text, given, _, _ = TABLE[name]
    both = Both(SC.partition("\n")[2] + text)
    both.same("f", *given)
    start, moved = both.engine.tools.context.allocations, both.device.memory.transfers
    before = moved.allocated + moved.reused
    both.same("f", *given)
    assert both.engine.tools.context.allocations - start + moved.allocated + moved.reused - before == 1


STEPS = {  # on a device: what was sent, and what was made of it
    "elimination": ("eliminate", ((16, 16), (9, 9))),
    "red-black relaxation": ("redblack", ((3,), (7,))),
    "LU in blocks": ("blocked", ((4,), (2,))),
    "Needleman-Wunsch in blocks": ("skewed", ((7,), (5,))),
}


@pytest.mark.parametrize("name", [pytest.param(k, marks=[] if k == "elimination" else pytest.mark.long) for k in STEPS])
def test_no_step_makes_an_array_on_the_cpu_and_on_a_device(name: str) -> None:
    function, variants = STEPS[name]
    found = set()
    for v in variants:
        first, *rest = CASES[function]
        args = (first[: v[0], : v[1]].copy(),) if len(v) == 2 else (first[: v[0]].copy(),) if not rest else (first, *v)
        found.add((on_host(PROGRAM, function, *args), on_device(PROGRAM, function, *args) <= 2))
    assert found == {(1, True)}


def test_no_row_and_no_block_that_a_call_makes_of_itself_needs_an_array() -> None:
    text = """double[n,m] f(double[n,m] a, int rounds) { for (k = 0; k < rounds; k++) { for (i = 0; i < n; i++) {
      a[i] = fill(a[i], 3); a[i] = turned(a[i]); a[n - 1 - i] = doubled(a[n - 1 - i], 2); } } return a; }"""
    found = {arrays(FUNCTIONS + text, "f", M[:n, :9].copy(), rounds) for n, rounds in ((3, 2), (12, 2), (12, 6))}
    assert found == {2}
