"""Arrays whose extents depend on positions: random programs over them against the same counted in Python, on all
targets; and what the front end makes of them."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest

from sacpy import SacError, Session
from sacpy.lang.ast import FunDef
from sacpy.lang.elaborate.extents import written
from sacpy.lang.elaborate.usertypes import BUILTINS
from sacpy.lang.parser import parse_module
from sacpy.lang.printer import print_definition
from sacpy.lang.source import Source

LETTERS = "ijk"


def extent(rng: random.Random, axis: int) -> str:
    """An extent as SaC writes it; Python reads it the same but for `/`, `?:`."""
    p = rng.choice(LETTERS[:axis])
    return rng.choice(
        [
            f"{p}+1", f"{p}", f"n-{p}", f"max(0, {p}-1)", f"min(n, {p}+m+1)-max(0, {p}-1)", f"1<<{p}", f"2*{p}+m",
            f"max(0, n-{p}-m)", f"m*{p}", f"min({p}, 2)", f"max(0, {p}-m)+1", f"{p}+m",
            *([f"{p}/2", f"{p}%3", f"({p} < 2 ? 3 : {p})"] if axis == 1 else []),
        ]
    )  # fmt: skip


def in_python(text: str) -> str:
    text = text.replace("/", "//")
    if "?" in text:
        condition, _, rest = text.strip("()").partition(" ? ")
        a, _, b = rest.partition(" : ")
        return f"({a} if {condition} else {b})"
    return text


def positions(extents: list[str], n: int, m: int) -> Iterator[tuple[int, ...]]:
    def below(index: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(index) == len(extents):
            yield index
            return
        names = {"n": n, "m": m, "min": min, "max": max, **dict(zip(LETTERS, index))}
        for t in range(eval(in_python(extents[len(index)]), names)):
            yield from below((*index, t))

    return below(())


def program(extents: list[str]) -> str:
    names = ",".join(LETTERS[: len(extents)])
    bound = ", ".join(extents)
    weights = "+".join(f"{10**k}*{c}" for k, c in enumerate(reversed(names.split(","))))
    inner = f"sum({{ [j] -> (j+1) * t[i,j] | [j] < [{extents[1]}] }})"
    if len(extents) == 3:
        inner = f"sum({{ [j] -> (j+1) * sum(t[i,j]) | [j] < [{extents[1]}] }})"
    axes = ", ".join([*(f"{c}<{e}" for c, e in zip(LETTERS, extents[:-1])), extents[-1]])
    return f"""
use Array: all;
int[.] all_of(int n, int m) {{ t = {{ [{names}] -> {weights} | [{names}] < [{bound}] }}; return (int[.]) t; }}
int[n] weighed(int n, int m, int[.] v)
{{
  t = (int[{axes}]) v;
  return {{ [i] -> (i+1) * {inner} | [i] < [n] }};
}}
int[.] changed(int n, int m, int[.] v)
{{
  t = (int[{axes}]) v;
  u = t + 2 * t;
  for (i = 0; i < n; i++) {{ u[i] = {"t[i] + u[i]" if len(extents) == 2 else "t[i]"}; }}
  return (int[.]) u;
}}
int[.] where(int n, int m, int[.] v)
{{
  t = (int[{axes}]) v;
  return (int[.]) {{ [{names}] -> t[{names}] > 20 ? t[{names}] : - i | [{names}] < [{bound}] }};
}}
"""


def check(seed: int, target: str) -> None:
    rng = random.Random(seed)
    extents = ["n", *(extent(rng, axis) for axis in range(1, rng.choice([2, 2, 3])))]
    n, m = rng.randint(0, 5), rng.randint(0, 2)
    try:
        module = Session(target=target).compile(program(extents))
    except SacError as error:
        assert error.diagnostics[0].code in ("E0442", "E0445", "E0448"), (extents, str(error))
        return
    found = list(positions(extents, n, m))
    base = np.array([sum(10**k * x for k, x in enumerate(reversed(p))) for p in found], np.int32)
    assert module.all_of(n, m).tolist() == base.tolist(), (seed, extents, n, m)
    weighed = np.zeros(n, np.int64)
    for p, x in zip(found, base):
        weighed[p[0]] += (p[0] + 1) * (p[1] + 1) * x
    assert module.weighed(n, m, base).tolist() == weighed.tolist(), (seed, extents, n, m)
    factor = 4 if len(extents) == 2 else 1
    assert module.changed(n, m, base).tolist() == (factor * base).tolist(), (seed, extents, n, m)
    chosen = [int(x) if x > 20 else -p[0] for p, x in zip(found, base)]
    assert module.where(n, m, base).tolist() == chosen, (seed, extents, n, m)


@pytest.mark.parametrize("seed", range(6))
def test_random_programs(seed: int) -> None:
    check(seed, "interp")


@pytest.mark.parametrize("seed", range(1))
def test_random_programs_compiled(seed: int) -> None:
    check(seed, "cpu")


@pytest.mark.long
@pytest.mark.parametrize("target", ["interp", "cpu", "emulator"])
def test_many_random_programs(target: str) -> None:
    for seed in range(100, 160):
        check(seed, target)


def test_rows_tell_where_an_index_ends_and_inner_axes_do_not() -> None:
    """Where a comprehension has no bound."""
    sums = "int[.] sums(int[i<n, n-i] t) { return { [i] -> sum(t[i]) + i }; } "
    given = "int[.] f(int[.] v, int n) { return sums((int[i<n, n-i]) v); }"
    module = Session(target="interp").compile(f"use Array: all; {sums} {given}")
    assert module.f(np.array([1, 2, 3, 4, 5, 6], np.int32), 3).tolist() == [6, 10, 8]
    with pytest.raises(SacError, match="E0449"):
        Session().compile("int f(int[i<n, i+1] t) { u = { [i,j] -> t[i,j] }; return 0; }")


def printed(source: str) -> str:
    (definition,) = parse_module(Source("<test>", source)).module.definitions
    assert isinstance(definition, FunDef)
    return print_definition(definition).split("\n")[0]


@pytest.mark.parametrize(
    "head",
    [
        "int f(double[i<n,i + 1] a)",
        "float[i<n,j<i + 1,min(i, j)] f(int[n] v, bool[l<d,1 << l] b)",
        "int f(int[3,k<n,k < 2 ? 1 : k] t)",
    ],
)
def test_types_are_printed_as_they_are_written(head: str) -> None:
    assert printed(f"{head} {{ return 0; }}") == head


def test_equal_functions_are_one_type() -> None:
    keys = {_key(h) for h in ("int[i<n, i+1]", "int[k<7, 1+k]", "int[i<2*m, 2*i+2-i-1]", "int[i<n, max(i, -3)+1]")}
    assert keys == {"int[i<n, i + 1]"}
    assert _key("int[i<n, n-i]") == _key("int[i<m+1, m-i+1]") == "int[i<n, n - i]"
    assert _key("int[i<n, i+k]") == _key("int[i<4, i+a+b]") == "int[i<n, m + i]"
    assert _key("int[i<n, i+1]") != _key("int[i<n, i+2]")


def _key(type: str) -> str:
    (definition,) = parse_module(Source("<test>", f"int f({type} a) {{ return 0; }}")).module.definitions
    assert isinstance(definition, FunDef)
    return written(definition.params[0].type, BUILTINS["int"]).type.key
