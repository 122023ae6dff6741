"""Pictures in the protocols of terminals, decoded again."""

import base64
import os
import re
import select
import subprocess
import sys

import numpy as np
import pytest

from sacpy.interp import png
from sacpy.repl.images import CHUNK, PROTOCOLS, SHARPEST, as_text, protocol, resized
from sacpy.repl.page import Page

PAGE = Page(80, 24, colour=True)


def pixels(height: int, width: int) -> png.Picture:
    return np.random.default_rng(1).integers(0, 256, (height, width, 3), np.uint8)


def test_kitty() -> None:
    picture = pixels(300, 400)
    parts = re.findall(r"\x1b_G([^;]*);([^\x1b]*)\x1b\\", as_text(picture, "kitty", PAGE))
    assert parts[0][0] == "f=100,a=T,m=1" and parts[-1][0] == "m=0" and all(len(data) <= CHUNK for _, data in parts)
    assert np.array_equal(png.decode(base64.b64decode("".join(data for _, data in parts))), picture)


def test_iterm() -> None:
    picture = pixels(300, 400)
    match = re.fullmatch(r"\x1b]1337;File=inline=1;size=(\d+):([^\x07]*)\x07", as_text(picture, "iterm", PAGE))
    assert match is not None
    data = base64.b64decode(match[2])
    assert len(data) == int(match[1]) and np.array_equal(png.decode(data), picture)


def sixels(text: str) -> np.ndarray:
    """The picture that a Sixel text draws."""
    match = re.fullmatch(r'\x1bPq"1;1;(\d+);(\d+)(.*)\x1b\\', text, re.DOTALL)
    assert match is not None
    width, height, body = int(match[1]), int(match[2]), match[3]
    drawn = np.zeros((height + 5, width, 3), np.uint8)
    colours: dict[int, list[int]] = {}
    colour = x = y = 0
    for token in re.finditer(r"#(\d+)(?:;2;(\d+);(\d+);(\d+))?|!(\d+)([?-~])|([?-~])|([$-])", body):
        if token[1] and token[2]:
            colours[int(token[1])] = [round(int(c) * 2.55) for c in token.groups()[1:4]]
        elif token[1]:
            colour = int(token[1])
        elif token[8]:
            x, y = 0, y + (6 if token[8] == "-" else 0)
        else:
            count, code = (int(token[5]), token[6]) if token[5] else (1, token[7])
            for bit in range(6):
                if ord(code) - 63 >> bit & 1:
                    drawn[y + bit, x : x + count] = colours[colour]
            x += count
    return drawn[:height]


@pytest.mark.parametrize("size", [(200, 201), (205, 200), (3, 1000)])
def test_sixel(size: tuple[int, int]) -> None:
    picture = pixels(*size)
    drawn = sixels(as_text(picture, "sixel", PAGE))
    if max(size) <= SHARPEST:
        assert drawn.shape == picture.shape
        assert np.abs(drawn.astype(int) - picture).max() <= 26  # a cube of 6 x 6 x 6 colours
    else:
        assert drawn.shape[1] == SHARPEST


def half_blocks(text: str) -> np.ndarray:
    rows = []
    for line in text.split("\n"):
        upper, lower, colours = [], [], ""
        for code, block in re.findall(r"\x1b\[([\d;]*)m|(▀)", line):
            if not block:
                colours = code
                continue
            numbers = [int(n) for n in colours.split(";")]
            upper.append(numbers[2:5])
            lower.append(numbers[7:10])
        rows += [upper, lower] if lower[0] else [upper]
    return np.array(rows, np.uint8)


@pytest.mark.parametrize("size", [(24, 30), (25, 80), (48, 80), (1, 60)])
def test_half_blocks(size: tuple[int, int]) -> None:
    picture = pixels(*size)
    assert np.array_equal(half_blocks(as_text(picture, "blocks", PAGE)), picture)


def test_half_blocks_of_large_and_small_pictures() -> None:
    large = as_text(pixels(1000, 3000), "blocks", PAGE).split("\n")
    assert len(large) <= 24 and all(line.count("▀") == 80 for line in large)
    assert half_blocks(as_text(pixels(2, 2), "blocks", PAGE)).shape == (24, 24, 3)
    assert half_blocks(as_text(pixels(1, 1), "blocks", Page(40, 4))).shape == (8, 8, 3)


def test_a_smaller_picture_has_the_means() -> None:
    assert resized(np.array([[[0] * 3, [10] * 3], [[20] * 3, [30] * 3]], np.uint8), 1, 1).tolist() == [[[15, 15, 15]]]
    assert np.array_equal(resized(pixels(7, 5), 7, 5), pixels(7, 5))


@pytest.mark.parametrize(
    ("environ", "attributes", "found"),
    [
        ({"TERM": "xterm-kitty"}, "", "kitty"),
        ({"TERM": "xterm-ghostty", "TERM_PROGRAM": "ghostty"}, "", "kitty"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, "", "iterm"),
        ({"TERM": "xterm-256color", "LC_TERMINAL": "iTerm2"}, "", "iterm"),
        ({"TERM": "xterm-256color"}, "62;4;22", "sixel"),
        ({"TERM": "xterm-256color"}, "64;1;2;22", "blocks"),
        ({"TERM": "xterm-256color"}, "", "blocks"),
        ({"TERM": "screen-256color", "KITTY_WINDOW_ID": "1"}, "", "blocks"),
        ({"TERM": "xterm-kitty", "TMUX": "x"}, "62;4", "sixel"),
        ({"TERM": "dumb"}, "62;4", "file"),
        ({}, "62;4", "file"),
        ({"TERM": "xterm-kitty", "NO_COLOR": "1"}, "", "file"),
    ],
)
def test_the_protocol_is_what_the_terminal_says(environ: dict[str, str], attributes: str, found: str) -> None:
    assert protocol(environ, lambda: attributes) == found


ASK = "from sacpy.repl.images import attributes; found = attributes(); print('found', repr(found), flush=True)"


@pytest.mark.parametrize(("answer", "found"), [(b"\x1b[?62;4;22c", "62;4;22"), (b"", ""), (b"\x1b[?1;2c", "1;2")])
def test_the_terminal_is_asked(answer: bytes, found: str) -> None:
    outer, inner = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", ASK], stdin=inner, stdout=inner, stderr=inner, start_new_session=True
    )
    os.close(inner)
    seen = b""
    while not re.search(rb"found '.*'", seen):
        assert select.select([outer], [], [], 20)[0], seen
        new = os.read(outer, 1000)
        if b"\x1b[c" in new and answer:
            os.write(outer, answer)
        seen += new
    process.wait(20)
    os.close(outer)
    assert f"found {found!r}".encode() in seen


def test_without_a_terminal_nobody_is_asked() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ASK], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False
    )
    assert done.stdout == "found ''\n"


def test_every_protocol_shows_a_single_pixel() -> None:
    for name in PROTOCOLS:
        assert as_text(pixels(1, 1), name, PAGE)
