"""Extents that two of do not add up to an int: compiled anew for these, as soon as one turns up."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.interp.evaluator import Evaluator
from sacpy.interp.world import World
from sacpy.jit.cache import Cache
from sacpy.jit.kinds import LARGEST, WIDEST, is_wide
from sacpy.jit.run.engine import Engine
from sacpy.workspace import Workspace

PROGRAM = """
use Array: all;
int total(int n) { return sum(iota(n)); }
int written() { return sum(iota(2000000000)); }
int joined(int n, int m) { return sum(iota(n) ++ iota(m)); }
int around(int n, int i) { v = { [j] -> (j + n - 1) % n | [j] < [n] }; return v[i]; }
int rounds(int n) { s = 0; for (i = 0; i < n; i++) { s = s + sum(iota(n * i)); } return s; }
int length(char[.] v) { return shape(v)[0] + toi(v[shape(v) - 1]); }
"""


def call(name: str, *args: object) -> tuple[object, Engine]:
    """What a compiled call gives, and the engine that ran it."""
    program, _ = Workspace().load_text(PROGRAM)
    engine = Engine("cpu", cache=Cache(None), defects=True, eager=True)
    evaluator = Evaluator(program, World.captured(), engine=engine)
    (result,) = evaluator.call(program.key(program.main.own(name)[0], ()), args)
    return result, engine


def is_native(engine: Engine, name: str) -> bool:
    """Whether the only call was one of a version for huge extents."""
    (site,) = [s for s in engine.sites if s.key.startswith(f"_MAIN::{name}/")]
    return not site.calls and [v.calls for v in site.versions.values() if is_wide(v.kind)] == [1]


def as_int(n: int) -> int:
    """What an int makes of a number."""
    return (n + 2**31) % 2**32 - 2**31


def sum_of(n: int) -> int:
    return n * (n - 1) // 2


@pytest.mark.parametrize("n", [LARGEST + 1, 2_000_000_000, WIDEST])
def test_a_sum_over_more_indices_than_usual_is_compiled(n: int) -> None:
    found, engine = call("total", n)
    assert found == as_int(sum_of(n))
    assert is_native(engine, "total")


def test_usual_extents_do_not_pay_for_that() -> None:
    found, engine = call("total", LARGEST)
    assert found == as_int(sum_of(LARGEST))
    assert not is_native(engine, "total")


def test_an_extent_that_stands_in_the_program_is_compiled_at_once() -> None:
    found, engine = call("written")
    assert found == as_int(sum_of(2_000_000_000))
    (site,) = [s for s in engine.sites if "written" in s.key]
    assert [(v.calls, v.failed) for v in site.versions.values()] == [(1, 0)]


def test_extents_that_add_up_to_a_huge_one() -> None:
    found, engine = call("joined", 1_000_000_000, 100_000_000)
    assert found == as_int(sum_of(1_000_000_000) + sum_of(100_000_000))
    assert is_native(engine, "joined")


@pytest.mark.parametrize("i", [0, 1, 500_000_000, 1_999_999_999])
def test_sums_of_indices_wrap_as_interpreted(i: int) -> None:
    n = 2_000_000_000
    total = as_int(i + n - 1)
    found, engine = call("around", n, i)
    assert found == int(np.fmod(total, n))
    assert is_native(engine, "around")


def test_a_loop_in_which_they_turn_up() -> None:
    n = 600_000_000
    found, _ = call("rounds", 3)
    assert found == sum_of(3) + sum_of(6)
    program, _ = Workspace().load_text(PROGRAM.replace("i < n", "i < 4"))
    engine = Engine("cpu", cache=Cache(None), defects=True, eager=True)
    evaluator = Evaluator(program, World.captured(), engine=engine)
    assert evaluator.call("_MAIN::rounds/0", (n,)) == (as_int(sum(sum_of(n * i) for i in range(4))),)


def test_an_argument_with_a_huge_axis() -> None:
    given = np.zeros(LARGEST + 10, np.uint8)  # pages that nobody writes take no memory
    found, engine = call("length", given)
    assert found == LARGEST + 10
    assert is_native(engine, "length")
