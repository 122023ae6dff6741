"""What is still open in a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacpy.repl.cursor import is_open, open_lines, pieces


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int f(int a) {", True),
        ("x = ; {", True),
        ("f(1", True),
        ("/* open", True),
        ("f(1)", False),
        ("f(]", False),
        ("f)", False),
        ("\"(\" + '['", False),
        ('x = "open (', False),
        ("// (", False),
        ("/* ( */ 1", False),
        ("#define BEGIN {", False),
        ("f( // )", True),
        ("f(\n#pragma gpumem global\n", True),
        ("", False),
    ],
)
def test_open_texts(text: str, expected: bool) -> None:
    assert is_open(text) == expected


@given(st.text(alphabet="()[]{}\"'/*\\\n a1.:#;", max_size=40))
def test_any_text_can_be_cut(text: str) -> None:
    cut = pieces(text)
    assert all(text.startswith(piece.text, piece.start) for piece in cut)
    assert all(cut.found[i].text in "([{" for i in cut.open_brackets())
    is_open(text)


def test_lines_that_end_within_something() -> None:
    text = "f(1,\n 2)\nx // (\n/* a\n ( */ y = {\n}\n'(' \"{\"\n)\n[\n"
    assert open_lines(text) == [True, False, False, True, True, False, False, False, True]
    assert open_lines("/* open\n") == [True] and open_lines("") == []
    assert open_lines("#define OPEN {\nx = (\n") == [False, False]
