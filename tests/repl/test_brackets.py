"""Which two brackets belong together."""

import pytest

from sacpy.repl.brackets import pair


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f(x)|", (3, 1)),
        ("f|(x)", (1, 3)),
        ("f(x|)", (3, 1)),
        ("f(|x)", None),  # behind an opening one
        ('x = [1, ")", 2]|', (14, 4)),
        ('x = [1, "|)", 2]', None),  # in a string
        ("f(']', a[0])|", (11, 1)),
        ("f(1, // )\n 2)|", (12, 1)),
        ("f(/* ( */ 2)|", (11, 1)),
        ('f("(", [1, 2)|', None),  # [ is open
        ("{\n  f(1);\n}|", (10, 0)),
        ("|", None),
        ("x|", None),
    ],
)
def test_pairs(text: str, expected: tuple[int, int] | None) -> None:
    cursor = text.index("|")
    assert pair(text.replace("|", ""), cursor) == expected
