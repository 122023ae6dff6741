"""A session's screens, as they were when somebody last looked at them: at three widths, with colour and without."""

import re

import pytest

from tests.repl.screens import FOLDER, WIDTHS, screens

COLOUR = re.compile(rb"\x1b\[[0-9;]*(?<![0-9])(?:3[0-7]|4[0-7]|9[0-7]|10[0-7]|38|48)(?![0-9])[0-9;]*m")


@pytest.mark.parametrize("colour", [True, False], ids=["colour", "no colour"])
@pytest.mark.parametrize("width", WIDTHS)
def test_screens(width: int, colour: bool) -> None:
    shown, terminal = screens(width, colour)
    assert shown + "\n" == (FOLDER / f"{width}.txt").read_text(encoding="utf-8")
    assert max(map(len, shown.split("\n"))) <= width
    assert bool(COLOUR.search(terminal.raw)) == colour
