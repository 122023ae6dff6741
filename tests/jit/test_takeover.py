"""Arrays that a caller is done with become the native code's: no copy, and nothing lost when it fails."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacpy.interp.evaluator import Evaluator
from sacpy.interp.world import World
from sacpy.jit.cache import Cache
from sacpy.jit.failures import CheckFailed, Interrupted, NativeFailure, OutOfMemory
from sacpy.jit.host.native import Context, NativeFunction
from sacpy.jit.host.takeover import takes
from sacpy.jit.run.engine import Engine
from tests.interp.test_aliases_random import HELPERS, statements
from tests.interp.tools import HEAD
from tests.jit.graph_text import unit as parsed
from tests.jit.native_tools import compiled
from tests.tools import loaded

SET = """
function f(int n, double[n] a, int i, double v)
    bool ok = lt i, n
    check ok : i is an index of a
    double[n] b = update a[i] with v
    return n, b
"""
LATE = """
function f(int n, double[n] a, int i, double v)
    double[n] b = update a[0] with v
    bool ok = lt i, n
    check ok : i is an index of a
    return n, b
"""
ROUNDS = """
function f(int n, double[n] a, int i, double v)
    double[n] r = for k from 0 to n step 1 with double[n] b := a
        bool ok = lt i, n
        check ok : i is an index of a
        double[n] c = update b[k] with v
        next c
    return n, r
"""
UNUSED = """
function f(int n, double[n] a, int i, double v)
    bool ok = lt i, n
    check ok : i is an index of a
    return i
"""
CALLED = """
function f(int n, double[n] a, int i, double v)
    double[n] c = update a[0] with v
    int m, double[n] b = call g(n, c, i, v)
    return n, b
function g(int n, double[n] a, int i, double v)
    bool ok = lt i, n
    check ok : i is an index of a
    double[n] b = update a[i] with v
    return n, b
"""
SHORT = """
function f(int n, double[n] a, int m)
    double[n] b = update a[0] with 1.0
    double[m] c = with [m] disjoint complete
        genarray double default 2.0
        part [0] <= [i] < [m]
            double y = load b[0]
            yield y
    double x = load b[0]
    double[n] d = update b[1] with x
    return n, d, m, c
