"""Diagrams in characters."""

import re

import numpy as np
import pytest

from sacpy.repl.page import Page
from sacpy.repl.plots import DOTS, heat_map, histogram, lines

PAGE = Page(60, 14)
ODD = [
    np.array([1.0]),
    np.array([np.nan]),
    np.array([np.inf, -np.inf, 0.0]),
    np.array([5.0, 5.0]),
    np.array([1e308, -1e308]),
    np.array([True, False]),
    np.arange(100_000) % 77,
    np.array([0, 255], np.uint8),
    np.array([-(2**63), 2**63 - 1]),
]


def dots(text: str) -> set[tuple[int, int]]:
    """Columns and rows of the dots of a diagram of lines."""
    found = set()
    for y, line in enumerate(re.sub(r"\x1b\[\d*m", "", text).split("\n")):
        body = re.split("[┤│]", line)[-1]
        for x, cell in enumerate(body):
            if 0x2800 <= ord(cell) < 0x2900:
                found |= {(2 * x + i, 4 * y + j) for j, row in enumerate(DOTS) for i, bit in enumerate(row) if ord(cell) - 0x2800 & bit}
    return found


@pytest.mark.parametrize("array", ODD, ids=repr)
@pytest.mark.parametrize("page", [Page(40, 6), Page(200, 60, colour=True)])
def test_odd_arrays_are_drawn_within_the_page(array: np.ndarray, page: Page) -> None:
    with np.errstate(all="raise", under="ignore"):
        drawn = [lines(array, page), histogram(array, page), heat_map(array[None], page), heat_map(array[:, None], page), lines(array[:6, None], page)]
    for text in drawn:
        plain = re.sub(r"\x1b\[[\d;]*m", "", text).split("\n")
        assert max(map(len, plain)) <= page.columns and len(plain) <= page.lines + 3


def test_a_line_goes_from_corner_to_corner() -> None:
    text = lines(np.arange(11), PAGE)
    found = dots(text)
    columns, rows = {x for x, _ in found}, {y for _, y in found}
    assert columns == set(range(max(columns) + 1)) and rows == set(range(48))  # no gap in either direction
    assert (0, 47) in found and (max(columns), 0) in found
    assert text.split("\n")[0].startswith("10 ┤") and text.split("\n")[11].startswith(" 0 ┤")
    assert text.split("\n")[-1].split() == ["0", "10"]


def test_what_is_not_finite_leaves_a_gap_and_is_counted() -> None:
    text = lines(np.array([1.0, np.nan, 1.0, 2.0]), PAGE)
    columns = sorted({x for x, _ in dots(text)})
    assert columns[0] == 0 and columns[1] > 20
    assert text.split("\n")[-1]== "1 of 4 not finite"


def test_of_many_points_none_that_stands_out_is_lost() -> None:
    array = np.zeros(1_000_000)
    array[500_003], array[250_000] = 1, np.nan
    text = lines(array, PAGE)
    assert [x for x, y in dots(text) if y == 0] and text.split("\n")[0].lstrip().startswith("1 ┤")


def test_rows_of_a_matrix_have_colours_of_their_own() -> None:
    text = lines(np.array([[0, 0], [1, 1]]), Page(60, 14, colour=True))
    assert "\x1b[36m" in text.split("\n")[11] and "\x1b[33m" in text.split("\n")[0]


def test_histogram_counts() -> None:
    def counts(text: str) -> list[int]:
        return [int(line.split()[-1]) for line in text.split("\n") if "│" in line]

    assert counts(histogram(np.array([1, 1, 3]), PAGE)) == [2, 0, 1]
    assert counts(histogram(np.array([False, True, True]), PAGE)) == [1, 2]
    assert sum(counts(histogram(np.random.default_rng(1).normal(size=(50, 20)), PAGE))) == 1000
    assert counts(histogram(np.array([2.5, 2.5]), PAGE)) == [2]
    assert histogram(np.array([0.0, 10.0]), PAGE).split("\n")[0].split("│")[0].strip() == "0 .. 2"


def test_bars_are_as_long_as_their_counts() -> None:
    first, second = histogram(np.array([0] * 8 + [1] * 4), PAGE).split("\n")
    assert first.count("█") == 2 * second.count("█") or abs(first.count("█") - 2 * second.count("█")) == 1


def test_heat_map_goes_from_dark_to_bright() -> None:
    assert heat_map(np.array([[0, 1, 2, 3, 4]]), PAGE).split("\n")[0] == "  ░░▒▒▓▓██"
    assert heat_map(np.array([[0.0, np.nan, 1.0]]), PAGE).split("\n")[0] == "  ··██"


def test_a_large_heat_map_shows_means() -> None:
    array = np.zeros((1000, 1000))
    array[:, 500:] = 1
    rows = heat_map(array, PAGE).split("\n")
    assert rows[0] == " " * 30 + "█" * 30 and "means of 12 x 60 blocks" in rows[-1] and len(rows) == 14
