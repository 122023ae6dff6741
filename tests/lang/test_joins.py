"""Variables where ways meet: behind conditionals and in loops only those need one type that somebody uses there."""

from __future__ import annotations

import pytest

from sacpy.interp.world import World
from sacpy.lang.core_verify import verify
from sacpy.lang.diagnostics import SacError
from sacpy.repl.engine import Engine
from sacpy.session import Session
from sacpy.workspace import Workspace
from tests.lang.test_elaborate import body_of, program_of

USES = "use Array: all;\n"
LEGAL: dict[str, tuple[str, int, float]] = {
    "set anew in every round": (
        "int f(int n) { x = 1; s = 0.0; for (i = 0; i < n; i++) { x = tod(i); s = s + x * 2.0; } return toi(s); }",
        4,
        12,
    ),
    "set anew in every round of a while loop": (
        "int f(int n) { x = 1; k = 0; s = 0; while (k < n) { x = [k, k]; s = s + sum(x); x = "
        "true; k++; if (x) { s = s + 1; } } return s; }",
        3,
        9,
    ),
    "set anew behind a conditional": (
        "int f(int n) { if (n > 2) { x = 1; y = x; } else { x = 2.0; y = toi(x); } x = n * 10; return x + y; }",
        4,
        41,
    ),
    "not used behind a conditional": (
        "int f(int n) { if (n > 2) { x = 1; y = x; } else { x = 2.0; y = toi(x); } return y; }",
        1,
        2,
    ),
    "used by the condition of a do loop": (
        "int f(int n) { x = 1; k = 0; do { x = tod(k); k++; } while (x < tod(n)); return toi(x); }",
        3,
        3,
    ),
    "used behind a do loop, which sets it for certain": (
        "double f(int n) { x = 1; k = 0; do { x = tod(k) + 0.5; k++; } while (k < n); return x; }",
        3,
        2.5,
    ),
    "two types before a do loop": (
        "double f(int n) { if (n > 1) { x = 1; } else { x = true; } k = 0; do { x = tod(k); k++; "
        "} while (k < n); return x; }",
        3,
        2.0,
    ),
    "an inner loop of the first type": (
        "int f(int n) { x = 1; s = 0; for (i = 0; i < n; i++) { for (j = 0; j < 2; j++) { x = j; "
        "s = s + x; } x = tod(i); s = s + toi(x); } return s; }",
        3,
        6,
    ),
    "in one branch in a loop": (
        "int f(int n) { x = 1; s = 0; for (i = 0; i < n; i++) { if (i > 1) { x = tod(i); s = s + "
        "toi(x); } } return s; }",
        4,
        5,
    ),
    "a struct": (
        "struct S { int a; double b; }; int f(int n) { x = 1; s = 0; for (i = 0; i < n; i++) { x "
        "= S{i, 2.0}; s = s + x.a; } return s; }",
        4,
        6,
    ),
    "in the body of a with-loop in a loop": (
        "int f(int n) { x = 1; s = 0; for (i = 0; i < n; i++) { v = with { ([0] <= [k] < [3]) { "
        "for (q = 0; q < 2; q++) { x = q; } y = k; } : y; } : fold(+, 0); s = s + v; x = 2.0; } "
        "return s; }",
        2,
        6,
    ),
    "another type in a branch, and the first one again": (
        "int f(int n) { x = 1; for (i = 0; i < n; i++) { y = x; if (i > 1) { x = tod(i); y = "
        "toi(x); } x = y + 1; } return x; }",
        4,
        4,
    ),
}


@pytest.mark.parametrize("target", ["interp", "cpu"])
@pytest.mark.parametrize("name", LEGAL)
def test_a_variable_may_change_its_type_where_nobody_uses_the_other(name: str, target: str) -> None:
    text, argument, wanted = LEGAL[name]
    assert Session(target=target).define(USES + text).f(argument) == wanted


@pytest.mark.parametrize("name", LEGAL)
def test_what_is_not_needed_is_not_carried(name: str) -> None:
    program = program_of(USES + LEGAL[name][0])
    assert [d for d in program.check() if d.severity == "error"] == []
    for key in [key for key in program.instances if key.startswith("_MAIN::")]:
        assert verify(program.function(key), program) == []


def test_core_carries_what_is_needed_only() -> None:
    lines = body_of("use Array: all; " + LEGAL["an inner loop of the first type"][0])
    assert [line for line in lines if line.startswith("loop")] == [
        "loop int s = 0, int i = 0",
        "loop int s~1 = s, int j = 0",
    ]


ILLEGAL: dict[str, tuple[str, str, list[str]]] = {
    "at the head of the loop": (
        "double f(int n) { x = 1; for (i = 0; i < n; i++) { x = x + 1; x = tod(i); } return 0.0; }",
        "x is int on one way to here and double on the other",
        ["int here"],
    ),
    "in the condition": (
        "int f(int n) { x = 1; while (x < n) { x = tod(n); } return 0; }",
        "x is int on one way to here and double on the other",
        ["int here"],
    ),
    "at the head of an inner loop": (
        "int f(int n) { x = 1; for (i = 0; i < n; i++) { for (j = 0; j < 2; j++) { x = x + j; } "
        "x = tod(i); } return 0; }",
        "x is int on one way to here and double on the other",
        ["int here"],
    ),
    "in the next round": (
        "int f(int n) { x = 1; s = 0; for (i = 0; i < n; i++) { s = s + x; if (i > 1) { x = tod(i); } } return s; }",
        "x is int on one way to here and double on the other",
        ["int here"],
    ),
    "behind a loop": (
        "double f(int n) { x = 1; for (i = 0; i < n; i++) { x = tod(i); } return x; }",
        "x is int on one way to its use and double on the other",
        ["int here", "used here"],
    ),
    "behind a conditional": (
        "double f(int n) { if (n > 1) { x = 1; } else { x = 2.0; } return x; }",
        "x is int on one way to its use and double on the other",
        ["int here", "used here"],
    ),
    "behind a conditional in a loop": (
        "int f(int n) { x = 1; s = 0; for (i = 0; i < n; i++) { if (i > 1) { x = tod(i); } s = s + x; } return s; }",
        "x is double on one way to its use and int on the other",
        ["double here", "used here"],
    ),
    "in an update": (
        "int f(int n) { if (n > 1) { x = [1]; } else { x = [2.0]; } x[0] = 1; return 0; }",
        "x is int on one way to its use and double on the other",
        ["int here", "used here"],
    ),
    "as what a reference parameter hands back": (
        "void f(int &x, int n) { if (n > 1) { x = 2.0; } }",
        "x is double on one way to its use and int on the other",
        ["double here", "used here"],
    ),
}


@pytest.mark.parametrize("name", ILLEGAL)
def test_two_types_for_one_use(name: str) -> None:
    text, message, labels = ILLEGAL[name]
    with pytest.raises(SacError) as caught:
        Session().define(USES + text)
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("E0423", message)
    assert [label.text for label in found.labels] == labels
    assert found.help.endswith("; or use two variables")


@pytest.mark.parametrize("text", ["for (i = 0; i < 3; i++) { x = tod(i); }", "if (x > 0) { y = 1; } else { y = 2.0; }"])
def test_variables_of_a_prompt_may_be_used_by_later_inputs(text: str) -> None:
    engine = Engine(Workspace(), World.captured())
    engine.enter("x = 1;")
    (found,) = engine.enter(text).diagnostics
    assert found.code == "E0423"
    assert engine.enter("x").diagnostics == ()
