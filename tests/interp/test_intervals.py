"""What integers an expression can be: no interval leaves out a value, and the code that relies on them gives what C
gives, at the ends of the types too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacpy.interp.arithmetic import HELPERS, limits, wrap
from sacpy.interp.emitter import Generated
from sacpy.interp.errors import Fault
from sacpy.interp.evaluator import Evaluator
from sacpy.interp.intervals import INT, Interval, result, within
from sacpy.interp.scalar_text import scalar
from sacpy.interp.world import World
from sacpy.lang.diagnostics import SacError
from tests.interp.tools import HEAD
from tests.tools import loaded

OPERATIONS = ("add", "sub", "mul", "div", "mod", "aplmod", "min", "max", "bitand", "shl", "shr", "neg", "abs")
CONVERSIONS = ("tob", "toub", "toi")
LEAST, MOST = limits("byte")
NEAR = sorted({LEAST, LEAST + 1, LEAST + 2, -9, -3, -2, -1, 0, 1, 2, 3, 7, 8, 9, MOST - 2, MOST - 1, MOST})


def spans() -> st.SearchStrategy[Interval]:
    """Intervals with ends where something may happen."""
    return st.tuples(st.sampled_from(NEAR), st.sampled_from(NEAR)).map(lambda ends: (min(ends), max(ends)))


def evaluated(text: str, values: tuple[int, ...]) -> Any:
    """What a text gives; the name of a fault."""
    try:
        return eval(text, dict(HELPERS), dict(zip("ab", values, strict=False)))
    except Fault as fault:
        return fault.code


def members(spans: tuple[Interval, ...]) -> Iterator[tuple[int, ...]]:
    """Values of each interval: its ends, and those between of which something may come."""
    first, *rest = spans
    for value in (v for v in NEAR if first[0] <= v <= first[1]):
        for others in members(tuple(rest)) if rest else [()]:
            yield (value, *others)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(OPERATIONS + CONVERSIONS), spans(), spans())
def test_with_intervals_the_code_gives_what_it_gives_without(op: str, a: Interval, b: Interval) -> None:
    ranges = (a,) if op in ("neg", "abs", *CONVERSIONS) else (a, b)
    names = list("ab"[: len(ranges)])
    plain, relying = scalar(op, "byte", names), scalar(op, "byte", names, ranges)
    assert plain is not None and relying is not None
    found = None if op in CONVERSIONS else result(op, ranges)
    for values in members(ranges):
        expected = evaluated(plain, values)
        assert evaluated(relying, values) == expected, (plain, relying, values)
        if found is not None and within(found, limits("byte")) and isinstance(expected, int):
            assert found[0] <= expected <= found[1], (op, ranges, values)


def called(text: str, name: str, *args: int) -> Any:
    """What a function gives, interpreted."""
    program = loaded(HEAD + text + " int main() { return 0; }")
    (found,) = Evaluator(program, World.captured()).call(program.key(program.main.own(name)[0], ()), args)
    return found


V = np.arange(5, dtype=np.int32)
EDGES = [INT[0], INT[0] + 1, INT[0] + 5, -6, -5, -1, 0, 1, 4, 5, 6, INT[1] - 5, INT[1] - 1, INT[1]]
TESTS = {
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
}
STEPS = {"+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y}


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(sorted(TESTS)),
    st.sampled_from(sorted(TESTS)),
    st.sampled_from(["&&", "||"]),
    st.booleans(),
    st.sampled_from(sorted(STEPS)),
    st.sampled_from(EDGES),
    st.sampled_from(EDGES),
)
def test_what_a_condition_says_holds_in_its_branches_only(
    first: str, second: str, joined: str, negated: bool, step: str, bound: int, by: int
) -> None:
    condition = f"(n {first} {bound}) {joined} (m {second} n)"
    text = (
        f"int f(int n, int m) {{ if ({f'!({condition})' if negated else condition}) {{ r = n {step} {by}; }} "
        f"else {{ r = {by} {step} m; }} return r {step} n; }}"
    )
    program = loaded(HEAD + text + " int main() { return 0; }")
    key = program.key(program.main.own("f")[0], ())
    evaluator = Evaluator(program, World.captured())
    for n in EDGES:
        for m in (INT[0], n, INT[1]):
            both = TESTS[first](n, bound), TESTS[second](m, n)
            holds = (all(both) if joined == "&&" else any(both)) != negated
            inner = wrap(STEPS[step](n, by) if holds else STEPS[step](by, m), "int")
            assert evaluator.call(key, (n, m)) == (wrap(STEPS[step](inner, n), "int"),), (text, n, m)


@pytest.mark.parametrize(
    ("head", "update"),
    [
        ("for (i = a; i < b; i++)", "i + 1"),
        ("for (i = a; i <= b; i = i + 1)", "i + 1"),
        ("for (i = b; i > a; i--)", "i - 1"),
        ("for (i = b; i >= a; i = i - 1)", "i - 1"),
    ],
)
def test_counters_near_the_ends_of_int_wrap_as_in_c(head: str, update: str) -> None:
    text = f"int f(int a, int b) {{ s = 0; {head} {{ s = s * 31 + ({update}); }} return s; }}"
    test, step = head.split()[5], 1 if "+" in update else -1
    for a, b in ((INT[1] - 3, INT[1] - 1), (INT[0] + 1, INT[0] + 3), (-2, 2), (3, 1)):
        expected, i = 0, a if step > 0 else b
        while TESTS[test](i, b if step > 0 else a):
            expected, i = wrap(expected * 31 + i + step, "int"), i + step
        assert called(text, "f", a, b) == expected


def sources(text: str, name: str, *args: Any) -> str:
    """The Python texts that a function and those that it calls become."""
    program = loaded(HEAD + text + " int main() { return 0; }")
    evaluator = Evaluator(program, World.captured())
    kept: list[str] = []
    load = evaluator._load

    def noted(generate: Callable[[], Generated]) -> Generated:
        kept.append((made := generate()).source)
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            evaluator, "_load", lambda key, own, generate, *rest: load(key, own, partial(noted, generate), *rest)
        )
        key = program.key(program.main.own(name)[0], ())
        evaluator.call(key, args)
    return "\n".join(kept)


WRAPS, ASKS = "_w_int", "_bad_index"  # what code calls that wraps, and that may have a negative index


@pytest.mark.parametrize(
    ("text", "argument", "wraps", "asks"),
    [
        ("int f(int n) { return n < 2 ? n : f(n - 1) - (n - 2); }", 5, 1, 0),  # of what comes back nothing is known
        ("int f(int n) { return n > -5 && n < 5 ? n * 1000 + 7 : 0; }", 3, 0, 0),
        ("int f(int n) { return n > -5 || n < 5 ? n + 7 : 0; }", 3, 1, 0),
        ("int f(int n) { return !(n >= 5) ? n + 7 : n - 7; }", 3, 0, 0),
        ("int f(int n) { return !(n >= 5) ? n - 7 : n + 7; }", 3, 2, 0),
        ("int f(int[n] v) { s = 0; for (i = 1; i < n - 1; i++) { s = max(s, v[i-1] & v[i+1]); } return s; }", V, 0, 0),
        ("int f(int[n] v) { s = 0; for (i = 0; i < n; i++) { s = max(s, v[i] + v[4-i]); } return s; }", V, 1, 1),
        ("int f(int[n] v) { s = 0; for (i = n - 1; i >= 0; i--) { s = max(s, v[i]); } return s; }", V, 0, 0),
        ("int[.] f(int[n] v) { return { [i] -> v[i-1] | [1] <= [i] < [n] }; }", V, 0, 0),
        ("int[.] f(int[n] v) { return { [i] -> i > 0 ? v[i-1] : v[i] | [i] < [n] }; }", V, 0, 0),
        ("int[.] f(int[n] v) { return { [i] -> v[(i + 1) % 5] | [i] < [n] }; }", V, 0, 0),
    ],
)
def test_code_asks_only_what_is_not_known(text: str, argument: Any, wraps: int, asks: int) -> None:
    source = sources(text, "f", argument)
    assert (source.count(WRAPS), source.count(ASKS)) == (wraps, asks), source


@pytest.mark.parametrize(
    "text",
    [
        "int f(int n) { return with { ([0] <= [i] < [0]) : 1 / ((i & 7) + 1) + n % (i + 1); } : fold(+, n); }",
        "int f(int n) { s = n; for (i = 0; i < 0; i++) { s = s / (i + 1) + s % ((i & 7) + 1); } return s; }",
        "int f(int n) { s = n; for (i = 3; i > 5; i--) { s = s / (5 - i); } return s; }",
        "int f(int n) { return n > 5 && n < 5 ? 1 / (n - 5) : n; }",
    ],
)
def test_where_nobody_comes_anything_may_stand(text: str) -> None:
    assert called(text, "f", 7) == 7


def test_an_index_that_is_not_asked_about_is_named_where_it_is_too_large() -> None:
    with pytest.raises(SacError) as caught:
        sources("int f(int[n] v) { s = 0; for (i = 1; i < 9; i++) { s = max(s, v[2*i+1]); } return s; }", "f", V)
    assert "index [5] is out of range for the shape [5]" in str(caught.value.diagnostics[0].message)
