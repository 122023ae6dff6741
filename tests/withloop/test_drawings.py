"""Mappings as SVG: every cell of every space, in the colour of its block."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from sacpy.withloop.chains import Chain
from sacpy.withloop.drawings import COLOURS, svg
from sacpy.withloop.pragmas import GpuKernel, parse
from sacpy.withloop.spaces import IndexSpace

NAMES = "{http://www.w3.org/2000/svg}"


def chain(text: str) -> Chain:
    found = parse(f"gpukernel {text}")
    assert isinstance(found, GpuKernel)
    return found.chain


def panels(text: str, space: IndexSpace) -> dict[str, list[str]]:
    """The fill of each cell, row by row, under each title."""
    root = ElementTree.fromstring(svg(chain(text).map(space)))
    found = {}
    for group in root.iter(f"{NAMES}g"):
        title = group.find(f"{NAMES}text")
        if title is not None:
            found[str(title.text)] = [str(r.get("fill")) for r in group.findall(f"{NAMES}rect")]
    return found


def test_cells_have_the_colour_of_their_block_and_idle_threads_are_hatched() -> None:
    found = panels("GridBlock(1, SplitLast(4, Gen))", IndexSpace.box((6,)))
    a, b = COLOURS[:2]
    assert found == {"Gen": [a, a, a, a, b, b], "SplitLast(4)": [a, a, a, a, b, b, "url(#idle)", "url(#idle)"]}


def test_indices_between_steps_belong_to_nobody() -> None:
    found = panels("GridBlock(1, SplitLast(2, CompressGrid([1], Gen)))", IndexSpace.of((0,), (6,), (2,)))
    a, b = COLOURS[:2]
    assert found["Gen"] == [a, "none", a, "none", b, "none"]
    assert found["CompressGrid([1])"] == [a, a, b]


def test_planes_stand_under_their_index() -> None:
    text = svg(chain("GridBlock(1, Gen)").map(IndexSpace.box((2, 2, 3))))
    assert "[0,.,.]" in text and "[1,.,.]" in text
    assert len(panels("GridBlock(1, Gen)", IndexSpace.box((2, 2, 3)))["Gen"]) == 12


@pytest.mark.parametrize("extents", [(0,), (0, 3), (1,), (1, 1), (4096,)])
def test_odd_spaces_are_drawn(extents: tuple[int, ...]) -> None:
    ElementTree.fromstring(svg(chain("GridBlock(1, SplitLast(32, Gen))" if len(extents) == 1 else "GridBlock(1, Gen)").map(IndexSpace.box(extents))))


def test_a_large_space_is_refused() -> None:
    with pytest.raises(ValueError, match="too large to draw"):
        svg(chain("GridBlock(1, SplitLast(32, Gen))").map(IndexSpace.box((5000,))))
