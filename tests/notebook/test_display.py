"""Tables, pictures and diagrams, cells and history, without Jupyter."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from xml.etree import ElementTree

import numpy as np
import pytest

from sacpy.interp import png
from sacpy.interp.world import World
from sacpy.notebook.cells import Cells, report
from sacpy.notebook.display import HTML, PLAIN, PNG, SVG, Bundle
from sacpy.notebook.history import History
from sacpy.repl import graphics
from sacpy.repl.diagrams import Diagram, Kind, Series
from sacpy.repl.engine import Engine, Outcome
from sacpy.repl.parts import parts
from sacpy.workspace import Workspace


class Page:
    """Cells, and what they show."""

    def __init__(self) -> None:
        self.shown: list[Bundle] = []
        self.engine = Engine(Workspace(), World.captured())
        self.cells = Cells(self.engine, self.shown.append, self.shown.append)

    def run(self, text: str) -> Sequence[Bundle]:
        outcome = self.outcome(text)
        assert not outcome.failed, report(outcome, color=False)
        return self.shown

    def outcome(self, text: str) -> Outcome:
        self.shown.clear()
        return self.cells.run(text, "cell")

    def html(self, text: str) -> str:
        return self.run(text)[-1][HTML]

    def refusal(self, text: str) -> str:
        outcome = self.outcome(text)
        assert outcome.failed
        return report(outcome, color=False)


@pytest.fixture(scope="module")
def page() -> Page:
    return Page()


def rows(html: str) -> list[list[str]]:
    """The cells of the tables' rows, heads included."""
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", html)]


# ---------------------------------------------------------------- tables


def test_a_matrix_has_its_indices_at_its_sides(page: Page) -> None:
    assert rows(page.html("[[1, 2], [3, 4]]")) == [["", "0", "1"], ["0", "1", "2"], ["1", "3", "4"]]


def test_a_vector_is_one_row(page: Page) -> None:
    assert rows(page.html("[1.0, -0.5]")) == [["0", "1"], ["1.0", "-0.5"]]


def test_of_long_axes_the_ends_are_shown(page: Page) -> None:
    found = rows(page.html("reshape([100, 50], iota(5000))"))
    assert len(found) == 1 + 12 + 1 + 12
    assert found[0] == ["", *map(str, range(8)), "⋯", *map(str, range(42, 50))]
    assert found[-1][0] == "99" and found[-1][-1] == "4999"


def test_an_axis_that_would_lose_one_row_is_shown_whole(page: Page) -> None:
    assert len(rows(page.html("reshape([25, 1], iota(25))"))) == 1 + 25
    assert len(rows(page.html("reshape([26, 1], iota(26))"))) == 1 + 25


def test_higher_ranks_are_slices_under_their_index(page: Page) -> None:
    html = page.html("reshape([2, 2, 2], iota(8))")
    assert re.findall(r"\[\d,\.,\.\]", html) == ["[0,.,.]", "[1,.,.]"]
    html = page.html("reshape([3, 5, 1, 1], iota(15))")
    assert re.findall(r"\[\d,\d,\.,\.\]|⋯", html) == [
        "[0,0,.,.]",
        "[0,1,.,.]",
        "[0,2,.,.]",
        "⋯",
        "[2,2,.,.]",
        "[2,3,.,.]",
        "[2,4,.,.]",
    ]


@pytest.mark.parametrize("text", ["reshape([0], [:int])", "reshape([0, 3], [:int])", "reshape([2, 0, 2], [:double])"])
def test_an_empty_array_says_so_under_its_shape(page: Page, text: str) -> None:
    html = page.html(text)
    assert "no elements" in html and page.shown[-1][PLAIN].split()[0] in html


@pytest.mark.parametrize("text", ["3", "1.5", "true", '"text"', "['a', 'b']", "'a'"])
def test_scalars_and_texts_are_no_tables(page: Page, text: str) -> None:
    assert set(page.run(text)[-1]) == {PLAIN}


