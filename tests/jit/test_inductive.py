"""What holds in all rounds of loops by induction: checks that follow from it go, others stay."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from sacpy.jit.ir.graph import Unit
from sacpy.jit.ir.graph_printer import print_unit
from sacpy.jit.passes.ranges import run
from tests.jit.graph_text import unit
from tests.jit.pass_tools import after, outcome

SEARCH = """
function f(int n, double[n] x, double v, int a)
    int l, int h = loop int lo := {low}, int hi := {high}
        while
            bool c = {condition}
            test c
        round
            int s = add lo, hi
            int mid = div s, {divisor}
            bool k1 = le 0, mid
            check k1 : low
            bool k2 = lt mid, n
            check k2 : high
            double e = load x[mid]
            bool t = lt e, v
            int up = add mid, {past}
            int lo2 = select t, up, lo
            int hi2 = select t, hi, mid
            next lo2, hi2
    bool b1 = le l, n
    check b1 : behind
    return l, h
"""
PLAIN = {"low": "0", "high": "n", "condition": "lt lo, hi", "divisor": "2", "past": "1"}


def searched(**changed: str) -> str:
    return after(run, SEARCH.format(**{**PLAIN, **changed}))


def test_a_binary_search_has_no_checks() -> None:
    found = searched()
    assert "check" not in found and "add! lo, hi" in found


CHANGES = [
    pytest.param({"low": "-1"}, {"low", "high"}, id="it may begin below"),
    pytest.param({"low": "a"}, {"low", "high", "behind"}, id="it may begin anywhere"),
    pytest.param({"high": "a"}, {"low", "high", "behind"}, id="it may end anywhere"),
    pytest.param({"condition": "le lo, hi"}, {"high"}, id="it may be the end itself"),
    pytest.param({"divisor": "1"}, {"low", "high", "behind"}, id="what is looked at may be the sum"),
    pytest.param({"past": "2"}, {"behind"}, id="it may go past the end"),
    pytest.param({"past": "-1"}, {"low", "high"}, id="it may go below"),
]


@pytest.mark.parametrize(("changed", "kept"), CHANGES)
def test_checks_that_do_not_follow_stay(changed: dict[str, str], kept: set[str]) -> None:
    found = searched(**changed)
    assert {word for word in ("low", "high", "behind") if f": {word}" in found} == kept


@pytest.mark.parametrize("changed", [{}, {"low": "a"}, {"high": "a"}, {"past": "2"}])
def test_a_search_gives_what_it_gave(changed: dict[str, str]) -> None:
    before = unit(SEARCH.format(**{**PLAIN, **changed}))
    now = run(before)
    for n in range(5):
        for v in (-1.0, 0.5, 2.5, 9.0):
            for a in (-2, 0, 1, 7):
                args = (np.arange(n) * 1.0, v, a)
                assert outcome(now, args) == outcome(before, args)


def random_loop(random: Random) -> str:
    """A loop that carries two ints, which it sets in one of a few ways, with a check in front of each load."""
    ints, lines = ["i", "j", "n", "a", "0", "1"], []

    def some() -> str:
        return random.choice(ints)

    def comparison() -> str:
        return f"{random.choice(['lt', 'le'])} {some()}, {some()}"

    for k in range(random.randrange(1, 4)):
        code = random.choice(["add {}, {}", "sub {}, {}", "add {}, 1", "add {}, -1", "div {}, 2", "min {}, {}"])
        lines.append(f"int v{k} = {code.format(*random.choices(ints, k=2))}")
        ints.append(f"v{k}")
    for k in range(random.randrange(1, 4)):
        lines += [f"bool k{k} = {comparison()}", f"check k{k} : c{k}"]
    lines.append(f"bool t = {comparison()}")
    if random.random() < 0.5:
        lines += [f"int p = select t, {some()}, {some()}", f"int q = select t, {some()}, {some()}"]
    else:
        then, other = f"int d1 = add {some()}, 1", f"bool r = {comparison()}"
        lines += ["int p, int q = if t", f"    {then}", f"    give d1, {some()}"]
        lines += ["else", f"    {other}", "    check r : in branch", f"    give {some()}, {some()}"]
    steps = [random.choice([x, f"add {x}, {random.choice([-1, 1])}"]) for x in ("p", "q")]
    lines += [f"int {x}2 = {s if ' ' in s else f'add {s}, 0'}" for x, s in zip("pq", steps)]
    lines += ["int left = sub fuel, 1", "next p2, q2, left"]
    first = [random.choice(["0", "1", "n", "a", "m"]) for _ in "ij"]
    if random.random() < 0.5:
        head = f"for k from {random.choice(['0', 'a'])} to {random.choice(['n', '9'])} step 1 with"
        ints.append("k")
        inner, opened = "        ", []
    else:
        head, inner = "loop", "            "
        opened = ["while", f"    bool c1 = {random.choice(['lt i, j', 'lt i, n', 'le 0, j', 'le i, j', 'neq i, j'])}"]
        opened += ["    bool c2 = lt 0, fuel", "    bool c = and c1, c2", "    test c", "round"]
    body = "\n".join([*(f"        {x}" for x in opened), *(f"{inner}{x}" for x in lines)])
    return f"""
function f(int n, double[n] x, int a)
    int m = sub n, 1
    int g, int h, int o = {head} int i := {first[0]}, int j := {first[1]}, int fuel := 6
{body}
    bool z = {random.choice(["le", "lt"])} {random.choice(["g, n", "0, h", "g, h"])}
    check z : behind
    return g, h
"""


def test_random_loops_fail_where_they_did_and_give_the_same() -> None:
    gone = 0
    for seed in (*range(200), 1162):  # that last one: names of copies that are those of others
        before = unit(random_loop(Random(seed)))
        now = run(before)
        gone += count(before) - count(now)
        for n in range(4):
            for a in (-3, 0, 2, 2147483647):
                args = (np.arange(n) * 1.0, a)
                assert outcome(now, args) == outcome(before, args), seed
    assert gone > 100


def count(u: Unit) -> int:
    return print_unit(u).count("check ")


FILLED = """
function f(int n, double[n] x, int a)
    int g, double[n] r = for k from 0 to a step 1 with int i := 0, double[n] s := x
        bool q = le i, n
        check q : high
        bool t = {until}
        int i2, double[n] s2 = if t
            double[n] u = update s[i] with 1.0
            int d = add i, 1
            give d, u
        else
            give i, s
        next i2, s2
    return g, r
"""


@pytest.mark.parametrize(("until", "kept"), [("lt i, n", False), ("le i, n", True), ("neq i, n", False)])
def test_what_branches_make_of_an_int_is_looked_at_under_their_condition(until: str, kept: bool) -> None:
    assert (": high" in after(run, FILLED.format(until=until))) == kept