"""


@pytest.mark.parametrize(("text", "expected"), [(SET, (1,)), (LATE, ()), (ROUNDS, ()), (UNUSED, ()), (CALLED, ())])
def test_what_may_be_taken_is_used_behind_the_last_check(text: str, expected: tuple[int, ...]) -> None:
    assert takes(parsed(text), recursive=False) == expected


def test_units_that_recurse_take_nothing() -> None:
    assert takes(parsed(SET), recursive=True) == ()


@cache
def setter() -> NativeFunction:
    return compiled(parsed(SET))


def native_array(n: int) -> np.ndarray:
    """An array that native code has made."""
    found = setter().call((np.arange(float(n)), 0, 0.0))[-1]
    assert isinstance(found, np.ndarray)
    return found


def address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def giving(function: NativeFunction, *args: Any, given: bool = True) -> tuple[Any, ...]:
    assert function.giving is not None
    return function.giving(args, tuple(given and isinstance(a, np.ndarray) for a in args))


@pytest.mark.parametrize("n", [1, 2, 1000, 300_000])
def test_an_array_given_away_is_updated_where_it_is(n: int) -> None:
    array = native_array(n)
    place, copied = address(array), setter().context.copied
    for k in range(5):
        array = giving(setter(), array, n - 1, float(k))[-1]
        assert address(array) == place and array[n - 1] == k
    assert setter().context.copied == copied


def test_what_others_hold_is_copied() -> None:
    array = native_array(100)
    new = giving(setter(), array, 5, -1.0, given=False)[-1]
    assert array[5] == 5.0 and new[5] == -1.0
    plain = np.arange(100.0)  # memory of NumPy's
    assert giving(setter(), plain, 5, -1.0)[-1][5] == -1.0 and plain[5] == 5.0
    assert giving(setter(), native_array(100)[::2], 3, -1.0)[-1][3] == -1.0


def test_a_part_that_begins_elsewhere_is_copied() -> None:
    array = native_array(100)
    part = array[10:]
    assert giving(setter(), part, 0, -1.0)[-1][0] == -1.0
    assert array[10] == 10.0


def test_a_failed_check_leaves_it_as_it_was() -> None:
    array = native_array(100)
    for _ in range(3):
        with pytest.raises(CheckFailed) as caught:
            giving(setter(), array, 100, 7.0)
        assert not caught.value.spent
        assert (array == np.r_[0.0, np.arange(1.0, 100.0)]).all()
    assert giving(setter(), array, 99, 7.0)[-1][99] == 7.0


def test_one_that_memory_runs_out_on_is_spent() -> None:
    function = compiled(parsed(SHORT), context=Context(1, 1 << 20))
    array = native_array(1000)
    with pytest.raises(OutOfMemory) as caught:
        giving(function, array, 1 << 22)
    assert caught.value.spent
    assert giving(function, native_array(1000), 3)[1][0] == 1.0


@pytest.mark.parametrize(("failure", "error"), [(OutOfMemory(), Exception), (Interrupted(), KeyboardInterrupt)])
def test_what_is_spent_is_not_run_again(failure: NativeFailure, error: type[BaseException]) -> None:
    engine = Engine("cpu", cache=Cache(None))
    engine.raise_for(failure, 0.0)
    failure.spent = True
    with pytest.raises(error):
        engine.raise_for(failure, 0.0)


LARGE = [
    ("reshape([2, 2]", "reshape([2, 20]"),
    ("reshape([4]", "reshape([40]"),
    ("iota(4)", "iota(40)"),
    ("[5, 6, 7, 8]", "(iota(40) + 5)"),
    ("genarray([4]", "genarray([40]"),
]


def enlarged(text: str) -> str:
    """The same with vectors of 40 elements, which native code takes as arrays."""
    for old, new in LARGE:
        text = text.replace(old, new)
    return re.sub(
        r"= \[(\d), 2, (\d), 4\]",
        r"= iota(40) * \1 + \2",
        re.sub(r"\] = \[(\d), (\d)\]", r"] = iota(20) * \1 + \2", text),
    )


def out(text: str, engine: Engine | None) -> str:
    program = loaded(HEAD + text)
    world = World.captured()
    Evaluator(program, world, engine=engine, always_copy=engine is None).call(program.main_key(), ())
    return bytes(world.out() if callable(world.out) else world.out).decode("latin-1")


@settings(max_examples=15, deadline=None)
@given(st.lists(statements(), min_size=3, max_size=10))
def test_nothing_that_is_given_away_is_seen_again(body: list[str]) -> None:
    text = enlarged(
        HELPERS
        + "int main() { a = iota(4); b = a; c = [5, 6, 7, 8]; "
        + "\n".join(f"{s} print(a[0]);" for s in body)
        + " print(a); print(b); print(c); return 0; }"
    )
    assert out(text, Engine("cpu", eager=True, defects=True, cache=Cache(None))) == out(text, None)


LOOP = """
double[*] smoothed(double[*] a, int k) {
  m = shape(a)[1]; i = k * 7 % (shape(a)[0] - 2) + 1;
  for (j = 1; j < m - 1; j++) { a[i, j] = (a[i-1, j] + a[i+1, j] + a[i, j-1] + 1.0) * 0.25; }
  return a;
}
int main() { a = genarray([30, 40], 1.0); for (k = 0; k < 50; k++) { a = smoothed(a, k); print(a[k % 30, 5]);
  } print(sum(a)); return 0; }
"""


def test_a_loop_with_output_gives_its_array_from_call_to_call() -> None:
    engine = Engine("cpu", eager=True, defects=True, cache=Cache(None))
    assert out(LOOP, engine) == out(LOOP, None)
    (site,) = (s for s in engine.sites if s.key.startswith("_MAIN::smoothed/0"))
    (version,) = site.versions.values()
    assert version.giving is not None and version.calls >= 49
    assert engine.copied <= 30 * 40 * 8  # the first one's array is NumPy's
