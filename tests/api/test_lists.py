"""Nested lists as arguments: those that are converted at once give what one element after the other gives."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import sacpy
from sacpy.embedding import arguments, kinds
from sacpy.embedding.arguments import Misfit
from sacpy.embedding.runner import MISSED
from sacpy.jit.run import versions
from sacpy.lang.types import BITS

BASES = (*BITS, "double", "float", "bool", "char")
EXTREMES = [0, 1, -1, 127, 128, -128, -129, 255, 256, 2**31 - 1, 2**31, -(2**31), 2**53, 2**53 + 1, -(2**53) - 1]
EXTREMES += [2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64 - 1, 2**64]
ELEMENTS: dict[str, list[Any]] = {
    "ints": [0, 1, 2, 3, 100],
    "extremes": EXTREMES,
    "floats": [0.0, -0.0, 1.5, float("inf"), float("nan"), 1e300, 1e-310],
    "bools": [True, False],
    "mixed": [1, 2.5, True, "a", None, np.int32(4), np.float32(0.5), np.True_],
    "numbers": [1, 2.5, 2**53 + 1],
    "odd": [np.arange(2), (1, 2), [], "ab"],
}


def nested(chance: random.Random, elements: list[Any]) -> Any:
    """A list, a matrix or more of elements, perhaps not rectangular."""
    shape = [chance.randint(0 if chance.random() < 0.1 else 1, 3) for _ in range(chance.randint(1, 3))]

    def made(depth: int) -> Any:
        if depth == len(shape):
            return chance.choice(elements)
        extent = shape[depth] + (chance.random() < 0.03)
        return chance.choice((list, tuple))(made(depth + 1) for _ in range(extent))

    return made(0)


def converted(value: Any, base: str) -> Any:
    """The array; or what is wrong, in words."""
    try:
        found = arguments._scalars(base)(value)
    except Misfit as misfit:
        return misfit.code, misfit.reason, misfit.help
    assert isinstance(found, np.ndarray)
    return found.dtype, found.shape, found.tobytes()


@pytest.mark.parametrize("sort", ELEMENTS)
def test_lists_are_what_their_elements_are(sort: str, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(sort)
    values = [nested(chance, ELEMENTS[sort]) for _ in range(150)]
    at_once = [[converted(v, base) for base in BASES] for v in values]
    found = [kinds.kind_of(v) for v in values]
    plain = [sum(arguments._plain(v, arguments._shape(v), base) is not None for base in BASES) for v in values]
    assert (sum(map(bool, plain)) > 50) == (sort in ("ints", "extremes", "floats", "bools"))
    monkeypatch.setattr(arguments, "_plain", lambda items, shape, base: None)
    monkeypatch.setattr(kinds, "_found", lambda items: set(kinds._leaves(items)))
    assert at_once == [[converted(v, base) for base in BASES] for v in values]
    assert found == [kinds.kind_of(v) for v in values]


def test_a_list_that_holds_itself_is_no_endless_work() -> None:
    value: list[Any] = [1]
    value.append(value)
    with pytest.raises((Misfit, RecursionError)):
        arguments._scalars("int")(value)


SOURCE = """use Array: all;
int[.] running(int[n] v) { s = 0; for (i = 0; i < n; i++) { s += v[i]; v[i] = s; } return v; }
double total(double[.,.] a) { return sum(a * a); }
int vowels(char[n] t) { k = 0; for (i = 0; i < n; i++) { if (t[i] == 'a' || t[i] == 'e') k++; } return k; }
int which(int[.] v) { return sum(v); }
double which(double[.] v) { return sum(v); }
"""
OTHERS: dict[str, list[Any]] = {
    "running": [[1, 2, 3], (4, 5, 6), [1, 2], [], [1, 2**31, 3], [1, 2.0, 3], [[1, 2, 3]], "abc", [True, 1, 2], 7,
                np.arange(3, dtype=np.int32), np.arange(3), [2**31 - 1, 1, 0], [np.int32(1), 2, 3]],
    "total": [[[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0]], [[1, 2], [3, 4]], [[1.0, 2.0], [3.0]], [1.0, 2.0], [[]],
              [[2**54 + 1]], np.ones((2, 2)), [(1.0, 2.0), [3.0, 4.5]], [np.ones(2), np.ones(2)]],
    "vowels": ["banana", "a", "", b"eel", bytearray(b"aa"), ["a", "b"], "\u00e4a", "banane", 3],
    "which": [[1, 2, 3], [1.0, 2.0, 3.0], [1, 2.0, 3], [1, 2], ["a"]],
}  # fmt: skip


def outcome(f: Any, value: Any) -> Any:
    try:
        found = f(value)
    except sacpy.SacError as error:
        return str(error)
    return type(found), found.tolist() if isinstance(found, np.ndarray) else found


@pytest.mark.parametrize("name", OTHERS)
def test_calls_with_lists_and_strings_go_directly_and_give_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "SLOW", 1.0)  # nothing is given up on a busy machine
    module, plain = (sacpy.Session(target=target).compile(SOURCE) for target in ("cpu", "interp"))
    f, expected = getattr(module, name), getattr(plain, name)
    usual = OTHERS[name][0]
    for _ in range(2 if name == "which" else 50):
        for _ in range(2000):
            f(usual)
        if f.gate(usual) is not MISSED:
            break
    assert (f.gate(usual) is not MISSED) == (name != "which"), "of several functions the elements decide"
    for value in OTHERS[name]:
        assert outcome(f, value) == outcome(expected, value), value
        assert outcome(f, usual) == outcome(expected, usual)
    kept = [1, 2, 3]
    if name == "running":
        for _ in range(3):
            f(kept)
        assert kept == [1, 2, 3], "what is updated in place is nobody else's"