def test_elements_are_short_and_escaped(page: Page) -> None:
    assert rows(page.html("[1.0 / 3.0, 1e100, 0.0]"))[1] == ["0.333333", "1e+100", "0.0"]
    assert rows(page.html("[[true, false]]"))[1] == ["0", "true", "false"]
    assert rows(page.html("[255ub, 1ub]"))[1] == ["255", "1"]
    assert rows(page.html("[['<', '&']]"))[1] == ["0", "'&lt;'", "'&amp;'"]


def test_an_element_of_a_typedef_is_one_entry(page: Page) -> None:
    assert rows(page.html("reshape([1, 2], [Complex::toc(1.0, 2.0), Complex::toc(0.0, -1.0)])"))[1] == [
        "0",
        "[1.0, 2.0]",
        "[0.0, -1.0]",
    ]


def test_a_struct_has_a_row_for_each_field_and_a_vector_of_them_a_column(page: Page) -> None:
    page.run("struct Rod { double[3] heat; int age; }; rod = Rod{[1.0, 2.0, 3.0], 4};")
    assert rows(page.html("rod")) == [[".heat", "[1.0, 2.0, 3.0]"], [".age", "4"]]
    assert rows(page.html("[rod, rod]")) == [
        ["", ".heat", ".age"],
        ["0", "[1.0, 2.0, 3.0]", "4"],
        ["1", "[1.0, 2.0, 3.0]", "4"],
    ]
    page.run("struct Pair { struct Rod left; int n; }; pair = Pair{rod, 1};")
    assert rows(page.html("pair"))[0] == [".left", "{.heat = [1.0, 2.0, 3.0], .age = 4}"]
    assert HTML not in page.run("[pair, pair]")[-1]


# ---------------------------------------------------------------- pictures and diagrams


def test_a_matrix_is_a_grey_picture_of_large_enough_squares(page: Page) -> None:
    pixels = png.decode(base64.b64decode(page.run(":img [[0.0, 1.0], [0.5, 0.25]]")[-1][PNG]))
    assert pixels.shape == (256, 256, 3)
    assert [pixels[64 + 128 * i, 64 + 128 * j, 0] for i in (0, 1) for j in (0, 1)] == [0, 255, 128, 64]


def test_what_is_no_picture_is_refused(page: Page) -> None:
    assert "error[E0761]: int[3] is no picture" in page.refusal(":img iota(3)")
    assert "which has no elements" in page.refusal(":img reshape([0, 3], [:int])")


def drawing(page: Page, text: str) -> ElementTree.Element:
    return ElementTree.fromstring(page.run(text)[-1][SVG])


def texts(svg: ElementTree.Element) -> list[str]:
    return [t.text or "" for t in svg.iter("{http://www.w3.org/2000/svg}text")]


def strokes(svg: ElementTree.Element) -> list[str]:
    return [p.get("d", "") for p in svg.iter("{http://www.w3.org/2000/svg}path") if p.get("stroke-width")]


def test_a_vector_is_a_line_with_round_numbers_at_its_sides(page: Page) -> None:
    svg = drawing(page, ":plot [0.0, 10.0, 5.0]")
    (line,) = strokes(svg)
    assert line.count("L") == 2
    assert texts(svg) == ["[0.0, 10.0, 5.0]: double[3]", "0", "5", "10", "0", "1", "2"]


def test_a_few_long_rows_are_lines_of_their_own(page: Page) -> None:
    svg = drawing(page, ":plot reshape([3, 20], iota(60))")
    assert len(strokes(svg)) == 3 and texts(svg)[-3:] == ["[0]", "[1]", "[2]"]


