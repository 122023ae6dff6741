"""A session's screens, as they were when somebody last looked at them: at three widths, with colour and without."""

import re

import pytest

from tests.repl.screens import FOLDER, WIDTHS, screens

COLOUR = re.compile(rb"\x1b\[[0-9;]*(?<![0-9])(?:3[0-7]|4[0-7]|9[0-7]|10[0-7]|38|48)(?![0-9])[0-9;]*m")


@pytest.mark.parametrize(
    ("width", "colour"),
    [  # each width, and either with colour or without; all the others with the tests that take long
        pytest.param(
            width,
            colour,
            id=f"{width}-{'colour' if colour else 'no colour'}",
            marks=[pytest.mark.long] * (colour == at % 2),
        )
        for at, width in enumerate(WIDTHS)
        for colour in (True, False)
    ],
)
def test_screens(width: int, colour: bool) -> None:
    shown, terminal = screens(width, colour)
    assert shown + "\n" == (FOLDER / f"{width}.txt").read_text(encoding="utf-8")
    assert max(map(len, shown.split("\n"))) <= width
    assert bool(COLOUR.search(terminal.raw)) == colour
