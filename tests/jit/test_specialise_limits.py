"""What the specialiser asserts, what it refuses, and what it leaves behind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sacpy.jit.failures import Unsupported
from sacpy.jit.ir.graph import Check, Let, Load, Loop, Unit, WithLoop, statements
from sacpy.lang.diagnostics import SacError
from tests.jit.graph_evaluator import CheckFailed, evaluate
from tests.jit.specialise_tools import Subject, shapes_of

I = np.int32  # noqa: E741


def vector(*items: int) -> Any:
    return np.array(items, I)


FAILING: dict[str, tuple[str, tuple[Any, ...]]] = {
    "index below 0": ("int f(int[.] a, int i) { return a[i]; }", (vector(*range(40)), -1)),
    "index too large": ("int f(int[.] a, int i) { return a[i]; }", (vector(*range(40)), 40)),
    "index into a table": ("int f(int i) { return [1, 2, 3][i]; }", (3,)),
    "update outside": ("int[.] f(int[.] a, int i) { a[i] = 1; return a; }", (vector(*range(40)), 40)),
    "shapes differ": ("int[.] f(int[.] a, int[.] b) { return a + b; }", (vector(*range(40)), vector(*range(39)))),
    "division by 0": ("int f(int a, int b) { return a / b; }", (1, 0)),
    "remainder by 0": ("int[.] f(int[.] a, int b) { return a % b; }", (vector(*range(40)), 0)),
    "shift too far": ("int f(int a, int b) { return a << b; }", (1, 32)),
    "shift below 0": ("int f(int a, int b) { return a >> b; }", (1, -1)),
    "negative extent": ("int[.] f(int n) { return genarray([n], 1); }", (-1,)),
    "negative extent in the other branch": (
        "int[.] f(int n, bool c) { if (c) { a = genarray([n], 1); a[0] = 4; } else { a = genarray([n], 2); } return "
        "a; }",
        (-1, False),
    ),
    "partition outside": (
        "int[.] f(int n, int m) { return with { ([0] <= iv < [m]) : 1; } : genarray([n], 0); }",
        (4, 5),
    ),
    "partition below": (
        "int[.] f(int n, int m) { return with { ([m] <= iv < [n]) : 1; } : genarray([n], 0); }",
        (4, -1),
    ),
    "step 0": (
        "int[.] f(int n, int s) { return with { ([0] <= iv < [n] step [s]) : 1; } : genarray([n], 0); }",
        (4, 0),
    ),
    "reshape to another size": ("int[.,.] f(int[.] a, int n) { return reshape([n, 3], a); }", (vector(*range(40)), 13)),
    "reshape to a size that wraps": ("int[.,.] f(int[.] a, int n) { return reshape([n, n], a); }", (vector(), 65536)),
    "take too much": ("int[.] f(int[.] a, int n) { return _take_SxV_(n, a); }", (vector(*range(40)), 41)),
    "drop the smallest int": (
        "int[.] f(int[.] a, int n) { return _drop_SxV_(n, a); }",
        (vector(*range(40)), -2147483648),
    ),
    "condition": ("int f(int n) | (n > 0) { return n; }", (0,)),
    "pattern": ("int f(int[n] a, int[n] b) { return n; }", (vector(*range(40)), vector(*range(9)))),
    "result": ("int[3] f(int[.] a) { return a; }", (vector(*range(40)),)),
    "cells differ": ("int[.,.] f(int n) { return { [i] -> iota(i) | [i] < [n] }; }", (3,)),
    "elements differ": ("int[.,.] f(int[.] a, int[.] b) { return [a, b]; }", (vector(*range(40)), vector(*range(41)))),
    "in a branch": ("int f(int a) { return a > 3 ? [1, 2][a] : a; }", (9,)),
}


@pytest.mark.parametrize("name", FAILING)
def test_what_the_interpreter_refuses_fails_a_check(name: str) -> None:
    text, args = FAILING[name]
    subject = Subject(text)
    with pytest.raises(SacError):
        subject.interpreted(*args)
    with pytest.raises(CheckFailed):
        evaluate(subject.unit(*shapes_of(args, fixed=-1)), args)


@pytest.mark.parametrize(
    "text",
    [
        "int[.] f(int n) { return genarray([n], 1); }",
        "int[.,.] f(int n) { return genarray([0, n], 1); }",
        "int[.,.] f(int n) { return reshape([0, n], [:int]); }",
    ],
)
def test_extents_that_two_of_would_not_add_up_to_an_int_are_left_to_the_interpreter(text: str) -> None:
    with pytest.raises(CheckFailed):
        evaluate(Subject(text).unit(()), (2**30,))


REFUSED: dict[str, tuple[str, list[tuple[int | None, ...]], str]] = {
    "strings": ('use String: all; int f(int n) { return strlen("abc") + n; }', [()], "values of type string"),
    "effects": ("use StdIO: all; int f(int n) { print(n); return n; }", [()], "print, which is not written in SaC"),
    "a rank that is computed": (
        "int[*] f(int n) { return genarray(genarray([n], 2), 1); }",
        [()],
        "is known only when it runs, and with it the rank of an array",
    ),
    "a rank that a condition decides": (
        "int[*] f(int n, int[.] a) { return n > 0 ? a : [a]; }",
        [(), (None,)],
        "the rank of a value depends on a condition",
    ),
    "a rank that a loop changes": (
        "int[*] f(int n, int[.] a) { r = a; for (i = 0; i < n; i++) { r = [r]; } return r; }",
        [(), (None,)],
        "changes from one round of a loop to the next",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_compiled_has_a_reason(name: str) -> None:
    text, shapes, reason = REFUSED[name]
    with pytest.raises(Unsupported) as caught:
        Subject(text).unit(*shapes)
    assert reason in caught.value.reason


# ---------------------------------------------------------------- what is left


def loops(unit: Unit) -> list[WithLoop]:
    return [
        s.rhs for f in unit.functions for s in statements(f.body) if isinstance(s, Let) and isinstance(s.rhs, WithLoop)
    ]


def checks(unit: Unit) -> list[str]:
    return [s.what for f in unit.functions for s in statements(f.body) if isinstance(s, Check)]


def test_index_vectors_leave_nothing_behind() -> None:
    unit = Subject(
        "double[.,.] f(double[.,.] a) { return { iv -> a[mod(iv + [1, 2] - shape(a) / 2, shape(a))] | iv < shape(a) "
        "}; }"
    ).unit((None, None))
    (loop,) = loops(unit)
    assert [s.rhs for s in loop.partitions[0].body.statements if isinstance(s, Let) and isinstance(s.rhs, Load)]
    assert len(loops(unit)) == 1


def test_accesses_that_bounds_prove_are_not_checked() -> None:
    inner = "with { ([1,1] <= [i,j] < shape(a) - 1) : a[i-1,j] + a[i+1,j] + a[i,j-1] + a[i,j+1]; } : modarray(a)"
    assert checks(Subject(f"double[.,.] f(double[.,.] a) {{ return {inner}; }}").unit((None, None))) == []


def test_equal_shapes_are_compared_once() -> None:
    unit = Subject("double[.] f(double[.] a, double[.] b) { return a * b + a * b - b; }").unit((None,), (None,))
    assert checks(unit) == ["the shapes agree"]


def test_short_vectors_with_known_extents_are_unrolled() -> None:
    unit = Subject("int f(int[3] a, int[3] b) { return sum(a * b) + maxval(reverse(a)); }").unit((3,), (3,))
    assert loops(unit) == []


def test_rounds_with_loops_in_them_are_written_out_where_that_is_little_or_stands_once() -> None:
    rounds = "for (k = 0; k < 4; k++) { "
    once = "for (i = 0; i < n; i++) { x = a[i] / (k + 1) % 17; a[(x % n + n) % n] = x * 5 - k; } "
    inner = f"int[.] g(int[n] a) {{ {rounds}{once}{once}}} return a; }} "

    def written(text: str) -> int:
        unit = Subject(text).unit((None, None))
        return sum(isinstance(s, Let) and isinstance(s.rhs, Loop) for f in unit.functions for s in statements(f.body))

    cell = "int[.,.] f(int[n,m] a) { return { [i] -> g(a[i]) | [i] < [n] }; }"
    assert written(inner + cell) == 3
    assert written(inner.replace(once + once, once) + "int[.] f(int[n,m] a) { return g(a[0]); }") == 4
    assert written("int[.] g(int[.] a) { for (k = 0; k < 4; k++) { a[k] = a[k] + k; } return a; } " + cell) == 0


def test_a_recursive_function_is_one_function_of_the_unit() -> None:
    unit = Subject("int f(int n) { return n < 2 ? 1 : n * f(n - 1); }").unit(())
    assert len(unit.functions) == 2


def test_what_a_loop_carries_keeps_its_extents() -> None:
    unit = Subject("double[.] f(double[.] a, int n) { for (i = 0; i < n; i++) { a = a * 2.0; } return a; }").unit(
        (None,), ()
    )
    (loop,) = [s.rhs for s in statements(unit.root.body) if isinstance(s, Let) and isinstance(s.rhs, Loop)]
    assert len(loop.params) == 2  # the array and the counter, no extent