def test_values_of_x_points_and_logarithms(page: Page) -> None:
    page.run("x = [1.0, 10.0, 100.0];")
    svg = drawing(page, ":plot loglog x * x, x over x")
    assert texts(svg)[0] == "x * x, x over x: double[3]" and texts(svg)[-2:] == ["x * x", "x"]
    assert {"1", "10", "100"} <= set(texts(svg))
    points = [p.get("d", "") for p in drawing(page, ":plot scatter x over x").iter() if p.get("stroke-linecap")]
    assert points[0].count("h0") == 3
    (line,) = strokes(drawing(page, ":plot logy [0.0, 1.0, 10.0]"))
    assert line.count("M") == line.count("L") == 1
    assert "without 1 that is not finite, or not above 0" in texts(drawing(page, ":plot logy [0.0, 1.0, 10.0]"))[0]


def test_on_a_page_a_diagram_has_its_colours_and_as_much_room_as_there_is(page: Page) -> None:
    bundle = page.run(":plot [0.0, 10.0, 5.0]")[-1]
    inline, alone = ElementTree.fromstring(bundle[HTML]), ElementTree.fromstring(bundle[SVG])
    assert "width: 100%" in inline.get("style", "") and "--jp-ui-font-color1" in inline.get("style", "")
    assert inline.get("fill") == "currentColor" and inline.get("viewBox") == alone.get("viewBox")
    assert "fill='white'" not in bundle[HTML] and "fill='white'" in bundle[SVG]
    colours = {t.get("fill") for t in inline.iter() if t.tag.endswith("text")}
    assert colours == {None}  # inherited


