"""Arrays that are not dense: parts of others, read where they lie as soon as that pays, and copied until then, or where
it does not."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

import sacpy
from sacpy.jit.host import strides
from sacpy.jit.host.strides import container
from sacpy.jit.ir.parts import Layout
from sacpy.jit.run import versions
from tests.jit.mutation import Mutant, mutated

TEXT = """use Array: all;
double total(double[.] a) { return sum(a); }
double[.] twice(double[.] a) { return 2.0 * a + 1.0; }
double[.,.] plus(double[.,.] a, double[.,.] b) { return a + 2.0 * b; }
double[.,.] prod(double[n,m] a, double[m,k] b) { return { [i,j] -> sum({ [l] -> a[i,l] * b[l,j] }) | [i,j] < [n,k] }; }
double[n,m] changed(double[n,m] a)
{
  for (i = 1; i < n; i++) { for (j = 1; j < m; j++) { a[i,j] = 0.5 * a[i - 1,j - 1] + a[i,j]; } }
  return a;
}
double[.] cube(double[n,m,k] a) { return { [i] -> sum({ [j,l] -> a[i,j,l] }) | [i] < [n] }; }
double at(double[.,.] a, int i) { return sum({ [j] -> a[i,j] + a[j,0] | [j] < [shape(a)[1]] }); }
"""
X = np.cos(np.arange(300.0 * 260)).reshape(300, 260)
V = np.sin(np.arange(40_000.0))


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> sacpy.Session:
    """One that reads them where they lie from the first call on that finds compiled code."""
    monkeypatch.setattr(versions, "LEAST", 0.0)
    monkeypatch.setattr(versions, "PICKING", 1.0)
    return sacpy.Session(target="cpu", strict_fp=True)


def calls(f: Callable[..., Any], *args: Any) -> Any:
    """What several calls give: the last ones go to code for arguments like these."""
    found = [f(*args) for _ in range(3)]
    assert all(np.array_equal(found[0], x) for x in found)
    return found[-1]


PARTS: dict[str, tuple[str, tuple[np.ndarray[Any, Any], ...]]] = {
    "every second one": ("total", (V[::2],)),
    "from the end": ("twice", (V[::-1],)),
    "every third one from the end": ("twice", (V[-2:1:-3],)),
    "columns in the middle": ("plus", (X[:, 3:200], X[:, 50:247])),
    "transposed": ("plus", (X.T, X[:, :260].T[:, ::-1])),
    "every second row, and column": ("plus", (X[::2, ::2], X[1::2, 1::2])),
    "rows that are all the same": ("plus", (np.broadcast_to(X[3], X.shape), X[::-1])),
    "one column of a matrix": ("total", (np.repeat(X, 40, 0)[:, 7],)),
    "blocks of a product": ("prod", (X[:, 10:210], X[20:220, :150])),
    "axes in another order": ("cube", (X.reshape(10, 30, 260).transpose(2, 0, 1),)),
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_give_what_copies_give(session: sacpy.Session, name: str) -> None:
    function, args = PARTS[name]
    module = session.compile(TEXT)
    expected = getattr(module, function)(*[np.ascontiguousarray(a) for a in args])
    assert np.array_equal(calls(getattr(module, function), *args), expected)
    assert "arguments that are not dense are read where they lie" in session.explain()


@pytest.mark.parametrize(
    ("function", "args", "reason"),
    [
        ("changed", (X[:, :200],), "is used in other ways than element by element"),
        ("prod", (X[:, :260].T, X[:, :100]), "is read more than once, and its elements do not lie side by side"),
    ],
)
def test_where_a_copy_is_better_the_reason_is_told(
    session: sacpy.Session, function: str, args: tuple[Any, ...], reason: str
) -> None:
    f = getattr(session.compile(TEXT), function)
    expected = f(*[np.ascontiguousarray(a) for a in args])
    assert np.array_equal(calls(f, *args), expected)
    assert reason in session.explain()


def test_arguments_are_left_alone_and_errors_are_those_of_copies(session: sacpy.Session) -> None:
    module = session.compile(TEXT)
    part, before = X[:, 5:205], X.copy()
    calls(module.at, part, 3)
    with pytest.raises(sacpy.SacError, match="E06") as strided:
        module.at(part, 300)
    with pytest.raises(sacpy.SacError) as dense:
        module.at(np.ascontiguousarray(part), 300)
    assert str(strided.value) == str(dense.value)
    assert np.array_equal(X, before)


def test_copies_are_made_until_they_have_taken_as_long_as_compiling() -> None:
    session = sacpy.Session(target="cpu")
    f = session.compile(TEXT).twice
    assert np.array_equal(calls(f, V[::2]), 2.0 * V[::2] + 1.0)
    assert "where they lie" not in session.explain()


def some_part(random: Random) -> np.ndarray[Any, Any]:
    """A part of an array, with its axes in any order."""
    rank = random.randint(1, 4)
    whole = np.arange(7.0**rank).reshape((7,) * rank).transpose(random.sample(range(rank), rank))
    ways = [
        slice(None),
        slice(None, None, -1),
        slice(2, None),
        slice(None, None, 3),
        slice(None, None, -2),
        slice(0, 1),
    ]
    part: np.ndarray[Any, Any] = whole[tuple(random.choice(ways) for _ in range(rank))]
    return np.broadcast_to(part, (2, *part.shape)) if random.random() < 0.1 else part


def elements(a: np.ndarray[Any, Any], layout: Layout, dense: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What code reads of a dense array."""
    found = np.empty(a.shape)
    for i in product(*map(range, a.shape)):
        at = [
            step * (a.shape[k] - 1 - i[k] if turned else i[k])
            for k, turned, step in zip(layout.order, layout.turned, layout.steps)
        ]
        at += [0] * (layout.gap != 1)
        assert all(0 <= x < n for x, n in zip(at, dense.shape, strict=True))
        found[i] = dense[tuple(at)]
    return found


@pytest.mark.parametrize("seeds", [range(150), pytest.param(range(150, 5000), marks=pytest.mark.long)])
def test_layouts_against_enumeration(seeds: range) -> None:
    found = 0
    for seed in seeds:
        part = some_part(Random(seed))
        made = container(part)
        if made is not None:
            found += 1
            assert made[1].flags.c_contiguous
            assert np.array_equal(elements(part, *made), part)
    assert found > 0.9 * len(seeds)


def test_arrays_without_such_a_layout() -> None:
    overlapping = np.lib.stride_tricks.as_strided(V, (5, 5), (8, 8))
    unaligned = np.frombuffer(bytes(8 * 9 + 1), np.uint8)[1:].view(np.float64)[::2]
    assert container(overlapping) is None and container(unaligned) is None and container(V[:0:2]) is None


def test_a_bug_in_layouts_is_found() -> None:
    bug = Mutant(
        "turned axes begin where others do",
        strides.__name__,
        "container",
        "a.strides[k] < 0 and a.shape[k] > 1",
        "False",
    )
    with mutated(bug), pytest.raises(AssertionError):
        test_layouts_against_enumeration(range(150))
