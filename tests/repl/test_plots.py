"""Diagrams in characters: lines, points, histograms and heat maps."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from sacpy.repl.diagrams import Diagram, Kind, Series
from sacpy.repl.heat import heat_map
from sacpy.repl.page import Page
from sacpy.repl.plots import DOTS, curves, histogram

PAGE = Page(60, 14)
ODD = [
    np.array([1.0]),
    np.array([np.nan]),
    np.array([np.inf, -np.inf, 0.0]),
    np.array([5.0, 5.0]),
    np.array([1e308, -1e308]),
    np.array([5e-324, 1e-323]),
    np.array([True, False]),
    np.arange(100_000) % 77,
    np.array([0, 255], np.uint8),
    np.array([-(2**63), 2**63 - 1]),
    np.zeros(3),
]


def of(*rows: Any, kind: Kind = "lines", x: Any = None, log_x: bool = False, log_y: bool = False) -> Diagram:
    """A diagram of some rows."""
    series = [
        Series(f"[{k}]", np.arange(len(row)) * 1.0 if x is None else np.asarray(x, np.float64), np.asarray(row, float))
        for k, row in enumerate(rows)
    ]
    return Diagram(kind, "title", "double[.]", tuple(series), None, log_x, log_y, indexed=x is None)


def plain(text: str) -> list[str]:
    """The lines without colours."""
    return re.sub(r"\x1b\[[\d;]*m", "", text).split("\n")


def dots(text: str) -> set[tuple[int, int]]:
    """Columns and rows of the dots of a diagram."""
    found = set()
    for y, line in enumerate(plain(text)):
        body = re.split("[┤│]", line)[-1]
        for x, cell in enumerate(body):
            if 0x2800 <= ord(cell) < 0x2900:
                bits = ord(cell) - 0x2800
                within = [(i, j) for j, row in enumerate(DOTS) for i, bit in enumerate(row) if bits & bit]
                found |= {(2 * x + i, 4 * y + j) for i, j in within}
    return found


@pytest.mark.parametrize("array", ODD, ids=repr)
@pytest.mark.parametrize("page", [Page(40, 6), Page(40, 6, colour=True), Page(200, 60, colour=True)])
def test_odd_arrays_are_drawn_within_the_page(array: np.ndarray, page: Page) -> None:
    with np.errstate(all="raise", under="ignore"):
        drawn = [histogram(array, page), heat_map(array[None], page), heat_map(array[:, None], page)]
        for log_x, log_y in ((False, False), (True, False), (False, True), (True, True)):
            drawn += [curves(of(array, log_x=log_x, log_y=log_y), page)]
            drawn += [curves(of(array, kind="scatter", x=array, log_x=log_x, log_y=log_y), page)]
        drawn += [curves(of(*array[:6, None]), page)]
    for text in drawn:
        lines = plain(text)
        assert max(map(len, lines)) <= page.columns and len(lines) <= page.lines + 3


def test_a_line_goes_from_corner_to_corner() -> None:
    text = curves(of(np.arange(11)), PAGE)
    found = dots(text)
    columns, rows = {x for x, _ in found}, {y for _, y in found}
    assert columns == set(range(max(columns) + 1)) and rows == set(range(48))  # no gap in either direction
    assert (0, 47) in found and (max(columns), 0) in found
    lines = text.split("\n")
    assert lines[0].startswith("10 ┤") and lines[11].startswith(" 0 ┤")
    assert lines[-1].split() == ["0", "2", "4", "6", "8", "10"]
    assert lines[-2].index("┬") == lines[-1].index("0")


def test_numbers_at_the_axes_are_round_and_stand_where_they_lie() -> None:
    text = curves(of(np.linspace(-1.0, 1.0, 201)), PAGE)
    marked = {line.split()[0]: i for i, line in enumerate(text.split("\n")) if "┤" in line}
    assert list(marked) == ["1", "0.5", "0", "-0.5", "-1"]
    assert marked["1"] == 0 and marked["-1"] == 11 and marked["0"] in (5, 6)


def test_what_is_not_finite_leaves_a_gap_and_is_counted() -> None:
    text = curves(of([1.0, np.nan, 1.0, 2.0]), PAGE)
    columns = sorted({x for x, _ in dots(text)})
    assert columns[0] == 0 and columns[1] > 20
    assert text.split("\n")[-1] == "1 of 4 not finite"


def test_of_many_points_none_that_stands_out_is_lost() -> None:
    array = np.zeros(1_000_000)
    array[500_003], array[250_000] = 1, np.nan
    text = curves(of(array), PAGE)
    assert [x for x, y in dots(text) if y == 0] and text.split("\n")[0].lstrip().startswith("1 ┤")


def test_rows_of_a_matrix_have_colours_of_their_own() -> None:
    text = curves(of([0, 0], [1, 1]), Page(60, 14, colour=True))
    lines = text.split("\n")
    assert "\x1b[33m" in lines[0] and "\x1b[36m" in lines[10]
    assert plain(text)[-1] == "━━ [0]  ━━ [1]"


def test_without_colours_a_letter_says_which_line_is_which() -> None:
    text = curves(of([0, 0], [1, 1]), PAGE)
    assert text.split("\n")[-1] == " a [0]   b [1]"
    assert text.split("\n")[0].endswith("b") and text.split("\n")[10].endswith("a")


def test_values_of_x_say_where_points_lie() -> None:
    found = dots(curves(of([0.0, 0.0, 1.0, 1.0], kind="scatter", x=[0.0, 10.0, 0.0, 10.0]), PAGE))
    columns, rows = {x for x, _ in found}, {y for _, y in found}
    assert len(found) == 4 and len(columns) == 2 and len(rows) == 2
    circle = np.linspace(0, 2 * np.pi, 400)
    drawn = dots(curves(of(np.sin(circle), x=np.cos(circle)), PAGE))
    assert max(sum(1 for x, _ in drawn if x == column) for column in {x for x, _ in drawn}) < 48  # nothing is filled


def test_lines_go_back_too() -> None:
    found = dots(curves(of([0.0, 1.0, 0.0], x=[0.0, 2.0, 1.0]), PAGE))
    middle = sorted({x for x, _ in found})
    assert middle == list(range(len(middle)))
    assert len({y for x, y in found if x == middle[-2]}) > 1  # up, and down again


def test_logarithms_make_powers_straight() -> None:
    x = 10.0 ** np.linspace(0, 4, 60)
    text = curves(of(x**2, x=x, log_x=True, log_y=True), Page(60, 16))
    found = dots(text)
    tops = [min(y for x, y in found if x == column) for column in sorted({x for x, _ in found})]
    assert {a - b for a, b in pairwise(tops)} <= {0, 1, 2}  # as steep everywhere
    lines = text.split("\n")
    assert lines[-1].split() == ["1", "10", "100", "1000", "10000"]
    assert [line.split()[0] for line in lines if "┤" in line] == ["1e+06", "1000", "1"]


def test_what_has_no_logarithm_is_left_out_and_counted() -> None:
    assert curves(of([-1.0, 0.0, 1.0, 10.0], log_y=True), PAGE).split("\n")[-1] == "2 of 4 not finite, or not above 0"


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


# ---------------------------------------------------------------- heat maps


def cells(text: str) -> list[str]:
    """The lines of a map, without axes."""
    return [re.split("[┤│]", line, maxsplit=1)[1] for line in plain(text) if re.match(r" *\d* *[┤│]", line)]


def test_heat_map_goes_from_dark_to_bright() -> None:
    assert set(cells(heat_map(np.array([[0, 1, 2, 3, 4]]), PAGE))) == {
        " " * 10 + "░" * 10 + "▒" * 10 + "▓" * 10 + "█" * 10
    }
    assert cells(heat_map(np.array([[0.0, np.nan, 1.0]]), Page(10, 4)))[0] == "  ··██"


def test_a_heat_map_fills_the_page_and_has_indices_at_its_sides() -> None:
    text = heat_map(np.arange(12).reshape(3, 4), PAGE)
    lines = text.split("\n")
    assert len(lines) == 9 + 3 and lines[1].startswith("0 ┤") and lines[4].startswith("1 ┤")
    assert lines[-2].split() == ["0", "1", "2", "3"]
    assert [lines[-2].index(n) for n in "0123"] == [m.start() for m in re.finditer("┬", lines[-3])]
    assert lines[-1].split()[0] == "0" and lines[-1].split()[-1] == "11"


def test_with_colours_a_character_has_two_elements() -> None:
    page = Page(60, 14, colour=True)
    text = heat_map(np.arange(20 * 50).reshape(20, 50), page)
    lines = text.split("\n")
    assert [line.count("▀") > 0 for line in lines] == [True] * 10 + [False] * 3
    first = re.findall(r"\x1b\[38;2;([\d;]+);48;2;([\d;]+)m▀", lines[0])[0]
    assert first[0] == "24;16;72" and first[0] != first[1]  # the darkest above the next row's
    assert plain(text)[0].startswith(" 0 ┤▀") and plain(text)[-1].split()[-1] == "999"
    odd = heat_map(np.arange(3 * 50).reshape(3, 50), page).split("\n")
    assert len(odd) == 2 + 3 and ";48;2" not in odd[1]


def test_a_large_heat_map_shows_means() -> None:
    array = np.zeros((1000, 1000))
    array[:, 500:] = 1
    rows = heat_map(array, PAGE).split("\n")
    assert cells(heat_map(array, PAGE))[0] == " " * 27 + "▒" + "█" * 27
    assert rows[-1] == "means of 11 x 55 blocks"


def test_what_is_no_number_is_grey_and_counted() -> None:
    text = heat_map(np.array([[0.0, np.nan], [np.inf, 1.0]]), Page(60, 14, colour=True))
    assert "128;128;128" in text and plain(text)[-1] == "2 of 4 not finite"
    assert "all 7" in heat_map(np.full((2, 2), 7), PAGE)