def luminance(colour: str) -> float:
    """How bright a colour is, as WCAG defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("colour", graphics.COLOURS)
def test_colours_of_lines_can_be_seen_on_light_and_dark_pages(colour: str) -> None:
    own = luminance(colour) + 0.05
    assert (luminance("#ffffff") + 0.05) / own > 3 and own / (luminance("#181818") + 0.05) > 3


def test_what_is_not_finite_leaves_a_gap(page: Page) -> None:
    (line,) = strokes(drawing(page, ":plot [1.0, 2.0, 0.0 / 0.0, 3.0, 1.0 / 0.0, 2.0, 1.0]"))
    assert line.count("M") == 3 and "nan" not in line and "inf" not in line


@pytest.mark.parametrize(
    "array", [[5.0], [0.0, 0.0], [np.nan, np.nan], [np.inf], [-1e308, 1e308], [1e-320, 2e-320], [7]]
)
@pytest.mark.parametrize("kind", ["lines", "scatter", "hist"])
def test_odd_numbers_are_drawn_all_the_same(array: list[float], kind: Kind) -> None:
    numbers = np.array(array)
    series = (Series("a & b", np.arange(len(array)) * 1.0, np.asarray(numbers, np.float64)),)
    diagram = Diagram(kind, "a & b", "", *(((), numbers) if kind == "hist" else (series, None)), indexed=True)
    svg = graphics.svg(diagram)
    ElementTree.fromstring(svg)
    assert "nan" not in svg and "inf" not in svg.replace("infer", "")


@pytest.mark.parametrize("shape", [(1, 1), (1, 400), (400, 1), (3000, 10)])
def test_heat_maps_of_any_shape(shape: tuple[int, int]) -> None:
    ElementTree.fromstring(graphics.svg(Diagram("heat", "a & b", "", array=np.zeros(shape))))


def test_a_peak_among_a_million_is_not_lost() -> None:
    values = np.zeros(1_000_000)
    values[123_457] = 1.0
    series = Series("", np.arange(values.size) * 1.0, values)
    (line,) = strokes(ElementTree.fromstring(graphics.svg(Diagram("lines", "", "", (series,), indexed=True))))
    assert len(line) < 200_000
    heights = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", line)]
    assert heights.count(min(heights)) == 1 and max(heights) - min(heights) > 200


def test_a_histogram_of_few_whole_numbers_has_a_bar_for_each() -> None:
    svg = ElementTree.fromstring(graphics.svg(Diagram("hist", "", "", array=np.array([1, 1, 2, 5]))))
    bars = [b for b in svg.iter("{http://www.w3.org/2000/svg}rect") if b.get("fill") == graphics.COLOURS[0]]
    heights = [float(b.get("height", "0")) for b in bars]
    assert len(heights) == 5 and heights[0] == pytest.approx(2 * heights[1]) and heights[2] == heights[3] == 0


def test_what_cannot_be_plotted_is_refused(page: Page) -> None:
    assert "error[E0762]: string cannot be plotted" in page.refusal(':plot "text"')
    assert "cannot be drawn as heat" in page.refusal(":plot heat iota(3)")
    assert "no elements to plot" in page.refusal(":plot [:int]")
    assert "wants" in page.refusal(":plot")


def test_mappings_are_drawn_with_long_axes_cut(page: Page) -> None:
    (bundle,) = page.run(":picture { [i, j] -> i + j | [i, j] < [4, 5] }")
    assert bundle[PLAIN].count("threads") and "Gen" in texts(ElementTree.fromstring(bundle[SVG]))
    assert {PLAIN, SVG} <= set(page.run(":picture { [i, j] -> i + j | [i, j] < [1000, 1000] }")[-1])
    assert page.run(":picture 1")[-1][PLAIN] == "no with-loop that is certain to run"


# ---------------------------------------------------------------- cells


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1;\ny = 2;", ["x = 1;\ny = 2;"]),
        ("1 + 1\n2 + 2", ["1 + 1\n", "\n2 + 2"]),
        ("x = 1;\n:vars\nx\n", ["x = 1;\n", ":vars\n", "\n\nx\n"]),
        ("x = true\n  ? 1\n  : 2;", ["x = true\n  ? 1\n  : 2;"]),
        (":plot [1,\n 2]\n3", [":plot [1,\n 2]\n", "\n\n3"]),
        (":plot [1,", [":plot [1,"]),
        ("int f() {\n  return 1;\n}\nf()\nf() + 1", ["int f() {\n  return 1;\n}\nf()\n", "\n\n\n\nf() + 1"]),
        ("x = true\n  ? y\n  : z;\n?sum", ["x = true\n  ? y\n  : z;\n", "?sum"]),
        ("x = ;\n1", ["x = ;\n1"]),
        ("", []),
        ("\n\n", []),
    ],
)
def test_cells_are_cut_at_commands_and_where_expressions_end(page: Page, text: str, expected: list[str]) -> None:
    assert [part.text for part in parts(text, page.engine)] == expected


def test_after_a_mistake_nothing_is_done(page: Page) -> None:
    page.outcome("done = 1;\ndone = nowhere;\ndone = 3;")
    assert page.run("done")[-1][PLAIN] == "int 1"


def test_a_defect_of_sacpy_is_a_message_too(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page.engine, "enter", lambda *_: [][0])
    assert "error[E0799]: sacpy itself failed: IndexError: list index out of range" in page.refusal("1 + 1")


# ---------------------------------------------------------------- history


def test_history_is_told_from_its_end_by_number_or_by_pattern() -> None:
    history = History()
    for number, text in enumerate(["a = 1;", "b = 2;", "a = 1;", "c"], 1):
        history.add(number, text, "shown" if text == "c" else "")
    assert history.answer({"hist_access_type": "tail", "n": 2}) == [(1, 3, "a = 1;"), (1, 4, "c")]
    assert history.answer({"hist_access_type": "tail", "n": 0}) == []
    assert history.answer({"hist_access_type": "range", "session": 0, "start": 2, "stop": 3, "output": True}) == [
        (1, 2, ("b = 2;", ""))
    ]
    assert history.answer({"hist_access_type": "range", "session": 7, "start": 0}) == []
    assert [n for _, n, _ in history.answer({"hist_access_type": "search", "pattern": "a*", "unique": True})] == [3]
    assert [n for _, n, _ in history.answer({"hist_access_type": "search", "pattern": "? = ?;", "n": 2})] == [2, 3]
