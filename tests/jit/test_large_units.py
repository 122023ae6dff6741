"""Large functions are compiled with less effort, in time near linear in their text, and the user is told so."""

from __future__ import annotations

from pathlib import Path

import sacpy

CONDITIONALS = 150
TEXT = (
    "use Array: all; int f(int a, int x) { "
    + " ".join(
        f"if (x % {k % 7 + 2} == 0) {{ x = x + {k}; }} else {{ x = x * 3 % {1009 + k}; a = a + 1; }}"
        for k in range(CONDITIONALS)
    )
    + " return x + a; }"
)


def expected(a: int, x: int) -> int:
    for k in range(CONDITIONALS):
        if x % (k % 7 + 2) == 0:
            x += k
        else:
            x, a = x * 3 % (1009 + k), a + 1
    return x + a


def test_less_effort_is_told(tmp_path: Path) -> None:
    session = sacpy.Session(target="cpu")
    module = session.compile(
        "use Array: all; use Structures: all; "
        + TEXT
        + " int[*] g(int n) { return { [i] -> f(i, i + 5) | [i] < [n] }; }"
    )
    assert module.g(3000).tolist() == [expected(i, i + 5) for i in range(3000)]
    text = str(session.stats())
    assert "large (" in text and "few steps" in text
    assert "few steps" in session.explain()


def test_nothing_is_told_of_ordinary_ones() -> None:
    session = sacpy.Session(target="cpu")
    module = session.compile("use Array: all; int[*] g(int n) { return { [i] -> i * i % 7 | [i] < [n] }; }")
    assert module.g(40000).tolist() == [i * i % 7 for i in range(40000)]
    assert "1 unit compiled" in str(session.stats()) and "large" not in str(session.stats())
