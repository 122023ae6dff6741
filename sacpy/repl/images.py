"""Pictures on the terminal.

In: 8-bit pixels, and what the terminal can do. Out: text that makes it show them: as a picture in the protocols of
Kitty, iTerm2 or Sixel (DEC STD 070, chapter 9), or two pixels to a character cell, as half blocks in 24-bit colours.
"""

from __future__ import annotations

import base64
import os
import select
import sys
from collections.abc import Callable, Mapping

import numpy as np

from sacpy.interp.png import Picture, encode
from sacpy.repl.page import Page

SHARPEST = 960  # pixels of the longer side that are sent to the terminal at most
SMALLEST = 200  # a smaller picture's elements become squares of pixels
SMALLEST_BLOCKS = 24  # the same for half blocks
CHUNK = 4096  # characters of one of Kitty's escape sequences
ANSWER = 0.25  # seconds that a terminal has to say what it is
SIXEL_ABLE = "4"  # among the attributes that a terminal names


def as_text(pixels: Picture, protocol: str, page: Page) -> str:
    """The text that shows a picture with at least one pixel, without a line end behind it. `protocol`: "kitty",
    "iterm", "sixel" or "blocks"."""
    return PROTOCOLS[protocol](pixels, page)


def protocol(environ: Mapping[str, str], ask: Callable[[], str]) -> str:
    """What the terminal can do, best first; "file" where it has no colours. `ask` gives the attributes that the
    terminal names (DA1), "" if it does not answer."""
    term, program = environ.get("TERM", "dumb"), environ.get("TERM_PROGRAM", "")
    if term == "dumb" or environ.get("NO_COLOR"):
        return "file"
    multiplexed = "TMUX" in environ or term.startswith(("screen", "tmux"))  # which lets no sequence of others through
    if not multiplexed:
        if "kitty" in term or "KITTY_WINDOW_ID" in environ or program == "ghostty" or "ghostty" in term:
            return "kitty"
        if program in ("iTerm.app", "WezTerm", "mintty") or environ.get("LC_TERMINAL") == "iTerm2":
            return "iterm"
    return "sixel" if SIXEL_ABLE in ask().split(";") else "blocks"


def attributes() -> str:
    """The primary device attributes of the terminal: "62;4;22"; "" without an answer."""
    try:
        import termios
        import tty
    except ModuleNotFoundError:  # no such terminals there
        return ""
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stdout is not None and sys.stdout.isatty()):
        return ""
    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    said = b""
    try:
        tty.setcbreak(keyboard, termios.TCSANOW)
        os.write(sys.stdout.fileno(), b"\x1b[c")
        while not said.endswith(b"c") and select.select([keyboard], [], [], ANSWER)[0]:
            said += os.read(keyboard, 64)
    except OSError:
        return ""
    finally:
        termios.tcsetattr(keyboard, termios.TCSANOW, before)
    return said.rpartition(b"\x1b[?")[2].rstrip(b"c").decode("ascii", "replace")


# ---------------------------------------------------------------- protocols


def _kitty(pixels: Picture, page: Page) -> str:
    data = base64.b64encode(encode(_sized(pixels, page))).decode()
    chunks = [data[at : at + CHUNK] for at in range(0, len(data), CHUNK)]
    last = len(chunks) - 1
    return "".join(
        f"\x1b_G{'f=100,a=T,' if i == 0 else ''}m={int(i < last)};{chunk}\x1b\\" for i, chunk in enumerate(chunks)
    )


def _iterm(pixels: Picture, page: Page) -> str:
    data = encode(_sized(pixels, page))
    return f"\x1b]1337;File=inline=1;size={len(data)}:{base64.b64encode(data).decode()}\x07"


def _sixel(pixels: Picture, page: Page) -> str:
    """Colours from a cube of 6 x 6 x 6; six rows of pixels at a time, each colour in a run of its own."""
    pixels = _sized(pixels, page)
    height, width, _ = pixels.shape
    levels = (pixels.astype(np.int32) * 5 + 127) // 255
    colours = levels[:, :, 0] * 36 + levels[:, :, 1] * 6 + levels[:, :, 2]
    used = np.unique(colours)
    out = ["\x1bPq", f'"1;1;{width};{height}']
    out += [f"#{c};2;{c // 36 * 20};{c // 6 % 6 * 20};{c % 6 * 20}" for c in used.tolist()]
    for top in range(0, height, 6):
        band = colours[top : top + 6]
        weights = 1 << np.arange(len(band))[:, None]
        rows = [f"#{c}" + _runs(((band == c) * weights).sum(axis=0) + 63) for c in np.unique(band).tolist()]
        out.append("$".join(rows) + "-")
    return "".join(out) + "\x1b\\"


def _runs(codes: np.ndarray[tuple[int], np.dtype[np.int64]]) -> str:
    """Characters, equal ones counted."""
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    lengths = np.diff(starts, append=len(codes))
    return "".join(
        chr(codes[s]) * n if n < 4 else f"!{n}{chr(codes[s])}"
        for s, n in zip(starts.tolist(), lengths.tolist(), strict=True)
    )


def _blocks(pixels: Picture, page: Page) -> str:
    """The upper half of a cell is the foreground, the lower the background."""
    height, width, _ = pixels.shape
    factor = max(width / page.columns, height / (2 * page.lines), 1.0)
    if factor > 1:
        pixels = resized(pixels, max(round(height / factor), 1), max(round(width / factor), 1))
    elif (
        larger := min(
            SMALLEST_BLOCKS // width, SMALLEST_BLOCKS // height, page.columns // width, 2 * page.lines // height
        )
    ) > 1:
        pixels = np.repeat(np.repeat(pixels, larger, 0), larger, 1)
    lines = []
    for top in range(0, len(pixels), 2):
        upper = pixels[top].tolist()
        lower = pixels[top + 1].tolist() if top + 1 < len(pixels) else None
        text, before = "", None
        for i, (r, g, b) in enumerate(upper):
            colours = f"\x1b[38;2;{r};{g};{b}" + (";48;2;{};{};{}m".format(*lower[i]) if lower else "m")
            text += ("" if colours == before else colours) + "▀"
            before = colours
        lines.append(text + "\x1b[0m")
    return "\n".join(lines)


PROTOCOLS: dict[str, Callable[[Picture, Page], str]] = {
    "kitty": _kitty,
    "iterm": _iterm,
    "sixel": _sixel,
    "blocks": _blocks,
}


def _sized(pixels: Picture, page: Page) -> Picture:
    """Not so large that sending it takes long, nor so small that nothing can be seen."""
    longest = max(pixels.shape[:2])
    if longest > SHARPEST:
        return resized(
            pixels, max(pixels.shape[0] * SHARPEST // longest, 1), max(pixels.shape[1] * SHARPEST // longest, 1)
        )
    factor = -(-SMALLEST // longest)
    return np.ascontiguousarray(np.repeat(np.repeat(pixels, factor, 0), factor, 1))


def resized(pixels: Picture, height: int, width: int) -> Picture:
    """A smaller picture, each of its pixels the mean of those that it stands for."""
    sums = pixels.astype(np.float64)
    for axis, count in ((0, height), (1, width)):
        edges = np.arange(count) * pixels.shape[axis] // count
        lengths = np.diff(edges, append=pixels.shape[axis])
        shape = [1, 1, 1]
        shape[axis] = count
        sums = np.add.reduceat(sums, edges, axis=axis) / lengths.reshape(shape)
    return (sums + 0.5).astype(np.uint8)
